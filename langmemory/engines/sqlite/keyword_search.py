"""The search by words: BM25 over the keyword index, of FTS5 or of its copy in memory."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

import apsw
import numpy as np
from numpy.typing import NDArray

from langmemory.engines.sqlite.connection import Connection
from langmemory.ids import are_in
from langmemory.languages.writing import as_indexed, is_single, split_words
from langmemory.ledger import connection as port
from langmemory.ledger.filters import TRUE, Condition
from langmemory.ledger.namespaces import Bindings, find, holds_everything, inside
from langmemory.ledger.scopes import CompiledScope, visible_to
from langmemory.ports.candidates import NOTHING, Floats, Ids, KeywordQuery
from langmemory.search.scope_plan import CardinalityCache, ScopePlan
from langmemory.search.word_search import (
    BYTES_A_ROW,
    BYTES_A_TOKEN,
    BYTES_A_WORD,
    EVERY,
    FEWEST_WORDS,
    HEADROOM,
    K1,
    B,
    Current,
    Found,
    Rows,
    TokenizedTexts,
    Weights,
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

WIDE_SHARE: Final = 0.35
"""Share of the file from which a namespace is checked on the ranked rows instead of by FTS5, which
scores a row 2.7 times slower with the namespace's term in the expression."""
SCORED_ROWS: Final = 600
"""As `words.SCORED_ROWS`, where FTS5 scores, which takes a microsecond a row. Of 43,000 memories in one
namespace a search had R@10 .778 with 3,000, .796 with 500, .779 with 300."""
RESCORED_ROWS: Final = 350
"""The best of these by the rarest words, for which the other words count as well: R@10 .791, in two
thirds of the time that all words of all these rows take."""
SPLIT_ROWS: Final = 1_500
"""Rows of a namespace up to which FTS5 scores all of them: to split the words takes longer."""
SMALL_ROWS: Final = 250
"""Rows of a namespace up to which `_bm25` scores them."""
_QUOTED = re.compile(r'"(?:[^"]|"")*"\*?')
_LIKE_NAMESPACE = re.compile(r"n\d+", re.IGNORECASE)

_Part = tuple[str, Sequence[str]]
"""A quoted string of an expression, and its tokens."""
DEFAULT_WEIGHTS: Final = (1.0, 0.5)
"""Of the file's ``rank``, see `set_default_rank`."""
Hits = list[tuple[int, float]]
"""(item id, score), best first."""


def rows_with(
    connection: Connection,
    cardinalities: CardinalityCache,
    expression: str,
    limit: int,
    size: int,
) -> int:
    """Return rows that an FTS5 expression matches, at most ``limit``, in a file of about ``size``."""
    return cardinalities.counted(
        (expression, limit),
        size,
        lambda: int(
            connection.execute(
                "SELECT count(*) FROM (SELECT 1 FROM keyword WHERE keyword MATCH ? LIMIT ?)",
                (expression, limit),
            ).fetchone()[0]
        ),
    )


