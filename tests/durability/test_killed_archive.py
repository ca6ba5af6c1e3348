"""Processes killed in a night, or between the memory file and its archive file, lose and double no memory."""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from langmemory import MemoryStore
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.operations.maintaining import Maintaining
from tests.children import process_context
from tests.durability.archives import (
    ADA,
    FACTS,
    LATER,
    fill,
    move_until_killed,
    open_store,
    spend_nights_until_killed,
    word,
)

pytestmark = pytest.mark.thorough

MOVES = int(os.environ.get("LANGMEMORY_KILLS", 15))
NIGHTS = int(os.environ.get("LANGMEMORY_KILLS", 10))
SECONDS = 1.2
"""Of work, within which a process that moves is killed: three rounds or so."""
NIGHT_SECONDS = 3.0
"""The same of whole nights: two or so."""


def test_moves_survive_kills(tmp_path: Path) -> None:
    """After SIGKILLs at random moments of nights that evict and move, every memory is there once: in one of
    the files, in the export, and for a recall with the archive; both files agree with themselves.
    LANGMEMORY_KILLS=300 for longer."""
    path = tmp_path / "memory.db"
    with open_store(path) as store:
        keys = fill(store)
        known = len(store.changes.history(ADA, "fact/0"))
        assert known == 1
    copies = moved = 0
    for seed in range(MOVES):
        pid = killed(move_until_killed, path, seed, SECONDS)
        with open_store(path) as store:
            away = found_once(store, pid, seed, keys)
            copies += Maintaining(store).archive.leftovers() > 0
            moved += away
            for n in range(seed % 7, FACTS, 7):
                found = store.recall(word(n), ADA, include_archive=True, limit=FACTS)
                assert [one.memory.key for one in found].count(f"fact/{n}") == 1, (seed, n)
    print(f"{MOVES} kills: {copies} left copies, {moved / MOVES:.0f} memories were away on average")
    assert moved


def test_nights_survive_kills(tmp_path: Path) -> None:
    """After SIGKILLs at random moments of nights with all tasks, each of which finishes the one before, every
    memory is there once, both files agree with themselves, and the last night can be finished and taken back.
    LANGMEMORY_KILLS=300 for longer."""
    path = tmp_path / "memory.db"
    with open_store(path) as store:
        keys = fill(store)
    interrupted = moved = 0
    within = Counter[str]()
    for seed in range(NIGHTS):
        pid = killed(spend_nights_until_killed, path, seed, NIGHT_SECONDS)
        with open_store(path) as store:
            moved += found_once(store, pid, seed, keys)
            last = Maintaining(store).last_night()
            if last is not None and not last["finished"]:
                interrupted += 1
                within[last["done"][-1] if last["done"] else "begin"] += 1
    with open_store(path) as store:
        found = night(store)
        assert all(one["error"] is None for one in found["reports"])
        known = told(store)
        again = night(store)
        if any(one["lines"] for one in again["reports"]):
            store.lifecycle.undo(again["night"])
        assert told(store) == known
        assert store.admin.check() == []
    print(
        f"{NIGHTS} kills, {interrupted} within a night, after the tasks {dict(within)}; {moved} away"
    )
    assert interrupted
    assert moved


def night(store: MemoryStore) -> dict[str, Any]:
    """A whole night, or the rest of the one that was interrupted."""
    found: dict[str, Any] = build_maintenance_graph(store, now=lambda: LATER).invoke({})
    return found


def told(store: MemoryStore) -> list[dict[str, Any]]:
    """The export without the history, and without counters."""
    counters = {"access_count", "accessed_at"}
    return [
        {name: value for name, value in row.items() if name not in counters}
        for row in store.admin.export(history=False)
        if row["type"] not in ("meta", "run")
    ]


def killed(work: Callable[..., None], path: Path, seed: int, seconds: float) -> int:
    """Let a process work until it is killed; its id."""
    context = process_context()
    child = context.Process(target=work, args=(path, seed, seconds), daemon=True)
    child.start()
    child.join(120)
    assert child.exitcode == -9, "it ended before it was killed"
    assert child.pid is not None
    return child.pid


def found_once(store: MemoryStore, pid: int, seed: int, keys: set[str]) -> int:
    """Check that memories are in one of the two files and in the export once; how many are in the archive."""
    assert store.admin.check() == [], seed
    Maintaining(store).give_back_lease(f"{socket.gethostname()}:{pid}")  # it would end by itself
    here = {row[0] for row in store.conn.execute("SELECT key FROM item")} & keys
    away = {row[0] for row in store.conn.execute("SELECT key FROM archived_item")} & keys
    assert here | away == keys, seed
    assert not here & away, seed
    rows = [row for row in store.admin.export() if row["type"] in ("item", "evidence")]
    counts = Counter((row["type"], row["key"]) for row in rows if row["key"] in keys)
    assert {counts["item", key] for key in keys} == {1}, seed
    evidence = Counter((row["key"], row["source"]) for row in rows if row["type"] == "evidence")
    assert set(evidence.values()) == {1}, seed
    assert {key for key, _ in evidence} >= keys, seed
    return len(away)
