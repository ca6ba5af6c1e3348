"""Times people name: what they resolve to, and what is none."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from langmemory.formation.times import find, resolve, resolved
from langmemory.ports.facts import Fact

BERLIN = ZoneInfo("Europe/Berlin")
SAID = datetime(2023, 5, 10, 13, 56, tzinfo=BERLIN)
"""A Wednesday."""

ENGLISH = """
today                            2023-05-10        2023-05-11        day
yesterday                        2023-05-09        2023-05-10        day
the day before yesterday         2023-05-08        2023-05-09        day
the day after tomorrow           2023-05-12        2023-05-13        day
last night                       2023-05-09T18:00  2023-05-10        hour
this morning                     2023-05-10T05:00  2023-05-10T12:00  hour
yesterday evening                2023-05-09T18:00  2023-05-10        hour
yesterday at 7:30 pm             2023-05-09T19:30  2023-05-09T19:31  minute
last Tuesday at 17:00            2023-05-09T17:00  2023-05-09T17:01  minute
tomorrow at 5pm                  2023-05-11T17:00  2023-05-11T18:00  hour
tomorrow at 5                    2023-05-11        2023-05-12        day
half an hour ago                 2023-05-10T13:26  2023-05-10T13:27  minute
three hours ago                  2023-05-10T10:00  2023-05-10T11:00  hour
in 5 minutes                     2023-05-10T14:01  2023-05-10T14:02  minute
two weeks ago                    2023-04-24        2023-05-01        week
a couple of days ago             2023-05-08        2023-05-09        day
a few weeks ago                  2023-04-03        2023-05-01        week
a month ago                      2023-04-01        2023-05-01        month
a year ago                       2022-01-01        2023-01-01        year
one and a half years ago         2021-11-01        2021-12-01        month
two and a half years ago         2020-11-01        2020-12-01        month
in three weeks                   2023-05-29        2023-06-05        week
in two months' time              2023-07-01        2023-08-01        month
last week                        2023-05-01        2023-05-08        week
the week before last             2023-04-24        2023-05-01        week
next week                        2023-05-15        2023-05-22        week
this month                       2023-05-01        2023-06-01        month
last year                        2022-01-01        2023-01-01        year
last weekend                     2023-05-06        2023-05-08        day
this weekend                     2023-05-13        2023-05-15        day
next weekend                     2023-05-20        2023-05-22        day
last Friday                      2023-05-05        2023-05-06        day
this Friday                      2023-05-12        2023-05-13        day
next Friday                      2023-05-12        2023-05-13        day
next Wednesday                   2023-05-17        2023-05-18        day
on Wed                           2023-05-03        2023-05-04        day
last May                         2022-05-01        2022-06-01        month
last April                       2023-04-01        2023-05-01        month
next May                         2024-05-01        2024-06-01        month
this May                         2023-05-01        2023-06-01        month
in may                           2023-05-01        2023-06-01        month
May                              2023-05-01        2023-06-01        month
in May last year                 2022-05-01        2022-06-01        month
on 3 March                       2023-03-03        2023-03-04        day
on the 3rd of March              2023-03-03        2023-03-04        day
March 3rd, 2021                  2021-03-03        2021-03-04        day
Saturday 14 March 2026           2026-03-14        2026-03-15        day
Sept 4                           2023-09-04        2023-09-05        day
2021-03-04                       2021-03-04        2021-03-05        day
25/4/2021                        2021-04-25        2021-04-26        day
4/25/2021                        2021-04-25        2021-04-26        day
Mar 3, 2021 5pm                  2021-03-03T17:00  2021-03-03T17:01  minute
29 February                      2024-02-29        2024-03-01        day
March 2021                       2021-03-01        2021-04-01        month
in 2019                          2019-01-01        2020-01-01        year
since 2019                       2019-01-01        2020-01-01        year
until last month                 2023-04-01        2023-05-01        month
in the summer of 2021            2021-06-01        2021-09-01        season
last summer                      2022-06-01        2022-09-01        season
last winter                      2022-12-01        2023-03-01        season
in the 90s                       1990-01-01        2000-01-01        decade
in the nineties                  1990-01-01        2000-01-01        decade
in the 1980s                     1980-01-01        1990-01-01        decade
in the early 2000s               2000-01-01        2003-05-01        year
early March                      2023-03-01        2023-03-11        week
by the end of June               2023-06-21        2023-07-01        week
since the middle of August       2022-08-11        2022-08-21        week
the end of the year              2023-09-01        2024-01-01        season
at Christmas                     2022-12-25        2022-12-26        day
Christmas 2020                   2020-12-25        2020-12-26        day
New Year's Eve                   2022-12-31        2023-01-01        day
on New Year's Eve                2022-12-31        2023-01-01        day
the week before Christmas 2020   2020-12-14        2020-12-21        week
the Friday after 6 July 2023     2023-07-07        2023-07-08        day
from Friday to Monday            2023-05-12        2023-05-16        day
from last Monday to next Friday  2023-05-08        2023-05-13        day
from 17 to 24 October            2023-10-17        2023-10-25        day
from May to July 2021            2021-05-01        2021-08-01        month
28 December to 4 January         2022-12-28        2023-01-05        day
between March and May            2023-03-01        2023-06-01        month
from 2010 until 2015             2010-01-01        2016-01-01        year
for the last two years           2021-01-01        2022-01-01        year
around 1 May                     2023-05-01        2023-05-02        day
on Friday next week              2023-05-19        2023-05-20        day
next week on Tuesday             2023-05-16        2023-05-17        day
Tuesday last week                2023-05-02        2023-05-03        day
two weeks ago on Friday          2023-04-28        2023-04-29        day
a week ago today                 2023-05-03        2023-05-04        day
a year ago yesterday             2022-05-09        2022-05-10        day
a week from Friday               2023-05-19        2023-05-20        day
a year from tomorrow             2024-05-11        2024-05-12        day
on 3 March last year             2022-03-03        2022-03-04        day
two years ago in March           2021-03-01        2021-04-01        month
two days before Christmas 2020   2020-12-23        2020-12-24        day
the weekend before Christmas 2020 2020-12-19       2020-12-21        day
three days after 4 May           2023-05-07        2023-05-08        day
the weekend before last          2023-04-29        2023-05-01        day
mid-May                          2023-05-11        2023-05-21        week
in the mid-90s                   1993-05-01        1996-09-01        year
a fortnight ago                  2023-04-24        2023-05-01        week
twenty five years ago            1998-01-01        1999-01-01        year
last night at 3                  2023-05-10T03:00  2023-05-10T04:00  hour
"""

GERMAN = """
gestern                          2023-05-09        2023-05-10        day
vorgestern                       2023-05-08        2023-05-09        day
übermorgen um 17 Uhr             2023-05-12T17:00  2023-05-12T18:00  hour
gestern Abend                    2023-05-09T18:00  2023-05-10        hour
heute Morgen                     2023-05-10T05:00  2023-05-10T12:00  hour
morgen                           2023-05-11        2023-05-12        day
vor drei Wochen                  2023-04-17        2023-04-24        week
vor anderthalb Jahren            2021-11-01        2021-12-01        month
vor ein paar Tagen               2023-05-05        2023-05-09        day
in zwei Monaten                  2023-07-01        2023-08-01        month
seit drei Jahren                 2020-01-01        2021-01-01        year
letzte Woche                     2023-05-01        2023-05-08        week
vorletzte Woche                  2023-04-24        2023-05-01        week
letzten Freitag                  2023-05-05        2023-05-06        day
nächsten Freitag                 2023-05-12        2023-05-13        day
am Wochenende                    2023-05-13        2023-05-15        day
letzten Sommer                   2022-06-01        2022-09-01        season
im Sommer 2021                   2021-06-01        2021-09-01        season
am 3. März                       2023-03-03        2023-03-04        day
am Samstag, den 14. März 2026    2026-03-14        2026-03-15        day
am 3.4.2021                      2021-04-03        2021-04-04        day
im Mai letzten Jahres            2022-05-01        2022-06-01        month
letztes Jahr im Mai              2022-05-01        2022-06-01        month
seit 2017                        2017-01-01        2018-01-01        year
bis Ende Juni                    2023-06-21        2023-07-01        week
Anfang 2021                      2021-01-01        2021-05-01        season
in den 90ern                     1990-01-01        2000-01-01        decade
in den neunziger Jahren          1990-01-01        2000-01-01        decade
vom 3. bis 5. März               2023-03-03        2023-03-06        day
an Weihnachten                   2022-12-25        2022-12-27        day
ab 1. September                  2023-09-01        2023-09-02        day
am Dienstag letzter Woche        2023-05-02        2023-05-03        day
nächste Woche am Freitag         2023-05-19        2023-05-20        day
Freitag in acht Tagen            2023-05-19        2023-05-20        day
heute in acht Tagen              2023-05-17        2023-05-18        day
in acht Tagen                    2023-05-15        2023-05-22        week
heute vor einem Jahr             2022-05-10        2022-05-11        day
am 3. März letzten Jahres        2022-03-03        2022-03-04        day
vor zwei Jahren im März          2021-03-01        2021-04-01        month
zwei Tage vor Weihnachten 2020   2020-12-23        2020-12-24        day
am Wochenende vor Weihnachten 2020 2020-12-19      2020-12-21        day
gestern Nacht um 3               2023-05-10T03:00  2023-05-10T04:00  hour
heuer                            2023-01-01        2024-01-01        year
"""

SPANISH = """
ayer                             2023-05-09        2023-05-10        day
anteayer                         2023-05-08        2023-05-09        day
anoche                           2023-05-09T18:00  2023-05-10        hour
mañana                           2023-05-11        2023-05-12        day
pasado mañana                    2023-05-12        2023-05-13        day
mañana a las 5 de la tarde       2023-05-11T17:00  2023-05-11T18:00  hour
hace tres días                   2023-05-07        2023-05-08        day
hace dos años y medio            2020-11-01        2020-12-01        month
desde hace dos años              2021-01-01        2022-01-01        year
dentro de dos semanas            2023-05-22        2023-05-29        week
la semana pasada                 2023-05-01        2023-05-08        week
el próximo viernes               2023-05-12        2023-05-13        day
el viernes que viene             2023-05-12        2023-05-13        day
este fin de semana               2023-05-13        2023-05-15        day
el verano pasado                 2022-06-01        2022-09-01        season
en mayo del año pasado           2022-05-01        2022-06-01        month
el 3 de marzo                    2023-03-03        2023-03-04        day
el 3 de marzo de 2021            2021-03-03        2021-03-04        day
3/4/2021                         2021-04-03        2021-04-04        day
desde 2019                       2019-01-01        2020-01-01        year
hasta el mes pasado              2023-04-01        2023-05-01        month
a finales de mayo                2023-05-21        2023-06-01        week
en los años 90                   1990-01-01        2000-01-01        decade
del 3 al 5 de marzo              2023-03-03        2023-03-06        day
el viernes de la semana que viene 2023-05-19       2023-05-20        day
el lunes de la semana pasada     2023-05-01        2023-05-02        day
hace quince días                 2023-04-24        2023-05-01        week
hoy hace un año                  2022-05-10        2022-05-11        day
el 3 de marzo del año pasado     2022-03-03        2022-03-04        day
el primero de mayo               2023-05-01        2023-05-02        day
en los noventa                   1990-01-01        2000-01-01        decade
"""

CHINESE = """
昨天                             2023-05-09        2023-05-10        day
后天                             2023-05-12        2023-05-13        day
昨天晚上                         2023-05-09T18:00  2023-05-10        hour
明天下午3点                      2023-05-11T15:00  2023-05-11T16:00  hour
三天前                           2023-05-07        2023-05-08        day
几天前                           2023-05-05        2023-05-09        day
两年前                           2021-01-01        2022-01-01        year
上周                             2023-05-01        2023-05-08        week
上週                             2023-05-01        2023-05-08        week
上周五                           2023-05-05        2023-05-06        day
下个月                           2023-06-01        2023-07-01        month
下周末                           2023-05-20        2023-05-22        day
去年                             2022-01-01        2023-01-01        year
去年五月                         2022-05-01        2022-06-01        month
去年夏天                         2022-06-01        2022-09-01        season
2021年3月5日                     2021-03-05        2021-03-06        day
3月5日                           2023-03-05        2023-03-06        day
十二月                           2022-12-01        2023-01-01        month
上个月底                         2023-04-21        2023-05-01        week
自2019年以来                     2019-01-01        2020-01-01        year
直到上个月                       2023-04-01        2023-05-01        month
九十年代                         1990-01-01        2000-01-01        decade
上周一                           2023-05-01        2023-05-02        day
下周五                           2023-05-19        2023-05-20        day
下下周三                         2023-05-24        2023-05-25        day
上上个月                         2023-03-01        2023-04-01        month
上上周末                         2023-04-29        2023-05-01        day
三周后的周五                     2023-06-02        2023-06-03        day
去年今天                         2022-05-10        2022-05-11        day
去年的三月三日                   2022-03-03        2022-03-04        day
月底                             2023-05-21        2023-06-01        week
明年年初                         2024-01-01        2024-05-01        season
"""

OTHERS = """
fr  il y a trois semaines        2023-04-17        2023-04-24        week
fr  le 3 mars 2021               2021-03-03        2021-03-04        day
fr  trois ans                    None
it  ieri                         2023-05-09        2023-05-10        day
pt  em março de 2021             2021-03-01        2021-04-01        month
"""

NO_TIMES = {
    "en": """on my birthday; for three years; three years; a year; 5 minutes; in 5 minutes of fame;
        may; march; mar; second; a second; sun; sat; the sun; 3.11; Python 3.11; version 2.1; $2019;
        4417; 1:47:12; 3/4/2021; every Friday; most weekends; once a week; soon; recently; one day;
        the other day; now; 31 February; 999999 years ago; before 2019; after Christmas; 24/7; a;
        the 26th; in 2000 words; 2019 edition; Q3 2023; in 20 years of teaching; at 30; on 30;
        30 February; February 30; tomorrow week; at 2020 Main Street; the days before Christmas""",
    "de": """guten Morgen; am Morgen; jeden Freitag; drei Wochen; vor dem Haus; so; bald; 3.11; vor 2019;
        um 20 Uhr; gegen 10; mit 30; am 30. Februar; der letzte Freitag im Monat""",
    "es": """la mañana; por la mañana; cada lunes; tres años; domingo sabe; pronto; 3.11; el mar;
        a los 30; a los noventa; el 30 de febrero; el último viernes de mes""",
    "zh": """三年; 每周五; 一点; 三天前端; 中午好吃; 五月天演唱会; 目前天气; 以前天天; 圣诞节前;
        圣诞节前两天; 2月30日; 四十五天前; 每年五月; 第二个星期五""",
}


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
        ("Physio is every Monday, I have been going for three years.", []),
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
    [
        ("on Wednesday", "2023-05-03", "2023-05-17"),
        ("on Friday", "2023-05-05", "2023-05-12"),
        ("on 3 March", "2023-03-03", "2024-03-03"),
        ("in December", "2022-12-01", "2023-12-01"),
        ("in May", "2023-05-01", "2023-05-01"),
        ("at the weekend", "2023-05-06", "2023-05-13"),
    ],
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
    since = resolved(fact("since 2019"), said_at=SAID)
    assert (since.valid_at, since.invalid_at) == (day("2019-01-01"), None)
    until = resolved(fact("until last month"), said_at=SAID)
    assert (until.valid_at, until.invalid_at) == (None, day("2023-05-01"))
    both = resolved(fact("from 2010 to 2015"), said_at=SAID)
    assert (both.valid_at, both.invalid_at) == (day("2010-01-01"), day("2016-01-01"))
    moved = resolved(fact("last May"), said_at=SAID)
    assert moved.valid_at == day("2022-05-01")
    assert moved.when is not None
    assert moved.when.words == "last May"


def test_an_end_is_true_from_the_moment_of_the_end() -> None:
    """ "Quit last week" holds from last week on; "worked there until 2019" from the end of 2019."""
    assert resolved(fact("last week", ends=True), said_at=SAID).valid_at == day("2023-05-01")
    assert resolved(fact("until 2019", ends=True), said_at=SAID).valid_at == day("2020-01-01")


def test_a_plan_keeps_its_time_and_is_a_plan_from_when_it_was_told() -> None:
    """The time of a plan is ahead; it is no beginning of validity."""
    plan = resolved(fact("on 3 March", kind="plan"), said_at=SAID)
    assert plan.when is not None
    assert plan.when.start == day("2024-03-03")
    assert (plan.valid_at, plan.invalid_at) == (None, None)


def test_what_is_so_now_ends_ahead() -> None:
    """A day until which something still is so is the next one; of what was so, it is the last."""
    monday = day("2023-05-08").replace(hour=12)

    def until(words: str, text: str) -> datetime | None:
        return resolved(replace(fact(words), text=text, said_at=monday), said_at=monday).invalid_at

    assert until("until Friday", "Lena is in Rome until Friday") == day("2023-05-13")
    assert until("until Friday", "Lena was in Rome until Friday") == day("2023-05-06")
    assert until("until last Friday", "Lena is in Rome until last Friday") == day("2023-05-06")
    assert until("from Monday to Friday", "Lena is in Rome from Monday to Friday") == day(
        "2023-05-20"
    )


def test_a_fact_without_a_time_is_left_as_it_is() -> None:
    """No words, or words that are no time, change nothing; what is set is kept."""
    for words in (None, "on my birthday", "for three years"):
        assert resolved(fact(words), said_at=SAID) == fact(words)
    given = fact("last May", valid_at=SAID)
    assert resolved(given, said_at=SAID).valid_at == SAID


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
    [
        ("Lena's wedding is on 3 March.", "3 March", "2026-03-03"),
        ("Lena's wedding was on 3 March.", "3 March", "2025-03-03"),
        ("Lena has a concert on Friday.", "on Friday", "2026-02-06"),
        ("Lena met Tom on Tuesday.", "on Tuesday", "2026-01-27"),
        ("Lena is getting married on 3 March.", "3 March", "2026-03-03"),
        ("Lena married Tom on 3 March.", "3 March", "2025-03-03"),
    ],
)
def test_a_date_without_a_year_follows_the_tense(text: str, words: str, day: str) -> None:
    """Told on 1 February 2026, coming events have a later date and past events an earlier one."""
    said = datetime(2026, 2, 1, 12, tzinfo=UTC)
    fact = Fact(text=text, kind="event", evidence=("a",), said_at=said, time_words=words)
    when = resolved(fact, said_at=said).when
    assert when is not None
    assert f"{when.start:%Y-%m-%d}" == day
