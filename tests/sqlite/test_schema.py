"""Opening files: new, old, foreign, damaged, out of reach, from many processes at once."""

from __future__ import annotations

import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import get_args

import apsw
import pytest
from langgraph.store.base import GetOp, PutOp

from langmemory.engines.sqlite import Engine, schema
from langmemory.engines.sqlite.connection import APPLICATION_ID
from langmemory.engines.sqlite.engine import check
from langmemory.errors import DatabaseError, SchemaVersionError
from langmemory.ledger.tables import migrations
from langmemory.ledger.tables.ddl import add_column
from langmemory.ledger.tables.table import text
from langmemory.parts.vault import VaultKey
from langmemory.stores import MemoryStore
from langmemory.types import MessageType
from tests.children import process_context

ROOT = Path(__file__).parents[2]


CORPUS = Path(__file__).parent / "corpus"
"""Files that earlier versions wrote, and their exports; `corpus.write` adds one for each release."""


def unpacked(name: str, folder: Path) -> Path:
    """Unpack a file of the corpus."""
    path = folder / f"{name}.db"
    path.write_bytes(gzip.decompress((CORPUS / f"{name}.db.gz").read_bytes()))
    return path


def declared(connection: apsw.Connection) -> dict[str, object]:
    """Return every table and index with its columns and what they may hold."""
    listed = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE type <> 'trigger'")
    return {
        name: (
            connection.execute(f"SELECT * FROM pragma_{kind}_xinfo(?)", (name,)).fetchall(),
            re.findall(r"CHECK \(\w+ IN \([^)]*\)\)", " ".join((sql or "").split())),
        )
        for kind, name, sql in listed.fetchall()
    }


