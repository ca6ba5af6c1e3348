"""What a model writes about a conversation stands only where a person said it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner

from langmemory import MemoryStore
from langmemory.cli.app import app
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.grounded import REPEATS, Talk
from langmemory.graphs.reflection import build_reflection_graph
from tests.places import address
from tests.scripted import ScriptedModel
from tests.seeds import seeds

MONDAY = datetime(2026, 3, 2, 10, tzinfo=UTC)


def talk(*said: tuple[str, str], private: tuple[int, ...] = ()) -> Batch:
    """A conversation; ``A`` is the assistant."""
    turns = tuple(
        Turn(
            key=f"t/{number}",
            text=text,
            role="assistant" if who == "A" else "user",
            speaker="assistant" if who == "A" else who,
            owner=None if who == "A" else who,
            privacy="private" if number in private else "shared",
            said_at=MONDAY + timedelta(minutes=number),
        )
        for number, (who, text) in enumerate(said)
    )
    return Batch(namespace=("memories",), thread_id="t", turns=turns)


EVERYDAY = talk(
    ("Mira", "Hi! I live in Graz and I work as a dentist. My brother Tomas is a pilot. He lives in Split."),
    ("A", "Split has a wonderful old harbour. Do you play an instrument?"),
    ("Mira", "Yes, the trumpet, since 2014. I have two rabbits called Pip and Moss."),
    ("Noor", "I don't drink coffee. My daughter Amal is seven and goes to the Linden school."),
    ("A", "Then you are surely a tea drinker! How was your holiday, Noor?"),
    ("Noor", "We spent three weeks in Crete in August. I'm going to Bergen on 14 May for a conference."),
    ("Mira", "If I lived in Rome, I would buy a scooter. My boss is called Edda, and she rides a motorbike."),
    ("A", "Scooters are cheap in Rome. I will remind Mira to call the garage on Friday."),
    ("Noor", "I bought a blue kayak last week. I sold my old car to my neighbour Piet."),
    ("Mira", "I'm allergic to penicillin. My grandmother turned 90 in January."),
)  # fmt: skip
GERMAN = talk(
    ("Jule", "Ich wohne in Kassel und arbeite als Gärtnerin. Mein Hund heißt Anton und ist fünf."),
    ("A", "Kassel hat einen schönen Bergpark. Spielst du ein Instrument?"),
    ("Jule", "Ja, seit 2019 spiele ich Geige. Meine Schwester Marlen studiert in Jena Physik."),
    ("Jule", "Im Juni fahre ich mit dem Rad nach Rügen. Ich vertrage keine Milch."),
)
SPANISH = talk(
    ("Inés", "Vivo en Cádiz y trabajo en una librería. Mi gato se llama Nilo y tiene cuatro años."),
    ("A", "Cádiz tiene playas preciosas."),
    ("Inés", "Mi hermana Berta estudia medicina en Granada. Toco el violín desde 2016."),
)
CHINESE = talk(
    ("陈敏", "我住在杭州，我是老师。我有一只狗叫豆豆。"),
    ("A", "杭州的西湖很美。"),
    ("陈敏", "我妹妹陈丽在上海学医。"),
)

FAITHFUL = [
    (EVERYDAY, """
