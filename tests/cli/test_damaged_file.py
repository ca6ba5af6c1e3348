"""A file with damaged bytes or pages: what is wrong is said, the rest comes out and stays in use."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import apsw
import pytest
from langgraph.store.base import PutOp

from langmemory.engines.sqlite.rescue import rescued
from langmemory.errors import DamagedFileError, DatabaseError
from langmemory.stores import MemoryStore
from tests.cli.place import Run
from tests.seeds import seeds

pytestmark = pytest.mark.sqlite("damages a file")

NS = ("memories", "me")
PAGE = 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 500 memories, of which one was deleted, made once."""
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with MemoryStore(path) as store:
        store.batch(
            PutOp(NS, f"k{n}", {"text": f"Number {n} is qzx{n} " + "and so on " * 20})
            for n in range(500)
        )
        store.put(NS, "k3", {"text": "Number 3 is changed"})
        store.delete(NS, "k4")
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    """A copy of it to damage."""
    return Path(shutil.copy(whole, tmp_path / "memory.db"))


def leaves_of(path: Path, name: str) -> list[int]:
    """Numbers of the leaf pages of a table or index, in its order."""
    connection = apsw.Connection(str(path))
    try:
        root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get
    finally:
        connection.close()
    data, found, todo = path.read_bytes(), [], [root]
    while todo:
        page = todo.pop(0)
        image = data[(page - 1) * PAGE : page * PAGE]
        if image[0] in (10, 13):
            found.append(page)
            continue
        cells = int.from_bytes(image[3:5], "big")
        places = [int.from_bytes(image[12 + 2 * n : 14 + 2 * n], "big") for n in range(cells)]
        todo += [int.from_bytes(image[at : at + 4], "big") for at in places]
        todo.append(int.from_bytes(image[8:12], "big"))
    return found


def zero(path: Path, pages: Iterable[int]) -> None:
    data = bytearray(path.read_bytes())
    for page in pages:
        data[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)
    path.write_bytes(data)


def break_text(path: Path, text: bytes, by: bytes) -> None:
    data = path.read_bytes()
    assert text in data
    path.write_bytes(data.replace(text, by))


def exported(run: Run, path: Path, *words: str) -> tuple[set[str], str]:
    """Keys of the items that a command writes to a file, and what it says."""
    out = path.with_name("out.jsonl")
    result = run(*words, str(out), "--db", str(path))
    assert out.exists(), result.output
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    return {row["key"] for row in rows if row["type"] == "item"}, result.output


EVERY = {f"k{n}" for n in range(500)} - {"k4"}


@pytest.mark.parametrize("command", [("export",), ("doctor", "--rescue")])
@pytest.mark.parametrize("which", seeds([5, 0, -1], first=1))
def test_a_lost_page_of_memories_takes_only_those_on_it(
    run: Run, path: Path, command: tuple[str, ...], which: int
) -> None:
    """With one leaf page of the memories zeroed, export and rescue write all others, name each lost one,
    and what they write can be imported."""
    page = leaves_of(path, "item")[which]
    zero(path, [page])
    keys, said = exported(run, path, *command)
    lost = EVERY - keys
    assert 0 < len(lost) < 25
    for key in lost:
        assert f"memories/me/{key} " in said.replace(".", "/")
    new = path.with_name("new.db")
    assert run("import", str(path.with_name("out.jsonl")), "--db", str(new)).exit_code == 0
    with MemoryStore(new) as store:
        assert {item.key for item in store.search(NS, limit=1000)} == keys
    report = run("doctor", "--db", str(path))
    assert report.exit_code == 1
    flat = "".join(report.output.split())
    for key in lost:
        assert f"memories.me/{key}(" in flat


