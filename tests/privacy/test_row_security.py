"""PostgreSQL keeps private memories from roles that are not its owner: `store.admin.enable_rls`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from langmemory.errors import ConfigError, DatabaseError
from langmemory.ledger.tables import migrations
from langmemory.stores import MemoryStore
from tests import postgres_server
from tests.privacy.household import OWNERS, TOKEN, Household
from tests.privacy.test_cross_owner import Reader, tokens
from tests.seeds import examples
from tests.stores.test_sparse import Thesaurus

HOME = ("home",)
STEPS = examples(400, first=120)


class Server:
    """A schema, and two roles that do not own it: one that acts for anybody, one bound to Alice."""

    def __init__(self) -> None:
        import psycopg

        self.address = postgres_server.fresh()
        self.schema = self.address.rpartition("schema=")[2]
        self.admin = psycopg.connect(postgres_server.url(), autocommit=True)
        self.reader, self.bound = (f"{name}_{os.getpid()}" for name in ("reader", "bound"))
        for role in (self.reader, self.bound):
            self.admin.execute(f"CREATE ROLE {role} LOGIN".encode())

    def as_role(self, role: str, address: str) -> str:
        """Return an address for a role; the server of the tests asks for no password."""
        return re.sub(r"//[^/]*@", f"//{role}@", address, count=1)

    def rows(self, role: str, statement: str, viewer: str | None = None) -> list[Any]:
        """Return what a statement by hand gives the role, in a transaction that names a viewer."""
        import psycopg

        with psycopg.connect(self.as_role(role, postgres_server.url())) as connection:
            connection.execute(f"SET LOCAL search_path TO {self.schema}, public".encode())
            if viewer is not None:
                connection.execute("SELECT set_config('langmemory.viewer', %s, true)", (viewer,))
            return connection.execute(statement.encode()).fetchall()

    def store(self, role: str) -> MemoryStore:
        return MemoryStore(self.as_role(role, self.address))

    def close(self) -> None:
        postgres_server.drop(self.address)
        for role in (self.reader, self.bound):
            self.admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())
        self.admin.close()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.close()


@pytest.fixture
def store(server: Server) -> Iterator[MemoryStore]:
    with MemoryStore(server.address) as store:
        alice, bob = store.for_viewer("alice"), store.for_viewer("bob")
        alice.put(HOME, "key", {"text": "Alice hides a key", "privacy": "private"})
        bob.put(HOME, "debt", {"text": "Bob has a hidden debt", "privacy": "private"})
        bob.put((*HOME, "bob"), "diary", {"text": "dear diary", "privacy": "private"})
        store.put(HOME, "cello", {"text": "the cello is hidden in the cellar"})
        yield store


def test_every_table_has_a_rule_or_a_reason() -> None:
    """A table of the schema says which rows a reader sees, or why none: a new one cannot be forgotten."""
    pytest.importorskip("psycopg")
    from langmemory.engines.postgres import row_security, schema

    created = "\n".join([schema.statements(), schema.vector_statements()])
    names = {
        "langmemory_version",
        row_security.READERS,
        *re.findall(r"CREATE TABLE (\w+)", created),
    }
    assert {"item", "embedding", "keyword", "history"} <= names
    assert row_security.readers_of().keys() == names
    for table, readers in row_security.readers_of().items():
        assert bool(row_security.rule(table)) != bool(readers.nobody), table


@pytest.mark.sqlite("is about a file")
def test_a_file_has_no_roles(tmp_path: Path) -> None:
    """A memory file refuses row-level security and says why."""
    with MemoryStore(tmp_path / "memory.db") as store:
        for call in (store.admin.enable_rls, store.admin.disable_rls):
            with pytest.raises(ConfigError, match="a file has no roles"):
                call()


@pytest.mark.thorough
def test_statements_by_hand(server: Server, store: MemoryStore) -> None:
    """A role sees by SQL, joins and counts what its viewer may know of: whom the transaction names, for one
    transaction, else nobody's secrets. A bound role stays bound. What is not granted is refused."""
    store.admin.enable_rls(server.reader)
    store.admin.enable_rls(server.bound, viewer="alice")
    keys = "SELECT key FROM item ORDER BY key"
    joined = "SELECT count(*) FROM embedding e JOIN keyword k ON k.item = e.item"

    def seen(role: str, viewer: str | None = None) -> list[str]:
        return [row[0] for row in server.rows(role, keys, viewer)]

    assert seen(server.reader) == seen(server.reader, "") == seen(server.reader, "eve") == ["cello"]
    assert seen(server.reader, "alice") == ["cello", "key"]
    assert seen(server.reader, "bob") == ["cello", "debt", "diary"]
    assert seen(server.bound) == seen(server.bound, "bob") == ["cello", "key"]
    assert server.rows(server.reader, joined, "alice") == [(2,)]
    assert server.rows(
        server.reader, "SELECT count(*) FROM leaf WHERE value::text LIKE '%debt%'"
    ) == [(0,)]
    assert server.rows(server.reader, "SELECT path FROM namespace", "alice") == [("home",)]
    hidden = "SELECT word FROM word_count WHERE word IN ('debt', 'hidden') ORDER BY 1"
    assert server.rows(server.reader, hidden, "alice") == [("hidden",)]
    with pytest.raises(Exception, match="permission denied"):
        server.rows(server.reader, "DELETE FROM item")
    with pytest.raises(Exception, match="permission denied"):
        server.rows(server.reader, "INSERT INTO rls_reader VALUES (current_user, 'bob')")
    store.admin.enable_rls()
    assert seen(server.reader, "alice") == ["cello", "key"]


