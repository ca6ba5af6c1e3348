"""Intent: what is asked for, and of which time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from langmemory.recall.intent import read_intent

NOW = datetime(2024, 6, 12, 15, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("When did she move?", "when"),
        ("Seit wann wohnt er dort?", "when"),
        ("¿Dónde vive Ana?", "where"),
        ("谁喜欢爬山？", "who"),
        ("How many dogs are there?", "count"),
        ("What is her favourite colour?", "preference"),
        ("Warum ist sie gegangen?", "why"),
        ("Who is his sister?", "relation"),
    ],
)
def test_questions_are_recognised(query: str, asks: str) -> None:
    """Each language's rules tell what a question asks for."""
    assert asks in read_intent(query, NOW).asks


@pytest.mark.parametrize(
    ("query", "since", "until"),
    [
        ("what happened yesterday", (2024, 6, 11), (2024, 6, 12)),
        ("what did we say last week", (2024, 6, 3), (2024, 6, 10)),
        ("was war letzten Monat", (2024, 5, 1), (2024, 6, 1)),
        ("trips in May 2023", (2023, 5, 1), (2023, 6, 1)),
        ("the party on 7 July 2023", (2023, 7, 7), (2023, 7, 8)),
        ("logs of 2023-07-07", (2023, 7, 7), (2023, 7, 8)),
        ("去年的旅行", (2023, 1, 1), (2024, 1, 1)),
        ("what did he do last winter", (2023, 12, 1), (2024, 3, 1)),
        ("news since March 2024", (2024, 3, 1), (2024, 6, 12, 15)),
        ("the letter from Ana in March 2024", (2024, 3, 1), (2024, 4, 1)),
        ("was ist vor dem 7. Juli 2023 passiert", (1970, 1, 1), (2023, 7, 7)),
    ],
)
def test_times_become_windows(query: str, since: tuple[int, ...], until: tuple[int, ...]) -> None:
    """Dates and ranges in a query become a window relative to the injected now."""
    assert read_intent(query, NOW).window == (
        datetime(*since, tzinfo=UTC),  # type: ignore[misc,arg-type]
        datetime(*until, tzinfo=UTC),  # type: ignore[misc,arg-type]
    )


def test_a_month_without_a_year_is_a_period_of_any_year() -> None:
    """A bare month narrows nothing down, but is known."""
    intent = read_intent("Where did Ana go in July?", NOW)
    assert intent.window is None
    assert intent.period is not None
    assert intent.period.month == 7


def test_verbs_are_not_months() -> None:
    """ "may" and "march" as verbs name no time."""
    assert read_intent("who may march", NOW).period is None


def test_impossible_dates_are_no_error() -> None:
    """A day that does not exist leaves the query without a window."""
    assert read_intent("on 31 February 2023", NOW).window is None
    assert read_intent("2023-13-45", NOW).window is not None
