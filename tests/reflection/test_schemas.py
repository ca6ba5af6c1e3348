"""Schemas that are no pydantic classes: TypedDicts and JSON schemas, wherever LangMem takes them."""

from __future__ import annotations

import json
from typing import Annotated, Any, NotRequired, TypedDict

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langmemory import MemoryStore
from langmemory.errors import ConfigError
from langmemory.parts.langmem import (
    create_memory_manager,
    create_memory_store_manager,
    create_thread_extractor,
)
from langmemory.schemas import as_pydantic
from langmemory.tools import create_manage_memory_tool
from tests.reflection.test_manager import CONFIG, PLACE, changes, insert, says, shown, store, update
from tests.scripted import ScriptedModel

__all__ = ["store"]  # the fixture


class Address(TypedDict):
    city: str


class Person(TypedDict):
    """Somebody the user knows."""

    name: Annotated[str, "as the user calls them"]
    age: NotRequired[int]
    homes: NotRequired[list[Address]]


PERSON: dict[str, Any] = {
    "title": "Person",
    "description": "Somebody the user knows.",
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "as the user calls them", "minLength": 1},
        "age": {"type": ["integer", "null"], "minimum": 0},
        "mood": {"enum": ["good", "bad"]},
        "homes": {"type": "array", "items": {"$ref": "#/$defs/Address"}},
    },
    "required": ["name"],
    "$defs": {
        "Address": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        }
    },
}
FUNCTION = {
    "type": "function",
    "function": {"name": "Person", "description": "x", "parameters": {**PERSON, "title": "args"}},
}

ANN = {"name": "Ann", "age": 30, "homes": [{"city": "Oslo"}]}
FORMS = {"TypedDict": Person, "JSON schema": PERSON, "function": FUNCTION}


@pytest.fixture(params=FORMS)
def schema(request: pytest.FixtureRequest) -> Any:
    return FORMS[request.param]


def test_a_manager_makes_memories_of_it(schema: Any) -> None:
    """The model is shown the schema with its descriptions, its answer is checked, and a memory is an
    instance whose fields can be read."""
    model = ScriptedModel(
        script=[changes(insert({"age": 30}, "Person")), changes(insert(ANN, "Person"))]
    )
    [memory] = create_memory_manager(model, schemas=[schema]).invoke(says("I know Ann."))
    assert (memory.content.name, memory.content.age) == ("Ann", 30)
    assert memory.content.homes[0].city == "Oslo"
    assert type(memory.content).__name__ == "Person"
    assert "as the user calls them" in model.prompts[0][0].text
    assert "name" in shown(model.prompts[1])  # of the retry: it was missing


def test_a_store_manager_keeps_it_up_to_date(store: BaseStore, schema: Any) -> None:
    """A stored memory comes back as an instance, and the next conversation changes it."""
    model = ScriptedModel(
        script=[changes(insert(ANN, "Person")), changes(update("m1", {"age": 31}, "Person"))]
    )
    manager = create_memory_store_manager(model, schemas=[schema], store=store)
    manager.invoke(says("I know Ann, she is 30."), CONFIG)
    manager.invoke(says("Ann turned 31."), CONFIG)
    [item] = store.search(PLACE)
    assert item.value["kind"] == "Person"
    assert {**item.value["content"], "mood": None} == {**ANN, "age": 31, "mood": None}
    [found] = manager.search(config=CONFIG)
    assert found.value.age == 31


