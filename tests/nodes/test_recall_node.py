"""RecallNode: what it asks, what it keeps within a topic, and what it writes into state."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langmemory.changes import AddMemory, ChangeSet, Facets, SetStatus, UpdateMemory
from langmemory.context import mark_injected, note_id
from langmemory.errors import ConfigError
from langmemory.nodes import MemoryState, RecallNode
from langmemory.nodes.access import Conversation, StoreAccess
from langmemory.nodes.core_memory import CoreMemory
from langmemory.nodes.recall import query_of
from langmemory.stores import MemoryStore
from tests.stores_in_use import open_store

ANNA = ("memories", "anna")
CONFIG: Any = {"configurable": {"user_id": "anna", "thread_id": "t9"}}


class Compass(Embeddings):
    """Texts about the dog point north, all others east."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "dog" in text.lower() else [0.0, 1.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class Broken(Embeddings):
    """Works for stored texts, and fails for the two that are compared."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if len(texts) == 2:
            raise ConnectionError("refused")
        return [[1.0, 0.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0]


def in_memory(embeddings: Embeddings) -> InMemoryStore:
    return InMemoryStore(index={"dims": 2, "embed": embeddings, "fields": ["content"]})


def by_words(embeddings: Embeddings) -> InMemoryStore:
    """Finds what shares a word with the query, and knows how far two topics are apart."""
    store = InMemoryStore()
    store.embeddings = embeddings
    return store


@pytest.fixture(params=["in_memory", "memory_store"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    with open_store(request.param, tmp_path / "memory.db") as opened:
        yield opened


def ask(node: RecallNode, text: str, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """One turn after `before`: the state as LangGraph would have it."""
    state = dict(before or {})
    messages = [*state.get("messages", []), HumanMessage(text, id=f"m{len(state)}-{text}")]
    state["messages"] = messages
    return {**state, **node.invoke(state, CONFIG)}


def keys(state: dict[str, Any]) -> list[str]:
    return [entry["key"] for entry in state["recalled"]]


def test_a_topic_keeps_its_memories_and_a_shift_starts_anew() -> None:
    """Within a topic what was recalled stays, each memory once; far from it the block is new, and
    the state says how far."""
    store = by_words(Compass())
    node = RecallNode(store=store, limit=2)
    store.put(ANNA, "dog-name", {"content": "The dog is called Bello."})
    store.put(ANNA, "dog-food", {"content": "Fish is what dogs eat."})
    store.put(ANNA, "tax", {"content": "The tax declaration waits until May."})
    first = ask(node, "Tell me all that you know about my dog")
    assert keys(first) == ["dog-name"]

    same = ask(node, "What do dogs eat when hungry?", first)
    assert keys(same) == ["dog-food", "dog-name"]
    assert same["recall_trace"]["topic_shift"] is False
    assert same["recall_trace"]["topic"] == first["recall_trace"]["topic"]
    assert keys(ask(node, "And what else do dogs like to do?", same)) == keys(same)

    other = ask(node, "Where do I have to hand in my tax declaration?", same)
    assert keys(other) == ["tax"]
    assert other["recall_trace"]["topic_shift"] is True
    assert other["recall_trace"]["topic_distance"] == 1.0
    assert other["recall_trace"]["kept_from_before"] == 0


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_what_was_recalled_stays_only_while_it_stands(store: BaseStore, call: str) -> None:
    """Within a topic, too, a memory that was deleted, archived or changed since, or that is not for
    whoever asks now, is no longer shown: a thread may be shared by several people."""
    shared = RecallNode(("memories", "home"), store=store, min_score=None)
    own = RecallNode(store=store, min_score=None)
    home, text = ("memories", "home"), "Noor gets a kite for her birthday."
    gift = {"content": text, "privacy": "private", "owner": "anna"}
    question = "What does Noor get for her birthday, a kite?"

    async def shown(node: RecallNode, before: dict[str, Any] | None, user: str) -> dict[str, Any]:
        config: Any = {"configurable": {"user_id": user, "thread_id": "t9"}}
        state = {**(before or {}), "messages": [HumanMessage(question, id=f"of-{user}")]}
        update = (
            await node.ainvoke(state, config) if call == "async" else node.invoke(state, config)
        )
        return {**state, **update}

    store.put(home, "gift", gift)
    store.put(ANNA, "gift", gift)
    for node in (shared, own):
        seen = await shown(node, None, "anna")
        assert keys(seen) == ["gift"]
        assert text in (await shown(node, seen, "anna"))["memory_block"]["text"]
        for other in ("noor", "bert"):
            later = await shown(node, seen, other)
            assert later["recall_trace"]["topic_shift"] is False
            assert keys(later) == []
            assert "kite" not in later["memory_block"]["text"]

    seen = await shown(own, None, "anna")
    store.put(ANNA, "gift", {"content": "Noor gets a book.", "owner": "anna"})
    texts = [entry["text"] for entry in (await shown(own, seen, "anna"))["recalled"]]
    assert texts == ["Noor gets a book."]
    seen = await shown(own, None, "anna")
    store.put(ANNA, "gift", {"content": "Noor gets a book.", "status": "archived"})
    assert keys(await shown(own, seen, "anna")) == []
    store.put(ANNA, "gift", {**gift, "status": "active"})
    seen = await shown(own, None, "anna")
    store.delete(ANNA, "gift")
    assert keys(seen) == ["gift"]
    assert keys(await shown(own, seen, "anna")) == []


def test_an_embedder_that_fails_costs_the_topic_and_nothing_else() -> None:
    """Recall goes on when the topics cannot be compared; every turn is then a fresh recall."""
    store = in_memory(Broken())
    store.put(ANNA, "k", {"content": "A fact."})
    node = RecallNode(store=store, min_score=None)
    state = ask(node, "Second question about it", ask(node, "First question about it"))
    assert keys(state) == ["k"]
    assert state["recall_trace"]["topic_distance"] is None
    assert state["recall_trace"]["topic_shift"] is True


async def test_sync_and_async_write_the_same(store: BaseStore) -> None:
    """`invoke` and `ainvoke` are one body."""
    turns = [HumanMessage("My dog is called Bello.", id="1"), AIMessage("Nice.", id="2")]
    StoreAccess(store).remember(Conversation(namespace=ANNA, thread_id="t1"), turns)
    CoreMemory(store, ANNA).append("human", "Name: Anna")
    node = RecallNode(store=store)
    state = {"messages": [HumanMessage("What is my dog called?", id="3")]}
    updates = [node.invoke(state, CONFIG), await node.ainvoke(state, CONFIG)]
    for update in updates:
        update["recall_trace"].pop("milliseconds")
    assert updates[0] == updates[1]
    assert "Bello" in updates[0]["memory_block"]["text"]
    assert "| Name: Anna" in updates[0]["core_memory"]


def test_what_is_retired_or_always_shown_is_not_recalled(store: BaseStore) -> None:
    """Memories that are pending, superseded or archived, core blocks and working memory are not
    recalled; a status that is the application's own hides nothing."""
    for status in ("active", "done", "pending", "superseded", "archived"):
        store.put(ANNA, status, {"content": "The dog is called Bello.", "status": status})
    for kind in ("core", "working"):
        store.put(ANNA, kind, {"content": "The dog is called Bello.", "kind": kind})
    CoreMemory(store, ANNA).append("human", "The dog is called Bello.")
    recalled = keys(ask(RecallNode(store=store), "What is the dog called, please?"))
    assert set(recalled) <= {"active", "done"}
    assert recalled


