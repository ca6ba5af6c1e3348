"""A fact as it is compared with another, whether it is new or known."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from langmemory.formation.batch import Batch
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.wording import marks_of
from langmemory.languages import split_words
from langmemory.languages.spelling import normalised_text
from langmemory.ports.facts import Claim, Fact, KnownFact, fingerprint
from langmemory.timestamps import moment
from langmemory.types import NO_LONGER, Memory, Privacy

BEGINNING = datetime(1, 1, 2, tzinfo=UTC)
"""Before any time; a day after the first there is, so that every timezone can show it."""

END = datetime(9999, 12, 30, tzinfo=UTC)
"""After any time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparableFact:
    """A fact, new or known, in the form in which it is compared."""

    key: str
    text: str
    claims: tuple[Claim, ...]
    """Literals as they are compared."""
    language: str
    kind: str
    speaker: str | None
    owner: str | None
    privacy: Privacy
    confidence: float
    start: datetime
    """When it became true: its time, or when it was said; `BEGINNING` where that says nothing."""
    dated: bool
    """Whether the beginning was named, not only taken from when it was said."""
    end: datetime
    """When it stopped being true; `END` while it holds."""
    said_at: datetime
    told_at: datetime
    """When it was last said; `said_at` is the first time."""
    ends: bool = False
    """Says that the claim without its ``no_longer_`` is over."""
    over_by: datetime | None = None
    """Until when what it says is over was over at the latest: "last month" names a whole one."""
    corrects: bool = False
    implied: bool = False
    """No word says that what it ends is over: see `Fact.implied`."""
    protected: bool = False
    """Pinned or verified by a person: nothing but a person's decision supersedes it."""
    waiting: bool = False
    """Not approved yet: it stands against nothing."""
    heard: str = ""
    """Sentences it was made of, as far as they name what it claims: they may say that something
    changed where its own text does not."""
    unconfirmed: bool = False
    """A model alone read it, and it waits for somebody to say it again."""
    past: bool = False
    """Gave way before: only when it ended may be learned still."""
    occasion: tuple[datetime, datetime] | None = None
    """Of an event or a plan, the interval it is told for."""
    evidence: tuple[str, ...] = ()
    never_held: bool = False
    """Taken back because its words were changed: it never was true, and nothing took its place."""
    new: bool = False
    """Of the batch."""

    @staticmethod
    def of_fact(fact: Fact, batch: Batch | None = None) -> ComparableFact:
        """A fact of a batch; with it, also what was heard."""
        return ComparableFact(
            key=fact_key(fact),
            text=fact.text,
            claims=tuple(_comparable(claim) for claim in fact.claims),
            language=fact.language,
            kind=fact.kind,
            speaker=fact.speaker,
            owner=fact.owner,
            privacy=fact.privacy,
            confidence=fact.confidence,
            start=_start(fact.kind, fact.claims, fact.valid_at, fact.invalid_at, fact.said_at),
            dated=fact.valid_at not in (None, fact.said_at),
            end=END if _is_end(fact.claims) else fact.invalid_at or END,
            said_at=fact.said_at,
            told_at=fact.said_at,
            ends=_is_end(fact.claims),
            over_by=fact.when.end if fact.when and _is_end(fact.claims) else None,
            corrects=fact.corrects,
            implied=fact.implied is not None,
            occasion=(fact.when.start, fact.when.end)
            if fact.when and fact.kind in ("event", "plan")
            else None,
            heard=_sentences_about(
                fact.claims,
                (one.text for key in fact.evidence if (one := batch.turn(key)) is not None),
            )
            if batch
            else "",
            evidence=fact.evidence,
            new=True,
        )

    @staticmethod
    def of_known(known: KnownFact) -> ComparableFact:
        """A memory."""
        memory = known.memory
        kind = str(memory.value.get("fact_kind", "fact"))
        said_at = moment(memory.value.get("said_at")) or memory.created_at
        start = _start(kind, known.claims, memory.valid_at, memory.invalid_at, said_at)
        end, past = memory.invalid_at or END, memory.status == "superseded"
        return ComparableFact(
            key=memory.key,
            text=memory.text,
            claims=tuple(_comparable(claim) for claim in _both_ways(known.claims)),
            language=str(memory.value.get("language", "en")),
            kind=kind,
            speaker=memory.speaker,
            owner=memory.owner,
            privacy=memory.privacy,
            confidence=memory.confidence,
            start=start,
            dated=memory.valid_at not in (None, said_at),
            end=end,
            said_at=said_at,
            told_at=max(known.told_at or said_at, said_at),
            ends=_is_end(known.claims),
            corrects=memory.value.get("corrects") is True,
            protected=memory.pinned or memory.verified,
            waiting=memory.status in ("pending", "approved"),
            unconfirmed=is_unconfirmed(memory),
            past=past,
            never_held=past and memory.superseded_by is None and end <= start,
            occasion=_told_for(memory.value) if kind in ("event", "plan") else None,
            heard=_sentences_about(known.claims, known.heard),
            evidence=known.evidence,
        )


