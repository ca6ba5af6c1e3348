"""An animal that died is no living pet, however soon after its name somebody says so."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from langmemory import AgentMemory, MemoryStore
from tests.tables import tables

HOME = ("memories", "lena")
SAID = datetime(2026, 11, 11, 13, 56, tzinfo=UTC)


def living(batches: list[list[str]]) -> list[str]:
    """The pets of somebody who says all of it in one second."""
    with MemoryStore(":memory:") as store:
        memory = AgentMemory(store, HOME, "lena")
        for texts in batches:
            said = [{"role": "user", "name": "Lena", "content": text} for text in texts]
            store.remember(HOME, said, thread_id="t", at=SAID)
            memory.flush([], "t")
        facts = [one.value for one in store.admin.memories(HOME) if one.status == "active"]
    return sorted(one["object"] for one in facts if one.get("relation") == "has_pet")


@pytest.mark.parametrize(("texts", "names"), tables(__file__)["cases"])
def test_a_dead_pet_is_no_living_one(texts: tuple[str, ...], names: tuple[str, ...]) -> None:
    """In one message or two of the same second, read together or one after the other, what was said last
    counts; who else died takes no pet along."""
    assert living([list(texts)]) == list(names)
    assert living([[one] for one in texts]) == list(names)
