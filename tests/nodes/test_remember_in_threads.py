"""Threads as applications use them: messages of any shape, edits, branches of time travel."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore
from typing_extensions import TypedDict

from langmemory.citing import note_id
from langmemory.errors import InvalidValueError
from langmemory.graphs import build_chat_graph
from langmemory.nodes import MemoryState, RecallNode, RememberNode
from langmemory.stores import MemoryStore
from tests.scripted import ScriptedModel
from tests.stores_in_use import StoreName, open_store

ANNA = ("memories", "anna")
CONFIG: Any = {"configurable": {"user_id": "anna", "thread_id": "t1"}}


class Appended(TypedDict, total=False):
    """A state without ``add_messages``, as many tutorials have it: nobody gives messages an id."""

    messages: Annotated[list[Any], operator.add]
    recalled: list[Any]
    memory_internal: dict[str, Any]


@pytest.fixture(params=["in_memory_no_index", "memory_store"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    name: StoreName = request.param
    with open_store(name, tmp_path / "memory.db") as opened:
        yield opened


def build(schema: type[Any], store: BaseStore, answer: Any) -> Any:
    return (
        StateGraph(schema)
        .add_node("recall", RecallNode())
        .add_node("answer", lambda state: {"messages": [answer(state)]})
        .add_node("remember", RememberNode())
        .add_edge(START, "recall")
        .add_edge("recall", "answer")
        .add_edge("answer", "remember")
        .compile(store=store, checkpointer=InMemorySaver())
    )


def said(store: BaseStore) -> list[str]:
    items = store.search(ANNA, filter={"thread_id": "t1"}, limit=100)
    return sorted(item.value["content"] for item in items)


@pytest.mark.parametrize("shape", ["dicts", "messages"])
def test_messages_without_ids_are_all_remembered(store: BaseStore, shape: str) -> None:
    """Plain dicts, and messages without an id, are remembered each once; what is said twice, twice.
    The model sees them, so they are not recalled."""

    def spoken(role: str, text: str) -> Any:
        if shape == "dicts":
            return {"role": role, "content": text}
        return HumanMessage(text) if role == "user" else AIMessage(text)

    graph = build(Appended, store, lambda state: spoken("assistant", "Fine."))
    texts = ("My goat is called Berta.", "Yes.", "What is my goat called?", "Yes.")
    for text in texts:
        state = graph.invoke({"messages": [spoken("user", text)]}, CONFIG)
        assert state["recalled"] == []
    assert said(store) == sorted([*texts, *["Fine."] * 4])
    RememberNode(store=store).invoke({"messages": state["messages"]}, CONFIG)
    assert len(said(store)) == 8


def test_a_message_without_an_id_has_the_key_that_the_store_gives_it(tmp_path: Path) -> None:
    """The node recognises turns that `remember` stored."""
    with MemoryStore(tmp_path / "memory.db") as store:
        messages = [HumanMessage("Yes."), AIMessage("Fine."), HumanMessage("Yes.")]
        keys = store.remember(ANNA, messages, thread_id="t1")
        RememberNode(store=store).invoke({"messages": messages}, CONFIG)
        assert len(said(store)) == len(keys) == 3


def test_what_is_no_message_is_refused_by_name(store: BaseStore) -> None:
    """A key that holds something else is an error that says so, not a conversation forgotten."""
    for node in (RecallNode(store=store), RememberNode(store=store)):
        with pytest.raises(InvalidValueError, match=r"'messages' holds .* messages_key"):
            node.invoke({"messages": [{"text": "Hello"}]}, CONFIG)


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (HumanMessage("Cut in two: \ud83d"), "Cut in two: \ufffd"),
        (HumanMessage("Late.", additional_kwargs={"timestamp": 1_732_000_000_000}), "Late."),
        (HumanMessage("Soon.", additional_kwargs={"at": "noon"}), "Soon."),
    ],
)
@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_message_a_client_broke_does_not_break_the_thread(
    store: BaseStore, broken: HumanMessage, text: str, call: str
) -> None:
    """Half an emoji, or a time that cannot be read, is in the thread for good: it is remembered as
    far as it can be, and the talk goes on."""
    node = RememberNode(store=store)
    state: dict[str, Any] = {"messages": [broken, HumanMessage("Next.")]}
    await node.ainvoke(state, CONFIG) if call == "async" else node.invoke(state, CONFIG)
    assert said(store) == sorted([text, "Next."])


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_message_edited_in_the_thread_is_corrected(store: BaseStore, call: str) -> None:
    """Time travel: a run again from an earlier checkpoint adds nothing that is stored already. Where
    the person's last message was edited there, under its id, memory says what the thread says."""
    graph = build(MemoryState, store, lambda state: AIMessage("Fine."))
    for text in ("I like tea.", "I like beer."):
        graph.invoke({"messages": [HumanMessage(text)]}, CONFIG)
    history = {at.next[0]: at for at in reversed(list(graph.get_state_history(CONFIG))) if at.next}

    def at(config: Any) -> Any:
        return {"configurable": {**CONFIG["configurable"], **config["configurable"]}}

    graph.invoke(None, at(history["remember"].config))
    assert said(store) == ["Fine.", "Fine.", "I like beer.", "I like tea."]

    before = history["recall"]
    for text in ("I like wine.", "I like water."):
        edited = HumanMessage(text, id=before.values["messages"][-1].id)
        fork = at(graph.update_state(before.config, {"messages": [edited]}))
        await graph.ainvoke(None, fork) if call == "async" else graph.invoke(None, fork)
        assert [each for each in said(store) if each != "Fine."] == sorted(["I like tea.", text])
    found = RecallNode(store=store).invoke({"messages": [HumanMessage("Do I like water?")]}, CONFIG)
    assert "I like water." in [each["text"] for each in found["recalled"]]


