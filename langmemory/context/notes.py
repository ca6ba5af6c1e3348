"""Notes: memories as a prompt shows them, from whatever the store returned.

A note is what disclosure and rendering work on; it is made from a `RecallResult` or `Memory`, from
an `Item` or `SearchItem` of any LangGraph store, or from the plain mapping a node keeps in state
(``namespace``, ``key`` and ``text`` or ``value``, other facets as in `Memory`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias, get_args

from langgraph.store.base import Item

from langmemory.citing import Letter, letter_of, note_id, shown_priority
from langmemory.context.marking import one_line
from langmemory.context.tokens import ELLIPSIS
from langmemory.languages.temporal.words import begins_then
from langmemory.procedures import is_procedure, record
from langmemory.resources import citation, is_chunk
from langmemory.timestamps import moment
from langmemory.trust import MARKED, OF_ROLE, ROLES, capped, least, trust_of
from langmemory.types import Kind, Memory, Namespace, Priority, RecallResult, Trust

Recalled: TypeAlias = RecallResult | Memory | Item | Mapping[str, Any]

SPEAKER_CHARS = 80
"""Of a speaker's name: a longer one would leave no room for what was said."""

EARLIER: Final = "earlier"
"""Part of the score of a result which another one, that is newer, contradicts."""

STATES: Final = frozenset(
    {"lives_in", "works_at", "works_as", "works_for", "studies_at", "married_to", "engaged_to",
     "partner_of", "member_of", "owns", "has_pet", "role"}
)  # fmt: skip
"""Relations that go on: what became true at a time has been true since."""

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

_TEXT_FIELDS = ("content", "text", "memory", "body", "data")


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """One memory, ready to be shown. `text` and `speaker` are as stored: not yet escaped."""

    id: str
    """Short stable hash of namespace and key, the same in every process and file."""
    namespace: Namespace
    key: str
    text: str
    priority: Priority = "reference"
    kind: Kind = "semantic"
    speaker: str | None = None
    at: datetime | None = None
    """When it was said or became true; None when only the time of storing is known."""
    score: float | None = None
    relevance: float | None = None
    """How well it matched the query, 0..1, before its score was calibrated; None where nothing was asked."""
    importance: float = 0.5
    trust: Trust = "person"
    """Where it comes from; a line tells of `langmemory.trust.MARKED`."""
    is_fact: bool = False
    """Whether reflection derived it: a statement by itself, whoever said what it was made from."""
    validity: str = ""
    """Of a fact: ``since March 2026``, ``until May 2026``, ``said 8 May 2023``."""
    earlier: bool = False
    """Whether something newer has taken its place."""
    source: str = ""
    """Of a part of a document: how it is cited, as ``docs/guide.md#L10-L24``."""
    is_procedure: bool = False
    """Whether it is a procedure: a part of its steps from the middle would mislead."""
    record: str = ""
    """Of a procedure, how it went: ``worked 3 of 4 times``."""
    discovery_tokens: int | None = None
    """Tokens it once took to find out, where the value's ``discovery_tokens`` says so."""

    @property
    def letter(self) -> Letter:
        return letter_of(self.priority)

    @property
    def label(self) -> str:
        """How lines and answers refer to it: ``R:1a2b3c4d``."""
        return f"{self.letter}:{self.id}"

    @property
    def mark(self) -> str:
        """From which source it is, where that is trusted less and nothing else in its line tells it; an
        imported turn has the name of who said it, unless that is a role."""
        mark, speaker = MARKED.get(self.trust, ""), (self.speaker or "user").casefold()
        named = self.trust == "import" and not self.is_fact and speaker not in ROLES
        known = self.source or named or OF_ROLE.get(speaker) == self.trust
        return f"({mark}) " if mark and not known else ""

    @property
    def origin(self) -> str:
        """Who said it and when, as far as known: ``Maria, 2023-05-08``; of a fact when it was true; of a part
        of a document where it stands."""
        if self.source:
            return one_line(self.source)
        if self.is_procedure:
            return ""
        speaker = one_line(self.speaker or "")
        if len(speaker) > SPEAKER_CHARS:
            speaker = speaker[:SPEAKER_CHARS].rstrip() + ELLIPSIS
        return ", ".join(filter(None, [speaker, f"{self.at:%Y-%m-%d}" if self.at else ""]))


def notes_of(recalled: Iterable[Recalled]) -> list[Note]:
    """Notes in the order given (which is the ranking), each memory once, empty ones left out."""
    notes: dict[tuple[Namespace, str], Note] = {}
    for note in map(note_of, recalled):
        if note.text.strip():
            notes.setdefault((note.namespace, note.key), note)
    return list(notes.values())


def note_of(recalled: Recalled) -> Note:
    """Make a note of one thing a store returned.

    Raises:
        TypeError: it is none of the kinds above.
    """
    if isinstance(recalled, RecallResult):
        note = _of_memory(recalled.memory, recalled.score)
        return replace(
            note,
            relevance=recalled.parts.get("relevance"),
            earlier=note.earlier or bool(recalled.parts.get(EARLIER)),
        )
    if isinstance(recalled, Memory):
        return _of_memory(recalled, None)
    if isinstance(recalled, Item):
        score = getattr(recalled, "score", None)
        return _of_value(tuple(recalled.namespace), recalled.key, recalled.value, {"score": score})
    if isinstance(recalled, Mapping):
        namespace = tuple(str(label) for label in recalled.get("namespace", ()))
        value = recalled.get("value", {})
        return _of_value(namespace, str(recalled["key"]), value, recalled)
    raise TypeError(
        f"cannot show {type(recalled).__name__} as a memory: pass what recall() or search() "
        f"returned, Memory objects, or mappings with namespace, key and text"
    )


