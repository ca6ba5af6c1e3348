"""create_memory_store_manager and create_memory_manager: LangMem's, by changing the import line."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import langmem
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from langmemory import MemoryStore
from langmemory.context.marking import mark_injected
from langmemory.errors import (
    ConfigError,
    ExtractionError,
    LangMemoryError,
    ModelUnavailableError,
    StalePlanError,
)
from langmemory.parts import langmem as compat
from langmemory.parts.langmem.memory_manager import create_memory_manager
from langmemory.parts.langmem.schemas import Memory, RemoveDoc
from langmemory.parts.langmem.store_manager import MAX_PASSES, create_memory_store_manager
from langmemory.reflection import ReflectionExecutor, Worker
from langmemory.reflection.reflector import check_claim, performer
from tests.reflection.clock import Clock
from tests.scripted import ScriptedModel

CONFIG: RunnableConfig = {"configurable": {"langgraph_user_id": "anna", "user_id": "anna"}}
PLACE = ("memories", "anna")


class UserProfile(BaseModel):
    """The user."""

    name: str | None = None
    language: str | None = None


class Triple(BaseModel):
    subject: str
    predicate: str
    object: str
    context: str | None = None


def changes(*entries: dict[str, Any]) -> str:
    return json.dumps({"changes": list(entries)})


def insert(content: Any, kind: str = "Memory", **more: Any) -> dict[str, Any]:
    return {"action": "insert", "kind": kind, "content": content, **more}


def update(id: str, content: Any, kind: str = "Memory") -> dict[str, Any]:
    return {"action": "update", "id": id, "kind": kind, "content": content}


def says(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


@pytest.fixture(params=["MemoryStore", "InMemoryStore"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    if request.param == "InMemoryStore":
        yield InMemoryStore()
        return
    with MemoryStore(tmp_path / "memory.db") as opened:
        yield opened


def stored(store: BaseStore, place: tuple[str, ...] = PLACE) -> list[dict[str, Any]]:
    return [item.value for item in store.search(place)]


def shown(prompt: list[BaseMessage]) -> str:
    return prompt[-1].text


@pytest.mark.parametrize(
    "name",
    [
        "create_memory_store_manager",
        "create_memory_manager",
        "create_memory_searcher",
        "create_thread_extractor",
    ],
)
def test_the_signatures_are_langmems(name: str) -> None:
    """Every argument of LangMem is taken under its name, with the same default."""
    theirs = inspect.signature(getattr(langmem, name)).parameters
    mine = inspect.signature(getattr(compat, name)).parameters
    assert [(p.name, p.kind) for p in theirs.values()] == [(p.name, p.kind) for p in mine.values()]
    managers = name in ("create_memory_store_manager", "create_memory_manager")
    for p in theirs.values():
        if not managers or p.name not in ("instructions", "schemas"):
            assert mine[p.name].default == p.default


async def test_sentences_are_stored_updated_and_found_again(store: BaseStore) -> None:
    """The default memory is a sentence; the next conversation changes it instead of adding one."""
    model = ScriptedModel(
        script=[
            changes(insert({"content": "Anna prefers dark mode"}), insert("Anna has a dog")),
            changes(update("m1", {"content": "Anna prefers light mode"})),
        ]
    )
    manager = create_memory_store_manager(model, store=store)
    first = manager.invoke(says("I prefer dark mode, my dog likes it"), CONFIG)
    assert [put["value"] for put in first] == [
        {"kind": "Memory", "content": {"content": "Anna prefers dark mode"}},
        {"kind": "Memory", "content": {"content": "Anna has a dog"}},
    ]
    assert {put["namespace"] for put in first} == {PLACE}
    assert sorted(map(str, stored(store))) == sorted(str(put["value"]) for put in first)

    second = await manager.ainvoke(says("Dark mode hurts my eyes, light it is"), CONFIG)
    assert [m for m in shown(model.prompts[1]).splitlines() if m.startswith("[m")] == [
        "[m1] Memory",
        "[m2] Memory",
    ]
    (changed,) = second
    known = {item.key: item.value for item in store.search(PLACE)}
    assert len(known) == 2
    assert known[changed["key"]]["content"] == {"content": "Anna prefers light mode"}
    assert len(model.prompts) == 2


def test_a_profile_is_one_memory_that_grows(store: BaseStore) -> None:
    """With enable_inserts=False the first memory is made, and every later change completes it."""
    model = ScriptedModel(
        script=[
            changes(insert({"name": "Alice"}, "UserProfile")),
            changes(update("m1", {"name": None, "language": "Spanish"}, "UserProfile")),
            changes(insert({"name": "Bob"}, "UserProfile")),
            changes(),
        ]
    )
    manager = create_memory_store_manager(
        model,
        namespace=("users", "{user_id}", "profile"),
        schemas=[UserProfile],
        enable_inserts=False,
        store=store,
    )
    for text in ("I'm Alice", "Hablo español", "Bob says hi"):
        manager.invoke(says(text), CONFIG)
    assert stored(store, ("users", "anna")) == [
        {"kind": "UserProfile", "content": {"name": "Alice", "language": "Spanish"}}
    ]
    assert "only these actions are possible: update" in shown(model.prompts[3])


async def test_within_a_graph_store_and_namespace_come_from_the_run(store: BaseStore) -> None:
    """As in LangMem's guides: the manager is made without a store and called without a config."""
    model = ScriptedModel(otherwise=changes(insert({"content": "Anna likes tea"})))
    manager = create_memory_store_manager(model, namespace=("chat", "{user_id}"))

    @entrypoint(store=store)
    def app(text: str) -> Any:
        manager.invoke(says(text))
        return [item.value for item in manager.search(query="tea")]

    @entrypoint(store=store)
    async def async_app(text: str) -> Any:
        await manager.ainvoke(says(text))
        return [item.value for item in await manager.asearch(query="tea")]

    (found,) = app.invoke("I like tea", CONFIG)
    assert found.content == "Anna likes tea"
    assert len(await async_app.ainvoke("I like tea", CONFIG)) == 2
    with pytest.raises(ConfigError, match="has no store"):
        manager.invoke(says("Hi"), CONFIG)
    with pytest.raises(ConfigError, match="user_id"):
        app.invoke("I like tea", {"configurable": {}})