def test_a_message_emptied_and_edited_again_is_corrected(store: BaseStore) -> None:
    """Memory holds the new words of a message that was emptied and rewritten later."""
    graph = build(MemoryState, store, lambda state: AIMessage("Fine."))
    graph.invoke({"messages": [HumanMessage("I like tea.", id="1")]}, CONFIG)
    for turn, text in enumerate(("", "I like wine."), start=2):
        graph.update_state(CONFIG, {"messages": [HumanMessage(text, id="1")]})
        graph.invoke({"messages": [HumanMessage(f"Turn {turn}.", id=str(turn))]}, CONFIG)
    assert [each for each in said(store) if each != "Fine."] == [
        "I like wine.",
        "Turn 2.",
        "Turn 3.",
    ]


def test_what_a_person_changed_in_memory_is_not_brought_back(store: BaseStore) -> None:
    """A client that sends the whole conversation again, with its ids, undoes neither a correction
    nor a deletion of what was said before."""
    node = RememberNode(store=store)
    talk: list[Any] = [
        HumanMessage("My desk is 1234.", id="1"),
        AIMessage("Noted.", id="2"),
        HumanMessage("I live in Bonn.", id="3"),
        AIMessage("Nice.", id="4"),
    ]
    node.invoke({"messages": talk}, CONFIG)
    pin = store.get(ANNA, "t1/1")
    assert pin is not None
    store.put(ANNA, "t1/1", {**pin.value, "content": "(taken back)"})
    node.invoke({"messages": [*talk, HumanMessage("Hello again.", id="5")]}, CONFIG)
    assert said(store) == sorted(
        ["(taken back)", "Noted.", "I live in Bonn.", "Nice.", "Hello again."]
    )
    if isinstance(store, MemoryStore):  # others do not know what was deleted
        store.delete(ANNA, "t1/5")
        node.invoke({"messages": [*talk, HumanMessage("Hello, once more.", id="5")]}, CONFIG)
        assert store.get(ANNA, "t1/5") is None


EVE: Any = {"configurable": {"user_id": "eve", "thread_id": "t1"}}


def of(store: BaseStore, *namespace: str) -> list[str]:
    return sorted(item.value["content"] for item in store.search(namespace, limit=100))


def speak(graph: Any, config: Any, text: str) -> Any:
    return graph.invoke({"messages": [HumanMessage(text)]}, config)


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_failed_turn_is_not_remembered_as_the_next_persons(
    store: BaseStore, call: str
) -> None:
    """Where people share a thread, what one said in a run that failed is not theirs who speak next,
    nor is it theirs who have it answered; the person who said it has it remembered in time."""
    failures = [True, True, False, True, False, False]

    def answer(state: Any) -> AIMessage:
        if failures.pop(0):
            raise ConnectionError("no model")
        return AIMessage("Fine.")

    graph = build(MemoryState, store, answer)

    async def run(config: Any, text: str | None) -> None:
        given = None if text is None else {"messages": [HumanMessage(text)]}
        try:
            if call == "sync":
                graph.invoke(given, config)
            else:
                await graph.ainvoke(given, config)
        except ConnectionError:
            pass

    await run(CONFIG, "My desk is 1234.")
    await run(CONFIG, "Are you there?")
    await run(EVE, "I am Eve.")
    assert of(store, "memories", "eve") == ["Fine.", "I am Eve."]
    await run(CONFIG, "My dog is called Wanda.")
    await run(EVE, None)
    assert of(store, "memories", "eve") == ["Fine.", "I am Eve."]
    await run(CONFIG, "Anna again.")
    assert "My dog is called Wanda." in of(store, *ANNA)


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_what_a_failed_run_left_is_remembered_when_that_person_speaks_again(
    store: BaseStore, call: str
) -> None:
    """Where people share a thread, others may speak, and be remembered, meanwhile."""
    failures = [True, False, False, False]

    def answer(state: Any) -> AIMessage:
        if failures.pop(0):
            raise ConnectionError("no model")
        return AIMessage("Fine.")

    graph = build(MemoryState, store, answer)
    texts = ["My dog is called Wanda.", "I am Eve.", "Eve again.", "Anna again."]
    for config, text in zip([CONFIG, EVE, EVE, CONFIG], texts, strict=True):
        try:
            if call == "sync":
                state = speak(graph, config, text)
            else:
                state = await graph.ainvoke({"messages": [HumanMessage(text)]}, config)
        except ConnectionError:
            continue
    assert of(store, *ANNA) == ["Anna again.", "Fine.", "My dog is called Wanda."]
    assert of(store, "memories", "eve") == ["Eve again.", "Fine.", "Fine.", "I am Eve."]
    assert state["memory_internal"]["remembered_id"] == state["messages"][-1].id
    assert state["memory_internal"]["pending_messages"] == []


