"""A question for the conversation before or after another one is answered by the links between them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langmemory.nodes import RecallNode
from langmemory.nodes.recall import query_of
from langmemory.recall.neighbouring import neighbour_asked
from langmemory.stores import MemoryStore
from langmemory.types import Recall

HOME = ("memories", "mia")
BEGAN = datetime(2026, 5, 1, 9, tzinfo=UTC)
TALKS = {
    "roof": ["The roof tiles came loose in the storm.", "A man on Hill Street lays them again."],
    "boiler": ["The boiler leaks again.", "Joe Miller repairs it on Friday."],
    "garden": ["We need roses and a hedge.", "Thanks!", "The gardener is called Ines."],
    "train": ["My train to Porto leaves at nine.", "I still have no ticket."],
}


def filled(store: MemoryStore) -> MemoryStore:
    """Four conversations of Mia on four days, and one of Joe between the second and the third."""
    for day, (thread, texts) in enumerate(TALKS.items()):
        said = [
            {"role": "user", "content": text, "at": BEGAN + timedelta(days=day, minutes=minute)}
            for minute, text in enumerate(texts)
        ]
        store.remember(HOME, said, thread_id=thread, owner="mia")
    at = BEGAN + timedelta(days=1, hours=5)
    store.remember(
        HOME, [{"role": "user", "content": "I bought a drill.", "at": at}], thread_id="joe", owner="joe"
    )  # fmt: skip
    return store


def first(found: Recall, count: int = 2) -> list[str]:
    return [one.text for one in found.results[:count]]


@pytest.mark.parametrize(
    ("about", "before", "after"),
    [
        ("When was it about the boiler?", "what did we talk about before that", "What did we discuss next?"),
        ("Wann ging es um den boiler?", "Worüber haben wir davor geredet?", "worüber sprachen wir danach"),
        ("¿Cuándo hablamos del boiler?", "¿De qué hablamos antes de eso?", "¿Y de qué hablamos después?"),
        ("Quando parlavamo del boiler?", "Di cosa abbiamo parlato prima?", "di cosa abbiamo parlato dopo"),
        ("我们什么时候聊过 boiler?", "在那之前我们聊了什么?", "之后我们聊了什么?"),
    ],
    ids=["en", "de", "es", "it", "zh"],
)  # fmt: skip
def test_the_neighbour_of_what_was_asked_for(
    store: MemoryStore, about: str, before: str, after: str
) -> None:
    """A follow-up goes back, or on, from the conversation that the question before it found."""
    filled(store)
    for follow_up, thread in ((before, "roof"), (after, "garden")):
        asked = query_of([HumanMessage(about), AIMessage("In May."), HumanMessage(follow_up)])
        found = store.recall(asked, HOME, min_score="auto")
        assert first(found, 1) == TALKS[thread][:1]
        assert {one.text for one in found.results} > {TALKS[thread][0], TALKS[thread][-1]}


def test_a_named_conversation_and_several_steps(store: MemoryStore) -> None:
    """The conversation may be named in the question; "and before that?" goes on back; of others nothing
    comes, and beyond the first conversation there is none."""
    filled(store)
    assert (
        first(store.recall("What did we talk about before the gardener?", HOME)) == TALKS["boiler"]
    )
    steps = ["When did we speak of the gardener?", "What did we talk about before that?"]
    further = "\n".join([*steps, "and before that?"])
    assert first(store.recall(further, HOME)) == TALKS["roof"]
    beyond = store.recall("\n".join([further, "and before that?"]), HOME)
    assert beyond.results == store.recall(beyond.query, HOME).results
    assert all("conversation" not in one.parts for one in beyond.results)
    assert first(store.for_viewer("joe").recall("What did we talk about last time?", HOME), 1) == [
        "I bought a drill."
    ]


def test_without_another_one_it_is_the_last(store: MemoryStore) -> None:
    """Asked out of nothing, the conversation before the one at hand is the last that is stored, without
    what the window shows; each result stands once, within limit and budget."""
    filled(store)
    node = RecallNode(store=store, core={})
    run = {"configurable": {"user_id": "mia", "thread_id": "new"}}
    asked = {"messages": [HumanMessage("what did we talk about before that", id="1")]}
    recalled = node.invoke(asked, run)["recalled"]
    assert [one["text"] for one in recalled[:2]] == TALKS["train"]
    found = store.recall("What did we talk about last time?", HOME, limit=3)
    assert len({one.memory.key for one in found.results}) == len(found.results) == 3
    assert sorted((one.score for one in found.results), reverse=True) == [
        one.score for one in found.results
    ]
    assert len(store.recall("What did we talk about last time?", HOME, budget_tokens=12)) == 1
    assert store.recall("What did we talk about last time?", HOME, kinds=["semantic"]).results == ()


@pytest.mark.parametrize(
    "question",
    [
        "Where did I live before that?", "What did we eat before that?", "and before that?",
        "What did we talk about before Monday?", "What did we say about the boiler?",
        "Worüber haben wir vor zwei Wochen gesprochen?", "¿Qué comimos antes de eso?",
        "¿De qué hablamos antes del lunes?", "我们之前买了什么?", "Cosa abbiamo comprato prima?",
    ],
)  # fmt: skip
def test_other_questions_ask_for_no_conversation(question: str) -> None:
    """What was before in a life, or before a time, is looked up by its words."""
    assert neighbour_asked(question) is None