@pytest.mark.parametrize("permitted", [True, False])
def test_deletes_happen_only_where_they_are_permitted(store: BaseStore, permitted: bool) -> None:
    """A model may remove what became wrong if the application said so, and is told if not."""
    remove = changes({"action": "delete", "id": "m1"})
    model = ScriptedModel(
        script=[changes(insert({"content": "Anna works at Initech"})), remove, changes()]
    )
    manager = create_memory_store_manager(model, store=store, enable_deletes=permitted)
    manager.invoke(says("I work at Initech"), CONFIG)
    assert manager.invoke(says("Forget that"), CONFIG) == []
    assert len(stored(store)) == (0 if permitted else 1)
    assert len(model.prompts) == (2 if permitted else 3)


async def test_what_a_pass_deletes_comes_back_when_it_is_undone(tmp_path: Path) -> None:
    """A pass that deletes is a run, with what it writes beside it, sync and async; its undo brings the
    memory back with its times and whatever an application keeps in it, until it is forgotten."""
    entries = ({"action": "delete", "id": "m1"}, insert({"content": "Anna lives in Rome"}))
    model = ScriptedModel(script=[changes(*entries), changes({"action": "delete", "id": "m1"})])
    with MemoryStore(tmp_path / "memory.db") as store:
        value = {"kind": "Memory", "content": {"content": "Anna lives in Bonn"}, "source": "form 7"}
        store.put(PLACE, "home", value, ttl=600)
        before = store.get(PLACE, "home", refresh_ttl=False)
        manager = create_memory_store_manager(model, store=store, enable_deletes=True)
        manager.invoke(says("I left Bonn for Rome"), CONFIG)
        [run] = store.changes.runs(PLACE)
        [rome] = stored(store)
        assert (store.get(PLACE, "home"), rome["content"]) == (
            None,
            {"content": "Anna lives in Rome"},
        )
        store.changes.undo(run.id)
        assert store.get(PLACE, "home", refresh_ttl=False) == before
        assert stored(store) == [value]
        await manager.ainvoke(says("Forget that"), CONFIG)
        assert stored(store) == []
        store.changes.undo(store.changes.runs(PLACE)[0].id)
        assert stored(store) == [value]


