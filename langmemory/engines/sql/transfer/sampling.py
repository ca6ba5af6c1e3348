"""Recalls of two databases with the same memories, compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from langmemory.engines.sql.engine import Snapshot
from langmemory.engines.sql.reading.source import SnapshotSource
from langmemory.engines.sql.tables.namespaces import from_path
from langmemory.recall import pipeline
from langmemory.recall.presets import Preset
from langmemory.recall.vocabulary import default_vocabulary
from langmemory.types import Scope
from langmemory.values import from_json, readable_text

SAMPLES: Final = 20
LIMIT: Final = 10
QUERY_CHARACTERS: Final = 200
"""Of a memory's text that are asked for."""
TIE: Final = 1e-4
"""Scores this near to each other are equal: the cosines of two engines differ by up to 1e-5."""
MOST_WRONG: Final = 1
"""Recalls that may differ: the last bit of a cosine decides which of two equal paths over the graph
counts, and with it the order of what follows (one in a thousand of fuzzed recalls)."""

Ranked = Sequence[tuple[int, float]]
"""(item, score), best first."""


def differing(source: Snapshot, target: Snapshot, preset: Preset) -> tuple[int, list[int]]:
    """Recall in both databases what some memories say; return how many recalls that were, and the items
    for which the best ten are not the same.

    They are asked by their own texts and vectors, so that no embedding model is needed.
    """
    wrong, asked, now = [], 0, datetime.now(UTC)
    for item, namespace, text in _samples(source):
        asked += 1
        one, other = (
            _recalled(each, item, namespace, text, preset, now) for each in (source, target)
        )
        if not same(one, other, TIE):
            wrong.append(item)
    return asked, wrong


def _samples(snapshot: Snapshot) -> list[tuple[int, str, str]]:
    """Return memories that lie evenly in the database: (item, path of its namespace, text)."""
    connection = snapshot.connection
    (count,) = connection.execute("SELECT count(*) FROM item WHERE status = 'active'").fetchone()
    found = []
    samples = min(SAMPLES, count)
    for place in (n * count // samples for n in range(samples)):
        item, path, value = connection.execute(
            "SELECT i.id, n.path, i.value FROM item i JOIN namespace n ON n.id = i.namespace "
            "WHERE i.id = (SELECT id FROM item WHERE status = 'active' ORDER BY id LIMIT 1 OFFSET ?)",
            (place,),
        ).fetchone()
        text = readable_text(from_json(value))[:QUERY_CHARACTERS]
        if text.strip():
            found.append((int(item), str(path), text))
    return found


def _recalled(
    snapshot: Snapshot, item: int, path: str, text: str, preset: Preset, now: datetime
) -> Ranked:
    connection = snapshot.connection
    vectors = connection.read_vectors([item]) if connection.holds_vectors() else {}
    scope = snapshot.scoped(Scope(namespace=from_path(path)))
    found = pipeline.run(
        text,
        SnapshotSource(snapshot, scope, exact=True),
        vector=vectors[item][0][0] if item in vectors else None,
        now=now,
        preset=preset,
        vocabulary=default_vocabulary(),
        limit=LIMIT,
    )
    return [(one.memory.id, one.score) for one in found]


def same(one: Ranked, other: Ranked, tie: float) -> bool:
    """Return whether two rankings are the same, but for the order of what has equal scores."""
    if len(one) != len(other):
        return False
    scores, other_scores = dict(one), dict(other)
    alone = sorted(score for item, score in one if item not in other_scores)
    other_alone = sorted(score for item, score in other if item not in scores)
    if any(abs(a - b) > tie for a, b in zip(alone, other_alone, strict=True)):
        return False
    return _falling(other, scores, tie) and _falling(one, other_scores, tie)


def _falling(ranked: Ranked, scores: Mapping[int, float], tie: float) -> bool:
    """Return whether one ranking is in the order of the scores that the other one gave."""
    lowest = min(scores.values(), default=0.0)
    given = [scores.get(item, lowest) for item, _ in ranked]
    return all(after <= before + tie for before, after in pairwise(given))
