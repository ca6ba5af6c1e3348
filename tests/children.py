"""Processes that tests start."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.context import BaseContext

PRELOADED = (
    "pytest", "langmemory.reflection", "tests.durability.archives", "tests.durability.reflections",
    "tests.durability.writers", "tests.reflection.processes",
)  # fmt: skip


def process_context() -> BaseContext:
    """Return the context of processes that are forked off one that has imported the package, once for all
    tests of this process; where there is no fork, each imports it anew."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    return context


def ended(script: str, *arguments: object) -> int | None:
    """Run a script in a process of `process_context`; return its exit code, or the signal that killed it as a
    negative number."""
    child = process_context().Process(target=_run, args=(script, *map(str, arguments)))
    child.start()
    child.join()
    return child.exitcode


def _run(script: str, *arguments: str) -> None:
    sys.argv = ["-c", *arguments]
    exec(script, {"__name__": "__main__"})
