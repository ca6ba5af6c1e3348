"""Clients that keep the conversation themselves, and send all of it with every call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.store.base import BaseStore

from langmemory.context import note_id
from langmemory.graphs import NoModel, build_chat_graph
from langmemory.nodes import RememberNode
from langmemory.nodes.access import THREAD_PAGE
from langmemory.stores import MemoryStore
from tests.scripted import ScriptedModel
from tests.stores_in_use import StoreName, open_store

ANNA = ("memories", "anna")
CONFIG: Any = {"configurable": {"user_id": "anna", "thread_id": "t1"}}


@pytest.fixture(params=["in_memory", "in_memory_no_index", "memory_store"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    name: StoreName = request.param
    with open_store(name, tmp_path / "memory.db") as opened:
        yield opened


def said(store: BaseStore) -> list[str]:
    items = store.search(ANNA, filter={"thread_id": "t1"}, limit=100)
    return sorted(item.value["content"] for item in items)


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_conversation_sent_anew_with_every_call_is_remembered_once(
    store: BaseStore, call: str
) -> None:
    """Without a checkpointer, and with no ids of the client's, each turn is stored once; so is what
    is said twice, twice. What the model sees anyway is not recalled."""
    answers = ["Nice. [R:00000000]", "Nice. [R:00000000]", "Berta.", "Berta."]
    graph = build_chat_graph(ScriptedModel(script=answers), store=store)
    history: list[dict[str, str]] = []
    for text in ("My goat is called Berta.", "Yes.", "Yes.", "What is my goat called?"):
        history.append({"role": "user", "content": text})
        given = {"messages": history}
        done = graph.invoke(given, CONFIG) if call == "sync" else await graph.ainvoke(given, CONFIG)
        history.append({"role": "assistant", "content": done["messages"][-1].text})
        assert done["recalled"] == []
    spoken = (turn["content"].partition(" [R:")[0] for turn in history)
    assert said(store) == sorted(spoken)


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_picture_without_words_makes_nothing_before_it_new(
    store: BaseStore, call: str
) -> None:
    """A conversation sent anew that ends with a picture is remembered once, as any other."""
    graph = build_chat_graph(ScriptedModel(), store=store)
    picture = [{"type": "image", "base64": "AA==", "mime_type": "image/png"}]
    history: list[dict[str, Any]] = []
    for content in ("My goat is called Berta.", picture, "That was her."):
        history.append({"role": "user", "content": content})
        given: Any = {"messages": history}
        done = graph.invoke(given, CONFIG) if call == "sync" else await graph.ainvoke(given, CONFIG)
        history.append({"role": "assistant", "content": done["messages"][-1].text})
    answers = ["Understood."] * 3
    assert said(store) == ["My goat is called Berta.", "That was her.", *answers]


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_picture_without_words_brings_nothing_back(store: BaseStore, call: str) -> None:
    """A person's correction in memory stays when a client sends the conversation again with its own
    ids and a picture at its end."""
    graph = build_chat_graph(ScriptedModel(), store=store)
    history: list[Any] = [{"role": "user", "content": "My goat is called Bertha.", "id": "1"}]
    done = graph.invoke({"messages": history}, CONFIG)
    [item] = store.search(ANNA, filter={"role": "user"})
    store.put(ANNA, item.key, {**item.value, "content": "My goat is called Berta."})
    picture = [{"type": "image", "base64": "AA==", "mime_type": "image/png"}]
    history += [done["messages"][-1], {"role": "user", "content": picture, "id": "2"}]
    given: Any = {"messages": history}
    if call == "sync":
        graph.invoke(given, CONFIG)
    else:
        await graph.ainvoke(given, CONFIG)
    assert said(store) == ["My goat is called Berta.", "Understood.", "Understood."]


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_client_that_keeps_no_answers_repeats_nothing(store: BaseStore, call: str) -> None:
    """Without a checkpointer, what a person said is known again also where a client sends that alone."""
    graph = build_chat_graph(ScriptedModel(), store=store)
    history: list[dict[str, str]] = []
    for text in ("My goat is called Berta.", "She eats roses.", "What does she eat?"):
        history.append({"role": "user", "content": text})
        given: Any = {"messages": history}
        done = graph.invoke(given, CONFIG) if call == "sync" else await graph.ainvoke(given, CONFIG)
        assert not {"My goat is called Berta.", "She eats roses."} & {
            entry["text"] for entry in done["recalled"]
        }
    assert said(store) == sorted([turn["content"] for turn in history] + ["Understood."] * 3)


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_conversation_that_names_no_thread_is_known_by_its_words(
    store: BaseStore, call: str
) -> None:
    """Also where a client names no thread, each turn of each of its conversations is stored once, all
    of one under one thread, and what the model sees anyway is not recalled."""
    config: Any = {"configurable": {"user_id": "anna"}}
    answers = [f"{name}, a fine name. {place}" for name in ("Berta", "Rex") for place in "ab"]
    script = [answers[0], answers[2], answers[1], answers[3]]
    graph = build_chat_graph(ScriptedModel(script=script), store=store)
    talks: list[list[dict[str, str]]] = [[], []]
    for texts in (("My goat is Berta.", "My dog is Rex."), ("Who is it?", "Who is it?")):
        for talk, text in zip(talks, texts, strict=True):
            talk.append({"role": "user", "content": text})
            given: Any = {"messages": talk}
            done = (
                await graph.ainvoke(given, config)
                if call == "async"
                else graph.invoke(given, config)
            )
            talk.append({"role": "assistant", "content": done["messages"][-1].text})
            own = {turn["content"] for turn in talk[:-1]} - {"Who is it?"}
            assert not own & {entry["text"] for entry in done["recalled"]}
    stored: dict[str, list[str]] = {}
    for item in store.search(ANNA, limit=100):
        stored.setdefault(item.value["thread_id"], []).append(item.value["content"])
    assert sorted(map(sorted, stored.values())) == sorted(
        sorted(turn["content"] for turn in talk) for talk in talks
    )


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_conversation_without_a_thread_does_not_go_on_in_anothers_private_one(
    store: BaseStore, call: str
) -> None:
    """The same words, said privately by somebody else in a namespace of both, tell nothing."""
    node = RememberNode(("memories", "home"), store=store, privacy="private")
    talk = [("user", "Hello."), ("ai", "Hello, how are you?"), ("user", "Fine.")]
    given = {"messages": [{"role": role, "content": text} for role, text in talk]}
    for user in ("anna", "bert"):
        config: Any = {"configurable": {"user_id": user}}
        if call == "sync":
            node.invoke(given, config)
        else:
            await node.ainvoke(given, config)
    items = store.search(("memories", "home"), limit=100)
    assert len(items) == 6
    owners = {(item.value["thread_id"], item.value["owner"]) for item in items}
    assert len(owners) == len({thread for thread, _ in owners}) == 2


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_messages_that_are_replaced_by_the_same_are_remembered_once(
    store: BaseStore, call: str
) -> None:
    """A client that replaces all messages of a thread, with new ids, tells nothing twice."""
    graph = build_chat_graph(ScriptedModel(), store=store, checkpointer=InMemorySaver())
    history: list[Any] = []
    for text in ("My goat is called Berta.", "She eats roses.", "What does she eat?"):
        history.append({"role": "user", "content": text})
        given: Any = {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *history]}
        done = graph.invoke(given, CONFIG) if call == "sync" else await graph.ainvoke(given, CONFIG)
        history.append({"role": "assistant", "content": done["messages"][-1].text})
    assert said(store) == sorted(turn["content"] for turn in history)


def test_a_window_of_the_conversation_is_known_again(store: BaseStore) -> None:
    """A client that sends the last messages only repeats none of them either."""
    graph = build_chat_graph(ScriptedModel(), store=store)
    history: list[dict[str, str]] = []
    for number in range(6):
        history.append({"role": "user", "content": f"The {number}. thing I like is tea."})
        done = graph.invoke({"messages": history[-3:]}, CONFIG)
        history.append({"role": "assistant", "content": done["messages"][-1].text})
    assert len(said(store)) == 12


@pytest.mark.thorough
def test_a_very_long_conversation_is_known_again(tmp_path: Path) -> None:
    """However many messages a client sends anew, none of them is remembered twice."""
    talk = [
        {"role": role, "content": f"{role} says {number}."}
        for number in range(THREAD_PAGE)
        for role in ("user", "assistant")
    ]
    with open_store("memory_store", tmp_path / "memory.db") as store:
        graph = build_chat_graph(ScriptedModel(), store=store)
        for _ in range(2):
            graph.invoke({"messages": [*talk, {"role": "user", "content": "And now?"}]}, CONFIG)
        stored = store.search(ANNA, filter={"thread_id": "t1"}, limit=3 * len(talk))
    assert len(stored) == len(talk) + 4  # the last message came twice, and was answered twice


def test_answers_without_a_model_sent_anew_are_not_remembered(store: BaseStore) -> None:
    """Answers of `NoModel` that a client sends back as dicts are not remembered as said, and the
    rest of the conversation is still recognised."""
    graph = build_chat_graph(NoModel(), store=store)
    history: list[dict[str, str]] = []
    for text in ("My goat is called Berta.", "What is my goat called?", "Thanks."):
        history.append({"role": "user", "content": text})
        done = graph.invoke({"messages": history}, CONFIG)
        history.append({"role": "assistant", "content": done["messages"][-1].text})
    assert said(store) == sorted(turn["content"] for turn in history if turn["role"] == "user")


def test_another_thread_is_another_conversation(store: BaseStore) -> None:
    """The same words in another thread are remembered there, too."""
    talk = [("user", "My goat is called Berta."), ("ai", "Nice."), ("user", "She eats roses.")]
    graph = build_chat_graph(ScriptedModel(), store=store)
    for thread in ("t1", "t2"):
        graph.invoke({"messages": talk}, {"configurable": {"user_id": "anna", "thread_id": thread}})
    assert len(store.search(ANNA, limit=100)) == 8


def test_an_agent_inside_a_graph_counts_a_citation_once(tmp_path: Path) -> None:
    """Where the memory keys do not outlive a call, as in a subgraph, the answers of earlier calls
    are not counted as answers to this one."""
    with open_store("memory_store", tmp_path / "memory.db") as store:
        store.put(ANNA, "dog", {"text": "Anna's dog is called Bello."})
        label = f"[R:{note_id(ANNA, 'dog')}]"
        answers = [f"Bello. {label}", "He is a fine dog.", "A dog it is."]
        chat = build_chat_graph(ScriptedModel(script=answers))
        graph = (
            StateGraph(MessagesState)
            .add_node("chat", lambda state: {"messages": chat.invoke(state)["messages"]})
            .add_edge(START, "chat")
            .compile(store=store, checkpointer=InMemorySaver())
        )
        for text in ("What is my dog called?", "Tell me of my dog.", "Is my dog a dog?"):
            graph.invoke({"messages": [("user", text)]}, CONFIG)
        assert isinstance(store, MemoryStore)
        [dog] = [one for one in store.admin.usage(ANNA) if one.key == "dog"]
        assert (dog.loaded, dog.referenced) == (3, 1)
        assert len(said(store)) == 6