@pytest.mark.parametrize(
    "table",
    seeds(
        ["item_class", "history", "keyword_data", "vector", "leaf_item", "sqlite_autoindex_item_1",
         "item_reader", "history_item", "keyword_idx", "keyword_docsize", "leaf", "code", "namespace",
         "thread"],
        first=5,
    ),
)  # fmt: skip
def test_a_lost_page_of_anything_else_takes_no_memory(run: Run, path: Path, table: str) -> None:
    """With a leaf page of an index, of the keyword index, of the history or of vectors zeroed, rescue
    writes every memory, and so does export; the doctor reports it."""
    with apsw.Connection(str(path)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    leaves = leaves_of(path, table) if table in names else []
    if not leaves:
        pytest.skip("has no page")
    zero(path, [leaves[len(leaves) // 2]])
    keys, said = exported(run, path, "doctor", "--rescue")
    assert keys == EVERY, said
    keys, said = exported(run, path, "export")
    assert keys == EVERY, said
    report = run("doctor", "--db", str(path))
    assert report.exception is None or isinstance(report.exception, SystemExit)
    if table not in ("thread", "sqlite_sequence"):
        assert report.exit_code == 1


@pytest.mark.parametrize("by", [b"Number 7 is q\xff\xfe7", b'Number 7 is q"}\x00'])
def test_a_damaged_byte_is_reported_and_the_rest_goes_on(run: Run, path: Path, by: bytes) -> None:
    """One damaged text, as bytes that are no text or no JSON: every command says so in words, the doctor
    names the row, the rest comes out, and put, delete and forget of others work."""
    break_text(path, b"Number 7 is qzx7", by + b"x" * (16 - len(by)))
    keys, said = exported(run, path, "export")
    assert keys | {"k7"} == EVERY
    assert "me/k7 " in said
    keys, _ = exported(run, path, "doctor", "--rescue")
    assert keys | {"k7"} == EVERY
    assert "me/k7(" in "".join(run("doctor", "--db", str(path)).output.split())
    with MemoryStore(path) as store:
        with pytest.raises(DatabaseError, match="damaged"):
            store.get(NS, "k7")
        store.put(NS, "new", {"text": "Something new"})
        store.put(NS, "k9", {"text": "Something else"})
        store.delete(NS, "k10")
        assert store.forget(NS, keys=["k11"]).memories == 1
        assert b"qzx11 " not in path.read_bytes()
        kept, rows = set(), store.admin.export()

        def read_all() -> None:
            for row in rows:
                kept.add(row.get("key"))

        with pytest.raises(DamagedFileError) as error:
            read_all()
        assert {"k6", "k8", "new"} <= kept
        assert ["k7" in str(damage) for damage in error.value.damages] == [True]


def test_put_delete_and_forget_beside_a_lost_page(path: Path) -> None:
    """With a leaf page of the memories zeroed, those on other pages are put, deleted and forgotten, and
    of the forgotten one no byte stays."""
    zero(path, [leaves_of(path, "item")[5]])
    with rescued(str(path)) as found:
        rows = found.connection.execute("SELECT key FROM item").fetchall()
    known = {key for (key,) in rows}
    gone = sorted(known, key=lambda key: int(key[1:]))[-3:]
    with MemoryStore(path) as store:
        store.put(NS, "new", {"text": "Something new"})
        store.delete(NS, gone[0])
        assert store.forget(NS, keys=[gone[1]]).memories == 1
        assert f"qzx{gone[1][1:]} ".encode() not in path.read_bytes()
        item = store.get(NS, "new")
        assert item is not None


def test_a_file_that_was_cut_off_gives_what_is_left(run: Run, path: Path) -> None:
    """Of a file that lost its second half, in which this one has indexes, a rescue writes every memory."""
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 // PAGE * PAGE)
    keys, said = exported(run, path, "doctor", "--rescue")
    assert keys == EVERY, said


def test_a_file_without_its_list_of_tables_gives_no_hope(run: Run, path: Path) -> None:
    """With the body of the first page zeroed nothing can be read: the doctor says so, sends nobody to
    a rescue that cannot help, and a rescue that is asked for leaves no file."""
    data = bytearray(path.read_bytes())
    data[100:PAGE] = bytes(PAGE - 100)
    path.write_bytes(data)
    report = run("doctor", "--db", str(path))
    assert report.exit_code == 1
    told = " ".join(report.output.split())
    assert "Restore a backup" in told
    assert "--rescue" not in told
    target = path.with_name("rescued.jsonl")
    asked = run("doctor", "--rescue", str(target), "--db", str(path))
    assert asked.exit_code == 1
    assert "Restore a backup" in " ".join(asked.output.split())
    assert not target.exists()


@pytest.mark.parametrize(("begin", "end"), [(0, 100), (0, PAGE), (100, PAGE), (16, 24)])
@pytest.mark.parametrize("byte", seeds([b"\0", b"\xff"], first=1))
def test_a_damaged_first_page_is_told_when_the_file_is_opened(
    run: Run, path: Path, begin: int, end: int, byte: bytes
) -> None:
    """Wherever the first page is damaged, opening the file, a listing and the doctor name the file and
    say what to do, and none of them changes a byte of it."""
    data = bytearray(path.read_bytes())
    data[begin:end] = byte * (end - begin)
    path.write_bytes(data)
    with pytest.raises(DatabaseError, match=r"memory\.db"):
        MemoryStore(path).get(NS, "k1")
    for command in (("list",), ("doctor",)):
        told = run(*command, "--db", str(path))
        assert told.exit_code == 1
        assert "memory.db" in "".join(told.output.split())
        assert "Traceback" not in told.output
    asked = run("doctor", "--rescue", str(path.with_name("rescued.jsonl")), "--db", str(path))
    assert asked.exit_code in (0, 1)
    assert "Traceback" not in asked.output
    assert path.read_bytes() == data


def test_a_line_of_fifty_megabytes_is_refused(run: Run, path: Path) -> None:
    """A conversation with a line of 50 MB, as of a file that is something else, is refused by the
    number of its line, and nothing of it is stored."""
    file = path.with_name("chat.jsonl")
    with file.open("wb") as lines:
        lines.write(b'{"role": "user", "content": "' + b"x" * 50_000_000 + b'"}\n')
    told = run("import", str(file), "--db", str(path))
    assert told.exit_code == 1
    said = " ".join(told.output.split())
    assert "line 1" in said
    assert "16 MiB" in said
    with MemoryStore(path) as store:
        assert store.stats().items == 499
