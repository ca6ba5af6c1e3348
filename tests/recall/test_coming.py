"""What is true only later does not answer what holds now."""

from __future__ import annotations

import pytest

from langmemory.errors import InvalidValueError
from langmemory.stores import MemoryStore

HOME = ("home",)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where does Anna live?", "now"), ("Who is Anna?", "now"), ("Where will Anna live?", "later"),
        ("Where is Anna going to live next year?", "later"),
    ],
)  # fmt: skip
def test_what_holds_today_comes_first_unless_the_future_is_asked(
    store: MemoryStore, question: str, first: str
) -> None:
    """A put says since when it is true; ``recall`` compares that with today and with the question."""
    store.put(HOME, "now", {"text": "Anna lives in Porto", "valid_at": "2025-01-05"})
    store.put(
        HOME, "later", {"text": "Anna lives in Kiel", "valid_at": "2199-01-05T00:00:00+01:00"}
    )
    assert store.recall(question, HOME).results[0].memory.key == first


def test_a_put_says_from_when_to_when(store: MemoryStore) -> None:
    """Times are read with and without a zone, in sync and async batches; null is none, and what is no time is
    refused with what to write."""
    store.put(
        HOME,
        "k",
        {"text": "x", "valid_at": "2026-01-05", "invalid_at": "2026-03-01T12:00:00+02:00"},
    )
    memory = store.admin.memory(HOME, "k")
    assert memory is not None
    assert str(memory.valid_at) == "2026-01-05 00:00:00+00:00"
    assert memory.invalid_at is not None
    assert memory.invalid_at.hour in (10, 12)
    store.put(HOME, "k", {"text": "x", "valid_at": None, "invalid_at": None})
    memory = store.admin.memory(HOME, "k")
    assert memory is not None
    assert (memory.valid_at, memory.invalid_at) == (None, None)
    for wrong in ("in spring", 12, ["2026"], "2026-13-01"):
        with pytest.raises(InvalidValueError, match=r"valid_at is .*ISO 8601"):
            store.put(HOME, "bad", {"text": "x", "valid_at": wrong})
    assert store.get(HOME, "bad") is None
