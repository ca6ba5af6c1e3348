"""The memory tools as a model uses them: called in a ToolNode, over every kind of store."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.store.base import BaseStore, SearchItem
from langgraph.store.memory import InMemoryStore

from langmemory.changes import AddMemory, Change, ChangeSet, Facets, Supersede
from langmemory.context import note_id
from langmemory.graphs import build_chat_graph
from langmemory.nodes import MemoryState
from langmemory.nodes.access import Conversation, StoreAccess
from langmemory.nodes.core_memory import CoreMemory
from langmemory.stores import MemoryStore
from langmemory.stores.face import ViewerStore
from langmemory.tools import (
    TOOLS,
    create_get_memory_tool,
    create_memory_tools,
    create_search_memory_tool,
)
from langmemory.tools.answering import State
from langmemory.types import Namespace
from tests.citing import twins
from tests.scripted import ScriptedModel, tool_call
from tests.stores_in_use import STORES, StoreName, open_store

ANNA = ("memories", "anna")
Call = Callable[..., ToolMessage]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    with open_store(request.param, tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def call(store: BaseStore) -> Call:
    """Call a tool by name, as a model of Anna's run would."""
    graph = (
        StateGraph(MessagesState)
        .add_node("tools", ToolNode(create_memory_tools(("memories", "{user_id}"), tools=TOOLS)))
        .add_edge(START, "tools")
        .compile(store=store)
    )

    def call(name: str, user: str = "anna", **arguments: Any) -> ToolMessage:
        wanted = {"name": name, "args": arguments, "id": "call-1", "type": "tool_call"}
        state = graph.invoke(
            {"messages": [AIMessage("", tool_calls=[wanted])]},
            {"configurable": {"user_id": user}},
        )
        answer = state["messages"][-1]
        assert isinstance(answer, ToolMessage)
        return answer

    return call


def remember(store: BaseStore, *texts: str, user: str = "anna", thread: str = "t1") -> None:
    messages = [HumanMessage(text, id=f"{thread}-{at}") for at, text in enumerate(texts)]
    where = Conversation(namespace=("memories", user), thread_id=thread)
    StoreAccess(store).remember(where, messages)


@pytest.mark.parametrize("name", ["memory_store", "in_memory"])
def test_a_filter_that_does_not_fit_the_values_is_explained(
    tmp_path: Path, name: StoreName
) -> None:
    """Also where the store itself would fail on it: the model is told, or finds nothing."""
    with open_store(name, tmp_path / "memory.db") as store:
        store.put(ANNA, "fact", {"content": "A fact."})
        for filter in ({"a": {"$nope": 1}}, {"a": {"$gt": "z"}}):
            told = answer(store, "search_memory", query="x", filter=filter)
            assert "Without this filter:\n[R:" in told.text or (
                "filter is" in told.text and told.status == "error"
            )


def test_any_day_may_bound_a_search(store: BaseStore, call: Call) -> None:
    """The first and the last day there is, too."""
    remember(store, "We planted apricot trees.")
    found = call("conversation_search", query="apricot", since="0001-01-01", until="9999-12-31")
    assert "apricot" in found.text


def test_what_is_managed_is_found_and_only_by_its_owner(call: Call) -> None:
    """A memory is created, found, updated and deleted; another user's run never sees it."""
    created = call("manage_memory", content="Anna plays the cello.").text
    key = created.removeprefix("created memory ")
    assert "cello" in call("search_memory", query="cello").text
    assert call("search_memory", user="bert", query="cello").text == "Nothing was found."
    assert "There is no memory" in call("get_memory", user="bert", id=key).text
    call("manage_memory", action="update", id=key, content="Anna plays the viola.")
    [found] = call("search_memory", query="what does Anna play").text.splitlines()
    assert "Anna plays the viola." in found
    short = found[1 : found.index("]")]
    call("manage_memory", action="update", id=short, content="Anna plays the organ.")
    assert "organ" in call("get_memory", id=key).text
    assert call("manage_memory", action="delete", id=short).text == f"Deleted memory {key}"
    assert "There is no memory" in call("get_memory", id=key).text


