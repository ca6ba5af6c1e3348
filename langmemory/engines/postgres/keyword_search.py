"""The search by words: candidates by the GIN index, scores by the BM25 of FTS5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from langmemory.engines.postgres.connection import Connection, hashed, of_namespace, tokenized
from langmemory.ids import are_in
from langmemory.languages.writing import as_indexed, is_single, split_words
from langmemory.ledger import connection as port
from langmemory.ledger.filters import TRUE, Condition
from langmemory.ledger.namespaces import find
from langmemory.ledger.scopes import CompiledScope, visible_to
from langmemory.ports.candidates import NOTHING, Floats, Ids, KeywordQuery
from langmemory.search.scope_plan import CardinalityCache, ScopePlan
from langmemory.search.word_search import (
    BYTES_A_ROW,
    BYTES_A_TOKEN,
    BYTES_A_WORD,
    EVERY,
    HEADROOM,
    K1,
    B,
    Current,
    Found,
    TokenizedTexts,
    Words,
    best_copied,
    by_namespace_of,
    idf,
    in_scope,
    newest,
    norms_of,
    often_of,
)
from langmemory.types import Namespace

SCORED_ROWS: Final = 1_000
"""Rows worth scoring in one search; in a larger scope only rows with one of the query's rarest words are
scored, as many words as together stand in so many rows."""
FEWEST_WORDS: Final = 2
"""Words that may bring a row however frequent they are."""
MOST_ROWS: Final = 20_000
"""Rows that a search reads, where it has no copy of the index; of more than these it looks at those that
hold two of its words."""
COUNTED_ROWS: Final = 20_000
"""Rows that are read to count those with some words side by side."""


@dataclass(frozen=True, slots=True)
class Part:
    """A word of a question, some that stand side by side, or the beginning of one."""

    tokens: tuple[str, ...]
    begins: bool = False

    @property
    def is_word(self) -> bool:
        return len(self.tokens) == 1 and not self.begins

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
    """How many rows hold what a question looks for. Thread-safe."""

    def __init__(self) -> None:
        self._cardinalities = CardinalityCache()

    def holding(self, connection: Connection, parts: Sequence[Part], rows: int) -> dict[Part, int]:
        """Return how many rows of the index hold each part: words as the writers count them, anything
        else as it was when it was counted last. ``rows``: how many there are in all."""
        words = [part.tokens[0] for part in parts if part.is_word]
        found: dict[str, int] = {}
        if words:
            found = dict(
                connection.raw.execute(
                    b"SELECT word, rows FROM word_count WHERE word = ANY(%s)", (words,)
                ).fetchall()
            )
        return {
            part: found.get(part.tokens[0], 0)
            if part.is_word
            else self._counted(connection, part, rows)
            for part in parts
        }

    def _counted(self, connection: Connection, part: Part, rows: int) -> int:
        def count() -> int:
            if len(part.tokens) > 1:
                return len(_candidates(connection, part.query, most=COUNTED_ROWS).ids_of(part))
            query = b"SELECT count(*) FROM keyword WHERE words @@ %s::tsquery"
            return int(connection.raw.execute(query, (part.query,)).fetchone()[0])  # type: ignore[index]

        return self._cardinalities.counted(part, rows, count)

    def within(
        self, connection: Connection, parts: Sequence[Part], condition: str, rows: int
    ) -> dict[Part, int]:
        """As `holding`, of the rows that meet a further condition of the ``tsquery``, and at most
        `SCORED_ROWS` and one."""
        return {
            part: self._cardinalities.counted(
                (part, condition), rows, partial(_few, connection, part.query + condition)
            )
            for part in parts
        }


def _few(connection: Connection, query: str) -> int:
    row = connection.raw.execute(
        b"SELECT count(*) FROM (SELECT 1 FROM keyword WHERE words @@ %s::tsquery LIMIT %s) s",
        (query, SCORED_ROWS + 1),
    ).fetchone()
    assert row is not None
    return int(row[0])


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
    connection: Connection,
    query: str,
    scope: CompiledScope | None = None,
    items: Ids | None = None,
    most: int = MOST_ROWS,
) -> Candidates:
    """Return rows that match a ``tsquery``, of items in scope, at most ``most``; ``items``: only of these,
    which all are in scope."""
    value, joined, where, bindings = "", "", "TRUE", tuple[Any, ...]()
    if items is not None:
        where, bindings = "k.item IN (SELECT value FROM carray(?))", (connection.array(items),)
    elif scope is not None and not scope.trivial:
        value, where, bindings = scope.value_column, scope.where, scope.bindings
        joined = "CROSS JOIN item i ON i.id = k.item "
    rows = connection.execute(
        f"SELECT k.item, k.body, k.length, k.places{value} FROM keyword k {joined}"
        f"WHERE k.words @@ ?::tsquery AND {where} LIMIT ?",
        (query, *bindings, most),
    ).fetchall()
    if value and scope is not None:
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
    plan: ScopePlan,
    complete: bool = False,
    copy: Current | None = None,
    namespace_id: int | None = None,
) -> tuple[Ids, Floats]:
    """Return the items in scope that match, with their BM25 > 0, best first.

    Args:
        plan: Of the scope.
        complete: Rows that only frequent words bring are wanted as well, where rare words bring fewer
            than ``limit``; else where they bring none.
        copy: The index in memory, as of this reader's snapshot.
        namespace_id: Of the scope, if it is of one that there is.
    """
    parts = parts_of(query)
    namespace = scope.scope.namespace
    if not parts or ((items := plan.items) is not None and not len(items)):
        return NOTHING
    if namespace and namespace_id is None:  # a copy has no rows to tell it from the whole
        return NOTHING
    within = "" if namespace_id is None else f" & {quoted(of_namespace(namespace_id))}"
    if copy is not None and all(part.is_word for part in parts):
        return _copied(connection, scope, query, parts, limit, plan, complete, copy, within)
    rows, mean = total(connection)
    held = counts.holding(connection, parts, rows)
    weights = [idf(rows, max(held[part], 1)) for part in parts]
    rare: Sequence[Part] = list(held)
    if items is None and sum(held.values()) > SCORED_ROWS:
        rare = _rarest(connection, counts, held, within, rows)
    while True:
        found = _candidates(connection, _any_of(rare, within), scope, items)
        if len(found.ids) >= MOST_ROWS:  # frequent words alone: what holds two of them comes first
            both = _candidates(connection, _two_of(rare, within), scope, items)
            found = both if len(both.ids) >= limit else found
        ids, scores = _scored(connection, found, parts, weights, mean, query)
        if len(rare) >= len(held) or len(ids) >= (limit if complete else min(limit, 1)):
            break
        rare = list(held)
    order = np.lexsort((ids, -scores))[:limit]
    return ids[order], scores[order]


def _any_of(parts: Sequence[Part], within: str) -> str:
    return "(" + " | ".join(dict.fromkeys(part.query for part in parts)) + ")" + within


def _two_of(parts: Sequence[Part], within: str) -> str:
    pairs = combinations(dict.fromkeys(part.query for part in parts), 2)
    return "(" + " | ".join(f"({one} & {other})" for one, other in pairs) + ")" + within


def _rarest(
    connection: Connection, counts: Counts, held: Mapping[Part, int], within: str, rows: int
) -> list[Part]:
    """Return the rarest words, that together match `SCORED_ROWS`."""
    if within:
        few = counts.within(connection, [one for one in held if held[one]], within, rows)
        held = {part: few.get(part, 0) for part in held}
    rare: list[Part] = []
    scored = known = 0
    for part in sorted(held, key=lambda one: held[one]):
        scored += held[part]
        if known >= FEWEST_WORDS and scored > SCORED_ROWS:
            break
        rare.append(part)
        known += held[part] > 0
    return rare


def _copied(
    connection: Connection,
    scope: CompiledScope,
    query: KeywordQuery,
    parts: Sequence[Part],
    limit: int,
    plan: ScopePlan,
    complete: bool,
    copy: Current,
    within: str,
) -> tuple[Ids, Floats]:
    """As `search`, by the copy in memory, and by the index for what was written since; ``within`` asks the
    index for the rows of the namespace."""
    weights = (query.body_weight, query.context_weight)
    tokens = [part.tokens[0] for part in parts]
    rows = copy.words.below(connection, scope.scope.namespace) if plan.items is None else None

    def best(limit: int, complete: bool, items: Ids | None) -> Found:
        def score_changed(changed: Ids, frequent: frozenset[str]) -> Found:
            rare = [part for part in parts if part.tokens[0] not in frequent]
            if not rare:
                return NOTHING
            later = _candidates(
                connection, _any_of(rare, within if items is None else ""), items=changed
            )
            words = copy.words
            idfs = [idf(len(words.ids), max(words.count(token), 1)) for token in tokens]
            return _scored(connection, later, parts, idfs, total(connection)[1], query)

        return best_copied(
            copy, tokens, weights, limit, items=items, rows=rows, complete=complete,
            score_changed=score_changed,
        )  # fmt: skip

    if plan.items is not None or scope.trivial:
        return best(limit, complete, plan.items)
    pool = limit * HEADROOM if scope.residual is None else EVERY
    kept = partial(_kept, connection, scope)
    return in_scope(best, kept, plan, limit, pool=pool, complete=complete)


def _kept(connection: Connection, scope: CompiledScope, ids: Ids) -> NDArray[np.bool_]:
    """bool[n]: which of the items are in scope."""
    if not len(ids):
        return np.zeros(0, np.bool_)
    rows = connection.execute(
        f"SELECT i.id{scope.value_column} FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
        f"WHERE {scope.where}",
        (connection.array(ids), *scope.bindings),
    )
    return are_in(ids, np.array([row[0] for row in scope.passing(rows)], np.int64))


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
        self._texts = TokenizedTexts([tokenized(body) for body in bodies])

    def scores(self, query: KeywordQuery) -> Floats:
        """float32[n]: BM25 of each text, 0 where it does not match. How rare a word is, the index
        tells."""
        rows, _ = total(self._connection)
        parts = parts_of(query)
        held = self._counts.holding(self._connection, parts, rows)
        return self._texts.scores(
            [(part.tokens, part.begins) for part in parts],
            query.body_weight,
            lambda place: idf(rows, max(held[parts[place]], 1)),
        )


FIRST: Final = 256
"""Rows that are looked at before the others, to see whether one has a word."""
FEW: Final = 48
"""Words up to which a viewer's own view counts, as in a memory file."""