async def test_nothing_is_asked_when_nobody_said_anything(store: BaseStore) -> None:
    """Without a person's words nothing is searched, and what is always shown is there all the same;
    what was recalled before, and its topic, stay as they are."""
    node = RecallNode(store=store)
    picture = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    nothing: list[list[AnyMessage]] = [[], human("  "), [HumanMessage(picture)]]
    store.put(ANNA, "dog", {"content": "The dog is called Bello."})
    for messages in nothing:
        update = await node.ainvoke({"messages": messages}, CONFIG)
        assert update["memory_block"]["text"] == update["core_memory"] == ""
        assert not update["recall_trace"]["topic"]
        assert not update["recall_trace"]["topic_shift"]

    store.put(ANNA, "rule", {"content": "Never swear.", "priority": "mandate"})
    CoreMemory(store, ANNA).append("human", "Name: Anna")
    asked = ask(node, "What is my dog called, please?")
    assert {"dog", "rule"} <= set(keys(asked))
    for messages in nothing:
        update = node.invoke({"messages": messages}, CONFIG)
        assert keys(update) == ["rule"]
        assert "| Name: Anna" in update["core_memory"]
        after = node.invoke({**asked, "messages": messages}, CONFIG)
        assert after["memory_block"]["text"] == asked["memory_block"]["text"]
        assert after["recall_trace"]["topic"] == asked["recall_trace"]["topic"]


