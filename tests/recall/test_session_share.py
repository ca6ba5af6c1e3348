"""How something changed is told by several sessions: one may take a share of the results."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from langmemory import MemoryStore
from langmemory.recall.intent import read_intent
from langmemory.recall.selection import spread
from tests.recall.memory_source import NOW


def test_what_a_session_has_too_much_of_comes_later() -> None:
    """The order stays but for what exceeds the cap; what is of no session never does."""
    order = np.array([4, 0, 1, 2, 3, 5], np.int64)
    session = np.array([7, 7, 7, 8, -1, -1], np.int64)
    assert spread(order, session, 2).tolist() == [4, 0, 1, 3, 5, 2]


@pytest.mark.parametrize(
    "query",
    [
        "How has my weight changed?",
        "How did her view of the job evolve?",
        "my weight over the years",
        "Wie hat sich mein Gewicht entwickelt?",
        "¿Cómo ha cambiado mi peso?",
        "我的体重有什么变化？",
    ],
)
def test_questions_for_change_are_recognised(query: str) -> None:
    """A question how something changed over time is told from one for what holds."""
    assert "change" in read_intent(query, NOW).asks
    assert "change" not in read_intent("How much do I weigh?", NOW).asks


def test_change_over_time_is_told_by_several_sessions() -> None:
    """One evening on which much was said of a thing does not take all results of a question for how it
    changed."""
    with MemoryStore(":memory:") as store:
        place = ("memories", "lena")
        start = datetime(2024, 1, 1, tzinfo=UTC)
        for month in range(6):
            said = [f"My weight is {80 - month} kilos."]
            if month == 5:
                said += [
                    f"How my weight changed: weight diary, weight page {n}." for n in range(12)
                ]
            store.remember(
                place,
                [{"role": "user", "content": text} for text in said],
                thread_id=f"t{month}",
                at=start + timedelta(days=30 * month),
            )
        found = store.recall("How has my weight changed over the months?", place, limit=10)
        sessions = [result.memory.thread_id for result in found.results]
    assert sessions.count("t5") <= 5
    assert set(sessions) == {f"t{month}" for month in range(6)}