def test_a_pass_over_a_memory_store_can_be_undone(tmp_path: Path) -> None:
    """Each pass is a run with its history, and `undo` takes it back."""
    model = ScriptedModel(
        script=[
            changes(insert({"content": "Anna lives in Bonn"})),
            changes(update("m1", {"content": "Anna lives in Rome"})),
        ]
    )
    with MemoryStore(tmp_path / "memory.db") as store:
        manager = create_memory_store_manager(model, store=store)
        manager.invoke(says("I live in Bonn"), CONFIG)
        manager.invoke(says("I live in Rome"), CONFIG)
        newest, oldest = store.changes.runs(PLACE)
        assert (newest.kind, newest.reason) == ("reflection", "memory manager")
        store.changes.undo(newest.id)
        assert [v["content"]["content"] for v in stored(store)] == ["Anna lives in Bonn"]
        store.changes.undo(oldest.id)
        assert stored(store) == []


def test_other_items_of_the_namespace_are_left_alone(tmp_path: Path) -> None:
    """Turns and facts that lie beside the memories are neither shown to the model nor changed."""
    model = ScriptedModel(otherwise=changes())
    with MemoryStore(tmp_path / "memory.db") as store:
        store.remember(PLACE, [HumanMessage("I like jam", id="1")], thread_id="t")
        store.put(PLACE, "note", {"text": "jam"})
        store.put(PLACE, "of that name", {"kind": "Memory", "text": "jam"})
        create_memory_store_manager(model, store=store).invoke(says("jam"), CONFIG)
        assert "(none yet)" in shown(model.prompts[0])
        assert len(store.search(PLACE)) == 3


async def test_a_query_model_finds_what_the_last_message_does_not(store: BaseStore) -> None:
    """Its queries are used for the search, in one call more."""
    queries = ScriptedModel(otherwise='{"queries": ["Anna\'s diet", "", 3]}')
    model = ScriptedModel(script=[changes(insert({"content": "Anna eats no meat"})), changes()])
    manager = create_memory_store_manager(model, store=store, query_model=queries, query_limit=10)
    await manager.ainvoke(says("I eat no meat"), CONFIG)
    manager.invoke(says("Steak please"), CONFIG)
    assert len(queries.prompts) == 2
    assert "Steak please" in shown(queries.prompts[1])


@pytest.mark.parametrize(
    "options",
    [
        {"default": "The user likes light mode"},
        {"default_factory": lambda config: f"The user is {config['configurable']['user_id']}"},
        {"default": UserProfile(name="Anna"), "schemas": [UserProfile]},
        {"default": {"name": "Anna"}, "schemas": [UserProfile]},
    ],
)
async def test_a_default_is_there_before_anything_was_said(
    store: BaseStore, options: dict[str, Any]
) -> None:
    """It is what get and search give, and the memory that the first conversation changes."""
    model = ScriptedModel(otherwise=changes())
    manager = create_memory_store_manager(model, store=store, **options)
    (found,) = manager.search(config=CONFIG)
    got = await manager.aget("default", config=CONFIG)
    assert got is not None
    assert (found.key, found.value) == ("default", got.value)
    assert store.search(PLACE) == []
    manager.invoke(says("Hello"), CONFIG)
    assert "[m1]" in shown(model.prompts[0])
    (item,) = store.search(PLACE)
    assert item.value["content"] == got.value.model_dump()
    manager.delete("default", config=CONFIG)
    manager.put("x", {"kind": "Other", "content": 1}, config=CONFIG)
    assert [each.value for each in await manager.asearch(config=CONFIG)] == [
        {"kind": "Other", "content": 1}
    ]


async def test_reading_by_hand_leaves_the_store_as_it_is(store: BaseStore) -> None:
    """Also where a store hands out the items it keeps, as InMemoryStore does: get and search give
    instances of the schema, time after time, which are JSON in an item's dict, and the store its plain
    value."""
    manager = create_memory_store_manager(ScriptedModel(), store=store)
    value = {"kind": "Memory", "content": {"content": "Likes tea"}}
    manager.put("tea", value, config=CONFIG)
    for _ in range(2):
        items = [
            manager.get("tea", config=CONFIG),
            await manager.aget("tea", config=CONFIG),
            *manager.search(config=CONFIG),
        ]
        assert [item.value for item in items if item] == [Memory(content="Likes tea")] * 3
        plain = [json.loads(json.dumps(item.dict()))["value"] for item in items if item]
        assert plain == [{"content": "Likes tea"}] * 3
    item = store.get(PLACE, "tea")
    assert item is not None
    assert item.value == value


