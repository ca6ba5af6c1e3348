"""deepagents reads bound files as its memory, and what it writes into them is a proposal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from langmemory.stores import MemoryStore

pytest.importorskip("deepagents", reason="deepagents is not installed")
from deepagents import MemoryMiddleware
from deepagents.backends import CompositeBackend, StateBackend

from langmemory.deepagents import CoreFilesBackend

PLACE = ("memories", "maria")


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    store = MemoryStore(tmp_path / "memory.db", index=False)
    file = tmp_path / "AGENTS.md"
    file.write_text("# Rules\nBe kind.\n", "utf-8")
    store.core_files.bind(file, PLACE)
    return store


def test_its_memory_is_the_bound_file(store: MemoryStore, tmp_path: Path) -> None:
    """The middleware of deepagents loads the file as it is now, through a route."""
    (tmp_path / "AGENTS.md").write_text("Be brief.", "utf-8")
    backend = CompositeBackend(StateBackend(), {"/core/": CoreFilesBackend(store, PLACE)})
    middleware = MemoryMiddleware(backend=backend, sources=["/core/AGENTS.md", "/core/NO.md"])
    empty: Any = {}
    loaded = middleware.before_agent(empty, empty, empty)
    assert loaded == {"memory_contents": {"/core/AGENTS.md": "Be brief."}}


def test_its_edits_are_proposals(store: MemoryStore, tmp_path: Path) -> None:
    """An edit is answered with the review that asks; approving it writes the file. There is no other path."""
    backend = CoreFilesBackend(store, PLACE)
    done = backend.edit("/AGENTS.md", "kind", "very kind")
    again = backend.edit("/AGENTS.md", "# Rules", "# House rules")
    [review] = store.changes.reviews(PLACE)
    assert review.id in str(again.error)
    assert "a person decides" in str(done.error)
    assert backend.read("/AGENTS.md").file_data == {
        "content": "# Rules\nBe kind.",
        "encoding": "utf-8",
    }
    store.changes.decide(review.id, "approve")
    assert (tmp_path / "AGENTS.md").read_text("utf-8") == "# House rules\nBe very kind.\n"
    assert "not once" in str(backend.edit("/AGENTS.md", "cruel", "kind").error)
    assert "file_not_found" in str(backend.write("/../memory.db", "x").error)
    assert backend.grep("very").matches == [
        {"path": "/AGENTS.md", "line": 2, "text": "Be very kind."}
    ]
