"""The search by words: candidates by the GIN index, scores by the BM25 of FTS5."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langmemory.engines.postgres.connection import Connection
from langmemory.engines.postgres.keywords import hashed, of_namespace, tokenized
from langmemory.engines.sql.reading.bm25 import K1, B, idf
from langmemory.engines.sql.scope.scopes import CompiledScope
from langmemory.engines.sql.tables.namespaces import find
from langmemory.languages.writing import as_indexed, is_single, split_words
from langmemory.ports.candidates import NOTHING, Floats, Ids, KeywordQuery

SCORED_ROWS: Final = 1_000
"""Rows worth scoring in one search; in a larger scope only rows with one of the query's rarest words are
scored, as many words as together stand in so many rows."""
FEWEST_WORDS: Final = 2
"""Words that may bring a row however frequent they are."""
STALE_AFTER: Final = 1.2
"""A count is taken anew when the index has grown by this factor."""
MOST_ENTRIES: Final = 20_000


@dataclass(frozen=True, slots=True)
class Part:
    """A word of a question, some that stand side by side, or the beginning of one."""

    tokens: tuple[str, ...]
    begins: bool = False

    @property
    def query(self) -> str:
        """As a ``tsquery``: that side by side are all words of it, whose places are looked at then."""
        end = ":*" if self.begins else ""
        return "(" + " & ".join(f"{quoted(one)}{end}" for one in self.tokens) + ")"


def quoted(lexeme: str) -> str:
    """Return a word as a ``tsquery`` has it."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def parts_of(query: KeywordQuery) -> list[Part]:
    """Return what a question looks for, in order; what stands there twice counts twice."""
    parts: list[Part] = []
    for term in query.terms:
        tokens = _tokens(term)
        if tokens:
            parts.append(Part(tokens, begins=is_single(term)))
    for phrase in query.phrases:
        tokens = _tokens(" ".join(split_words(phrase)))
        if tokens:
            parts.append(Part(tokens))
    known = {part.tokens for part in parts}
    for form in query.forms:
        tokens = tuple(tokenized(form))
        if len(tokens) == 1 and tokens not in known:
            known.add(tokens)
            parts.append(Part(tokens))
    return parts


def _tokens(text: str) -> tuple[str, ...]:
    if not any(character.isalnum() for character in text):
        return ()
    clean = text.replace("\0", " ").encode("utf-8", "ignore").decode()
    return tuple(tokenized(as_indexed(clean)))


class Counts:
    """How many rows hold a word. Thread-safe; counts are estimates that grow with the index."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int, int]] = {}

    def holding(self, connection: Connection, part: Part, within: str, rows: int) -> int:
        """Return how many rows hold a part; ``within`` is a further condition of the ``tsquery``, ``rows``
        how many there are in all."""
        query = part.query + within
        known = self._known.get(query)
        if known is not None and known[0] <= rows <= known[0] * STALE_AFTER:
            return known[1]
        if len(part.tokens) > 1:
            found = len(_candidates(connection, query).ids_of(part))
        else:
            found = connection.raw.execute(
                b"SELECT count(*) FROM keyword WHERE words @@ %s::tsquery", (query,)
            ).fetchone()[0]  # type: ignore[index]
        with self._lock:
            if len(self._known) >= MOST_ENTRIES:
                self._known.clear()
            self._known[query] = (rows, found)
        return int(found)


def total(connection: Connection) -> tuple[int, float]:
    """Return how many rows the index has, and the mean length of one."""
    rows, tokens = connection.raw.execute(b"SELECT rows, tokens FROM keyword_total").fetchone()  # type: ignore[misc]
    return int(rows), tokens / rows if rows else 1.0


class Candidates(NamedTuple):
    """Rows of the index, with the tokens of all of them side by side."""

    ids: Ids
    lengths: NDArray[np.float64]
    row: NDArray[np.int64]
    """int64[t]: the row of each token."""
    context: NDArray[np.bool_]
    """bool[t]: whether it stands in the context."""
    hashes: NDArray[np.uint32]

    def counts(
        self, part: Part, begun: Sequence[int] = ()
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how often each row has a part in its body and in its context."""
        if part.begins:
            at = np.flatnonzero(np.isin(self.hashes, np.array(begun, np.uint32)))
        else:
            at = np.flatnonzero(self.hashes == hashed(part.tokens[0]))
            for n, token in enumerate(part.tokens[1:], 1):
                at = at[at + n < len(self.hashes)]
                there = at + n
                same = (self.row[there] == self.row[at]) & (self.context[there] == self.context[at])
                at = at[same & (self.hashes[there] == hashed(token))]
        rows, context = self.row[at], self.context[at]
        size = len(self.ids)
        return np.bincount(rows[~context], minlength=size), np.bincount(
            rows[context], minlength=size
        )

    def ids_of(self, part: Part) -> Ids:
        body, context = self.counts(part)
        return self.ids[(body + context) > 0]