def is_unconfirmed(memory: Memory) -> bool:
    """Whether a memory waits that a model alone read."""
    return memory.status == "pending" and memory.value.get("read_by") == "model"


def fact_key(fact: Fact) -> str:
    """``fact/<16 hex>`` of text and first evidence: a repeated run finds what it made before."""
    return key_of(fact.text, fact.evidence[0])


def key_of(text: str, turn: str) -> str:
    """The `fact_key` of a text that a turn is the first evidence of."""
    seed = fingerprint(text) + turn.encode()
    return f"fact/{hashlib.sha256(seed).hexdigest()[:16]}"


def same_circle(one: ComparableFact, other: ComparableFact) -> bool:
    """Whether the same people may read both, and a private one has the same owner, as has how
    somebody wants to be answered: a name may be several people's."""
    if one.privacy != other.privacy:
        return False
    personal = one.privacy == "private" or asks_assistant(one) or asks_assistant(other)
    return not personal or one.owner == other.owner


def asks_assistant(statement: ComparableFact) -> bool:
    """Whether it says how somebody wants to be answered, or no longer wants to be."""
    return any(
        relation_named(claim.relation.removeprefix(NO_LONGER)).to_assistant
        for claim in statement.claims
    )


def overlap_in_time(one: ComparableFact, other: ComparableFact) -> bool:
    """Whether there is a moment at which both hold. What began before it was said is taken to have
    held when it was said."""
    return one.start == other.start or (one.start < other.end and other.start < one.end)


def one_occasion(one: ComparableFact, other: ComparableFact) -> bool:
    """Whether two events, or plans, may be the same one: not when they are told for other days."""
    if one.occasion is None or other.occasion is None:
        return True
    return one.occasion[0] < other.occasion[1] and other.occasion[0] < one.occasion[1]


def _is_end(claims: tuple[Claim, ...]) -> bool:
    return bool(claims) and claims[0].relation.startswith(NO_LONGER)


def _both_ways(claims: tuple[Claim, ...]) -> Iterator[Claim]:
    """Claims of either end: one that holds both ways is kept once (`planning.writing`)."""
    yield from claims
    for claim in claims:
        if claim.object_is_entity and relation_named(claim.relation).symmetric:
            yield replace(claim, subject=claim.object, object=claim.subject)


def _comparable(claim: Claim) -> Claim:
    if claim.object_is_entity:
        return claim
    return Claim(
        subject=claim.subject,
        relation=claim.relation,
        object=normalised_text(claim.object),
        object_is_entity=False,
    )


def _start(
    kind: str,
    claims: tuple[Claim, ...],
    valid_at: datetime | None,
    invalid_at: datetime | None,
    said_at: datetime,
) -> datetime:
    """Since ever for what is timeless (a birthday has a date, but it is one's birthday before it);
    else its own time; without one, since ever for what is over, and since it was said."""
    if claims and kind != "event" and relation_named(claims[0].relation).timeless:
        return BEGINNING
    if valid_at is not None and valid_at != said_at:
        return valid_at
    never_was = valid_at is not None and valid_at == invalid_at
    over = invalid_at is not None and invalid_at <= said_at and not never_was
    return BEGINNING if over else said_at


_SENTENCE = re.compile(r"(?<=[.!?。！？\n])\s*")


def _sentences_about(claims: tuple[Claim, ...], said: Iterable[str]) -> str:
    if not claims:
        return ""
    words = split_words(spoken_name(claims[0].object))
    return " ".join(
        sentence
        for text in said
        for sentence in _SENTENCE.split(text)
        if set(words) & set(split_words(sentence))
    )


def spoken_name(value: str) -> str:
    """The name in an entity's key, or a literal as it is."""
    if "/" in value and "-" in value:
        return value.partition("/")[2].rpartition("-")[0].replace("-", " ")
    return value


def words_of(value: str) -> str:
    """The words of a name or literal, as they are compared: case folded, one space between them, and
    those with a mark ("F#") as they are."""
    name = spoken_name(value)
    marks = marks_of(name)
    bare = {word for mark in marks for word in split_words(mark)}
    return " ".join([*(word for word in split_words(name) if word not in bare), *sorted(marks)])


def _told_for(value: dict[str, Any]) -> tuple[datetime, datetime] | None:
    when = value.get("when")
    if not isinstance(when, dict):
        return None
    start, end = moment(when.get("start")), moment(when.get("end"))
    return None if start is None or end is None else (start, end)
