"""Recalls of two databases with the same memories, compared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
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
    for place in sorted({n * count // SAMPLES for n in range(min(SAMPLES, count))}):
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
    last = min((score for _, score in (*one, *other)), default=0.0)
    scores = dict(one), dict(other)
    for (item, score), (other_item, other_score) in zip(one, other, strict=True):
        if item != other_item and abs(score - other_score) > tie:
            return False
    for item in scores[0].keys() | scores[1].keys():
        mine, theirs = (each.get(item, last) for each in scores)
        if abs(mine - theirs) > tie:
            return False
    return True
