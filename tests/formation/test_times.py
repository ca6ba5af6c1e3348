"""Times people name: what they resolve to, and what is none."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from langmemory.formation.times import find, resolve, resolve_times
from langmemory.languages import detect_language
from langmemory.ports.facts import Fact
from tests.tables import tables

CASES = tables(__file__)

BERLIN = ZoneInfo("Europe/Berlin")
SAID = datetime(2023, 5, 10, 13, 56, tzinfo=BERLIN)
"""A Wednesday."""

ENGLISH = CASES["english"]

GERMAN = CASES["german"]

SPANISH = CASES["spanish"]

CHINESE = CASES["chinese"]

OTHERS = """
fr  il y a trois semaines        2023-04-17        2023-04-24        week
fr  le 3 mars 2021               2021-03-03        2021-03-04        day
fr  trois ans                    None
it  ieri                         2023-05-09        2023-05-10        day
pt  em março de 2021             2021-03-01        2021-04-01        month
"""

NO_TIMES = CASES["no_times"]


def rows(table: str) -> list[tuple[str, datetime | None, datetime | None, str]]:
    found = []
    for line in table.strip().splitlines():
        cells = line.split()
        if cells[-1] == "None":
            found.append((" ".join(cells[:-1]), None, None, ""))
        else:
            start, end = (datetime.fromisoformat(c).replace(tzinfo=BERLIN) for c in cells[-3:-1])
            found.append((" ".join(cells[:-3]), start, end, cells[-1]))
    return found


@pytest.mark.parametrize(
    ("language", "table"),
    [("en", ENGLISH), ("de", GERMAN), ("es", SPANISH), ("zh", CHINESE)],
    ids=["en", "de", "es", "zh"],
)
def test_words_mean_an_interval_with_their_precision(language: str, table: str) -> None:
    """Each expression resolves, against a Wednesday in May 2023, to the interval of its line."""
    wrong = []
    for words, start, end, precision in rows(table):
        when = resolve(words, said_at=SAID, language=language)
        got = (when.start, when.end, when.precision) if when else (None, None, "")
        if got != (start, end, precision):
            wrong.append((words, *map(str, got)))
        elif when:
            assert when.words == words
    assert wrong == []


def test_other_languages_are_left_to_dateparser() -> None:
    """Whole expressions in languages without patterns resolve, but durations do not."""
    for line, start, end, precision in rows(OTHERS):
        language, words = line.split(maxsplit=1)
        when = resolve(words, said_at=SAID, language=language)
        got = (when.start, when.end, when.precision) if when else (None, None, "")
        assert (words, *got) == (words, start, end, precision)


@pytest.mark.parametrize("language", NO_TIMES)
def test_what_is_no_time_resolves_to_none(language: str) -> None:
    """Durations, recurrences, verbs, numbers, versions, prices and private occasions are no times."""
    for words in NO_TIMES[language].split(";"):
        words = " ".join(words.split())
        assert (words, resolve(words, said_at=SAID, language=language)) == (words, None)


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("I moved to Munich last week, on Tuesday evening.", ["last week", "on Tuesday evening"]),
        ("You may march on if the sun sat well with you a second ago.", []),
        ("May I ask about Python 3.11 and the 2019 edition for $2019?", []),
        ("June met April, and Sunday Silence won.", []),
        ("I've been vegetarian since 2017, no exceptions.", ["since 2017"]),
        ("I lived there from 2010 to 2015 and in Rome until last May.",
         ["from 2010 to 2015", "until last May"]),
        ("Physio is every Monday, I went for three years.", []),
        ("I have been going for three years.", ["for three years"]),
        ("In the last second he ran 18 kilometres in 5 seconds flat.", []),
        ("Ich fliege am 3. März nach Oslo und bin seit 2017 Vegetarierin.", ["am 3. März", "seit 2017"]),
        ("Guten Morgen! Jeden Freitag gehe ich am Morgen laufen.", []),
        ("La semana pasada fui al mar; todos los domingos duermo la mañana.", ["La semana pasada"]),
        ("我上周五去了北京，明年五月要去上海。", ["上周五", "明年五月"]),
        ("I saw her on Friday, next week I am off.", ["on Friday", "next week"]),
        ("It is always the last Friday of June.", ["of June"]),
        ("It was on the second Tuesday of April.", ["of April"]),
        ("Der letzte Freitag im Juni war heiß.", ["im Juni"]),
    ],
)  # fmt: skip
def test_times_are_found_in_sentences_with_their_words(text: str, times: list[str]) -> None:
    """`find` gives the spans of the times of a sentence, and nothing where there are none."""
    found = find(text, said_at=SAID)
    assert [text[one.start : one.end] for one in found] == times
    assert [one.when.words for one in found] == times


def test_yesterday_is_the_speakers_yesterday() -> None:
    """At 20:00 in UTC-8 it is tomorrow in UTC; "yesterday" is the day before the speaker's day."""
    pacific = timezone(timedelta(hours=-8))
    when = resolve("yesterday", said_at=datetime(2024, 1, 10, 20, 0, tzinfo=pacific))
    assert when is not None
    assert when.start == datetime(2024, 1, 9, 8, 0, tzinfo=UTC)
    assert when.end - when.start == timedelta(days=1)


