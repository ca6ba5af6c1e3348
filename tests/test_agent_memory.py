"""Memory without a graph, in five methods."""

from __future__ import annotations

import pytest

from langmemory import AgentMemory, MemoryStore
from langmemory.errors import ConfigError

HOME = ("memories", "mia")


def test_five_methods_remember_search_derive_age_and_show(store: MemoryStore) -> None:
    """What is written is found, what was said becomes facts, a night runs, and the block has its mandates."""
    memory = AgentMemory(store, HOME, "mia")
    key = memory.manage("The bicycle is green.")
    assert memory.search("Which colour is the bicycle?").results[0].memory.key == key
    memory.manage("The bicycle is blue.", action="update", key=key)
    said = [{"role": "user", "name": "Mia", "content": "I live in Ghent."}]
    assert len(memory.flush(said, "monday")) == 1
    assert [one.text for one in store.admin.memories(HOME) if "fact_kind" in one.value] == [
        "Mia lives in Ghent."
    ]
    store.put(HOME, "rule", {"text": "Answer briefly.", "priority": "mandate"})
    block = memory.format_for_injection("Which colour is the bicycle?")
    assert "Answer briefly." in block
    assert "blue" in block
    assert "green" not in block
    assert memory.dream(dry_run=True)["reports"]
    assert memory.dream()["reports"]
    memory.manage(action="delete", key=key)
    assert all(one.memory.key != key for one in memory.search("Which colour is the bicycle?"))
    [run] = [one for one in store.changes.runs(HOME) if "deleted by the agent" in one.reason]
    store.changes.undo(run.id)
    assert store.get(HOME, key) is not None
    with pytest.raises(ConfigError, match="need a key"):
        memory.manage("x", action="update")


def test_a_viewer_reads_and_shows_nothing_private_of_others(store: MemoryStore) -> None:
    """As at every other door."""
    AgentMemory(store, HOME, "joe")
    store.for_viewer("joe").put(
        HOME,
        "diary",
        {"text": "Joe hides the presents.", "privacy": "private", "priority": "mandate"},
    )
    memory = AgentMemory(store, HOME, "mia")
    assert memory.search("Where are the presents?").results == ()
    assert memory.format_for_injection("Where are the presents?") == ""
