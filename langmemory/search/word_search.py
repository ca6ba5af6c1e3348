"""What searches by words share: the keyword index in memory, ranked rows of which some are out of scope,
and texts that no index holds.

FTS5 takes about a microsecond for every row it scores, more than half of a hybrid search. A process that
searches again has the index as plain arrays: which rows hold a word, and how often.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langmemory.ids import are_in, distinct
from langmemory.ledger.connection import Connection
from langmemory.ledger.namespaces import ids_below
from langmemory.ports.candidates import NOTHING, Floats, Ids
from langmemory.search.chunks import highest
from langmemory.search.scope_plan import ScopePlan
from langmemory.types import Namespace

K1: Final = 1.2
B: Final = 0.75
LEAST_IDF: Final = 1e-6
"""The weight of a word that more than half of the rows hold."""


def idf(rows: int, holding: int) -> float:
    """Return the weight of a word that some of the rows hold: ln((N - n + 0.5) / (n + 0.5)), by Robertson
    and Sparck Jones, but at least `LEAST_IDF`. ``holding`` may be of a moment when there were more."""
    share = (rows - holding + 0.5) / (holding + 0.5)
    return max(log(share), LEAST_IDF) if share > 1 else LEAST_IDF


SCORED_ROWS: Final = 1_000
"""Rows worth scoring in one search. In a larger scope only rows with one of the query's rarest words
are scored, as many words as together stand in so many rows. Of 43,000 memories in one namespace a
recall had R@10 .813 with 300, .816 with 600, .820 with 1,000, .821 with 3,000 or all."""
FEWEST_WORDS: Final = 2
"""Words of the file that may bring a row however frequent they are."""

SEARCHES_BEFORE_COPY: Final = 64
"""Searches by words after which a process is taken to go on searching."""
SEARCHES_BETWEEN_COPIES: Final = 500
"""So many must come before a copy that is no longer used is made anew: to make it takes as long as they
gain by it, in files of any size."""
WORTH_COPYING: Final = 1_000
"""Items below which FTS5 is as fast."""
CHANGED_SHARE: Final = 20
"""The copy is used until one of so many of its rows has changed, or `CHANGED_FLOOR`."""
CHANGED_FLOOR: Final = 500
BYTES_A_WORD: Final = 5
BYTES_A_TOKEN: Final = 24
"""For each distinct word: texts full of numbers and addresses have many."""
BYTES_A_ROW: Final = 20
MOST_OFTEN: Final = 15
"""Occurrences of a word in one column beyond which they are not counted."""
KEPT_ROWS: Final = 1 << 19
"""Rows of namespaces that are kept (4 bytes each), so that a search need not look for them again …"""
KEPT_TIMES: Final = 2
"""… or so many times as many as there are rows: the branches of a tree have all of them together …"""
KEPT_NAMESPACES: Final = 1_000
"""… of so many namespaces at most: to count the rows of more takes longer than to look for them."""

Rows = NDArray[np.int32]
_NO_ROWS: Final[Rows] = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of n rows of the keyword index, as they were at one moment."""

    seq: int
    """The last change that is in it."""
    ids: Ids
    """int64[n], ascending: items."""
    norms: Floats
    """float32[n]: what BM25 holds against the length of each row: K1 (1 - B + B length / mean)."""
    hashes: NDArray[np.int64]
    """int64[t], ascending: of the distinct tokens, by `hash_of`."""
    starts: NDArray[np.int64]
    """int64[t]: where the rows with each token begin in the next two …"""
    ends: NDArray[np.int64]
    """… and end."""
    rows: Rows
    """int32[p]: rows by token, ascending for each."""
    often: NDArray[np.uint8]
    """uint8[p]: how often it stands in the body (high four bits) and in the context."""
    by_namespace: tuple[NDArray[np.int32], Rows]
    """int32[n], ascending: namespaces; and the row of each."""
    hash_of: Callable[[str], int]
    """The hash of a token, as in ``hashes``."""
    _below: dict[Namespace, Rows | None] = field(default_factory=dict)

    def below(self, connection: Connection, namespace: Namespace) -> Rows | None:
        """Return the rows in a namespace and below it, ascending; None when it is all of them.

        Namespaces that were added since have no rows here.
        """
        if not namespace:
            return None
        try:
            return self._below[namespace]
        except KeyError:
            pass
        sorted_namespaces, by_namespace = self.by_namespace
        ids = np.array(ids_below(connection, namespace), np.int32)
        begin = sorted_namespaces.searchsorted(ids)
        end = sorted_namespaces.searchsorted(ids, side="right")
        parts = [by_namespace[a:b] for a, b in zip(begin.tolist(), end.tolist(), strict=True)]
        found = np.sort(np.concatenate([*parts, np.empty(0, np.int32)]))
        rows = None if len(found) == len(self.ids) else found
        kept = 0 if rows is None else len(rows)
        known = [*self._below.values()]
        if len(known) >= KEPT_NAMESPACES or kept + sum(
            len(one) for one in known if one is not None
        ) > max(KEPT_ROWS, KEPT_TIMES * len(self.ids)):
            self._below.clear()
        self._below[namespace] = rows
        return rows

    def of(self, items: Ids) -> Rows:
        """Return the rows of some items (ascending), of those that have one."""
        if not len(self.ids):
            return np.empty(0, np.int32)
        at = np.minimum(self.ids.searchsorted(items), len(self.ids) - 1)
        rows: Rows = at[self.ids[at] == items].astype(np.int32)
        return rows

    def held(self, token: str) -> slice:
        """Return where the rows with a token stand."""
        wanted = self.hash_of(token)
        place = int(self.hashes.searchsorted(wanted))
        if place == len(self.hashes) or self.hashes[place] != wanted:
            return slice(0, 0)
        return slice(int(self.starts[place]), int(self.ends[place]))

    def count(self, token: str) -> int:
        """Return how many rows hold it."""
        place = self.held(token)
        return int(place.stop - place.start)

    def having(self, tokens: Sequence[str]) -> NDArray[np.bool_]:
        """bool[m]: which of the tokens some row held."""
        wanted = np.array([self.hash_of(token) for token in tokens], np.int64)
        place = self.hashes.searchsorted(wanted)
        return self.hashes.take(place, mode="clip") == wanted if len(self.hashes) else place > 0

    def stands_in(self, scope: Rows, token: str) -> bool:
        """Return whether one of the rows in question (ascending) held a token."""
        few, many = sorted((scope, self.rows[self.held(token)]), key=len)
        at = many.searchsorted(few)
        return bool(len(many)) and bool((many.take(at, mode="clip") == few).any())

    def best(
        self,
        tokens: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        *,
        scope: Rows | None,
        gone: NDArray[np.bool_] | None,
        complete: bool,
    ) -> tuple[Ids, Floats, frozenset[str]]:
        """Return the items by BM25: (int64[m], float32[m]), best first, ties by id; and the frequent tokens
        that brought no rows.

        Args:
            tokens: Of the query; one that stands twice counts twice.
            scope: The rows in question, ascending; None: all.
            gone: bool[n]: rows that do not count any more.
            complete: Rows that only frequent tokens bring are wanted as well, where rare ones bring
                fewer than ``limit``; else where they bring none.
        """
        held = {token: self.held(token) for token in dict.fromkeys(tokens)}
        held = {token: place for token, place in held.items() if place.stop > place.start}
        if not held or (scope is not None and not len(scope)):
            return np.empty(0, np.int64), np.empty(0, np.float32), frozenset()
        frequent: frozenset[str] = frozenset()
        if scope is not None and len(scope) <= SCORED_ROWS:
            found = self._score_rows(tokens, held, weights, _without(scope, gone))
        else:
            brought, frequent = self._brought(held, scope)
            found = self._score_rows(tokens, held, weights, _without(brought, gone))
            if frequent and len(found[0]) < (limit if complete else min(limit, 1)):
                brought, frequent = self._brought(held, scope, rarest=False)
                found = self._score_rows(tokens, held, weights, _without(brought, gone))
        rows, scores = found
        if len(rows) > limit:
            kept = highest(scores, rows, limit)
            rows, scores = rows[kept], scores[kept]
        order = np.lexsort((rows, -scores))
        return self.ids[rows[order]], scores[order], frequent

    def _brought(
        self, held: dict[str, slice], scope: Rows | None, *, rarest: bool = True
    ) -> tuple[Rows, frozenset[str]]:
        """Return the rows with one of the tokens, or with one of the rarest, and the other tokens."""
        inside: NDArray[np.bool_] | None = None
        if scope is not None:
            inside = np.zeros(len(self.ids), np.bool_)
            inside[scope] = True
        parts: list[Rows] = []
        scored = 0
        ranked = sorted(held, key=lambda token: held[token].stop - held[token].start)
        for place, token in enumerate(ranked):
            rows = self.rows[held[token]]
            if inside is not None:
                rows = rows[inside[rows]]
            scored += len(rows)
            if rarest and len(parts) >= FEWEST_WORDS and scored > SCORED_ROWS:
                return distinct(_NO_ROWS, *parts), frozenset(ranked[place:])
            if len(rows):
                parts.append(rows)
        return distinct(_NO_ROWS, *parts), frozenset()

    def _score_rows(
        self,
        tokens: Sequence[str],
        held: dict[str, slice],
        weights: tuple[float, float],
        rows: Rows,
    ) -> tuple[Rows, Floats]:
        """Return those of the rows (ascending) that hold a token, with their BM25."""
        n = len(self.ids)
        scores = np.zeros(len(rows), np.float32)
        norms = self.norms.take(rows)
        counted = _weight_table(*weights)
        for token, place in held.items():
            holding, often = self.rows[place], self.often[place]
            weight = np.float32(idf(n, len(holding)) * (K1 + 1) * tokens.count(token))
            if len(holding) < len(rows):
                at = rows.searchsorted(holding)
                here = rows.take(at, mode="clip") == holding
                at, counts = at[here], counted.take(often[here])
                scores[at] += weight * (counts / (counts + norms.take(at)))
            else:
                at = holding.searchsorted(rows)
                counts = counted.take(often.take(at, mode="clip"))
                counts[holding.take(at, mode="clip") != rows] = 0
                scores += weight * (counts / (counts + norms))
        hit = scores > 0
        return rows[hit], scores[hit]


