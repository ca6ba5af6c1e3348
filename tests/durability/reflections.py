"""Child processes of the reflection test: they reflect threads until they are killed."""

from __future__ import annotations

import logging
import os
import random
import signal
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langmemory import MemoryStore
from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    ChangeSet,
    MarkReflected,
    UpdateMemory,
)
from langmemory.reflection import LocalReflectionExecutor, WorkOptions
from tests.durability.writers import open_store

NAME = "reflect"
PEOPLE = tuple(("memories", f"p{n}") for n in range(5))
TURNS = 2
"""Turns of a thread."""
TALLY = "tally"
"""A memory of each person that counts the reflections: one applied twice would be seen."""

QUICK = WorkOptions(
    max_attempts=1_000, retry_initial_seconds=0.02, lease_seconds=0.3, poll_seconds=0.02
)
SAID_AT = datetime(2026, 3, 1, tzinfo=UTC)


def messages(thread: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": f"turn {n} of {thread}", "id": f"{thread}-{n}", "at": SAID_AT}
        for n in range(TURNS)
    ]


def plan(store: MemoryStore, namespace: tuple[str, ...], thread: str, keys: list[str]) -> ChangeSet:
    """A fact for each turn, with evidence, entity and edge, and one more on the tally."""
    tally = store.get(namespace, TALLY)
    changes: list[Change] = [AddEntity(key="person", name="Anna", kind="person")]
    for key in keys:
        fact = f"fact/{key}"
        value = {"text": f"Anna said {key}"}
        changes.append(AddMemory(key=fact, value=value, evidence=(key,), mentions=("person",)))
        changes.append(AddEdge(fact=fact, subject="person", relation="said", literal=key))
    count = 0 if tally is None else tally.value["count"]
    value = {"text": f"{count + 1} reflections", "count": count + 1}
    if tally is None:
        changes.append(AddMemory(key=TALLY, value=value))
    else:
        changes.append(UpdateMemory(key=TALLY, value=value))
    return ChangeSet(
        namespace=namespace,
        run_id=f"reflect/{thread}",
        kind="reflection",
        reason=thread,
        changes=(*changes, MarkReflected(keys=tuple(keys))),
    )


def reflect_until_killed(path: Path, seed: int) -> None:
    """Take jobs from the queue, as slowly as a model would now and then, and be killed at some moment
    after the first few. The process kills itself: on a busy machine another would come too late."""
    logging.disable()  # lost leases are meant
    rng = random.Random(seed)
    store = open_store(path)

    def reflect(payload: dict[str, Any]) -> dict[str, Any]:
        begun.append(payload["thread"])
        if len(begun) >= fatal:
            threading.Thread(target=kill, daemon=True).start()
        time.sleep(rng.choice((0, 0.002, 0.02)))
        namespace = tuple(payload["namespace"])
        changes = plan(store, namespace, payload["thread"], payload["keys"])
        time.sleep(rng.choice((0, 0.002, 0.02)))
        applied = store.changes.apply(changes)
        time.sleep(rng.choice((0, 0.002, 0.02)))
        return {"run": applied.run_id, "repeated": applied.repeated}

    def kill() -> None:
        time.sleep(rng.uniform(0.0, 0.05))
        os.kill(os.getpid(), signal.SIGKILL)

    begun: list[str] = []
    fatal = rng.randint(3, 15)
    LocalReflectionExecutor(reflect, store, name=NAME, lanes=2, options=QUICK)
    time.sleep(600)