Mira lives in Graz.
Mira resides in Graz.
Mira's home is in Graz.
Mira works as a dentist.
Mira is a dentist.
Mira is a dentist in Graz.
Mira's brother is called Tomas.
Tomas is Mira's brother.
Mira's brother Tomas is a pilot.
Tomas works as a pilot.
Tomas is a pilot.
Mira has a brother called Tomas who is a pilot.
Tomas lives in Split.
Mira's brother Tomas lives in Split.
Mira has played the trumpet since 2014.
Mira plays the trumpet.
Mira has two rabbits.
Mira has two rabbits named Pip and Moss.
Mira owns two rabbits called Pip and Moss.
Mira's rabbits are called Pip and Moss.
Noor does not drink coffee.
Noor doesn't drink coffee.
Noor never drinks coffee.
Noor has a daughter called Amal.
Amal is Noor's daughter.
Noor's daughter Amal is seven.
Amal is 7 years old.
Noor's daughter Amal goes to the Linden school.
Amal goes to the Linden school.
Amal attends the Linden school.
Noor spent three weeks in Crete in August.
Noor spent 3 weeks in Crete.
Noor was in Crete for three weeks in August.
Noor spent her holiday in Crete.
Noor is going to Bergen on 14 May.
Noor is going to a conference in Bergen on 14 May.
Noor goes to Bergen for a conference on 14 May.
Noor plans to go to Bergen on 14 May 2026 for a conference.
Mira's boss is called Edda.
Mira has a boss called Edda.
Edda is Mira's boss.
Mira's boss Edda rides a motorbike.
Edda rides a motorbike.
Noor bought a blue kayak.
Noor bought a blue kayak last week.
Noor has bought a kayak.
Noor sold her old car.
Noor sold her old car to her neighbour Piet.
Noor's neighbour is called Piet.
Noor has a neighbour called Piet.
Mira is allergic to penicillin.
Mira has an allergy to penicillin.
Mira's grandmother turned 90 in January.
Mira's grandmother turned 90.
Mira's grandmother is 90.
The assistant will remind Mira to call the garage on Friday.
"""),
    (GERMAN, """
Jule wohnt in Kassel.
Jule lebt in Kassel.
Jule arbeitet als Gärtnerin.
Jule ist Gärtnerin.
Jule ist Gärtnerin in Kassel.
Jules Hund heißt Anton.
Jule hat einen Hund, der Anton heißt.
Jule hat einen Hund namens Anton.
Der Hund von Jule heißt Anton.
Anton ist fünf.
Anton ist der Hund von Jule.
Jule spielt seit 2019 Geige.
Jule spielt Geige.
Jules Schwester heißt Marlen.
Marlen ist die Schwester von Jule.
Marlen studiert in Jena Physik.
Jules Schwester Marlen studiert Physik in Jena.
Marlen studiert Physik.
Jule fährt im Juni nach Rügen.
Jule fährt im Juni mit dem Rad nach Rügen.
Jule verträgt keine Milch.
"""),
    (SPANISH, """
Inés vive en Cádiz.
Inés trabaja en una librería.
Inés vive y trabaja en Cádiz.
El gato de Inés se llama Nilo.
Inés tiene un gato llamado Nilo.
Inés tiene un gato que se llama Nilo.
Nilo tiene cuatro años.
Nilo es el gato de Inés.
La hermana de Inés se llama Berta.
Berta es la hermana de Inés.
Berta estudia medicina en Granada.
Berta estudia medicina.
La hermana de Inés estudia medicina en Granada.
Inés toca el violín desde 2016.
Inés toca el violín.
"""),
    (CHINESE, """
