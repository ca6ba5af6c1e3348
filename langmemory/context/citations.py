"""Citations: which of the memories shown the answer rests on, and how their ids leave the answer.

``loaded`` counts how often a memory stood in a prompt, ``referenced`` how often the answer cited
it, ``succeeded`` how often the person's next message did not correct such an answer. Read tokens are
what showing it cost, discovery tokens what it stands for: their difference is what remembering saved.

An id in brackets goes with its brackets and the space before it, as a whole or while the answer streams
in pieces of any size.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, Literal, NotRequired, TypeVar, cast, get_args

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.citing import ID_CHARS
from langmemory.context.disclosure import Disclosed, MemoryBlock, disclosed, note_line
from langmemory.context.marking import MARK
from langmemory.context.notes import Recalled, note_of, notes_of
from langmemory.context.tokens import count_text
from langmemory.languages import LANGUAGES
from langmemory.types import Namespace

LONGEST_GROUP: Final = 600
"""Characters within which a bracket full of ids must close. A longer one is shown as it is."""

_HEX = rf"[0-9a-f]{{{ID_CHARS},64}}"
_LABEL = rf"(?:[MGR]\s{{0,3}}[:：]\s{{0,3}}(?:{_HEX}|id(?![0-9a-z])))"
_INSIDE = r"[\s0-9a-fmgruniy:：,;&/|*_`^~\[\]()【】{}<>]"
"""Characters of a group of ids, those between two ids included."""
_BRACKETS = (r"\[", r"\]"), (r"\(", r"\)"), ("【", "】"), (r"\{", r"\}"), ("<", ">")

_BEGUN = re.compile(
    r"\s*[*_`^~]{0,3}"
    rf"(?:[\[(【{{<]\s*(?:[^\W\d_.]{{0,9}}\.?\s*[:：]?)?{_INSIDE}{{0,{LONGEST_GROUP}}}"
    rf"|(?<![0-9a-z])(?:[mgr](?:[:：][0-9a-f]{{0,64}})?|[0-9a-f]{{1,64}}){_INSIDE}{{0,{LONGEST_GROUP}}})?$",
    re.IGNORECASE,
)
"""The end of a text that may be the beginning of a citation."""

_DIGITS = re.compile(_HEX)
_SHOWN = re.compile(rf"(?<![0-9a-z])[MGR]:({_HEX})(?![0-9a-z])")


def _with_space(one: str, more: str = "") -> re.Pattern[str]:
    """Return the pattern of what is taken out, with the marks and the white space around it."""
    marked = rf"(?:(?P<mark>[*_`^~]{{1,3}}){one}(?P=mark)|{one})"
    before = r"(?:(?<![ \t])(?P<before>[ \t]*))?"
    whole = rf"{before}{marked}{more}(?P<after>[ \t]*)(?P<line>\n?)"
    return re.compile(whole, re.IGNORECASE)


@functools.cache
def _lead_and_joint() -> tuple[str, str]:
    """Return the patterns of what stands before ids and between two of them, in any language."""
    lead = rf"(?:{'|'.join(LANGUAGES.everywhere.cites)})"
    joining = rf"(?:{'|'.join(LANGUAGES.everywhere.ands)})\b"
    return lead, rf"(?:\s{{0,3}}[,;&/|]\s{{0,3}}(?:{joining})?|\s{{1,3}}{joining}|\s)\s{{0,3}}"


@functools.cache
def _labels() -> re.Pattern[str]:
    """Return the pattern of labels; compiled when first needed, for it takes milliseconds."""
    lead, joint = _lead_and_joint()
    item = rf"[\[(【{{<]?\s{{0,3}}{_LABEL}\s{{0,3}}[\])】}}>]?"
    items = rf"(?:{lead}\s{{0,3}}[:：]?\s{{0,3}})?{item}(?:{joint}(?:{item}|{_HEX}))*"
    groups = "|".join(rf"{a}\s{{0,3}}{items}\s{{0,3}}{b}" for a, b in _BRACKETS)
    # Outside of brackets "M: 12345678" is somebody's mobile number.
    bare = rf"(?<![0-9a-z])(?-i:[MGR]):(?=[0-9]{{0,7}}[a-f]){_HEX}(?![0-9a-z])"
    one = rf"(?:{groups}|{bare})"
    return _with_space(one, rf"(?:(?:{joint})?{one})*")


@functools.cache
def _unlettered() -> re.Pattern[str]:
    """Return the pattern of what may be ids without their letter: only those that were shown are."""
    lead, joint = _lead_and_joint()
    id = rf"(?<![0-9a-z])(?:[MGR]\s?[:：]\s?)?{_HEX}(?![0-9a-z])"
    inner = rf"(?:{lead}[:：]?\s)?{id}(?:{joint}{id})*"
    return _with_space(rf"(?:\[{inner}\]|\({inner}\)|{id})")


class CitationFilter:
    """Takes citation ids out of a text that arrives in pieces.

    Args:
        ids: those the model was shown, hexadecimal digits in lower case: they are known without their letter.
    """

    def __init__(self, ids: AbstractSet[str] = frozenset()) -> None:
        self._passes = [_Pass(_labels())]
        if ids:
            self._passes.append(_Pass(_unlettered(), ids))

    def feed(self, piece: str) -> str:
        """Return what can be shown now that `piece` has arrived."""
        for each in self._passes:
            piece = each.feed(piece)
        return piece

    def rest(self) -> str:
        """Return what was held back, at the end of the text."""
        piece = ""
        for each in self._passes:
            piece = each.feed(piece) + each.rest()
        return piece


class _Pass:
    """Takes what a pattern finds out of a text that arrives in pieces."""

    def __init__(self, pattern: re.Pattern[str], ids: AbstractSet[str] | None = None) -> None:
        self._pattern = pattern
        self._ids = ids
        """A group is taken out only if it has no other ids than these; None takes out every group."""
        self._text = "\n"
        """The last character let through, then what is held back."""

    def feed(self, piece: str) -> str:
        self._text += piece
        # Searched from where a group could begin at the earliest, or a long text costs its square.
        begun = _BEGUN.search(self._text, max(1, len(self._text) - 2 * LONGEST_GROUP))
        end = len(self._text) if begun is None else begun.start()
        for found in self._found(end):
            if found.end() == end:  # the space after it may be still to come
                end = found.start()
        return self._let_through(end, last=False)

    def rest(self) -> str:
        return self._let_through(len(self._text), last=True)

    def _found(self, end: int) -> Iterator[re.Match[str]]:
        for found in self._pattern.finditer(self._text, 1, end):
            if self._ids is None or self._ids >= set(_DIGITS.findall(found[0].lower())):
                yield found

    def _let_through(self, end: int, *, last: bool) -> str:
        text, shown, at = self._text, "", 1
        for found in self._found(end):
            shown += text[at : found.start()]
            following = text[found.end() : min(found.end() + 1, end)]
            shown += _gap(found, (text[0] + shown)[-1], following, last=last)
            at = found.end()
        shown += text[at:end]
        self._text = (text[0] + shown)[-1] + text[end:]
        return shown


def _gap(found: re.Match[str], before: str, following: str, *, last: bool) -> str:
    """Return what stands where a citation stood, between these two characters."""
    if found["line"]:
        return "" if before == "\n" else "\n"
    if before == "\n":
        return (found["before"] or "") if following else ""
    spaced = found["before"] or found["after"]
    ends = last and not following
    return " " if spaced and not ends and following not in _NO_SPACE_BEFORE else ""


_NO_SPACE_BEFORE: Final = frozenset(".,;:!?)]}…。，、；：！？»”’\n")


def without_citations(answer: str, ids: AbstractSet[str] = frozenset()) -> str:
    """Return `answer` as a person should read it and memory should store it: without the ids.

    Args:
        ids: those the model was shown, see `CitationFilter`.
    """
    if not _may_cite(answer, ids):
        return answer
    citations = CitationFilter(ids)
    return citations.feed(answer) + citations.rest()


def cleaned(message: BaseMessage, ids: AbstractSet[str]) -> BaseMessage:
    """Return the message without citation ids in its text; what it calls and thinks stays."""
    content = message.content
    if isinstance(content, str):
        shown: Any = without_citations(content, ids)
    else:
        shown = [with_text(one, without_citations(block_text(one), ids)) for one in content]
    return message if shown == content else message.model_copy(update={"content": shown})


def block_text(block: Any) -> str:
    """Return the text of a content block; empty for one of another type."""
    if isinstance(block, str):
        return block
    text = block.get("text") if block.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def with_text(block: Any, text: str) -> Any:
    """Return a content block with another text; one of another type as it is."""
    if isinstance(block, str):
        return text
    return {**block, "text": text} if block_text(block) else block


def ids_in(text: str) -> frozenset[str]:
    """Return the ids of the labels in a text, such as a prompt, in lower case."""
    return frozenset(_SHOWN.findall(text))


def _may_cite(answer: str, ids: AbstractSet[str]) -> bool:
    return _HINT.search(answer) is not None or any(id in answer.lower() for id in ids)


_HINT = re.compile(rf"[MGR]\s*[:：]\s*(?:{_HEX}|id)", re.IGNORECASE)


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
    share: NotRequired[float]
    """Of a memory that was shown and not cited yet, the relevance with which it was: a citation that is
    reported later has it."""
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


def showing(memories: Iterable[Recalled]) -> list[Usage]:
    """Return the counts of memories that were shown for one query, a line each."""
    notes = notes_of(memories)
    best = max((note.relevance or 0.0 for note in notes), default=0.0)
    return [_used(disclosed(one, note_line(one), count_text), False, best) for one in notes]


Mark = Literal["loaded", "referenced", "succeeded"]
"""What an answer made of a memory."""


def used(memory: Recalled, marks: Collection[Mark]) -> Usage:
    """Return the counts of one memory of which an answer made this."""
    note = note_of(memory)
    entry = disclosed(note, note_line(note), count_text)
    counts = {name: int(name in marks) for name in get_args(Mark)}
    read_tokens = entry.read_tokens * counts["loaded"]
    return cast("Usage", {**_used(entry, False, 0.0), **counts, "read_tokens": read_tokens})


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
    if entry.relevance is not None and best > 0:
        share = entry.relevance / best
        used |= {"matched": 1, "relevance": share} if referenced else {"share": share}
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
    """Return what to add to these counts of an answer that is not corrected: a success for each memory it
    cited."""
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
    if (share := one.get("share", known.get("share"))) is not None:
        total["share"] = share
    if cited_at_us := max(known.get("cited_at_us", 0), one.get("cited_at_us", 0)):
        total["cited_at_us"] = cited_at_us
    return total