def test_days_follow_the_change_of_the_clocks() -> None:
    """A day begins at local midnight on both sides of daylight saving: this one has 23 hours; hours
    ago are elapsed hours."""
    said = datetime(2024, 3, 31, 12, 0, tzinfo=BERLIN)
    today = resolve("today", said_at=said)
    assert today is not None
    assert today.end.astimezone(UTC) - today.start.astimezone(UTC) == timedelta(hours=23)
    yesterday = resolve("yesterday", said_at=said)
    assert yesterday is not None
    assert yesterday.start.utcoffset() == timedelta(hours=1)
    hours = resolve("ten hours ago", said_at=said)
    assert hours is not None
    assert hours.start.astimezone(UTC) == datetime(2024, 3, 31, 0, 0, tzinfo=UTC)


def test_nothing_resolves_against_now() -> None:
    """The same words said in 1999 and in 2030 mean times of 1999 and 2030."""
    for year in (1999, 2030):
        when = resolve("last month", said_at=datetime(year, 6, 15, tzinfo=UTC))
        assert when is not None
        assert when.start == datetime(year, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "past", "future"),
    CASES["what_recurs_is_behind_or_ahead_by_preference"],
)
def test_what_recurs_is_behind_or_ahead_by_preference(words: str, past: str, future: str) -> None:
    """A day or month without a year is the last one for an event and the next one for a plan."""
    for prefer, day in (("past", past), ("future", future)):
        when = resolve(words, said_at=SAID, prefer=prefer)  # type: ignore[arg-type]
        assert when is not None
        assert when.start == datetime.fromisoformat(day).replace(tzinfo=BERLIN)


def fact(words: str | None, **more: object) -> Fact:
    return Fact(text="…", evidence=("t1",), said_at=SAID, time_words=words, **more)  # type: ignore[arg-type]


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


def test_a_fact_gets_its_validity_from_its_words() -> None:
    """Since and at: true from the start. Until: no longer true after the end. From–to: both."""
    since = resolve_times(fact("since 2019"), said_at=SAID)
    assert (since.valid_at, since.invalid_at) == (day("2019-01-01"), None)
    until = resolve_times(fact("until last month"), said_at=SAID)
    assert (until.valid_at, until.invalid_at) == (None, day("2023-05-01"))
    both = resolve_times(fact("from 2010 to 2015"), said_at=SAID)
    assert (both.valid_at, both.invalid_at) == (day("2010-01-01"), day("2016-01-01"))
    moved = resolve_times(fact("last May"), said_at=SAID)
    assert moved.valid_at == day("2022-05-01")
    assert moved.when is not None
    assert moved.when.words == "last May"


