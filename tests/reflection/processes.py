"""Child processes of these tests, run as ``python -c`` or by multiprocessing."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langmemory import MemoryStore
from langmemory.reflection import LocalReflectionExecutor, Worker, WorkOptions
from langmemory.types import Job
from tests.postgres_server import place

QUICK = WorkOptions(poll_seconds=0.02, lease_seconds=30)


def say(path: Path, text: str) -> None:
    """Append a line to the diary beside the file; short appends are never torn."""
    diary = os.open(f"{path}.diary", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(diary, f"{text}\n".encode())
    os.close(diary)


def drain(path: Path, name: str, other: str) -> None:
    """Do everything that waits, and end; no more than is begun at once before the other has begun."""

    def perform(job: Job) -> None:
        say(path, f"{name} {job.id}")
        while f"{other} " not in Path(f"{path}.diary").read_text():
            time.sleep(0.005)

    with MemoryStore(place(path), index=False) as store:
        worker = Worker(store.jobs, perform, kind="shared", lanes=2, options=QUICK)
        worker.start(until_idle=True)
        worker.join()


def leave(path: Path) -> None:
    """Submit, begin something that takes for ever, and reach the end of the program."""
    store = MemoryStore(place(path), index=False)

    def reflect(payload: dict[str, Any]) -> None:
        say(path, f"began {payload['n']}")
        time.sleep(600)

    executor = LocalReflectionExecutor(reflect, store, name="shared", options=QUICK)
    for n in range(3):
        executor.submit({"n": n}, thread_id=None)
    diary = Path(f"{path}.diary")
    while not (diary.exists() and diary.read_text()):  # it is there before its first line is
        time.sleep(0.01)


class State(TypedDict):
    namespace: list[str]
    thread_id: str


def command_line(path: Path) -> None:
    """`langmemory …` with a reflection graph that, where the variable HELD is set, ends when there is
    a file of this name, and fails at the thread that FAILS names."""
    from langmemory.cli.app import app

    def build_reflection_graph(store: MemoryStore) -> Any:
        def reflect(state: State) -> None:
            say(path, f"began {state['thread_id']}")
            while (held := os.environ.get("HELD")) and not Path(held).exists():
                time.sleep(0.005)
            if state["thread_id"] == os.environ.get("FAILS"):
                raise ConnectionError("no answer")
            say(path, f"ended {state['thread_id']}")

        builder = StateGraph(State)
        builder.add_node("reflect", reflect)
        builder.add_edge(START, "reflect")
        builder.add_edge("reflect", END)
        return builder.compile(name="reflection")

    module: Any = ModuleType("langmemory.graphs.reflection")
    module.build_reflection_graph = build_reflection_graph
    sys.modules[module.__name__] = module
    app()
