"""Citations: which of the memories shown did the answer rest on, and what that tells of them.

``loaded`` counts how often a memory stood in a prompt, ``referenced`` how often the answer cited
it, ``succeeded`` how often such an answer turned out well: the person's next message did not correct
it. Read tokens are what showing it cost,
discovery tokens what it stands for: their difference is what remembering saved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, Literal, NotRequired, TypeVar, cast

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.context.disclosure import Disclosed, MemoryBlock
from langmemory.context.marking import MARK
from langmemory.context.notes import ID_CHARS
from langmemory.context.stripping import cleaned
from langmemory.types import Namespace

_CITED = re.compile(rf"\b([MGR])\s*:\s*([0-9a-f]{{{ID_CHARS}}})\b", re.IGNORECASE)

Citations = Literal["strip", "keep", "off"]
"""Treatment of citation ids: ``strip`` shows them to the model and to nobody else, ``keep`` leaves
them in its answers, ``off`` does without them: fewer tokens, and no count of what was cited."""

CITED: Final = "cited"
"""In the mark of an answer without its ids: which they were."""


MessageT = TypeVar("MessageT", bound=BaseMessage)


class Usage(TypedDict):
    """Counts for one memory. Plain JSON; `tally` adds them up."""

    namespace: list[str]
    key: str
    loaded: int
    referenced: int
    succeeded: int
    read_tokens: int
    discovery_tokens: int
    matched: NotRequired[int]
    """Citations whose relevance is known."""
    relevance: NotRequired[float]
    """The sum of these, 0..1 each: how well it matched the query, as a share of the best match shown."""
    cited_at_us: NotRequired[int]
    """When an answer cited it last, microseconds since 1970 UTC; when the counts are noted, if left out."""


def cited(answer: str, block: MemoryBlock) -> list[tuple[Namespace, str]]:
    """Return namespace and key of the memories of `block` that `answer` cites, in the block's order.

    ``[M:1a2b3c4d]``, ``(m: 1a2b3c4d)`` and lists like ``[M:…, R:…]`` are understood; an id that is
    not in the block was made up and is ignored.
    """
    return _of_ids(_ids_cited(answer), block)


def usage(answer: str | Iterable[BaseMessage], block: MemoryBlock) -> list[Usage]:
    """Return what one answer, in one message or several, says about each memory of its block."""
    ids = _ids_cited(answer) if isinstance(answer, str) else _ids_of(answer)
    referenced = set(_of_ids(ids, block))
    best = max((entry.relevance or 0.0 for entry in block.entries), default=0.0)
    return [
        _used(entry, (entry.namespace, entry.key) in referenced, best) for entry in block.entries
    ]


def _used(entry: Disclosed, referenced: bool, best: float) -> Usage:
    used = Usage(
        namespace=list(entry.namespace),
        key=entry.key,
        loaded=1,
        referenced=int(referenced),
        succeeded=0,
        read_tokens=entry.read_tokens,
        discovery_tokens=entry.discovery_tokens,
    )
    if referenced and entry.relevance is not None and best > 0:
        used |= {"matched": 1, "relevance": entry.relevance / best}
    return used


def without_ids(answer: MessageT, ids: AbstractSet[str] = frozenset()) -> MessageT:
    """Return an answer without its citation ids, marked with those it had, so that they still count.

    Args:
        ids: those in the prompt, see `CitationFilter`.
    """
    shown = cleaned(answer, ids)
    if shown is answer:
        return answer
    kwargs = {**answer.additional_kwargs, **mark_of(answer.text)}
    return cast("MessageT", shown.model_copy(update={"additional_kwargs": kwargs}))


def mark_of(answer: str) -> dict[str, dict[str, list[str]]]:
    """Return the mark of an answer, for its ``additional_kwargs``; empty where it cites nothing."""
    ids = _ids_cited(answer)
    return {MARK: {CITED: sorted(ids)}} if ids else {}


def _ids_cited(answer: str) -> set[str]:
    return {id.lower() for _, id in _CITED.findall(answer)}


def _ids_of(answers: Iterable[BaseMessage]) -> set[str]:
    """The ids that answers cite, or cited before they were taken out."""
    ids: set[str] = set()
    for one in answers:
        mark = one.additional_kwargs.get(MARK)
        had = mark.get(CITED, ()) if isinstance(mark, Mapping) else ()
        ids |= _ids_cited(one.text).union(map(str, had))
    return ids


def _of_ids(ids: AbstractSet[str], block: MemoryBlock) -> list[tuple[Namespace, str]]:
    return [
        (entry.namespace, entry.key)
        for entry in block.entries
        if entry.label.partition(":")[2] in ids
    ]


def successes(counts: Iterable[Usage]) -> list[Usage]:
    """Return what to add to these counts of an answer once it turned out well: a success for each
    memory it cited."""
    nothing = {"loaded": 0, "referenced": 0, "read_tokens": 0, "matched": 0, "relevance": 0.0}
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
        sums[memory] = one if known is None else add_usage(known, one)
    return list(sums.values())


def add_usage(known: Usage, one: Usage) -> Usage:
    """The counts of one memory, added up as in `tally`."""
    total = Usage(
        namespace=one["namespace"],
        key=one["key"],
        loaded=known["loaded"] + one["loaded"],
        referenced=known["referenced"] + one["referenced"],
        succeeded=known["succeeded"] + one["succeeded"],
        read_tokens=known["read_tokens"] + one["read_tokens"],
        discovery_tokens=one["discovery_tokens"],
    )
    if matched := known.get("matched", 0) + one.get("matched", 0):
        relevance = known.get("relevance", 0.0) + one.get("relevance", 0.0)
        total |= {"matched": matched, "relevance": relevance}
    if cited_at_us := max(known.get("cited_at_us", 0), one.get("cited_at_us", 0)):
        total["cited_at_us"] = cited_at_us
    return total
