"""Intent: what is asked for, and of which time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from langmemory.recall.intent import read_intent

NOW = datetime(2024, 6, 12, 15, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("What was that book you told me about?", True),
        ("Which restaurant did you recommend in Lisbon?", True),
        ("Can you recommend a restaurant?", False),
        ("What do you need from me?", False),
        ("Where do I go to the dentist?", False),
        ("Welches Buch hast du mir empfohlen?", True),
        ("Kannst du mir ein Buch empfehlen?", False),
        ("¿Qué libro me recomendaste?", True),
        ("¿Me recomiendas un libro?", False),
        ("你上次推荐的书叫什么？", True),
        ("你能推荐一本书吗？", False),
    ],
)
def test_what_the_assistant_said_is_asked_for(query: str, asks: bool) -> None:
    """A question for earlier words of the assistant differs from a request for new ones."""
    assert read_intent(query, NOW).asks_listener is asks


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
        ("What dose am I on these days?", "now"),
        ("Wo wohnt sie inzwischen?", "now"),
        ("¿Dónde vive ahora?", "now"),
        ("他现在住在哪里？", "now"),
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
        ("trips between May and July 2023", (2023, 5, 1), (2023, 8, 1)),
        ("from November to February 2023", (2022, 11, 1), (2023, 3, 1)),
        ("zwischen Mai und Juli 2023", (2023, 5, 1), (2023, 8, 1)),
        ("entre mayo y julio de 2023", (2023, 5, 1), (2023, 8, 1)),
        ("2023年5月到7月", (2023, 5, 1), (2023, 8, 1)),
        ("between 3 May and 9 May 2023", (2023, 5, 3), (2023, 5, 10)),
        ("jobs 2020-2022", (2020, 1, 1), (2023, 1, 1)),
        ("what did she do last Wednesday?", (2024, 6, 5), (2024, 6, 6)),
        ("was war letzten Freitag", (2024, 6, 7), (2024, 6, 8)),
        ("el viernes pasado", (2024, 6, 7), (2024, 6, 8)),
        ("上周五她做了什么", (2024, 6, 7), (2024, 6, 8)),
        ("three days ago", (2024, 6, 9), (2024, 6, 10)),
        ("vor zwei Wochen", (2024, 5, 27), (2024, 6, 3)),
        ("hace dos meses", (2024, 4, 1), (2024, 5, 1)),
        ("三天前", (2024, 6, 9), (2024, 6, 10)),
        ("in the last two weeks", (2024, 5, 29), (2024, 6, 13)),
        ("in den letzten zwei Wochen", (2024, 5, 29), (2024, 6, 13)),
        ("en las últimas dos semanas", (2024, 5, 29), (2024, 6, 13)),
        ("the day before yesterday", (2024, 6, 10), (2024, 6, 11)),
        ("vorgestern", (2024, 6, 10), (2024, 6, 11)),
        ("last weekend", (2024, 6, 8), (2024, 6, 10)),
        ("in May last year", (2023, 5, 1), (2023, 6, 1)),
        ("去年5月", (2023, 5, 1), (2023, 6, 1)),
        ("last may", (2024, 5, 1), (2024, 6, 1)),
        ("news since March", (2024, 3, 1), (2024, 6, 12, 15)),
        ("after 3 June 2024", (2024, 6, 4), (2024, 6, 12, 15)),
        ("2023年5月之前", (1970, 1, 1), (2023, 5, 1)),
        ("letzte Woche", (2024, 6, 3), (2024, 6, 10)),
        ("am 12.05.2023", (2023, 5, 12), (2023, 5, 13)),
        ("on 5/7/2023", (2023, 5, 7), (2023, 5, 8)),
        ("last weekend before 10 April 2023", (1970, 1, 1), (2023, 4, 10)),
        ("who called last night", (2024, 6, 11), (2024, 6, 12)),
        ("what did I say this morning", (2024, 6, 12), (2024, 6, 13)),
        ("¿Qué dije esta mañana?", (2024, 6, 12), (2024, 6, 13)),
        ("¿Quién llamó anoche?", (2024, 6, 11), (2024, 6, 12)),
        ("¿Quién me ayudó el verano pasado?", (2023, 6, 1), (2023, 9, 1)),
        ("我大前天在干嘛", (2024, 6, 9), (2024, 6, 10)),
        ("我昨晚说了什么", (2024, 6, 11), (2024, 6, 12)),
        ("上上周我去了哪里", (2024, 5, 27), (2024, 6, 3)),
        ("on sep. 3, 2023", (2023, 9, 3), (2023, 9, 4)),
        ("2023年五月", (2023, 5, 1), (2023, 6, 1)),
        ("去年十二月二十五号", (2023, 12, 25), (2023, 12, 26)),
        ("2023年十月三日到十一月", (2023, 10, 3), (2023, 12, 1)),
    ],
)
def test_times_become_windows(query: str, since: tuple[int, ...], until: tuple[int, ...]) -> None:
    """Dates and ranges in a query become a window relative to the injected now."""
    assert read_intent(query, NOW).window == (
        datetime(*since, tzinfo=UTC),  # type: ignore[misc,arg-type]
        datetime(*until, tzinfo=UTC),  # type: ignore[misc,arg-type]
    )


@pytest.mark.parametrize(
    "query",
    [
        "what is planned for the day after tomorrow",
        "any ideas for dinner tonight?",
        "book me a table for next Friday",
        "what should I wear tomorrow at the wedding",
        "who may march in may?",
        "plans for fall 2024",
        "was steht übermorgen an",
        "was ziehe ich heute Abend an",
        "¿Qué tengo pasado mañana?",
        "¿qué cocino esta noche?",
        "後天有什麼安排",
        "下下周三有什么安排",
    ],
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
    [
        ("from 3 to 7 May 2023", (2023, 5, 3), (2023, 5, 8)),
        ("between the 3rd and the 7th of May 2023", (2023, 5, 3), (2023, 5, 8)),
        ("trips May 3-7, 2023", (2023, 5, 3), (2023, 5, 8)),
        ("from March 30 to 31, 2024", (2024, 3, 30), (2024, 4, 1)),
        ("between May 3 and 7 July 2023", (2023, 5, 3), (2023, 7, 8)),
        ("was war vom 3. bis zum 7. Mai 2023", (2023, 5, 3), (2023, 5, 8)),
        ("zwischen dem 3. und dem 7. Mai 2023", (2023, 5, 3), (2023, 5, 8)),
        ("¿Qué pasó del 3 al 7 de mayo de 2023?", (2023, 5, 3), (2023, 5, 8)),
        ("2023年5月3日到7日", (2023, 5, 3), (2023, 5, 8)),
    ],
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
    [
        ("news since last Friday", (2024, 6, 7)),
        ("news since last summer", (2023, 6, 1)),
        ("news since two weeks ago", (2024, 5, 27)),
        ("was war seit dem letzten Winter", (2023, 12, 1)),
        ("¿Qué pasó desde el viernes pasado?", (2024, 6, 7)),
        ("¿Qué pasó desde la primavera pasada?", (2024, 3, 1)),
        ("¿Qué pasó desde hace dos meses?", (2024, 4, 1)),
    ],
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
    [
        ("what happened in may", 5),
        ("what did i say on may 3", 5),
        ("trips of march 2023", 3),
        ("who was there in may?", 5),
        ("what did we do in the fall", 9),
        ("what happened in fall 2023", 9),
    ],
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
    [
        "Who is June?",
        "What does May do for a living?",
        "May I see the photos?",
        "What did I tell you about April's wedding?",
        "Was hat der August gesagt?",
        "Wer ist Mai?",
        "¿Quién es Abril?",
        "Was mache ich am Morgen?",
        "Guten Morgen, was weißt du über mich?",
        "what did I do half a year ago",
        "what happened 1.5 years ago",
        "目前天气怎么样",
        "我以前天天做什么",
    ],
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
