"""Namespace templates resolve from the run, and only from the run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.store.base import InvalidNamespaceError
from langgraph.store.memory import InMemoryStore

from langmemory import MemoryStore, build_chat_graph
from langmemory.errors import ConfigError
from langmemory.labels import id_of, label_of
from langmemory.nodes.namespaces import NamespaceTemplate, RunScope, viewer_of

TEMPLATE = NamespaceTemplate(("memories", "{user_id}"))


@pytest.mark.parametrize("context", [{"user_id": "anna"}, SimpleNamespace(user_id="anna")])
def test_context_comes_before_configurable(context: object) -> None:
    """The run's context wins over config["configurable"], as an object or as a mapping."""
    scope = RunScope(context=context, configurable={"user_id": "bert"})
    assert TEMPLATE.resolve(scope) == ("memories", "anna")


@pytest.mark.parametrize("context", [None, {}, SimpleNamespace(user_id=None), {"user_id": ""}])
def test_configurable_is_used_when_context_does_not_say(context: object) -> None:
    """A context without the variable falls back to config["configurable"]."""
    scope = RunScope(context=context, configurable={"user_id": "bert"})
    assert TEMPLATE.resolve(scope) == ("memories", "bert")


def test_a_missing_variable_is_named() -> None:
    """The error names the variable, the label and both ways to pass it."""
    with pytest.raises(ConfigError, match=r"'user_id' is missing for '\{user_id\}'.*configurable"):
        TEMPLATE.resolve(RunScope(configurable={}))


def test_a_default_stands_in_for_a_missing_variable() -> None:
    """`{user_id|local}` never fails, and a given value still wins."""
    template = NamespaceTemplate(("memories", "u-{user_id|local}"))
    assert template.resolve(RunScope(configurable={})) == ("memories", "u-local")
    assert template.resolve(RunScope(configurable={"user_id": 7})) == ("memories", "u-7")


def test_a_value_cannot_widen_or_split_the_namespace() -> None:
    """An id with a period or braces stays one label; it never becomes a template."""
    assert TEMPLATE.resolve(RunScope(configurable={"user_id": "a.b"})) == ("memories", "a~2Eb")
    with pytest.raises(ConfigError, match=r"Write 'v1~2E0-anna'"):
        NamespaceTemplate("v1.0-{user_id}").resolve(RunScope(configurable={"user_id": "anna"}))
    scope = RunScope(configurable={"user_id": "{other}", "other": "bert"})
    assert TEMPLATE.resolve(scope) == ("memories", "{other}")


@pytest.mark.parametrize("name", ["user-id", "user id", "1", "nutzer.kürzel", "langgraph_user_id"])
def test_a_variable_may_have_any_name(name: str) -> None:
    """As in LangMem: what is in braces is looked up, and is never the label of everybody."""
    template = NamespaceTemplate(("memories", f"{{{name}}}"))
    assert template.varies
    assert template.resolve(RunScope(configurable={name: "anna"})) == ("memories", "anna")
    with pytest.raises(ConfigError, match=f"'{name}' is missing"):
        template.resolve(RunScope(configurable={}))
    assert viewer_of(f"{{{name}|}}", RunScope(configurable={name: "anna"})) == "anna"


@pytest.mark.parametrize("label", ["{user_id", "user_id}", "{}", "{{user_id}}", "u-{|local}"])
def test_a_misspelt_variable_is_no_label(label: str) -> None:
    """It would be one namespace for everybody, and one person who may see all that is private."""
    with pytest.raises(ConfigError, match="belongs to no variable"):
        NamespaceTemplate(("memories", label))
    with pytest.raises(ConfigError, match="belongs to no variable"):
        viewer_of(label, RunScope(configurable={"user_id": "anna"}))


@pytest.mark.parametrize("name", ["user_id", "langgraph_user_id", "langgraph_auth_user_id"])
def test_a_person_is_no_constant(name: str) -> None:
    """Without its braces a variable would be one viewer for everybody, who sees all that is private."""
    with pytest.raises(ConfigError, match=rf'write the variable as "\{{{name}\}}"'):
        viewer_of(name, RunScope(configurable={name: "anna"}))


