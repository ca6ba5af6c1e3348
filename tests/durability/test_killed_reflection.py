"""Processes killed in the middle of reflections lose no job, half-apply none and repeat none."""

from __future__ import annotations

import os
import time
from collections import Counter
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.engines.sqlite.engine import check
from langmemory.reflection import LocalReflectionExecutor
from tests.children import process_context
from tests.durability.reflections import (
    NAME,
    PEOPLE,
    TALLY,
    TURNS,
    messages,
    reflect_until_killed,
)
from tests.durability.writers import open_store

REFLECTIONS = int(os.environ.get("LANGMEMORY_REFLECTIONS", "200"))
PROCESSES = 2


def enqueue(store: MemoryStore) -> None:
    """Remember short threads of several people, and hand each over for reflection."""
    executor = LocalReflectionExecutor(print, store, name=NAME, lanes=0)
    for n in range(REFLECTIONS):
        namespace, thread = PEOPLE[n % len(PEOPLE)], f"t{n}"
        keys = store.remember(namespace, messages(thread), thread_id=thread)
        payload = {"namespace": list(namespace), "thread": thread, "keys": keys}
        executor.submit(payload, thread_id=thread)
    executor.shutdown()


def kill_until_done(path: Path, store: MemoryStore) -> int:
    """Let processes reflect, each of which is killed at a moment no code can foresee; how many were
    before the work was done."""
    context = process_context()
    begun = 0
    children: list[BaseProcess] = []
    deadline = time.monotonic() + 300
    while store.jobs.counts().get("done", 0) < REFLECTIONS:
        assert time.monotonic() < deadline, store.jobs.counts()
        children = [child for child in children if child.is_alive()]
        while len(children) < PROCESSES:
            child = context.Process(target=reflect_until_killed, args=(path, begun), daemon=True)
            child.start()
            children.append(child)
            begun += 1
        time.sleep(0.005)
    for child in children:
        child.kill()
        child.join()
    return begun - len(children)


@pytest.mark.thorough
def test_reflections_survive_kills(tmp_path: Path) -> None:
    """After dozens of SIGKILLs every job is done, every run is whole, none was applied twice, and
    the file agrees with itself. LANGMEMORY_REFLECTIONS=2000 for longer."""
    path = tmp_path / "memory.db"
    store = open_store(path)
    enqueue(store)
    assert store.jobs.counts() == {"pending": REFLECTIONS}
    kills = kill_until_done(path, store)

    jobs = store.jobs.listed(("done",), limit=REFLECTIONS + 1)
    assert store.jobs.counts() == {"done": REFLECTIONS}
    assert {job.result["run"] for job in jobs} == {f"reflect/t{n}" for n in range(REFLECTIONS)}
    again = sum(job.attempts - 1 for job in jobs)
    assert kills >= REFLECTIONS // 20, "the work was done before anything was killed"
    assert again >= kills // 4, "the kills did not fall into reflections"

    runs = Counter(run.id for run in store.changes.runs(limit=REFLECTIONS + 1))
    assert runs == dict.fromkeys((f"reflect/t{n}" for n in range(REFLECTIONS)), 1)
    with store._core.engine.read() as snapshot:
        assert check(snapshot.connection) == []

        def count(sql: str) -> int:
            return int(snapshot.connection.execute(sql).fetchone()[0])

        turns = REFLECTIONS * TURNS
        facts = "(SELECT id FROM item WHERE key LIKE 'fact/%')"
        assert count("SELECT count(*) FROM reflected") == turns
        assert count(f"SELECT count(*) FROM {facts}") == turns
        for table in ("evidence", "mention"):
            assert count(f"SELECT count(*) FROM {table} WHERE item IN {facts}") == turns
        assert count(f"SELECT count(*) FROM edge WHERE fact IN {facts}") == turns
        assert count(f"SELECT count(*) FROM history WHERE item IN {facts}") == turns
    for namespace in PEOPLE:
        tally = store.get(namespace, TALLY)
        assert tally is not None
        assert tally.value["count"] == REFLECTIONS // len(PEOPLE)
    store.close()