def test_what_a_tool_deleted_can_be_brought_back(tmp_path: Path) -> None:
    """A deletion by manage_memory is a run, on behalf of a viewer as well; undoing it brings the
    memory back. A deletion of what is not there, or is not the viewer's to see, is none."""
    with MemoryStore(tmp_path / "memory.db") as store:
        made = answer(store, "manage_memory", content="Anna plays the cello.").text
        key = made.removeprefix("created memory ")
        before = store.get(ANNA, key)
        for _ in range(2):
            assert answer(store, "manage_memory", action="delete", id=key).text.startswith(
                "Deleted"
            )
        assert store.get(ANNA, key) is None
        [run] = store.changes.runs(ANNA)
        assert (run.kind, run.reason) == ("correction", "deleted by the tool manage_memory")
        store.changes.undo(run.id)
        assert store.get(ANNA, key) == before
        store.put(ANNA, key, {"content": "hers", "privacy": "private", "owner": "bert"})
        answer(store, "manage_memory", action="delete", id=key)
        assert store.get(ANNA, key) is not None
        assert store.for_viewer("bert").changes.remove(ANNA, key, reason="mine").removed == (key,)


def test_what_a_tool_archived_can_be_brought_back(tmp_path: Path) -> None:
    """Archiving is a run, with the model's reason. A memory that was to be kept gets no end by it,
    whatever a put would get, and is after the undo what it was."""
    with MemoryStore(tmp_path / "memory.db", ttl={"default_ttl": 60}) as store:
        store.put(ANNA, "cello", {"content": "Anna plays the cello."}, ttl=None)
        before = list(store.admin.export(history=False))[1:]
        answer(store, "memory_archive", id="cello", reason="she sold it")
        assert store.conn.execute("SELECT status, expires_at FROM item").fetchone() == (
            "archived",
            None,
        )
        assert answer(store, "search_memory", query="cello").text == "Nothing was found."
        assert not store.recall("cello", ANNA).results
        [run] = store.changes.runs(ANNA)
        assert run.reason == "she sold it"
        store.changes.undo(run.id)
        assert list(store.admin.export(history=False))[1:] == before


def test_conversation_search_finds_words_within_dates(store: BaseStore, call: Call) -> None:
    """Messages are found word for word; dates bound what is found; days are inclusive."""
    remember(store, "We planted apricot trees.", "The weather was fine.")
    today = str(store.search(ANNA, limit=1)[0].value["at"])[:10]
    search = {"name": "conversation_search", "query": "apricot trees"}
    assert "We planted apricot trees." in call(**search).text
    assert "apricot" in call(**search, since=today, until=today).text
    assert "Nothing was said" in call(**search, until="2020-12-31").text
    assert "Nothing was said" in call(**search, since="2090-01-01").text


def test_of_a_long_message_what_was_searched_for_is_shown(store: BaseStore, call: Call) -> None:
    """A message longer than a line shows the part with the words that were looked for."""
    told = "We drove on past farms and hills, and it rained. " * 30
    remember(store, f"{told}The rental deposit was 740 euros. {told}")
    found = call("conversation_search", query="rental deposit").text
    assert "The rental deposit was 740 euros." in found
    assert len(found) < 1_000


def test_a_memory_is_read_whole_by_the_id_it_was_shown_under(store: BaseStore, call: Call) -> None:
    """The short id of a line, bare, labelled or in brackets, gives the whole text, and evidence."""
    remember(store, "First line.\n" + "word " * 300 + "the end")
    turn = store.search(ANNA, limit=1)[0]
    store.put(ANNA, "fact", {"content": "Anna talks a lot.", "evidence": [turn.key]})
    short = note_id(ANNA, turn.key)
    for name in (short, f"R:{short}", f"[r: {short.upper()}]", turn.key):
        assert "the end" in call("get_memory", id=name).text
    assert "from [R:" in call("get_memory", id="fact").text