def test_the_tool_and_the_extractor_take_it(store: BaseStore, schema: Any) -> None:
    """`manage_memory` stores what fits and tells the model what does not; a thread becomes one."""
    tool = create_manage_memory_tool(("memories", "anna"), schema=schema, store=store)
    assert "created memory" in tool.invoke({"content": ANN})
    assert store.search(PLACE)[0].value["content"]["homes"] == [{"city": "Oslo"}]
    assert "not valid" in tool.invoke({"content": {"age": 3}})
    json.dumps(tool.tool_call_schema.model_json_schema())  # type: ignore[union-attr]
    extractor = create_thread_extractor(ScriptedModel(script=[json.dumps({"thread": ANN})]), schema)
    assert extractor.invoke(says("Ann is 30.")).model_dump()["name"] == "Ann"


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "object", "properties": {"a": {}}}, "has no title"),
        ({"title": "A", "type": "string"}, 'has no "properties"'),
        ({"title": "A", "properties": {"a": {"$ref": "#/$defs/B"}}}, "refers to what is not in it"),
    ],
)
def test_a_json_schema_that_is_none_is_named(schema: Any, says: str) -> None:
    """A schema that cannot be a memory is refused when the manager is made."""
    with pytest.raises(ConfigError, match=says):
        create_memory_manager(ScriptedModel(), schemas=[schema])
    with pytest.raises(ConfigError, match="put it into one"):
        create_memory_manager(ScriptedModel(), schemas=schema)


def test_limits_and_odd_names_of_a_json_schema() -> None:
    """Enumerations and limits are checked, names that Python cannot have are kept, and what refers to
    itself may go on."""
    person = as_pydantic(PERSON)
    for wrong in ({"name": ""}, {"name": "Ann", "age": -1}, {"name": "Ann", "mood": "so"}):
        with pytest.raises(ValueError, match="Person"):
            person.model_validate(wrong)
    tree = as_pydantic(
        {
            "title": "A tree",
            "properties": {
                "first name": {"type": "string"},
                "_id": {"const": 1},
                "json": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "below": {"$ref": "#"},
            },
            "required": ["first name"],
        }
    )
    value = {"first name": "oak", "_id": 1, "json": 2, "below": {"first name": "twig"}}
    assert tree.__name__ == "A_tree"
    dumped = tree.model_validate(value).model_dump(mode="json")
    assert dumped == {**value, "below": dumped["below"]}
    assert dumped["below"]["first name"] == "twig"
    with pytest.raises(ValueError, match="A_tree"):
        tree.model_validate({"first name": "oak", "_id": 2})


def test_a_store_manager_sees_what_the_tool_wrote(store: BaseStore) -> None:
    """Sentences that an agent wrote with `manage_memory` are found, shown to the model and changed by
    the manager, not doubled; those it does not change stay as they are."""
    tool = create_manage_memory_tool(PLACE, store=store)
    for text in ("Anna likes green tea", "Anna is afraid of lifts"):
        tool.invoke({"content": text})
    store.put(PLACE, "note", {"content": "tea", "source": "elsewhere"})
    model = ScriptedModel(script=[changes(), changes(update("m1", "Anna likes black tea now"))])
    manager = create_memory_store_manager(model, store=store)
    assert manager.invoke(says("Tea or lifts?"), CONFIG) == []
    assert "elsewhere" not in shown(model.prompts[0])
    for text in ("Anna likes green tea", "Anna is afraid of lifts"):
        assert text in shown(model.prompts[0])
    before = shown(model.prompts[0]).partition("[m1]")[2].partition("[m2]")[0]
    [put] = manager.invoke(says("No, black tea now."), CONFIG)
    trust = {"trust": "agent"} if isinstance(store, MemoryStore) else {}  # as the tool wrote it
    said = {"content": "Anna likes black tea now"}
    assert put["value"] == {"kind": "Memory", "content": said, **trust}
    contents = [str(item.value["content"]) for item in store.search(PLACE)]
    assert len(contents) == 3
    assert not [one for one in contents if one in before and one != "tea"]


def test_a_profile_of_the_tool_is_the_managers_profile() -> None:
    """With one schema in both, the manager brings up to date what the tool began."""
    store = InMemoryStore()
    tool = create_manage_memory_tool(PLACE, schema=PERSON, store=store)
    tool.invoke({"content": {"name": "Ann"}})
    model = ScriptedModel(script=[changes(update("m1", {"age": 31}, "Person"))])
    manager = create_memory_store_manager(
        model, schemas=[PERSON], store=store, enable_inserts=False
    )
    manager.invoke(says("Ann is 31."), CONFIG)
    [item] = store.search(PLACE)
    assert (item.value["content"]["name"], item.value["content"]["age"]) == ("Ann", 31)
