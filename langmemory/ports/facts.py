"""Facts on their way from an extractor to a change set, and what is known already."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, Protocol

from langmemory.languages.spelling import normalised_text
from langmemory.languages.temporal.calendar import Precision
from langmemory.types import Entity, Memory, Namespace, Privacy, Review, TemporalClass

FactKind = Literal["fact", "preference", "decision", "event", "plan", "procedure"]
"""The kind of statement. A procedure becomes a ``procedural`` memory, the others ``semantic``
ones."""

Implied = Literal["denied", "past"]
"""A denial ("is not allergic to nuts"), or the past tense ("was married to Beth")."""


BEGINS: Final = 4
"""Letters that the words of a text share with those of a fact it may speak of."""

EXTRACTION_FAILED: Final = "extraction failed"
"""Among what an extraction dropped, and in the note of its run: a model answered, but nothing could be
made of it, and the turns stay as they were said."""
UNREAD: Final = "an answer that could not be read"
"""Among what an extraction dropped, once for each question that a model did not answer."""
TAKEN_BACK: Final = "taken back afterwards"
READ_IN_PART: Final = "read in part"
"""Among what an extraction dropped, once for each turn too long to be read whole; the note of the run
counts them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class When:
    """A time somebody named, as an interval."""

    words: str
    """As it was said: "last May"."""
    start: datetime
    """Timezone-aware; the interval is [start, end)."""
    end: datetime
    precision: Precision


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A fact as a triple. Names before entities are resolved, entity keys after."""

    subject: str
    relation: str
    """As normalised by `relations`: ``lives_in``, ``works_at``, ``married_to`` …"""
    object: str
    object_is_entity: bool = True
    """False: a literal (a colour, a date, a number)."""

    @classmethod
    def of_edge(cls, subject: str, relation: str, object: str | None, literal: str | None) -> Claim:
        """Return the claim of an edge, which has either an entity or a literal as its object."""
        end = literal or "" if object is None else object
        return cls(
            subject=subject, relation=relation, object=end, object_is_entity=object is not None
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One statement that stands alone."""

    text: str
    kind: FactKind = "fact"
    speaker: str | None = None
    owner: str | None = None
    privacy: Privacy = "shared"
    confidence: float = 0.8
    importance: float = 0.5
    language: str = "en"
    """BCP 47 of the source; the text keeps it."""
    evidence: tuple[str, ...]
    """Keys of the turns it comes from, never empty."""
    said_at: datetime
    """Of the first evidence."""
    time_words: str | None = None
    """Words by which the source fixes the time, unresolved: "last May"."""
    when: When | None = None
    """The targets they resolve to."""
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    claims: tuple[Claim, ...] = ()
    """The first is what the fact is about; the guard against contradictions looks at it."""
    ends: bool = False
    """The statement says that the claim no longer holds ("I no longer work at Initech")."""
    corrects: bool = False
    """The speaker takes back what was said before ("No, my birthday is in May, not March")."""
    implied: Implied | None = None
    """By what alone a claim no longer holds, where no word says so: what that would end is asked about."""
    temporal_class: TemporalClass | None = None
    """How it ages, as a model said; see `formation.temporal_class`."""
    unconfirmed: bool = False
    """A model alone read it: it waits until a rule, or another conversation, says the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionSummary:
    """The subject of a batch."""

    text: str
    decisions: tuple[str, ...] = ()
    open_points: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CoreSuggestion:
    """Text that an extractor would add to a core memory block. A person or a rule decides."""

    block: str
    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """The result of an extractor for one batch."""

    facts: tuple[Fact, ...] = ()
    summary: SessionSummary | None = None
    core: tuple[CoreSuggestion, ...] = ()
    model_calls: int = 0
    dropped: tuple[str, ...] = ()
    """Why statements were left out, one reason each, never their text."""
    problem: str | None = None
    """Why a model's answers could not be used, beside which others read: these facts need not wait."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownFact:
    """A memory formation may compare with."""

    memory: Memory
    claims: tuple[Claim, ...]
    """With entity keys, links followed."""
    evidence: tuple[str, ...]
    """Keys of its sources."""
    told_at: datetime | None = None
    """When the latest of them was said, where they tell."""
    heard: tuple[str, ...] = ()
    """Their text, of a fact that corrects something: it may name what it takes back."""
    own: Mapping[str, str] = field(default_factory=dict)
    """Key in its claims → key its edges are written with, where they differ: that of an entity linked
    to the one in the claim."""

    def as_if(self, **changes: Any) -> KnownFact:
        """Return the fact as if its memory had these values."""
        return replace(self, memory=replace(self.memory, **changes))


