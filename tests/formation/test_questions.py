"""Questions that the next turn answers in a word or two, and games in which nobody speaks for himself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from langmemory.formation.batch import Batch, Turn
from langmemory.formation.rules import RuleExtractor
from langmemory.formation.rules.questions import LATEST
from langmemory.ports.facts import Fact
from tests.tables import tables

CASES = tables(__file__)

SAID = datetime(2026, 11, 11, 12, tzinfo=UTC)


def turn(number: int, speaker: str, text: str, after: timedelta | None = None) -> Turn:
    at = SAID + (timedelta(minutes=number) if after is None else after)
    role = "assistant" if speaker == "assistant" else "user"
    return Turn(key=f"t{number}", text=text, role=role, speaker=speaker, said_at=at)


def talk(*lines: tuple[str, str]) -> list[Turn]:
    return [turn(number, speaker, text) for number, (speaker, text) in enumerate(lines)]


def read(turns: list[Turn], before: tuple[Turn, ...] = ()) -> tuple[Fact, ...]:
    batch = Batch(namespace=("memories",), thread_id="t", turns=tuple(turns), before=before)
    return RuleExtractor().extract(batch).facts


def answered(asks: str, answer: str, *, asker: str = "Kim") -> list[str]:
    """Return the facts of Lena's answer."""
    return [fact.text for fact in read(talk((asker, asks), ("Lena", answer)))]


@pytest.mark.parametrize(
    ("asks", "answer", "expected"),
    [
        ("Where do you live?", "In Bonn.", ["Lena lives in Bonn."]),
        ("So where do you live now, Lena?", "porto", ["Lena lives in Porto."]),
        ("Where do you live? 🙂", "Cork, with my sister", ["Lena lives in Cork."]),
        ("Where do you live?", "Cork, Ireland", ["Lena lives in Cork."]),
        ("what do you do for a living", "nurse", ["Lena works as a nurse."]),
        ("Where do you work?", "At Bosch. You?", ["Lena works at Bosch."]),
        ("Do you have any pets?", "Yes, a cat called Tofu", ["Lena has a cat called Tofu."]),
        ("How old is your son?", "Four!", ["Lena's son is 4 years old."]),
        ("When is your birthday?", "May 3rd", ["Lena's birthday is May 3rd."]),
        ("What's your sister's name?", "Ida", ["Ida is Lena's sister."]),
        ("What does your mother-in-law do?", "Nurse", ["Lena's mother-in-law works as a nurse."]),
        ("Are you allergic to anything?", "Peanuts.", ["Lena is allergic to peanuts."]),
        ("Do you live in Leeds?", "Yes", ["Lena lives in Leeds."]),
        ("Do you live in Leeds?", "No, Hull", []),
        ("Wo wohnst du eigentlich?", "in Bonn", ["Lena wohnt in Bonn."]),
        ("Was machen Sie beruflich?", "Hebamme", ["Lena ist Hebamme von Beruf."]),
        ("Wann hast du Geburtstag?", "Am 3. Mai", ["Lena hat am 3. Mai Geburtstag."]),
        ("Wie heißt deine Schwester?", "Ida", ["Ida ist Lenas Schwester."]),
        ("Bist du Vegetarierin?", "Ja", ["Lena ist Vegetarierin."]),
        ("¿Dónde vives?", "En Bilbao", ["Lena vive en Bilbao."]),
        ("¿A qué te dedicas?", "enfermera", ["Lena trabaja como enfermera."]),
        ("¿Tienes alguna alergia?", "al huevo", ["Lena tiene alergia: huevo."]),
        ("你住在哪里？", "上海", ["Lena住在上海。"]),
        ("你做什么工作？", "护士", ["Lena是护士。"]),
        ("你有宠物吗？", "有，一只猫", ["Lena养了一只猫。"]),
    ],
)
def test_a_short_answer_is_read_with_its_question(
    asks: str, answer: str, expected: list[str]
) -> None:
    """A word or two after a plain question say what the whole sentence would, in four languages; a
    "No" says nothing."""
    assert answered(asks, answer) == expected
    assert answered(asks, answer, asker="assistant") == expected


@pytest.mark.parametrize(
    ("asks", "answer"),
    CASES["what_is_no_plain_answer_is_left_alone"],
)
def test_what_is_no_plain_answer_is_left_alone(asks: str, answer: str) -> None:
    """Doubt, jokes, evasion, questions in return, what is asked of another or of what is not: none
    of it is an answer."""
    assert answered(asks, answer) == []


