"""Files on the disk: who may read them, and which ones a killed process leaves behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from langmemory import MemoryStore, build_reflection_graph
from langmemory.cli.app import app
from langmemory.errors import ForgettingError
from langmemory.files import create_folder
from langmemory.projections.journal import JournalFiles
from tests.children import ended

NS = ("memories", "home")
pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes"),
    pytest.mark.sqlite("looks at files and their modes"),
]


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def told(store: MemoryStore, folder: Path | None = None) -> None:
    """A conversation with a public and a private part, reflected on, with its journal."""
    for thread, text, privacy in (
        ("a", "I live in Ulm.", "shared"),
        ("b", "I'm allergic to nuts.", "private"),
    ):
        store.remember(
            NS,
            [{"role": "user", "name": "Mia", "content": text}],
            thread_id=thread,
            owner="mia",
            privacy=privacy,  # type: ignore[arg-type]
        )
    build_reflection_graph(store).invoke({"namespace": list(NS)})
    if folder is not None:
        JournalFiles(folder).rebuild(store.journal)


def test_the_memory_file_is_its_owners_alone(tmp_path: Path) -> None:
    """A new memory file, its WAL and its shared memory can be read by nobody else on the machine."""
    with MemoryStore(tmp_path / "memory.db") as store:
        told(store)
        modes = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(("memory.db", "memory.db-wal", "memory.db-shm"), 0o600)


def test_a_mode_that_somebody_chose_stays(tmp_path: Path) -> None:
    """A memory file that was there, empty or not, keeps the mode its owner gave it, and so does the
    WAL beside it: a group may share a file."""
    path = tmp_path / "memory.db"
    path.touch()
    path.chmod(0o660)
    for _ in range(2):
        with MemoryStore(path) as store:
            told(store)
            modes = {one.name: mode(one) for one in tmp_path.iterdir()}
        assert modes == dict.fromkeys(("memory.db", "memory.db-wal", "memory.db-shm"), 0o660)


def test_the_journal_is_its_owners_alone(tmp_path: Path) -> None:
    """Pages of the journal are 0600 in folders of 0700; a page whose mode somebody changed keeps it."""
    folder = tmp_path / "pages" / "journal"
    with MemoryStore(tmp_path / "memory.db") as store:
        told(store, folder)
        made = [tmp_path / "pages", *(tmp_path / "pages").rglob("*")]
        assert {mode(one) for one in made if one.is_dir()} == {0o700}
        pages = sorted(one for one in made if one.is_file())
        assert len(pages) == 2
        assert {mode(one) for one in pages} == {0o600}
        for page in pages:
            page.chmod(0o640)
        store.delete(NS, next(i.key for i in store.search(NS) if "Ulm" in str(i.value)))
        JournalFiles(folder).rebuild(store.journal)
        assert {mode(one) for one in folder.rglob("*.md")} == {0o640}


def test_exports_and_pictures_are_their_owners_alone(tmp_path: Path) -> None:
    """Files that the command line writes have mode 0600; an existing file keeps its mode."""
    with MemoryStore(tmp_path / "memory.db") as store:
        told(store)
    command = ["--db", str(tmp_path / "memory.db")]
    export, kept = tmp_path / "export.jsonl", tmp_path / "kept.jsonl"
    kept.touch(0o644)
    picture, graph, chart = (tmp_path / f"graph.{kind}" for kind in ("png", "graphml", "mmd"))
    for arguments in (
        ["export", str(export)],
        ["export", str(kept)],
        ["graph", "-n", "/".join(NS), "--png", str(picture), "--graphml", str(graph)],
        ["graph", "-n", "/".join(NS), "--mermaid", str(chart)],
    ):
        done = CliRunner().invoke(app, [*command, *arguments])
        assert done.exit_code == 0, done.output
    assert [mode(one) for one in (export, picture, graph, chart)] == [0o600] * 4
    assert mode(kept) == 0o644


def test_folders_are_created_private_and_found_as_they_are(tmp_path: Path) -> None:
    """Only folders that are missing get a mode; where a file has the name, that is an error."""
    (tmp_path / "open").mkdir(0o755)
    create_folder(tmp_path / "open" / "one" / "two")
    assert mode(tmp_path / "open") == 0o755
    assert mode(tmp_path / "open" / "one") == mode(tmp_path / "open" / "one" / "two") == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        create_folder(tmp_path / "file")


KILLED = """
import os, pathlib, signal, sys
from langmemory import MemoryStore
from langmemory.projections.journal import JournalFiles
def die(self, target):
    os.kill(os.getpid(), signal.SIGKILL)
