"""How a turn of chat is cut into what it says for certain, and about whom."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from langmemory.formation.batch import Batch, Turn
from langmemory.formation.rules import RuleExtractor
from langmemory.formation.rules.clauses import FIRST_TIME, MAX_SENTENCE
from langmemory.formation.rules.grammar import TIME
from tests.tables import tables

CASES = tables(__file__)

SAID = datetime(2026, 11, 11, 12, tzinfo=UTC)


def statements(text: str, names: Sequence[str] = ()) -> list[str]:
    """Return the facts of one turn of Lena's."""
    turn = Turn(key="t1", text=text, role="user", speaker="Lena", said_at=SAID, privacy="shared",
                owner=None)  # fmt: skip
    batch = Batch(namespace=("memories", "lena"), thread_id="t", turns=(turn,))
    return [fact.text for fact in RuleExtractor().extract(batch, names=names).facts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm allergic to eggs, so what can I bake?", ["Lena is allergic to eggs."]),
        ("I live in Bristol - any tips for the weekend?", ["Lena lives in Bristol."]),
        ("Ich wohne in Ulm, was kann man da machen?", ["Lena wohnt in Ulm."]),
        ("Vivo en Vigo, ¿qué hago el sábado?", ["Lena vive en Vigo."]),
        ("我住在厦门，周末去哪里玩好？", ["Lena住在厦门。"]),
        ("I live in Bristol, don't I?", []),
        ("Do I live in Bristol, or what do you think?", []),
        ("我住在厦门，对吗？", []),
    ],
)
def test_a_statement_holds_that_leads_to_a_question(text: str, expected: list[str]) -> None:
    """Of a sentence that ends in a question its beginning is read, unless that is what it asks."""
    assert statements(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Leeds and I'd love a garden.", ["Lena lives in Leeds."]),
        ("I might move again, but I live in Leeds.", ["Lena lives in Leeds."]),
        ("I live in Leeds, she said.", []),
        ("She said I live in Leeds and I work at Aldi.", []),
        ("I hope I live in Leeds and work at Aldi.", []),
        ("I live in Leeds, but not anymore.", []),
        ("My brother Tom says I should move to Leeds.", ["Tom is Lena's brother."]),
    ],
)
def test_a_doubt_reaches_as_far_as_its_clauses(text: str, expected: list[str]) -> None:
    """A wish or a report leaves alone what an "and" parts from it before, or a "but" after it; who is
    named in passing is named in any case."""
    assert statements(text) == expected


@pytest.mark.parametrize(
    ("text", "last"),
    CASES["she_is_the_only_one_she_may_be"],
)
def test_she_is_the_only_one_she_may_be(text: str, last: str) -> None:
    """A pronoun is about somebody of the speaker's where nobody else was mentioned that it fits."""
    assert statements(text)[-1] == last


@pytest.mark.parametrize(
    "text",
    CASES["she_is_nobody_where_she_may_be_two"],
)
def test_she_is_nobody_where_she_may_be_two(text: str) -> None:
    """Where a pronoun fits two, or somebody without a name, nothing is said of anybody."""
    assert statements(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Moved to Leeds last week.", ["Lena lives in Leeds."]),
        ("Finally quit Tesco!", ["Lena no longer works at Tesco."]),
        ("My brother had a big year. Moved to Leeds.", []),
        ("Moved to tears by that.", []),
    ],
)
def test_a_sentence_without_a_subject_is_the_speakers(text: str, expected: list[str]) -> None:
    """A verb of change at its head has the speaker for a subject, unless others were spoken of."""
    assert statements(text) == expected


@pytest.mark.parametrize(
    "text",
    CASES["what_is_made_up_or_withdrawn_leaves_nothing"],
)
def test_what_is_made_up_or_withdrawn_leaves_nothing(text: str) -> None:
    """From where a turn begins to play, to its end; and what the next sentence takes back."""
    assert statements(text) == []


def test_two_are_one_subject() -> None:
    """ "My husband and I" is the speaker, and not a clause that ends after "and"."""
    assert statements("So my husband and I moved to Leeds, and I started at Aldi.") == [
        "Lena lives in Leeds.", "Lena works at Aldi.",
    ]  # fmt: skip
    assert statements("Mein Mann und ich sind nach Ulm gezogen.") == ["Lena wohnt in Ulm."]


def test_a_relative_named_before_is_meant_by_the_role() -> None:
    """ "My son" is Hugo once he was named in the turn."""
    assert statements("My son Hugo is great. My son is allergic to eggs.") == [
        "Hugo is Lena's son.", "Hugo is allergic to eggs.",
    ]  # fmt: skip


def test_places_need_no_capital_where_none_is_written() -> None:
    """A city in lower case is a city."""
    assert statements("i moved to leeds in may") == ["Lena lives in Leeds."]


