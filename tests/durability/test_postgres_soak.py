"""Many clients of one PostgreSQL server, killed and restarted among them."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the extra postgres is not installed")

from langmemory import MemoryStore
from tests.durability.postgres_clients import (
    FACTS,
    KIND,
    OVER,
    TALLY,
    Log,
    follow,
    lines,
    open_store,
    told,
    work,
)
from tests.postgres_server import OwnServer

pytestmark = pytest.mark.thorough

SECONDS = float(os.environ.get("LANGMEMORY_SOAK_SECONDS", 20))
PROCESSES, CLIENTS = 4, 4
KILLS = max(round(SECONDS / 4), 3)
"""30 in two minutes."""
RESTARTS = 3 if SECONDS >= 60 else 1


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OwnServer]:
    server = OwnServer()
    yield server
    server.stop()


def test_clients_outlast_kills_and_crashes(server: OwnServer, tmp_path: Path) -> None:
    """Four processes of four clients each write, work and follow the feed, while they are killed and the
    server crashes. Every acknowledged write is there, no change set is there in half, every job was done
    once, and every subscriber has heard every event once, in order.
    LANGMEMORY_SOAK_SECONDS=120: two minutes, 30 kills and three crashes."""
    address = f"{server.url}&schema=soak"
    open_store(address).close()
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.durability.postgres_clients"])
    rng = random.Random(0)
    lives, children = 0, dict[int, BaseProcess]()

    def start(number: int) -> None:
        nonlocal lives
        lives += 1
        arguments = (address, tmp_path, number, lives, CLIENTS)
        children[number] = context.Process(target=work, args=arguments, daemon=True)
        children[number].start()

    for number in range(PROCESSES):
        start(number)
    begun_at = time.time()
    times = [(begun_at + SECONDS * (n + 0.7) / (KILLS + 1), "kill") for n in range(KILLS)]
    times += [(begun_at + SECONDS * (n + 1) / (RESTARTS + 1), "crash") for n in range(RESTARTS)]
    for moment, what in sorted(times):
        time.sleep(max(moment - time.time(), 0))
        if what == "crash":
            server.crash()
            continue
        number = rng.randrange(PROCESSES)
        child = children[number]
        child.kill()
        child.join()
        assert child.exitcode == -signal.SIGKILL, "it had ended by itself"
        start(number)
    time.sleep(max(begun_at + SECONDS - time.time(), 0))
    (tmp_path / OVER).touch()
    for child in children.values():
        child.join(120)
        assert child.exitcode == 0, child.exitcode

    errors = Counter(tuple(one) for one in lines(tmp_path / "errors"))
    assert not [one for one in errors if one[0] == "unexpected"], errors
    with open_store(address) as store:
        logs = {path.stem: lines(path) for path in tmp_path.glob("*.client")}
        assert len(logs) == PROCESSES * CLIENTS
        check_items(store, logs)
        check_turns(store, logs)
        check_facts(store, logs)
        check_jobs(store, logs, tmp_path)
        events = check_followers(store, tmp_path)
        assert store.admin.check() == []
    done = Counter(kind for log in logs.values() for state, kind, _ in log if state == "done")
    print(
        f"\n{PROCESSES} processes, {PROCESSES * CLIENTS} clients, {SECONDS:.0f} s, {KILLS} kills, "
        f"{RESTARTS} crashes: acknowledged {dict(done)}, {events} events to {PROCESSES} subscribers; "
        f"tried again {sum(n for one, n in errors.items() if one[0] == 'retried')}, "
        f"answers lost {sum(n for one, n in errors.items() if one[0] == 'given up')}"
    )
    assert done.keys() == {"put", "remember", "apply", "enqueue"}


def all_of(store: MemoryStore, place: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while page := store.search(place, limit=1_000, offset=len(found)):
        found |= {one.key: one.value for one in page}
    return found


def check_items(store: MemoryStore, logs: dict[str, list[Any]]) -> None:
    """Each item is as the last acknowledged write left it, or as a later one whose answer nobody got."""
    for name, log in logs.items():
        found = {key: value["n"] for key, value in all_of(store, ("soak", "items", name)).items()}
        may_be: dict[str, set[int | None]] = {}
        for state, kind, values in log:
            if kind == "put":
                for key, n in values.items():
                    may_be[key] = {n} if state == "done" else may_be.get(key, {None}) | {n}
        for key, options in may_be.items():
            assert found.get(key) in options, (name, key, found.get(key), options)
        for state, kind, values in log:  # of a batch all or nothing
            if kind == "put" and state == "begun":
                there = {found.get(key) == n for key, n in values.items() if may_be[key] >= {n}}
                assert len(there) < 2 or any(len(may_be[key]) > 1 for key in values)


def check_turns(store: MemoryStore, logs: dict[str, list[Any]]) -> None:
    """Each acknowledged turn is there, and none twice."""
    for name, log in logs.items():
        said = [one["content"] for one in all_of(store, ("soak", "turns", name)).values()]
        begun, done = ids(log, "remember")
        assert len(said) == len(set(said))
        assert {f"turn {n} of {name}" for n in done} <= set(said)
        assert set(said) <= {f"turn {n} of {name}" for n in begun}


def check_facts(store: MemoryStore, logs: dict[str, list[Any]]) -> None:
    """Each acknowledged change set is there whole, and no other in part; so are their runs."""
    for name, log in logs.items():
        place = ("soak", "facts", name)
        found = Counter(int(key.split("-")[0]) for key in all_of(store, place))
        begun, done = ids(log, "apply")
        assert done <= found.keys() <= begun
        assert set(found.values()) <= {FACTS}
        runs = {run.id for run in store.changes.runs(place, limit=100_000)}
        assert runs == {f"soak/{n}" for n in found}


def ids(log: list[Any], kind: str) -> tuple[set[int], set[int]]:
    """Return which of a kind were begun, and which are acknowledged."""
    begun = {n for state, one, n in log if one == kind and state == "begun"}
    return begun, {n for state, one, n in log if one == kind and state == "done"}


def check_jobs(store: MemoryStore, logs: dict[str, list[Any]], folder: Path) -> None:
    """Each acknowledged job was done, none twice, and of a lock never two at a time."""
    assert store.jobs.counts().keys() == {"done"}
    acknowledged = {n for log in logs.values() for n in ids(log, "enqueue")[1]}
    begun = {n for log in logs.values() for n in ids(log, "enqueue")[0]}
    done: set[int] = set()
    for place in store.list_namespaces(prefix=("soak", "jobs"), limit=1_000):
        found = all_of(store, place)
        assert found.pop(TALLY)["count"] == len(found), place
        done |= {int(key) for key in found}
    assert acknowledged <= done <= begun
    page, finished = store.feed.read(types=["job"], limit=1_000_000), Counter[str]()
    finished.update(one.id for one in page.events if one.action == "done" and one.kind == KIND)
    assert set(finished.values()) == {1}
    assert len(finished) == len(done)
    attempts = [one for path in folder.glob("*.worker") for one in lines(path)]
    starts = {
        (job, attempt): (lock, at) for state, job, lock, attempt, at in attempts if state == "begun"
    }
    ends = {(job, attempt): at for state, job, _, attempt, at in attempts if state == "ended"}
    assert len(starts) == sum(state == "begun" for state, *_ in attempts), (
        "an attempt was taken twice"
    )
    for lock in {lock for lock, _ in starts.values()}:
        spans = sorted(
            (at, ends[one]) for one, (of, at) in starts.items() if of == lock and one in ends
        )
        assert all(first[1] <= second[0] for first, second in pairwise(spans)), lock


def check_followers(store: MemoryStore, folder: Path) -> int:
    """Each subscriber, however often it was killed, has heard all there is, in order; how many events."""
    truth: list[Any] = []
    cursor, more = None, True
    while more:
        page = store.feed.read(after=cursor, limit=1_000)
        truth += [told(one) for one in page.events]
        cursor, more = page.next, page.more
    over = threading.Event()
    over.set()
    for path in folder.glob("*.follower"):
        follow(store, path, over, Log(folder / "errors"))  # what came after its process had ended
        heard = [event for _, events in lines(path) for event in events]
        for memories in (True, False):  # each kind in order; the two are told by time
            ours, all_ = (
                [one for one in events if (one[0] == "memory") == memories]
                for events in (heard, truth)
            )
            missed = [one for one in all_ if one not in ours]
            assert ours == all_, (path, len(ours), len(all_), missed[:5])
    return len(truth)