def test_the_timeline_shows_neighbours_in_order(store: BaseStore, call: Call) -> None:
    """Turns before and after a memory come in the order of the conversation, with the memory
    marked."""
    remember(store, *(f"turn number {at}" for at in range(9)))
    remember(store, "something else", thread="t2")
    lines = call("memory_timeline", id="t1/t1-4", around=2).text.splitlines()
    assert [line[-1] for line in lines] == ["2", "3", "4", "5", "6"]
    assert [line.startswith(">") for line in lines] == [False, False, True, False, False]


def test_what_is_archived_is_kept_but_not_recalled(store: BaseStore, call: Call) -> None:
    """Archiving takes a memory out of recall; it can still be read, with the reason."""
    remember(store, "My parking spot is number 41.", "I like parking lots.")
    assert "41" in call("conversation_search", query="parking spot number").text
    answer = call("memory_archive", id="t1/t1-0", reason="moved away")
    assert "no longer recalled" in answer.text
    assert "41" not in call("conversation_search", query="parking spot number").text
    item = store.get(ANNA, "t1/t1-0")
    assert item is not None
    assert item.value["archived_because"] == "moved away"
    assert "41" in call("get_memory", id="t1/t1-0").text


def test_core_blocks_are_edited_and_versioned(store: BaseStore, call: Call) -> None:
    """Append, replace and rethink change a block, count versions, and answer with what it reads."""
    assert "version 1" in call("core_memory_append", block="human", content="Name: Anna").text
    call("core_memory_append", block="human", content="Lives in Graz")
    edited = call("core_memory_replace", block="human", old_content="Graz", new_content="Linz").text
    assert edited.endswith("| Name: Anna\n| Lives in Linz")
    call("core_memory_rethink", block="persona", new_content="Terse.")
    human = CoreMemory(store, ANNA).blocks()[1]
    assert (human.label, human.version) == ("human", 3)
    assert [block.content for block in CoreMemory(store, ("memories", "bert")).blocks()] == [""] * 3
    assert "Linz" not in call("conversation_search", query="Lives in Linz").text


def test_parallel_edits_of_one_block_are_all_kept(store: BaseStore) -> None:
    """A model that appends several lines in one answer loses none of them."""
    graph = (
        StateGraph(MessagesState)
        .add_node("tools", ToolNode(create_memory_tools(("memories", "{user_id}"), tools=TOOLS)))
        .add_edge(START, "tools")
        .compile(store=store)
    )
    calls = [
        {
            "name": "core_memory_append",
            "args": {"block": "task", "content": f"step {at}"},
            "id": f"c{at}",
            "type": "tool_call",
        }
        for at in range(8)
    ]
    config = {"configurable": {"user_id": "anna"}}
    graph.invoke({"messages": [AIMessage("", tool_calls=calls)]}, config)
    task = CoreMemory(store, ANNA).blocks()[2]
    assert sorted(task.content.splitlines()) == [f"step {at}" for at in range(8)]
    assert task.version == 8


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("get_memory", {"id": "R:00000000"}, "There is no memory 'R:00000000'"),
        ("get_memory", {"id": " "}, "There is no memory"),
        ("get_memory", {}, "id: Field required"),
        ("memory_timeline", {"id": "fact"}, "not part of a conversation"),
        ("memory_timeline", {"id": "fact", "around": 0}, "around: .*greater than or equal to 1"),
        ("memory_archive", {"id": "fact"}, "reason: Field required"),
        ("conversation_search", {"query": "  "}, "query is empty"),
        ("conversation_search", {"query": "x", "since": "last week"}, "since is 'last week'"),
        (
            "conversation_search",
            {"query": "x", "since": "2026-02-01", "until": "2026-01-01"},
            "Swap them",
        ),
        ("conversation_search", {"query": "x", "limit": "many"}, "limit: .*valid integer"),
        ("core_memory_append", {"block": "pets", "content": "x"}, "block: .*'persona'"),
        ("core_memory_append", {"block": "human", "content": " "}, "content is empty"),
        ("core_memory_append", {"block": "human", "content": "x" * 2001}, "2000 characters"),
        (
            "core_memory_replace",
            {"block": "human", "old_content": "nope", "new_content": "x"},
            "exactly once, it is there 0 times",
        ),
        ("search_memory", {"limit": 3}, "query: Field required"),
        ("search_memory", {"query": "x", "limit": -1}, "limit is -1 .*Use 0 or more"),
        ("search_memory", {"query": "x", "offset": -5}, "offset -5"),
        ("search_memory", {"query": "x", "filter": {"a": {"$nope": 1}}}, "filter is .*or leave it"),
        ("search_memory", {"query": "x", "filter": {"$and": 3}}, "filter is .*non-empty list"),
        ("manage_memory", {"content": "half \ud800"}, "half of a surrogate pair"),
        ("manage_memory", {"content": "x", "action": "update"}, "must provide a MEMORY ID"),
        ("core_memory_append", {"block": "human", "content": "\ud800"}, "half of a surrogate pair"),
        ("memory_archive", {"id": "fact", "reason": "\ud800"}, "half of a surrogate pair"),
    ],
)
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_bad_call_gets_an_answer_the_model_can_act_on(
    tmp_path: Path, mode: str, name: str, arguments: dict[str, Any], words: str
) -> None:
    """The run goes on; the answer names the argument and what to do; nothing changes."""
    with open_store("memory_store", tmp_path / "memory.db") as store:
        store.put(ANNA, "fact", {"content": "A fact."})
        graph = (
            StateGraph(MessagesState)
            .add_node(
                "tools", ToolNode(create_memory_tools(("memories", "{user_id}"), tools=TOOLS))
            )
            .add_edge(START, "tools")
            .compile(store=store)
        )
        wanted = {"name": name, "args": arguments, "id": "1", "type": "tool_call"}
        given: Any = {"messages": [AIMessage("", tool_calls=[wanted])]}
        config: Any = {"configurable": {"user_id": "anna"}}
        awaited = mode == "async"
        state = (
            asyncio.run(graph.ainvoke(given, config)) if awaited else graph.invoke(given, config)
        )
        answer = state["messages"][-1]
        assert answer.status == "error"
        assert re.search(words, answer.text), answer.text
        assert [item.value for item in store.search(())] == [{"content": "A fact."}]


