"""Child processes of these tests: they write, search, and report acknowledged writes."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from langgraph.store.base import Op, PutOp

from langmemory import MemoryStore
from langmemory.embeddings.mock import MockEmbedder

NAMESPACE = ("durable",)
KEYS = 60
"""Few enough that puts overwrite and deletes hit."""

Values = dict[str, int | None]
"""Key → number put there; None: deleted."""


def open_store(path: Path) -> MemoryStore:
    embedder = MockEmbedder(dims=64).embeddings
    return MemoryStore(str(path), index={"dims": 64, "embed": embedder, "fields": ["text"]})


def value_of(key: str, n: int) -> dict[str, Any]:
    """A value whose text has a word of its own."""
    word = f"{key}x{n}"
    return {"text": f"note {word} was written down", "word": word, "n": n}


def ops_of(change: Values, namespace: tuple[str, ...]) -> list[Op]:
    return [
        PutOp(namespace, key, None if n is None else value_of(key, n)) for key, n in change.items()
    ]


def changes(seed: int) -> Iterator[Values]:
    """An endless mixture of single puts, batches and deletions."""
    rng = random.Random(seed)
    n = seed * 1_000_000
    while True:
        n += 1
        size = rng.choice((1, 1, 1, 20))
        keys = rng.sample(range(KEYS), size)
        deleted = rng.random() < 0.15
        yield {f"k{key}": None if deleted else n for key in keys}


def write_until_killed(path: Path, seed: int, pipe: Connection) -> None:
    """Announce a change, commit it, acknowledge it, until killed at some moment after the first few.
    The process kills itself: on a busy machine another would come too early, or too late."""
    rng = random.Random(seed)
    first, pause = rng.randint(1, 30), rng.uniform(0.0, 0.01)

    def kill() -> None:
        time.sleep(pause)
        os.kill(os.getpid(), signal.SIGKILL)

    store = open_store(path)
    for number, change in enumerate(changes(seed)):
        if number == first:
            threading.Thread(target=kill, daemon=True).start()
        pipe.send_bytes(json.dumps({"intent": change}).encode())
        store.batch(ops_of(change, NAMESPACE))
        pipe.send_bytes(json.dumps({"done": change}).encode())


def write_and_search(path: Path, name: str, seconds: float, pipe: Connection) -> None:
    """Write to a namespace of one's own, and find each write at once; then report what is there."""
    store = open_store(path)
    namespace = ("soak", name)
    state: Values = {}
    searches = 0
    deadline = time.monotonic() + seconds
    for change in changes(seed=ord(name[0])):
        store.batch(ops_of(change, namespace))
        state |= change
        key, n = next(iter(change.items()))
        if n is not None:
            found = store.search(("soak",), query=f"{key}x{n}", limit=5)
            assert (namespace, key, n) in {(i.namespace, i.key, i.value["n"]) for i in found}
            searches += 1
        if time.monotonic() > deadline and searches > 10:  # on a busy machine it takes longer
            break
    pipe.send({"state": state, "searches": searches})
    store.close()
