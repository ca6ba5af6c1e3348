"""A memory behind PgBouncer in transaction mode: no transaction counts on what another left in a session."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.addresses import Address
from tests.postgres_server import OwnServer

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.thorough

NS = ("pooled",)
PROGRAM = shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
SETTINGS = """
[databases]
postgres = host={host} port=5432 user=postgres dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
server_reset_query =
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a PgBouncer that has three connections to a server."""
    if PROGRAM is None:
        pytest.skip("pgbouncer is not installed")
    server, folder = OwnServer(), Path(tempfile.mkdtemp(prefix="langmemory-pgbouncer-"))
    folder.chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = folder / "pgbouncer.ini"
    file.write_text(SETTINGS.format(host=server.url.rpartition("host=")[2], port=port))
    process = subprocess.Popen(
        [PROGRAM, "-q", str(file)], user=server._server.system_user, stderr=subprocess.DEVNULL
    )
    url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    try:
        for _ in range(100):
            try:
                psycopg.connect(url, connect_timeout=5).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()
        server.stop()
        shutil.rmtree(folder)


def test_many_clients_share_few_connections(address: str) -> None:
    """Two schemas are written and searched by twelve threads over three connections, and stay apart."""
    with (
        MemoryStore(f"{address}?schema=one&pool_size=12") as one,
        MemoryStore(f"{address}?schema=two&pool_size=12") as two,
    ):

        def work(n: int) -> None:
            store, name = (one, "one") if n % 2 else (two, "two")
            for i in range(8):
                store.put(NS, f"{name}-{n}-{i}", {"text": f"{name} likes tea number {i}", "n": i})
                assert store.get(NS, f"{name}-{n}-{i}") is not None
                assert all(
                    found.key.startswith(name) for found in store.search(NS, query="likes tea")
                )

        with ThreadPoolExecutor(12) as threads:
            list(threads.map(work, range(12)))
        assert one.stats().items == two.stats().items == 48
        assert len(one.search(NS, filter={"n": 3}, limit=20)) == 6


def test_a_conversation_is_remembered_undone_and_forgotten(address: str) -> None:
    """Turns are remembered, recalled and, with the tables vacuumed, forgotten."""
    with MemoryStore(f"{address}?schema=three") as store:
        said = [{"role": "user", "content": f"I moved to Berlin in year {n}."} for n in range(12)]
        store.remember(NS, said, thread_id="t")
        assert "Berlin" in store.recall("Where did I move?", NS).results[0].memory.text
        assert store.forget(NS, everything=True).memories == 12
        assert store.search(NS) == []


def test_nothing_is_left_in_a_session(address: str) -> None:
    """Who gets a connection next finds neither prepared statements, nor settings, nor locks on it."""
    with MemoryStore(f"{address}?schema=four", index=False) as store:
        for n in range(10):
            store.put(NS, f"k{n}", {"text": "tea"})
            store.search(NS, query="tea")
    with psycopg.connect(Address(address).url, autocommit=True) as raw:
        left = raw.execute(
            "SELECT (SELECT count(*) FROM pg_prepared_statements), "
            "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), "
            "(SELECT setting FROM pg_settings WHERE name = 'search_path')"
        ).fetchone()
    assert left == (0, 0, '"$user", public')
