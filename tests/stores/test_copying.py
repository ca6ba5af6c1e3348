"""Copying a memory: everything comes along, between any two places, whatever happens on the way."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore

from langmemory.citing import digest
from langmemory.context.citations import Usage
from langmemory.engines.sqlite.indexes import IndexedConnection
from langmemory.errors import ConfigError, DatabaseError
from langmemory.ledger.tables.schema import tables
from langmemory.ledger.transfer import transfer
from langmemory.ports.jobs import NewJob
from langmemory.stores import MemoryStore, copy
from tests import postgres_server
from tests.children import ended
from tests.lifecycle.test_archive import learn, move, put_away
from tests.lifecycle.test_nights import ADA
from tests.stores.test_transfer import NS, contents, derive, fill, histories
from tests.stores_in_use import index, loadable_sqlite

pytestmark = pytest.mark.sqlite  # which of the two places is a server, these tests say themselves

SAID = "I planted olives and lemons beside the old well"
FORGOTTEN = "zanzibarquince"

Place = Callable[[str], str]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Return an address: of a file for a name with an ending, else of a schema, which goes afterwards."""
    schemas: dict[str, str] = {}

    def at(name: str) -> str:
        if name.endswith(".db"):
            return str(tmp_path / name)
        return schemas.setdefault(name, postgres_server.fresh())

    yield at
    for address in schemas.values():
        postgres_server.drop(address)


WAYS = [
    ("a.db", "b.db"),
    pytest.param("a.db", "b", marks=pytest.mark.thorough),
    pytest.param("a", "b.db", marks=pytest.mark.thorough),
    pytest.param("a", "b", marks=pytest.mark.thorough),
]
ways = pytest.mark.parametrize(("source", "target"), WAYS)