def test_items_without_a_vector_do_not_spoil_a_plain_stores_ranking() -> None:
    """A store that lists what it did not index without a score is still ranked by meaning."""
    store = in_memory(Compass())
    store.put(ANNA, "dog", {"content": "The dog is called Bello."})
    store.put(ANNA, "plain", {"content": "my dog my dog my dog"}, index=False)
    state = ask(RecallNode(store=store), "What is the name of my dog?")
    assert keys(state) == ["dog"]
    assert state["recall_trace"]["degraded"] == []


def human(*texts: str) -> list[AnyMessage]:
    return [HumanMessage(text) for text in texts]


@pytest.mark.parametrize(
    ("messages", "query"),
    [
        (human("Where did we go last summer?"), "Where did we go last summer?"),
        (human("What is my dog called?", "And hers?"), "What is my dog called?\nAnd hers?"),
        (human("One two three four five six", "Seven eight nine ten eleven twelve"),
         "Seven eight nine ten eleven twelve"),
        (human("Anna", "Bello", "Cork", "Delft"), "Bello\nCork\nDelft"),
        ([*human("What is my dog called?"), AIMessage("Bello."), *human("Why?")],
         "What is my dog called?\nWhy?"),
        ([*human("Bello there"), mark_injected(HumanMessage("recalled text"))], "Bello there"),
        (human("What is my dog called?", "Hello there"), ""),
        (human("What is my dog called?", "All good?"), ""),
        (human("Wie heißt mein Hund?", "Und ihrer?"), "Wie heißt mein Hund?\nUnd ihrer?"),
        (human("我的狗叫什么？", "谢谢"), ""),
    ],
)  # fmt: skip
def test_the_query_is_the_last_message_with_context_when_short(
    messages: list[AnyMessage], query: str
) -> None:
    """A short message is read with the ones before it; answers and injected text never count,
    nor does what asks for nothing."""
    assert query_of(messages) == query


speaking: ContextVar[str] = ContextVar("speaking")


class Gate:
    """Counts tokens as the default does, but first waits until the event loop comes round."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.entered = threading.Event()
        self.speakers: list[str] = []

    def __call__(self, messages: Any) -> int:
        self.entered.set()
        assert self.opened.wait(60), "the loop did not come round"
        self.speakers.append(speaking.get("nobody"))
        return count_tokens_approximately(messages)


async def until(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 30)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "own.db") as opened:
        opened.put(ANNA, "dog", {"text": "The dog is called Bello."})
        yield opened


@pytest.mark.parametrize(
    ("asked", "follow_ups"),
    [
        ("Who repairs the boiler?", ["and when", "when?", "why"]),
        ("Wer repariert den Boiler?", ["und wann", "wo", "was"]),
        ("¿Quién repara la caldera?", ["y cuándo", "y cuando", "donde", "por que"]),
        ("Chi ripara la caldaia?", ["e quando", "perche"]),
        ("谁修锅炉?", ["什么时候", "为什么呢"]),
    ],
    ids=["en", "de", "es", "it", "zh"],
)
def test_a_bare_question_word_goes_on_from_the_question_before(
    asked: str, follow_ups: list[str]
) -> None:
    """With its marks or, as people type, without them: it is no idle message."""
    for follow_up in follow_ups:
        messages = [HumanMessage(asked), AIMessage("Joe."), HumanMessage(follow_up)]
        assert query_of(messages) == f"{asked}\n{follow_up}"


async def test_a_recall_does_not_block_the_loop_and_knows_who_called(memory: MemoryStore) -> None:
    """Over a store that answers locally the whole look-up is done in a thread: the loop goes on,
    and context variables, LangGraph's runtime among them, are those of the caller."""
    gate = Gate()
    node = RecallNode(token_counter=gate)
    graph = (
        StateGraph(MemoryState)
        .add_node("recall", node)
        .add_edge(START, "recall")
        .compile(store=memory)  # the node finds it through the runtime
    )
    speaking.set("anna")
    turn = asyncio.create_task(
        graph.ainvoke({"messages": [HumanMessage("What is my dog called?", id="1")]}, CONFIG)
    )
    await until(gate.entered)  # comes round while the node is at work
    gate.opened.set()
    assert keys(await turn) == ["dog"]
    assert set(gate.speakers) == {"anna"}