def test_a_thread_that_loses_its_end_keeps_people_apart(store: BaseStore) -> None:
    """When the last answer is taken out to be made anew, earlier turns of others stay theirs."""
    graph = build(MemoryState, store, lambda state: AIMessage("Fine."))
    speak(graph, CONFIG, "My desk is 1234.")
    state = speak(graph, EVE, "I am Eve.")
    graph.update_state(EVE, {"messages": [RemoveMessage(state["messages"][-1].id)]})
    state = speak(graph, EVE, "Again, please.")
    assert of(store, "memories", "eve") == ["Again, please.", "Fine.", "Fine.", "I am Eve."]
    assert of(store, *ANNA) == ["Fine.", "My desk is 1234."]
    assert [voice["who"] for voice in state["memory_internal"]["message_speakers"]] == [
        "anna",
        "eve",
    ]


def test_a_thread_that_loses_somebodys_last_turn_keeps_people_apart(store: BaseStore) -> None:
    """When the last message of one and its answer are taken out, and another person goes on, what
    the first one said before stays theirs."""
    graph = build(MemoryState, store, lambda state: AIMessage("Fine."))
    speak(graph, CONFIG, "My desk is 1234.")
    state = speak(graph, CONFIG, "Forget it.")
    gone = [RemoveMessage(message.id) for message in state["messages"][-2:]]
    graph.update_state(CONFIG, {"messages": gone})
    speak(graph, EVE, "I am Eve.")
    assert of(store, "memories", "eve") == ["Fine.", "I am Eve."]


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_chat_within_a_graph_keeps_people_apart(store: BaseStore, call: str) -> None:
    """A subgraph forgets between runs whose words the thread holds; what is remembered as one
    person's does not become another's, and nothing is lost."""
    graph = (
        StateGraph(MessagesState)
        .add_node("chat", build_chat_graph(ScriptedModel(otherwise="Fine.")))
        .add_edge(START, "chat")
        .compile(store=store, checkpointer=InMemorySaver())
    )
    for config, text in (
        (CONFIG, "My desk is 1234."),
        (EVE, "I am Eve."),
        (CONFIG, "Anna again."),
        (EVE, "Eve again."),
    ):
        if call == "sync":
            speak(graph, config, text)
        else:
            await graph.ainvoke({"messages": [HumanMessage(text)]}, config)
    assert of(store, *ANNA) == ["Anna again.", "Fine.", "Fine.", "My desk is 1234."]
    assert of(store, "memories", "eve") == ["Eve again.", "Fine.", "Fine.", "I am Eve."]


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_node_called_within_a_node_is_in_the_thread(store: BaseStore, call: str) -> None:
    """Called by somebody's own node without a config, the nodes know person and thread of the run."""
    recall, remember = RecallNode(), RememberNode()

    def sync_talk(state: Any) -> dict[str, Any]:
        return {"recalled": recall.invoke(state)["recalled"], **remember.invoke(state)}

    async def async_talk(state: Any) -> dict[str, Any]:
        return {"recalled": (await recall.ainvoke(state))["recalled"]} | await remember.ainvoke(
            state
        )

    graph = (
        StateGraph(MemoryState)
        .add_node("talk", sync_talk if call == "sync" else async_talk)
        .add_edge(START, "talk")
        .compile(store=store)
    )
    for _ in range(2):  # the same message twice
        said_now = {"messages": [HumanMessage("My dog is called Wanda.", id="one")]}
        done = (
            graph.invoke(said_now, CONFIG)
            if call == "sync"
            else await graph.ainvoke(said_now, CONFIG)
        )
        assert done["recalled"] == []
    assert said(store) == ["My dog is called Wanda."]