def search(
    connection: Connection,
    cardinalities: CardinalityCache,
    scope: CompiledScope,
    match: str,
    limit: int,
    *,
    weights: Weights = DEFAULT_WEIGHTS,
    forms: Sequence[str] = (),
    plan: ScopePlan | None = None,
    complete: bool = False,
    copy: Current | None = None,
) -> Found:
    """Return the items in scope that match, with their BM25 > 0: best first.

    Args:
        match: FTS5 expression: quoted strings joined by OR, without a column filter.
        forms: Words that are looked up as well, once, where the index does not take them for one of
            those in ``match``.
        plan: Of the scope, if there is one already.
        complete: Rows that only frequent words bring are wanted as well, where rare words bring fewer
            than ``limit``; else where they bring none.
        copy: The index in memory, as of this reader's snapshot.
    """
    namespace = scope.scope.namespace
    namespace_id = find(connection, namespace) if namespace else None
    if not match or (namespace and namespace_id is None):
        return NOTHING
    plan = plan or ScopePlan(connection, cardinalities, scope)
    selected = plan.items
    if selected is not None and not len(selected):
        return NOTHING
    parts: list[_Part] = []
    if forms or copy is not None:
        parts = _taken_apart(connection, match)
    if forms:
        parts += _other_forms(connection, parts, forms)
        match = " OR ".join(text for text, _ in parts)
    size = cardinalities.size(connection)
    look_up = _LookUp(connection, cardinalities, size, match, weights, selected, complete, size)
    copied: Callable[[int], Found] | None = None
    single = all(len(tokens) == 1 and not part.endswith("*") for part, tokens in parts)
    if copy is not None and single:
        tokens = [tokens[0] for _, tokens in parts]
        rows = copy.words.below(connection, namespace) if selected is None else None
        copied = partial(look_up.best_copied, copy, tokens, rows)

    def best(limit: int, complete: bool, items: Ids | None) -> Found:
        look_up.complete, look_up.selected = complete, items
        return look_up.best(limit) if copied is None else copied(limit)

    where, bindings = scope.where, scope.bindings
    if namespace_id is not None:
        token = f'ns : "n{namespace_id}"'
        held = rows_with(connection, cardinalities, token, EVERY, size) if copied is None else 0
        if held <= size * WIDE_SHARE:
            look_up.within, look_up.reach = f"{token} AND ", held
        elif selected is None and not holds_everything(connection, namespace):
            within, labels = inside("i.namespace", namespace)
            where, bindings = f"{within} AND ({where})", (*labels, *bindings)
    if selected is not None or where == "TRUE":
        return best(limit, complete, selected)
    kept = partial(_kept, connection, where=where, bindings=bindings)
    return in_scope(best, kept, plan, limit, pool=limit * HEADROOM, complete=complete)


def _kept(connection: Connection, ids: Ids, where: str, bindings: Bindings) -> NDArray[np.bool_]:
    """bool[n]: which of the items a condition holds for."""
    if not len(ids):
        return np.zeros(0, np.bool_)
    rows = connection.execute(
        f"SELECT i.id FROM carray(?) c CROSS JOIN item i ON i.id = c.value WHERE {where}",
        (apsw.carray(ids), *bindings),
    ).fetchall()
    return are_in(ids, np.array([row[0] for row in rows], np.int64))


def _taken_apart(connection: Connection, match: str) -> list[_Part]:
    """Return the parts of an expression."""
    return [
        (part, tokenized(connection, part.rstrip("*")[1:-1].replace('""', '"')))
        for part in _QUOTED.findall(match)
    ]


def _other_forms(
    connection: Connection, parts: Sequence[_Part], forms: Sequence[str]
) -> list[_Part]:
    """Return parts for those forms that are tokens of their own."""
    known = {tuple(tokens) for _, tokens in parts}
    further: list[_Part] = []
    for form in forms:
        tokens = tokenized(connection, form)
        if len(tokens) == 1 and tuple(tokens) not in known:
            known.add(tuple(tokens))
            further.append((f'"{form}"', tokens))
    return further