def test_a_nearly_full_block_asks_to_be_rewritten(call: Call) -> None:
    """From 90 % on, the answer tells the model to rewrite the block shorter."""
    assert "nearly full" not in call("core_memory_append", block="task", content="x" * 1700).text
    assert "core_memory_rethink" in call("core_memory_append", block="task", content="y" * 200).text


class Unsearchable(InMemoryStore):
    """Finds nothing, as a store too large to be looked through."""

    def search(self, *arguments: Any, **options: Any) -> list[SearchItem]:
        return []


def test_the_state_is_asked_for_by_a_type() -> None:
    """Not by a type's name: langchain-core 1.2 would not hand it over."""
    tool = create_get_memory_tool(("memories",))
    assert tool.func is not None
    assert inspect.signature(tool.func).parameters["state"].annotation == State


def test_what_the_block_shows_is_found_without_a_search() -> None:
    """A short id that the state knows is looked up there, however many memories there are; a state
    that names a place outside the run's namespace opens nothing."""
    store, bert = Unsearchable(), ("memories", "bert")
    for namespace in (ANNA, bert):
        store.put(namespace, "dog", {"content": f"A dog of {namespace[1]}."})
    recalled = [{"namespace": [*namespace], "key": "dog"} for namespace in (ANNA, bert)]
    find = create_get_memory_tool(("memories", "{user_id}"))
    graph = (
        StateGraph(MemoryState)
        .add_node("tools", ToolNode([find]))
        .add_edge(START, "tools")
        .compile(store=store)
    )

    def ask(namespace: Namespace) -> str:
        message = tool_call("get_memory", id=f"R:{note_id(namespace, 'dog')}")
        config: Any = {"configurable": {"user_id": "anna"}}
        state: Any = {"messages": [message], "recalled": recalled}
        return str(graph.invoke(state, config)["messages"][-1].text)

    assert "A dog of anna." in ask(ANNA)
    assert "There is no memory" in ask(bert)