def test_phases_are_further_passes(store: BaseStore) -> None:
    """A phase sees the memories as they are by then, and the conversation only if it asks for it."""
    model = ScriptedModel(
        script=[
            changes(insert({"content": "Anna likes tea"}), insert({"content": "Anna loves tea"})),
            changes({"action": "delete", "id": "m2"}, update("m1", {"content": "Anna loves tea"})),
        ]
    )
    manager = create_memory_store_manager(
        model, store=store, phases=[{"instructions": "Consolidate."}]
    )
    manager.invoke(says("I love tea"), CONFIG)
    assert "I love tea" not in shown(model.prompts[1])
    assert model.prompts[1][0].text.count("Consolidate.") == 1
    assert stored(store) == [{"kind": "Memory", "content": {"content": "Anna loves tea"}}]


def test_nothing_is_stored_when_the_model_fails(store: BaseStore) -> None:
    """Bad answers and outages are errors that leave the store as it was."""
    wrong = changes(insert({"subject": "Anna"}, "Triple"))
    for script, error in (
        ([wrong, wrong], ExtractionError),
        (["I cannot", "I cannot"], ExtractionError),
        ([ConnectionError("gone")], ModelUnavailableError),
    ):
        model = ScriptedModel(script=script)
        manager = create_memory_store_manager(model, schemas=[Triple], store=store)
        with pytest.raises(error):
            manager.invoke(says("Anna manages Bob"), CONFIG)
    assert store.search(()) == []


def test_injected_memories_and_system_prompts_are_not_read() -> None:
    """The manager learns nothing from text that langmemory put into the conversation."""
    model = ScriptedModel(otherwise=changes())
    messages = [
        SystemMessage("Be kind."),
        mark_injected(HumanMessage("Anna hates jam")),
        HumanMessage("<b> I like jam\n[m1] Memory"),
    ]
    create_memory_manager(model).invoke({"messages": messages})
    text = shown(model.prompts[0])
    assert "Be kind" not in text
    assert "hates" not in text
    assert "| &lt;b> I like jam\n| [m1] Memory" in text


async def test_without_a_store_memories_are_handed_back() -> None:
    """create_memory_manager: new ones, changed ones, removals and those that stay, with their ids."""
    model = ScriptedModel(
        script=[
            changes(
                insert({"subject": "Alice", "predicate": "manages", "object": "ML"}, "Triple"),
                insert({"subject": "Bob", "predicate": "is in", "object": "ML"}, "Triple"),
                insert({"subject": "Bob", "predicate": "likes", "object": "tea"}, "Triple"),
            ),
            changes(
                {"action": "delete", "id": "m1"},
                update("m2", {"predicate": "leads"}, "Triple"),
                insert({"subject": "Bob", "predicate": "leads", "object": "<NLP>"}, "Triple"),
            ),
        ]
    )
    manager = create_memory_manager(model, schemas=[Triple], enable_deletes=True)
    first = manager.invoke(says("Alice manages the ML team, Bob is in it and likes tea."))
    alice, bob, tea = first
    after = await manager(says("Bob now leads ML.")["messages"], first)
    assert [memory.id for memory in after if memory.id in (alice.id, bob.id, tea.id)] == [
        bob.id,
        alice.id,
        tea.id,
    ]
    by_id = {memory.id: memory.content for memory in after}
    assert by_id[bob.id] == Triple(subject="Bob", predicate="leads", object="ML")
    assert by_id[alice.id] == RemoveDoc(json_doc_id=alice.id)
    assert by_id[tea.id] is tea.content
    assert len(after) == 4


def test_existing_memories_come_in_every_form_of_langmem() -> None:
    """Strings, pairs and triples are taken; an unchanged one is handed back as it was."""
    model = ScriptedModel(otherwise=changes(update("m1", {"content": "x y"})))
    for existing in (["old"], [("1", {"content": "old"})], [("1", "Memory", {"content": "old"})]):
        (memory,) = create_memory_manager(model).invoke({**says("x"), "existing": existing})
        assert memory.content.content == "x y"
    silent = create_memory_manager(ScriptedModel(otherwise=changes()))
    (memory,) = silent.invoke({**says("x"), "existing": [("1", "Odd", {"a": 1})]})
    assert memory == ("1", {"a": 1})


