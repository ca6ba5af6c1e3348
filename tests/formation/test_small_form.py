"""A small model is asked about one exchange at a time, in the language of the talk, for sentences alone."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_ollama import ChatOllama

from langmemory.chat_models import form_of
from langmemory.errors import ConfigError, ExtractionError
from langmemory.formation.asking import asker
from langmemory.formation.asking.asker import ANSWER_TOKENS, Asker, asking_within
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.completed import CompletedExtractor
from langmemory.formation.extraction.extractor import ModelExtractor
from langmemory.formation.extraction.grounded import Talk, grounded
from langmemory.formation.extraction.measuring import measure
from langmemory.formation.extraction.small import PROMPTS, SmallExtractor
from langmemory.ports.facts import UNREAD, Claim
from tests.ollama_server import OllamaServer, Reply
from tests.scripted import ScriptedModel

NOON = datetime(2026, 4, 6, 12, tzinfo=UTC)


def batch(*said: tuple[str, str]) -> Batch:
    turns = tuple(
        Turn(key=f"t/{n}", text=text, role="assistant" if who == "A" else "user",
             speaker="assistant" if who == "A" else who, said_at=NOON + timedelta(minutes=n))
        for n, (who, text) in enumerate(said)
    )  # fmt: skip
    return Batch(namespace=("m",), thread_id="t", turns=turns)


def noted(*texts: str) -> str:
    return json.dumps({"facts": texts})


def shown(prompt: list[BaseMessage]) -> str:
    return str(prompt[-1].content)


async def test_each_statement_is_one_exchange() -> None:
    """Only turns in which a person states something are asked about, an answer with its question; sync
    and async alike. What follows from a note is read by rules."""
    talk = batch(
        ("Olga", "Hello there!"),
        ("A", "Welcome back. Where do you spend the summer?"),
        ("Olga", "In Tartu, with my cousins."),
        ("Olga", "Do you know a good dentist?"),
        ("A", "There are several in Tartu."),
        ("Olga", "I work at Globex, and I'm going to paint the shed in May."),
    )
    answers = [
        noted("Olga spends the summer in Tartu with her cousins."),
        noted("Olga works at Globex.", "Olga is going to paint the shed in May."),
    ]
    for asynchronous in (False, True):
        model = ScriptedModel(script=list(answers), otherwise=RuntimeError("asked again"))
        extractor = SmallExtractor(model)
        found = await extractor.aextract(talk) if asynchronous else extractor.extract(talk)
        assert [shown(prompt) for prompt in model.prompts] == [
            "assistant: Where do you spend the summer?\nOlga: In Tartu, with my cousins.",
            "Olga: I work at Globex, and I'm going to paint the shed in May.",
        ]
        assert found.model_calls == 2
        kept = grounded(found, talk).facts
        assert [(fact.text, fact.evidence) for fact in kept] == [
            ("Olga spends the summer in Tartu with her cousins.", ("t/2",)),
            ("Olga works at Globex.", ("t/5",)),
            ("Olga is going to paint the shed in May.", ("t/5",)),
        ]
        assert kept[1].claims == (Claim(subject="Olga", relation="works_at", object="Globex"),)
        assert (kept[2].kind, kept[2].time_words) == ("plan", "in May")


@pytest.mark.parametrize("code", PROMPTS)
def test_no_example_becomes_a_fact(code: str) -> None:
    """A model that hands back the example of its prompt, or calls everybody as it does, is found out, also
    where somebody in the talk has a name of the examples."""
    asked = PROMPTS[code]
    for speaker in ("Olga", asked.names[0]):
        talk = batch((speaker, asked.trials[0].said.format(other=asked.names[1])))
        model = ScriptedModel(otherwise=lambda prompt: str(prompt[2].content))
        found = SmallExtractor(model).extract(talk)
        lead = " ".join(str(one.content) for one in model.prompts[0][:-1])
        assert found.facts
        assert asked.names[0] != speaker or speaker not in lead
        assert grounded(found, talk).facts == ()


def test_answers_that_cannot_be_read_are_few() -> None:
    """After three of them the rest of a batch is not asked about; where none can be read that is said."""
    talk = batch(*(("Olga", f"I planted {n} pear trees last year.") for n in range(2, 12)))
    model = ScriptedModel(otherwise="pear pear pear")
    with pytest.raises(ExtractionError) as failed:
        SmallExtractor(model).extract(talk)
    assert failed.value.model_calls == len(model.prompts) == 6
    model = ScriptedModel(script=[noted("Olga planted 2 pear trees last year.")], otherwise="pear")
    found = SmallExtractor(model).extract(talk)
    assert len(found.facts) == 1
    assert found.dropped == (UNREAD,) * 9


def test_a_batch_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """When its time is over, the model is asked no more: what it noted stays, and the rest is counted."""
    clock = [0.0]
    monkeypatch.setattr(asker, "monotonic", lambda: clock[0])

    def slowly(prompt: list[BaseMessage]) -> str:
        clock[0] += 20
        return noted("Olga planted 2 pear trees last year.")

    talk = batch(*(("Olga", f"I planted {n} pear trees last year.") for n in range(2, 12)))
    model = ScriptedModel(otherwise=slowly)
    with asking_within(30):
        found = SmallExtractor(model).extract(talk)
    assert found.model_calls == len(model.prompts) == 2
    assert found.dropped == (UNREAD,) * 8
    with asking_within(0), pytest.raises(ExtractionError, match="time for all questions is over"):
        Asker(model, {"title": "A", "type": "object"}).ask(_anything())
    long = replace(batch(*[("Olga", "I planted two pear trees. " * 60)] * 3), tokens=50)
    model = ScriptedModel(otherwise=lambda prompt: slowly(prompt) and '{"facts": []}')
    with asking_within(30):
        assert UNREAD in ModelExtractor(model).extract(long).dropped
    assert len(model.prompts) == 2


def test_the_talk_of_a_batch_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small model is asked by it, and its notes are grounded in it."""
    made: list[Any] = []
    monkeypatch.setattr(Talk, "__init__", _counted(Talk.__init__, made))
    talk = batch(("Olga", "I planted three quince trees last year."))
    answer = noted("Olga planted three quince trees last year.")
    CompletedExtractor(SmallExtractor(ScriptedModel(otherwise=answer))).extract(talk)
    assert len(made) == 1


