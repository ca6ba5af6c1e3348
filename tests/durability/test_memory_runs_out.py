"""SQLite gets no more memory, at some allocation of a call: it says so, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from langmemory import MemoryStore
from langmemory.errors import DatabaseError
from tests.seeds import examples

pytestmark = pytest.mark.sqlite("a limit of SQLite's heap")

CALLS = int(os.environ.get("LANGMEMORY_HEAP_LIMITS", examples(2_000, first=80)))
NS = ("a",)
ROOT = Path(__file__).parents[2]


def test_no_more_memory(tmp_path: Path) -> None:
    """Of a mixed load each call gets as little memory as to fail at some allocation, or at none: answers are
    right, each error says that memory was short, and the file agrees with itself. In a process of its own,
    since a process counts SQLite's memory from its beginning or never."""
    command = [sys.executable, "-m", "tests.durability.memory_runs_out", str(tmp_path), str(CALLS)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    counts = dict(line.split() for line in ended.stdout.splitlines())
    assert int(counts["DatabaseError"]) > CALLS // 10 < int(counts["done"])


class Short:
    """Has no memory for the first statements that begin so; a tracer of apsw."""

    def __init__(self, *beginnings: str) -> None:
        self.left = list(beginnings)

    def __call__(self, cursor: apsw.Cursor, statement: str, bindings: Any) -> bool:
        if self.left and statement.startswith(self.left[0]):
            self.left.pop(0)
            raise apsw.NoMemError("out of memory")
        return True


def half(connection: Any) -> None:
    """Write something, and fail."""
    connection.execute("INSERT INTO setting (name, value) VALUES ('half', 'done')")
    raise KeyError("later")


def halves(database: Any) -> int:
    """Return how many of it were written."""
    found = database._writer.execute("SELECT count(*) FROM setting WHERE name = 'half'")
    return int(found.fetchone()[0])


@pytest.mark.parametrize("times", [1, 2])
def test_a_transaction_that_memory_lacks_to_take_back(tmp_path: Path, times: int) -> None:
    """It is taken back once there is memory, at the latest by the next write, and never committed."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        database = store._core.engine.database

        def fail() -> None:
            with database.write() as connection:
                half(connection)

        database._writer.exec_trace = Short(*["ROLLBACK"] * times)
        with pytest.raises((KeyError, DatabaseError)):
            fail()
        store.put(NS, "after", {"text": "tea"})
        assert halves(database) == 0


def test_a_part_that_memory_lacks_to_take_back(tmp_path: Path) -> None:
    """Nothing of the transaction is written, whatever the caller makes of the error."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        database = store._core.engine.database
        database._writer.exec_trace = Short("ROLLBACK TO")

        def go_on() -> None:
            failures = suppress(DatabaseError, KeyError)
            with database.write() as connection, failures, database.part(connection):
                half(connection)

        with pytest.raises(DatabaseError, match="no more memory"):
            go_on()
        store.put(NS, "after", {"text": "tea"})
        assert halves(database) == 0