async def test_a_cancelled_recall_leaves_nothing_behind(memory: MemoryStore) -> None:
    """Cancelling one while it is at work harms neither the store nor the next recall."""
    gate = Gate()
    node = RecallNode(store=memory, token_counter=gate)
    state = {"messages": [HumanMessage("What is my dog called?", id="1")]}
    turn = asyncio.create_task(node.ainvoke(state, CONFIG))
    await until(gate.entered)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    gate.opened.set()
    assert keys(await node.ainvoke(state, CONFIG)) == ["dog"]


class Waiting(Embeddings):
    """Answers queries when it was asked for, and core memory and mandates have been read."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.read = asyncio.Event()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, float("dog" in text)] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    async def aembed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        await asyncio.wait_for(self.read.wait(), 60)
        return self.embed_query(text)


async def test_a_model_behind_a_network_is_asked_once_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where recall has to wait for an embedder, core memory is read meanwhile, and the distance of
    the topics takes no further call."""
    model = Waiting()
    read = CoreMemory.ablocks

    async def ablocks(core: CoreMemory) -> Any:
        found = await read(core)
        model.read.set()
        return found

    monkeypatch.setattr(CoreMemory, "ablocks", ablocks)
    with MemoryStore(tmp_path / "own.db", index={"dims": 2, "embed": model}) as store:
        node = RecallNode(store=store)
        first: Any = {"messages": [HumanMessage("What do I say of my little dog", id="1")]}
        state = first | await node.ainvoke(first, CONFIG)
        assert state["recall_trace"]["topic_distance"] is None
        state["messages"] = [HumanMessage("And what about the cat of my sister?", id="2")]
        after = await node.ainvoke(state, CONFIG)
        assert after["recall_trace"]["topic_distance"] == pytest.approx(0.293, abs=1e-3)
        assert model.queries == [first["messages"][0].text, state["messages"][0].text]


def test_what_is_for_searching_only_takes_nobodys_place(memory: MemoryStore) -> None:
    """A memory of priority ``archive`` is in no block, and not counted among those behind it."""
    for number in range(3):
        value = {"text": f"A summary of what was said of the dog, number {number}."}
        memory.put(ANNA, f"summary-{number}", {**value, "priority": "archive"})
    state = ask(RecallNode(store=memory), "What was said of the dog called Bello?")
    assert keys(state) == ["dog"]
    assert state["recall_trace"]["recalled_now"] == 1


def test_the_turn_of_a_demoted_fact_is_still_shown(tmp_path: Path) -> None:
    """A fact stands for the turn that it rests on. Once it is demoted, the turn is in the block instead."""
    with MemoryStore(tmp_path / "memory.db") as store:
        said = HumanMessage("I moved to Graz with my dog last spring", id="said")
        [turn] = store.remember(ANNA, [said], thread_id="t1")
        text = "Anna moved to Graz with her dog last spring."
        formed = AddMemory(
            key="fact", value={"text": text}, facets=Facets(kind="semantic"), evidence=(turn,)
        )
        demoted = UpdateMemory(key="fact", facets=Facets(priority="archive"))
        for run, change, shown in (("r1", formed, "fact"), ("r2", demoted, turn)):
            store.changes.apply(
                ChangeSet(
                    namespace=ANNA, run_id=run, kind="maintenance", reason="", changes=(change,)
                )
            )
            state = ask(RecallNode(store=store), "Who moved to Graz with a dog?")
            assert keys(state) == [shown]


def test_a_mandate_by_facet_is_shown_and_a_retired_one_is_not(memory: MemoryStore) -> None:
    """A mandate of a change set is always in the block; an archived one never is."""
    memory.put(ANNA, "old-rule", {"text": "Always whisper.", "priority": "mandate"})
    rule = AddMemory(
        key="rule", value={"text": "Never mention peanuts."}, facets=Facets(priority="mandate")
    )
    changes = (rule, SetStatus(key="old-rule", status="archived"))
    memory.changes.apply(
        ChangeSet(namespace=ANNA, run_id="r1", kind="correction", reason="asked", changes=changes)
    )
    state = ask(RecallNode(store=memory), "What is the weather like in Graz today?")
    labels = [entry["label"] for entry in state["memory_block"]["entries"]]
    assert labels[0] == f"M:{note_id(ANNA, 'rule')}"
    assert "whisper" not in state["memory_block"]["text"]


