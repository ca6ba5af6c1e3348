"""What a long message asks."""

from __future__ import annotations

import pytest

from langmemory import MemoryStore
from langmemory.lexicon import LANGUAGES, Language
from langmemory.recall.asked import LONG_CHARACTERS, asked_in

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
    assert asked_in(message) == QUESTION


def test_the_line_of_a_question_belongs_to_it() -> None:
    """What stands on the line of a question says what it is about."""
    line = "I am cooking for Emil on Friday. What is he allergic to?"
    assert asked_in(f"{LETTER}\n{line}") == line


def test_questions_at_both_ends_are_asked_together() -> None:
    """Whether the person or the letter asks, nobody can tell, so both count."""
    letter = LETTER + "Can you come to the meeting in Kiel?"
    assert asked_in(f"{QUESTION}\n\n{letter}").splitlines() == [
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
    assert asked_in(message) == message


def test_other_scripts_ask_with_their_own_marks() -> None:
    """A question is known by its mark in Chinese and Arabic, too."""
    assert asked_in("会议讨论了明年的预算。" * 80 + "\n艾米尔对什么过敏？") == "艾米尔对什么过敏？"
    assert asked_in("كان اليوم طويلا جدا. " * 60 + "\nأين تعيش لينا؟") == "أين تعيش لينا؟"


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
    [
        (
            "Hey, good morning! Could you please tell me, if you remember it: where did we eat?"
            " Thanks a lot!",
            "where did we eat?",
        ),
        ("Do you remember when I moved to Kiel?", "when I moved to Kiel?"),
        ("Can you remind me of the name of that bar?", "the name of that bar?"),
        ("I was just wondering about Tom's new job", "Tom's new job"),
        ("Where is my bag, please?", "Where is my bag ?"),
        ("Hallo, weißt du noch, wo ich wohne? Danke dir!", "wo ich wohne?"),
        (
            "Könntest du mir bitte nochmal sagen, wie mein Hund heißt?",
            "wie mein Hund heißt?",
        ),
        ("¡Hola! ¿Podrías decirme dónde vive mi hermana? Gracias", "dónde vive mi hermana?"),
        ("你好，请问你还记得我住在哪里吗？谢谢你", "我住在哪里吗？"),
    ],
)
def test_courtesies_are_not_asked(message: str, asked: str) -> None:
    """Greetings, thanks and "could you tell me" are said around a question and not looked up."""
    assert asked_in(message) == asked


@pytest.mark.parametrize(
    "message",
    [
        "Hello Kitty stickers, where are they?",
        "What did you recommend?",
        "History of Hiroshima",
        "Thanks!",
        "Good morning!",
        "我不知道他住在哪里",
        "Where did I say thanks?",
        "What would please Keely?",
        "Hi-fi speakers, which did I buy?",
    ],
)
def test_what_only_looks_like_a_courtesy_stays(message: str) -> None:
    """Names and statements with such words in them, and messages that are nothing else, are whole."""
    assert asked_in(message) == message


def test_a_language_that_is_added_brings_its_courtesies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever a language is registered, what is polite in it is not asked from then on."""
    message = "Bedankt hoor, waar woont mijn zus?"
    assert asked_in(message) == message
    dutch = Language(code="nl", courtesies={"bedankt": r"^\W*bedankt(?: hoor)?,?\s*"})
    monkeypatch.setitem(LANGUAGES, "nl", dutch)
    assert asked_in(message) == "waar woont mijn zus?"
