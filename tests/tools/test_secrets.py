"""Secrets in tools: the model writes a placeholder, and neither it nor a trace or checkpoint has more."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from langmemory import MemoryStore
from langmemory.errors import ConfigError
from langmemory.parts.vault import Secret, VaultKey
from langmemory.parts.vault.placeholders import HiddenSecretError, scrubbed
from langmemory.parts.vault.tools import fill_secrets
from tests.places import kept

HOME = ("memories", "home")
WORD = 'pä$$ "wörd"/7+hunter2'
FORMS = (WORD, json.dumps(WORD)[1:-1], quote(WORD, safe=""),
         base64.b64encode(WORD.encode()).decode().rstrip("="),
         WORD.encode().hex(), repr(WORD)[1:-1])  # fmt: skip
seen: list[Any] = []


@tool
def deploy(target: str, headers: dict[str, list[str]] | None = None) -> str:
    """Deploy to a target."""
    seen.append((target, headers))
    if target.startswith("fail"):
        raise RuntimeError(f"401 for {target}")
    return f"Deployed with {target!r} and {headers}"


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    seen.clear()
    found = MemoryStore(tmp_path / "m.db", index=False, vault_key=VaultKey(bytes(32)))
    found.vault.put(HOME, "GitHub token", WORD)
    found.vault.put(HOME, "other", "another secret")
    return found


class Tracer(BaseCallbackHandler):
    """Keeps all that callbacks are told, as LangSmith's tracer does."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_"):
            return lambda *args, **kwargs: self.told.append(repr((name, args, kwargs)))
        return super().__getattribute__(name)


async def test_the_function_has_the_secret_and_nobody_else(store: MemoryStore) -> None:
    """Within a graph, sync and async: messages, checkpoints, callbacks and the file have placeholders."""
    wrapped = fill_secrets(deploy, ["GitHub token"], namespace=HOME)
    assert "{{vault:GitHub token}}" in wrapped.description
    asked = {"target": "x", "headers": {"Authorization": ["Bearer {{ vault:GitHub token }}"]}}

    def model(state: MessagesState) -> dict[str, Any]:
        call: Any = {"name": "deploy", "args": asked, "id": "1"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    builder = StateGraph(MessagesState)
    builder.add_node("model", model)
    builder.add_node("tools", ToolNode([wrapped]))
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    builder.add_edge("tools", END)
    saver, tracer = InMemorySaver(), Tracer()
    graph = builder.compile(store=store, checkpointer=saver)
    start: Any = {"messages": [HumanMessage("Deploy")]}
    for number in range(2):
        config: Any = {"configurable": {"thread_id": str(number)}, "callbacks": [tracer]}
        found = await graph.ainvoke(start, config) if number else graph.invoke(start, config)
        assert "Bearer {{vault:GitHub token}}" in found["messages"][-1].content
    assert seen == [("x", {"Authorization": [f"Bearer {WORD}"]})] * 2
    told = repr([saver.storage, saver.blobs, saver.writes]) + "".join(tracer.told)
    assert "on_tool_end" in told
    raw = kept(store)
    for form in FORMS:
        assert form not in told
        assert form.encode() not in raw
    assert {one.reason for one in store.vault.audit() if one.action == "unlock"} == {
        "the tool deploy"
    }


@tool
def pay(account: str) -> str:
    """Pay from an account, once a person agreed."""
    return f"{interrupt({'ask': [f'Pay from {account}?']})}: paid from {account}"


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_question_to_a_person_has_no_secret(
    store: MemoryStore, how: Literal["invoke", "ainvoke"]
) -> None:
    """What a tool hands to `interrupt` goes into the checkpoint, the answer and traces with the placeholder;
    resumed, the tool has the secret again."""
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([fill_secrets(pay, "GitHub token", namespace=HOME)]))
    builder.add_edge(START, "tools")
    saver, tracer = InMemorySaver(), Tracer()
    graph = builder.compile(store=store, checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "1"}, "callbacks": [tracer]}
    called: Any = {"name": "pay", "args": {"account": "{{vault:GitHub token}}"}, "id": "1"}

    async def run(given: Any) -> Any:
        found = getattr(graph, how)(given, config)
        return await found if how == "ainvoke" else found

    asked = await run({"messages": [AIMessage("", tool_calls=[called])]})
    assert asked["__interrupt__"][0].value == {"ask": ["Pay from {{vault:GitHub token}}?"]}
    done = await run(Command(resume="yes"))
    assert done["messages"][-1].content == "yes: paid from {{vault:GitHub token}}"
    told = repr([saver.storage, saver.blobs, saver.writes]) + "".join(tracer.told)
    assert not [form for form in FORMS if form in told]


