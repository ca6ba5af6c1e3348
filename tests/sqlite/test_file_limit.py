"""A process that may open no more files."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from langmemory.errors import DatabaseError
from langmemory.sqlite.file.connection import Database


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_a_lack_of_file_descriptors_is_told_and_loses_nothing(tmp_path: Path, number: int) -> None:
    """What cannot be opened within a read or a write is told with the file and `ulimit`; the write is
    taken back, and the next one works."""
    database = Database(tmp_path / "m.db")
    with database.write() as connection:
        connection.execute("CREATE TABLE one (value)")
    for use in (database.read, database.write):
        with (
            pytest.raises(DatabaseError, match=r"m\.db.*no_such_module.*ulimit"),
            use() as connection,
        ):
            if use == database.write:
                connection.execute("INSERT INTO one VALUES (1)")
            raise OSError(number, "Too many open files", "no_such_module.py")
    with database.write() as connection:
        connection.execute("INSERT INTO one VALUES (2)")
    with database.read() as connection:
        assert connection.execute("SELECT value FROM one").fetchall() == [(2,)]
    database.close()