def stems(words: Sequence[str]) -> Sequence[str]:
    """Return the words (letters only) as the index has them."""
    together = tokenized(" ".join(words))
    if len(together) == len(words):
        return together
    return [" ".join(tokenized(word)) for word in words]


def known_words(
    connection: Connection,
    namespace: Namespace,
    words: Sequence[str],
    viewer: str | None,
    *,
    copy: Current | None = None,
) -> Mapping[str, str]:
    """Return those of the words (lower case, letters only) that an item in a namespace or below it
    holds, with their tokens.

    Args:
        viewer: Whose view it is: what others keep to themselves is not known, unless there are more
            than `FEW` words. None sees everything.
        copy: The index in memory, as of this reader's snapshot.
    """
    tokens = stems(words)
    visible = visible_to(viewer) if len(words) <= FEW else TRUE
    held = set[str]()
    asked: Sequence[int] = range(len(words))
    if copy is not None and visible is TRUE:
        there = np.flatnonzero(copy.words.having(tokens)).tolist()  # of many, hardly any
        asked = asked if len(copy.changed) else there
        found = {tokens[place] for place in there}
        held = {one for one in found if _is_copied(connection, copy, namespace, one)}
    if copy is None or visible is not TRUE or len(copy.changed):
        rest = list(dict.fromkeys(one for one in tokens if one and one not in held))
        if rest:
            held |= _looked_up(connection, namespace, rest, visible)
    return {words[place]: tokens[place] for place in asked if tokens[place] in held}