def live(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bit of everything; return a token."""
    fill(store, monkeypatch)
    monkeypatch.undo()
    derive(store)
    store.remember(NS, [("user", SAID), ("ai", "Good luck with them")], thread_id="garden")
    store.remember(NS, [("user", FORGOTTEN)], thread_id="other")
    store.put(NS, "rule", {"text": "Never mention work", "priority": "mandate"})
    store.put((*NS, "core"), "persona", {"text": "You are brief"})
    [told] = [one.key for one in store.search(NS, limit=99) if FORGOTTEN in str(one.value)]
    store.forget(NS, keys=[told])
    store.admin.count_usage(
        [
            Usage(
                namespace=list(NS), key="f2", loaded=3, referenced=2, succeeded=1, read_tokens=9,
                discovery_tokens=9, matched=1, relevance=0.5, cited_at_us=1_790_000_000_000_000,
            )
        ]
    )  # fmt: skip
    job = NewJob(kind="reflect", lock="users.maria", thread="t", payload={"n": 1}, config={})
    store.jobs.enqueue(job, lambda noted: None).result()
    store.bus(NS, agent="writer").subscribe(topic="garden")
    store.bus(NS, agent="planner").share("The olives need water", topic="garden")
    _, token = store.tokens.create(viewer="maria", namespaces=[NS])
    return token


def state(store: MemoryStore) -> list[Any]:
    """What can be seen of a store."""
    found = store.admin.memories(limit=99, past=True)
    return [
        contents(store), histories(store), [replace(one, id=0) for one in found],
        store.changes.reviews(open_only=False), store.changes.runs(limit=99),
        store.jobs.listed(), store.tokens.listed(), store.graph(NS).entities(),
        [one.summary for one in store.bus(NS, agent="writer").inbox().items],
        [[named.key for named in store._conversing.labelled(NS, digest(NS, one.key))] for one in found],
        [(one.memory.key, round(one.score, 4)) for one in
         store.recall("olives beside the well", namespace=NS, counted=False)],
    ]  # fmt: skip


@ways
def test_everything_comes_along(
    place: Place, source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy has the same memories, short ids, histories, runs, reviews, jobs, messages, tokens and answers;
    it is sound, and goes on as the source would: runs are undone, forgotten things do not come back."""
    with MemoryStore(place(source)) as store:
        token = live(store, monkeypatch)
        before = state(store)
    copied = copy(place(source), place(target))
    assert copied.memories == len(before[2])
    assert copied.vectors >= 10 <= copied.recalls
    with MemoryStore(place(target)) as there, MemoryStore(place(source)) as here:
        assert state(there) == before
        assert there.admin.check() == []
        assert there.stats().keywords == here.stats().keywords
        assert there.tokens.verified(token) is not None
        for one in (here, there):
            one.changes.decide("q1", "stay")
            one.changes.undo("r3")
            assert one.remember(NS, [("user", FORGOTTEN)], thread_id="other") == []
            one.put(NS, "new", {"text": "a new one"})
        keys = [[one.key for one in each.admin.memories(limit=99)] for each in (here, there)]
        assert keys[0] == keys[1]
        assert there.admin.check() == []


def test_every_table_is_copied() -> None:
    """Each table of the schema is in the export or is copied as it is, but for what is made anew."""
    anew = {table.name for table in tables() if not (table.exported or table.copied)}
    assert anew == {"lease", "stale_page", "progress", "archived_item", "activity", "prompt"}


class Stopped(Exception):
    """Raised in the middle of a copy."""


def after(pieces: int) -> Callable[[int, int], None]:
    """Return a progress that stops the copy once so many pieces are done."""
    seen: list[int] = []

    def stop(done: int, total: int) -> None:
        seen.append(done)
        if len(seen) == pieces:
            raise Stopped

    return stop


@ways
def test_a_copy_that_was_stopped_goes_on(
    place: Place, source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is whole nothing opens it, and an error says what finishes it; the next run does no
    piece again that is done, and ends in the same."""
    monkeypatch.setattr(transfer, "BATCH", 2)
    with MemoryStore(place(source)) as store:
        live(store, monkeypatch)
        before = state(store)
    monkeypatch.setattr(transfer, "BATCH", 2)
    for pieces in (2, 3, 5):
        with pytest.raises(Stopped):
            copy(place(source), place(target), progress=after(pieces))
        with pytest.raises(DatabaseError, match=r"unfinished copy of .*langmemory copy"):
            MemoryStore(place(target))
        with pytest.raises(DatabaseError, match="is itself an unfinished copy"):
            copy(place(target), place("further.db"))
    copy(place(source), place(target))
    with MemoryStore(place(target)) as there:
        assert state(there) == before
        assert there.admin.check() == []


@ways
def test_a_source_that_changed_between_two_runs_is_found_out(
    place: Place, source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was forgotten since the first run is in no copy that is opened: it stays unfinished."""
    with MemoryStore(place(source)) as store:
        live(store, monkeypatch)
        [turn] = store.remember(NS, [("user", "the secret is wombatparsley")], thread_id="garden")
        monkeypatch.setattr(transfer, "BATCH", 2)
        with pytest.raises(Stopped):
            copy(place(source), place(target), progress=after(9))
        store.forget(NS, keys=[turn])
        with pytest.raises(DatabaseError, match="stays unfinished: the source changed"):
            copy(place(source), place(target))
        with pytest.raises(DatabaseError, match="unfinished copy"):
            MemoryStore(place(target))
        copy(place(source), place(f"anew-{target}"))


@ways
def test_a_source_may_be_written_meanwhile(
    place: Place, source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy is that of the moment in which it began."""
    monkeypatch.setattr(transfer, "BATCH", 2)
    with MemoryStore(place(source)) as store:
        store.remember(NS, [("user", f"{SAID} {n}") for n in range(20)], thread_id="t")
        before = contents(store)

        def write(done: int, total: int) -> None:
            store.put(NS, f"meanwhile {done}", {"text": "not yet"})

        copy(place(source), place(target), progress=write)
    with MemoryStore(place(target)) as there:
        assert contents(there) == before


def test_a_target_that_is_not_empty_is_refused(place: Place) -> None:
    """Neither a memory with something in it nor the unfinished copy of another one is written to, nor
    the source itself."""
    for name in ("a.db", "b.db", "c.db"):
        with MemoryStore(place(name)) as store:
            store.put(NS, "k", {"text": name})
    with pytest.raises(DatabaseError, match=r"b\.db is not empty: it has rows in namespace, path"):
        copy(place("a.db"), place("b.db"))
    with pytest.raises(ConfigError, match="is the same place as"):
        copy(place("a.db"), place("a.db"))
    with pytest.raises(Stopped):
        copy(place("a.db"), place("new.db"), progress=after(1))
    with pytest.raises(DatabaseError, match=r"is an unfinished copy of .*a\.db"):
        copy(place("c.db"), place("new.db"))
    with pytest.raises(DatabaseError, match="does not exist"):
        copy(place("nothing.db"), place("new.db"))
    Path(place("other.db")).write_bytes(b"")
    with pytest.raises(DatabaseError, match="no memory of langmemory and no store"):
        copy(place("other.db"), place("new.db"))


def test_a_target_without_vectors_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors are not lost on the way: a database that cannot hold them is refused."""
    with MemoryStore(place("a.db")) as store:
        store.put(NS, "k", {"text": "olives"})
    monkeypatch.setattr(IndexedConnection, "holds_vectors", lambda self: False)
    with pytest.raises(DatabaseError, match=r"has 1 vector, and .* no extension vector"):
        copy(place("a.db"), place("b.db"))


def test_a_source_that_is_seen_in_part_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A role that sees the memories of one viewer makes no copy that looks like a whole one."""
    with MemoryStore(place("a.db")) as store:
        store.put(NS, "k", {"text": "olives"})
    monkeypatch.setattr("langmemory.engines.sqlite.Engine.filtered", True)
    with pytest.raises(DatabaseError, match="may not see all of it"):
        copy(place("a.db"), place("b.db"))


@pytest.mark.thorough
def test_a_role_that_may_only_read_is_copied(place: Place) -> None:
    """From a server that cannot be written to, such as a replica, everything is copied. Once it can be, an
    open store writes."""
    import psycopg

    source, role = place("a"), f"copies_{os.getpid()}"
    schema = source.rpartition("schema=")[2]
    with psycopg.connect(postgres_server.url(), autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN".encode())
        try:
            with MemoryStore(source) as store:
                store.put(NS, "f1", {"text": SAID})
            admin.execute(
                f"GRANT USAGE ON SCHEMA {schema} TO {role}; "
                f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}; "
                f"GRANT SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}".encode()
            )
            only = re.sub(r"//[^/]*@", f"//{role}@", source, count=1)
            with MemoryStore(only) as reader:
                with pytest.raises(DatabaseError, match="only read"):
                    reader.put(NS, "f2", {"text": SAID})
                assert copy(only, place("b.db")).memories == 1
                admin.execute(
                    f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}; "
                    f"GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO {role}".encode()
                )
                reader.put(NS, "f2", {"text": SAID})
                assert reader.get(NS, "f2") is not None
        finally:
            admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())


def test_a_target_that_somebody_writes_to_is_found_out(place: Place) -> None:
    """A row that is in the target alone keeps the copy from being finished."""
    with MemoryStore(place("a.db")) as store:
        store.put(NS, "k", {"text": "olives"})
    with MemoryStore(place("b.db")) as open_before:

        def write(done: int, total: int) -> None:
            if done == total:
                with open_before._core.engine.write() as connection:
                    connection.execute("UPDATE item SET importance = 0.9")

        with pytest.raises(DatabaseError, match=r"differs from .* in item \(1 and 1 rows\)"):
            copy(place("a.db"), place("b.db"), progress=write)


@ways
def test_what_moved_to_the_archive_file_comes_along(place: Place, source: str, target: str) -> None:
    """Memories in the archive file of the source are in the copy itself, archived; the archive file is
    no source of its own."""
    if not source.endswith(".db"):
        pytest.skip("a server keeps no archive file")
    with MemoryStore(place(source)) as store:
        keys = learn(store)
        put_away(store, *keys[:2])
        move(store)
        assert store.stats().archived == 2
        archive = str(store._core.archive.path)
    assert copy(place(source), place(target)).memories == 5
    with MemoryStore(place(target)) as there:
        assert there.stats().archived == 0
        assert {there.admin.memory(ADA, key).status for key in keys[:2]} == {"archived"}  # type: ignore[union-attr]
        assert keys[0] in {one.memory.key for one in there.recall("tea", (), include_archive=True)}
        assert there.admin.check() == []
    with pytest.raises(DatabaseError, match="is the archive file of a memory file"):
        copy(archive, place("other.db"))


def test_words_of_an_application_with_fields(place: Place) -> None:
    """Where only some fields are indexed, a copy that does not know them is not finished, and the error
    says what to pass; with them it is."""
    given = {"fields": ["title"]}
    with MemoryStore(place("a.db"), index=given) as store:  # type: ignore[arg-type]
        for n in range(30):
            store.put(
                NS,
                f"{n}",
                {"title": f"olive {n % 3}", "body": f"lemon {n % 7} and a long tail {n}"},
            )
    with pytest.raises(DatabaseError, match=r"sample recalls differ .* name each with --field"):
        copy(place("a.db"), place("b.db"))
    copied = copy(place("a.db"), place("c.db"), fields=["title"])
    assert copied.recalls == 20


THEIRS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("users", "maria"), "food", {"content": "Maria is allergic to peanuts"}),
    (
        ("users", "maria"),
        "langmem",
        {"kind": "Memory", "content": {"content": "She repairs organs"}},
    ),
    (
        ("users", "maria", "x"),
        'odd "key"',
        {"text": "x", "big": 2**60, "list": [1, None, {"é": 0.1}]},
    ),
    (("b",), "later", {"text": "soon gone"}),
]


def give(store: BaseStore) -> None:
    for namespace, key, value in THEIRS:
        store.put(namespace, key, value, ttl=60 if key == "later" else None)


def check_theirs(address: str, since: datetime) -> None:
    with MemoryStore(address) as store:
        for namespace, key, value in THEIRS:
            item = store.get(namespace, key)
            assert item is not None
            assert item.value == value
            assert since <= item.created_at <= item.updated_at <= datetime.now(UTC)
        found = store.recall("What is Maria allergic to?", namespace=("users", "maria"), limit=1)
        assert [one.text for one in found] == ["Maria is allergic to peanuts"]
        assert store.recall("organs", (), limit=1).results[0].text == "She repairs organs"
        with store._core.engine.read() as snapshot:
            [(ttl, ends)] = snapshot.connection.execute(
                "SELECT ttl_minutes, expires_at - updated_at FROM item WHERE ttl_minutes IS NOT NULL"
            ).fetchall()
        assert (ttl, round(ends / 60e6)) == (60, 60)
        assert store.admin.check() == []


@pytest.mark.parametrize("target", ["b.db", pytest.param("b", marks=pytest.mark.thorough)])
def test_from_a_sqlite_store(place: Place, tmp_path: Path, target: str) -> None:
    """Items of LangGraph's SqliteStore, in LangMem's shapes too, come with values, times and TTLs; the
    source stays as it is, and a stopped copy goes on."""
    from langgraph.store.sqlite import SqliteStore

    since = datetime.now(UTC) - timedelta(seconds=2)  # they keep whole seconds
    connection = loadable_sqlite().connect(
        str(tmp_path / "theirs.db"), check_same_thread=False, isolation_level=None
    )
    theirs = SqliteStore(connection, index=index())
    theirs.setup()
    give(theirs)
    connection.close()
    with pytest.raises(Stopped):
        copy(place("theirs.db"), place(target), progress=after(3))
    with pytest.raises(DatabaseError, match="unfinished copy"):
        MemoryStore(place(target))
    copied = copy(place("theirs.db"), place(target))
    assert (copied.memories, copied.recalls) == (4, 0)
    check_theirs(place(target), since)


@pytest.mark.thorough
def test_from_a_postgres_store(place: Place) -> None:
    """As from a SqliteStore."""
    from langgraph.store.postgres import PostgresStore
    from psycopg import Connection, sql
    from psycopg.rows import dict_row

    from langmemory.addresses import Address

    address = Address(place("theirs"))
    since = datetime.now(UTC)
    with Connection.connect(
        address.url, autocommit=True, prepare_threshold=0, row_factory=dict_row
    ) as raw:
        raw.execute(sql.SQL("CREATE SCHEMA {0}").format(sql.Identifier(address.schema)))
        raw.execute(sql.SQL("SET search_path TO {0}").format(sql.Identifier(address.schema)))
        theirs = PostgresStore(raw)  # type: ignore[arg-type]
        theirs.setup()
        give(theirs)
    assert copy(place("theirs"), place("b.db")).memories == 4
    check_theirs(place("b.db"), since)


@pytest.mark.thorough
@pytest.mark.parametrize("target", ["b.db", "b"])
def test_a_killed_process(place: Place, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL at any piece leaves a copy that the next run finishes."""
    with MemoryStore(place("a.db")) as store:
        live(store, monkeypatch)
        before = state(store)
    program = """
import os, signal, sys
from langmemory.ledger.transfer import transfer
from langmemory.stores import copy
transfer.BATCH = 2
left = [int(sys.argv[3])]
def kill(done, total):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
copy(sys.argv[1], sys.argv[2], progress=kill)
"""
    for pieces in (1, 2, 4, 6):
        assert ended(program, place("a.db"), place(target), pieces) == -9
    copy(place("a.db"), place(target))
    with MemoryStore(place(target)) as there:
        assert state(there) == before
        assert there.admin.check() == []


@pytest.mark.thorough
def test_a_text_that_a_server_cannot_hold_is_named(place: Place) -> None:
    """A key with NUL is told with its table and place, and the copy stays unfinished."""
    with MemoryStore(place("a.db"), index=False) as store:
        store.put(NS, "odd\0key", {"text": "x"})
    with pytest.raises(DatabaseError, match=r"NUL.*a row of .*a.db, among those from"):
        copy(place("a.db"), place("b"))
