"""Opening a schema of a PostgreSQL server: by several processes, by a plain role, without pgvector."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import get_args

import pytest

from langmemory import MemoryStore
from langmemory.errors import DatabaseError, SchemaVersionError
from langmemory.ledger.tables import migrations
from langmemory.types import SharedType
from tests import postgres_server

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.thorough

NS = ("setup",)
STEP = (
    "ALTER TABLE setting ADD COLUMN step integer; UPDATE setting SET step = coalesce(step, 0) + 1;",
)
BROKEN = ("ALTER TABLE setting ADD COLUMN step integer; SELECT 1 / 0;",)


@pytest.fixture
def address() -> Iterator[str]:
    found = postgres_server.fresh()
    yield found
    postgres_server.drop(found)


def query(address: str, statement: str) -> list[tuple[object, ...]]:
    from langmemory.addresses import Address

    where = Address(address)
    with psycopg.connect(where.url, autocommit=True) as raw:
        raw.execute(f'SET search_path TO "{where.schema}"')
        cursor = raw.execute(statement)
        return cursor.fetchall() if cursor.description else []


def open_and_put(address: str, key: str, steps: tuple[str, ...]) -> int | None:
    """Open a store in a process of its own, write, and return the version of the schema."""
    migrations.STEPS = tuple(lambda dialect, step=step: [step] for step in steps)
    with MemoryStore(address, index=False) as store:
        store.put(NS, key, {"text": key})
        return store._core.engine.database.schema_version  # type: ignore[attr-defined]


def test_eight_processes_open_an_empty_and_an_old_schema_at_once(address: str) -> None:
    """Of several replicas that start at once one creates the schema, or migrates it; all of them work."""
    with ProcessPoolExecutor(8, mp_context=get_context("spawn")) as processes:
        opened = [processes.submit(open_and_put, address, f"a{n}", ()) for n in range(8)]
        assert [one.result(120) for one in opened] == [migrations.INITIAL] * 8
        opened = [processes.submit(open_and_put, address, f"b{n}", STEP) for n in range(8)]
        assert [one.result(120) for one in opened] == [migrations.INITIAL + 1] * 8
    assert query(address, "SELECT count(*) FROM item") == [(16,)]
    assert query(address, "SELECT DISTINCT step FROM setting WHERE name = 'generation'") == [(1,)]


def test_a_migration_that_fails_leaves_the_old_version_whole(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a migration did before it failed is undone, and the old langmemory works on."""
    with MemoryStore(address, index=False) as store:
        version = migrations.newest()
        monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, lambda dialect: BROKEN))
        with pytest.raises(DatabaseError, match="division by zero"):
            MemoryStore(address, index=False)
        store.put(NS, "a", {"text": "one"})
    assert query(address, "SELECT version FROM langmemory_version") == [(version,)]
    assert "step" not in str(query(address, "SELECT * FROM setting"))


def test_a_schema_from_before_the_first_release_opens(address: str) -> None:
    """The last schema before 0.1.0 is brought up when it is opened; an older one is refused."""
    MemoryStore(address, index=False).close()
    query(
        address,
        "UPDATE langmemory_version SET version = 3; DROP INDEX item_guardrail; "
        "ALTER TABLE item DROP COLUMN trust",
    )
    with MemoryStore(address, index=False) as store:
        store.put(NS, "a", {"text": "one"})
    assert query(address, "SELECT version FROM langmemory_version") == [(migrations.newest(),)]
    assert query(address, "SELECT to_regclass('item_guardrail') IS NOT NULL") == [(True,)]
    query(address, "UPDATE langmemory_version SET version = 2")
    with pytest.raises(SchemaVersionError, match=r"version 2, of a langmemory before 0\.1\.0"):
        MemoryStore(address, index=False)