@pytest.mark.parametrize(
    "text",
    ["Tomorrow I'm vegan.", "I'm vegan today.", "I can't have dairy today.", "我今天不吃肉。"],
)
def test_a_day_is_no_habit(text: str) -> None:
    """Food that somebody eats for a day says nothing about their diet."""
    assert statements(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "My sister Noor is 1.86 and slim.",
        "My son Tom is 3.5 months ahead.",
        "Ich bin 35,5 km gelaufen.",
    ],
)
def test_a_fraction_is_no_age(text: str) -> None:
    """How tall somebody is, or how far ahead."""
    assert not [one for one in statements(text) if "years old" in one or "Jahre alt" in one]


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("My dad Behrouz is diabetic, on insulin since May.", None),
        ("My dad Behrouz lives in Rome, Italy, since 2019.", 2019),
        ("My dad Behrouz lives in Rome, since 2019.", 2019),
    ],
)
def test_a_time_behind_something_else_is_that_ones(text: str, since: int | None) -> None:
    """A time after a clause belongs to that clause, not to the statement before it."""
    turn = Turn(key="t1", text=text, role="user", speaker="Lena", said_at=SAID, privacy="shared",
                owner=None)  # fmt: skip
    batch = Batch(namespace=("memories", "lena"), thread_id="t", turns=(turn,))
    when = RuleExtractor().extract(batch).facts[-1].when
    assert (None if when is None else when.start.year) == since


def test_a_sentence_has_room_for_its_times() -> None:
    """There are characters for more times than the longest sentence that is read can name."""
    masks = map(chr, range(FIRST_TIME, FIRST_TIME + MAX_SENTENCE))
    assert all(re.fullmatch(TIME, mask) for mask in masks)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I chose SQLite because it is simple.", "Tom decided on SQLite because it is simple."),
        ("We decided to use Rust because it runs.", "Tom and others decided to use Rust because it runs."),
        ("I decided against the van because it is loud.",
         "Tom decided against the van because it is loud."),
        ("Ich habe mich für Go entschieden, weil es einfach ist.",
         "Tom hat sich für Go entschieden, weil es einfach ist."),
        ("Optamos por el tren porque volar era caro.", "Decisión de Tom: el tren, porque volar era caro."),
        ("I chose Rust because I know it well.", "Tom decided on Rust: “because I know it well”."),
        ("We decided to use Rust because my team knows it.",
         "Tom and others decided to use Rust: “because my team knows it”."),
        ("I chose the train because flying in May is dear.",
         "Tom decided on the train because flying in May is dear."),
        ("Wir haben beschlossen, Rust zu nehmen, weil wir es kennen.",
         "Tom (mit anderen) hat beschlossen, Rust zu nehmen: „weil wir es kennen“."),
        ("Optamos por el tren porque no nos gusta volar.",
         "Decisión de Tom: el tren («porque no nos gusta volar»)."),
        ("我们决定用Postgres，因为我们需要它。", "Tom等人决定用Postgres：“因为我们需要它”。"),
        ("我选择了SQLite，因为它很简单。", "Tom选择了SQLite，因为它很简单。"),
        ("I picked Postgres because it scales.", "Tom decided on Postgres because it scales."),
        ("Wir haben Redis gewählt, weil es schnell ist.",
         "Tom (mit anderen) hat sich für Redis entschieden, weil es schnell ist."),
        ("Escogimos Django porque es sencillo.", "Decisión de Tom: Django, porque es sencillo."),
        ("我们选用了Redis因为它很快。", "Tom等人选择了Redis，因为它很快。"),
        ("I picked strawberries because they were ripe.", None),
        ("I chose to stay because it rained.", None),
        ("I didn't choose Rust because I know it.", None),
        ("If I chose SQLite because it is simple, would you mind?", None),
        ("She chose Porto because it is warm.", None),
    ],
)  # fmt: skip
def test_a_decision_keeps_its_reason(said: str, told: str | None) -> None:
    """What was chosen and why stands in one statement, in the speaker's words where it says "I" or "we"; what
    is supposed, or of others, is none."""
    turn = Turn(
        key="k", text=said, role="user", speaker="Tom", said_at=datetime(2026, 5, 1, tzinfo=UTC)
    )
    batch = Batch(namespace=("home",), thread_id="t", turns=(turn,))
    found = [fact.text for fact in RuleExtractor().extract(batch).facts if fact.kind == "decision"]
    assert found == ([] if told is None else [told])


def test_a_reason_is_also_read_by_itself() -> None:
    """What a reason says of somebody is a fact as it was without the decision."""
    text = "I decided to move to Bonn because I work at Halden."
    turn = Turn(key="k", text=text, role="user", speaker="Tom", said_at=SAID)
    batch = Batch(namespace=("home",), thread_id="t", turns=(turn,))
    found = [fact.text for fact in RuleExtractor().extract(batch).facts]
    assert found == [
        "Tom decided to move to Bonn: “because I work at Halden”.",
        "Tom works at Halden.",
    ]