def test_the_one_who_answers_speaks_and_the_answer_alone_is_evidence() -> None:
    """The fact is the answerer's, its times are counted from the answer, and it rests on no words of
    the one who asks."""
    asked = turn(0, "assistant", "Where do you live?")
    [fact] = read([asked, turn(1, "Lena", "In Bonn, since yesterday.", timedelta(hours=20))])
    assert fact.evidence == ("t1",)
    assert (fact.speaker, fact.said_at) == ("Lena", SAID + timedelta(hours=20))
    assert fact.when is not None
    assert fact.when.start.date() == fact.said_at.date() - timedelta(days=1)


def test_an_answer_is_the_next_turn_of_somebody_else() -> None:
    """Who talks to themselves, comes second or a day later answers nothing."""
    asks = ("Kim", "Where do you live?")
    assert not read(talk(asks, ("Kim", "In Bonn")))
    assert not read(talk(asks, ("Ben", "Hm"), ("Lena", "In Bonn")))
    late = turn(1, "Lena", "In Bonn", LATEST + timedelta(minutes=1))
    assert not read([turn(0, *asks), late])


def test_a_question_of_the_batch_before_is_answered() -> None:
    """Where a batch begins with the answer, its question is among the turns shown once more."""
    asked, answer = talk(("Kim", "Where do you live?"), ("Lena", "In Bonn"))
    assert [fact.text for fact in read([answer], (asked,))] == ["Lena lives in Bonn."]
    assert read([answer]) == ()


@pytest.mark.parametrize(
    ("asks", "answer", "expected"),
    [
        ("How's your mum?", "Good, she moved to Leeds", ["Lena's mum lives in Leeds."]),
        ("Wie geht's deiner Mutter?", "Sie wohnt in Mainz", ["Lenas Mutter wohnt in Mainz."]),
        ("Is that your sister?", "No, she's a nurse from work", []),
        ("Tom, how's your mum?", "She moved to Leeds", []),
        ("How are your mum and your aunt?", "She moved to Leeds", []),
    ],
)
def test_she_is_whom_was_asked_after(asks: str, answer: str, expected: list[str]) -> None:
    """A pronoun means somebody of the question, where it is only one."""
    assert answered(asks, answer) == expected


def test_nobody_speaks_for_himself_in_a_game() -> None:
    """From "let's role-play" on nothing is noted, until somebody ends the game."""
    facts = read(
        talk(
            ("Gil", "ok let's play. I am Thalion, I live in Rivermoor"),
            ("Lena", "I'm a blacksmith. I hate elves"),
            ("Gil", "Do you live in Oldtown?"),
            ("Lena", "Yes"),
            ("Lena", "ok pause, I live in Hull and my pizza is here"),
        )
    )
    assert [fact.text for fact in facts] == ["Lena lives in Hull."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I'm a 34 year old nurse from Bristol.",
            ["Lena is 34 years old.", "Lena works as a nurse.", "Lena comes from Bristol."],
        ),
        ("I left Google to join Acme.", ["Lena no longer works at Google."]),
        ("Meine Schwiegermutter wohnt in Ulm.", ["Lenas Schwiegermutter wohnt in Ulm."]),
        ("Mi suegra vive en Vigo.", ["Suegra de Lena vive en Vigo."]),
        ("My stepdad is a nurse.", ["Lena's stepdad works as a nurse."]),
        ("Sorry, I meant: my name is Mia.", ["Lena's name is Mia."]),
    ],
)
def test_more_is_read_of_one_turn(text: str, expected: list[str]) -> None:
    """Age, work and origin in one breath, jobs left for another, in-laws and step-parents."""
    assert [fact.text for fact in read([turn(0, "Lena", text)])] == expected


def test_the_name_of_another_is_a_quotation() -> None:
    """Who is known by name and says "my name is" with another one says lines of a film. An id is
    written as it is."""
    assert read([turn(0, "Max", "My name is Inigo Montoya, prepare to die")]) == ()
    [fact] = read([turn(0, "max93", "My name is Maximilian Bauer")])
    assert fact.text == "max93's name is Maximilian Bauer."


def test_others_like_with_an_s() -> None:
    """ "Bram like Stoker" is no statement about Bram."""
    assert read(talk(("Bram", "Hello"), ("Lena", "Bram like Stoker"))) == ()
    assert (
        read(talk(("Bram", "Hello"), ("Lena", "Bram likes Stoker")))[0].text == "Bram likes Stoker."
    )
