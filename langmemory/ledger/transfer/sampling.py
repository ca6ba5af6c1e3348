"""Recalls of two databases with the same memories, compared: by words, and by meaning."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from langmemory.languages import split_words
from langmemory.ledger.engine import Snapshot
from langmemory.ledger.namespaces import from_path
from langmemory.ports.candidates import Floats, Ids, KeywordQuery
from langmemory.types import Scope
from langmemory.values import from_json, readable_text

SAMPLES: Final = 20
LIMIT: Final = 10
WORDS: Final = 12
"""Of a memory, its first ones, that are looked up."""
RARE_ROWS: Final = 150
"""Rows with a word up to which it is asked for with others: where a search scores no more than some
hundred rows, no engine has to choose among them."""
ASKED: Final = 3
"""Such words in one question."""
TIE: Final = 1e-4
"""Scores this near to each other are equal: the cosines of two engines differ by up to 1e-5."""

Ranked = Sequence[tuple[Hashable, float]]
"""(what stands for an item in both databases, score), best first."""


def differing(source: Snapshot, target: Snapshot) -> tuple[int, list[str]]:
    """Recall in both databases what some memories say; return how many recalls that were, and the keys of
    those for which the best ten are not the same.

    They are asked by their own words and vectors, so that no embedding model is needed.
    """
    samples = _samples(source)
    wrong = [
        key
        for item, path, key, text in samples
        if not (
            _same_words(source, target, Scope(namespace=from_path(path)), text)
            and _same_neighbours(source, target, Scope(namespace=from_path(path)), item)
        )
    ]
    return len(samples), wrong


def _samples(snapshot: Snapshot) -> list[tuple[int, str, str, str]]:
    """Return memories that lie evenly in the database: (item, path of its namespace, key, text)."""
    connection = snapshot.connection
    (count,) = connection.execute("SELECT count(*) FROM item WHERE status = 'active'").fetchone()
    found = []
    samples = min(SAMPLES, count)
    for place in (n * count // samples for n in range(samples)):
        item, path, key, value = connection.execute(
            "SELECT i.id, n.path, i.key, i.value FROM item i JOIN namespace n ON n.id = i.namespace "
            "WHERE i.id = (SELECT id FROM item WHERE status = 'active' ORDER BY id LIMIT 1 OFFSET ?)",
            (place,),
        ).fetchone()
        text = readable_text(from_json(value))
        if text.strip():
            found.append((int(item), str(path), str(key), text))
    return found


def _same_words(source: Snapshot, target: Snapshot, scope: Scope, text: str) -> bool:
    """Return whether both find the same rows by each word of a text, and by some rare ones together."""
    rare: list[str] = []
    for word in list(dict.fromkeys(split_words(text)))[:WORDS]:
        one, other = (_by_words(each, scope, (word,), RARE_ROWS + 1) for each in (source, target))
        if len(one) != len(other):
            return False
        if 0 < len(one) <= RARE_ROWS:
            if not same_ranking(one, other, TIE):
                return False
            rare.append(word)
    one, other = (_by_words(each, scope, tuple(rare[:ASKED]), LIMIT) for each in (source, target))
    return same_ranking(one, other, TIE)


def _by_words(snapshot: Snapshot, scope: Scope, words: tuple[str, ...], limit: int) -> Ranked:
    return _pair_scores(
        snapshot, *snapshot.keyword(snapshot.scoped(scope), KeywordQuery(terms=words), limit)
    )


def _same_neighbours(source: Snapshot, target: Snapshot, scope: Scope, item: int) -> bool:
    """Return whether both find the same memories nearest to an item, if it has a vector."""
    connection = source.connection
    vectors = connection.read_vectors([item]) if connection.holds_vectors() else {}
    if item not in vectors:
        return True
    one, other = (
        _pair_scores(
            each,
            *each.nearest(each.scoped(scope), vectors[item][0][0], LIMIT, overfetch=1, exact=True),
        )
        for each in (source, target)
    )
    return same_ranking(one, other, TIE)


def _pair_scores(snapshot: Snapshot, ids: Ids, scores: Floats) -> Ranked:
    """Return what was found by namespace and key, as ids are a database's own."""
    connection = snapshot.connection
    names = {
        item: (path, key)
        for item, path, key in connection.execute(
            "SELECT i.id, n.path, i.key FROM item i JOIN namespace n ON n.id = i.namespace "
            "WHERE i.id IN (SELECT value FROM carray(?))",
            (connection.array(ids),),
        ).fetchall()
    }
    return [(names[item], score) for item, score in zip(ids.tolist(), scores.tolist(), strict=True)]


def same_ranking(one: Ranked, other: Ranked, tie: float) -> bool:
    """Return whether two rankings are the same, but for the order of what has equal scores."""
    if len(one) != len(other):
        return False
    scores, other_scores = dict(one), dict(other)
    alone = sorted(score for item, score in one if item not in other_scores)
    other_alone = sorted(score for item, score in other if item not in scores)
    if any(abs(a - b) > tie for a, b in zip(alone, other_alone, strict=True)):
        return False
    return _falling(other, scores, tie) and _falling(one, other_scores, tie)


def _falling(ranked: Ranked, scores: Mapping[Hashable, float], tie: float) -> bool:
    """Return whether one ranking is in the order of the scores that the other one gave."""
    lowest = min(scores.values(), default=0.0)
    given = [scores.get(item, lowest) for item, _ in ranked]
    return all(after <= before + tie for before, after in pairwise(given))
