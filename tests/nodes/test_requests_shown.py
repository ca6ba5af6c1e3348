"""RecallNode and how somebody asked to be answered: shown to them, whatever they talk about."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from langmemory import MemoryStore, build_reflection_graph
from langmemory.nodes import RecallNode

HOME = ("home",)


def told(store: MemoryStore, who: str, text: str, thread: str, **options: Any) -> None:
    """Somebody says something, and the worker's graph reads it without a model."""
    said = {"role": "user", "name": who.title(), "content": text}
    store.remember(HOME, [said], thread_id=thread, owner=who, **options)
    build_reflection_graph(store).invoke({"namespace": HOME})


def run(who: str | None, thread: str = "next") -> Any:
    return {"configurable": {"thread_id": thread} | ({"user_id": who} if who else {})}


def block(state: dict[str, Any], letter: str) -> list[str]:
    """Texts of the lines of one tier."""
    lines = state["memory_block"]["text"].splitlines()
    return [line.partition("] ")[2] for line in lines if line.startswith(f"[{letter}:")]


def asking(text: str = "Which valve did the plumber change?") -> dict[str, list[AnyMessage]]:
    return {"messages": [HumanMessage(text, id="q")]}


def test_a_wish_is_shown_in_the_next_thread(store: MemoryStore) -> None:
    """Told in one thread, it stands in the block of another among a hundred nearer memories, sync
    and async, no longer when it was taken back, and again when that is undone."""
    told(store, "tom", "From now on answer in French. Never use tables.", "t1")
    for number in range(40):
        told_of = f"The plumber changed the valve in room {number}."
        store.remember(HOME, [{"role": "user", "content": told_of}], thread_id="v", owner="tom")
    node = RecallNode(HOME, store=store)
    wishes = ["Tom wants answers in French.", "Tom wants answers without tables."]
    assert block(node.invoke(asking(), run("tom")), "G") == wishes
    assert block(asyncio.run(node.ainvoke(asking(), run("tom"))), "G") == wishes
    told(store, "tom", "You don't have to answer in French anymore.", "t2")
    assert block(node.invoke(asking(), run("tom")), "G") == wishes[1:]
    store.changes.undo(store.changes.runs(HOME)[0].id)
    assert block(node.invoke(asking(), run("tom")), "G") == wishes


def test_a_wish_is_nobody_elses_order(store: MemoryStore) -> None:
    """In a shared namespace it is followed for whoever asked only; others read it as background,
    also in a thread where it was shown before, and a private one not at all. It is no mandate."""
    told(store, "tom", "From now on answer in French.", "t1")
    told(store, "eva", "Call me Evi.", "t2", privacy="private")
    node = RecallNode(HOME, store=store)
    state = {**asking("How are you?"), **node.invoke(asking("How are you?"), run("tom", "s"))}
    assert block(state, "G") == ["Tom wants answers in French."]
    assert block(state, "M") == []
    state["messages"] = [*state["messages"], HumanMessage("Who wants answers in French?", id="q2")]
    for who in ("anna", None):
        shown = node.invoke(state, run(who, "s"))
        assert block(shown, "G") == []
        assert any("in French" in line for line in block(shown, "R"))
        assert "Evi" not in shown["memory_block"]["text"]
    [memory] = store.for_viewer("tom")._conversing.requests(HOME)
    assert (memory.kind, memory.priority) == ("procedural", "reference")
    assert store._conversing.requests(HOME) == store.for_anyone()._conversing.requests(HOME) == []
    assert (
        store.for_viewer("eva")._conversing.requests(HOME)[0].text == "Eva wants to be called Evi."
    )


def test_a_deleted_wish_is_not_shown(store: MemoryStore) -> None:
    """Deleted requests are shown to nobody."""
    told(store, "tom", "Never use tables.", "t1")
    [memory] = store.for_viewer("tom")._conversing.requests(HOME)
    store.delete(HOME, memory.key)
    assert store.for_viewer("tom")._conversing.requests(HOME) == []