def test_a_memory_that_is_given_twice_is_one_memory() -> None:
    """As where two searches found it: the model is shown it once, and it is handed back once."""
    model = ScriptedModel(otherwise=changes({"action": "delete", "id": "m1"}))
    found = [("1", "Memory", {"content": "old"})]
    manager = create_memory_manager(model, enable_deletes=True)
    assert manager.invoke({**says("x"), "existing": found * 2}) == [
        ("1", RemoveDoc(json_doc_id="1"))
    ]
    assert shown(model.prompts[0]).count("[m") == 1


def test_half_an_emoji_costs_no_memory(store: BaseStore) -> None:
    """A small model may write half of a surrogate pair: what can be kept of the memory is."""
    model = ScriptedModel(script=[changes(insert("Anna sails \ud83d")), changes()])
    create_memory_store_manager(model, store=store).invoke(says("I sail."), CONFIG)
    assert stored(store) == [{"kind": "Memory", "content": {"content": "Anna sails \ufffd"}}]


def test_max_steps_goes_on_until_nothing_changes() -> None:
    """Each step is one call; it ends early when a step changes nothing."""
    for steps, calls in ((1, 1), (2, 2), (5, 3)):
        model = ScriptedModel(
            script=[changes(insert({"content": "a b"})), changes(update("m1", {"content": "a c"}))],
            otherwise=changes(),
        )
        found = create_memory_manager(model).invoke({**says("x"), "max_steps": steps})
        assert len(model.prompts) == calls
        assert found[0].content.content == ("a b" if steps == 1 else "a c")


def test_what_is_not_supported_says_so() -> None:
    """Wrong arguments are errors when the manager is made, not when it runs."""
    model = ScriptedModel()
    for options in (
        {"schemas": [dict]},
        {"schemas": Triple},
        {"schemas": [Triple, type("Triple", (BaseModel,), {})]},
        {"default": "a", "default_factory": lambda config: "b"},
        {"default": {"nom": 1}, "schemas": [Triple]},
    ):
        with pytest.raises(ConfigError):
            create_memory_store_manager(model, **options)
    with pytest.raises(TypeError):
        create_memory_store_manager(model, unknown=1)  # type: ignore[call-arg]
    for existing in ([3], "Anna likes tea."):
        with pytest.raises(ConfigError, match="string"):
            create_memory_manager(model).invoke({**says("x"), "existing": existing})


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_input_that_is_none_is_named(store: BaseStore, asynchronous: bool) -> None:
    """Messages without the dict around them, or a single one, are told so before any model is asked."""
    model = ScriptedModel()
    managers: tuple[Any, ...] = (
        create_memory_manager(model),
        create_memory_store_manager(model, store=store),
    )
    one = HumanMessage("x")
    for manager in managers:
        for given, words in (([one], "list; pass {"), ({"messages": one}, "pass a list of them")):
            if asynchronous:
                with pytest.raises(LangMemoryError, match=words):
                    await manager.ainvoke(given, CONFIG)
            else:
                with pytest.raises(LangMemoryError, match=words):
                    manager.invoke(given, CONFIG)
    assert model.prompts == []


def test_what_was_removed_is_no_memory_any_more() -> None:
    """The result of one pass can be given to the next as it is."""
    removal = {"action": "delete", "id": "m1"}
    model = ScriptedModel(script=[changes(removal)], otherwise=changes())
    manager = create_memory_manager(model, enable_deletes=True)
    given = [("1", Memory(content="Anna has a cat")), ("2", Memory(content="Anna has a dog"))]
    left = manager.invoke({**says("The cat died."), "existing": given})
    assert [type(one.content) for one in left] == [RemoveDoc, Memory]
    assert manager.invoke({**says("x"), "existing": left}) == [given[1]]
    assert "RemoveDoc" not in shown(model.prompts[-1])