def _of_memory(memory: Memory, score: float | None) -> Note:
    return Note(
        id=note_id(memory.namespace, memory.key),
        namespace=memory.namespace,
        key=memory.key,
        text=memory.text,
        priority=shown_priority(memory.priority, memory.importance, memory.kind, memory.trust),
        kind=memory.kind,
        speaker=memory.speaker,
        at=memory.valid_at,
        score=score,
        importance=memory.importance,
        trust=memory.trust,
        is_fact=is_fact(memory.value),
        validity=validity(memory.value, memory.valid_at, memory.invalid_at),
        earlier=memory.status == "superseded" or _over(memory.invalid_at),
        source=citation(memory.value) if is_chunk(memory.value) else "",
        is_procedure=is_procedure(memory.value),
        record=record(memory.value),
        discovery_tokens=_whole_number(memory.value.get("discovery_tokens")),
    )


def _of_value(
    namespace: Namespace, key: str, value: Mapping[str, Any], facets: Mapping[str, Any]
) -> Note:
    """A note of a plain value; `facets` stand above what the value itself says."""

    def facet(name: str) -> Any:
        found = facets.get(name)
        return value.get(name) if found is None else found

    priority, kind, speaker = facet("priority"), facet("kind"), facet("speaker")
    trust = least([trust_of(value), facets.get("trust") or "person"])
    score, importance = _number(facets.get("score")), _number(facet("importance"))
    text, known, parts = facets.get("text"), facets.get("validity"), facets.get("parts")
    source, outcomes = facets.get("source"), facets.get("record")
    at, invalid_at = moment(facet("valid_at") or facet("at")), moment(facet("invalid_at"))
    importance = 0.5 if importance is None else importance
    own: Priority = priority if priority in get_args(Priority) else "reference"
    if facets.get("priority") is None:
        own = capped(trust, own)
    known_kind: Kind = kind if kind in get_args(Kind) else "semantic"
    return Note(
        id=note_id(namespace, key),
        namespace=namespace,
        key=key,
        text=text if isinstance(text, str) else text_of(value),
        priority=shown_priority(own, importance, known_kind, trust),
        kind=known_kind,
        speaker=speaker if isinstance(speaker, str) else None,
        at=at,
        score=score,
        relevance=_number(parts.get("relevance")) if isinstance(parts, Mapping) else None,
        importance=importance,
        trust=trust,
        is_fact=bool(facets.get("is_fact")) or is_fact(value),
        validity=known if isinstance(known, str) else validity(value, at, invalid_at),
        earlier=bool(facets.get("earlier"))
        or bool(isinstance(parts, Mapping) and parts.get(EARLIER))
        or facet("status") == "superseded"
        or _over(invalid_at),
        source=source if isinstance(source, str) else citation(value) if is_chunk(value) else "",
        is_procedure=bool(facets.get("is_procedure")) or is_procedure(value),
        record=outcomes if isinstance(outcomes, str) else record(value),
        discovery_tokens=_whole_number(facet("discovery_tokens")),
    )


def is_fact(value: Mapping[str, Any]) -> bool:
    """Whether a value is what reflection derived."""
    return isinstance(value.get("fact_kind"), str)


def _over(invalid_at: datetime | None) -> bool:
    if invalid_at is None:
        return False
    return invalid_at <= datetime.now(invalid_at.tzinfo)


def text_of(value: Any) -> str:
    """The readable text of a stored value: its text field, else all its leaves with their names.

    LangMem's ``{"content": "…"}`` and ``{"kind": …, "content": {…}}`` are read as they are.
    """
    if isinstance(value, Mapping):
        for field in _TEXT_FIELDS:
            if value.get(field):
                return text_of(value[field])
        return "; ".join(f"{name}: {text_of(leaf)}" for name, leaf in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(text_of, value))
    return "" if value is None else str(value)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and value is not True else None


def _whole_number(value: Any) -> int | None:
    number = _number(value)
    return None if number is None or number < 0 else int(number)


def validity(value: Mapping[str, Any], begins: datetime | None, ends: datetime | None) -> str:
    """Return when a fact is, or was, true, as a prompt says it: ``since March 2026``; else when it was said.
    Empty where neither is known, and of anything but a fact.

    Args:
        value: of the fact, as reflection wrote it.
        begins: when it became true.
        ends: when it stopped being true.
    """
    if not is_fact(value):
        return ""
    when = value.get("when")
    when = when if isinstance(when, Mapping) else {}
    precision = str(when.get("precision") or "day")
    start = moment(when.get("start"))
    # The first of a month, at midnight, is what is known of a month alone.
    whole_month = ends is not None and (ends.day, ends.hour, ends.minute, ends.second) == (
        1,
        0,
        0,
        0,
    )
    until = _date(ends, "month" if whole_month else "day")
    said = moment(value.get("said_at"))
    if start is not None:
        lasts = begins_then(str(when.get("words") or "")) or value.get("relation") in STATES
        since = _date(start, precision)
        if until:
            return f"{since} to {until}"
        return f"since {since}" if lasts else since
    if until:
        return f"until {until}"
    if said is None and begins is None:
        return ""
    return f"said {_date(said or begins, 'day')}"


def _date(at: datetime | None, precision: str) -> str:
    if at is None:
        return ""
    if precision == "decade":
        return f"{at.year // 10 * 10}s"
    if precision == "year":
        return str(at.year)
    if precision in ("month", "season"):
        return f"{MONTHS[at.month - 1]} {at.year}"
    day = f"{at.day} {MONTHS[at.month - 1]} {at.year}"
    return f"about {day}" if precision == "week" else day
