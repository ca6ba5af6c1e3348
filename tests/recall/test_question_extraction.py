"""Extraction of the question from a long message."""

from __future__ import annotations

from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.languages.tables import folders
from langmemory.recall.question_extraction import JOINED_WORDS, LONG_CHARACTERS, extract_question

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
    assert extract_question(message) == asked


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


MEMORIES = [
    "Our landlord raised the rent of the flat in Gostenhof to 1,240 euros.",
    "Ines wants a garden more than anything, because of her tomatoes.",
    "I promised Ines that we never commute more than forty minutes again.",
    "My knee hurts on stairs since the meniscus tore in March.",
    "I'm allergic to penicillin, I got a rash from it as a child.",
    "The kiln of the pottery broke and the new one costs 3,100.",
    "Marek wants to leave the pottery by the end of the year.",
    "Our cat Pixel panics whenever we travel with her by train.",
    "We always celebrate New Year's Eve at my parents'.",
    "The bike I ride is a steel Kona of 1998.",
    "I read two books on beekeeping over the winter.",
    "My brother teaches the oboe in Graz.",
    "Ich vertrage keine Laktose, Käse bekommt mir nicht.",
    "Mi hermana Lucía tiene miedo a volar desde el accidente.",
]
FLAT = (
    "So we have been to see both places now. The first is a flat close to the centre, new kitchen, third "
    "floor without a lift, and a balcony but no garden at all. The second is a little house far out, with a "
    "big garden, and from there it is about an hour to work by bus and tram. Both of them want an answer by "
    "the end of the week, and both cost about the same. The agent was very friendly and said that others "
    "are interested too, which they always say of course. We slept on it twice and are no further than we "
    "were on Sunday. The commute worries me, the garden would be a dream, and I cannot decide such things "
    "when I am under pressure, as you know by now.\n\n"
)
DRUG = (
    "I was at the practice this morning since my throat has been sore for a week. She looked at it for half "
    "a minute, said that it is bacterial and wrote me a prescription. It says amoxicillin, which as far as I "
    "understand is a penicillin, three times a day for seven days, to be taken with a lot of water. On the "
    "way home I already picked it up, and now the box stands here before me on the table. The leaflet is as "
    "long as my arm, with everything that can go wrong from nausea to a rash. I am not one who reads these "
    "usually, but this time I did, twice, and it did not make me feel any better about the whole thing, on "
    "the contrary.\n\n"
)
KILN = (
    "Here is what they have sent me today. Dear customer, thank you for your request. We offer you the front "
    "loading kiln of 200 litres with controller, delivery and installation at the price of 3,400 including "
    "tax. The delivery time is six weeks at present. As a customer of long standing you are given two per "
    "cent of discount when paying within ten days. The old kiln can be taken away by us at no charge. The "
    "offer stands until the end of the month, after which the prices of the new catalogue apply. We look "
    "forward to hearing from you and remain with kind regards from all of our team in the workshop and the "
    "office.\n\n"
)
CHEESE = (
    "Wir haben am Samstag die Einladung bei den Nachbarn. Es soll ein Abend mit Raclette werden, also Käse "
    "von vorn bis hinten, dazu Brot und ein wenig Gemüse, und zum Nachtisch gibt es angeblich noch einen "
    "Kuchen mit Quark. Sie haben sich sehr viel Mühe gegeben und schon vor zwei Wochen eingeladen, absagen "
    "möchte ich deshalb auf keinen Fall. Aber ich will auch nicht die halbe Nacht wach liegen, so wie beim "
    "letzten Mal, als ich nichts gesagt und einfach alles gegessen habe. Peinlich wäre es mir schon, gleich "
    "zu Beginn mit meinen Sonderwünschen anzufangen, man kennt sich ja noch gar nicht so lange und gut.\n\n"
)
FLIGHT = (
    "Estamos organizando el cumpleaños de mi hermana Lucía y se nos ha ocurrido regalarle un viaje a las "
    "islas. Sería volar el viernes por la tarde y volver el domingo, con un hotel junto al mar y una cena el "
    "sábado. Los billetes están ahora muy bien de precio, pero suben cada día, así que habría que decidirlo "
    "entre hoy y mañana. Mi madre está encantada con la idea, mi padre dice que él paga la cena, y los "
    "primos se apuntan todos. Solo falta que alguien diga que sí y haga las reservas de una vez, porque de "
    "otro modo nos quedamos como el año pasado sin plan ninguno y con una tarta de supermercado.\n\n"
)


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
    [
        "What is my dog called?",
        "Who is my current dentist?",
        "Where does Tomasz live?",
        "How much levothyroxine do I take?",
        "Wie heißt mein Hund?",
        "Wogegen ist Emil allergisch?",
        "¿Dónde vive mi hermana?",
    ],
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