def _counted(function: Any, made: list[Any]) -> Any:
    def counted(*args: Any) -> None:
        made.append(args)
        function(*args)

    return counted


def test_an_answer_has_an_end() -> None:
    """Ollama is told the most tokens and a temperature of 0 where the application left them open, and one
    that goes on all the same is cut off, in tokens and in seconds."""
    with OllamaServer() as server:
        server.always(Reply(content="pear " * 5_000))
        model = ChatOllama(model="any", base_url=server.url)
        for form in (ModelExtractor(model), SmallExtractor(model)):
            with pytest.raises(ExtractionError, match="did not come to an end") as failed:
                form.extract(batch(("Olga", "I planted two pear trees.")))
            assert failed.value.model_calls == 1
        sent = [chat["options"] for chat in server.chats()]
        assert [one["temperature"] for one in sent] == [0, 0]
        assert ANSWER_TOKENS == sent[0]["num_predict"] > sent[1]["num_predict"]
        server.always(Reply(content="pear " * 500, delay_seconds=0.02))
        slow = Asker(model, {"title": "A", "type": "object"}, seconds=0.1)
        with pytest.raises(ExtractionError, match=r"cut off after 0\.1 s"):
            slow.ask(_anything())
        own = ChatOllama(model="any", base_url=server.url, temperature=0.4, num_predict=7)
        server.always("{}")
        Asker(own, {"title": "A", "type": "object"}).ask(_anything())
        assert server.chats()[-1]["options"] == {"temperature": 0.4, "num_predict": 7}


def _anything() -> Any:
    from langchain_core.messages import HumanMessage

    from langmemory.formation.asking.asker import Question

    return Question(messages=(HumanMessage("?"),), read=str)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("qwen3:0.6b", "small"), ("smollm2:135m-instruct", "small"), ("llama3.2:3b", "small"),
        ("qwen3:8b", "full"), ("gpt-4.1-mini", "full"), ("llama3.2", "full"),
        ("mixtral:8x7b", "full"), ("known", "none"), ("tiny:1b", "full"),
    ],
)  # fmt: skip
def test_the_form_follows_from_what_was_measured_or_the_name(
    name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was measured counts; else few parameters in a name make a small model."""
    monkeypatch.setenv("LANGMEMORY_CONFIG", str(tmp_path / "memory.json"))
    file = tmp_path / "models.json"
    file.write_text(json.dumps({"ollama:known": "none", "tiny:1b": "full"}))
    assert form_of(ChatOllama(model=name)) == form
    file.write_text('{"ollama:known": "huge"}')
    with pytest.raises(ConfigError, match="doctor --model"):
        form_of(ChatOllama(model=name))


@pytest.mark.parametrize(
    ("answers", "form"),
    [
        (lambda prompt: "hm", "none"),
        (lambda prompt: noted(*_told(prompt)), "small"),
        (lambda prompt: noted(*_told(prompt)) if len(prompt) > 2 else _full(prompt), "full"),
    ],
)
def test_a_model_is_measured(answers: Any, form: str) -> None:
    """The form is the one in which a model makes grounded notes of what is said."""
    measured = measure(ScriptedModel(otherwise=answers))
    assert measured.form == form
    assert [one.form for one in measured.forms] == ["full", "small"]
    assert all(one.wanted == measured.forms[0].wanted > 5 for one in measured.forms)


def _told(prompt: list[BaseMessage]) -> list[str]:
    """The words that a trial is to be noted by, as the model of a test tells them."""
    text = shown(prompt)
    speaker, other = PROMPTS["en"].names[3:5]
    told = {
        "tomatoes": [
            f"{speaker} grows tomatoes on the balcony.", f"{speaker}'s neighbour {other} lends a ladder.",
        ],
        "wrist": [
            f"{speaker} broke a wrist in April.", f"{speaker}'s flute lessons start again on Monday.",
        ],
        "Tomaten": [
            f"{speaker} zieht Tomaten auf dem Balkon.", f"Die Nachbarin {other} leiht {speaker} ihre Leiter.",
        ],
        "tomates": [
            f"{speaker} cultiva tomates en el balcón.", f"La vecina {other} presta su escalera.",
        ],
        "pomodori": [
            f"{speaker} coltiva pomodori sul balcone.", f"La vicina {other} presta la scala.",
        ],
    }  # fmt: skip
    return next((notes for word, notes in told.items() if word in text), [])


def _full(prompt: list[BaseMessage]) -> str:
    facts = [
        {"text": text, "evidence": ["t1"], "kind": "fact", "claims": []} for text in _told(prompt)
    ]
    return json.dumps({"facts": facts, "summary": {"text": ""}})
