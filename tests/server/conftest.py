"""What tests of the server share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from langmemory.stores import MemoryStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """An empty memory file."""
    with MemoryStore(tmp_path / "memory.db") as opened:
        yield opened