def test_an_archived_memory_does_not_come_up_again(store: BaseStore, call: Call) -> None:
    """Neither recall nor search_memory shows it; by its key it can still be read."""
    store.put(ANNA, "bike", {"content": "The bicycle is red."})
    call("memory_archive", id="bike", reason="sold")
    assert "red" not in call("search_memory", query="bicycle").text
    assert "red" in call("get_memory", id="bike").text


# What only a MemoryStore knows of its memories.


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "own.db") as opened:
        yield opened


def answer(store: BaseStore, name: str, **arguments: Any) -> ToolMessage:
    """A tool called directly, in Anna's run."""
    tools = {tool.name: tool for tool in create_memory_tools(ANNA, tools=TOOLS, store=store)}
    call = {"name": name, "args": arguments, "id": "1", "type": "tool_call"}
    config: Any = {"configurable": {"user_id": "anna"}}
    found = tools[name].invoke(call, config)
    assert isinstance(found, ToolMessage)
    return found


def reflect(store: MemoryStore, run: str, *changes: Change) -> None:
    store.changes.apply(
        ChangeSet(namespace=ANNA, run_id=run, kind="reflection", reason="a talk", changes=changes)
    )


def test_a_derived_fact_shows_its_evidence_and_where_it_was_said(memory: MemoryStore) -> None:
    """A fact is read with its turns, and its timeline is theirs; another person's private turn and
    a summary of the thread are not in it."""
    remember(memory, "Hello.", "I moved to Linz.", "It is lovely here.")
    party = [HumanMessage("Her party is a surprise.", id="p")]
    [private] = memory.remember(ANNA, party, thread_id="t1", owner="bert", privacy="private")
    summary = {"text": "She told of her move.", "thread_id": "t1"}
    reflect(
        memory,
        "r1",
        AddMemory(key="fact", value={"text": "Lives in Linz."}, evidence=("t1/t1-1", private)),
        AddMemory(key="summary", value=summary, evidence=("t1/t1-0",)),
    )
    lines = answer(memory, "get_memory", id="fact").text.splitlines()
    assert "Lives in Linz." in lines[1]
    assert [line.split(": ", 1)[1] for line in lines[2:]] == ["I moved to Linz."]
    assert lines[2].startswith("from [R:")
    for key, place in (("fact", 1), ("summary", 0)):
        turns = answer(memory, "memory_timeline", id=key).text.splitlines()
        assert [turn.startswith(">") for turn in turns] == [at == place for at in range(3)]


def test_a_fact_is_shown_with_the_day_it_became_true(memory: MemoryStore) -> None:
    """A memory is read with the facets that the store keeps beside its value."""
    since = Facets(valid_at=datetime(2024, 3, 1, tzinfo=UTC))
    reflect(memory, "r1", AddMemory(key="f", value={"text": "Lives in Linz."}, facets=since))
    assert "2024-03-01" in answer(memory, "get_memory", id="f").text.splitlines()[0]


def test_what_is_not_in_force_takes_no_place_in_a_search(store: BaseStore, call: Call) -> None:
    """However many archived memories meet a query better, a search answers with as many of the others
    as it was asked for, on its second page as well."""
    for number in range(30):
        value = {"content": f"Anna's bicycle number {number}", "status": "archived"}
        store.put(ANNA, f"old-{number}", value)
    for number in range(4):
        store.put(ANNA, f"new-{number}", {"content": f"a red bell from shop {number}"})
    found: list[str] = []
    for offset in (0, 2):
        query = {"query": "Anna's bicycle number", "limit": 2, "offset": offset}
        found += str(call("search_memory", **query).content).splitlines()
    assert sorted(line[-1] for line in found) == ["0", "1", "2", "3"]


def test_ten_memories_take_four_hundred_tokens(store: BaseStore, call: Call) -> None:
    """A search answers with a short line for each memory, however long it is: the part that fits."""
    for number in range(12):
        text = f"{'Anna went to the market. ' * 30} The bicycle number {number} is red. {'Rain. ' * 30}"
        store.put(ANNA, f"long-{number}", {"content": text})
    told = call("search_memory", query="Which bicycle number is red?").text
    assert len(told.splitlines()) == 10
    assert told.count("bicycle number") == 10
    assert len(told) / 3.6 <= 400