def test_a_label_that_was_not_named_is_refused(store: MemoryStore) -> None:
    """The model is told which it may use; one that is not there is told, too."""
    wrapped = fill_secrets(deploy, ["GitHub token", "none"], namespace=HOME, store=store)
    with pytest.raises(ToolException, match=r"may not use the secret 'other'.*vault:GitHub token"):
        wrapped.invoke({"target": "{{vault:other}}"})
    with pytest.raises(ToolException, match="no secret 'none'"):
        wrapped.invoke({"target": "{{vault:none}}"})
    assert wrapped.invoke({"target": "plain"}) == "Deployed with 'plain' and None"
    with pytest.raises(RuntimeError, match="401 for failing"):
        wrapped.invoke({"target": "failing"})
    for wrong in (
        lambda: fill_secrets(deploy, [], namespace=HOME),
        lambda: fill_secrets(len, ["a"], namespace=HOME),
    ):
        with pytest.raises(ConfigError, match="fill_secrets takes"):
            wrong()
    with pytest.raises(ConfigError, match="No placeholder can name the secret 'a}}b'"):
        fill_secrets(deploy, ["a}}b"], namespace=HOME)


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_an_error_of_the_tool_has_no_secret(
    store: MemoryStore, how: Literal["invoke", "ainvoke"]
) -> None:
    """Its message is scrubbed, and neither a cause nor a variable of a frame has the arguments."""
    from tests.stores.test_vault import shown_by

    wrapped, tracer = fill_secrets(deploy, "GitHub token", namespace=HOME, store=store), Tracer()
    call: Any = getattr(wrapped, how)
    asked = {"target": "fail {{vault:GitHub token}}"}, {"callbacks": [tracer]}
    with pytest.raises(
        ToolException, match=r"RuntimeError: 401 for fail \{\{vault:GitHub"
    ) as raised:
        await call(*asked)
    assert WORD not in shown_by(raised.value) + "".join(tracer.told)


def test_a_secret_of_a_person_is_that_of_the_run(store: MemoryStore) -> None:
    """With a viewer the label is looked up among the secrets of who the run is for."""
    store.for_viewer("mia").vault.put(HOME, "GitHub token", "Mia's token")
    wrapped = fill_secrets(deploy, "GitHub token", namespace=HOME, viewer="{user_id}", store=store)
    wrapped.invoke({"target": "{{vault:GitHub token}}"}, {"configurable": {"user_id": "mia"}})
    assert seen[-1][0] == "Mia's token"
    with pytest.raises(ToolException, match="no secret"):
        wrapped.invoke({"target": "{{vault:GitHub token}}"}, {"configurable": {"user_id": "noor"}})


@dataclass
class Answer:
    text: str


def test_answers_of_any_form_are_scrubbed() -> None:
    """Nested, encoded, alone or within a longer text; an object that cannot be looked into is refused."""
    secrets = {"a": Secret(WORD)}
    raw = WORD.encode()
    encoded = [base64.b64encode(b"x" * n + raw + b":tail").decode() for n in range(4)]
    answers = [
        *FORMS, *encoded, [WORD], {"k": (WORD, 7)}, Answer(WORD),
        ToolMessage(WORD, tool_call_id="1", artifact=[WORD]),
        Command(update={"messages": [ToolMessage(f"x {WORD}", tool_call_id="1")]}),
    ]  # fmt: skip
    for answer in answers:
        told = repr(scrubbed(answer, secrets))
        assert "{{vault:a}}" in told
        assert not any(form in told for form in (*FORMS, FORMS[3][4:20], "hunter2"))

    class Opaque:
        def __str__(self) -> str:
            return f"<{WORD}>"

    for hidden in (Opaque(), raw, WORD.encode("utf-16-le")):
        with pytest.raises(HiddenSecretError) as raised:
            scrubbed([hidden], secrets)
        assert "hunter2" not in str(raised.value)
    assert scrubbed({"n": 1.5, "b": True, "o": None}, secrets) == {"n": 1.5, "b": True, "o": None}
