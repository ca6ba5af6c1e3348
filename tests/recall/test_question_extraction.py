"""Extraction of the question from a long message."""

from __future__ import annotations

from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.languages.tables import folders
from langmemory.recall.question_extraction import JOINED_WORDS, LONG_CHARACTERS, extract_question
from tests.tables import tables

CASES = tables(__file__)

QUESTION = "What is Emil allergic to?"
LETTER = "Dear all,\n" + "we met on Tuesday and spoke about the budget of the coming year.\n" * 40
CODE = "def total(rows):\n    return sum(row.price for row in rows)\n" * 30


@pytest.mark.parametrize(
    "message",
    [
        f"{LETTER}\n{QUESTION}",
        f"{QUESTION}\n\n{LETTER}",
        f"Here is a letter:\n{LETTER}\n{QUESTION}\nThanks!",
        f"{LETTER.replace(chr(10), ' ')}{QUESTION}",
        f"{QUESTION} {LETTER.replace(chr(10), ' ')}",
        f"{QUESTION}\n```\n{CODE}```",
    ],
)
def test_a_question_around_a_paste_is_what_is_asked(message: str) -> None:
    """Before or after a pasted text, on a line of its own or not, the question alone is looked up."""
    assert extract_question(message) == QUESTION


def test_the_line_of_a_question_belongs_to_it() -> None:
    """The line of a question tells its subject."""
    line = "I am cooking for Emil on Friday. What is he allergic to?"
    assert extract_question(f"{LETTER}\n{line}") == line


def test_questions_at_both_ends_are_asked_together() -> None:
    """Whether the person or the letter asks, nobody can tell, so both count."""
    letter = LETTER + "Can you come to the meeting in Kiel?"
    assert extract_question(f"{QUESTION}\n\n{letter}").splitlines() == [
        QUESTION,
        "Can you come to the meeting in Kiel?",
    ]


@pytest.mark.parametrize(
    "message",
    [
        QUESTION,
        "",
        "Why? " + "Because. " * 20,
        LETTER,
        f"{LETTER}\nShould I?",  # about the letter
        "word " * LONG_CHARACTERS,
        "?" * 2_000,
    ],
)
def test_other_messages_are_left_whole(message: str) -> None:
    """A short message, one that asks nothing, and one whose question is about the rest of it."""
    assert extract_question(message) == message


def test_other_scripts_ask_with_their_own_marks() -> None:
    """A question is known by its mark in Chinese and Arabic, too."""
    assert (
        extract_question("会议讨论了明年的预算。" * 80 + "\n艾米尔对什么过敏？")
        == "艾米尔对什么过敏？"
    )
    assert extract_question("كان اليوم طويلا جدا. " * 60 + "\nأين تعيش لينا؟") == "أين تعيش لينا؟"


async def test_a_recall_finds_what_is_asked_around_a_paste() -> None:
    """The memory that answers a question comes first, however long the letter pasted beside it; the
    recall still says what its query was."""
    with MemoryStore(":memory:") as store:
        place = ("memories", "lena")
        said = [*LETTER.splitlines()[:6], "Emil is allergic to hazelnuts."]
        messages = [{"role": "user", "content": f"{line} {n}"} for n, line in enumerate(said)]
        store.remember(place, messages, thread_id="t")
        for message in (f"{LETTER}\n{QUESTION}", f"{QUESTION}\n{LETTER}"):
            for found in (store.recall(message, place), await store.arecall(message, place)):
                assert found.results[0].text.startswith("Emil is allergic")
                assert found.query == message


@pytest.mark.parametrize(
    ("message", "asked"),
    CASES["courtesies_are_not_asked"],
)
def test_courtesies_are_not_asked(message: str, asked: str) -> None:
    """Greetings, thanks and "could you tell me" are said around a question and not looked up."""
    assert extract_question(message) == asked


@pytest.mark.parametrize(
    "message",
    CASES["what_only_looks_like_a_courtesy_stays"],
)
def test_what_only_looks_like_a_courtesy_stays(message: str) -> None:
    """Names and statements with such words in them, and messages that are nothing else, are whole."""
    assert extract_question(message) == message


def test_a_language_that_is_added_brings_its_courtesies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever a language is added, what is polite in it is not asked from then on."""
    message = "Bedankt hoor, waar woont mijn zus?"
    assert extract_question(message) == message
    words = tmp_path / "nl" / "words.toml"
    words.parent.mkdir()
    words.write_text("[courtesies]\nbedankt = '^\\W*bedankt(?: hoor)?,?\\s*'\n")
    monkeypatch.setitem(folders(), "nl", words.parent)
    assert extract_question(message) == "waar woont mijn zus?"


MEMORIES = CASES["memories"]
FLAT = CASES["flat"]
DRUG = CASES["drug"]
KILN = CASES["kiln"]
CHEESE = CASES["cheese"]
FLIGHT = CASES["flight"]


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (f"{FLAT}Which way should we lean?", "commute more than forty"),
        (f"Which way should we lean?\n\n{FLAT}", "commute more than forty"),
        (f"{FLAT}What would you do?", "wants a garden"),
        (f"{FLAT}Which of the two would you pick?", "wants a garden"),
        (f"{DRUG}Is that okay?", "penicillin"),
        (f"{DRUG}Can I take it, what do you think?", "penicillin"),
        (f"{DRUG}Any thoughts?", "penicillin"),
        (f"{KILN}Should I accept the offer?", "kiln of the pottery"),
        (f"{KILN}Is this a good price?", "kiln of the pottery"),
        (f"{KILN}How should I answer?", "kiln of the pottery"),
        (f"{CHEESE}Was meinst du dazu?", "Laktose"),
        (f"{CHEESE}Wozu würdest du mir raten?", "Laktose"),
        (f"{FLIGHT}¿Qué te parece?", "miedo a volar"),
        (f"{FLIGHT}¿Qué harías tú?", "miedo a volar"),
    ],
)
def test_a_question_about_the_message_keeps_its_subject(message: str, found: str) -> None:
    """Where a question tells too little of its own, what the message is about is looked up with it."""
    assert len(message) > LONG_CHARACTERS
    with MemoryStore(":memory:") as store:
        place = ("memories", "lena")
        for number, text in enumerate(MEMORIES):
            store.remember(place, [{"role": "user", "content": text}], thread_id=f"t{number}")
        best = [result.text for result in store.recall(message, place, limit=3).results]
    assert any(found in text for text in best)


@pytest.mark.parametrize(
    "question",
    CASES["a_question_that_tells_its_subject_is_asked_alone"],
)
def test_a_question_that_tells_its_subject_is_asked_alone(question: str) -> None:
    """A question for something of one's own, for somebody by name or for a rare thing needs no more words."""
    assert extract_question(f"{FLAT}{question}") == question


def test_words_join_as_they_are_written() -> None:
    """The words that join stand behind the question, few of them, names with their capitals."""
    question, words = extract_question(f"{KILN}Should I accept the offer?").split("\n")
    assert question == "Should I accept the offer?"
    assert "kiln" in words.split()
    assert len(words.split()) <= JOINED_WORDS
