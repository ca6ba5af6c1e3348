"""Questions about core blocks and their files: a proposal for a file, and which of two texts holds."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from langmemory.changes import Change, OpenReview, UpdateMemory, WithdrawReview
from langmemory.core_files.bindings import Binding
from langmemory.core_files.differences import difference, merged
from langmemory.core_files.markdown_file import MarkdownFile
from langmemory.operations.bound_blocks import ABOUT, BoundBlocks, StoredBlock

CONFLICT: Final = "file/conflict/"
"""Begins the id of a question which of block and file holds."""
PROPOSAL: Final = "file/proposal/"
"""Begins the id of a question whether a proposal is to be written."""
_DIGEST_CHARACTERS: Final = 12


def conflict(
    blocks: BoundBlocks, binding: Binding, block: StoredBlock, file: MarkdownFile
) -> tuple[OpenReview, tuple[Change, ...]]:
    """Return the question which of block and file holds, and what takes back earlier ones."""
    base = blocks.said(binding, digest=binding.agreed)
    name, label = binding.name, binding.label
    if base is None:
        told = [difference(block.text, file.text, old=f"block {label}", new=name)]
    else:
        agreed = f"{name} as both had it"
        told = [
            difference(base, file.text, old=agreed, new=f"{name} now"),
            difference(base, block.text, old=agreed, new=f"block {label} now"),
        ]
    asks = f"{name} and the block {label!r} say different things. Which one holds?"
    options: dict[str, tuple[Change, ...]] = {
        "file": (UpdateMemory(key=label, value=block.saying(file.text)),),
        "block": (),
    }
    both = None if base is None else merged(base, file.text, block.text)
    if both is not None and both not in (file.text, block.text) and len(both) <= block.limit:
        options = {"both": (UpdateMemory(key=label, value=block.saying(both)),), **options}
    review = OpenReview(
        id=f"{CONFLICT}{label}/{_states(binding, block, file)}/{block.seq}",
        about=ABOUT,
        question="\n".join([asks, *filter(None, told)]),
        memories=(label,),
        options=options,
    )
    stale = tuple(
        WithdrawReview(id=one.id, reason="block or file is another one by now")
        for one in blocks.open(binding)
        if one.id.startswith(CONFLICT)
    )
    return review, stale


def decided(
    blocks: BoundBlocks, binding: Binding, block: StoredBlock, file: MarkdownFile
) -> str | None:
    """Return what was decided of a conflict that left these texts: ``block`` where the file is to get what
    the block says, ``open`` while nothing is."""
    states = _states(binding, block, file)
    of_file = states[states.index("-") :]
    for one in reversed(blocks.reviews(binding, open_only=False)):
        if not one.id.startswith(f"{CONFLICT}{binding.label}/"):
            continue
        asked = one.id.split("/")[-2]
        if asked == states:
            return one.decision or "open"
        if one.decision == "both" and asked.endswith(of_file):
            return "block" if blocks.text_of(one, "both") == block.text else None
    return None


def proposal(
    binding: Binding, block: StoredBlock, text: str, question: str, more: str = ""
) -> OpenReview:
    """Return the question whether a block is to say something else; ``more`` stands below the difference."""
    told = difference(block.text, text, old=binding.name, new=f"{binding.name} as proposed")
    return OpenReview(
        id=f"{PROPOSAL}{binding.label}/{secrets.token_hex(6)}",
        about=ABOUT,
        question="\n".join(filter(None, [question, told, more])),
        memories=(binding.label,),
        options={
            "approve": (UpdateMemory(key=binding.label, value=block.saying(text)),),
            "reject": (),
        },
    )


def rebased(
    blocks: BoundBlocks, binding: Binding, block: StoredBlock, text: str
) -> Iterator[Change]:
    """Yield what takes the place of open questions when a block is about to say something else: a
    proposal is carried over where it changes other lines, and asked with both changes where not."""
    after = replace(block, value=block.saying(text))
    for asked in blocks.open(binding):
        yield WithdrawReview(id=asked.id, reason=f"{binding.name} was edited")
        wanted = blocks.text_of(asked, "approve") if asked.id.startswith(PROPOSAL) else None
        if wanted is None:
            continue
        first = asked.question.split("\n")[0]
        both = merged(block.text, text, wanted)
        if both is not None and len(both) <= block.limit:
            if both != text:
                yield proposal(binding, after, both, first)
            continue
        edit = difference(
            block.text,
            text,
            old=f"{binding.name} before",
            new=f"{binding.name} as a person edited it",
        )
        note = f"{first} Since it was proposed a person changed the same lines:"
        yield proposal(binding, after, wanted, note, edit)


def _states(binding: Binding, block: StoredBlock, file: MarkdownFile) -> str:
    """Return what stands for three texts: of the block, of the file, and what both last agreed on."""
    texts = (block.digest, file.digest, binding.agreed or "")
    return "-".join(one[:_DIGEST_CHARACTERS] for one in texts)
