"""Child processes that archive, move and bring back memories, or spend nights, until they are killed."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from langmemory import MemoryStore
from langmemory.changes import AddEdge, AddEntity, AddMemory, ChangeSet, Facets, SetStatus
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


def learn_again(store: MemoryStore, rng: random.Random, run_id: str) -> None:
    """Say something on some day and learn from it: what is known already, a new home, a preference."""
    n = rng.randrange(FACTS)
    at = datetime(2026, rng.randint(1, 12), rng.randint(1, 28), tzinfo=UTC)
    turn = {"role": "user", "content": f"{run_id}: I like {word(n)}. I moved.", "at": at}
    [key] = store.remember(ADA, [turn], thread_id=f"t{at:%m}")
    home = rng.choice(("Oslo", "Bergen", "Tromso"))
    store.changes.apply(
        ChangeSet(
            namespace=ADA, run_id=run_id, kind="correction", reason="test",
            changes=(
                AddEntity(key="ada", name="Ada", kind="person"),
                *(
                    AddMemory(
                        key=f"{run_id}/{name}", value={"text": text, "fact_kind": "fact"},
                        facets=Facets(kind="semantic", valid_at=at), evidence=(key,), mentions=("ada",),
                    )
                    for name, text in (("same", f"Ada likes {word(n)}"), ("home", f"Ada lives in {home}"))
                ),
                AddEdge(fact=f"{run_id}/home", subject="ada", relation="lives_in", literal=home),
            ),
        )
    )  # fmt: skip


def move_until_killed(path: Path, seed: int, seconds: float) -> None:
    """Archive, let a night evict and move, bring back; killed at some moment of the first ``seconds``."""
    rng, store = random.Random(seed), open_store(path)
    graph = build_maintenance_graph(store, now=lambda: LATER, tasks=["evict", "archive"])
    _kill_within(rng.uniform(0, seconds))
    keys = [f"fact/{n}" for n in range(FACTS)]
    for n in count():
        set_status(store, rng.sample(keys, AT_ONCE), "archived", f"away/{seed}/{n}")
        graph.invoke({})
        set_status(store, rng.sample(keys, AT_ONCE), "active", f"back/{seed}/{n}")


def spend_nights_until_killed(path: Path, seed: int, seconds: float) -> None:
    """Finish the night that the last process left, then learn, and spend further nights with all tasks;
    killed at some moment of the first ``seconds``."""
    rng, store = random.Random(seed), open_store(path)
    graph = build_maintenance_graph(store, now=lambda: LATER)
    _kill_within(rng.uniform(0, seconds))
    keys = [f"fact/{n}" for n in range(FACTS)]
    for n in count():
        graph.invoke({})
        learn_again(store, rng, f"learn/{seed}/{n}")
        set_status(store, rng.sample(keys, 10), "active", f"back/{seed}/{n}")


def _kill_within(pause: float) -> None:
    """Kill this process after so many seconds."""

    def kill() -> None:
        time.sleep(pause)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
