"""Killed while it reads: no half document, and the next run finishes."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.resources import is_chunk
from tests.children import process_context
from tests.places import address

pytestmark = pytest.mark.thorough

FILES = 1_000
KILLS = 10


def read(path: str, folder: str, share: float, wait: float) -> None:
    """Read a folder, until an alarm that nothing handles: it ends as by a kill, at any instruction."""

    def progress(number: int, total: int, name: str) -> None:
        if number >= share * total and signal.getitimer(signal.ITIMER_REAL) == (0, 0):
            signal.setitimer(signal.ITIMER_REAL, wait)

    MemoryStore(path).documents.add(folder, progress=progress)


def test_ten_kills_leave_whole_documents(tmp_path: Path) -> None:
    """Whatever was written is whole at each kill; nothing is read twice, and nothing is left over."""
    folder, path = tmp_path / "docs", str(tmp_path / "memory.db")
    folder.mkdir()
    for number in range(FILES):
        parts = "".join(
            f"## Part {part}\n\nOf page {number}, part {part}.\n\n" for part in range(4)
        )
        (folder / f"page-{number:04}.md").write_text(f"# Page {number}\n\nIt is a page.\n\n{parts}")
    MemoryStore(path).close()
    chance, seen = random.Random(5), set[int]()
    for number in range(KILLS):
        moment = ((number + chance.random()) / (KILLS + 1), 1e-6 + chance.random() * 0.05)
        arguments = (address(Path(path)), str(folder), *moment)
        killed = process_context().Process(target=read, args=arguments)
        killed.start()
        killed.join()
        assert killed.exitcode == -signal.SIGALRM
        seen.add(check(path))
    assert len(seen) > KILLS // 2, "the kills did not fall into the reading"
    with MemoryStore(path) as store:
        before = len(store.documents.list())
        done = store.documents.add(folder)
        assert len(done.added) == FILES - before
        assert store.documents.add(folder).unchanged == FILES
    assert check(path) == FILES * 5


def check(path: str) -> int:
    """Check that there are exactly the chunks that the documents name; how many."""
    with MemoryStore(path) as store:
        items = store.search(("documents",), limit=1_000_000)
    named = {
        f"{item.key}/{part}"
        for item in items
        if item.value.get("record") == "document"
        for part in item.value["chunks"].split()
    }
    assert {item.key for item in items if is_chunk(item.value)} == named
    return len(named)
