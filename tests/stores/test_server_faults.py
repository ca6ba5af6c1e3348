"""PostgreSQL breaks connections, gives up or is busy: calls are tried again, or say what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from langmemory import MemoryStore
from langmemory.errors import DatabaseError
from tests import postgres_server

psycopg = pytest.importorskip("psycopg")

pytestmark = pytest.mark.thorough

NS = ("faults",)


@pytest.fixture
def address() -> Iterator[str]:
    found = postgres_server.fresh()
    yield found
    postgres_server.drop(found)


@pytest.fixture
def store(address: str) -> Iterator[MemoryStore]:
    options = f"&pool_timeout_seconds=5&application_name={address.rpartition('=')[2]}"
    with MemoryStore(address + options, index=False) as opened:
        yield opened


def kill_all(store: MemoryStore) -> int:
    """End every connection of a store, as a restart of the server does; return how many."""
    with psycopg.connect(postgres_server.url(), autocommit=True) as raw:
        ended = raw.execute(
            "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE application_name = %s",
            (store._core.engine.schema,),  # type: ignore[attr-defined]
        )
        return len(ended.fetchall())


def kill_own(connection: Any) -> None:
    """End the server's side of a connection that is in a transaction."""
    with psycopg.connect(postgres_server.url(), autocommit=True) as raw:
        process = connection.raw.info.backend_pid
        raw.execute("SELECT pg_terminate_backend(%s, 1000)", (process,))


def test_idle_connections_that_broke_are_replaced(store: MemoryStore) -> None:
    """After the server has ended every connection, the next reads and writes work."""
    store.put(NS, "a", {"text": "one"})
    engine = store._core.engine
    with engine.read(), engine.read(), engine.read():  # so many are idle then
        pass
    assert kill_all(store) == 3
    assert store.get(NS, "a") is not None
    assert kill_all(store) == 1
    store.put(NS, "b", {"text": "two"})
    assert len(store.search(NS)) == 2


def test_a_write_that_loses_its_connection_is_written_once(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A put whose connection breaks before its commit is tried again, and is there once."""
    from langmemory.engines.sql.records import items

    put, broken = items.put, []

    def breaking(connection: Any, *args: Any, **options: Any) -> Any:
        found = put(connection, *args, **options)
        if not broken:
            broken.append(True)
            connection.flush()
            kill_own(connection)
        return found

    monkeypatch.setattr(items, "put", breaking)
    store.put(NS, "a", {"text": "one"})
    assert broken
    assert len(store.changes.history(NS, "a")) == 1
    assert store.get(NS, "a") is not None


@pytest.mark.parametrize("committed", [True, False])
def test_a_commit_without_an_answer_is_looked_up(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    """Where a connection breaks during a commit, the server is asked: written, or written again."""
    execute, broken = psycopg.Connection.execute, []

    def breaking(self: Any, query: Any, *args: Any, **options: Any) -> Any:
        if query == "COMMIT" and not broken:
            broken.append(True)
            if committed:
                execute(self, query)
                self._pipeline.sync()
            self.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return execute(self, query, *args, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", breaking)
    store.put(NS, "a", {"text": "one"})
    assert broken
    assert len(store.changes.history(NS, "a")) == 1


def test_a_commit_on_another_server_is_not_guessed(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a standby took over meanwhile, its transaction of the same number proves nothing."""
    execute, broken = psycopg.Connection.execute, []

    def breaking(self: Any, query: Any, *args: Any, **options: Any) -> Any:
        if query == "COMMIT" and not broken:
            broken.append(True)
            self.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return execute(self, query, *args, **options)

    store._core.engine.database._timeline = "00000000"  # type: ignore[attr-defined]
    monkeypatch.setattr(psycopg.Connection, "execute", breaking)
    with pytest.raises(DatabaseError, match="Look before you write it again"):
        store.put(NS, "a", {"text": "one"})
    assert store.get(NS, "a") is None


def test_a_deadlock_is_tried_again(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A put that PostgreSQL gives up for another transaction is tried again."""
    from langmemory.engines.sql.records import items

    put, tries = items.put, []

    def refused(connection: Any, *args: Any, **options: Any) -> Any:
        tries.append(True)
        if len(tries) < 3:
            connection.raw.execute("DO $$ BEGIN RAISE deadlock_detected; END $$")
            connection.flush()
        return put(connection, *args, **options)

    monkeypatch.setattr(items, "put", refused)
    store.put(NS, "a", {"text": "one"})
    assert len(tries) == 3
    assert len(store.changes.history(NS, "a")) == 1


def test_a_read_that_loses_its_connection_says_so(store: MemoryStore) -> None:
    """A snapshot that breaks in the middle is a clear error, and the next one works."""

    def read() -> None:
        with store._core.engine.read() as snapshot:
            kill_own(snapshot.connection)
            snapshot.connection.execute("SELECT count(*) FROM item").fetchone()

    with pytest.raises(DatabaseError, match=r"The connection to .* failed"):
        read()
    assert store.search(NS) == []


def test_a_full_pool_says_how_to_get_more(address: str) -> None:
    """When every connection is in use for longer than the pool's timeout, the error names both limits."""
    with MemoryStore(f"{address}&pool_size=2&pool_timeout_seconds=0.2", index=False) as store:
        engine = store._core.engine
        with engine.read(), engine.read(), pytest.raises(DatabaseError) as raised:
            store.get(NS, "a")
        assert "All 2 connections of this process" in str(raised.value)
        assert "0.2 seconds" in str(raised.value)
        assert "pool_size=N" in str(raised.value)
        assert store.get(NS, "a") is None


def test_stores_on_one_address_share_their_connections(address: str) -> None:
    """A store that is opened in each thread takes no more connections than one, and outlives the others."""
    with MemoryStore(address, index=False) as first:
        second = MemoryStore(address, index=False)
        assert first._core.engine.database._pool is second._core.engine.database._pool  # type: ignore[attr-defined]
        second.close()
        first.put(NS, "a", {"text": "one"})
        assert first.get(NS, "a") is not None


def test_no_server_is_told_without_the_password() -> None:
    """Where nothing listens, the error names the address without its password."""
    with pytest.raises(DatabaseError, match="failed") as raised:
        MemoryStore("postgresql://ann:hush@127.0.0.1:9/app")
    assert "postgresql://127.0.0.1:9/app?schema=langmemory" in str(raised.value)
    assert "hush" not in str(raised.value)
