"""Intent: what is asked for, and of which time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from langmemory.recall.intent import read_intent
from tests.tables import tables

CASES = tables(__file__)

NOW = datetime(2024, 6, 12, 15, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("query", "asks"),
    CASES["what_the_assistant_said_is_asked_for"],
)
def test_what_the_assistant_said_is_asked_for(query: str, asks: bool) -> None:
    """A question for earlier words of the assistant differs from a request for new ones."""
    assert read_intent(query, NOW).asks_listener is asks


@pytest.mark.parametrize(
    ("query", "asks"),
    CASES["questions_are_recognised"],
)
def test_questions_are_recognised(query: str, asks: str) -> None:
    """Each language's rules tell what a question asks for."""
    assert asks in read_intent(query, NOW).asks


@pytest.mark.parametrize(
    ("query", "since", "until"),
    CASES["times_become_windows"],
)
def test_times_become_windows(query: str, since: tuple[int, ...], until: tuple[int, ...]) -> None:
    """Dates and ranges in a query become a window relative to the injected now."""
    assert read_intent(query, NOW).window == (
        datetime(*since, tzinfo=UTC),  # type: ignore[misc,arg-type]
        datetime(*until, tzinfo=UTC),  # type: ignore[misc,arg-type]
    )


@pytest.mark.parametrize(
    "query",
    CASES["when_something_will_be_is_not_when_it_was_said"],
)
def test_when_something_will_be_is_not_when_it_was_said(query: str) -> None:
    """A time to come, in a request that does not speak of the past, is no time to look in."""
    intent = read_intent(query, NOW)
    assert (intent.period, intent.window) == (None, None)


def test_a_month_without_a_year_is_a_period_of_any_year() -> None:
    """A bare month narrows nothing down, but is known."""
    intent = read_intent("Where did Ana go in July?", NOW)
    assert intent.window is None
    assert intent.period is not None
    assert intent.period.month == 7


