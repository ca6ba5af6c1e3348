"""``python -m benchmarks.hot_path``: the cost of memory in a turn of conversation.

One person talks to the chat graph's nodes over a `MemoryStore` that is full of earlier
conversations, with a different question every turn. Measured is what they wait for: recall (with
core memory, mandates, and the memory block rendered), the prompt with its budget, and remembering;
not the model, and not LangGraph's own steps. Target: p95 of the whole below 15 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from rich.console import Console
from rich.table import Table

from benchmarks.corpus import Corpus
from benchmarks.machine import description
from langmemory.nodes import ModelNode, RecallNode, RememberNode
from langmemory.nodes.core_memory import CoreMemory
from langmemory.stores import MemoryStore

ANNA = ("memories", "anna")
CONFIG: Any = {"configurable": {"user_id": "anna", "thread_id": "today"}}
TARGET_MS = 15.0
WARM_UP = 20
THREAD = 50
"""Messages in each earlier conversation."""
WINDOW = 20
"""Messages of this conversation that the model still sees."""

Spent = dict[str, tuple[float, float]]
"""Milliseconds by step: on the clock, and of processor time."""


class Conversation:
    """One long conversation, turn after turn, as the chat graph would run it."""

    def __init__(self, store: MemoryStore, memories: int) -> None:
        self.corpus = Corpus(seed=7)
        self.memories = memories
        self.recall = RecallNode(store=store)
        self.model = ModelNode(FakeListChatModel(responses=["Understood."]))
        self.remember = RememberNode(store=store)
        self.state: dict[str, Any] = {"messages": []}

    def turn(self, n: int) -> Spent:
        spent: Spent = {}
        self._say(n)
        self._step(spent, "recall", lambda: self.recall.invoke(self.state, CONFIG))
        self._step(spent, "prompt", self._prompt)
        self._answer(n)
        self._step(spent, "remember", lambda: self.remember.invoke(self.state, CONFIG))
        return spent

    async def aturn(self, n: int) -> Spent:
        spent: Spent = {}
        self._say(n)
        await self._astep(spent, "recall", lambda: self.recall.ainvoke(self.state, CONFIG))
        self._step(spent, "prompt", self._prompt)
        self._answer(n)
        await self._astep(spent, "remember", lambda: self.remember.ainvoke(self.state, CONFIG))
        return spent

    def _say(self, n: int) -> None:
        self._add(HumanMessage(self.corpus.fact(n * 37 % self.memories).question, id=f"h{n}"))

    def _prompt(self) -> dict[str, Any]:
        self.model._prepare(self.state)
        return {}

    def _answer(self, n: int) -> None:
        label = next((one["label"] for one in self.state["memory_block"]["entries"]), "R:00000000")
        self._add(AIMessage(f"{self.corpus.fact(self.memories + n).text} [{label}]", id=f"a{n}"))

    def _add(self, message: AnyMessage) -> None:
        self.state["messages"] = [*self.state["messages"], message][-WINDOW:]

    def _step(self, spent: Spent, name: str, call: Callable[[], dict[str, Any]]) -> None:
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        self.state |= call()
        wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
        spent[name] = (wall / 1e6, cpu / 1e6)

    async def _astep(
        self, spent: Spent, name: str, call: Callable[[], Awaitable[dict[str, Any]]]
    ) -> None:
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        self.state |= await call()
        wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
        spent[name] = (wall / 1e6, cpu / 1e6)


def fill(store: MemoryStore, memories: int) -> None:
    """Earlier conversations, core memory, and a few rules that always hold."""
    corpus = Corpus(seed=7)
    for start in range(0, memories, THREAD):
        stop = min(start + THREAD, memories)
        said: list[AnyMessage] = [
            (HumanMessage if at % 2 else AIMessage)(corpus.fact(at).text, id=str(at))
            for at in range(start, stop)
        ]
        store.remember(ANNA, said, thread_id=f"thread-{start}")
    core = CoreMemory(store, ANNA)
    core.append("persona", "Friendly, brief, answers in the language of the question.")
    core.append("human", "Name: Anna. Lives in Graz with two children and a dog called Bello.")
    for rule in ("Never mention the surprise party.", "Prices are always in euros."):
        store.put(ANNA, rule, {"text": rule, "priority": "mandate"})


def measure(conversation: Conversation, turns: int, *, asynchronous: bool) -> list[Spent]:
    """The turns after the warm-up."""
    first = 100_000 if asynchronous else 0

    async def all_async() -> list[Spent]:
        return [await conversation.aturn(first + n) for n in range(WARM_UP + turns)]

    gc.collect()
    gc.freeze()
    if asynchronous:
        taken = asyncio.run(all_async())
    else:
        taken = [conversation.turn(first + n) for n in range(WARM_UP + turns)]
    return taken[WARM_UP:]


def table(title: str, taken: list[Spent]) -> Table:
    shown = Table("step", title=title, title_justify="left", box=None, header_style="dim")
    for column in ("p50 ms", "p95 ms", "max ms", "CPU p50", "CPU p95"):
        shown.add_column(column, justify="right")
    for name in (*taken[0], "all"):
        both = np.array(
            [
                np.sum(list(spent.values()), axis=0) if name == "all" else spent[name]
                for spent in taken
            ]
        )
        wall, cpu = both[:, 0], both[:, 1]
        figures = (*np.percentile(wall, (50, 95)), wall.max(), *np.percentile(cpu, (50, 95)))
        missed = name == "all" and figures[1] > TARGET_MS
        shown.add_row(name, *(f"{one:.2f}" for one in figures), style="red" if missed else None)
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.hot_path")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--folder", help="where the memory file is made; else the temporary one")
    options = parser.parse_args()
    console = Console()
    facts = description(None)
    console.print(" · ".join(facts[name] for name in ("processor", "load before", "commit")))
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        MemoryStore(Path(folder) / "memory.db") as store,
    ):
        fill(store, options.memories)
        conversation = Conversation(store, options.memories)
        for asynchronous in (False, True):
            taken = measure(conversation, options.turns, asynchronous=asynchronous)
            name = "await" if asynchronous else "sync"
            console.print(
                table(f"{name}: {options.turns} turns, {options.memories:,} memories", taken)
            )
    console.print(f"Target: p95 of all below {TARGET_MS:.0f} ms; load skews the clock, not CPU.")


if __name__ == "__main__":
    main()