@lru_cache(maxsize=64)
def _weight_table(body: float, context: float) -> Floats:
    """float32[256]: what each value of `Words.often` counts."""
    values = np.arange(256)
    counted: Floats = ((values >> 4) * body + (values & 15) * context).astype(np.float32)
    return counted


def norms_of(lengths: NDArray[np.int64]) -> Floats:
    """Return `Words.norms` of rows of these lengths, in tokens."""
    mean = lengths.mean() if len(lengths) else 1.0
    return (K1 * (1 - B) + K1 * B / mean * lengths).astype(np.float32)


def often_of(body: NDArray[np.int64], context: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return `Words.often` of these counts."""
    often = np.minimum(body, MOST_OFTEN) << 4 | np.minimum(context, MOST_OFTEN)
    return often.astype(np.uint8)


def by_namespace_of(namespaces: NDArray[np.int64]) -> tuple[NDArray[np.int32], Rows]:
    """Return `Words.by_namespace` of rows of these namespaces."""
    order = np.argsort(namespaces, kind="stable")
    return namespaces[order].astype(np.int32), order.astype(np.int32)


def _without(rows: Rows, gone: NDArray[np.bool_] | None) -> Rows:
    return rows if gone is None else rows[~gone[rows]]


class Current(NamedTuple):
    """The part that a snapshot may use of the copy."""

    words: Words
    changed: Ids
    """int64[m], ascending: items that were written or deleted since; FTS5 knows these."""
    gone: NDArray[np.bool_] | None
    """bool[n]: their rows; None where there are none."""
    seq: int
    """The last change that was looked at."""

    @property
    def outdated(self) -> bool:
        """Whether FTS5 alone is as fast as the copy and FTS5 for what changed."""
        return len(self.changed) > max(len(self.words.ids) // CHANGED_SHARE, CHANGED_FLOOR)


Read = Callable[[Connection, int], Words | None]
"""Reads the words of what a connection sees; None where they are over a number of bytes."""


class WordIndex:
    """The copy of one database. Thread-safe."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._current: Current | None = None
        self._dropped = 0
        """The newest change at the last `drop`."""
        self.next_copy = SEARCHES_BEFORE_COPY
        self.searches = 0

    def current(self, connection: Connection, seen: int | None = None) -> Current | None:
        """Return the copy and what has changed since, as of this connection's snapshot, whose last change
        is ``seen`` if that is known."""
        self.searches += 1
        current = self._current
        if current is None:
            return None
        seen = newest(connection) if seen is None else seen
        if seen == current.seq:
            return None if current.outdated else current
        with self._lock:
            if self._current is None or seen < self._current.words.seq:
                return None  # a snapshot from before the copy
            words, known, _, after_seq = self._current
            if seen < after_seq:  # a snapshot from before the last one that was looked at
                known, after_seq = known[:0], words.seq
            changed = _changed_items(connection, after_seq)
            if changed is None:
                self._current = None
                return None
            changed = np.union1d(known, changed)
            gone: NDArray[np.bool_] | None = None
            rows = words.of(changed)
            if len(rows):
                gone = np.zeros(len(words.ids), np.bool_)
                gone[rows] = True
            current = Current(words, changed, gone, seen)
            if seen > self._current.seq:
                self._current = current
            return None if current.outdated else current

    def wanted(self) -> bool:
        """Return whether the copy is to be made, or made anew."""
        current = self._current
        return self.searches >= self.next_copy and (current is None or current.outdated)

    def load(self, connection: Connection, budget_bytes: int) -> None:
        """Make the copy of what this connection sees, if it fits into the budget: about half a second
        for 100,000 items, in steps, so that searches go on meanwhile.

        Args:
            connection: One snapshot, that nobody else uses.
        """
        words = self._read(connection, budget_bytes)
        with self._lock:
            if words is None or words.seq < self._dropped:
                self._current = None
                return
            self._current = Current(words, np.empty(0, np.int64), None, words.seq)
            self.next_copy = self.searches + SEARCHES_BETWEEN_COPIES

    def drop(self, connection: Connection) -> None:
        """Forget the copy, and one under way of what was before this connection's snapshot."""
        with self._lock:
            self._current = None
            self._dropped = newest(connection)


def newest(connection: Connection) -> int:
    row = connection.execute("SELECT coalesce(max(seq), 0) FROM word_change").fetchone()
    return int(row[0])


def _changed_items(connection: Connection, after_seq: int) -> Ids | None:
    """Return the items whose words changed after a point, ascending; None where that cannot be told."""
    rows = connection.execute(
        "SELECT seq, items FROM word_change WHERE seq > ? ORDER BY seq", (after_seq,)
    ).fetchall()
    if not rows:
        return np.empty(0, np.int64)
    if rows[0][0] != after_seq + 1 or any(items is None for _, items in rows):
        return None
    return np.unique(np.frombuffer(b"".join(items for _, items in rows), np.int64))


HEADROOM: Final = 2
"""Ranked rows looked at for each wanted one when predicates decide afterwards."""
EVERY: Final = 1 << 40

Weights = tuple[float, float]
"""Of the columns body and context."""
Found = tuple[Ids, Floats]
"""Item ids and scores, int64[n] and float32[n], best first."""
Best = Callable[[int, bool, Ids | None], Found]
"""Returns the best rows. It is told how many, whether rows that only frequent words bring are wanted as
well, and which items are in question, if these are known."""


def best_copied(
    copy: Current,
    tokens: Sequence[str],
    weights: Weights,
    limit: int,
    *,
    items: Ids | None,
    rows: Rows | None,
    complete: bool,
    score_changed: Callable[[Ids, frozenset[str]], Found],
) -> Found:
    """Return the rows with the highest BM25, by the copy, and by the index for what was written since.

    Args:
        tokens: Of the question.
        items: Only these, ascending; None: those of ``rows``, and where that is None, too, all.
        rows: Of the copy.
        score_changed: Returns the scores of items that were written since; of the tokens those in the set
            bring no rows.
    """
    words, changed, gone, _ = copy
    ids, scores, frequent = words.best(
        tokens,
        weights,
        limit,
        scope=rows if items is None else words.of(items),
        gone=gone,
        complete=complete,
    )
    if items is not None and len(changed):
        changed = changed[are_in(changed, items)]
    if not len(changed):
        return ids, scores
    # What brought no rows of the copy brings none of these: to walk through the rows with a
    # frequent word, and to score those that changed, takes longer than all of a search.
    later = score_changed(changed, frequent)
    ids, scores = np.concatenate((ids, later[0])), np.concatenate((scores, later[1]))
    order = np.lexsort((ids, -scores))[:limit]
    return ids[order], scores[order]


def in_scope(
    best: Best,
    kept: Callable[[Ids], NDArray[np.bool_]],
    plan: ScopePlan,
    limit: int,
    *,
    pool: int,
    complete: bool,
) -> Found:
    """Return the best rows that are in scope, of a search that does not know which are.

    Args:
        kept: bool[n]: which of the items are in scope.
        pool: Rows that are ranked at first.
        complete: See `Best`.
    """
    while True:
        ids, scores = best(pool, complete, None)
        passed = kept(ids)
        found = ids[passed][:limit], scores[passed][:limit]
        if len(found[0]) >= limit or len(ids) < pool:
            if len(found[0]) or not len(ids) or complete:
                return found
            complete = True  # what the rare words bring is all out of reach
            continue
        items = plan.after(int(passed.sum()), len(ids))
        if items is not None:
            return best(limit, complete, items) if len(items) else NOTHING
        pool = max(pool * 8, 1)


class TokenizedTexts:
    """Texts that the index does not hold, for its questions."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        """``texts``: the tokens of each, as the index has them."""
        self._tokens = texts
        self._counts = [Counter(tokens) for tokens in texts]
        mean = max(sum(map(len, texts)) / max(len(texts), 1), 1.0)
        self._lengths = [K1 * (1 - B + B * len(tokens) / mean) for tokens in texts]

    def scores(
        self,
        parts: Sequence[tuple[Sequence[str], bool]],
        weight: float,
        rarity: Callable[[int], float],
    ) -> Floats:
        """float32[n]: BM25 of each text, 0 where it does not match; how long it is, it is beside the others.

        Args:
            parts: The tokens of each part of the question, and whether words are meant that begin so.
            weight: Of the texts.
            rarity: Returns what a part weighs, by its place, see `idf`; asked for parts that match.
        """
        found = np.zeros(len(self._tokens), np.float32)
        for place, (tokens, begins) in enumerate(parts):
            counts = [self._count(n, tokens, begins=begins) for n in range(len(found))]
            if not any(counts):
                continue
            rare = rarity(place)
            for n, count in enumerate(counts):
                often = count * weight
                found[n] += rare * often * (K1 + 1) / (often + self._lengths[n])
        return found

    def _count(self, text: int, wanted: Sequence[str], *, begins: bool) -> int:
        """Return how often a word stands in a text, or some one after the other, or what begins so."""
        if not begins and len(wanted) == 1:
            return self._counts[text][wanted[0]]
        tokens, length = self._tokens[text], len(wanted)
        if begins:
            return sum(tokens[n].startswith(wanted[0]) for n in range(len(tokens) if wanted else 0))
        return sum(tokens[n : n + length] == wanted for n in range(len(tokens))) if wanted else 0
