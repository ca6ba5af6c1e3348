"""The other names of LangMem, by changing the import line: what its managers have, its searcher, its
thread extractor."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import langmem
import pytest
from langgraph.func import entrypoint
from langgraph.store.base import BaseStore
from langmem.prompts.types import AnnotatedTrajectory
from langmem.utils import NamespaceTemplate as LangMemTemplate

import langmemory
from langmemory import MemoryStore, short_term
from langmemory.errors import ConfigError, ExtractionError
from langmemory.nodes import NamespaceTemplate
from langmemory.parts import langmem as compat
from langmemory.parts.langmem import (
    Memory,
    create_memory_searcher,
    create_memory_store_manager,
    create_thread_extractor,
    prompts,
)
from tests.reflection.test_manager import (
    CONFIG,
    PLACE,
    Employee,
    UserProfile,
    says,
    shown,
    store,
)
from tests.scripted import ScriptedModel

__all__ = ["store"]  # the fixture


def test_langmems_names_are_where_its_users_look() -> None:
    """`langmemory.parts.langmem` has all of them; those of ``langmem`` and ``langmem.short_term`` are also
    in `langmemory` and `langmemory.short_term`."""
    offered = set(compat.__all__)
    assert offered >= set(short_term.__all__)
    assert (set(langmem.__all__) & offered) <= set(langmemory.__all__)
    assert set(langmem.__all__) <= offered | set(prompts.__all__)


def test_a_manager_has_what_langmems_has(store: BaseStore) -> None:
    """Its attributes are there under LangMem's names with the same values, but for those of its tool
    for queries."""
    model = ScriptedModel()
    options: dict[str, Any] = {
        "schemas": [UserProfile, Memory], "query_model": model, "query_limit": 7, "store": store,
        "enable_deletes": True, "phases": [{"instructions": "Merge."}], "instructions": "Be brief.",
        "namespace": ("chat", "{user_id}"),
    }  # fmt: skip
    theirs: Any = langmem.create_memory_store_manager(model, **options)
    ours: Any = create_memory_store_manager(model, **options)
    names = {name for name in dir(theirs) if not name.startswith("_")}
    assert names - set(dir(ours)) == {"query_gen", "search_tool"}
    for name in ("model", "query_model", "query_limit", "phases", "instructions", "store"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("schema_name_map", "enable_inserts", "enable_deletes", "default_factory"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert list(ours.schemas) == list(theirs.schemas)
    for name in ("schemas", "instructions", "enable_inserts", "enable_updates", "enable_deletes"):
        mine, given = getattr(ours.memory_manager, name), getattr(theirs.memory_manager, name)
        assert (list(mine) if name == "schemas" else mine) == given, name


async def test_a_namespace_is_called_for_that_of_a_run(store: BaseStore) -> None:
    """``manager.namespace(config)``, as in LangMem: with a config, or with that of the run under way,
    where `manager.store` is the graph's, too."""
    manager = create_memory_store_manager(ScriptedModel(), namespace=("chat", "{user_id}"))
    assert manager.namespace(CONFIG) == manager.get_namespace(CONFIG) == ("chat", "anna")
    with pytest.raises(ConfigError, match="user_id"):
        manager.namespace({"configurable": {}})

    @entrypoint(store=store)
    async def app(_: str) -> tuple[Any, Any]:
        return manager.namespace(), manager.store

    assert await app.ainvoke("", CONFIG) == (("chat", "anna"), store)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    ("said", "found"),
    [
        (['{"queries": ["Anna has a dog", "Anna drinks tea"]}'], {"dog", "tea"}),
        (['{"queries": ["Anna has a dog"]}\n{"queries": ["Anna drinks tea"]}'], {"dog", "tea"}),
        (["I will search.", "Searching…"], {"dog", "tea"}),
        (['{"queries": []}'], {"dog", "tea"}),
    ],
)
async def test_a_searcher_finds_what_a_conversation_concerns(
    store: BaseStore, said: list[str], found: set[str], asynchronous: bool
) -> None:
    """By the model's queries, or by the conversation's words where it has none to offer; each memory
    once, and only those of whoever's run it is."""
    for key, text in (("dog", "Anna has a dog"), ("tea", "Anna drinks tea")):
        store.put(PLACE, key, {"content": text})
    store.put(("memories", "bert"), "cat", {"content": "Bert has a cat"})
    searcher = create_memory_searcher(ScriptedModel(script=list(said)), "Look for pets.")

    @entrypoint(store=store)
    def app(text: str) -> Any:
        return searcher.invoke(says(text))

    @entrypoint(store=store)
    async def async_app(text: str) -> Any:
        return await searcher.ainvoke(says(text))

    text = "What do you know of me?"
    items = await async_app.ainvoke(text, CONFIG) if asynchronous else app.invoke(text, CONFIG)
    keys = [item.key for item in items]
    assert len(keys) == len(set(keys))
    assert set(keys) == found
    with pytest.raises(ConfigError, match="has no store"):
        create_memory_searcher(ScriptedModel(script=list(said))).invoke(says(text), CONFIG)