@pytest.mark.thorough
def test_a_store_of_a_reader(server: Server, store: MemoryStore) -> None:
    """A store that a role opens recalls, searches and lists what each viewer may see, as the owner's does,
    refuses to write, and the owner's works as before."""
    store.admin.enable_rls(server.reader)
    store.admin.enable_rls(server.bound, viewer="alice")
    question = "who hides a key, a debt or a cello?"
    with server.store(server.reader) as read, server.store(server.bound) as bound:
        for viewer in ("alice", "bob", "eve"):
            ours, theirs = store.for_viewer(viewer), read.for_viewer(viewer)
            for ask in (
                lambda one: {found.memory.key for found in one.recall(question, HOME)},
                lambda one: {item.key for item in one.search(HOME, query=question)},
                lambda one: {item.key for item in one.search(())},
                lambda one: one.list_namespaces(),
                lambda one: len(one.changes.history(HOME, "debt")),
                lambda one: [row.get("key") for row in one.admin.export()],
            ):
                assert ask(ours) == ask(theirs)
        assert {item.key for item in read.search(())} == {"cello"}
        assert read.stats().items == 1
        assert {item.key for item in bound.search(())} == {"cello", "key"}
        assert {item.key for item in bound.for_viewer("bob").search(())} == {"cello"}
        for write in (
            lambda: read.put(HOME, "new", {"text": "x"}),
            lambda: read.for_viewer("alice").delete(HOME, "key"),
            lambda: read.forget(HOME, owner="alice"),
        ):
            with pytest.raises(DatabaseError, match="may only read it"):
                write()
        with pytest.raises(DatabaseError, match="only the owner of the tables may"):
            read.admin.enable_rls(server.reader)
    assert len(store.search(())) == 4


@pytest.mark.thorough
def test_taking_it_back(server: Server, store: MemoryStore) -> None:
    """A role whose rights are taken back reads nothing; without any role the policies are gone."""
    store.admin.enable_rls(server.reader)
    store.admin.enable_rls(server.bound, viewer="alice")
    store.admin.disable_rls(server.reader)
    with pytest.raises(Exception, match="item"):
        server.rows(server.reader, "SELECT * FROM item")
    assert len(server.rows(server.bound, "SELECT * FROM item")) == 2
    with pytest.raises(DatabaseError, match="may not use the schema"):
        server.store(server.reader)
    store.admin.disable_rls()
    store.admin.disable_rls()
    left = "SELECT (SELECT count(*) FROM pg_policies WHERE schemaname = %s), to_regclass(%s)"
    assert server.admin.execute(
        left.encode(), (server.schema, f"{server.schema}.rls_reader")
    ).fetchone() == (0, None)


@pytest.mark.thorough
def test_refusals(server: Server, store: MemoryStore) -> None:
    """A role that is not there, or for which policies do not hold, is refused by name."""
    with pytest.raises(ConfigError, match="no role 'nobody_at_all'"):
        store.admin.enable_rls("nobody_at_all")
    owner = server.admin.execute("SELECT current_user").fetchone()
    assert owner is not None
    with pytest.raises(ConfigError, match="does not hold"):
        store.admin.enable_rls(owner[0])
    with pytest.raises(ConfigError, match="pass the role"):
        store.admin.enable_rls(viewer="alice")