def test_an_end_is_true_from_the_moment_of_the_end() -> None:
    """ "Quit last week" holds from last week on; "worked there until 2019" from the end of 2019."""
    assert resolve_times(fact("last week", ends=True), said_at=SAID).valid_at == day("2023-05-01")
    assert resolve_times(fact("until 2019", ends=True), said_at=SAID).valid_at == day("2020-01-01")


def test_a_plan_keeps_its_time_and_is_a_plan_from_when_it_was_told() -> None:
    """The time of a plan is ahead; it is no beginning of validity."""
    plan = resolve_times(fact("on 3 March", kind="plan"), said_at=SAID)
    assert plan.when is not None
    assert plan.when.start == day("2024-03-03")
    assert (plan.valid_at, plan.invalid_at) == (None, None)


def test_what_is_so_now_ends_ahead() -> None:
    """A day until which something still is so is the next one; of what was so, it is the last."""
    monday = day("2023-05-08").replace(hour=12)

    def until(words: str, text: str) -> datetime | None:
        return resolve_times(
            replace(fact(words), text=text, said_at=monday), said_at=monday
        ).invalid_at

    assert until("until Friday", "Lena is in Rome until Friday") == day("2023-05-13")
    assert until("until Friday", "Lena was in Rome until Friday") == day("2023-05-06")
    assert until("until last Friday", "Lena is in Rome until last Friday") == day("2023-05-06")
    assert until("from Monday to Friday", "Lena is in Rome from Monday to Friday") == day(
        "2023-05-20"
    )


def test_a_fact_without_a_time_is_left_as_it_is() -> None:
    """No words, or words that are no time, change nothing; what is set is kept."""
    for words in (None, "on my birthday", "for three years"):
        assert resolve_times(fact(words), said_at=SAID) == fact(words)
    given = fact("last May", valid_at=SAID)
    assert resolve_times(given, said_at=SAID).valid_at == SAID


@pytest.mark.parametrize(
    ("text", "words", "begun", "over"),
    [
        ("Lena has lived in Ghent for three years.", "for three years", 2020, None),
        ("Lena lleva tres años en Lugo.", "tres años", 2020, None),
        ("莉娜在腾讯工作了三年。", "三年", 2020, None),
        ("Lena lived in Ghent for three years.", "for three years", None, None),
        ("Lena started there in 2012 and quit in 2016.", "in 2012", 2012, 2017),
        ("Lena hat 2012 angefangen und 2016 gekündigt.", "2012", 2012, 2017),
        ("Lena started there in 2012 and quit smoking in 2016.", "in 2012", 2012, None),
    ],
)
def test_a_statement_tells_how_long_it_has_been_so(
    text: str, words: str, begun: int | None, over: int | None
) -> None:
    """The words of a time are read in their statement, which may also say when it was over."""
    language = detect_language(text).code
    told = Fact(text=text, evidence=("a",), said_at=SAID, time_words=words, language=language)
    found = resolve_times(told, said_at=SAID)
    years = tuple(one and one.year for one in (found.valid_at, found.invalid_at))
    assert years == (begun, over)


def test_of_many_times_each_stands_for_itself() -> None:
    """In a text that is one long list of dates, overlapping readings of one leave the others alone."""
    text = "3 March 2021, on Friday of next week; " * 500
    found = find(text, said_at=SAID, language="en")
    assert len(found) == 1_000
    assert {text[one.start : one.end] for one in found} == {
        "3 March 2021", "on Friday of next week",
    }  # fmt: skip
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("text", "words", "day"),
    CASES["a_date_without_a_year_follows_the_tense"],
)
def test_a_date_without_a_year_follows_the_tense(text: str, words: str, day: str) -> None:
    """Told on 1 February 2026, coming events have a later date and past events an earlier one."""
    said = datetime(2026, 2, 1, 12, tzinfo=UTC)
    fact = Fact(text=text, kind="event", evidence=("a",), said_at=said, time_words=words)
    when = resolve_times(fact, said_at=said).when
    assert when is not None
    assert f"{when.start:%Y-%m-%d}" == day
