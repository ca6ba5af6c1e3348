"""Killed while it reads: no half document, and the next run finishes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.resources import is_chunk
from tests.places import address

pytestmark = pytest.mark.thorough

FILES = 2_000
KILLS = 10
READING = (
    "import sys; from langmemory import MemoryStore; "
    "MemoryStore(sys.argv[1]).documents.add(sys.argv[2])"
)


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
    chance = random.Random(5)
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", READING, address(Path(path)), str(folder)]
        )
        time.sleep(1.5 + chance.random() * 2)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        check(path)
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