@pytest.mark.parametrize(
    ("query", "since", "until"),
    CASES["days_of_a_range_may_share_their_month"],
)
def test_days_of_a_range_may_share_their_month(
    query: str, since: tuple[int, int, int], until: tuple[int, int, int]
) -> None:
    """A range of days is read from the first to the last of them, whichever of the two has the month."""
    assert read_intent(query, NOW).window == (
        datetime(*since, tzinfo=UTC),
        datetime(*until, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    "query", ["5 apples on 7 May 2023", "at 7 May 2023, 3 to 4 pm", "May 7 to 12:30, 2023"]
)
def test_other_numbers_beside_a_day_make_no_range(query: str) -> None:
    """A count or a time of day is no second day."""
    assert read_intent(query, NOW).window == (
        datetime(2023, 5, 7, tzinfo=UTC),
        datetime(2023, 5, 8, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("query", "since"),
    CASES["since_leads_a_time_that_is_past_by_its_words"],
)
def test_since_leads_a_time_that_is_past_by_its_words(
    query: str, since: tuple[int, int, int]
) -> None:
    """ "Since last Friday" is from then until now, as "since May" is."""
    assert read_intent(query, NOW).window == (datetime(*since, tzinfo=UTC), NOW)


def test_before_leads_a_time_that_is_past_by_its_words() -> None:
    """ "Before last summer" ends where it began."""
    window = read_intent("what was before last summer", NOW).window
    assert window is not None
    assert window[1] == datetime(2023, 6, 1, tzinfo=UTC)


def test_verbs_are_not_months() -> None:
    """ "may" and "march" as verbs name no time."""
    assert read_intent("who may march", NOW).period is None


@pytest.mark.parametrize(
    ("query", "month"),
    CASES["months_may_be_written_small"],
)
def test_months_may_be_written_small(query: str, month: int) -> None:
    """A preposition, a day or a year tells the month from the verb, as nobody types capitals."""
    period = read_intent(query, NOW).period
    assert period is not None
    assert period.month == month


@pytest.mark.parametrize("query", ["When did I fall in love?", "Did he fall off the bike?"])
def test_falling_is_no_season(query: str) -> None:
    """ "fall" as a verb names no time."""
    assert read_intent(query, NOW).period is None


@pytest.mark.parametrize(
    "query",
    CASES["what_is_no_time_or_not_understood_is_none"],
)
def test_what_is_no_time_or_not_understood_is_none(query: str) -> None:
    """People called after months, mornings, and numbers that are read only in part fix no time."""
    intent = read_intent(query, NOW)
    assert (intent.period, intent.window) == (None, None)


@pytest.mark.parametrize(
    ("query", "since", "until"),
    [
        ("what happened forty-two days ago", (2024, 5, 1), (2024, 5, 2)),
        ("what happened twenty five years ago", (1999, 1, 1), (2000, 1, 1)),
        ("was war vor zwanzig Tagen", (2024, 5, 23), (2024, 5, 24)),
        ("十五天前我说了什么", (2024, 5, 28), (2024, 5, 29)),
    ],
)
def test_numbers_that_talk_has_are_read_in_queries(
    query: str, since: tuple[int, int, int], until: tuple[int, int, int]
) -> None:
    """A query reads each number word that formation reads: both have one table."""
    assert read_intent(query, NOW).window == (
        datetime(*since, tzinfo=UTC),
        datetime(*until, tzinfo=UTC),
    )


def test_a_part_of_a_month_is_not_near_now() -> None:
    """ "The last week of May" is in May, whatever last week was."""
    for query in ("the last week of May 2023", "the last Friday of May 2023"):
        window = read_intent(query, NOW).window
        assert window is not None
        assert window[0] == datetime(2023, 5, 1, tzinfo=UTC)


def test_impossible_dates_are_no_error() -> None:
    """A day that does not exist leaves the query without a window."""
    assert read_intent("on 31 February 2023", NOW).window is None
    assert read_intent("2023-13-45", NOW).window is not None


@pytest.mark.parametrize(
    "query", ["9999年12月", "since 9999年12月31日", "999 years ago", "ßßßßß may"]
)
def test_times_beyond_the_calendar_are_no_error(query: str) -> None:
    """Whatever number stands in a query, recall goes on; a letter may fold to two."""
    read_intent(query, NOW)
    read_intent(query, datetime(1, 1, 1, tzinfo=UTC))


def test_days_begin_where_now_is() -> None:
    """A date means the day of the timezone of now, across the end of a year too."""
    tokyo = timezone(timedelta(hours=9))
    now = datetime(2024, 1, 1, 0, 30, tzinfo=tokyo)
    day = datetime(2023, 12, 31, tzinfo=tokyo), datetime(2024, 1, 1, tzinfo=tokyo)
    assert read_intent("yesterday", now).window == day
    assert read_intent("on 31 December 2023", now).window == day
    assert read_intent("what was on 31 December", now).spans(range(2023, 2024)) == [day]


def test_a_range_of_months_without_a_year_is_of_any_year() -> None:
    """ "Between May and July" is May to July of every year there is."""
    intent = read_intent("what happened between May and July", NOW)
    assert intent.window is None
    assert intent.spans(range(2022, 2023)) == [
        (datetime(2022, 5, 1, tzinfo=UTC), datetime(2022, 8, 1, tzinfo=UTC))
    ]


@pytest.mark.parametrize(
    ("query", "month", "day"),
    [
        ("五月发生了什么", 5, None),
        ("十一月三十日我去了哪里", 11, 30),
        ("三月份我做了什么", 3, None),
        ("十月十日我做了什么", 10, 10),
        ("月亮是什么", None, None),
        ("我睡了三个月", None, None),
    ],
)
def test_chinese_months_and_days_may_be_written_out(
    query: str, month: int | None, day: int | None
) -> None:
    """ "五月" is May as "5月" is; "三个月" is no month of the calendar."""
    period = read_intent(query, NOW).period
    found = (None, None) if period is None else (period.month, period.day)
    assert found == (month, day)


@pytest.mark.parametrize(
    ("query", "since", "until"),
    [
        ("photos from May 2023", (2023, 5, 1), (2023, 6, 1)),
        ("the mail from last Friday", (2024, 6, 7), (2024, 6, 8)),
        ("the meeting from two weeks ago", (2024, 5, 27), (2024, 6, 3)),
        ("Fotos vom letzten Sommer", (2023, 6, 1), (2023, 9, 1)),
        ("fotos de mayo de 2023", (2023, 5, 1), (2023, 6, 1)),
        ("photos from May 2023 on", (2023, 5, 1), None),
        ("the work from last Friday until the end", (2024, 6, 7), None),
        ("Fotos von Mai 2023 an", (2023, 5, 1), None),
        ("fotos de mayo de 2023 en adelante", (2023, 5, 1), None),
    ],
)
def test_from_a_time_is_of_it_unless_it_goes_on(
    query: str, since: tuple[int, int, int], until: tuple[int, int, int] | None
) -> None:
    """ "Photos from May" are of May, "from May on" they are of all the time since."""
    end = NOW if until is None else datetime(*until, tzinfo=UTC)
    assert read_intent(query, NOW).window == (datetime(*since, tzinfo=UTC), end)


@pytest.mark.parametrize(
    ("query", "since"),
    [
        ("What did we eat in the past week?", (2024, 6, 3)),
        ("Was war in der letzten Woche?", (2024, 6, 3)),
        ("Was war im letzten Jahr?", (2023, 1, 1)),
    ],
)
def test_the_past_unit_is_the_last_one(query: str, since: tuple[int, int, int]) -> None:
    """ "In the past week" and "in der letzten Woche" are read as "last week" and "letzte Woche"."""
    window = read_intent(query, NOW).window
    assert window is not None
    assert window[0] == datetime(*since, tzinfo=UTC)
