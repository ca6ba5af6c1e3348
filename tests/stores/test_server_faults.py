"""PostgreSQL breaks connections, gives up or is busy: calls are tried again, or say what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from langmemory import MemoryStore
from langmemory.errors import DatabaseError
from langmemory.operations.maintaining import Maintaining
from langmemory.ports.jobs import NewJob
from tests import postgres_server
from tests.stores.change_sets import change_set, fact
from tests.waiting import until

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
    assert kill_all(store) >= 3
    assert store.get(NS, "a") is not None
    assert kill_all(store) >= 1
    store.put(NS, "b", {"text": "two"})
    assert len(store.search(NS)) == 2


def test_a_put_takes_two_ways_to_the_server(store: MemoryStore, tmp_path: Path) -> None:
    """The beginning of a transaction, its lock and the first questions are one message, the writes and the
    COMMIT another."""
    for number in range(8):  # so often until psycopg has prepared the statements
        store.put(NS, f"a{number}", {"text": "one"})
    with ExitStack() as stack:
        files = []
        for number, (raw, _) in enumerate(store._core.engine.database._pool._idle):  # type: ignore[attr-defined]
            files.append(stack.enter_context((tmp_path / str(number)).open("w+")))
            raw.pgconn.trace(files[-1].fileno())
            stack.callback(raw.pgconn.untrace)
        store.put(NS, "b", {"text": "two"})
    spoken = (Path(file.name).read_text() for file in files)
    [messages] = [one for one in spoken if '"two"' in one]  # others may count in the background
    answers = messages.split("ReadyForQuery\t I")
    assert len(answers[-2].split("ReadyForQuery")) == 2


def test_counts_stay_in_memory_until_they_can_be_written(store: MemoryStore) -> None:
    """What takes them out is not called while another client writes, so that a read does not miss them and
    a transaction that cannot begin does not lose them."""
    calls: list[object] = []
    with psycopg.connect(postgres_server.url(), autocommit=True) as raw:

        def waits() -> bool:
            found = raw.execute(
                "SELECT FROM pg_stat_activity WHERE application_name = %s AND wait_event_type = 'Lock'",
                (store._core.engine.schema,),  # type: ignore[attr-defined]
            )
            return found.fetchone() is not None

        with store._core.engine.write():
            store._core.write_later(calls.append)
            until(waits)
            assert not calls
    store._core.workers.close()  # waits for it
    assert len(calls) == 1


def test_a_write_that_loses_its_connection_is_written_once(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A put whose connection breaks before its commit is tried again, and is there once."""
    from langmemory.ledger import items

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


def test_a_commit_before_a_crash_is_not_taken_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that crashes gives the number of a transaction that was not on its disk to another one, whose
    commit proves nothing."""
    server, execute, forgotten = (
        postgres_server.OwnServer(),
        psycopg.Connection.execute,
        list[int](),
    )
    address = f"{server.url}&pool_timeout_seconds=5"

    def next_number() -> int:
        with psycopg.connect(server.url, autocommit=True) as raw:
            [number] = execute(raw, "SELECT pg_snapshot_xmax(pg_current_snapshot())").fetchone()  # type: ignore[misc]
        return int(str(number))

    def crashing(self: Any, query: Any, *args: Any, **options: Any) -> Any:
        if query != "COMMIT" or forgotten:
            return execute(self, query, *args, **options)
        self._pipeline.sync()
        number = int(execute(self, "SELECT pg_current_xact_id()").fetchone()[0])
        server.crash()
        if next_number() <= number:  # else it was on the disk already: the put is tried again
            forgotten.append(number)
            with MemoryStore(address, index=False) as other:
                while next_number() <= number:
                    other.put(NS, "b", {"text": "two"})
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    try:
        with psycopg.connect(server.url, autocommit=True) as raw:
            raw.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")  # only commits write the log
        server.crash()
        with MemoryStore(address, index=False) as store:
            for key in "bcdef":  # so that one writes less than a page of the log
                store.put(NS, key, {"text": "one"})
            monkeypatch.setattr(psycopg.Connection, "execute", crashing)
            with pytest.raises(DatabaseError, match="Look before you write it again"):
                store.put(NS, "a", {"text": "one"})
            assert store.get(NS, "a") is None
    finally:
        server.stop()


def test_a_deadlock_is_tried_again(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A put that PostgreSQL gives up for another transaction is tried again."""
    from langmemory.ledger import items

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


