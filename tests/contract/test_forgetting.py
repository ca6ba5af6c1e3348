"""Forgetting on every engine: nothing of it is in any row, and what a server keeps is said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from langmemory.stores import MemoryStore
from tests import postgres_server

pytestmark = pytest.mark.thorough

HOME = ("home",)
SECRET = "the zyxomma hides behind the lamp"


@pytest.fixture
def server() -> Iterator[MemoryStore]:
    address = postgres_server.fresh()
    with MemoryStore(address) as store:
        yield store
    postgres_server.drop(address)


def test_what_a_server_keeps(server: MemoryStore) -> None:
    """After a forgetting no row of any table, history, leaves and vectors included, has a word of it, the
    tables are vacuumed, and what PostgreSQL keeps beyond that is named: free space, log and backups."""
    server.put(HOME, "secret", {"text": SECRET, "about": {"what": "zyxomma"}})
    server.put(HOME, "secret", {"text": f"{SECRET} again", "about": {"what": "zyxomma"}})
    server.put(HOME, "other", {"text": "the lamp is new"})
    rows = server.conn.raw
    dead = (
        "SELECT n_dead_tup, last_vacuum FROM pg_stat_user_tables WHERE relid = 'history'::regclass"
    )
    done = server.forget(HOME, keys=["secret"])
    assert done.purged
    assert done.words
    # Others may have transactions open on the server of the tests.
    kept = [one for one in done.kept if "open transaction" not in one]
    assert [one.split(",")[0].split(" of the")[0] for one in kept] == [
        "free space in the pages", "the server's write-ahead log and its archives",
        "backups and dumps made before",
    ]  # fmt: skip
    assert rows.execute("SELECT count(*) FROM embedding").fetchone() == (1,)
    assert rows.execute(
        "SELECT count(*) FROM history WHERE before LIKE '%zyxomma%'"
    ).fetchone() == (0,)
    rows.execute("SELECT pg_stat_clear_snapshot()")
    assert rows.execute(dead.encode()).fetchone()[1] is not None


def test_who_still_sees_it(server: MemoryStore) -> None:
    """A transaction that was open meanwhile keeps deleted rows from being vacuumed: the result says so. With
    ``purge="later"`` it says that nothing was vacuumed."""
    import psycopg

    server.put(HOME, "secret", {"text": SECRET})
    server.put(HOME, "second", {"text": "another zyxommatic thing"})
    with psycopg.connect(postgres_server.url()) as other:
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT 1")
        done = server.forget(HOME, keys=["secret"])
        assert any("open transaction" in one for one in done.kept)
    assert (
        server.forget(HOME, keys=["second"], purge="later")
        .kept[0]
        .startswith("the pages of the tables")
    )


def test_a_leaf_that_is_left_is_found(server: MemoryStore) -> None:
    """The look for what is left reads the bytes of leaves, too."""
    server.put(HOME, "one", {"text": "plain", "tag": "Zyxomma"})
    looked, places = server._core.engine.leftovers(["zyxomma", "absent"])
    assert looked == 2
    assert "the table leaf" in places