def test_a_namespace_of_everybody_gets_what_everybody_said(store: BaseStore) -> None:
    """In a shared namespace a turn whose run failed is remembered, whoever speaks next."""
    failures = [True, False]

    def answer(state: Any) -> dict[str, Any]:
        if failures.pop(0):
            raise ConnectionError("no model")
        return {"messages": [AIMessage("Fine.")]}

    graph = (
        StateGraph(MemoryState)
        .add_node("recall", RecallNode(("team",)))
        .add_node("answer", answer)
        .add_node("remember", RememberNode(("team",)))
        .add_edge(START, "recall")
        .add_edge("recall", "answer")
        .add_edge("answer", "remember")
        .compile(store=store, checkpointer=InMemorySaver())
    )
    with pytest.raises(ConnectionError):
        speak(graph, CONFIG, "Lunch is at noon.")
    speak(graph, EVE, "Thanks.")
    assert of(store, "team") == ["Fine.", "Lunch is at noon.", "Thanks."]


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_each_namespace_of_graphs_within_a_graph_is_whole(
    store: BaseStore, call: str
) -> None:
    """A graph and the chats within it share the keys of their state and remember in namespaces of
    their own: each has what was said, once, and citations count once."""
    cook, main = ("cook", "anna"), ("main", "anna")
    store.put(cook, "rule", {"content": "Ask about allergies.", "priority": "mandate"})
    model = ScriptedModel(otherwise=f"Which? [M:{note_id(cook, 'rule')}]")
    graph = (
        StateGraph(MemoryState)
        .add_node("recall", RecallNode(("main", "{user_id}")))
        .add_node("cook", build_chat_graph(model, namespace=("cook", "{user_id}")))
        .add_node("remember", RememberNode(("main", "{user_id}")))
        .add_edge(START, "recall")
        .add_conditional_edges(
            "recall", lambda state: "cook" if "soup" in state["messages"][-1].text else "remember"
        )
        .add_edge("cook", "remember")
        .compile(store=store, checkpointer=InMemorySaver())
    )
    texts = ["I like soup.", "I am off to work.", "Is there soup?", "What about the soup?"]

    async def speak(text: str, id: str) -> Any:
        said_now: Any = {"messages": [HumanMessage(text, id=id)]}
        if call == "invoke":
            return graph.invoke(said_now, CONFIG)
        return await graph.ainvoke(said_now, CONFIG)

    for number, text in enumerate(texts):
        state = await speak(text, str(number))
    for namespace in (cook, main):
        items = store.search(namespace, filter={"thread_id": "t1"}, limit=100)
        assert sorted(item.value["content"] for item in items) == sorted([*texts, *["Which?"] * 3])
    [rule] = (use for use in state["memory_usage"] if use["key"] == "rule")
    assert (rule["loaded"], rule["referenced"]) == (3, 3)


@pytest.mark.parametrize(
    ("answer", "remembered"),
    [
        ("<think>She has a dog.</think>\nWhich dog?", ["Which dog?"]),
        ("She has a dog.\n</think>\n\nWhich dog?", ["Which dog?"]),  # the template began it
        ("<think>She has a dog. Then", []),  # out of tokens
        ("It ends with\n```\n<think>a\n</think>\n```", None),
        ("The tag is </think> there.", None),
    ],
)
def test_what_a_model_thinks_in_front_of_its_answer_is_not_remembered(
    store: BaseStore, answer: str, remembered: list[str] | None
) -> None:
    """Thoughts in tags are nothing that was said; an answer that is about such tags stays whole."""
    chat = build_chat_graph(ScriptedModel(otherwise=answer), store=store)
    for number in range(2):
        asked: Any = {"messages": [HumanMessage("I have a dog.", id=f"u{number}")]}
        chat.invoke(asked, CONFIG)
    answers = store.search(ANNA, filter={"role": "assistant"})
    expected = [answer] if remembered is None else remembered
    assert [item.value["content"] for item in answers] == expected * 2
    assert len(store.search(ANNA, filter={"role": "user"})) == 2


def test_what_was_edited_in_a_chat_within_a_graph_stays_with_who_said_it(store: BaseStore) -> None:
    """A chat that forgets between runs whose words the thread holds does not take for another
    person's what the first one edited since."""
    graph = (
        StateGraph(MessagesState)
        .add_node("chat", build_chat_graph(ScriptedModel(otherwise="Fine.")))
        .add_edge(START, "chat")
        .compile(store=store, checkpointer=InMemorySaver())
    )
    graph.invoke({"messages": [HumanMessage("My desk is 1234.", id="1")]}, CONFIG)
    graph.update_state(CONFIG, {"messages": [HumanMessage("My desk is 5678.", id="1")]})
    speak(graph, EVE, "I am Eve.")
    assert of(store, "memories", "eve") == ["Fine.", "I am Eve."]