def _candidates(
    connection: Connection, query: str, scope: CompiledScope | None = None
) -> Candidates:
    """Return the rows that match a ``tsquery``, of items in scope."""
    value, joined, where, bindings = "", "", "TRUE", tuple[Any, ...]()
    if scope is not None and not scope.trivial:
        value, where, bindings = scope.value_column, scope.where, scope.bindings
        joined = "CROSS JOIN item i ON i.id = k.item "
    rows = connection.execute(
        f"SELECT k.item, k.body, k.length, k.places{value} FROM keyword k {joined}"
        f"WHERE k.words @@ ?::tsquery AND {where}",
        (query, *bindings),
    ).fetchall()
    if scope is not None and value:
        rows = scope.passing(rows)
    sizes = np.array([len(row[3]) // 4 for row in rows], np.int64)
    row = np.repeat(np.arange(len(rows)), sizes)
    starts = np.concatenate(([0], np.cumsum(sizes)))[:-1]
    place = np.arange(len(row)) - np.repeat(starts, sizes)
    bodies = np.array([one[1] for one in rows], np.int64)
    return Candidates(
        ids=np.array([one[0] for one in rows], np.int64),
        lengths=np.array([one[2] for one in rows], np.float64),
        row=row,
        context=place >= np.repeat(bodies, sizes),
        hashes=np.frombuffer(b"".join(one[3] for one in rows), np.uint32),
    )


def search(
    connection: Connection,
    counts: Counts,
    scope: CompiledScope,
    query: KeywordQuery,
    limit: int,
    *,
    complete: bool = False,
) -> tuple[Ids, Floats]:
    """Return the items in scope that match, with their BM25 > 0, best first.

    Args:
        complete: Rows that only frequent words bring are wanted as well, where rare words bring fewer
            than ``limit``; else where they bring none.
    """
    parts = parts_of(query)
    namespace = scope.scope.namespace
    namespace_id = find(connection, namespace) if namespace else None
    if not parts or (namespace and namespace_id is None):
        return NOTHING
    within = "" if namespace_id is None else f" & {quoted(of_namespace(namespace_id))}"
    rows, mean = total(connection)
    held = [counts.holding(connection, part, "", rows) for part in parts]
    weights = [idf(rows, max(one, 1)) for one in held]
    rare = list(parts)
    if sum(held) > SCORED_ROWS:
        rare = _rarest(connection, counts, parts, within, rows)
    while True:
        asked = "(" + " | ".join(dict.fromkeys(part.query for part in rare)) + ")" + within
        found = _candidates(connection, asked, scope)
        ids, scores = _scored(connection, found, parts, weights, mean, query)
        if len(rare) == len(parts) or len(ids) >= (limit if complete else min(limit, 1)):
            break
        rare = list(parts)
    order = np.lexsort((ids, -scores))[:limit]
    return ids[order], scores[order]


def _rarest(
    connection: Connection, counts: Counts, parts: list[Part], within: str, rows: int
) -> list[Part]:
    """Return the rarest words, that together match `SCORED_ROWS`."""
    held = {part: counts.holding(connection, part, within, rows) for part in dict.fromkeys(parts)}
    rare: set[Part] = set()
    scored = known = 0
    for part in sorted(held, key=lambda one: held[one]):
        scored += held[part]
        if known >= FEWEST_WORDS and scored > SCORED_ROWS:
            break
        rare.add(part)
        known += held[part] > 0
    return [part for part in parts if part in rare]


def _scored(
    connection: Connection,
    found: Candidates,
    parts: Sequence[Part],
    weights: Sequence[float],
    mean: float,
    query: KeywordQuery,
) -> tuple[Ids, Floats]:
    if not len(found.ids):
        return NOTHING
    length = K1 * (1 - B) + K1 * B / max(mean, 1e-9) * found.lengths
    scores = np.zeros(len(found.ids))
    matches = np.zeros(len(found.ids), np.bool_)
    for part, weight in zip(parts, weights, strict=True):
        begun = _begun(connection, part, found.ids) if part.begins else ()
        body, context = found.counts(part, begun)
        often = body * query.body_weight + context * query.context_weight
        matches |= (body + context) > 0
        scores += weight * often * (K1 + 1) / (often + length)
    return found.ids[matches], scores[matches].astype(np.float32)


def _begun(connection: Connection, part: Part, ids: Ids) -> list[int]:
    """Return the hashes of the words, of these rows, that begin as a part."""
    rows = connection.raw.execute(
        b"SELECT DISTINCT w.lexeme FROM keyword k, unnest(k.words) w "
        b"WHERE k.item = ANY(%s) AND starts_with(w.lexeme, %s)",
        (ids.tolist(), part.tokens[0]),
    ).fetchall()
    return [hashed(row[0]) for row in rows]


class Texts:
    """Texts that the index does not hold, ranked as if it did."""

    def __init__(self, connection: Connection, counts: Counts, bodies: Sequence[str]) -> None:
        """``bodies``: as the index would be given them."""
        self._connection, self._counts = connection, counts
        self._tokens = [tokenized(body) for body in bodies]
        self._mean = max(sum(map(len, self._tokens)) / max(len(bodies), 1), 1.0)

    def scores(self, query: KeywordQuery) -> Floats:
        """float32[n]: BM25 of each text, 0 where it does not match. How rare a word is, the index
        tells; how long a text is, it is beside the others here."""
        rows, _ = total(self._connection)
        found = np.zeros(len(self._tokens), np.float32)
        lengths = [K1 * (1 - B + B * len(tokens) / self._mean) for tokens in self._tokens]
        for part in parts_of(query):
            often = [self._often(tokens, part) for tokens in self._tokens]
            if not any(often):
                continue
            rare = idf(rows, max(self._counts.holding(self._connection, part, "", rows), 1))
            for n, count in enumerate(often):
                weighed = count * query.body_weight
                found[n] += rare * weighed * (K1 + 1) / (weighed + lengths[n])
        return found

    @staticmethod
    def _often(tokens: list[str], part: Part) -> int:
        if part.begins:
            return sum(token.startswith(part.tokens[0]) for token in tokens)
        wanted, length = list(part.tokens), len(part.tokens)
        if length == 1:
            return tokens.count(wanted[0])
        return sum(tokens[n : n + length] == wanted for n in range(len(tokens)))
