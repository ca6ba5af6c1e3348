"""Our manage_memory and search_memory do what LangMem's do; only bad calls end differently."""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

import langmem
import pytest
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from langmemory.tools import create_manage_memory_tool, create_search_memory_tool

CONFIG = {"configurable": {"user_id": "anna"}}
NAMESPACE = ("memories", "{user_id}")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ID = "6b1a2c3d-0000-4000-8000-000000000001"


class Profile(BaseModel):
    name: str
    age: int | None = None


OPTIONS: list[dict[str, Any]] = [
    {},
    {"schema": Profile},
    {"schema": dict, "instructions": "Only facts."},
    {"actions_permitted": ("create", "update")},
    {"actions_permitted": ("delete",), "name": "forget"},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_the_model_sees_the_same_manage_tool(options: dict[str, Any]) -> None:
    """Name, description and arguments are LangMem's, so prompts and evaluations carry over."""
    theirs = langmem.create_manage_memory_tool(NAMESPACE, **options)
    ours = create_manage_memory_tool(NAMESPACE, **options)
    assert convert_to_openai_tool(ours) == convert_to_openai_tool(theirs)


@pytest.mark.parametrize("options", [{}, {"instructions": "Look twice.", "name": "look"}])
def test_the_model_sees_the_same_search_tool(options: dict[str, Any]) -> None:
    """Name, description and arguments are LangMem's."""
    theirs = langmem.create_search_memory_tool(NAMESPACE, **options)
    ours = create_search_memory_tool(NAMESPACE, **options)
    assert convert_to_openai_tool(ours) == convert_to_openai_tool(theirs)


CALLS: list[dict[str, Any]] = [
    {"content": "Anna likes tea."},
    {"content": "Anna likes tea.", "action": "create"},
    {"content": "Anna likes coffee.", "action": "update", "id": ID},
    {"action": "delete", "id": ID},
    {},
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_good_calls_answer_and_store_the_same(
    call: dict[str, Any], asynchronous: bool
) -> None:
    """Answers and stored items equal LangMem's, sync and async."""
    outcomes = []
    for create in (langmem.create_manage_memory_tool, create_manage_memory_tool):
        store = InMemoryStore()
        store.put(("memories", "anna"), ID, {"content": "Anna likes water."})
        tool: BaseTool = create(NAMESPACE, store=store)
        answer = await tool.ainvoke(call, CONFIG) if asynchronous else tool.invoke(call, CONFIG)
        items = {
            "new" if item.key != ID else ID: (item.namespace, item.value)
            for item in store.search(())
        }
        outcomes.append((UUID.sub("ID", answer), items))
    assert outcomes[0] == outcomes[1]


def test_a_pydantic_schema_is_stored_as_json() -> None:
    """A memory with a schema is stored as LangMem stores it."""
    call = {"content": {"name": "Anna", "age": 41}}
    stored = []
    for create in (langmem.create_manage_memory_tool, create_manage_memory_tool):
        store = InMemoryStore()
        create(NAMESPACE, store=store, schema=Profile).invoke(call, CONFIG)
        stored.append([item.value for item in store.search(())])
    assert stored[0] == stored[1] == [{"content": {"name": "Anna", "age": 41}}]


BAD_CALLS: list[dict[str, Any]] = [
    {"content": "x", "action": "create", "id": ID},
    {"content": "x", "action": "update"},
    {"action": "delete"},
]


@pytest.mark.parametrize("call", BAD_CALLS)
async def test_bad_calls_are_answered_with_langmems_words(call: dict[str, Any]) -> None:
    """Where LangMem raises and ends the run, the same sentence is the tool's answer."""
    with pytest.raises(ValueError) as theirs:  # noqa: PT011
        langmem.create_manage_memory_tool(NAMESPACE, store=InMemoryStore()).invoke(call, CONFIG)
    store = InMemoryStore()
    tool = create_manage_memory_tool(NAMESPACE, store=store)
    assert tool.invoke(call, CONFIG) == str(theirs.value)
    assert await tool.ainvoke(call, CONFIG) == str(theirs.value)
    assert store.search(()) == []


@pytest.mark.parametrize(
    ("options", "call", "words"),
    [
        ({}, {"action": "update", "id": "the tea one", "content": "x"}, "id: .*valid UUID"),
        ({}, {"action": "delete", "id": "fact/7a0082ef1677acb1"}, "id: .*for memory_archive"),
        ({}, {"action": "forget", "id": ID}, "action: .*'create', 'update' or 'delete'"),
        ({"actions_permitted": ("create",)}, {"action": "delete", "id": ID}, "action: "),
        ({"schema": Profile}, {"content": {"age": 3}}, r"content\.name: Field required"),
    ],
)
def test_arguments_of_a_wrong_shape_are_explained(
    options: dict[str, Any], call: dict[str, Any], words: str
) -> None:
    """The answer names the argument and what is wrong with it, and nothing is stored."""
    store = InMemoryStore()
    answer = create_manage_memory_tool(NAMESPACE, store=store, **options).invoke(call, CONFIG)
    assert re.search(words, answer), answer
    assert "call again" in answer
    assert store.search(()) == []


async def test_search_answers_the_same_items() -> None:
    """The JSON, the artifact, paging and filters equal LangMem's."""
    store = InMemoryStore()
    for at in range(5):
        store.put(("memories", "anna"), f"k{at}", {"content": f"fact {at}", "even": at % 2 == 0})
    store.put(("memories", "bert"), "other", {"content": "fact of Bert"})
    theirs = langmem.create_search_memory_tool(NAMESPACE, store=store)
    ours = create_search_memory_tool(NAMESPACE, store=store)
    for call in (
        {"query": "fact"},
        {"query": "fact", "limit": 2, "offset": 1},
        {"query": "fact", "filter": {"even": True}},
    ):
        answer = ours.invoke(call, CONFIG)
        assert json.loads(answer) == json.loads(theirs.invoke(call, CONFIG))
        assert await ours.ainvoke(call, CONFIG) == answer
        assert "Bert" not in answer
    both = create_search_memory_tool(NAMESPACE, store=store, response_format="content_and_artifact")
    call = {"type": "tool_call", "id": "1", "name": "search_memory", "args": {"query": "fact"}}
    message = both.invoke(call, CONFIG)
    assert [item.key for item in message.artifact] == ["k0", "k1", "k2", "k3", "k4"]


@pytest.mark.parametrize(
    "module",
    [
        "knowledge", "knowledge.extraction", "knowledge.tools", "prompts", "prompts.optimization",
        "prompts.types", "reflection", "short_term", "short_term.summarization",
    ],
)  # fmt: skip
def test_a_module_of_langmem_is_found_by_the_swap_of_the_name(module: str) -> None:
    """What LangMem offers under a path is there under ours."""
    theirs = importlib.import_module(f"langmem.{module}")
    ours = importlib.import_module(f"langmemory.{module}")
    own = (
        name
        for name, one in vars(theirs).items()
        if getattr(one, "__module__", "") == theirs.__name__
    )
    names = getattr(theirs, "__all__", None) or {*own} - {"PreprocessedMessages"}
    assert [name for name in names if not name.startswith("_") and not hasattr(ours, name)] == []


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_null_is_the_absence_of_an_optional_argument(asynchronous: bool) -> None:
    """Models write null for what they leave out."""
    store = InMemoryStore()
    manage = create_manage_memory_tool(NAMESPACE, store=store)
    search = create_search_memory_tool(NAMESPACE, store=store)
    asked: dict[str, Any] = {"query": "tea", "limit": None, "offset": None, "filter": None}
    saved: dict[str, Any] = {"content": "likes tea", "action": None, "id": None}
    for tool, given in ((manage, saved), (search, asked), (search, json.dumps(asked))):
        found = await tool.ainvoke(given, CONFIG) if asynchronous else tool.invoke(given, CONFIG)
        assert "not valid" not in found
    assert "likes tea" in found


def test_no_action_is_an_error_when_the_tool_is_made() -> None:
    """As in LangMem."""
    for create in (langmem.create_manage_memory_tool, create_manage_memory_tool):
        with pytest.raises(ValueError, match="actions_permitted cannot be empty"):
            create(NAMESPACE, actions_permitted=())


def test_what_is_permitted_is_one_of_the_actions() -> None:
    """A single action may stand by itself, as in LangMem; one that there is not is named when the tool
    is made."""
    store = InMemoryStore()
    only: Any = "create"
    tool = create_manage_memory_tool(("memories",), actions_permitted=only, store=store)
    assert tool.invoke({"content": "Anna likes tea."}).startswith("created memory")
    unknown: Any = ("create", "remove")
    with pytest.raises(ValueError, match="'remove'; possible are 'create', 'update', 'delete'"):
        create_manage_memory_tool(("memories",), actions_permitted=unknown)


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_text_may_be_the_arguments_as_a_provider_hands_them_over(asynchronous: bool) -> None:
    """A loop of one's own passes what the model's API gives, JSON; other text is the first argument,
    as in LangMem, also where it is JSON of something else."""
    store = InMemoryStore()
    manage = create_manage_memory_tool("memories", store=store)
    search = create_search_memory_tool("memories", store=store)

    async def call(tool: BaseTool, given: str) -> str:
        answer: str = await tool.ainvoke(given) if asynchronous else tool.invoke(given)
        return answer

    plain, other = "Anna likes tea.", '{"cake": "cherry"}'
    for given in (json.dumps({"action": "create", "content": "Anna has a cat."}), plain, other):
        assert (await call(manage, given)).startswith("created memory")
    kept = [item.value["content"] for item in store.search(("memories",))]
    assert kept == ["Anna has a cat.", plain, other]
    assert "call again" in await call(manage, json.dumps({"action": "drop"}))
    found = [json.loads(await call(search, given)) for given in ('{"query": "x", "limit": 1}', "x")]
    assert [len(each) for each in found] == [1, 3]


async def test_the_function_of_a_tool_can_be_called_by_itself() -> None:
    """As in LangMem: CrewAI and AutoGen take it out of the tool, and have no config to pass."""
    answers = []
    for create_manage, create_search in (
        (langmem.create_manage_memory_tool, langmem.create_search_memory_tool),
        (create_manage_memory_tool, create_search_memory_tool),
    ):
        store = InMemoryStore()
        manage = create_manage("memories", store=store)
        search = create_search("memories", store=store)
        made = [manage.func(content="tea"), await manage.coroutine(content="cake", action="create")]
        found = [search.func(query="x", limit=1), await search.coroutine(query="x")]
        shown = [[item["value"] for item in json.loads(each)] for each in found]
        answers.append(([UUID.sub("ID", one) for one in made], shown))
    assert answers[0] == answers[1]
