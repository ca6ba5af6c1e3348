"""Reviews that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from langmemory import MemoryStore
from langmemory.errors import DatabaseError

NAMESPACE = ("users", "ann")


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.changes.reviews(NAMESPACE),
        lambda store: store.for_viewer("ann").changes.reviews(NAMESPACE),
        lambda store: store.changes.decide("broken", "add"),
    ],
)
@pytest.mark.parametrize("column", ["items", "options"])
def test_a_review_that_does_not_parse_is_named(
    tmp_path: Path, call: Callable[[MemoryStore], Any], column: str
) -> None:
    """An error names the review whose stored options or memories are no JSON."""
    path = stored(tmp_path, {"items": '["a"]', "options": '{"add": []}', column: '{"add": ['})
    with MemoryStore(path) as store, pytest.raises(DatabaseError, match="Review 'broken'"):
        call(store)


@pytest.mark.parametrize(
    "options", ['{"add": [{"op": "explode"}]}', '{"add": 5}', '{"add": [{}]}', "[1]", "7"]
)
def test_options_that_are_no_changes_are_named(tmp_path: Path, options: str) -> None:
    """Options that are JSON, but no changes, decide nothing; the error names the review."""
    path = stored(tmp_path, {"items": '["a"]', "options": options})
    with MemoryStore(path) as store:
        with pytest.raises(DatabaseError, match="Review 'broken'"):
            store.changes.decide("broken", "add")
        if options == '{"add": 5}':
            with pytest.raises(DatabaseError, match="Review 'broken'"):
                store.changes.reviews(NAMESPACE)
        assert store.changes.runs() == []


def stored(tmp_path: Path, values: dict[str, str]) -> Path:
    """Return a file with a review of these items and options."""
    path = tmp_path / "memory.db"
    with MemoryStore(path) as store:
        store.put(NAMESPACE, "a", {"text": "Tea."})
        with store._core.engine.write() as connection:
            connection.execute(
                "INSERT INTO review (id, namespace, about, question, items, options, run, opened_at) "
                "SELECT 'broken', id, 'core', 'Right?', :items, :options, 'run', 1 FROM namespace "
                "ORDER BY length(path) DESC LIMIT 1",
                values,
            )
    return path