@contextmanager
def breaks_once() -> Iterator[None]:
    """The next commit does not reach the server: nothing of the transaction is written."""
    execute, broken = psycopg.Connection.execute, []

    def breaking(self: Any, query: Any, *args: Any, **options: Any) -> Any:
        if query == "COMMIT" and not broken:
            broken.append(True)
            self.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return execute(self, query, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", breaking)
        yield
    assert broken


def test_change_sets_and_imports_are_written_once(store: MemoryStore) -> None:
    """Applying, undoing, importing and deleting go through a connection that breaks at the end, and are
    done once."""
    with breaks_once():
        assert not store.changes.apply(change_set("r", fact("f", "tea"))).repeated
    assert [run.id for run in store.changes.runs()] == ["r"]
    with breaks_once():
        store.changes.undo("r")
    assert store.search(NS) == []
    assert len(store.changes.runs()) == 2
    store.put(NS, "a", {"text": "one"})
    rows = list(store.admin.export())
    with breaks_once():
        assert store.admin.delete_namespace(NS) == 1
    with breaks_once():
        assert store.admin.import_rows(rows) == 1
    assert [item.key for item in store.search(NS)] == ["a"]
    room = Maintaining(store)
    with breaks_once():
        room.take_lease("here:1", 60)
    with breaks_once():
        room.give_back_lease("here:1")


def test_jobs_are_claimed_and_finished_once(store: MemoryStore) -> None:
    """A worker whose connection breaks when it claims or finishes a job does that again."""
    job = NewJob(kind="test", lock="a", thread=None, payload={}, config={})
    with breaks_once():
        store.jobs.enqueue(job, lambda _: None).result()
    leases = store.jobs.leases
    with breaks_once():
        taken = leases.claim("test", "w", lease_us=60_000_000, max_attempts=3)
    assert taken is not None
    assert taken.attempts == 1
    with breaks_once():
        assert leases.renew([taken], 60_000_000) == []
    with breaks_once():
        assert leases.fail(taken, "out of tea", None) == "dead"
    with breaks_once():
        assert store.jobs.retry() == [taken.id]
    taken = leases.claim("test", "w", lease_us=60_000_000, max_attempts=3)
    assert taken is not None
    with breaks_once():
        assert leases.finish(taken, "done")
    assert store.jobs.counts() == {"done": 1}


def test_messages_are_sent_and_acknowledged_once(store: MemoryStore) -> None:
    """Agents whose connections break send one message, and are done with it once."""
    planner, writer = store.bus(NS, agent="planner"), store.bus(NS, agent="writer")
    with breaks_once():
        wanted = writer.subscribe(topic="tea")
    with breaks_once():
        sent = planner.share("the kettle is on", topic="tea")
    with breaks_once():
        assert [one.id for one in writer.inbox().items] == [sent.id]
    with breaks_once():
        assert writer.acknowledge([sent.id]) == (sent.id,)
    with breaks_once():
        assert planner.invalidate(sent.id, reason="it is off").state == "invalidated"
    with breaks_once():
        assert writer.unsubscribe(wanted.id)
    assert [one.type for one in writer.inbox().items] == ["invalidation"]


def test_reads_that_lose_their_connection_are_done_again(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Getting, searching, listing and recalling survive a connection that breaks among their statements."""
    from langmemory.engines.postgres.connection import Connection

    store.put(NS, "a", {"text": "the kettle is on"})
    execute, broken = Connection.execute, []

    def breaking(self: Any, *args: Any) -> Any:
        if not broken:
            broken.append(True)
            kill_own(self)
        return execute(self, *args)

    monkeypatch.setattr(Connection, "execute", breaking)
    reads = (
        lambda: store.get(NS, "a"),
        lambda: store.search(NS),
        lambda: store.list_namespaces(),
        lambda: store.recall("kettle", NS).results,
    )
    for read in reads:
        broken.clear()
        assert read()
        assert broken


def test_a_read_that_loses_its_connection_says_so(store: MemoryStore) -> None:
    """A snapshot that breaks in the middle is a clear error, and the next one works."""

    def read() -> None:
        with store._core.engine.read() as snapshot:
            kill_own(snapshot.connection)
            snapshot.connection.execute("SELECT count(*) FROM item").fetchone()

    with pytest.raises(DatabaseError, match=r"The connection to .* failed"):
        read()
    assert store.search(NS) == []


def test_a_server_that_is_gone_is_waited_for_once(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call waits for a server as long as the pool's timeout says, and not that long for each try."""
    tries = []

    def gone() -> None:
        tries.append(True)
        with store._core.engine.read():
            pass

    monkeypatch.setattr(store._core.engine.database.address, "pool_timeout_seconds", 0.0)  # type: ignore[attr-defined]
    monkeypatch.setattr(store._core.engine.database._pool, "connect", _refused)  # type: ignore[attr-defined]
    store._core.engine.database._pool.close_idle()  # type: ignore[attr-defined]
    with pytest.raises(DatabaseError, match="failed"):
        store._core.engine.retried(gone)
    assert len(tries) == 1


def _refused() -> Any:
    raise psycopg.OperationalError("connection refused")


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
