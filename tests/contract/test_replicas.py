"""Several machines on one PostgreSQL database: whose clock counts, who works, who is told."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

pytest.importorskip("psycopg", reason="the extra postgres is not installed")

from langmemory import MemoryStore
from langmemory.engines.postgres import Engine
from langmemory.engines.sql.rooms import jobs as jobs_room
from langmemory.errors import MaintenanceBusyError
from langmemory.ports.jobs import NewJob
from langmemory.stores.rooms import Maintaining
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
def off(monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    """The clock of this machine is an hour fast, but for that of the server."""
    right = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: right() + HOUR_US * 1_000)
    yield right() / 1e9


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
