"""Edges: whether a date in a question is the time asked about, or where that time ends or begins."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from langmemory import MemoryStore
from langmemory.languages import Edge
from langmemory.languages.temporal.query import EARLIEST
from langmemory.recall.intent import read_intent
from tests.tables import tables

CASES = tables(__file__)

NOW = datetime(2024, 6, 12, 15, tzinfo=UTC)  # a Wednesday
Day = tuple[int, int, int]


def at(day: Day) -> datetime:
    return datetime(*day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "end"),
    CASES["upper_bounds_end_the_time_asked_about"],
)
def test_upper_bounds_end_the_time_asked_about(query: str, end: Day) -> None:
    """ "By", "as of", "until" and "before" a date ask for everything up to it, not for that day."""
    intent = read_intent(query, NOW)
    assert intent.window is not None
    assert intent.edge in ("until", "before")
    assert intent.window[0] == EARLIEST
    assert abs(intent.window[1] - at(end)) < timedelta(days=1)
    assert intent.horizon == intent.window[1]


@pytest.mark.parametrize(
    ("query", "begin"),
    CASES["lower_bounds_begin_the_time_asked_about"],
)
def test_lower_bounds_begin_the_time_asked_about(query: str, begin: Day) -> None:
    """ "Since" and "after" a date ask for everything from it on."""
    intent = read_intent(query, NOW)
    assert intent.edge in ("since", "after")
    assert intent.window == (at(begin), NOW)
    assert intent.horizon is None


@pytest.mark.parametrize(
    "query",
    CASES["around_a_date_is_its_neighbourhood"],
)
def test_around_a_date_is_its_neighbourhood(query: str) -> None:
    """ "Around" a date means the days before it as well as those after it."""
    intent = read_intent(query, NOW)
    assert intent.edge == "around"
    assert intent.window == (at((2024, 5, 14)), at((2024, 5, 15)))


@pytest.mark.parametrize(
    "query",
    CASES["on_a_date_is_that_date"],
)
def test_on_a_date_is_that_date(query: str) -> None:
    """ "On", "in" and "during" mean the time itself, whatever other prepositions stand further off."""
    intent = read_intent(query, NOW)
    assert intent.edge is None
    assert intent.window == (at((2024, 5, 14)), at((2024, 5, 15)))


@pytest.mark.parametrize(
    ("query", "begin", "end"),
    CASES["dates_together_enclose_a_time"],
)
def test_dates_together_enclose_a_time(query: str, begin: Day, end: Day) -> None:
    """A time may be fixed by two dates, or by how long before or after a date it was."""
    intent = read_intent(query, NOW)
    assert intent.window == (at(begin), at(end))


@pytest.mark.parametrize(
    ("query", "edge"),
    [
        ("What must be handed in by 14 August?", "until"),
        ("Was muss bis zum 14. August fertig sein?", "until"),
        ("¿Qué tengo que entregar para el 14 de agosto?", "until"),
        ("8月14日之前必须做完什么", "before"),
    ],
)
def test_what_is_still_due_is_not_in_the_past(query: str, edge: Edge) -> None:
    """A bound without a year that is still to come leaves nothing out that was said by now."""
    intent = read_intent(query, NOW)
    assert intent.edge == edge
    assert intent.window is not None
    assert intent.window[1] > NOW
    assert intent.horizon is None


@pytest.mark.parametrize(
    "query",
    [
        "Who was the song by?",
        "a letter by May",
        "the painting by June",
        "stand by me",
        "by far the best",
    ],
)
def test_what_somebody_made_is_no_bound(query: str) -> None:
    """ "By" before a person, or before nothing that is a date, bounds no time of a single day."""
    intent = read_intent(query, NOW)
    assert intent.window is None or intent.edge == "until"


WEIGHTS = [80, 79, 78, 77, 76, 75]


@pytest.fixture
def diary() -> MemoryStore:
    """Half a year of a person, who says their weight every month and much on 14 May."""
    store = MemoryStore(":memory:")
    for month, kilos in enumerate(WEIGHTS, start=1):
        store.remember(
            ("memories", "lena"),
            [{"role": "user", "content": f"I weigh {kilos} kilos this month."}],
            thread_id=f"m{month}",
            at=datetime(2024, month, 3, tzinfo=UTC),
        )
    talk = [f"Today I planted {plant} in the garden." for plant in PLANTS]
    store.remember(
        ("memories", "lena"),
        [{"role": "user", "content": text} for text in talk],
        thread_id="garden",
        at=datetime(2024, 5, 14, tzinfo=UTC),
    )
    return store


PLANTS = CASES["plants"]


@pytest.mark.parametrize(
    ("query", "first", "late"),
    [
        ("How much did I weigh by 14 May?", 76, 75),
        ("How much did I weigh as of 14 May 2024?", 76, 75),
        ("What was my weight in kilos until 10 April 2024?", 77, 76),
    ],
)
def test_a_bound_does_not_flood_the_results_with_its_day(
    diary: MemoryStore, query: str, first: int, late: int
) -> None:
    """Facts that held by the date come first, before later statements and other statements of that
    day."""
    found = diary.recall(query, ("memories", "lena"), now=NOW)
    texts = [result.text for result in found.results]
    assert texts[0] == f"I weigh {first} kilos this month."
    assert all("weigh" in text for text in texts[: first - 75])
    assert texts.index(f"I weigh {first} kilos this month.") < texts.index(
        f"I weigh {late} kilos this month."
    )


def test_that_day_is_asked_for_by_on(diary: MemoryStore) -> None:
    """Statements of a day come first for a question about that day."""
    found = diary.recall("What did I do on 14 May?", ("memories", "lena"), limit=5, now=NOW)
    assert all("planted" in result.text for result in found.results)


def test_the_trace_says_how_a_date_was_read(diary: MemoryStore) -> None:
    """The trace tells a bound from a day."""
    place = ("memories", "lena")
    found = diary.recall("my weight by 14 May 2024", place, now=NOW, explain=True)
    assert found.trace.intent["edge"] == "until"
    found = diary.recall("my weight on 14 May 2024", place, now=NOW, explain=True)
    assert "edge" not in found.trace.intent
