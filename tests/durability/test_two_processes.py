"""Two processes work on one file at the same time."""

from __future__ import annotations

import os
from pathlib import Path

from tests.children import process_context
from tests.durability.consistency import check_consistency
from tests.durability.test_killed_writer import without_deleted
from tests.durability.writers import open_store, write_and_search
from tests.seeds import examples

SECONDS = float(os.environ.get("LANGMEMORY_SOAK_SECONDS", examples(5, first=2)))


def test_two_processes_write_and_search_one_file(tmp_path: Path) -> None:
    """Neither ever fails or misses a write of its own, and in the end the file holds exactly what
    both acknowledged, its parts in agreement. LANGMEMORY_SOAK_SECONDS=60 for the whole minute."""
    path = tmp_path / "memory.db"
    context = process_context()
    children = []
    for name in ("left", "right"):
        ours, theirs = context.Pipe(duplex=False)
        arguments = (path, name, SECONDS, theirs)
        child = context.Process(target=write_and_search, args=arguments, daemon=True)
        child.start()
        theirs.close()
        children.append((name, child, ours))

    store = open_store(path)
    total = 0
    for name, child, pipe in children:
        assert pipe.poll(SECONDS + 60), f"{name} did not report"
        report = pipe.recv()
        child.join(30)
        assert child.exitcode == 0
        items = store.search(("soak", name), limit=1_000)
        expected = without_deleted(report["state"])
        assert {item.key: item.value["n"] for item in items} == expected
        assert report["searches"] > 10
        total += len(expected)
    store.close()
    assert check_consistency(path) == total