@pytest.mark.parametrize("name", ["unreleased", "0.1.0"])
def test_a_file_of_an_earlier_version_opens(tmp_path: Path, name: str) -> None:
    """A file that an earlier version wrote gets the tables of today, says what it said, and works on."""
    path = unpacked(name, tmp_path)
    told = gzip.decompress((CORPUS / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
    with (
        MemoryStore(path, vault_key=VaultKey(bytes(32))) as store,
        Engine(tmp_path / "new.db").read() as fresh,
    ):
        exported = list(store.admin.export())[1:]
        trusts = {row["key"]: row.pop("trust") for row in exported if row["type"] == "item"}
        assert sorted(json.dumps(row, sort_keys=True) for row in exported) == sorted(
            json.dumps(json.loads(row), sort_keys=True) for row in told[1:]
        )
        memories = store.admin.memories((), past=True, limit=1_000)
        assert {one.trust for one in memories if one.kind == "resource"} <= {"document"}
        assert trusts == {**trusts, **{one.key: one.trust for one in memories}}
        assert store.admin.check() == []
        with store._core.engine.read() as snapshot:
            assert declared(snapshot.connection) == declared(fresh.connection)
            assert schema.version(snapshot.connection) == migrations.newest()
        assert store.vault.get(("users", "maria"), "wifi").reveal() == "a word"
        assert [
            one.key for one in store.search(("users",), query="where does Maria live", limit=1)
        ] == ["f2"]
        for one in get_args(MessageType):
            store.conn.execute("UPDATE message SET type = ?", (one,))
        store.changes.undo("r3")
        store.put(("users", "maria"), "new", {"text": "an aardvark"})
        assert [one.key for one in store.search(("users",), query="aardvark", limit=1)] == ["new"]
        assert store.admin.check() == []


@pytest.mark.parametrize("version", [1, 17, 19])
def test_a_file_from_before_the_first_release_is_refused(tmp_path: Path, version: int) -> None:
    """Of the versions before 0.1.0 only the last one is read; the others are named, and left as they were."""
    path = unpacked("unreleased", tmp_path)
    raw = apsw.Connection(str(path))
    raw.pragma("user_version", version)
    with pytest.raises(
        SchemaVersionError, match=f"version {version}, of a langmemory before 0.1.0"
    ):
        MemoryStore(path, index=False)
    assert raw.pragma("user_version") == version


def test_a_step_leads_to_the_next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of every version before a new one, of the first release and of before it, get what it adds."""
    monkeypatch.setattr(
        migrations,
        "STEPS",
        (lambda dialect: [add_column("item", text("mood", null=True), dialect)],),
    )
    for name in ("unreleased", "0.1.0"):
        with MemoryStore(unpacked(name, tmp_path), index=False) as store:
            assert store.conn.execute("SELECT count(*) FROM item WHERE mood IS NULL").get > 0
            assert store.conn.pragma("user_version") == migrations.INITIAL + 1


def test_newer_file_is_refused(tmp_path: Path) -> None:
    """A file of a later schema version is refused with both versions, and stays as it was."""
    path = tmp_path / "m.db"
    MemoryStore(path, index=False).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(SchemaVersionError, match=r"version 99.*up to \d+.*Upgrade"):
        MemoryStore(path)
    with closing(sqlite3.connect(path)) as again:
        assert again.execute("PRAGMA user_version").fetchone() == (99,)


async def test_a_file_migrated_while_it_is_open(tmp_path: Path) -> None:
    """Once a newer langmemory has migrated the file, a store that has it open writes nothing more,
    which would lack what the newer one keeps, and says so; what is there it still reads."""
    path = tmp_path / "m.db"
    with MemoryStore(path, index=False) as store:
        store.put(("a",), "k", {"text": "tea"})
        newer = apsw.Connection(str(path))
        newer.pragma("user_version", 99)
        newer.close()
        with pytest.raises(SchemaVersionError, match=r"from schema version \d+ to 99.*Restart"):
            store.put(("a",), "l", {"text": "tea"})
        with pytest.raises(SchemaVersionError, match="nothing was written"):
            await store.aput(("a",), "l", {"text": "tea"})
        assert [item.key for item in store.search(("a",), query="tea", refresh_ttl=False)] == ["k"]


def test_an_index_that_another_process_wrote_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of processes that find the keyword index lost at the same time, the first one writes it anew."""
    path = tmp_path / "m.db"
    with MemoryStore(path, index=False) as store:
        store.put(("a",), "k", {"text": "tea"})
        before = store.conn.execute("SELECT count(*) FROM word_change").get
        monkeypatch.setattr(schema.indexes, "words_lost", lambda connection: True)
        engine = Engine(path)  # has looked before the other one was done
        monkeypatch.undo()
        monkeypatch.setattr("langmemory.operations.core.Engine", lambda *_, **__: engine)
        with MemoryStore(path, index=False):
            pass
        assert store.conn.execute("SELECT count(*) FROM word_change").get == before


def test_foreign_database_is_not_touched(tmp_path: Path) -> None:
    """Another application's database is refused, and not a byte of it changes."""
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE invoice (id)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DatabaseError, match="another application"):
        MemoryStore(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["other.db"]


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda path: path.write_text("Dear diary, " * 999), "not a SQLite database"),
        (lambda path: path.mkdir(), "is a folder. Name a file in it, such as"),
    ],
)
def test_what_is_no_database(
    tmp_path: Path, prepare: Callable[[Path], object], message: str
) -> None:
    """A text file or a folder is refused by name, and not overwritten."""
    path = tmp_path / "notes.txt"
    prepare(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(DatabaseError, match=f"notes.txt .*{message}"):
        MemoryStore(path)
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("path", ["", "nowhere/deep/m.db"])
def test_a_path_that_cannot_be(tmp_path: Path, path: str) -> None:
    """An empty path and a missing folder are refused with the next step."""
    with pytest.raises(DatabaseError, match=r"Name a file|Create it"):
        MemoryStore(path and tmp_path / path)


def test_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``~`` means the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    MemoryStore("~/m.db", index=False).close()
    assert (tmp_path / "m.db").exists()


def test_read_only_directory() -> None:
    """In a folder that may not be written to, opening fails with a clear error."""
    script = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "from langmemory.errors import DatabaseError\n"
        "from langmemory.engines.sqlite import Engine\n"
        "os.chdir(sys.argv[2])\n"
        "os.getuid() or os.setuid(65534)\n"  # root may write anywhere
        "try: Engine('m.db')\n"
        "except DatabaseError as error: print(error)"
    )
    with tempfile.TemporaryDirectory() as folder:  # tmp_path is out of reach for another user
        Path(folder).chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", script, str(ROOT), folder],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert (
        "m.db cannot be opened. Check that its folder exists and may be written to" in done.stdout
    )


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_full_disk(tmp_path: Path, asynchronous: bool) -> None:
    """A full disk is a clear error, nothing of the call is written, and the store works on."""
    store = MemoryStore(tmp_path / "m.db", index=False)
    store.put(("a",), "small", {"text": "before"})
    writer = store._core.engine.database._writer
    writer.pragma("max_page_count", int(writer.pragma("page_count")) + 2)
    big = {"text": "x" * 100_000}
    operation = PutOp(("a",), "big", big)
    message = "disk of .* is full; nothing of this transaction was written"
    if asynchronous:
        with pytest.raises(DatabaseError, match=message):
            await store.abatch([operation])
    else:
        with pytest.raises(DatabaseError, match=message):
            store.batch([operation])
    assert store.get(("a",), "big") is None
    writer.pragma("max_page_count", 1 << 30)
    await store.aput(("a",), "big", big)
    assert [item.key for item in store.search(("a",))] == ["big", "small"]
    with store._core.engine.read() as snapshot:
        assert check(snapshot.connection) == []