陈敏住在杭州。
陈敏是老师。
陈敏有一只狗叫豆豆。
陈敏有一只狗。
陈敏的狗叫豆豆。
陈敏的妹妹叫陈丽。
陈敏的妹妹陈丽在上海学医。
陈丽在上海学医。
"""),
]  # fmt: skip


def lines(text: str) -> list[str]:
    return [line for line in text.strip().splitlines() if line]


def test_faithful_paraphrases_are_taken() -> None:
    """At least nine in ten of a hundred, in four languages."""
    refused: dict[str, str] = {}
    told = 0
    for batch, text in FAITHFUL:
        said = Talk(batch)
        found = {line: said.ground(line) for line in lines(text)}
        told += len(found)
        refused |= {line: why for line, why in found.items() if isinstance(why, str)}
    assert told >= 100
    assert len(refused) <= told // 10, refused


ASSISTANTS = """
Split has a wonderful old harbour.
Split has a beautiful old harbour.
Mira likes the wonderful old harbour of Split.
Noor is a tea drinker.
Noor is surely a tea drinker.
Noor drinks tea and no coffee.
Noor prefers tea.
Scooters are cheap in Rome.
Mira thinks that scooters are cheap.
Mira finds scooters in Rome cheap.
Mira calls the garage on Friday.
Mira has a garage.
Mira will call the garage.
The harbour of Split is old.
Tomas lives near the harbour in Split.
"""
OTHERS_WORDS = """
Mira lives in Split.
Tomas lives in Graz.
Noor lives in Graz.
Tomas is a dentist.
Mira is a pilot.
Noor is a dentist.
Noor works as a dentist in Graz.
Mira does not drink coffee.
Noor plays the trumpet.
Mira spent three weeks in Crete in August.
Mira is going to Bergen on 14 May.
Edda works as a dentist.
Noor's boss is called Edda.
Mira's daughter is called Amal.
Mira's neighbour is called Piet.
Mira's sister Tomas is a pilot.
Mira rides a motorbike.
Amal bought a blue kayak.
Mira bought a blue kayak.
Noor is allergic to penicillin.
Amal is allergic to penicillin.
Noor has two rabbits.
Tomas has two rabbits.
Piet sold his old car to Noor.
Mira goes to the Linden school.
"""
SHIFTED = """
Mira has played the trumpet since 2015.
Mira has played the trumpet since 2004.
Mira has three rabbits.
Mira has 12 rabbits.
Amal is eight.
Amal is 17 years old.
Noor spent two weeks in Crete in August.
Noor spent three weeks in Crete in July.
Noor spent 13 weeks in Crete.
Noor is going to Bergen on 15 May.
Noor is going to Bergen on 14 June.
Noor is going to Bergen on 14 May 2025.
Mira's grandmother turned 91 in January.
Mira's grandmother turned 80 in January.
Mira's grandmother turned 90 in February.
Mira's grandmother was born on 3 January 1936.
Noor bought a blue kayak in 2021.
Noor bought two kayaks.
Amal was born on 20 March 2019.
Mira has worked as a dentist since 1999.
"""
UNTRUE = """
Mira lives in Rome.
Mira lived in Rome.
Mira would buy a scooter.
Mira has a scooter.
If Mira lived in Rome, she would buy a scooter.
Noor drinks coffee.
Noor loves coffee.
Mira is not a dentist.
Mira does not live in Graz.
Mira is not allergic to penicillin.
Mira hates rabbits.
Noor owns a motorbike.
Mira dislikes her boss Edda.
"""
FIRST_PERSON = """
I live in Graz.
I live in Graz and I work as a dentist.
My brother Tomas is a pilot.
Hi! I live in Graz.
Since 2014. I have two rabbits.
Mira lived in Rome, I would buy a scooter.
We spent three weeks in Crete in August.
My boss is called Edda.
Our daughter Amal is seven.
Great. I don't drink coffee.
"""
ECHOES = """
One sentence that can be understood alone.
Mira is a person who states something.
Nora works at Initech.
Maria lives in Lisbon.
The assistant will remind Maria to call the bank.
Keep who, what, where, how many, why.
Greetings, thanks, small talk, moods of the moment.
Mira (user), Monday 2026-03-02 10:00:
Mira, Monday 2026-03-02 10:00: Hi! I live in Graz and I work as a dentist.
[t1] Mira (user), Monday 2026-03-02 10:00
Aino started at a bakery in Turku last March.
Aino's brother Jussi gave Aino two of his goats.
Mira started at a bakery in Turku last March.
Names known already
Your notes on t1 to t9, as one JSON object
"""
FOREIGN = """
Mira wohnt in Graz.
Mira arbeitet als Zahnärztin.
Tomas ist Pilot und wohnt in Split.
Noor trinkt keinen Kaffee.
Mira vive en Graz.
Mira trabaja como dentista.
Noor no bebe café.
Amal tiene siete años.
Mira vit à Graz.
Noor ne boit pas de café.
Мира живёт в Граце.
米拉住在格拉茨。
ミラはグラーツに住んでいます。
"""
BROKEN = """
{"facts": [{"text": "Mira
Mira lives in "}], "evidence
...
<think>Mira lives in Graz
Mira | Graz | lives_in
Ernaussteuerungszeit, erdaufssteuerungstage
https://example.com/mira
"""
GERMAN_WRONG = """
Jule wohnt in Jena.
Marlen wohnt in Kassel.
Marlen arbeitet als Gärtnerin.
Jule studiert Physik.
Jule spielt seit 2018 Geige.
Jule spielt Klavier.
Anton ist sechs.
Jule fährt im Juli nach Rügen.
Jule fährt im Juni nach Sylt.
Jule verträgt Milch.
Jule ist allergisch gegen Nüsse.
Ich wohne in Kassel.
Meine Schwester heißt Marlen.
Jule hat zwei Hunde.
Kassel hat einen schönen Bergpark.
Jule geht gern in den Bergpark.
"""
SPANISH_WRONG = """
Inés vive en Granada.
Berta vive en Cádiz.
Berta trabaja en una librería.
Nilo trabaja en una librería.
Nilo tiene tres años.
Nilo tiene catorce años.
Inés estudia medicina.
Inés toca el piano.
Inés toca el violín desde 2015.
Inés nació el 20 de marzo de 1998.
Vivo en Cádiz.
Mi gato se llama Nilo.
Cádiz tiene playas preciosas.
A Inés le gustan las playas de Cádiz.
"""
CHINESE_WRONG = """
陈敏住在上海。
陈丽住在杭州。
陈敏是医生。
陈敏有两只猫。
杭州的西湖很美。
陈敏喜欢西湖。
我住在杭州。
"""


def adversarial() -> Iterator[tuple[Batch, str]]:
    """Answers that are wrong, each as it stands, and in forms in which models wrap them."""
    english = (
        ASSISTANTS, OTHERS_WORDS, SHIFTED, UNTRUE, FIRST_PERSON, ECHOES, FOREIGN, BROKEN,
    )  # fmt: skip
    texts = [(EVERYDAY, line) for text in english for line in lines(text)]
    texts += [(GERMAN, line) for line in lines(GERMAN_WRONG)]
    texts += [(SPANISH, line) for line in lines(SPANISH_WRONG)]
    texts += [(CHINESE, line) for line in lines(CHINESE_WRONG)]
    yield from texts
    exchanged = {"Mira": "Noor", "Noor": "Mira", "Jule": "Marlen", "Inés": "Berta"}
    for batch, faithful in FAITHFUL:  # everything that is so of one is not so of another
        for line in lines(faithful):
            if "ssistant" not in line and (
                names := exchanged.keys() & set(re.findall(r"\w+", line))
            ):
                yield (
                    batch,
                    re.sub(rf"\b({'|'.join(names)})\b", lambda one: exchanged[one[0]], line),
                )
    for batch, line in texts:  # with something true in front, as runaway answers have it
        if batch is EVERYDAY and line not in lines(FOREIGN) + lines(BROKEN):
            yield batch, f"Mira lives in Graz. {line}"


def test_wrong_answers_are_left_out() -> None:
    """Of some 300 paraphrases of the assistant, exchanged names, shifted numbers and dates, first persons,
    echoes of the prompt, other languages and broken JSON, at most one in a hundred stands."""
    every = list(adversarial())
    talks = {batch: Talk(batch) for batch in (EVERYDAY, GERMAN, SPANISH, CHINESE)}
    taken = [line for batch, line in every if not isinstance(talks[batch].ground(line), str)]
    assert len(every) >= 300
    assert len(taken) <= len(every) // 100, taken


@pytest.mark.parametrize(
    ("said", "exchanged", "other_words"),
    [
        ("I lent Lee ten euros.", "Lee lent Kim ten euros.", "Kim lent ten euros to Lee."),
        ("Mia moved from Bonn to Kiel.", "Mia moved from Kiel to Bonn.", "Mia moved to Kiel from Bonn."),
        ("Mia lives in Bonn and Tom lives in Kiel.", "Mia lives in Kiel.", "Tom lives in Kiel."),
        (
            "My dog Rex is four and my cat Mimi is nine.",
            "Rex is nine and Mimi is four.",
            "Mimi is nine and Rex is four.",
        ),
        ("Tom is Ben's brother.", "Ben trusts Tom.", "Ben's brother is Tom."),
        ("Tom beat Ben at chess.", "Ben beat Tom at chess.", "Tom beat Ben."),
        ("Tom hat Mia das Rad geliehen.", "Mia hat Tom das Rad geliehen.", "Tom hat Mia das Rad geliehen."),
        ("Mia zog von Bonn nach Kiel.", "Mia zog von Kiel nach Bonn.", "Mia zog nach Kiel."),
        ("Mia vino de Lugo a Vigo.", "Mia vino de Vigo a Lugo.", "Mia vino a Vigo."),
    ],
)  # fmt: skip
def test_a_note_with_two_names_exchanged_is_left_out(
    said: str, exchanged: str, other_words: str
) -> None:
    """Who did it to whom, from where to where, and what is whose is as it was said, in whatever order."""
    heard = Talk(talk(("Kim", said)))
    assert isinstance(heard.ground(exchanged), str), exchanged
    assert not isinstance(found := heard.ground(other_words), str), found


def test_a_note_that_says_a_sentence_again_is_left_out() -> None:
    """Small models go on so until their answer is cut off."""
    said = Talk(EVERYDAY)
    assert not isinstance(said.ground("Mira lives in Graz."), str)
    assert said.ground("Mira lives in Graz. " * 20) == REPEATS


def notes(*texts: str, evidence: list[str] | None = None, **more: Any) -> str:
    """A model's answer, as sure of everything as it can be."""
    facts = [
        {"text": text, "kind": "fact", "evidence": evidence or ["t1"], "confidence": 1.0,
         "claims": [], "importance": 1.0}
        for text in texts
    ]  # fmt: skip
    return json.dumps({"facts": facts, "summary": {"text": ""}, "core": [], **more})


def remembered(store: MemoryStore, batch: Batch) -> None:
    said = [
        {"role": turn.role, "name": turn.speaker, "content": turn.text, "at": turn.said_at}
        for turn in batch.turns
    ]
    store.remember(batch.namespace, said, thread_id=batch.thread_id)


def statuses(store: MemoryStore, namespace: tuple[str, ...] = ("memories",)) -> dict[str, str]:
    """Text → status, of all facts that were not put away."""
    rows = (row for row in store.admin.export(namespace) if row.get("type") == "item")
    return {
        row["value"]["text"]: row["status"]
        for row in rows
        if row["key"].startswith("fact/") and row["status"] != "archived"
    }


def test_no_wrong_answer_becomes_active(tmp_path: Any) -> None:
    """What rules read stands, whatever a model adds; of its wrong answers none does, and the run tells
    why they were left out."""
    wrong = [line for batch, line in adversarial() if batch is EVERYDAY]
    with MemoryStore(tmp_path / "rules.db") as store:
        remembered(store, EVERYDAY)
        build_reflection_graph(store).invoke({"namespace": ["memories"]})
        by_rules = statuses(store)
    with MemoryStore(tmp_path / "model.db") as store:
        remembered(store, EVERYDAY)
        model = ScriptedModel(otherwise=notes(*wrong))
        build_reflection_graph(store, model=model).invoke({"namespace": ["memories"]})
        both = statuses(store)
        [run] = store.changes.runs(("memories",))
    assert set(by_rules.values()) == {"active"}
    assert {text for text, status in both.items() if status == "active"} == set(by_rules)
    assert len(both) - len(by_rules) <= len(wrong) // 100
    assert run.note["dropped"] == sum(run.note["dropped_for"].values()) >= len(wrong) * 0.9


def test_what_both_read_is_surer_and_what_one_conversation_repeats_is_not(tmp_path: Any) -> None:
    """A fact of both is one, with more confidence; a model's own waits, however often one conversation
    says it, until another does, and then nobody is asked any more."""
    home, clocks = "Lena lives in Graz.", "Lena restores old clocks."
    with MemoryStore(tmp_path / "memory.db") as store:
        for thread, at in (("t1", MONDAY), ("t2", MONDAY + timedelta(days=3))):
            said = ["I live in Graz.", "I restore old clocks.", "As I said, I restore old clocks."]
            store.remember(
                ("memories",),
                [{"role": "user", "name": "Lena", "content": text, "at": at} for text in said],
                thread_id=thread,
            )
        for thread, status, asked in (("t1", "pending", 1), ("t2", "active", 0)):
            model = ScriptedModel(otherwise=notes(home, clocks, clocks))
            graph = build_reflection_graph(store, model=model)
            graph.invoke({"namespace": ["memories"], "thread_id": thread})
            assert statuses(store) == {home: "active", clocks: status}
            assert len(store.changes.reviews(("memories",))) == asked
        [surer] = store.recall("Where does Lena live?", ("memories",), kinds=["semantic"], limit=1)
        assert surer.memory.confidence > 0.88


def test_a_rule_that_says_what_waits_does_what_it_does_alone(tmp_path: Any) -> None:
    """What a model alone read supersedes nothing; a rule that reads the same does, and nobody is asked."""
    bonn = "Lena lives in Bonn."
    with MemoryStore(tmp_path / "memory.db") as store:
        for thread, text, expected in (
            ("t1", "I live in Kiel.", {"Lena lives in Kiel.": "active"}),
            (
                "t2",
                "These days my home is in Bonn.",
                {"Lena lives in Kiel.": "active", bonn: "pending"},
            ),
            ("t3", "I moved to Bonn.", {"Lena lives in Kiel.": "superseded", bonn: "active"}),
        ):
            store.remember(
                ("memories",), [{"role": "user", "name": "Lena", "content": text}], thread_id=thread
            )
            claim = {"subject": "Lena", "relation": "lives_in", "object": "Bonn"}
            note = {"text": bonn, "evidence": ["t1"], "kind": "fact", "claims": [claim]}
            answer = json.dumps(
                {"facts": [note] if thread == "t2" else [], "summary": {"text": ""}}
            )
            graph = build_reflection_graph(store, model=ScriptedModel(otherwise=answer))
            graph.invoke({"namespace": ["memories"]})
            assert statuses(store) == expected
        assert store.changes.reviews(("memories",)) == []


def test_a_secret_among_other_words_stays_one() -> None:
    """A note that rests on what everybody may know, but for one word, is private with the turn that has it;
    it is left out where that turn was read before."""
    said = talk(
        ("Greta", "I bake rye bread with caraway seeds at home every weekend."),
        ("Greta", "My doctor found diabetes."),
        private=(1,),
    )
    mixed = "Greta bakes rye bread with caraway seeds at home despite diabetes."
    plain = "Greta bakes rye bread with caraway seeds at home."
    turns = Talk(said).ground(mixed)
    assert [turn.key for turn in turns if isinstance(turn, Turn)] == ["t/0", "t/1"]
    assert [turn.key for turn in Talk(said).ground(plain) if isinstance(turn, Turn)] == ["t/0"]
    later = replace(said, turns=said.turns[:1], before=said.turns[1:])
    assert isinstance(Talk(later).ground(mixed), str)
    assert not isinstance(Talk(later).ground(plain), str)


SECRETS = """
I was diagnosed with type 2 diabetes|Greta was diagnosed with type 2 diabetes.
I owe the bank 40,000 euros|Greta owes the bank 40,000 euros.
I am seeing a therapist in Linz|Greta is seeing a therapist in Linz.
I failed my driving test again|Greta failed her driving test again.
I want to leave Hooli in May|Greta wants to leave Hooli in May.
I collect garden gnomes|Greta collects garden gnomes.
I am pregnant with twins|Greta is pregnant with twins.
I have a crush on Viktor|Greta has a crush on Viktor.
I broke the copper vase|Greta broke the copper vase.
My brother Emil is in prison|Greta's brother Emil is in prison.
"""


@pytest.mark.parametrize(
    ("named", "request_first"),
    seeds(
        [
            (named, first)
            for named in (["t1"], ["t1", "t2"], ["t2"], ["t3"], ["t3", "t1"])
            for first in (True, False)
        ],
        first=2,
    ),
)
def test_a_secret_stays_one_whatever_turn_a_model_names(
    tmp_path: Any, named: list[str], request_first: bool
) -> None:
    """Of a hundred secrets, with any evidence a model may name, nobody else sees a fact, a summary, a
    question or a line of a core block."""
    namespace = ("memories", "house")
    asks = "Please keep this to yourself"
    with MemoryStore(tmp_path / "memory.db") as store:
        for number, line in enumerate(lines(SECRETS)):
            said, told = line.split("|")
            secret = f"{asks}: {said}." if request_first else f"{said}. {asks}."
            for who, text in (
                ("bob", "I live in Ulm."),
                ("greta", "Hi there, I live in Ulm."),
                ("greta", secret),
            ):
                turn = {"role": "user", "name": who.title(), "content": text}
                store.remember(namespace, [turn], thread_id=f"t{number}", owner=who)
            answer = notes(
                told, told.replace("Greta", "The user"), "Greta lives in Ulm.",
                evidence=named,
                summary={"text": told, "decisions": [told], "open_points": [told]},
                core=[{"block": "human", "text": told, "evidence": named}],
            )  # fmt: skip
            model = ScriptedModel(otherwise=answer)
            graph = build_reflection_graph(store, model=model)
            graph.invoke({"namespace": list(namespace), "thread_id": f"t{number}"})
        words = {word for line in lines(SECRETS) for word in line.split("|")[1].split()[-1:]}
        for viewer in (store.for_viewer("bob"), store.for_anyone()):
            seen = [str(item.value) for item in viewer.search(namespace, limit=1_000)]
            seen += [str(review) for review in viewer.changes.reviews(namespace)]
            seen += [one.text for word in words for one in viewer.recall(word, namespace).results]
            assert not [
                one
                for one in seen
                for line in lines(SECRETS)
                if line.split("|")[1][:-1].partition(" ")[2] in one
            ]
            assert not [one for one in seen if asks in one]
        mine = [
            str(item.value) for item in store.for_viewer("greta").search(namespace, limit=1_000)
        ]
        assert sum("read_by" in one for one in mine) >= 5


@pytest.mark.parametrize("fillers", [0, pytest.param(99, marks=pytest.mark.thorough)])
def test_a_model_that_always_fails_leaves_the_rules(tmp_path: Any, fillers: int) -> None:
    """Of ten turns, and of a thousand: everything is read by rules, stays as it was said, and each run and
    `doctor` say that the model failed."""
    path = tmp_path / "memory.db"
    with MemoryStore(path) as store:
        for number in range(10):
            texts = [
                f"I have a cat called Tofu{number}.",
                *(f"We talked about the weather for {one} minutes." for one in range(fillers)),
            ]
            said = [{"role": "user", "name": "Lena", "content": text} for text in texts]
            store.remember(("memories",), said, thread_id=f"t{number}")
        graph = build_reflection_graph(store, model=ScriptedModel(otherwise="Tofu Tofu Tofu"))
        done = graph.invoke({"namespace": ["memories"]})
        assert statuses(store) == {
            f"Lena has a cat called Tofu{number}.": "active" for number in range(10)
        }
        assert {*done["failures"]} == {"extraction failed"}
        assert len(done["failures"]) >= 10
        assert store.admin.unread_threads() == []
        assert store.changes.reviews(("memories",)) == []
        kept = store.admin.memories(("memories",), limit=2_000)
        assert sum(one.kind == "episodic" for one in kept) == 10 * (1 + fillers)
    report = CliRunner().invoke(app, ["doctor", "--db", address(path)]).output
    assert "could use no answer of the model" in " ".join(report.split())
