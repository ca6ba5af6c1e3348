"""The seam between recall and an engine: what recall asks for, in arrays, and nothing more.

A `CandidateSource` is bound to one `Scope`: namespace, kinds, statuses, viewer, validity, time
window, exclusions and the value filter are predicates of every query it makes, so that nothing out
of scope ever leaves the engine. All calls are synchronous and read one consistent snapshot;
async callers run the whole pipeline in a worker thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from langmemory.ids import indexes
from langmemory.languages import Question
from langmemory.ports.sparse import Pairs
from langmemory.types import Memory

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]

UNKNOWN_TIME = int(np.iinfo(np.int64).min)
"""A time nobody set, where times are int64 microseconds since 1970 UTC."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeywordQuery:
    """One look-up in the keyword index: any of its terms and phrases, at least one of them."""

    terms: tuple[str, ...] = ()
    """Words of `languages.keyword_terms`. One that stands n times counts n times."""
    phrases: tuple[str, ...] = ()
    """Texts whose words are to stand side by side."""
    forms: tuple[str, ...] = ()
    """Other forms of its words, which are looked up as well."""
    body_weight: float = 1.0
    context_weight: float = 0.5
    """BM25 column weights."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimQuery:
    """A question for what memories claim."""

    text: str
    terms: Sequence[str]
    """Its words worth looking up."""
    names: Iterable[str]
    """Words in it that may be a name, as it is spelled; not looked at while there is no graph."""
    speakers: Iterable[str]
    """Whom it may mean by "I"."""
    asks: Collection[Question]
    now: int
    """When it is asked, or the end of the time it asks about, microseconds: what was announced for a day
    before holds."""


class ScoredIds(NamedTuple):
    """Ids with a score each, best first."""

    ids: Ids
    """int64[n], distinct."""
    scores: Floats
    """float32[n]: cosine -1..1 from `dense`, BM25 > 0 from `keyword`, 0..1 from `claims`."""

    def among(self, ids: Ids) -> Floats:
        """float32[m]: the score of each of m ids, 0 for what was not found."""
        score = np.zeros(len(ids), np.float32)
        if len(ids):
            at = indexes(ids, self.ids)
            score[at[at >= 0]] = self.scores[at >= 0]
        return score


NOTHING: Final = ScoredIds(np.empty(0, np.int64), np.empty(0, np.float32))


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Facets of n items as columns."""

    ids: Ids
    thread: NDArray[np.int64]
    """Number of the thread, the same within a file for the same thread; -1 for none."""
    position: NDArray[np.int64]
    """0-based place in the thread; -1 for none."""
    speaker: Sequence[str | None]
    said_at: NDArray[np.int64]
    """``valid_at``, or ``created_at`` where nobody set it."""
    tokens: Sequence[bytes | None]
    """Token ids of the text in the static table, native uint16, in order; None without a table."""
    importance: Floats
    confidence: Floats
    status: Sequence[str]
    invalid_at: NDArray[np.int64]
    """`UNKNOWN_TIME` where nobody set it, as in the next."""
    expired_at: NDArray[np.int64]
    is_document: NDArray[np.bool_]
    """Documents and their parts. When one was read says nothing about when it was written."""


class Uses(NamedTuple):
    """Values that few presets ask about n items."""

    accessed_at: NDArray[np.int64]
    """Last access, or ``created_at`` where there was none."""
    access_count: NDArray[np.int64]
    priority: Sequence[str]


class CandidateSource(Protocol):
    """Read access to the memories of one scope. Ids out of scope or unknown are passed over."""

    def dense(self, vector: Floats, limit: int) -> ScoredIds:
        """Return the items closest to a float32[dims], L2-normalised vector, by cosine."""

    def keyword(self, query: KeywordQuery, limit: int) -> ScoredIds:
        """Return the best items for the words, by BM25 (sign turned positive)."""

    def sparse(self, vector: Pairs, limit: int) -> ScoredIds:
        """Return the items with the highest sums of products of their sparse vectors with one, above 0."""

    def window(self, since: int, until: int, limit: int) -> Ids:
        """Return the latest items said in ``[since, until)``, microseconds."""

    def cosines(self, vector: Floats, ids: Ids) -> Floats:
        """float32[n]: cosine of each item to the vector; 0 for an item without one."""

    def rows(self, ids: Ids) -> Rows:
        """Return facets of these items, in any order."""

    def uses(self, ids: Ids) -> Uses:
        """Return values of items that are there, in their order."""

    def at(self, threads: Ids, positions: Ids) -> Rows:
        """Return the facets of the items at these positions of these threads, int64[n] each, in any
        order. There may be none at a position."""

    def fact_sources(self, ids: Ids) -> tuple[Ids, Ids]:
        """Return pairs of a memory and its source, where either is among the ids: int64[m] derived
        memories, int64[m] their sources."""

    def successors(self, ids: Ids) -> tuple[Ids, Ids]:
        """Return items that took the place of something that was derived from the ids and holds no
        more: int64[m] of the ids, int64[m] what holds now. None where an earlier time is asked
        about."""

    def outdated(self, ids: Ids) -> Sequence[tuple[int, bytes]]:
        """Return those of the ids that something was derived from, of which all has given way
        since: (id, words of one fact as in `Rows.tokens`) for each fact."""

    def of_others(self, ids: Ids) -> Ids:
        """Return those of the ids that belong to somebody else than the viewer; none without a viewer."""

    def claims(self, query: ClaimQuery, limit: int) -> ScoredIds:
        """Return memories that claim what a query asks of whom it names, at most ``limit``; where
        it asks what was before, what the claims were derived from that hold no longer. Scores
        are 0..1, the more of its terms a claim meets."""

    def rivals(self, ids: Ids, now: int) -> tuple[Ids, Ids]:
        """Return which of the ids claim of one subject what has one value at a time, or may have:
        int64[m] those of which it was so earlier, int64[m] those of which it was so later.
        ``now`` as in `ClaimQuery`."""

    def memories(self, ids: Ids) -> list[Memory]:
        """Return the items themselves, in any order."""


@runtime_checkable
class WordSource(Protocol):
    """A `CandidateSource` that knows its words, so that mistyped ones can be told."""

    def known(self, words: Sequence[str]) -> Mapping[str, str]:
        """Return those of the words (lower case, letters only, without marks) that something in the
        namespace holds, each with its token in the keyword index. What is out of scope for
        another reason counts as well."""

    def holds(self, word: str) -> bool:
        """Return whether something in scope holds a word that is known: only then it may be shown."""

    def stems(self, words: Sequence[str]) -> Sequence[str]:
        """Return the words as the keyword index has them: their stems."""