def _is_copied(connection: Connection, copy: Current, namespace: Namespace, token: str) -> bool:
    """Return whether a row of the copy that still counts holds a token."""
    words, _, gone, _ = copy
    rows = words.rows[words.held(token)]
    if gone is not None:
        rows = rows[~gone[rows]]
    below = words.below(connection, namespace) if len(rows) else None
    if below is None or not len(rows) or not len(below):
        return bool(len(rows)) and below is None
    few, many = sorted((below, rows), key=len)
    return any(  # of a frequent word one of the first is there
        (many.take(many.searchsorted(some), mode="clip") == some).any()
        for some in (few[:FIRST], few[FIRST:])
    )


def _looked_up(
    connection: Connection, namespace: Namespace, tokens: Sequence[str], visible: Condition
) -> set[str]:
    """Return those of the tokens that a row in a namespace and below it holds, of an item that a
    condition holds for."""
    tokens = _in_index(connection, tokens)
    if not tokens or (not namespace and visible is TRUE):
        return set(tokens)
    within = ""
    if namespace:
        namespace_id = find(connection, namespace)
        if namespace_id is None:
            return set()
        within = f" & {quoted(of_namespace(namespace_id))}"
    queries = [Part(tuple(one.split())).query + within for one in tokens]
    rows = connection.execute(
        "SELECT q.place FROM unnest(?) WITH ORDINALITY AS q (query, place) WHERE EXISTS ("
        "SELECT 1 FROM keyword k CROSS JOIN item i ON i.id = k.item "
        f"WHERE k.words @@ q.query::tsquery AND {visible.sql})",
        (connection.text_array(queries), *visible.bindings),
    ).fetchall()
    return {tokens[row[0] - 1] for row in rows}