async def test_after_a_run_its_store_can_be_read(store: BaseStore) -> None:
    """As LangMem documents: made without a store and used in a graph, the manager is asked for the
    memories outside of it; another graph's run has its own store all the same."""
    model = ScriptedModel(otherwise=changes(insert({"content": "Anna has a dog"})))
    manager = create_memory_store_manager(model)
    with pytest.raises(ConfigError, match="has no store"):
        manager.search(config=CONFIG)

    def chat(over: BaseStore) -> Any:
        @entrypoint(store=over)
        async def chat(text: str) -> int:
            await manager.ainvoke(says(text))
            return len(manager.search())

        return chat

    assert manager.store is None
    assert await chat(store).ainvoke("I have a dog", CONFIG) == 1
    assert manager.store is store
    assert [item.value.content for item in manager.search(config=CONFIG)] == ["Anna has a dog"]
    assert [item.key for item in await manager.asearch(config=CONFIG)] == [
        item.key for item in store.search(PLACE)
    ]
    other = InMemoryStore()
    assert await chat(other).ainvoke("I have a dog", CONFIG) == 1
    assert len(other.search(PLACE)) == len(store.search(PLACE)) == 1


class Employee(BaseModel):
    name: str
    employer: str | None = None
    city: str | None = None
    hobbies: list[str] = []


ANNA = {"kind": "Employee", "content": {"name": "Anna", "employer": "Initech", "city": "Kiel"}}


def test_two_updates_of_one_memory_both_count(store: BaseStore) -> None:
    """The second is made over the first, not over what was stored."""
    store.put(PLACE, "anna", ANNA)
    model = ScriptedModel(
        script=[
            changes(
                update("m1", {"employer": "Globex"}, "Employee"),
                update("m1", {"city": "Bonn"}, "employee"),
            )
        ]
    )
    create_memory_store_manager(model, schemas=[Employee], store=store).invoke(says("Hi"), CONFIG)
    [found] = stored(store)
    assert (found["content"]["employer"], found["content"]["city"]) == ("Globex", "Bonn")


def test_a_field_can_become_empty(store: BaseStore) -> None:
    """Null takes nothing away, a field named in ``clear`` does; memories without such fields are
    not told of it."""
    store.put(PLACE, "anna", ANNA)
    gone = {**update("m1", {"city": None}, "Employee"), "clear": ["employer"]}
    model = ScriptedModel(script=[changes(gone)])
    create_memory_store_manager(model, schemas=[Employee], store=store).invoke(says("Hi"), CONFIG)
    [found] = stored(store)
    assert (found["content"]["employer"], found["content"]["city"]) == (None, "Kiel")
    assert "clear" in model.prompts[0][0].text
    plain = ScriptedModel(otherwise=changes())
    create_memory_manager(plain).invoke({**says("Hi"), "existing": ["Anna likes tea"]})
    assert "clear" not in plain.prompts[0][0].text


def test_what_an_application_keeps_beside_a_memory_stays(store: BaseStore) -> None:
    """Other fields of an item are no reason to write it, and survive when it is written."""
    value = {"kind": "Memory", "content": {"content": "Anna likes tea"}, "source": "import"}
    store.put(PLACE, "1", value)
    model = ScriptedModel(script=[changes(), changes(update("m1", {"content": "Anna likes rum"}))])
    manager = create_memory_store_manager(model, store=store)
    assert manager.invoke(says("Hi"), CONFIG) == []
    manager.invoke(says("Hi"), CONFIG)
    assert stored(store) == [{**value, "content": {"content": "Anna likes rum"}}]


def test_plain_text_as_content_can_be_changed() -> None:
    """An existing memory may be text without a schema."""
    model = ScriptedModel(otherwise=changes(update("m1", {"content": "Anna likes rum"})))
    [found] = create_memory_manager(model).invoke({**says("Hi"), "existing": [("1", "tea")]})
    assert found.content == Memory(content="Anna likes rum")


def test_an_answer_that_contradicts_itself_is_asked_for_again(store: BaseStore) -> None:
    """A memory that is both updated and deleted is neither; one that is added twice is one."""
    store.put(PLACE, "1", {"kind": "Memory", "content": {"content": "Anna likes tea"}})
    rum, dog = {"content": "Anna likes rum"}, {"content": "Anna has a dog"}
    model = ScriptedModel(
        script=[
            changes({"action": "delete", "id": "m1"}, update("m1", rum)),
            changes(update("m1", rum), insert(dog), insert(dog)),
        ]
    )
    manager = create_memory_store_manager(model, store=store, enable_deletes=True)
    manager.invoke(says("Hi"), CONFIG)
    assert len(model.prompts) == 2
    assert sorted(one["content"]["content"] for one in stored(store)) == [
        "Anna has a dog", "Anna likes rum",
    ]  # fmt: skip


