"""Bytes of the file that belong to nothing any more."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from langmemory.sqlite.file.slack import Slack, UnreadableError, pages_in_wal
from tests.seeds import seeds

PAGE_BYTES = 1024
LEAF = 13


@contextmanager
def opened(path: Path, kind: int = apsw.SQLITE_OPEN_MAIN_DB) -> Iterator[apsw.VFSFile]:
    file = apsw.VFSFile("", str(path), [kind | apsw.SQLITE_OPEN_READWRITE, 0])
    try:
        yield file
    finally:
        file.xClose()


def wiped(path: Path, pages: Any = None) -> int:
    with opened(path) as file:
        return Slack(file).wipe(pages)


def used(path: Path, seed: int) -> tuple[list[str], list[Any]]:
    """A file in which rows of every kind and length came, changed and went: words that are gone, and
    what is there."""
    choose = random.Random(seed)
    there: dict[int, str] = {}
    every: set[str] = set()
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(
            f"PRAGMA page_size = {PAGE_BYTES}; CREATE TABLE a (id INTEGER PRIMARY KEY, t TEXT, n); "
            "CREATE INDEX a_t ON a (t); CREATE INDEX a_n ON a (n); "
            "CREATE TABLE b (t TEXT PRIMARY KEY, n) WITHOUT ROWID"
        )
        for number in range(600):
            if number % 20 == 0:
                connection.execute("BEGIN" if number == 0 else "COMMIT; BEGIN")
            row = choose.choice([choose.randrange(1, 250), choose.getrandbits(60)])
            connection.execute("DELETE FROM b WHERE t = ?", (there.get(row, ""),))
            if choose.random() < 0.4:
                there.pop(row, None)
                connection.execute("DELETE FROM a WHERE id = ?", (row,))
                continue
            length = choose.choice([0, 1, 3, 30, 200, 1_100, 4_000])
            text = "".join(choose.choices(string.ascii_lowercase, k=16)) * (1 + length // 16)
            every.add(text[:16])
            there[row] = text
            beside = choose.choice([None, 1, choose.getrandbits(50), choose.random()])
            connection.execute("INSERT OR REPLACE INTO a VALUES (?, ?, ?)", (row, text, beside))
            connection.execute("INSERT INTO b VALUES (?, ?)", (text, beside))
        connection.execute("COMMIT")
    return sorted(every - {text[:16] for text in there.values()}), content(path)


def content(path: Path) -> list[Any]:
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return connection.execute("SELECT * FROM a UNION ALL SELECT 0, * FROM b").fetchall()


@pytest.mark.parametrize("seed", seeds(range(6), first=1))
def test_what_is_gone_is_overwritten_and_nothing_else(tmp_path: Path, seed: int) -> None:
    """Of rows that changed or went no piece is left in the file, however long they were and wherever
    they stood; what the tables say is untouched."""
    path = tmp_path / "a.db"
    gone, before = used(path, seed)
    image = path.read_bytes()
    assert sum(word[4:12].encode() in image for word in gone) > len(gone) // 4
    assert wiped(path) > 10
    image = path.read_bytes()
    assert [
        word for word in gone if any(word[n : n + 8].encode() in image for n in (0, 4, 8))
    ] == []
    assert content(path) == before
    assert wiped(path) == 0


def test_some_pages(tmp_path: Path) -> None:
    """Of the pages named the slack goes, of the others it stays."""
    path = tmp_path / "a.db"
    used(path, 1)
    every = range(1, path.stat().st_size // PAGE_BYTES + 1)
    with opened(path) as file:
        slack = Slack(file)
        assert slack.wipe() > 10
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("DELETE FROM a WHERE id % 2; DELETE FROM b WHERE n = 1")
        before = path.read_bytes()
        slack.wipe(every[::2])
        after = path.read_bytes()
        changed = [n for n in every if page(before, n) != page(after, n)]
        assert any(n % 2 for n in changed)
        assert {n for n in changed if n % 2 == 0} <= lists_of_free_pages(after)
        slack.wipe(every)
    content(path)
    assert wiped(path) == 0


def page(image: bytes, number: int) -> bytes:
    return image[(number - 1) * PAGE_BYTES : number * PAGE_BYTES]


def lists_of_free_pages(image: bytes) -> set[int]:
    found: set[int] = set()
    number = int.from_bytes(image[32:36], "big")
    while number:
        found.add(number)
        number = int.from_bytes(page(image, number)[:4], "big")
    return found


@pytest.mark.parametrize("place", [1, 3, 5, 7, 8])
def test_a_page_that_does_not_add_up_stays_as_it_is(tmp_path: Path, place: int) -> None:
    """Where what is in use and what is free are not together the page, nothing of it is overwritten."""
    path = tmp_path / "a.db"
    used(path, 2)
    image = bytearray(path.read_bytes())
    broken = next(n for n in range(2, 200) if page(image, n)[0] == LEAF and page(image, n)[4] > 2)
    image[(broken - 1) * PAGE_BYTES + place] ^= 3
    path.write_bytes(image)
    with pytest.raises(UnreadableError):
        wiped(path, [broken])
    assert page(path.read_bytes(), broken) == page(image, broken)


def test_pages_in_the_wal(tmp_path: Path) -> None:
    """The pages that a WAL says something else of are those that were written since it was begun."""
    path = tmp_path / "a.db"
    used(path, 3)
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("journal_mode", "wal")
        connection.execute("CREATE TABLE c (t)")
        connection.execute("DELETE FROM a WHERE id % 7 = 0")
        connection.wal_checkpoint()
        before = path.read_bytes()
        connection.execute("INSERT INTO c VALUES ('x')")
        with opened(Path(f"{path}-wal"), apsw.SQLITE_OPEN_WAL) as wal:
            found = pages_in_wal(wal)
        connection.wal_checkpoint()
        after = path.read_bytes()
        every = range(1, len(after) // PAGE_BYTES + 1)
        assert {n for n in every if page(before, n) != page(after, n)} <= found
        assert len(found) < 5