def test_a_long_read_leaves_no_large_wal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A WAL that grew beside a long read is cut once that is over, while the store stays open."""
    monkeypatch.setattr("langmemory.engines.sqlite.connection.KEPT_WAL_BYTES", 500_000)
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        store.put(("a",), "first", {"text": "x"})
        database = store._core.engine.database
        with database.read() as reader:
            reader.execute("SELECT count(*) FROM item").fetchall()
            for n in range(20):
                store.put(("a",), f"k{n}", {"text": "x" * 100_000})
            assert (tmp_path / "m.db-wal").stat().st_size > 2_000_000
        database.tidy()  # as the background thread does
        store.put(("a",), "last", {"text": "x"})
        assert (tmp_path / "m.db-wal").stat().st_size == 500_000


@pytest.mark.parametrize(
    "table", ["keyword_data", "keyword_idx", "keyword_docsize", "keyword_config", "keyword"]
)
def test_lost_keyword_tables_are_repaired(tmp_path: Path, table: str) -> None:
    """Whichever table of the keyword index is gone, opening writes the whole index anew."""
    path = tmp_path / "m.db"
    with MemoryStore(path) as store:
        store.put(("a",), "k", {"text": "an aardvark"})
        store.put(("a",), "hidden", {"text": "an aardvark"}, index=False)
        store.remember(("a",), [("user", "the zeppelin"), ("ai", "a quagga")], thread_id="t")
    raw = apsw.Connection(str(path))
    if table == "keyword":
        raw.pragma("writable_schema", True)
        raw.execute("DELETE FROM sqlite_schema WHERE name = ?", (table,))
    else:
        raw.execute(f"DROP TABLE {table}")
    raw.close()

    Engine(path).close()  # somebody who cannot write the items into it must not hide the loss
    with MemoryStore(path) as store, store._core.engine.read() as snapshot:
        assert check(snapshot.connection) == []
        ids = snapshot.connection.execute("SELECT rowid FROM keyword('zeppelin')").fetchall()
        assert len(ids) == 2  # the turn and, by context, its neighbour
    with MemoryStore(path, index=False) as store:
        assert [item.key for item in store.search(("a",), query="aardvark")] == ["k"]


def test_damaged_page_is_a_clear_error(tmp_path: Path) -> None:
    """A damaged page is reported as such, with the next step; the check names it too."""
    path = tmp_path / "m.db"
    with MemoryStore(path, index=False) as store:
        store.batch(
            PutOp(("a",), f"k{n}", {"text": f"number {n} " + "x" * 300}) for n in range(300)
        )
    pages = bytearray(path.read_bytes())
    starts = range(0, len(pages), 4096)
    with_values = [start for start in starts if b"x" * 300 in pages[start : start + 4096]]
    for start in with_values[:20]:
        pages[start : start + 64] = b"\xff" * 64
    path.write_bytes(pages)
    store = MemoryStore(path, index=False)
    with pytest.raises(DatabaseError, match=r"damaged .*Run `langmemory doctor`"):
        store.batch(GetOp(("a",), f"k{n}") for n in range(300))
    with store._core.engine.database.read() as connection:
        assert check(connection)


def _open_and_put(path: str, n: int) -> None:
    with MemoryStore(path, index=False) as store:
        store.put(("a",), f"k{n}", {"n": n})


def test_first_open_by_many_processes(tmp_path: Path) -> None:
    """Processes that open a new file at the same moment all succeed and share it."""
    spawn = process_context()
    for attempt in range(2):
        path = str(tmp_path / f"m{attempt}.db")
        workers = [spawn.Process(target=_open_and_put, args=(path, n)) for n in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(30)
        assert [worker.exitcode for worker in workers] == [0] * 6
        with MemoryStore(path, index=False) as store:
            assert len(store.search(("a",), limit=99)) == 6


def test_file_made_anew_at_the_same_path(tmp_path: Path) -> None:
    """A deleted file's index is not taken for the new file's, even if the old store still lives."""
    path = tmp_path / "m.db"
    old = MemoryStore(path)
    for n in range(5):
        old.put(("a",), f"old{n}", {"text": f"old note {n}"})
    assert len(old.search(("a",), query="note")) == 5
    for file in tmp_path.iterdir():
        file.unlink()
    with MemoryStore(path) as new:
        new.put(("b",), "new", {"text": "new note"})
        assert [(i.key, i.score is not None) for i in new.search((), query="note")] == [
            ("new", True)
        ]


def test_application_id_marks_the_file(tmp_path: Path) -> None:
    """``file(1)`` and other tools can tell a memory file from any other database."""
    MemoryStore(tmp_path / "m.db", index=False).close()
    with closing(sqlite3.connect(tmp_path / "m.db")) as looking:
        found = looking.execute("PRAGMA application_id").fetchone()
    assert found == (APPLICATION_ID,)