@pytest.mark.parametrize("said", ['{"queries": []}', "I cannot help with that."])
async def test_a_query_model_without_queries_costs_no_memory(store: BaseStore, said: str) -> None:
    """The conversation is the query then: nothing fails, and a profile is not begun anew."""
    move = changes(update("m1", {"city": "Bonn"}, "Employee"))
    manager = create_memory_store_manager(
        ScriptedModel(script=[move, changes(), changes()]),
        schemas=[Employee],
        default=Employee(name="Anna"),
        query_model=ScriptedModel(otherwise=said),
        store=store,
    )
    manager.invoke(says("Hi"), CONFIG)
    manager.invoke(says("Hi"), CONFIG)
    await manager.ainvoke(says("Hi"), CONFIG)
    assert [one["content"]["city"] for one in stored(store)] == ["Bonn"]


def test_what_the_model_writes_is_not_streamed(store: BaseStore) -> None:
    """A chat graph that calls the manager in a node shows its clients none of the manager's JSON."""
    model = ScriptedModel(otherwise=changes(insert({"content": "Anna likes tea"})))
    manager = create_memory_store_manager(model, query_model=model, store=store)

    def remember(state: MessagesState) -> dict[str, Any]:
        manager.invoke({"messages": state["messages"]})
        return {"messages": [AIMessage("Noted.")]}

    graph = StateGraph(MessagesState).add_node(remember).add_edge(START, "remember").compile()
    streamed = graph.stream(says("I like tea"), CONFIG, stream_mode="messages")
    assert [message.text for message, _ in streamed] == ["Noted."]
    assert len(stored(store)) == 1


def test_a_manager_does_the_jobs_that_were_submitted_for_it(tmp_path: Path) -> None:
    """Of two managers on one file, with other schemas or another namespace, each has executors of its
    own: neither does the other's jobs, nor takes their place in the queue."""
    thread: RunnableConfig = {"configurable": {"thread_id": "t"}}
    profile = changes(insert({"name": "Anna"}, "UserProfile"))
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        kinds: list[tuple[Any, tuple[str, ...], str]] = [
            (UserProfile, ("memories", "anna"), profile),
            (Memory, ("memories", "anna"), changes(insert("Anna sails"))),
            (Memory, ("team",), changes(insert("the team sails"))),
        ]
        executors = [
            ReflectionExecutor(
                create_memory_store_manager(
                    ScriptedModel(script=[answer]), schemas=[schema], namespace=place, store=store
                )
            )
            for schema, place, answer in kinds
        ]
        done = [executor.submit(says("hello"), thread, after_seconds=0.2) for executor in executors]
        found = [future.result(10)[0]["value"]["content"] for future in done]
        assert found == [
            {"name": "Anna", "language": None},
            {"content": "Anna sails"},
            {"content": "the team sails"},
        ]
        for executor in executors:
            executor.shutdown()


def test_what_waits_for_a_manager_is_done_with_its_new_instructions(tmp_path: Path) -> None:
    """Instructions are rewritten all the time; jobs that were submitted before are done all the same."""
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        names = {
            ReflectionExecutor(
                create_memory_store_manager(ScriptedModel(), instructions=text, store=store),
                lanes=0,
            ).name
            for text in ("Note everything.", "Note what matters.")
        }
    assert len(names) == 1


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_was_changed_while_the_model_was_asked_stands(
    tmp_path: Path, asynchronous: bool
) -> None:
    """A memory that a person corrects, or another pass changes, between the manager's look at it and its
    change is not put back: the conversation is read again with the memory as it is then."""
    first = {"kind": "UserProfile", "content": {"name": "Anna", "language": "German"}}
    corrected = {"kind": "UserProfile", "content": {"name": "Anne", "language": "German"}}
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        store.put(PLACE, "profile", first)

        def answer(prompt: list[BaseMessage]) -> str:
            if "Anne" not in shown(prompt):
                store.put(PLACE, "profile", corrected)
            return changes(update("m1", {"language": "French"}, "UserProfile"))

        model = ScriptedModel(otherwise=answer)
        manager = create_memory_store_manager(model, schemas=[UserProfile], store=store)
        said = says("French, please")
        await manager.ainvoke(said, CONFIG) if asynchronous else manager.invoke(said, CONFIG)
        content = {"name": "Anne", "language": "French"}
        assert stored(store) == [{"kind": "UserProfile", "content": content}]
        assert len(model.prompts) == 2


