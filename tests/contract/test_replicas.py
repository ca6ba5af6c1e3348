"""Several machines on one PostgreSQL database: whose clock counts, who works, who is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the extra postgres is not installed")

import psycopg

from langmemory import MemoryStore
from langmemory.addresses import Address
from langmemory.errors import MaintenanceBusyError
from langmemory.ledger import items
from langmemory.ledger.forgetting import erase
from langmemory.ledger.items import Write
from langmemory.operations.maintaining import Maintaining
from langmemory.ports.jobs import NewJob
from langmemory.reflection import Worker, WorkOptions
from tests import postgres_server

pytestmark = pytest.mark.thorough

HOUR_US = 3_600_000_000
LEASE_US = 60_000_000


@pytest.fixture
def address() -> Iterator[str]:
    address = postgres_server.fresh()
    yield address
    postgres_server.drop(address)


@pytest.fixture
def off(monkeypatch: pytest.MonkeyPatch) -> float:
    """The clock of this machine is an hour fast, but for that of the server."""
    right = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: right() + HOUR_US * 1_000)
    return right() / 1e9


def job(lock: str = "a") -> NewJob:
    return NewJob(kind="test", lock=lock, thread=None, payload={}, config={})


def test_a_machine_whose_clock_is_wrong_goes_by_the_clock_of_the_server(
    address: str, off: float
) -> None:
    """What it writes bears the time of the server, and its leases end by it."""
    with MemoryStore(address, index=False) as store:
        store.put(("a",), "k", {"text": "tea"})
        item = store.get(("a",), "k")
        assert item is not None
        assert abs(item.created_at.timestamp() - off) < 60
        assert abs(store.jobs.clock() / 1e6 - off) < 60
        store.jobs.enqueue(job(), lambda _: None).result()
        taken = store.jobs.leases.claim("test", "w", lease_us=LEASE_US, max_attempts=3)
        assert taken is not None
        assert taken.lease_until is not None
        assert abs(taken.lease_until.timestamp() - off - 60) < 60


def test_leases_of_two_machines_are_compared_by_one_clock(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine whose clock is an hour fast does not take the job that another one has."""
    with MemoryStore(address, index=False) as right:
        right.jobs.enqueue(job(), lambda _: None).result()
        assert right.jobs.leases.claim("test", "w", lease_us=LEASE_US, max_attempts=3)
        own = time.time_ns
        monkeypatch.setattr(time, "time_ns", lambda: own() + HOUR_US * 1_000)
        with MemoryStore(address, index=False) as fast:
            assert fast.jobs.leases.claim("test", "v", lease_us=LEASE_US, max_attempts=3) is None


def test_a_dry_run_and_a_write_elsewhere_take_turns(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one machine writes during another's dry run waits for it, and neither fails."""
    spaces, erased = ("a",), erase.erase
    with (
        MemoryStore(address, index=False) as store,
        MemoryStore(address, index=False) as other,
        ThreadPoolExecutor(1) as thread,
    ):
        store.put(spaces, "k", {"text": "tea"})
        writing = []

        def meanwhile(*args: Any) -> Any:
            writing.append(thread.submit(other.put, spaces, "k", {"text": "tea and cake"}))
            waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            while not writing[0].done() and store.conn.execute(waiting).fetchone() == (0,):
                time.sleep(0.01)
            return erased(*args)

        monkeypatch.setattr(erase, "erase", meanwhile)
        assert store.forget(spaces, everything=True, dry_run=True).memories == 1
        writing[0].result(30)
        found = store.get(spaces, "k")
        assert found is not None
        assert found.value == {"text": "tea and cake"}


def test_one_machine_maintains_at_a_time(address: str) -> None:
    """Who maintains is refused to another machine, until it gives the lease back or lets it run out."""
    with MemoryStore(address, index=False) as store:
        room = Maintaining(store)
        room.take_lease("elsewhere:1", 3_600)
        with pytest.raises(MaintenanceBusyError):
            room.take_lease("here:1", 60)
        room.give_back_lease("elsewhere:1")
        room.take_lease("dead:1", -1)
        room.take_lease("here:1", 60)


def test_jobs_of_one_lock_are_claimed_one_at_a_time_by_many(address: str) -> None:
    """Of workers that claim at the same moment each gets a job of its own, and of one lock only one."""
    with MemoryStore(address, index=False) as store:
        for lock in ("a", "a", "b", "c"):
            store.jobs.enqueue(job(lock), lambda _: None).result()
        others = [MemoryStore(address, index=False) for _ in range(3)]
        with ThreadPoolExecutor(12) as threads:
            claims = list(
                threads.map(
                    lambda n: others[n % 3].jobs.leases.claim(
                        "test", f"w{n}", lease_us=LEASE_US, max_attempts=3
                    ),
                    range(12),
                )
            )
        assert sorted(one.lock for one in claims if one is not None) == ["a", "b", "c"]
        for other in others:
            other.close()


def test_a_subscriber_misses_nothing_of_writers_that_overlap(address: str) -> None:
    """What a writer has begun and not committed is not passed over: it is told before what came later."""
    with MemoryStore(address, index=False) as first, MemoryStore(address, index=False) as second:
        first.put(("a",), "zero", {"text": "tea"})
        cursor = first.feed.end()
        never = threading.Event()
        one = Write(namespace=("a",), key="one", value="{}", leaves=set())
        engine = first._core.engine
        with ThreadPoolExecutor(1) as threads:
            with engine.write() as connection:
                items.put(connection, [one], first._core.now_us())
                connection.flush()
                later = threads.submit(second.put, ("a",), "two", {"text": "tea"})
                never.wait(0.2)
                page = second.feed.read(after=cursor)
                assert page.events == ()
            later.result()
        page = second.feed.read(after=page.next)
        assert [one.id for one in page.events] == ["one", "two"]


def test_a_worker_is_woken_by_another_machine(address: str) -> None:
    """A worker that looks once an hour begins at once what another machine queued; also after its
    connection was lost."""
    with MemoryStore(address, index=False) as here, MemoryStore(address, index=False) as there:
        done: Queue[int] = Queue()
        worker = Worker(
            here.jobs,
            lambda one: done.put(one.id),
            kind="test",
            options=WorkOptions(poll_seconds=3_600),
        )
        worker.start()
        for _ in range(2):
            there.jobs.enqueue(job(), lambda _: None).result()
            done.get(timeout=60)
            with psycopg.connect(Address(address).url, autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%%' "
                    "OR query LIKE '%%langmemory_%%' AND pid <> pg_backend_pid()"
                )
        worker.stop()
