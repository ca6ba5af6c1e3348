"""Killed while it reads: no half document, and the next run finishes."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.resources import is_chunk
from tests.places import address

pytestmark = pytest.mark.thorough

FILES = 500
KILLS = 10
READING = """
import signal, sys
from langmemory import MemoryStore
share, wait = map(float, sys.argv[3:])
def progress(number, total, name):
    if number >= share * total and signal.getitimer(signal.ITIMER_REAL) == (0, 0):
        signal.setitimer(signal.ITIMER_REAL, wait)
MemoryStore(sys.argv[1]).documents.add(sys.argv[2], progress=progress)
"""
"""It ends by an alarm that nothing handles: as a kill does, at any instruction, however busy the machine."""


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
        command = [sys.executable, "-c", READING, address(Path(path)), str(folder)]
        killed = subprocess.run([*command, *map(str, moment)], check=False)
        assert killed.returncode == -signal.SIGALRM
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
