"""The second and third layer: timeline, a memory in full."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages.utils import count_tokens_approximately

from langmemory.context import full, note_of, timeline
from langmemory.types import Memory
from tests.seeds import examples

NOW = datetime(2023, 5, 8, tzinfo=UTC)


def memory(key: str, text: str, day: int | None = 0, **facets: Any) -> Memory:
    at = None if day is None else NOW + timedelta(days=day)
    return Memory(
        id=1, namespace=("u",), key=key, value={}, text=text, created_at=NOW, updated_at=NOW,
        valid_at=at, kind="episodic", speaker="Maria", **facets,
    )  # fmt: skip


def label(memory: Memory) -> str:
    return note_of(memory).label


def test_the_timeline_is_in_order_around_the_memory() -> None:
    """Oldest first, the memory marked, the nearest neighbours kept, the undated at the end."""
    days = [memory(f"d{day}", f"day {day}", day) for day in (4, 1, 3, 0, 2)]
    undated = memory("x", "some day", None)
    block = timeline(days[4], [*days, undated])
    assert [line[-5:] for line in block.text.splitlines()] == [
        "day 0", "day 1", "day 2", "day 3", "day 4", "e day",
    ]  # fmt: skip
    assert [line[0] for line in block.text.splitlines()] == [" ", " ", ">", " ", " ", " "]
    tight = timeline(days[4], days, max_tokens=40)
    assert [line[-5:] for line in tight.text.splitlines()] == ["day 1", "day 2", "day 3"]
    assert len(tight.omitted) == 2


def test_a_memory_in_full_keeps_its_lines_and_names_its_evidence() -> None:
    """The text behind quotation bars, then what it was derived from."""
    block = full(
        memory("a", "first line\nsecond line"), [memory("e", "I moved", -1), memory("f", "in May")]
    )
    assert block.text.splitlines() == [
        f"[{label(memory('a', ''))}] Maria, 2023-05-08, episodic",
        "| first line",
        "| second line",
        f"from [{label(memory('e', ''))}] Maria, 2023-05-07: I moved",
        f"from [{label(memory('f', ''))}] Maria, 2023-05-08: in May",
    ]
    assert [entry.key for entry in block.entries] == ["a", "e", "f"]


@pytest.mark.parametrize("counter", [count_tokens_approximately, len])
@settings(max_examples=examples(60, first=20), deadline=None)
@given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=8), st.integers(0, 300))
def test_layers_never_exceed_their_budget(counter: Any, texts: list[str], limit: int) -> None:
    """Whatever fits is shown, the rest named, and not one token too many."""
    memories = [memory(f"{i}", f"x{text}", i) for i, text in enumerate(texts)]
    anchor = memories[len(memories) // 2]
    options: Any = {"max_tokens": limit, "token_counter": counter}
    for block in (
        timeline(anchor, memories, **options),
        full(anchor, memories, **options),
    ):
        if block.text:
            assert counter([block.as_message()]) == block.tokens <= limit
        labels = [entry.label for entry in block.entries] + list(block.omitted)
        assert label(anchor) in labels