class Knowledge(Protocol):
    """Read access to what one namespace knows, on one snapshot. All calls are synchronous.

    Only derived memories (kinds other than ``episodic`` and ``core``) count as facts, and but for
    `by_key` only active and pending ones.
    """

    @property
    def namespace(self) -> Namespace: ...

    @property
    def seq(self) -> int:
        """The newest `HistoryEntry.seq`: what `ChangeSet.planned_at` is to hold."""

    def by_fingerprint(self, text: str) -> Sequence[KnownFact]:
        """Return facts whose normalised text is the same."""

    def nearest(self, text: str, limit: int) -> Sequence[tuple[KnownFact, float]]:
        """Return facts by cosine of their vectors to the text's, best first; empty without vectors."""

    def about(
        self,
        subject: str,
        relation: str | None = None,
        *,
        also: str | None = None,
        literal: str | None = None,
        corrects: bool = False,
        past: bool = False,
        either: bool = False,
    ) -> Sequence[KnownFact]:
        """Return facts that claim this of an entity (key, links followed); any relation for None.
        What holds both ways ("is married to") is claimed of either.

        Whoever speaks has said thousands of things of themselves; each that is read takes a tenth of
        a millisecond.

        Args:
            subject: whom.
            relation: what is claimed.
            also: only facts that claim something of this entity (key, links followed), too, at either
                end.
            literal: only what is claimed with this literal, as `normalised_text` compares it.
            corrects: only what takes back something said before.
            past: also superseded ones: what comes late is compared with what held then.
            either: also what is claimed of others with the entity as the object.
        """

    def derived_from(self, keys: Sequence[str]) -> Sequence[KnownFact]:
        """Return facts whose evidence includes one of these memories."""

    def taken_back(self, turn: str, said_at: datetime) -> Sequence[KnownFact]:
        """Return facts made of this turn (key, and when it was said) that somebody rejected, or
        deleted; the latter with names for the entities of their claim."""

    def gave_way_to(self, key: str) -> Sequence[KnownFact]:
        """Return superseded facts whose place this one took."""

    def by_key(self, key: str) -> KnownFact | None:
        """Return a fact, whatever its status."""
        ...

    def entity(self, key: str) -> Entity | None:
        """Return the entity of this key, links not followed."""
        ...


class FullKnowledge(Knowledge, Protocol):
    """`Knowledge` with the names of its entities, and with what edits and reviews need besides."""

    def worded(self, text: str) -> Sequence[KnownFact]:
        """Return facts, and what an application wrote, of just these words; unlike `nearest`
        without an embedder."""
        ...

    def rests_on(
        self, turns: Sequence[str]
    ) -> Sequence[tuple[str, KnownFact, bool, datetime | None]]:
        """Turn by turn, where one was edited since it was remembered, the facts made of it, whatever
        their status: each with whether it was made of earlier words, and when the first of its other
        turns was said. Nothing of a turn that says what it always said."""

    def asked(self, keys: Collection[str]) -> Sequence[Review]:
        """Open questions about any of these memories."""

    def entities(self, norm: str) -> Sequence[Entity]:
        """Return entities that have this normalised name (`languages.spelling`) or alias, links
        followed."""

    def called(self, norm: str) -> Sequence[Entity]:
        """Return entities that have this normalised name or alias, links not followed, oldest
        first."""

    def everyone(self, kind: str | None = None) -> Sequence[Entity]:
        """Return every entity of the namespace, or of this kind, links not followed, without its
        aliases; oldest first."""

    def names(self) -> Sequence[str]:
        """Return every normalised name and alias of the namespace, once; of the oldest entity
        first."""

    def links(self) -> Mapping[str, str]:
        """Return the key of each entity that is linked to another, to that of the one it stands for."""


def fingerprint(text: str) -> bytes:
    """Return SHA-256 of the normalised text."""
    return hashlib.sha256(normalised_text(text).encode()).digest()


class SnapshotKnowledge(FullKnowledge, Protocol):
    """`Knowledge` of a store, read in snapshots, with its embedder."""

    def prepare(self, texts: Iterable[str]) -> None:
        """Embed texts that `nearest` will be asked about, in one call of the embedder.

        Raises:
            EmbeddingError: The embedder failed.
        """

    def similar(self, name: str, others: Sequence[str]) -> list[float]:
        """Return the cosines of a name to others; 0 where names are not compared."""

    def told_by(self, speaker: str, owner: str | None, text: str) -> Sequence[KnownFact]:
        """Return facts with claims of this speaker and owner that hold and that a text may speak of, the
        latest first: the latest of each relation, and those that share a word with the text."""

    def near_first(self, words: Collection[str], enough: int) -> Sequence[Entity]:
        """Return the entities of the namespace, as `everyone` does, whose normalised name has one of these
        words, then the oldest others as far as these are fewer than ``enough``."""

    def names_of(self, keys: Iterable[str]) -> Mapping[str, str]:
        """Return the names of the entities of these keys, by key, links not followed."""

    def procedures(self) -> Sequence[KnownFact]:
        """Return all procedures of the namespace, whatever their status, the latest first."""

    def known(self, ids: Iterable[int]) -> Sequence[KnownFact]:
        """Return facts by their ids, in this order, whatever their status."""

    def release(self) -> None:
        """Give the snapshot back; the next read takes another."""


def digest(*parts: str) -> str:
    """Return 16 hex digits that name what the parts name."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