pathlib.Path.replace = die
with MemoryStore(sys.argv[1]) as store:
    JournalFiles(sys.argv[2]).rebuild(store.journal)
"""


def killed(path: Path, folder: Path) -> list[Path]:
    """Leave the files of a process that is killed before it replaces its first page."""
    assert ended(KILLED, path, folder) == -signal.SIGKILL
    left = [one for one in folder.rglob("*") if one.is_file()]
    assert [one.name.startswith(".") for one in left] == [True]
    return left


def test_forgetting_takes_what_a_killed_process_left(tmp_path: Path) -> None:
    """After a kill during a write of the journal, `forget` leaves no word of what is forgotten in the
    folder, and no folder either."""
    folder = tmp_path / "journal"
    with MemoryStore(tmp_path / "memory.db") as store:
        told(store)
    killed(tmp_path / "memory.db", folder)
    with MemoryStore(tmp_path / "memory.db") as store:
        store.forget(NS, everything=True)
    assert list(folder.rglob("*")) == []


def test_the_next_write_takes_what_a_killed_process_left(tmp_path: Path) -> None:
    """The draft of a killed process is gone once its page is written; that of a living one stays."""
    folder = tmp_path / "journal"
    with MemoryStore(tmp_path / "memory.db") as store:
        told(store)
    [left] = killed(tmp_path / "memory.db", folder)
    living = left.with_name(".2026-01-01.md.1.1")
    with MemoryStore(tmp_path / "memory.db") as store, living.open("wb") as stream:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX)
        key = next(i.key for i in store.search(NS) if "Ulm" in str(i.value.get("text")))
        JournalFiles(folder).write(store.journal, NS, [key])
        assert not left.exists()
        assert living.exists()


def test_forgetting_says_so_where_a_left_draft_cannot_be_removed(tmp_path: Path) -> None:
    """Where the draft of a killed process cannot be removed, `forget` reports no success."""
    folder = tmp_path / "journal"
    with MemoryStore(tmp_path / "memory.db") as store:
        told(store)
    [left] = killed(tmp_path / "memory.db", folder)
    unlink = Path.unlink

    def refuse(self: Path, missing_ok: bool = False) -> None:
        if self.name == left.name:
            raise PermissionError(13, "Permission denied", str(self))
        unlink(self, missing_ok)

    with MemoryStore(tmp_path / "memory.db") as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(ForgettingError, match="journal"):
            store.forget(NS, everything=True)
    with MemoryStore(tmp_path / "memory.db") as store:
        store.forget(NS, everything=True)
    assert not left.exists()


def test_an_export_takes_what_a_killed_one_left(tmp_path: Path) -> None:
    """The unfinished copy of an export that was killed is gone after the next one."""
    with MemoryStore(tmp_path / "memory.db") as store:
        told(store)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = tmp_path / f"export.jsonl.{dead.pid}.part"
    left.write_text("I live in Ulm.")
    running = tmp_path / f"export.jsonl.{os.getppid()}.part"
    running.write_text("somebody else's")
    done = CliRunner().invoke(
        app, ["--db", str(tmp_path / "memory.db"), "export", str(tmp_path / "export.jsonl")]
    )
    assert done.exit_code == 0, done.output
    assert not left.exists()
    assert running.exists()
