"""Processes that tests start."""

from __future__ import annotations

import multiprocessing
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