def test_a_superseded_fact_does_not_come_up_in_a_search(memory: MemoryStore) -> None:
    """search_memory answers with what is in force, also where only the store knows that something
    is not; the same awaited."""
    memory.put(ANNA, "old", {"content": "Anna lives in Graz."})
    memory.put(ANNA, "new", {"content": "Anna lives in Linz."})
    reflect(memory, "r1", Supersede(key="old", by="new", invalid_at=datetime.now(UTC)))
    search = create_search_memory_tool(ANNA, store=memory)
    config: Any = {"configurable": {"user_id": "anna"}}
    found = search.invoke({"query": "where Anna lives"}, config)
    assert [item["key"] for item in json.loads(found)] == ["new"]
    assert asyncio.run(search.ainvoke({"query": "where Anna lives"}, config)) == found


@pytest.mark.parametrize("name", ["memory_store", "in_memory"])
def test_an_ambiguous_id_is_never_guessed(tmp_path: Path, name: StoreName) -> None:
    """The answer lists both memories by longer ids, either of which is understood."""
    one, other = twins(ANNA)
    with open_store(name, tmp_path / "memory.db") as store:
        store.put(ANNA, one, {"content": "The cello is old."})
        store.put(ANNA, other, {"content": "The viola is new."})
        refused = answer(store, "get_memory", id=f"R:{note_id(ANNA, one)}")
        assert refused.status == "error"
        first, *lines = refused.text.splitlines()
        assert "may mean 2 memories" in first
        for line in lines:
            text = line.partition("] ")[2]
            assert text in answer(store, "get_memory", id=line[: line.index("]") + 1]).text
        assert sorted(line.partition("] ")[2] for line in lines) == [
            "The cello is old.",
            "The viola is new.",
        ]


def test_a_short_id_from_any_search_is_found(
    memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The id of a line that conversation_search showed opens its memory without a look through
    the others."""
    remember(memory, *(f"Turn {n} about apricots." for n in range(30)))
    line = answer(memory, "conversation_search", query="apricots", limit=1).text
    monkeypatch.setattr(MemoryStore, "search", None)
    monkeypatch.setattr(ViewerStore, "search", None)
    read = answer(memory, "get_memory", id=line[: line.index("]") + 1]).text
    assert line.partition(": ")[2] in read


def test_a_turn_too_far_back_has_no_timeline(
    memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a conversation longer than is looked through, the tool says what to do instead."""
    remember(memory, *(f"Turn {n}." for n in range(5)))
    monkeypatch.setattr("langmemory.nodes.lookup.SCAN", 2)
    refused = answer(memory, "memory_timeline", id="t1/t1-0")
    assert refused.status == "error"
    assert "conversation_search" in refused.text


PERSONA = [
    ("Hi, I moved from Porto to Lisbon last week.", "moved from Porto to Lisbon", False),
    ("I'm allergic to cashews.", "Lena has an allergy to cashews", False),
    ("Ich arbeite als Tierärztin in Kiel.", "Tierärztin in Kiel", False),
    ("I want you to be brief with me.", "Brief.", True),
    ("From now on your name is Max.", "My name is Max.", True),
    ("What could I cook tonight?", "Friendly, fond of puns.", True),
]


@pytest.mark.parametrize(("said", "line", "stands"), PERSONA)
def test_nothing_of_a_person_stands_in_the_persona(said: str, line: str, stands: bool) -> None:
    """What somebody says of themselves, to nobody, is refused there, and the model told where it belongs."""
    model = ScriptedModel(script=[tool_call("core_memory_append", block="persona", content=line)])
    with MemoryStore(":memory:") as store:
        graph = build_chat_graph(model, tools=["core_memory_append"], store=store)
        config: Any = {"configurable": {"user_id": "lena", "thread_id": "t"}}
        graph.invoke({"messages": [("user", said)]}, config)
        [result] = [one for one in model.prompts[-1] if isinstance(one, ToolMessage)]
        assert (result.status, "'human'" in result.text) == (
            ("success", False) if stands else ("error", True)
        )
        assert (store.get(("memories", "lena", "core"), "persona") is not None) == stands
