"""`langmemory doctor` on a PostgreSQL server."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from langmemory.cli.app import app
from langmemory.stores import MemoryStore
from tests import postgres_server
from tests.stores.change_sets import apply, fact

pytestmark = pytest.mark.thorough


@pytest.fixture
def address() -> Iterator[str]:
    found = postgres_server.fresh()
    yield found
    postgres_server.drop(found)


def report(address: str) -> tuple[dict[str, dict[str, str]], str]:
    """Return the checks by what they are about, and all that was written."""
    done = CliRunner().invoke(app, ["doctor", "--db", address, "--json"])
    checks = json.loads(done.stdout)
    return {one["what"]: one for one in checks}, done.output


def test_a_sound_server(address: str) -> None:
    """It names the server, pgvector, the role, indexes, dead rows, connections, transactions and queries, and
    no password."""
    with MemoryStore(address) as store:
        store.put(("home",), "one", {"text": "the lamp is new"})
    secret = re.sub(r"//([^:@/]*):?@", r"//\1:Geheim123@", address)
    found, written = report(secret)
    assert found["memory server"]["state"] == "ok"
    assert "1 memory" in found["memory server"]["found"]
    for what in ("PostgreSQL", "role", "row-level security", "indexes", "connections"):
        assert found[what]["state"] == "ok", found[what]
    assert {"pgvector", "dead rows", "long transactions", "slow queries"} <= found.keys()
    assert "Geheim123" not in written


def test_what_is_wrong(address: str) -> None:
    """An invalid index, and a table that row-level security leaves out, are failures with a next step."""
    with MemoryStore(address) as store:
        store.admin.enable_rls()
        raw = store.conn.raw
        raw.execute("ALTER TABLE history DISABLE ROW LEVEL SECURITY")
        raw.execute(
            "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'history_item'::regclass"
        )
        found, _ = report(address)
        raw.execute(
            "UPDATE pg_index SET indisvalid = TRUE WHERE indexrelid = 'history_item'::regclass"
        )
    assert found["indexes"]["found"] == "invalid: history_item"
    assert found["indexes"]["advice"]
    assert found["row-level security"]["found"] == "on, but not for history"


def test_a_role_with_few_rights(address: str) -> None:
    """A reader's report says that it may only read, and fails at nothing."""
    import psycopg

    role = f"few_{os.getpid()}"
    with psycopg.connect(postgres_server.url(), autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN".encode())
        try:
            with MemoryStore(address) as store:
                store.put(("home",), "one", {"text": "the lamp is new"})
                store.admin.enable_rls(role)
                found, _ = report(re.sub(r"//[^/]*@", f"//{role}@", address, count=1))
                store.admin.disable_rls(role)
        finally:
            admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())
    assert found["role"]["found"] == f"{role} may only read, and sees what policies let it see"
    assert [one for one in found.values() if one["state"] == "fail"] == []


def test_a_rule_of_the_lifecycle_that_cannot_fire_is_told(address: str) -> None:
    """Where facts are there and nothing was cited, the doctor says that unused memories are not known."""
    with MemoryStore(address) as store:
        apply(store, "r", fact("f", "Ada likes tea"))
    found, _ = report(address)
    assert found["lifecycle"]["state"] == "warn"
    assert "count_usage" in found["lifecycle"]["advice"]


def test_nothing_there(address: str) -> None:
    """Of a schema that is not there it says so, and makes none."""
    found, _ = report(address)
    assert found["memory server"]["state"] == "warn"
    assert report(address)[0]["memory server"]["found"].endswith("not there")
