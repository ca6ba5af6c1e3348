"""Deep consolidation, the third phase and the only one that writes: listings for a model, and the changes
of operations that the validator let through."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from langmemory.changes import (
    AddMemory,
    Change,
    Facets,
    Merge,
    OpenReview,
    SetStatus,
    Supersede,
    UpdateMemory,
    WithdrawReview,
)
from langmemory.formation.wording import language_of
from langmemory.languages.spelling import normalised_text
from langmemory.lifecycle.consolidation.listing import (
    CONCLUDED,
    AnyOperation,
    CoreText,
    Insight,
    Listed,
    Listing,
    MergeSame,
    Outdate,
)
from langmemory.lifecycle.consolidation.themes import Theme
from langmemory.ports.facts import digest
from langmemory.types import Memory, Namespace

MOST_LISTED: Final = 40
"""Memories that a model of unknown window is shown at a time."""
LISTED_TOKENS: Final = 130
"""Of the longest memory in a listing."""
MOST_CONCLUDED: Final = 20
"""Earlier conclusions that it is shown with them, the newest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A core block as it stands."""

    value: Mapping[str, Any]
    """``{}`` for one that nobody wrote."""

    @property
    def content(self) -> str:
        return str(self.value.get("content", ""))

    @property
    def version(self) -> int:
        return int(self.value.get("version", 0))


def listings(
    themes: Iterable[Theme],
    concluded: Sequence[Memory],
    blocks: Mapping[str, Block],
    *,
    without: Collection[str] = (),
    most: int = MOST_LISTED,
) -> Iterator[Listing]:
    """Yield what a model is to look at: whole themes one after the other, each listing of one circle.

    Args:
        themes: In the order in which they matter.
        concluded: Earlier conclusions.
        blocks: Core blocks by label.
        without: Keys of memories that rules have changed already.
        most: Memories of a listing at most.
    """
    by_circle: dict[tuple[str | None, str], list[list[Listed]]] = defaultdict(list)
    for theme in themes:
        left = [one for one in theme.memories if one.memory.key not in without]
        for start in range(0, len(left), most):
            by_circle[theme.circle].append(left[start : start + most])
    for (owner, privacy), parts in by_circle.items():
        known = [one.text for one in concluded if (one.owner, one.privacy) == (owner, privacy)]
        packed: list[list[Listed]] = [[]]
        for part in parts:
            if len(packed[-1]) + len(part) > most:
                packed.append([])
            packed[-1] += part
        for memories in packed:
            if len(memories) < 2:  # of one alone nothing follows
                continue
            yield Listing(
                memories=tuple(
                    replace(one, id=f"m{number}") for number, one in enumerate(memories, start=1)
                ),
                concluded=tuple(known[-MOST_CONCLUDED:]),
                blocks={}
                if privacy == "private"
                else {label: block.content for label, block in blocks.items()},
            )


def changes(
    operations: Iterable[AnyOperation], listing: Listing, namespace: Namespace
) -> Iterator[Change]:
    """Yield the changes of accepted operations in the namespace of the memories."""
    for one in operations:
        match one:
            case Insight():
                yield from _conclusion_changes(
                    one, [listing.by_id[key] for key in one.sources], namespace
                )
            case MergeSame():
                keep, others = listing.by_id[one.keep], [listing.by_id[key] for key in one.others]
                yield Merge(
                    key=keep.memory.key,
                    others=tuple(other.memory.key for other in others),
                    reason=_because(one.reason, "they say the same"),
                )
            case Outdate():
                old, new = listing.by_id[one.old].memory, listing.by_id[one.by].memory
                yield Supersede(
                    key=old.key,
                    by=new.key,
                    invalid_at=new.at,
                    reason=_because(one.reason, "something newer was said"),
                )


def _conclusion_changes(
    one: Insight, sources: Sequence[Listed], namespace: Namespace
) -> Iterator[Change]:
    memories = [source.memory for source in sources]
    private = next((each for each in memories if each.privacy == "private"), None)
    owner = next((each.owner for each in memories if each.owner is not None), None)
    sessions = frozenset[str]().union(*(source.sessions for source in sources))
    key = f"{CONCLUDED}{digest(*namespace, owner or '', normalised_text(one.text))}"
    value: dict[str, Any] = {
        "text": one.text,
        "fact_kind": one.kind,
        "language": language_of(one.text),
        "said_at": max(each.at for each in memories).isoformat(),
        "stated": len(sessions),
    }
    if private is not None:
        value |= {"owner": owner, "privacy": "private"}
    spoken = Counter(key for source in sources for key in source.entities)
    rule = one.kind == "rule"
    yield AddMemory(
        key=key,
        value=value,
        facets=Facets(
            kind="procedural" if rule else "semantic",
            owner=owner,
            privacy="private" if private is not None else memories[0].privacy,
            status="pending" if rule else "approved",
            confidence=min(each.confidence for each in memories),
            importance=max(each.importance for each in memories),
        ),
        evidence=tuple(each.key for each in memories),
        mentions=tuple(sorted(key for key, count in spoken.items() if count > 1)),
        reason=_because(one.reason, f"follows from {len(memories)} memories"),
    )
    if rule:
        yield OpenReview(
            id=f"rule/{digest(*namespace, key)}",
            about="rule",
            question=f"Should this be a rule from now on: {one.text}",
            memories=(key, *(each.key for each in memories)),
            options={
                "believe": (SetStatus(key=key, status="active"),),
                "drop": (SetStatus(key=key, status="archived"),),
            },
        )


def proposals(
    operations: Iterable[tuple[CoreText, Listing]],
    blocks: Mapping[str, Block],
    open_now: Iterable[OpenReview],
    namespace: Namespace,
    undone: AbstractSet[str],
) -> Iterator[Change]:
    """Yield the questions whether core blocks are to say something else; the last one for each block. They
    are asked in the namespace of the blocks, and take the place of those that are open.

    Args:
        operations: Accepted ones, with the listings that they are about.
        blocks: Core blocks by label.
        open_now: Open questions in the namespace of the blocks.
        namespace: Of the blocks.
        undone: Ids of proposals that a person took back with the night that made them.
    """
    wanted = {
        one.block: (one, listing)
        for one, listing in operations
        if _proposal_id(namespace, one) not in undone
    }
    for asked in open_now:
        for label, block in blocks.items():
            version = _proposed_version(asked, label)
            if version is not None and (label in wanted or version != block.version + 1):
                yield WithdrawReview(
                    id=asked.id, reason="the block, or the proposal, is another one"
                )
    for label, (one, listing) in wanted.items():
        block, told = blocks[label], [listing.by_id[key].memory.text for key in one.sources]
        value = {
            "limit": listing.limit,
            **block.value,
            "kind": "core",
            "content": one.text.strip(),
            "version": block.version + 1,
            "editor": "person",
        }
        write = (
            UpdateMemory(key=label, value=value)
            if block.value
            else AddMemory(key=label, value=value, facets=Facets(kind="core"))
        )
        yield OpenReview(
            id=_proposal_id(namespace, one),
            about="core",
            question=f"Should the block {label!r} say: {one.text.strip()}\n(because of: "
            f"{' / '.join(told)})",
            memories=(label,) if block.value else (),
            options={"write": (write,), "leave": ()},
            reason=_because(one.reason, "proposed"),
        )


def _proposal_id(namespace: Namespace, one: CoreText) -> str:
    return f"core/{digest(*namespace, one.block, normalised_text(one.text))}"


def _proposed_version(question: OpenReview, label: str) -> int | None:
    """The version of a block that a question would write; None where it is about something else."""
    for change in question.options.get("write", ()):
        if isinstance(change, AddMemory | UpdateMemory) and change.key == label and change.value:
            return int(change.value.get("version", 0))
    return None


def _because(reason: str, otherwise: str) -> str:
    return " ".join(reason.split())[:200] or otherwise
