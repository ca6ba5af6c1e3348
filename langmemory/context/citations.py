"""Citations: which of the memories shown did the answer rest on, and what that tells of them.

``loaded`` counts how often a memory stood in a prompt, ``referenced`` how often the answer cited
it, ``succeeded`` how often such an answer turned out well: the person's next message did not correct
it. Read tokens are what showing it cost,
discovery tokens what it stands for: their difference is what remembering saved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.context.disclosure import MemoryBlock
from langmemory.context.notes import ID_CHARS
from langmemory.types import Namespace

_LABEL = rf"[MGR]\s*:\s*[0-9a-f]{{{ID_CHARS}}}"
_CITED = re.compile(rf"\b([MGR])\s*:\s*([0-9a-f]{{{ID_CHARS}}})\b", re.IGNORECASE)
_BRACKETS = re.compile(rf"\s*[\[(]\s*{_LABEL}(?:\s*[,;]\s*{_LABEL})*\s*[\])]", re.IGNORECASE)


class Usage(TypedDict):
    """Counts for one memory. Plain JSON; `tally` adds them up."""

    namespace: list[str]
    key: str
    loaded: int
    referenced: int
    succeeded: int
    read_tokens: int
    discovery_tokens: int


def cited(answer: str, block: MemoryBlock) -> list[tuple[Namespace, str]]:
    """Namespace and key of the memories of `block` that `answer` cites, in the block's order.

    ``[M:1a2b3c4d]``, ``(m: 1a2b3c4d)`` and lists like ``[M:…, R:…]`` are understood; an id that is
    not in the block was made up and is ignored.
    """
    ids = {id.lower() for _, id in _CITED.findall(answer)}
    return [
        (entry.namespace, entry.key)
        for entry in block.entries
        if entry.label.partition(":")[2] in ids
    ]


def without_citations(answer: str) -> str:
    """`answer` as a person should read it and memory should store it: without the ids."""
    return _BRACKETS.sub("", answer)


def usage(answer: str, block: MemoryBlock) -> list[Usage]:
    """What one answer says about each memory of the block it was given."""
    referenced = set(cited(answer, block))
    return [
        Usage(
            namespace=list(entry.namespace),
            key=entry.key,
            loaded=1,
            referenced=int((entry.namespace, entry.key) in referenced),
            succeeded=0,
            read_tokens=entry.read_tokens,
            discovery_tokens=entry.discovery_tokens,
        )
        for entry in block.entries
    ]


def successes(counts: Iterable[Usage]) -> list[Usage]:
    """What is to be added to these counts of an answer once it turned out well: a success for each
    memory it cited."""
    nothing = {"loaded": 0, "referenced": 0, "read_tokens": 0}
    return [
        cast("Usage", {**one, **nothing, "succeeded": 1}) for one in counts if one["referenced"]
    ]


def tally(before: Iterable[Usage], new: Iterable[Usage]) -> list[Usage]:
    """Add up counts and read tokens per memory; usable as a LangGraph reducer.

    Discovery happened once, so of those tokens the latest figure stands.
    """
    sums: dict[tuple[str, ...], Usage] = {}
    for one in (*before, *new):
        memory = (*one["namespace"], one["key"])
        known = sums.get(memory)
        sums[memory] = one if known is None else added(known, one)
    return list(sums.values())


def added(known: Usage, one: Usage) -> Usage:
    """The counts of one memory, added up as in `tally`."""
    return Usage(
        namespace=one["namespace"],
        key=one["key"],
        loaded=known["loaded"] + one["loaded"],
        referenced=known["referenced"] + one["referenced"],
        succeeded=known["succeeded"] + one["succeeded"],
        read_tokens=known["read_tokens"] + one["read_tokens"],
        discovery_tokens=one["discovery_tokens"],
    )
