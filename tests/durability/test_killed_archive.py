"""Processes killed between the memory file and its archive file lose no memory and double none."""

from __future__ import annotations

import os
import socket
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

from langmemory.stores.rooms import Maintaining
from tests.durability.archives import ADA, FACTS, fill, move_until_killed, open_store, word
from tests.seeds import examples

KILLS = int(os.environ.get("LANGMEMORY_KILLS", examples(60, first=10)))
SECONDS = 1.2
"""Of work, within which a process is killed: three rounds or so."""


def test_moves_survive_kills(tmp_path: Path) -> None:
    """After SIGKILLs at random moments of nights that evict and move, every memory is there once: in one of
    the files, in the export, and for a recall with the archive; both files agree with themselves.
    LANGMEMORY_KILLS=300 for longer."""
    path = tmp_path / "memory.db"
    with open_store(path) as store:
        keys = fill(store)
        known = len(store.changes.history(ADA, "fact/0"))
        assert known == 1
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.durability.archives"])
    copies = moved = 0
    for seed in range(KILLS):
        child = context.Process(target=move_until_killed, args=(path, seed, SECONDS), daemon=True)
        child.start()
        child.join(120)
        assert child.exitcode == -9, "it ended before it was killed"
        with open_store(path) as store:
            assert store.admin.check() == [], seed
            room = Maintaining(store)
            room.give_back_lease(f"{socket.gethostname()}:{child.pid}")  # it would end by itself
            here = {row[0] for row in store.conn.execute("SELECT key FROM item")} & keys
            away = {row[0] for row in store.conn.execute("SELECT key FROM archived_item")}
            assert here | away == keys, seed
            assert not here & away, seed
            copies += room.archive.leftovers() > 0
            moved += len(away)
            told = [row for row in store.admin.export() if row["type"] in ("item", "evidence")]
            counts = Counter((row["type"], row["key"]) for row in told if row["key"] in keys)
            assert set(counts.values()) == {1}, seed
            assert len(counts) == 2 * FACTS, seed
            for n in range(seed % 7, FACTS, 7):
                found = store.recall(word(n), ADA, include_archive=True, limit=FACTS)
                assert [one.memory.key for one in found].count(f"fact/{n}") == 1, (seed, n)
    print(f"{KILLS} kills: {copies} left copies, {moved / KILLS:.0f} memories were away on average")
    assert moved
