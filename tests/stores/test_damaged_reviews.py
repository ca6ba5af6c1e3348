"""Reviews that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
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
    path = tmp_path / "memory.db"
    with MemoryStore(path) as store:
        store.put(NAMESPACE, "a", {"text": "Tea."})
    connection = apsw.Connection(str(path))
    values = {"items": '["a"]', "options": '{"add": []}', column: '{"add": ['}
    connection.execute(
        "INSERT INTO review (id, namespace, about, question, items, options, run, opened_at) "
        "SELECT 'broken', id, 'core', 'Right?', :items, :options, 'run', 1 FROM namespace "
        "ORDER BY length(path) DESC LIMIT 1",
        values,
    )
    connection.close()
    with MemoryStore(path) as store, pytest.raises(DatabaseError, match="Review 'broken'"):
        call(store)