@pytest.mark.parametrize("template", [("memories", ""), ("memories", None)])
def test_an_empty_label_is_refused_when_the_graph_is_built(template: tuple[str, ...]) -> None:
    """A template that can never resolve fails at once."""
    with pytest.raises(ConfigError, match="non-empty string"):
        NamespaceTemplate(template)


def test_a_viewer_may_be_any_id() -> None:
    """Who reads is compared, not made a label: an address is fine; without one it is nobody."""
    scope = RunScope(configurable={"user_id": "anna@example.org"})
    assert viewer_of("{user_id|}", scope) == "anna@example.org"
    assert viewer_of("{user_id|}", RunScope(configurable={})) == ""
    assert viewer_of(None, scope) is None


@pytest.mark.parametrize(
    ("server", "checkpointer", "thread"),
    [(None, None, "t1"), ("server", "checkpointer", "t1"), ("server", None, None)],
)
def test_a_stateless_run_of_a_server_names_no_thread(
    server: str | None, checkpointer: str | None, thread: str | None
) -> None:
    """LangGraph's server gives it a thread for itself alone; with a checkpointer, and for a caller in
    this process, the thread is the one that was named. A template may have it either way."""
    runtime = SimpleNamespace(context=None, server_info=server)
    configurable = {"thread_id": "t1", "__pregel_checkpointer": checkpointer}
    scope = RunScope.of(runtime, {"configurable": configurable})
    assert scope.thread_id == thread
    assert NamespaceTemplate("{thread_id}").resolve(scope) == ("t1",)


IDS = (
    "priya@example.com", "a.b", "a~b", "a~2Eb", "a~7Eb", "a~7E2Eb", "~", ".", "..", "~.2E", "100%", "a%2Eb",
    "anna", "小红", "a/b", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "~2e", "~~2E", "O'Neil Jr.",
)  # fmt: skip


def test_every_id_has_a_label_of_its_own() -> None:
    """The escape can be undone, two ids never share a label, and LangGraph accepts every one."""
    labels = [label_of(id) for id in IDS]
    assert [id_of(label) for label in labels] == list(IDS)
    assert len(set(labels)) == len(IDS)
    store = InMemoryStore()
    for label in labels:
        store.put(("memories", label), "k", {"text": "x"})


@pytest.mark.parametrize("id", ["anna", "a~b", "100%", "a%2Eb", "小红", "anna@localhost", "~2e"])
def test_an_id_without_a_period_is_its_own_label(id: str) -> None:
    """A namespace from before ids were escaped is still found under its id."""
    assert label_of(id) == id


def test_a_store_says_what_to_pass_for_an_id_with_a_period(tmp_path: Path) -> None:
    """An id that is no label is refused with the label to pass."""
    with (
        MemoryStore(tmp_path / "memory.db") as store,
        pytest.raises(InvalidNamespaceError, match="'priya@example~2Ecom'"),
    ):
        store.recall("tea", ("memories", "priya@example.com"))


def test_an_email_address_is_the_same_person_everywhere(tmp_path: Path) -> None:
    """Namespace, owner and viewer of an e-mail address agree: its private memories are its own."""
    store = MemoryStore(tmp_path / "memory.db")
    model = FakeListChatModel(responses=["Fine."])
    for namespace in (("memories", "{user_id}"), ("memories", "home")):
        graph = build_chat_graph(model, namespace=namespace, privacy="private", store=store)
        for user in ("priya@example.com", "priya@example.org"):
            said = {"messages": [("user", f"My rabbit of {user[-3:]} is called Flocke.")]}
            config: RunnableConfig = {"configurable": {"user_id": user, "thread_id": f"{user}-1"}}
            graph.invoke(said, config)
            ask = {"messages": [("user", "What is my rabbit called?")]}
            state = graph.invoke(ask, {"configurable": {"user_id": user, "thread_id": f"{user}-2"}})
            assert f"rabbit of {user[-3:]}" in state["memory_block"]["text"]
            assert state["memory_block"]["text"].count("Flocke") == 1
    assert store.forget(("memories",), owner="priya@example.com").memories == 8
