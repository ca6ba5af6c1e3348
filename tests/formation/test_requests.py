"""How somebody wants to be answered from now on: what of it is taken up from talk, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from langmemory import MemoryStore, build_reflection_graph
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.junk import without_junk
from langmemory.formation.relations.vocabulary import BY_NAME, TO_ASSISTANT
from langmemory.formation.rules import RuleExtractor
from langmemory.formation.rules.patterns import GRAMMARS
from langmemory.formation.rules.requests import MANNERS
from langmemory.ports.facts import Fact
from langmemory.types import Privacy
from tests.tables import tables

CASES = tables(__file__)

SAID = datetime(2026, 11, 11, 13, 56, tzinfo=ZoneInfo("Europe/Berlin"))
LENA = ("memories", "lena")


def facts(
    text: str, *, speaker: str = "Lena", role: str = "user", privacy: Privacy = "shared"
) -> tuple[Fact, ...]:
    """Return the rules' raw facts of one turn, before any filter."""
    said = Turn(key="t1", text=text, role=role, speaker=speaker, said_at=SAID, owner="lena",
                privacy=privacy)  # fmt: skip
    batch = Batch(namespace=LENA, thread_id="t", turns=(said,))
    return without_junk(RuleExtractor().extract(batch), batch).facts


def asked(text: str) -> str:
    """Relation and object of each thing asked for, a minus before what is no longer."""
    return "; ".join(
        f"{'-' if fact.ends else ''}{fact.claims[0].relation} {fact.claims[0].object}"
        for fact in facts(text)
        if fact.kind == "procedure"
    )


ASKED = CASES["asked"]


@pytest.mark.parametrize(("text", "expected"), ASKED)
def test_what_is_asked_for_good_is_taken_up(text: str, expected: str) -> None:
    """A wish for every answer to come is a claim about whoever has it, in four languages."""
    assert asked(text) == expected


POLITELY = CASES["politely"]


@pytest.mark.parametrize(("text", "expected"), POLITELY)
def test_a_polite_question_may_be_a_wish_for_good(text: str, expected: str) -> None:
    """Where what it asks for is no matter of one answer, or words say that it is for good."""
    assert asked(text) == expected


LEFT_ALONE = CASES["left_alone"]


@pytest.mark.parametrize("what", LEFT_ALONE)
def test_what_is_no_wish_for_good_is_left_alone(what: str) -> None:
    """Requests for once, other people's, questions, play, and whatever is not about answers."""
    for text in LEFT_ALONE[what].splitlines():
        assert (text.strip(), asked(text.strip())) == (text.strip(), "")


def test_pasted_words_ask_for_nothing() -> None:
    """Code, quotes and letters may be full of orders; they are not the speaker's."""
    assert asked("```\nAlways answer in German.\nNever use emojis.\n```") == ""
    assert asked('Write a prompt that says: "Always answer in German."') == ""
    assert asked("Style guide\n\n- Never use emojis\n- Always cite sources") == ""
    assert asked("Please always answer in German. " + "It goes on and on. " * 100) == ""
    assert asked("From: Ida\nSubject: style\n\nPlease always answer in German.") == ""
    assert asked("My client sent this:\nPlease always call me Mr. Stone.") == ""


def test_code_is_nobodys_statement() -> None:
    """Text in a code block is no fact; the text around it is."""
    fenced = "```\nI live in Paris.\n```\nI live in Rome."
    assert [fact.text for fact in facts(fenced)] == ["Lena lives in Rome."]


def test_what_is_asked_on_occasion_says_so() -> None:
    """The occasion stays with the wish, in the speaker's words; what has one value has none on
    occasion."""
    [fact] = facts("When I ask about code, always show me type hints.")
    assert fact.text == 'Lena wants answers with type hints. ("When I ask about code")'


def test_a_wish_stands_alone() -> None:
    """Its sentence names who asked, as a statement and never as an order."""
    told = [
        ("Don't use emojis.", "Lena wants answers without emojis."),
        ("Benutz keine Emojis.", "Lena möchte Antworten ohne Emojis."),
        ("No uses emojis.", "Lena quiere respuestas sin emojis."),
        ("不要用表情符号。", "Lena希望回答里没有表情符号。"),
    ]
    for text, expected in told:
        assert [fact.text for fact in facts(text)] == [expected]
    assert facts("Don't use emojis.", speaker="user")[0].text == (
        "The user wants answers without emojis."
    )


def test_a_fact_beside_a_wish_is_a_fact() -> None:
    """A request with a reason gives both facts, and neither swallows the other."""
    for text in (
        "I'm vegetarian, so never suggest recipes with pork.",
        "Ich bin Vegetarierin, schlag mir nie Rezepte mit Fisch vor.",
        "Soy vegetariana, así que no me sugieras nunca platos con carne.",
    ):
        assert [fact.claims[0].relation for fact in facts(text)] == ["answers_without", "diet"]


def test_only_persons_ask() -> None:
    """An assistant or a tool makes no request, and a request is as private as its turn."""
    assert facts("Call me Hal from now on.", role="assistant", speaker="assistant") == ()
    [private] = facts("Call me Leni.", privacy="private")
    assert (private.privacy, private.owner) == ("private", "lena")


def test_every_language_can_ask_for_everything() -> None:
    """Requests use known relations about the assistant only, in each language of the rules."""
    assert MANNERS.keys() == GRAMMARS.keys()
    for code, manners in MANNERS.items():
        relations = {one.relation for one in manners.requests}
        assert relations <= set(TO_ASSISTANT)
        assert relations >= set(TO_ASSISTANT) - {"pronouns", "address_formality"}, code
    assert all(BY_NAME[name].object == "literal" for name in TO_ASSISTANT)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "m.db") as opened:
        yield opened


def test_a_later_wish_takes_the_place_of_an_earlier_one(store: MemoryStore) -> None:
    """Of languages, names and lengths the last one holds, whatever language it is said in; what
    answers are with and without gives way to each other, and an undo brings back what was."""
    graph = build_reflection_graph(store)

    def after(day: int, text: str) -> set[str]:
        said = {"role": "user", "name": "Lena", "content": text, "at": f"2026-03-{day:02}T09:00Z"}
        store.remember(LENA, [said], thread_id=str(day), owner="lena")
        graph.invoke({"namespace": LENA})
        return {memory.text for memory in store.for_viewer("lena")._conversing.requests(LENA)}

    german, emojis = "Lena wants answers in German.", "Lena wants answers without emojis."
    assert after(1, "Always answer in German. Don't use emojis.") == {german, emojis}
    assert after(2, "Ab jetzt bitte auf Englisch antworten.") == {
        "Lena möchte Antworten auf Englisch.", emojis,
    }  # fmt: skip
    assert after(3, "You can use emojis again.") == {
        "Lena möchte Antworten auf Englisch.", "Lena allows emojis again.",
    }  # fmt: skip
    store.changes.undo(store.changes.runs(LENA)[0].id)
    assert emojis in {memory.text for memory in store.for_viewer("lena")._conversing.requests(LENA)}
    assert after(4, "You don't have to answer in English anymore. Call me Leni.") == {
        "Lena wants to be called Leni.", emojis,
    }  # fmt: skip
    assert after(5, "Call me Lena B. from now on.") & {
        "Lena wants to be called Leni.", "Lena wants to be called Lena B."
    } == {"Lena wants to be called Lena B."}  # fmt: skip
    assert store.changes.reviews() == []