def tokenized(connection: Connection, text: str) -> Sequence[str]:
    if connection.tokenize is None:
        # Of a connection of its own: a tokenizer holds its connection, which could never be freed if
        # it held the tokenizer, since apsw 3.54 does not show that circle to the garbage collector.
        connection.tokenize = apsw.Connection(":memory:").fts5_tokenizer(*TOKENIZER)
    found: Any = connection.tokenize(
        text.encode(),
        apsw.FTS5_TOKENIZE_QUERY,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return cast("Sequence[str]", found)


class Texts:
    """Texts that the index does not hold, for its questions."""

    def __init__(
        self, connection: Connection, cardinalities: CardinalityCache, bodies: Sequence[str]
    ) -> None:
        """``bodies``: as the index would be given them."""
        self._connection, self._cardinalities = connection, cardinalities
        self._texts = TokenizedTexts([tokenized(connection, body) for body in bodies])

    def scores(self, query: KeywordQuery) -> Floats:
        """float32[n]: BM25 of each text, 0 where it does not match. How rare a word is, the index
        tells."""
        connection, cardinalities = self._connection, self._cardinalities
        parts = _taken_apart(connection, match_expression(query.terms, query.phrases))
        parts += _other_forms(connection, parts, query.forms)
        size = cardinalities.size(connection)

        def rarity(place: int) -> float:
            text = _texts(parts[place][0])
            return idf(size, max(rows_with(connection, cardinalities, text, EVERY, size), 1))

        asked = [(tokens, text.endswith("*")) for text, tokens in parts]
        return self._texts.scores(asked, query.body_weight, rarity)


@dataclass(slots=True)
class _LookUp:
    """One question to the index, asked the way that is fastest for what there is."""

    connection: Connection
    cardinalities: CardinalityCache
    size: int
    match: str
    weights: Weights
    selected: Ids | None
    """The rows in question, if they are known."""
    complete: bool
    """Whether frequent words bring rows, where rare ones bring fewer than wanted."""
    reach: int
    """Rows that match `within`."""
    within: str = ""
    """Expression that a row has to match as well, with its AND; that of a namespace."""

    def best(self, limit: int) -> Found:
        """Return the rows with the highest BM25."""
        return _arrays(self._best(limit))

    def best_copied(
        self, copy: Current, tokens: Sequence[str], rows: Rows | None, limit: int
    ) -> Found:
        """As `best`, by the copy in memory, and by FTS5 for what was written since; ``rows`` are those of
        the namespace, None: all."""

        def score_changed(changed: Ids, frequent: frozenset[str]) -> Found:
            counts = [max(copy.words.count(token), 1) for token in tokens]
            among = ""
            if frequent:
                parts = zip(_QUOTED.findall(self.match), tokens, strict=True)
                among = " OR ".join(part for part, token in parts if token not in frequent)
            return _arrays(self.scored(self.match, EVERY, among=among, ids=changed, counts=counts))

        return best_copied(
            copy, tokens, self.weights, limit, items=self.selected, rows=rows,
            complete=self.complete, score_changed=score_changed,
        )  # fmt: skip

    def _best(self, limit: int) -> Hits:
        rows = self.reach if self.selected is None else min(self.reach, len(self.selected))
        if rows <= SMALL_ROWS:
            return self.scored(self.match, limit, ids=self.selected)
        if self.selected is not None:
            return self._ranked(self._all(), limit)
        parts = self._split() if self.reach > SPLIT_ROWS else None
        if parts is None:
            return self._ranked(self._all(), limit)
        rare, frequent = parts
        hits = self._ranked(f"{self.within}{_texts(rare)}", max(RESCORED_ROWS, limit))
        if len(hits) < (limit if self.complete else min(limit, 1)):
            return self._ranked(self._all(), limit)
        best = np.array([item for item, _ in hits], np.int64)
        further = dict(self.scored(frequent, EVERY, among=rare, ids=best))
        hits = [(item, score + further.get(item, 0.0)) for item, score in hits]
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
        return hits[:limit]

    def _all(self) -> str:
        return f"{self.within}{_texts(self.match)}"

    def _split(self) -> tuple[str, str] | None:
        """Return the rarest words, that together match `SCORED_ROWS`, and the others; None when all do."""
        terms = _QUOTED.findall(self.match)
        counts = {
            term: rows_with(
                self.connection,
                self.cardinalities,
                self.within + _texts(term),
                SCORED_ROWS + 1,
                self.size,
            )
            for term in dict.fromkeys(terms)
        }
        rare: set[str] = set()
        scored = known = 0
        for term in sorted(counts, key=lambda one: counts[one]):
            scored += counts[term]
            if known >= FEWEST_WORDS and scored > SCORED_ROWS:
                frequent = [one for one in terms if one not in rare]
                return " OR ".join(one for one in terms if one in rare), " OR ".join(frequent)
            rare.add(term)
            known += counts[term] > 0  # a word in no row brings none, as far as was counted
        return None

    def _ranked(self, expression: str, limit: int) -> Hits:
        """By FTS5's own BM25."""
        conditions, bindings = "", list[Any]()
        if self.selected is not None:  # the plus: else FTS5 runs the query anew for every id
            conditions += "AND +rowid IN (SELECT value FROM carray(?)) "
            bindings.append(apsw.carray(np.ascontiguousarray(self.selected)))
        if self.weights != DEFAULT_WEIGHTS:
            conditions += "AND rank MATCH ? "
            bindings.append("bm25(0.0, {:f}, {:f})".format(*self.weights))
        # "+rank": SQLite's sorter keeps only the best, FTS5's own sorts all rows.
        found = self.connection.execute(
            "SELECT rowid, rank FROM keyword WHERE keyword MATCH ? "
            f"{conditions}ORDER BY +rank LIMIT ?",
            (expression, *bindings, limit),
        )
        return [(item, -score) for item, score in found]

    def scored(
        self,
        match: str,
        limit: int,
        *,
        among: str = "",
        ids: Ids | None = None,
        counts: Sequence[int] | None = None,
    ) -> Hits:
        """By `_bm25`, which is told how many rows each word is in.

        Args:
            among: What a row has to match as well, without a score for it.
            ids: The rows in question, if they are known.
            counts: Rows with each word, if they are known.
        """
        if counts is None:
            counts = [
                rows_with(self.connection, self.cardinalities, _texts(term), EVERY, self.size)
                for term in _QUOTED.findall(match)
            ]
        within = f"{self.within}{_texts(among)} AND " if among else self.within
        condition, bindings = "", list[Any]()
        if ids is not None:  # the plus, as above
            condition = "AND rowid >= ? AND +rowid IN (SELECT value FROM carray(?))"
            bindings += int(ids.min()), apsw.carray(np.ascontiguousarray(ids))
        if not self.connection.ranks:
            self.connection.register_fts5_function(FUNCTION, _bm25)
            self.connection.ranks = True
        found: Hits = self.connection.execute(
            f"SELECT rowid, {FUNCTION}(keyword, ?, ?, ?) FROM keyword "
            f"WHERE keyword MATCH ? {condition}",
            (
                np.array(counts, np.int64).tobytes(),
                *self.weights,
                within + _texts(match),
                *bindings,
            ),
        ).fetchall()
        found.sort(key=lambda hit: (-hit[1], hit[0]))
        return found[:limit]


def _arrays(hits: Hits) -> Found:
    if not hits:
        return NOTHING
    ids, scores = zip(*hits, strict=True)
    return np.array(ids, np.int64), np.array(scores, np.float32)


def _texts(match: str) -> str:
    """Return the expression, kept to the texts."""
    # Tokens of the ns column look like n7: only such a word has to be kept away from it.
    return f"{{body context}} : ({match})" if _LIKE_NAMESPACE.search(match) else f"({match})"


FUNCTION: Final = "langmemory_bm25"
TOKENIZER: Final = ("porter", ["unicode61", "remove_diacritics", "2"])
"""Of the table, see `file.tables`."""


def _bm25(row: apsw.FTS5ExtensionApi, *arguments: Any) -> float:
    """Return the score of FTS5's ``bm25`` (K1 1.2, b 0.75), above 0, for the last phrases of an
    expression.

    FTS5 walks through all rows with a phrase, whatever the search is kept to, to learn how many they
    are: two thirds of a search's time. Here they are given.

    Args:
        arguments: Rows with each phrase, int64[phrases]; the weights of body and context.
    """
    counts, body_weight, context_weight = arguments
    known = row.aux_data
    if known is None:
        rows = row.row_count
        weights = [idf(rows, one) for one in np.frombuffer(counts, np.int64).tolist()]
        first = row.phrase_count - len(weights)
        per_token = K1 * B * rows / max(row.column_total_size(), 1)
        known = row.aux_data = (list(enumerate(weights, first)), per_token)
    weighed, per_token = known
    length = K1 * (1 - B) + per_token * row.column_size()
    score = 0.0
    for phrase, weight in weighed:
        _, body, context = row.phrase_locations(phrase)
        if body or context:
            often = len(body) * body_weight + len(context) * context_weight
            score += weight * often * (K1 + 1) / (often + length)
    return score


def match_expression(terms: Iterable[str], phrases: Iterable[str] = ()) -> str:
    """FTS5 expression that matches any of the terms or phrases; empty when there are none.

    Every term is a quoted string, so that no character of it is syntax; a single character of an
    unspaced script becomes a prefix query (see `index_text`). The caller puts the expression in
    parentheses behind its own column filter.
    """
    parts = []
    for term in terms:
        quoted = _quote(term)
        if quoted:
            parts.append(quoted + "*" if is_single(term) else quoted)
    # As the words stand in the index: runs without spaces as pairs.
    parts.extend(filter(None, (_quote(" ".join(split_words(phrase))) for phrase in phrases)))
    return " OR ".join(parts)


def _quote(text: str) -> str:
    """As an FTS5 string; empty when it holds nothing the tokenizer would keep. Lone surrogates,
    which are no text, are left out."""
    if not any(character.isalnum() for character in text):
        return ""
    clean = text.replace("\0", " ").replace('"', '""').encode("utf-8", "ignore").decode()
    return f'"{as_indexed(clean)}"'


FEW: Final = 48
"""Words that FTS5 is asked for one by one, 10 to 40 microseconds each; to read all its tokens that begin
alike takes a microsecond for each of these."""


def stems(connection: Connection, words: Sequence[str]) -> Sequence[str]:
    """Return the words (letters only) as the index has them."""
    together = tokenized(connection, " ".join(words))
    if len(together) == len(words):
        return together
    return [" ".join(tokenized(connection, word)) for word in words]


def known_words(
    connection: Connection,
    cardinalities: CardinalityCache,
    namespace: Namespace,
    words: Sequence[str],
    *,
    viewer: str | None = None,
    copy: Callable[[], Current | None],
) -> Mapping[str, str]:
    """Return those of the words (lower case, letters only) that an item in a namespace or below it
    holds, with their tokens.

    Args:
        namespace: Whose words are asked for.
        words: If more than `FEW`, they begin alike: what begins so is looked through.
        viewer: Whose view it is: what others keep to themselves is not known, unless there are more than
            `FEW` words. None sees everything.
        copy: The index in memory, as of this reader's snapshot.
    """
    within = ""
    if namespace:
        namespace_id = find(connection, namespace)
        if namespace_id is None:
            return {}
        within = f'ns : "n{namespace_id}" AND '
    asked = dict(zip(words, stems(connection, words), strict=True))
    held: list[str] = []
    if len(asked) > FEW:
        current = copy()
        asked = _in_file(connection, asked, current)
        if current is not None and not len(current.changed):
            rows = current.words.below(connection, namespace)
            return {
                word: token
                for word, token in asked.items()
                if rows is None or current.words.stands_in(rows, token)
            }
    else:  # mostly a query's own, which are asked again
        size = cardinalities.size(connection)
        held = [
            one
            for one in asked
            if rows_with(connection, cardinalities, f'{within}"{one}"', 1, size)
        ]
    # That none did is asked anew: a name may just have been told.
    rest = [one for one in asked if one not in held]
    quoted = " OR ".join(f'"{one}"' for one in rest)
    if rest and _matches_word(connection, f"{within}({quoted})"):
        held += [one for one in rest if _matches_word(connection, f'{within}"{one}"')]
    if viewer is not None and len(words) <= FEW:
        visible = visible_to(viewer)
        held = [one for one in held if _matches_word(connection, f'{within}"{one}"', visible)]
    return {word: asked[word] for word in held}


def _matches_word(connection: Connection, expression: str, among: Condition = TRUE) -> bool:
    """Return whether a row matches, of an item that a condition holds for."""
    row = connection.execute(
        "SELECT 1 FROM keyword k CROSS JOIN item i ON i.id = k.rowid "
        f"WHERE k.keyword MATCH ? AND {among.sql} LIMIT 1",
        (expression, *among.bindings),
    ).fetchone()
    return row is not None


def _in_file(
    connection: Connection, asked: Mapping[str, str], copy: Current | None
) -> dict[str, str]:
    """Return those of the words whose tokens are in the index."""
    if copy is not None:
        held = copy.words.having(list(asked.values()))
        found = {word: token for (word, token), one in zip(asked.items(), held, strict=True) if one}
        if found or not len(copy.changed):
            return found
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.known_word USING fts5vocab('main', 'keyword', 'row')"
    )
    looked_up = asked.values()
    there = {
        token
        for (token,) in connection.execute(
            "SELECT term FROM temp.known_word WHERE term BETWEEN ? AND ?",
            (min(looked_up), max(looked_up)),
        )
    }
    return {word: token for word, token in asked.items() if token in there}