def test_a_schema_from_before_new_types_of_messages_takes_them(address: str) -> None:
    """Opening a schema whose messages were of fewer types lets agents send those of today."""
    older = "CHECK (type IN ('finding', 'request', 'reply'))"
    MemoryStore(address, index=False).close()
    query(
        address,
        "ALTER TABLE item DROP COLUMN trust; ALTER TABLE message DROP CONSTRAINT message_type_check; "
        f"ALTER TABLE message ADD CONSTRAINT message_type_check {older}; "
        f"UPDATE langmemory_version SET version = {migrations.INITIAL}",
    )
    with MemoryStore(address, index=False) as store:
        for one in get_args(SharedType):
            assert store.bus(NS, agent="planner").share("done", type=one).type == one


def test_a_newer_schema_is_refused(address: str) -> None:
    """A schema of a newer langmemory is neither opened nor written to, and the error says what to do."""
    with MemoryStore(address, index=False) as store:
        query(address, "UPDATE langmemory_version SET version = 99")
        with pytest.raises(SchemaVersionError, match="nothing was written"):
            store.put(NS, "a", {"text": "one"})
    with pytest.raises(SchemaVersionError, match=r"schema version 99.*Upgrade langmemory"):
        MemoryStore(address, index=False)


def test_a_plain_role_needs_no_right_but_on_its_schema(address: str) -> None:
    """A role that may create neither schemas nor extensions works in a schema that it owns, with vectors."""
    from langmemory.addresses import Address

    schema = Address(address).schema
    query(address, f'DROP ROLE IF EXISTS "{schema}"')
    query(address, f'CREATE ROLE "{schema}" LOGIN NOSUPERUSER NOCREATEDB')
    query(address, f'CREATE SCHEMA "{schema}" AUTHORIZATION "{schema}"')
    try:
        plain = address.replace("postgres:@", f"{schema}@", 1).replace("postgres@", f"{schema}@", 1)
        with MemoryStore(plain) as store:
            store.put(NS, "a", {"text": "Maria is allergic to peanuts"})
            assert [one.key for one in store.search(NS, query="allergies")] == ["a"]
            assert store.stats().vectors == 1
            store.forget(NS, everything=True)
    finally:
        query(address, f'DROP OWNED BY "{schema}" CASCADE')
        query(address, f'DROP ROLE "{schema}"')


def test_without_pgvector_words_are_searched_and_one_warning_says_so(
    address: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the server has no pgvector, or an older one, put, search, recall and remember work by words."""
    from langmemory.engines.postgres import database

    monkeypatch.setattr(database, "OLDEST_PGVECTOR", (99,))
    with caplog.at_level(logging.WARNING, "langmemory"), MemoryStore(address) as store:
        store.put(NS, "a", {"text": "Maria is allergic to peanuts"})
        store.remember(NS, [{"role": "user", "content": "I moved to Berlin."}], thread_id="t")
        assert [one.key for one in store.search(NS, query="peanuts")] == ["a"]
        assert len(store.recall("Who moved to Berlin?", NS)) >= 1
        assert store.stats().vectors == 0
    assert [one.message for one in caplog.records if "by words only" in one.message]
    assert len(caplog.records) == 1


def test_a_put_asks_nothing_twice(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a put asks ahead, in one way to the server, is what it needs: nothing is written before the
    last answer is used."""
    asked: list[str] = []
    run = psycopg.Connection.execute

    def execute(self: object, query: bytes | str, *more: object, **options: object) -> object:
        asked.append(query.decode() if isinstance(query, bytes) else str(query))
        return run(self, query, *more, **options)

    with MemoryStore(address) as store:
        store.put(NS, "a", {"text": "Maria is allergic to peanuts"})
        monkeypatch.setattr(psycopg.Connection, "execute", execute)
        store.put(NS, "b", {"text": "Maria moved to Berlin"})
    questions = [one for one in asked if one.startswith("SELECT")]
    assert len(questions) >= 5
    assert len(questions) == len(set(questions))