async def test_a_thread_becomes_one_object() -> None:
    """A title and a summary, or a schema of one's own, in instructions with variables; what does not
    fit is asked for once more."""
    whole = {"title": "Reset", "summary": "A password was reset."}
    model = ScriptedModel(
        script=[
            json.dumps({"thread": whole}), json.dumps(whole), f"```json\n{json.dumps([whole])}\n```",
            json.dumps({"thread": {"title": "Reset"}}), json.dumps({"Thread": json.dumps(whole)}),
        ]
    )  # fmt: skip
    extractor = create_thread_extractor(model)
    for _ in range(2):
        assert extractor.invoke(says("Please reset my password.")).model_dump() == whole
    for _ in range(2):
        assert (await extractor.ainvoke(says("Please reset it."))).model_dump() == whole
    assert "summary: Field required" in shown(model.prompts[-1])
    assert "| Please reset it." in model.prompts[2][-1].text

    own = create_thread_extractor(
        ScriptedModel(script=['{"thread": {"name": "Ann", "hobbies": ["chess"]}}', "no", "no"]),
        schema=Employee, instructions="Who is {who}?",
    )  # fmt: skip
    assert own.invoke({**says("I am Ann"), "who": "she"}) == Employee(name="Ann", hobbies=["chess"])
    with pytest.raises(ExtractionError):
        own.invoke({**says("I am Ann"), "who": "she"})
    wrong: Any = dict
    with pytest.raises(ConfigError, match="pydantic"):
        create_thread_extractor(ScriptedModel(), wrong)


async def test_a_searcher_shows_nobody_what_is_private_to_others(tmp_path: Path) -> None:
    """In a namespace that people share, each finds their own private memories, and no one else's."""
    searcher = create_memory_searcher(
        ScriptedModel(otherwise='{"queries": ["tea"]}'), namespace=("home",)
    )
    with MemoryStore(tmp_path / "memory.db") as file:
        for who, privacy in (("anna", "shared"), ("bert", "private")):
            said: Any = {"role": "user", "name": who, "content": f"I am {who} and drink tea"}
            file.remember(("home",), [said], thread_id="t", owner=who, privacy=privacy)  # type: ignore[arg-type]

        @entrypoint(store=file)
        async def app(text: str) -> list[Any]:
            return sorted(item.value["speaker"] for item in await searcher.ainvoke(says(text)))

        for who, expected in (("anna", ["anna"]), ("bert", ["anna", "bert"])):
            assert await app.ainvoke("Tea?", {"configurable": {"user_id": who}}) == expected


def test_the_import_line_is_all_that_changes() -> None:
    """Every public name of LangMem can be imported from langmemory; the prompt optimizers are its own."""
    for name in langmem.__all__:
        assert callable(getattr(langmemory, name))
    for name in ("Prompt", "create_multi_prompt_optimizer", "create_prompt_optimizer"):
        assert getattr(langmemory, name) is getattr(langmem, name)
        assert getattr(prompts, name) is getattr(langmem, name)
    assert prompts.AnnotatedTrajectory is AnnotatedTrajectory


def test_without_langmem_its_optimizers_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Everything else works without it, `import *` too."""
    for name in [one for one in sys.modules if one.split(".")[0] == "langmem"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "langmem", None)
    with pytest.raises(ImportError, match=r"create_prompt_optimizer is .* pip install langmem"):
        from langmemory import create_prompt_optimizer  # noqa: F401
    exec("from langmemory import *", {})
    exec("from langmemory.parts.langmem import *", {})
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = prompts.nothing


@pytest.mark.parametrize(
    ("template", "config"),
    [
        ("user_123", None),
        ("user_123", {"configurable": {"user_id": "anna"}}),
        (("org", "{user_id}"), {"configurable": {"user_id": "anna"}}),
        ("{user_id}", {"configurable": {"user_id": "anna"}}),
        (("a", "b"), None),
    ],
)
def test_a_template_is_called_as_langmems(template: Any, config: Any) -> None:
    """`NamespaceTemplate(template)(config)` is the same namespace as in LangMem, also of a template made
    from a template."""
    theirs, ours = LangMemTemplate(template), NamespaceTemplate(template)
    assert ours(config) == theirs(config)
    assert NamespaceTemplate(ours)(config) == theirs(config)
    assert ours.template == theirs.template


async def test_a_template_takes_the_run_under_way(store: BaseStore) -> None:
    """Without a config it is that of the run; a config passed by hand wins over it, and over its
    context; a variable that nobody names is an error that says which."""
    template = NamespaceTemplate(("org", "{user_id}"))
    with pytest.raises(ConfigError, match="'user_id' is missing"):
        template()
    with pytest.raises(ConfigError, match="'user_id' is missing"):
        template({"configurable": {}})

    @entrypoint(store=store, context_schema=dict)
    async def app(_: str) -> list[Any]:
        return [template(), template({"configurable": {"user_id": "bert"}})]

    expected = [("org", "anna"), ("org", "bert")]
    assert await app.ainvoke("", {"configurable": {"user_id": "anna"}}) == expected
    assert await app.ainvoke("", context={"user_id": "anna"}) == expected