READ_AT_ONCE: Final = 10_000
"""Occurrences read between two pauses, in which other threads search (about 2 ms)."""
PAUSE_SECONDS: Final = 0.002

_ITEMS = (
    "SELECT group_concat(printf('%016x%016x%016x', id, namespace, depth), '' ORDER BY id) FROM ("
    "SELECT k.id, coalesce(i.namespace, 0) AS namespace, "
    "length(n.path) - length(replace(n.path, '.', '')) + 1 AS depth FROM keyword_docsize k "
    "LEFT JOIN item i ON i.id = k.id LEFT JOIN namespace n ON n.id = i.namespace "
    "WHERE k.id > ? ORDER BY k.id LIMIT ?)"
)
"""Rows of the index, their namespaces, and how many tokens name these."""
_PLACES = (
    "SELECT CAST(term AS BLOB), group_concat(printf('%016x', doc * 2 + (col = 'context')), '') "
    "FROM temp.word_place WHERE col <> 'ns' GROUP BY term"
)
"""Token by token, without sorting, where it stands: item << 1, and 1 in the context. As bytes, since
FTS5 may cut a token within a character."""
LONGEST_TOKEN: Final = 32_768
"""Bytes of a token that FTS5 keeps."""


def _hash(token: str) -> int:
    """Return a hash of 64 bits. That two of a million are the same is as likely as one in forty million."""
    return hash(token.encode()[:LONGEST_TOKEN])


