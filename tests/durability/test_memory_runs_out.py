"""SQLite gets no more memory, at some allocation of a call: it says so, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.seeds import examples

pytestmark = pytest.mark.sqlite("a limit of SQLite's heap")

CALLS = int(os.environ.get("LANGMEMORY_HEAP_LIMITS", examples(2_000, first=80)))
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