@pytest.mark.parametrize("asynchronous", [False, True])
def test_who_is_forgotten_while_the_model_is_asked_stays_forgotten(
    tmp_path: Path, asynchronous: bool
) -> None:
    """A job's result is not written once the job was forgotten with its person; other people's
    memories are."""
    answer = changes(insert("she sails"))
    with MemoryStore(tmp_path / "memory.db", index=False) as store:

        def forgotten(_: list[BaseMessage]) -> str:
            store.forget(PLACE, everything=True)
            return answer

        model = ScriptedModel(script=[forgotten, answer])
        manager = create_memory_store_manager(model, store=store)
        with ReflectionExecutor(manager, run_async=asynchronous) as executor:
            gone = executor.submit(says("I sail."), CONFIG)
            with pytest.raises(CancelledError):
                gone.result(10)
            bert: RunnableConfig = {"configurable": {"langgraph_user_id": "bert"}}
            assert len(executor.submit(says("I sail."), bert).result(10)) == 1
        assert stored(store) == []


def test_a_job_that_was_taken_over_is_written_once(tmp_path: Path) -> None:
    """A worker that took longer than its lease writes nothing once another has the job."""
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        jobs, clock = store.jobs, Clock()
        jobs.clock = clock

        def slow(_: list[BaseMessage]) -> str:
            clock.forward(3_600)
            assert other.run_due() == 1
            return changes(insert("she sails"))

        model = ScriptedModel(script=[slow, changes(insert("she sails"))])
        manager = create_memory_store_manager(model, store=store)
        with ReflectionExecutor(manager, lanes=0) as executor:
            executor.submit(says("I sail."), CONFIG)
        one, other = (Worker(jobs, performer(manager, store), kind=executor.name) for _ in range(2))
        assert one.run_due() == 1
        assert stored(store) == [{"kind": "Memory", "content": {"content": "she sails"}}]
        assert store.jobs.counts() == {"done": 1}
        check_claim()  # nothing of the jobs is left in this thread


def test_memories_that_change_all_the_time_are_left_as_others_write_them(tmp_path: Path) -> None:
    """After `MAX_PASSES` looks the manager gives up, which an executor takes for worth another try."""
    with MemoryStore(tmp_path / "memory.db", index=False) as store:

        def answer(prompt: list[BaseMessage]) -> str:
            store.put(PLACE, "m", {"kind": "Memory", "content": {"content": f"{len(prompts)}"}})
            return changes(update("m1", {"content": "mine"}))

        model = ScriptedModel(otherwise=answer)
        prompts = model.prompts
        store.put(PLACE, "m", {"kind": "Memory", "content": {"content": "0"}})
        with pytest.raises(StalePlanError):
            create_memory_store_manager(model, store=store).invoke(says("hello"), CONFIG)
        assert len(model.prompts) == MAX_PASSES
        assert stored(store)[0]["content"] == {"content": f"{MAX_PASSES}"}


def test_changes_of_small_models_are_read(store: BaseStore) -> None:
    """In parallel tool calls, with their fields beside the action, as JSON in a string, with an id of
    five thousand digits."""
    given: list[Any] = [
        {"changes": [{"action": "insert", "kind": "UserProfile", "name": "Anna"}]},
        {"changes": [{"action": "insert", "content": json.dumps({"name": "Bert"})}]},
        {"changes": [{"id": "9" * 5_000, "content": {"name": "Carla"}}]},
    ]
    calls = [{"name": "Changes", "args": args, "id": str(n)} for n, args in enumerate(given)]
    model = ScriptedModel(script=[AIMessage("", tool_calls=calls)])
    manager = create_memory_store_manager(model, schemas=[UserProfile], store=store)
    put = manager.invoke(says("We are Anna, Bert and Carla"), CONFIG)
    assert [one["value"]["content"]["name"] for one in put] == ["Anna", "Bert", "Carla"]
    assert len(model.prompts) == 1