def _in_index(connection: Connection, tokens: Sequence[str]) -> list[str]:
    """Return those of the tokens that the index has; of several that stand together, if it has all."""
    words = list({word for token in tokens for word in token.split()})
    rows = connection.raw.execute(
        b"SELECT word FROM word_count WHERE word = ANY(%s)", (words,)
    ).fetchall()
    there = {row[0] for row in rows}
    return [token for token in tokens if there.issuperset(token.split())]


READ_AT_ONCE: Final = 20_000
"""Rows of the index read at a time."""


def read_words(connection: port.Connection, budget_bytes: int) -> Words | None:
    """Return the words of the index; None where they are too many."""
    seq = newest(connection)
    held, tokens, items = connection.execute(
        # The words of namespaces begin with an @ and are not copied.
        "SELECT coalesce(sum(rows), 0), count(*), (SELECT rows FROM keyword_total) "
        "FROM word_count WHERE word < '@' OR word >= 'A'"
    ).fetchone()
    if held * BYTES_A_WORD + tokens * BYTES_A_TOKEN + items * BYTES_A_ROW > budget_bytes:
        return None
    ids, namespaces, lengths, keys = _rows(cast("Connection", connection))
    # A key is the hash of a token, its row, and 1 in the context: sorted, they stand by token and row.
    keys.sort()
    row = (keys >> np.uint64(1) & np.uint64(0x7FFFFFFF)).astype(np.int32)
    token = keys >> np.uint64(32)
    new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:] >> np.uint64(1), keys[:-1] >> np.uint64(1), out=new[1:])
    begin = np.flatnonzero(new)
    if len(begin):
        context = np.add.reduceat((keys & np.uint64(1)).astype(np.int64), begin)
        body = np.diff(begin, append=len(keys)) - context
        often = often_of(body, context)
    else:
        often = np.empty(0, np.uint8)
    token = token[begin]
    first = (
        np.flatnonzero(np.concatenate(([True], token[1:] != token[:-1]))) if len(token) else begin
    )
    return Words(
        seq=seq,
        ids=ids,
        norms=norms_of(lengths),
        hashes=token[first].astype(np.int64),
        starts=first.astype(np.int64),
        ends=np.concatenate((first[1:], [len(token)]))[: len(first)].astype(np.int64),
        rows=row[begin],
        often=often,
        by_namespace=by_namespace_of(namespaces),
        hash_of=hashed,
    )


def _rows(
    connection: Connection,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """Return the items of the index (ascending), their namespaces and lengths, int64[n]; and a key for each
    token, uint64[t]."""
    ids, namespaces, lengths = list[int](), list[int](), list[int]()
    keys = [np.empty(0, np.uint64)]
    after = -1
    while True:
        rows = connection.raw.execute(
            b"SELECT k.item, coalesce(i.namespace, 0), k.length, k.body, k.places FROM keyword k "
            b"LEFT JOIN item i ON i.id = k.item WHERE k.item > %s ORDER BY k.item LIMIT %s",
            (after, READ_AT_ONCE),
            binary=True,
        ).fetchall()
        if not rows:
            break
        after = rows[-1][0]
        sizes = np.array([len(row[4]) // 4 for row in rows], np.int64)
        starts = np.cumsum(sizes) - sizes
        at = np.repeat(np.arange(len(rows)), sizes)
        place = np.arange(len(at)) - starts[at]
        context = place >= np.array([row[3] for row in rows], np.int64)[at]
        hashes = np.frombuffer(b"".join(row[4] for row in rows), np.uint32).astype(np.uint64)
        within = (2 * (at + len(ids)) + context).astype(np.uint64)
        keys.append(hashes << np.uint64(32) | within)
        ids += [one[0] for one in rows]
        namespaces += [one[1] for one in rows]
        lengths += [one[2] for one in rows]
    return (
        np.array(ids, np.int64),
        np.array(namespaces, np.int64),
        np.array(lengths, np.int64),
        np.concatenate(keys),
    )
