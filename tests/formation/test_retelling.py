"""A summary of talk tells nothing that nobody stated, and marks what was replaced afterwards."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from langmemory.formation.batch import Batch, Turn
from langmemory.formation.retelling import Said, SummarizedTalk
from langmemory.formation.rules import RuleExtractor
from langmemory.nodes.summarize import RunningSummary, summarize_messages
from tests.formation.test_grounded import MONDAY
from tests.scripted import ScriptedModel
from tests.tables import tables

CASES = tables(__file__)


def said(column: str) -> list[Said]:
    """The messages of a row."""
    split = (one.split(": ", 1) for one in column.split(" | "))
    return [
        Said(speaker="assistant" if who == "A" else who, text=text, is_person=who != "A")
        for who, text in split
    ]


@pytest.mark.parametrize(("sentence", "talk", "instead"), CASES["replaced"])
def test_what_was_said_instead_stands_behind_it(sentence: str, talk: str, instead: str) -> None:
    """A sentence that tells a number, date or name that its speaker replaced is followed by their words,
    also where they come after what is summed up."""
    heard = said(talk)
    for summed_up in (heard, heard[:-1]):
        text = SummarizedTalk(summed_up, heard=heard).retold(sentence)
        assert instead in text.partition(sentence)[2], text


@pytest.mark.parametrize(("sentence", "talk"), CASES["standing"])
def test_what_holds_stands_alone(sentence: str, talk: str) -> None:
    """Another number of something else replaces nothing."""
    assert SummarizedTalk(said(talk)).retold(sentence) in (
        sentence,
        f"{talk.partition(':')[0]}: {sentence}",
    )


@pytest.mark.parametrize(("text", "talk", "left"), CASES["kept"])
def test_a_sentence_says_something_that_was_stated(text: str, talk: str, left: str) -> None:
    """Fragments, greetings, refusals, the instructions and what somebody quoted are left out. What was asked,
    supposed or said in jest is told in the words of who said it. What the assistant said has its name, and
    what cannot be checked, or was denied, a mark."""
    asked = "Summarize the talk above in its language:"
    assert SummarizedTalk(said(talk), asked=asked).retold(text) == left


def summarized(
    model: ScriptedModel, messages: list[AnyMessage], before: RunningSummary | None
) -> RunningSummary:
    """Summarize all but the last message."""
    result = summarize_messages(
        messages, running_summary=before, model=model, max_tokens=400,
        max_tokens_before_summary=1, max_summary_tokens=128, grounded=True,
    )  # fmt: skip
    assert result.running_summary is not None, result.error
    return result.running_summary


def test_a_correction_after_the_summary_reaches_the_next_one() -> None:
    """What a summary says and a later message corrects is marked when that is summed up, too, though the
    first message is gone; and the mark stays."""
    first = HumanMessage("My exam is on 3 May.", name="Uma", id="1")
    ok = AIMessage("Noted.", id="2")
    later = HumanMessage("Sorry, on 7 May.", name="Uma", id="3")
    thanks = HumanMessage("Thank you for that!", name="Uma", id="4")
    model = ScriptedModel(otherwise="Uma's exam is on 3 May.")
    summary = summarized(model, [first, ok, HumanMessage("Fine.", name="Uma", id="0")], None)
    assert summary.summary == "Uma's exam is on 3 May."
    summary = summarized(model, [later, ok.model_copy(update={"id": "5"}), thanks], summary)
    assert summary.summary == "Uma's exam is on 3 May. Uma: Sorry, on 7 May."
    more = HumanMessage("I like plums and pears.", name="Uma", id="6")
    summary = summarized(model, [thanks.model_copy(update={"id": "7"}), more], summary)
    assert summary.summary == "Uma's exam is on 3 May. Uma: Sorry, on 7 May."


def test_what_was_not_checked_stays_so() -> None:
    """The mark stays where the next summary says the sentence again, with or without it, and goes where
    somebody says the same."""
    before = Said(speaker="Ann", text="I went to the park with Rex.", is_person=True)
    marked = "(unchecked) Rex is nine years old, brown and lazy."
    for text in (marked, marked.removeprefix("(unchecked) ")):
        assert SummarizedTalk([before], earlier=marked).retold(text) == marked
    now = Said(speaker="Ann", text="Rex is nine years old, and so lazy.", is_person=True)
    retold = SummarizedTalk([now], earlier=marked).retold(marked)
    assert retold == marked.removeprefix("(unchecked) ")


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (("My driving test is on 20 June.", "Sorry, on 22 June, the 20th is a holiday."), "2026-06-22"),
        (("Ich fliege am 3. Mai nach Rom.", "Nein, warte, am 5. Mai."), "2026-05-05"),
    ],
)  # fmt: skip
def test_a_fact_has_the_number_that_its_speaker_says_afterwards(
    texts: tuple[str, ...], text: str
) -> None:
    """A plan whose date its speaker corrects in the next message is remembered with the right one alone, and
    rests on both messages."""
    turns = tuple(
        Turn(key=f"t{number}", text=one, role="user", speaker="Desi", said_at=MONDAY)
        for number, one in enumerate(texts)
    )
    found = RuleExtractor().extract(Batch(namespace=("m",), thread_id="t", turns=turns)).facts
    assert [(text in fact.text, fact.evidence) for fact in found] == [(True, ("t1", "t0"))]


def test_what_is_corrected_without_a_number_is_no_fact() -> None:
    """The wrong name is left out, and the reason told."""
    turns = tuple(
        Turn(key=one, text=one, role="user", speaker="Uma", said_at=MONDAY)
        for one in (
            "I have a meeting with Karl Fuchs on Monday.",
            "Sorry, with Paul Berg, on Friday.",
        )
    )
    found = RuleExtractor().extract(Batch(namespace=("m",), thread_id="t", turns=turns))
    assert not [fact.text for fact in found.facts if "Karl" in fact.text]
