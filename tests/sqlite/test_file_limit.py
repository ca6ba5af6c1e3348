"""A process that may open no more files."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from langmemory.engines.sqlite.connection import Database
from langmemory.errors import DatabaseError


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_a_lack_of_file_descriptors_is_told_and_loses_nothing(tmp_path: Path, number: int) -> None:
    """A read or write that may open no more files raises an error that names the file and `ulimit`;
    the write is rolled back, and the next one works."""
    database = Database(tmp_path / "m.db")
    with database.write() as connection:
        connection.execute("CREATE TABLE one (value)")
    lack = OSError(number, "Too many open files", "module.py")

    def read() -> None:
        with database.read():
            raise lack

    def write() -> None:
        with database.write() as connection:
            connection.execute("INSERT INTO one VALUES (1)")
            raise lack

    for use in (read, write):
        with pytest.raises(DatabaseError, match=r"m\.db.*module.*ulimit"):
            use()
    with database.write() as connection:
        connection.execute("INSERT INTO one VALUES (2)")
    with database.read() as connection:
        assert connection.execute("SELECT value FROM one").fetchall() == [(2,)]
    database.close()
