"""Child processes that archive, move and bring back memories until they are killed."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from langmemory import MemoryStore
from langmemory.changes import AddMemory, ChangeSet, Facets, SetStatus
from langmemory.config import Config
from langmemory.embeddings.mock import MockEmbedder
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.types import Status

ADA = ("memories", "ada")
FACTS = 120
LATER = datetime(2040, 1, 1, tzinfo=UTC)
AT_ONCE = 40
"""Memories that are archived, or made active again, between two nights."""


def word(n: int) -> str:
    """A word that only one fact has."""
    return f"w{n}xyz"


def open_store(path: Path) -> MemoryStore:
    embedder = MockEmbedder(dims=64).embeddings
    lifecycle = {"max_facts": FACTS // 2, "archive_after_days": 0}
    return MemoryStore(
        path,
        index={"dims": 64, "embed": embedder, "fields": ["text"]},
        config=Config.model_validate({"lifecycle": lifecycle}),
    )


def fill(store: MemoryStore) -> set[str]:
    """Facts with evidence; their keys."""
    turn = {"role": "user", "content": "I say much.", "at": datetime(2026, 1, 1, tzinfo=UTC)}
    [key] = store.remember(ADA, [turn], thread_id="t")
    added = tuple(
        AddMemory(
            key=f"fact/{n}",
            value={"text": f"Ada likes {word(n)}", "fact_kind": "preference"},
            facets=Facets(kind="semantic"),
            evidence=(key,),
        )
        for n in range(FACTS)
    )
    store.changes.apply(
        ChangeSet(namespace=ADA, run_id="learn", kind="reflection", reason="test", changes=added)
    )
    return {one.key for one in added}


def set_status(store: MemoryStore, keys: list[str], status: Status, run_id: str) -> None:
    changes = tuple(SetStatus(key=key, status=status) for key in keys)
    store.changes.apply(
        ChangeSet(namespace=ADA, run_id=run_id, kind="correction", reason="test", changes=changes)
    )


def move_until_killed(path: Path, seed: int, seconds: float) -> None:
    """Archive, let a night evict and move, bring back; killed at some moment of the first ``seconds``."""
    rng = random.Random(seed)
    pause = rng.uniform(0, seconds)

    def kill() -> None:
        time.sleep(pause)
        os.kill(os.getpid(), signal.SIGKILL)

    keys = [f"fact/{n}" for n in range(FACTS)]
    store = open_store(path)
    graph = build_maintenance_graph(store, now=lambda: LATER, tasks=["evict", "archive"])
    threading.Thread(target=kill, daemon=True).start()
    n = 0
    while True:
        n += 1
        set_status(store, rng.sample(keys, AT_ONCE), "archived", f"away/{seed}/{n}")
        graph.invoke({})
        set_status(store, rng.sample(keys, AT_ONCE), "active", f"back/{seed}/{n}")