def test_documents_are_asked_where_the_store_has_some(memory: MemoryStore) -> None:
    """The block cites the documents of the store's own place, keeps them within a topic, and leaves them out
    where they are not wanted; those of a namespace below are somebody else's."""
    memory.put(ANNA, "dog", {"text": "Anna's dog is called Rex."})
    memory.documents.add(text="# Kennel\n\nThe kennel opens at seven.\n", name="kennel.md")
    secret = "# Kennel\n\nThe kennel of Bo opens at nine.\n"
    memory.documents.add(text=secret, name="bo.md", namespace=("documents", "bo"))
    node, asked = RecallNode(store=memory), "When does the kennel open?"
    state = ask(node, asked)
    assert "kennel.md#L1-L3: # Kennel The kennel opens at seven." in state["memory_block"]["text"]
    assert "nine" not in state["memory_block"]["text"]
    assert state["recall_trace"]["questions"][asked] > 0.5
    again = ask(node, "And when does the kennel close on Mondays?", state)
    assert "opens at seven" in again["memory_block"]["text"]
    without = ask(RecallNode(store=memory, documents=None), asked)
    assert "kennel.md" not in without["memory_block"]["text"]
    named = ask(RecallNode(store=memory, documents=("documents", "{user_id}")), asked)
    assert named["recall_trace"]["questions"] == {}
    both = ask(RecallNode(store=memory, documents=[("documents",), ("documents", "bo")]), asked)
    assert "opens at seven" in both["memory_block"]["text"]
    assert "opens at nine" in both["memory_block"]["text"]


def test_a_part_of_a_document_stays_while_the_topic_stays(memory: MemoryStore) -> None:
    """A message that asks for nothing leaves the recalled parts of documents in the state as it leaves
    memories, until the document changes; those of documents that this run does not ask are dropped."""
    memory.documents.add(text="# Kennel\n\nThe kennel opens at seven.\n", name="kennel.md")
    node = RecallNode(store=memory)
    first = ask(node, "When does the kennel open?")
    assert [entry["namespace"] for entry in first["recalled"]] == [["documents"]]
    thanks = ask(node, "Thank you!", first)
    assert keys(thanks) == keys(first)
    assert thanks["recall_trace"]["kept_from_before"] == 1
    assert keys(ask(RecallNode(store=memory, documents=None), "Thank you!", first)) == []
    memory.documents.add(text="# Kennel\n\nThe kennel opens at nine.\n", name="kennel.md")
    assert keys(ask(node, "Thank you!", first)) == []


def test_a_plain_store_has_no_documents() -> None:
    """By default it is not asked; documents that are named are an error with the next step."""
    store = InMemoryStore()
    assert ask(RecallNode(store=store), "When does the kennel open?")["recalled"] == []
    with pytest.raises(ConfigError, match="InMemoryStore, which keeps none; use a MemoryStore"):
        ask(RecallNode(store=store, documents=("documents",)), "When does it open?")
    with pytest.raises(ConfigError, match="pass a namespace"):
        RecallNode(documents="documents")  # type: ignore[arg-type]


@pytest.mark.parametrize("plain", [False, True])
def test_a_trace_counts_what_the_viewer_may_read(tmp_path: Path, plain: bool) -> None:
    """How many private memories others have shows in no number."""
    counted = []
    for others in (0, 7):
        with MemoryStore(tmp_path / f"{others}.db") as opened:
            store: BaseStore = InMemoryStore() if plain else opened
            for number in range(3):
                store.put(("memories", "ana"), f"k{number}", {"text": f"The dog sleeps {number}"})
            for number in range(others):
                private = {"owner": "bo", "privacy": "private"}
                store.put(
                    ("memories", "ana"), f"p{number}", {"text": f"The dog {number}", **private}
                )
            node = RecallNode(("memories", "ana"), viewer="ana", store=store)
            found = node.invoke({"messages": [HumanMessage("Where does the dog sleep?")]}, {})
            counted.append(found["recall_trace"]["candidates"])
    assert counted[0] == counted[1]
