"""Only evidence takes a place among the results, and nothing where nothing fits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langmemory import MemoryStore
from langmemory.nodes import RecallNode
from langmemory.recall.contentless import doing, is_idle, states
from tests.stores.embedders import WordEmbeddings
from tests.tables import tables

CASES = tables(__file__)

NS = ("memories", "ada")
TOLD = CASES["told"]


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    with MemoryStore(":memory:") as store:
        store.remember(NS, list(TOLD), thread_id="t1")
        yield store


def texts(store: MemoryStore, query: str, **options: object) -> list[str]:
    return [one.text for one in store.recall(query, NS, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "answered"),
    CASES["a_question_asked_before_does_not_outrank_its_answer"],
)
def test_a_question_asked_before_does_not_outrank_its_answer(
    store: MemoryStore, asked: str, answered: str
) -> None:
    """A turn that asks what is asked now stands behind what was told, and an answer that nothing is known
    takes no place."""
    before = texts(store, asked)
    for n in range(3):
        store.remember(NS, [("user", asked), ("assistant", answered)], thread_id=f"asked{n}")
    found = texts(store, asked)
    assert found[0] == TOLD[0][1] == before[0]
    assert asked not in found[:3]
    assert answered not in found


def test_where_the_old_question_was_answered_the_answer_is_found(store: MemoryStore) -> None:
    """The answer to a question asked before is evidence, though the question is not."""
    said = [
        ("user", "Which plumber should I call?"),
        ("assistant", "Hansen & Sons, they are near you."),
    ]
    store.remember(NS, said, thread_id="t2")
    found = texts(store, "Which plumber should I call?")
    assert found[0] == said[1][1]
    assert said[0][1] not in found


def test_what_is_left_out_is_kept_and_explained(store: MemoryStore) -> None:
    """The question stays stored, and an explained recall says why it is not among the results."""
    [key] = store.remember(NS, [("user", "Where does Tofu sleep?")], thread_id="t2")
    assert store.get(NS, key) is not None
    trace = store.recall("Where does Tofu sleep?", NS, explain=True).trace
    assert trace.removed[key].startswith("contentless")


def test_many_repetitions_do_not_crowd_out_what_was_told(store: MemoryStore) -> None:
    """A question asked a hundred times finds its answer as if it were asked for the first time."""
    for n in range(100):
        turns = [("user", "Where is my spare key?"), ("assistant", "I'm not sure.")]
        store.remember(NS, turns, thread_id=f"again{n}")
    assert texts(store, "Where is my spare key?")[0] == TOLD[8][1]


@pytest.mark.parametrize(
    ("text", "says_something"),
    CASES["a_statement_is_told_from_a_question_or_a_courtesy"],
)
def test_a_statement_is_told_from_a_question_or_a_courtesy(text: str, says_something: bool) -> None:
    """A text states something if any of its sentences is more than a question or a courtesy."""
    assert states(text) is says_something


@pytest.mark.parametrize(
    ("answer", "known"),
    CASES["an_answer_that_it_does_not_know_is_told_by_its_whole_form"],
)
def test_an_answer_that_it_does_not_know_is_told_by_its_whole_form(
    answer: str, known: bool
) -> None:
    """An assistant says that it does not know where it says nothing else; a person may mean it."""
    assert (doing(answer, by_assistant=True) == "states") is known
    assert doing(answer) != "unknowing"


@pytest.mark.parametrize(
    "message",
    [
        "Hi!", "ok", "Thanks a lot!", "haha", "Good morning Percy", "How are you?", "see you tomorrow",
        "Could you say that more formally?", "make it shorter please", "vielen Dank, bis morgen",
        "Wie geht's dir?", "¡Muchas gracias!", "Hola, ¿qué tal?", "merci beaucoup", "grazie mille",
        "спасибо!", "你好", "好的，谢谢！", "Where were we?", "perfect, sounds good",
    ],
)  # fmt: skip
def test_an_idle_message_shows_nothing(store: MemoryStore, message: str) -> None:
    """Greetings, thanks, small talk and requests to rework the last answer recall nothing."""
    assert is_idle(message)
    assert texts(store, message, min_score="auto") == []
    state = RecallNode(NS, store=store, core={}).invoke({"messages": [HumanMessage(message)]}, {})
    assert state["memory_block"]["text"] == ""


@pytest.mark.parametrize(
    "message", ["Who am I?", "What do I have?", "Tofu", "Where is it again?", "yes, the red one"]
)
def test_a_short_question_is_not_idle(message: str) -> None:
    """A message that asks for something is looked up, however short it is."""
    assert not is_idle(message)


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?", "Write a regex for a postcode", "How do I exit vim?",
        "Translate \"I am hungry\" into Norwegian", "Wie viele Knochen hat der Mensch?",
    ],
)  # fmt: skip
def test_a_general_question_shows_nothing(store: MemoryStore, question: str) -> None:
    """A question of general knowledge gets no block of memories."""
    assert texts(store, question, min_score="auto") == []
    assert doing(question) == "asks" or question.startswith(("Write", "Translate"))


@pytest.mark.parametrize("embed", ["embedded", "none", "custom"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where does Tofu sleep?", "Tofu sleeps on the radiator."),
        ("What am I allergic to?", "The user is allergic to penicillin."),
        ("Where is the deployment script?", "The deployment script is in tools/deploy.sh."),
    ],
)
def test_the_score_of_what_was_put_passes_the_gate(embed: str, question: str, answer: str) -> None:
    """An answer that was put, not said, is shown with any embedder and with none, also where it is the
    only memory, and what has nothing to do with a question is not."""
    words = WordEmbeddings()
    custom = {"embed": words, "dims": len(words.embed_query("a")), "fields": ["text"]}
    options: Any = {"embedded": None, "none": False, "custom": custom}[embed]
    with MemoryStore(":memory:", index=options) as store:
        store.put(NS, "a", {"text": answer})
        assert texts(store, question, min_score="auto") == [answer]
        assert texts(store, "What is the boiling point of ethanol?", min_score="auto") == []


def test_a_subject_of_many_memories_passes_the_gate() -> None:
    """A question whose every word is met is answered, also where many memories meet it as well."""
    habits = ("swim", "chase cats", "dig holes", "bark", "eat cheese", "run", "fetch sticks", "nap")
    with MemoryStore(":memory:") as store:
        for at, habit in enumerate(habits):
            store.put(NS, f"{at}", {"text": f"The dog likes to {habit}."})
        assert len(texts(store, "What does the dog like to do?", min_score="auto")) == len(habits)
        assert texts(store, "What does the moon look like?", min_score="auto") == []


def test_scores_of_two_questions_compare(store: MemoryStore) -> None:
    """An answer scores high for its question, and everything low for a question nothing answers."""
    answered = store.recall("Where does my cat Tofu sleep?", NS).results[0].score
    foreign = store.recall("Which school did my grandfather teach at?", NS).results[0].score
    assert answered > 0.3 > 10 * foreign
    scores = [one.score for one in store.recall("Where does my cat Tofu sleep?", NS)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_thanks_in_a_conversation_keep_what_was_recalled_for_later(store: MemoryStore) -> None:
    """After "Thanks!" the block is empty, and what was recalled before is kept; a "yes" to a question of
    the assistant shows it again."""
    node = RecallNode(NS, store=store, core={})
    messages = [HumanMessage("Where does my cat Tofu sleep?"), AIMessage("On the radiator.")]
    state = {"messages": messages[:1]}
    state |= node.invoke(state, {})
    assert "radiator" in state["memory_block"]["text"]
    thanked = node.invoke({**state, "messages": [*messages, HumanMessage("Thanks!")]}, {})
    assert thanked["memory_block"]["text"] == ""
    assert thanked["recalled"]
    offered = [messages[0], AIMessage("Shall I write that down?"), HumanMessage("Yes please")]
    assert "radiator" in node.invoke({**state, "messages": offered}, {})["memory_block"]["text"]


def test_the_gate_can_be_chosen(store: MemoryStore) -> None:
    """min_score=None shows whatever is found, a number only what is as likely."""
    greeting = {"messages": [HumanMessage("Hello Tofu, my cat on the radiator, penicillin")]}
    everything = RecallNode(NS, store=store, core={}, min_score=None).invoke(greeting, {})
    certain = RecallNode(NS, store=store, core={}, min_score=0.99).invoke(greeting, {})
    assert everything["recalled"]
    assert certain["recalled"] == []


def test_a_node_recalls_what_its_options_allow(store: MemoryStore) -> None:
    """kinds, filter and limit of a node are those of recall."""
    store.put(NS, "f", {"text": "Tofu the cat sleeps in the hall.", "room": "hall"})
    asked = {"messages": [HumanMessage("Where does my cat Tofu sleep?")]}

    def recalled(**options: object) -> list[str]:
        node = RecallNode(NS, store=store, core={}, **options)  # type: ignore[arg-type]
        return [one["text"] for one in node.invoke(asked, {})["recalled"]]

    assert recalled(kinds=["episodic"])[0] == TOLD[0][1]
    assert recalled(filter={"room": "hall"}) == ["Tofu the cat sleeps in the hall."]
    assert len(recalled(limit=1, min_score=None)) == 1