def _numbers(text: str | None) -> NDArray[np.int64]:
    """Numbers of sixteen hexadecimal digits each: SQLite puts them together while other threads go on,
    where rows would be made one by one."""
    return np.frombuffer(bytes.fromhex(text or ""), ">i8").astype(np.int64)


def read_words(connection: port.Connection, budget_bytes: int) -> Words | None:
    """Return the words of the index; None where they are too many."""
    connection.execute(
        "CREATE VIRTUAL TABLE temp.word USING fts5vocab('main', 'keyword', 'col');"
        "CREATE VIRTUAL TABLE temp.word_place USING fts5vocab('main', 'keyword', 'instance')"
    )
    seq = newest(connection)
    most, tokens, items = connection.execute(
        "SELECT coalesce(sum(doc), 0), count(*), (SELECT count(*) FROM keyword_docsize) "
        "FROM temp.word WHERE col <> 'ns'"
    ).fetchone()
    if most * BYTES_A_WORD + tokens * BYTES_A_TOKEN + items * BYTES_A_ROW > budget_bytes:
        return None
    ids, namespaces, lengths = _items(connection).T
    hashes, ends = list[int](), [np.empty(0, np.int64)]
    rows, often = np.empty(most, np.int32), np.empty(most, np.uint8)
    end = 0
    for some, places in _by_tokens(connection):
        hashes += map(hash, some)
        together = np.concatenate(places)
        row = np.searchsorted(ids, together >> 1)
        np.add.at(lengths, row, 1)
        last = np.cumsum([len(one) for one in places])
        new = np.ones(len(row), np.bool_)
        np.not_equal(row[1:], row[:-1], out=new[1:])
        new[last[:-1]] = True  # where the next token begins
        begin = np.flatnonzero(new)
        context = np.add.reduceat(together & 1, begin)
        body = np.diff(begin, append=len(row)) - context
        held = slice(end, end + len(begin))
        rows[held] = row[begin]
        often[held] = often_of(body, context)
        ends.append(end + np.cumsum(new)[last - 1])
        end = held.stop
    edges = np.concatenate(ends)
    order = np.argsort(np.array(hashes, np.int64))
    return Words(
        seq=seq,
        ids=ids.copy(),
        norms=norms_of(lengths),
        hashes=np.array(hashes, np.int64)[order],
        starts=np.concatenate(([0], edges[:-1]))[: len(edges)][order],
        ends=edges[order],
        rows=rows[:end],
        often=often[:end],
        by_namespace=by_namespace_of(namespaces),
        hash_of=_hash,
    )


def _items(connection: port.Connection) -> NDArray[np.int64]:
    """int64[n, 3]: the rows of `_ITEMS`, read some at a time."""
    parts, last = [np.empty((0, 3), np.int64)], -1
    while True:
        found = connection.execute(_ITEMS, (last, READ_AT_ONCE)).fetchone()
        parts.append(_numbers(found[0]).reshape(-1, 3))
        if len(parts[-1]) < READ_AT_ONCE:
            return np.concatenate(parts)
        last = int(parts[-1][-1, 0])


def _by_tokens(
    connection: port.Connection,
) -> Iterator[tuple[list[bytes], list[NDArray[np.int64]]]]:
    """Yield all tokens with their places, some at a time, with pauses."""
    tokens, places, size = list[bytes](), list[NDArray[np.int64]](), 0
    for token, text in connection.execute(_PLACES):
        tokens.append(token)
        places.append(_numbers(text))
        size += len(places[-1])
        if size >= READ_AT_ONCE:
            yield tokens, places
            tokens, places, size = [], [], 0
            time.sleep(PAUSE_SECONDS)
    if tokens:
        yield tokens, places
