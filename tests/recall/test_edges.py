"""Edges: whether a date in a question is the time asked about, or where that time ends or begins."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from langmemory import MemoryStore
from langmemory.languages import Edge
from langmemory.languages.temporal.query import EARLIEST
from langmemory.recall.intent import read_intent

NOW = datetime(2024, 6, 12, 15, tzinfo=UTC)  # a Wednesday
Day = tuple[int, int, int]


def at(day: Day) -> datetime:
    return datetime(*day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "end"),
    [
        # Up to the end of the date, in English.
        ("How many chapters had I finished by 14 May 2024?", (2024, 5, 15)),
        ("what had we agreed on by May 14th, 2024", (2024, 5, 15)),
        ("Which dose was I on as of 14 May 2024?", (2024, 5, 15)),
        ("As of 2024-05-14, where did Ana live?", (2024, 5, 15)),
        ("As at 14 May 2024, who was on the team?", (2024, 5, 15)),
        ("Where did she live until 14 May 2024?", (2024, 5, 15)),
        ("where did she live till May 2024", (2024, 6, 1)),
        ("everything up to 14 May 2024", (2024, 5, 15)),
        ("everything up until 14 May 2024", (2024, 5, 15)),
        ("the expenses through 14 May 2024", (2024, 5, 15)),
        ("what was sent no later than 14 May 2024?", (2024, 5, 15)),
        ("what was paid on or before 14 May 2024?", (2024, 5, 15)),
        ("what had to be done by noon on 14 May 2024?", (2024, 5, 15)),
        ("what was ready by 5 pm on 14 May 2024", (2024, 5, 15)),
        ("what was ready by the evening of 14 May 2024", (2024, 5, 15)),
        ("what was ready by Tuesday, 14 May 2024", (2024, 5, 15)),
        ("what was done 14 May 2024 at the latest?", (2024, 5, 15)),
        ("what had we decided by 14 May?", (2024, 5, 15)),
        ("By May, how far had I got?", (2024, 6, 1)),
        ("By 2023, how many countries had he visited?", (2024, 1, 1)),
        ("what was finished by the end of May 2023", (2023, 6, 1)),
        ("what had she read by last Friday?", (2024, 6, 8)),
        ("what had she read by Friday?", (2024, 6, 8)),
        ("what did I know as of last week?", (2024, 6, 10)),
        ("what was done by the end of last month", (2024, 6, 1)),
        ("how much had we saved by yesterday?", (2024, 6, 12)),
        ("how much had we saved by last summer?", (2023, 9, 1)),
        ("what was the plan until two weeks ago?", (2024, 6, 3)),
        ("how much was spent up to and including 14 May 2024", (2024, 5, 15)),
        ("what was done before the end of May 2024", (2024, 6, 1)),
        # Up to its beginning.
        ("What did I do before 14 May 2024?", (2024, 5, 14)),
        ("where did we meet prior to 14 May 2024", (2024, 5, 14)),
        ("jobs earlier than 2020", (2020, 1, 1)),
        ("what was said ahead of 14 May 2024", (2024, 5, 14)),
        ("what did he do before last week", (2024, 6, 3)),
        ("what did he do before Monday", (2024, 6, 10)),
        ("what did we say before 14 May", (2024, 5, 14)),
        # German.
        ("Wie viele Kapitel waren bis zum 14. Mai 2024 fertig?", (2024, 5, 15)),
        ("Was war bis spätestens 14. Mai 2024 zu tun?", (2024, 5, 15)),
        ("Welche Dosis nahm ich Stand 14. Mai 2024?", (2024, 5, 15)),
        ("Wo wohnte sie bis Mai 2023?", (2023, 6, 1)),
        ("Was hatten wir bis Ende Mai 2023 beschlossen?", (2023, 6, 1)),
        ("Was war bis letzten Freitag fertig?", (2024, 6, 8)),
        ("Was war bis Freitag fertig?", (2024, 6, 8)),
        ("Was war bis gestern fertig?", (2024, 6, 12)),
        ("Was war bis Dienstag, den 14. Mai 2024 fertig?", (2024, 5, 15)),
        ("Was habe ich vor dem 14. Mai 2024 gesagt?", (2024, 5, 14)),
        ("Was war vor letzter Woche?", (2024, 6, 3)),
        # Spanish.
        ("¿Cuántos capítulos tenía hasta el 14 de mayo de 2024?", (2024, 5, 15)),
        ("¿Qué había que entregar para el 14 de mayo de 2024?", (2024, 5, 15)),
        ("¿Qué estaba listo a más tardar el 14 de mayo de 2024?", (2024, 5, 15)),
        ("¿Dónde vivía hasta mayo de 2023?", (2023, 6, 1)),
        ("¿Qué había leído hasta el viernes pasado?", (2024, 6, 8)),
        ("¿Qué había leído hasta finales de mayo de 2023?", (2023, 6, 1)),
        ("¿Qué dije antes del 14 de mayo de 2024?", (2024, 5, 14)),
        ("¿Qué hizo antes de la semana pasada?", (2024, 6, 3)),
        # Chinese.
        ("截至2024年5月14日我写完了几章？", (2024, 5, 15)),
        ("截止到2024年5月14日，我们存了多少钱？", (2024, 5, 15)),
        ("到2024年5月14日为止我写完了几章？", (2024, 5, 15)),
        ("直到2023年5月她住在哪里？", (2023, 6, 1)),
        ("不晚于2024年5月14日要做什么？", (2024, 5, 15)),
        ("2024年5月14日之前我说了什么", (2024, 5, 14)),
        ("2023年5月底之前做完了什么", (2023, 6, 1)),
        ("上周五之前做完了什么", (2024, 6, 7)),
        ("截至上周五做完了什么", (2024, 6, 8)),
        ("早于2020年的工作", (2020, 1, 1)),
    ],
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
    [
        ("what changed since 14 May 2024?", (2024, 5, 14)),
        ("what has she read since Monday?", (2024, 6, 10)),
        ("since around May 2023, where does he work?", (2023, 5, 1)),
        ("news after 14 May 2024", (2024, 5, 15)),
        ("what came after last week?", (2024, 6, 10)),
        ("what was said later than 14 May 2024", (2024, 5, 15)),
        ("what was paid on or after 14 May 2024?", (2024, 5, 14)),
        ("all I said from 14 May 2024 onwards", (2024, 5, 14)),
        ("starting 14 May 2024, what did I eat?", (2024, 5, 14)),
        ("since the beginning of 2023, where did I travel?", (2023, 1, 1)),
        ("since 2022", (2022, 1, 1)),
        ("Was ist seit dem 14. Mai 2024 passiert?", (2024, 5, 14)),
        ("Was gilt ab 14. Mai 2024?", (2024, 5, 14)),
        ("Was kam nach dem 14. Mai 2024?", (2024, 5, 15)),
        ("Was ist seit Montag passiert?", (2024, 6, 10)),
        ("¿Qué cambió desde el 14 de mayo de 2024?", (2024, 5, 14)),
        ("¿Qué vale a partir del 14 de mayo de 2024?", (2024, 5, 14)),
        ("¿Qué pasó después del 14 de mayo de 2024?", (2024, 5, 15)),
        ("¿Qué pasó tras el 14 de mayo de 2024?", (2024, 5, 15)),
        ("自从2024年5月14日发生了什么", (2024, 5, 14)),
        ("从2024年5月14日起发生了什么", (2024, 5, 14)),
        ("2024年5月14日以来发生了什么", (2024, 5, 14)),
        ("2024年5月14日以后发生了什么", (2024, 5, 15)),
        ("晚于2024年5月14日的事", (2024, 5, 15)),
    ],
)
def test_lower_bounds_begin_the_time_asked_about(query: str, begin: Day) -> None:
    """ "Since" and "after" a date ask for everything from it on."""
    intent = read_intent(query, NOW)
    assert intent.edge in ("since", "after")
    assert intent.window == (at(begin), NOW)
    assert intent.horizon is None


@pytest.mark.parametrize(
    "query",
    [
        "what happened around 14 May 2024?",
        "what happened about 14 May 2024?",
        "what happened circa 14 May 2024?",
        "what happened 14 May 2024 or so?",
        "sometime around the 14th of May 2024",
        "Was war um den 14. Mai 2024 herum?",
        "Was war rund um den 14. Mai 2024?",
        "¿Qué pasó alrededor del 14 de mayo de 2024?",
        "¿Qué pasó hacia el 14 de mayo de 2024?",
        "2024年5月14日左右发生了什么",
        "2024年5月14日前后发生了什么",
        "大约2024年5月14日发生了什么",
    ],
)
def test_around_a_date_is_its_neighbourhood(query: str) -> None:
    """ "Around" a date means the days before it as well as those after it."""
    intent = read_intent(query, NOW)
    assert intent.edge == "around"
    assert intent.window == (at((2024, 5, 14)), at((2024, 5, 15)))


@pytest.mark.parametrize(
    "query",
    [
        "what happened on 14 May 2024?",
        "what did I say during 14 May 2024?",
        "the meeting of 14 May 2024",
        "my 14 May 2024 appointment",
        "On 14 May 2024, what did I eat?",
        "the letter sent by Ana on 14 May 2024",
        "the book by Ana from 14 May 2024",
        "what was asked about the budget on 14 May 2024?",
        "Was war am 14. Mai 2024?",
        "der Brief vom 14. Mai 2024",
        "¿Qué pasó el 14 de mayo de 2024?",
        "¿Qué pasó durante el 14 de mayo de 2024?",
        "2024年5月14日发生了什么",
        "在2024年5月14日发生了什么",
    ],
)
def test_on_a_date_is_that_date(query: str) -> None:
    """ "On", "in" and "during" mean the time itself, whatever other prepositions stand further off."""
    intent = read_intent(query, NOW)
    assert intent.edge is None
    assert intent.window == (at((2024, 5, 14)), at((2024, 5, 15)))


@pytest.mark.parametrize(
    ("query", "begin", "end"),
    [
        ("after 3 May 2024 but before 9 May 2024", (2024, 5, 4), (2024, 5, 9)),
        ("what did I do since 3 May and until 9 May 2024?", (2024, 5, 3), (2024, 5, 10)),
        ("Was war nach dem 3. Mai 2024 und vor dem 9. Mai 2024?", (2024, 5, 4), (2024, 5, 9)),
        ("what did John do the week before August 3, 2023?", (2023, 7, 27), (2023, 8, 3)),
        ("the puppy she got two weeks before August 11, 2023", (2023, 7, 24), (2023, 7, 31)),
        ("what happened three days after 14 May 2024", (2024, 5, 17), (2024, 5, 18)),
        ("what happened the day before 14 May 2024", (2024, 5, 13), (2024, 5, 14)),
        ("Was war zwei Tage nach dem 14. Mai 2024?", (2024, 5, 16), (2024, 5, 17)),
        ("¿Qué pasó dos días antes del 14 de mayo de 2024?", (2024, 5, 12), (2024, 5, 13)),
        ("2024年5月14日前两天发生了什么", (2024, 5, 12), (2024, 5, 13)),
    ],
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


PLANTS = [
    "beans",
    "leeks",
    "kale",
    "chard",
    "peas",
    "dill",
    "thyme",
    "sage",
    "mint",
    "rue",
    "basil",
]


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
