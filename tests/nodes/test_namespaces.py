"""Namespace templates resolve from the run, and only from the run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from langmemory.errors import ConfigError
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
    """An id with a period or braces stays one label or is refused; it never becomes a template."""
    with pytest.raises(ConfigError, match=r"'a\.b', which cannot be a namespace label"):
        TEMPLATE.resolve(RunScope(configurable={"user_id": "a.b"}))
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