@pytest.mark.thorough
def test_no_row_tells_of_others(server: Server) -> None:
    """Of a household's random life no row of any table that a role may see has a word that only somebody
    else's private memories have; and no way to read a store of the role finds one."""
    home = Household(server.address, seed=1)  # type: ignore[arg-type]
    for _ in range(STEPS):
        home.step()
    home.store.admin.enable_rls(server.reader)
    own = 0
    for viewer in (*OWNERS, "mallory", ""):
        for table in [row[0] for row in server.admin.execute(_TABLES, (server.schema,))]:
            rows = server.rows(server.reader, f"SELECT t::text FROM {table} AS t", viewer)
            found = {one[0] for row in rows for one in TOKEN.finditer(row[0])} - home.open
            leaked = {one for one in found if TOKEN.fullmatch(one)[1] != viewer}  # type: ignore[index]
            assert not leaked, f"{viewer!r} met {leaked} in {table}"
            own += len(found)
    assert own > 100
    home.store.close()
    address = server.as_role(server.reader, server.address)
    with MemoryStore(address) as home.store:
        for n, viewer in enumerate((*OWNERS, "")):
            eyes = Reader(home, viewer, n, address)
            for read in eyes.reads * 4:
                try:
                    answers = list(read())
                except DatabaseError as error:  # a tool that writes
                    if "may only read it" not in str(error):
                        raise
                    continue
                for asked, answer in answers:
                    found = tokens(answer) - tokens(asked) - home.open
                    leaked = {one for one in found if TOKEN.fullmatch(one)[1] != viewer}  # type: ignore[index]
                    assert not leaked, f"{viewer!r} met {leaked} by {read.__name__}"
            eyes.close()


_TABLES = b"SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1"


def test_a_role_is_told_of_links_whose_ends_it_may_read(server: Server, store: MemoryStore) -> None:
    """Links, anchors and the board of a reader are those of its viewer, by statements and over a store."""
    graph = store.graph(HOME)
    graph.link("cello", "requires", "key")
    graph.link("agent:tuner", "works_on", "cello")
    store.admin.enable_rls(server.reader)
    seen = "SELECT e.key FROM entity e WHERE e.key LIKE 'item:%' OR e.key LIKE 'agent:%' ORDER BY e.key"
    assert server.rows(server.reader, seen, "bob") == [("agent:tuner",), ("item:cello",)]
    assert len(server.rows(server.reader, "SELECT * FROM edge", "bob")) == 1
    assert len(server.rows(server.reader, "SELECT * FROM edge", "alice")) == 2
    with server.store(server.reader) as reader:
        context = reader.for_viewer("bob").graph(HOME).context_for("cello")
        assert [one.name for one in context.entries] == ["the cello is hidden in the cellar"]
        assert len(reader.for_viewer("alice").graph(HOME).context_for("cello").entries) == 2


@pytest.mark.thorough
def test_what_a_migration_adds_is_closed_as_well(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that a migration adds to a schema whose rows are closed is closed."""
    with MemoryStore(server.address) as store:
        store.admin.enable_rls(server.reader)
    step = "CREATE TABLE added (id bigint); INSERT INTO added VALUES (1);"
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, lambda dialect: [step]))
    MemoryStore(server.address).close()
    assert server.rows(server.reader, "SELECT count(*) FROM added", "alice") == [(0,)]


def test_sparse_vectors_of_others_are_closed(server: Server) -> None:
    """A reader's recall finds by them what its viewer may know of."""
    with MemoryStore(server.address, sparse=Thesaurus()) as store:
        store.admin.enable_rls(server.reader)
        for viewer in ("alice", "bob"):
            store.for_viewer(viewer).put(HOME, viewer, {"text": "a secret", "privacy": "private"})
    count = "SELECT count(*) FROM sparse"
    assert server.rows(server.reader, count) == [(0,)]
    assert server.rows(server.reader, count, "alice") == [(1,)]
    address = server.as_role(server.reader, server.address)
    with MemoryStore(address, index=False, sparse=Thesaurus()) as store:
        found = store.for_viewer("bob").recall("a secret", HOME, explain=True)
    assert [one.memory.key for one in found.results] == ["bob"]
    assert (found.trace.degraded, found.trace.candidates["sparse"]) == ((), 1)
