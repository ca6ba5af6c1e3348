"""How long a recall takes, embedding included, beside the store's own hybrid search.

python -m benchmarks.recall_latency 10000 100000
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.corpus import Corpus
from benchmarks.measure import settle
from langmemory import MemoryStore

QUESTIONS = 200
SESSION = 1_000
"""Turns that are remembered as one thread."""


def filled(path: Path, size: int) -> MemoryStore:
    """A store with so many remembered turns."""
    store = MemoryStore(path)
    for start in range(0, size, SESSION):
        turns = [
            {"role": "user" if n % 2 else "assistant", "content": text, "id": f"m{start + n}"}
            for n, text in enumerate(Corpus().texts(start, min(start + SESSION, size)))
        ]
        store.remember(("memories", "ana"), turns, thread_id=f"t{start}")
    return store


def timed(call: Callable[[str], object], questions: list[str]) -> str:
    """p50 and p95 in milliseconds of a call for each question, by a process that goes on asking."""
    for question in questions:
        call(question)
    settle(lambda n: call(questions[n]))
    spent = []
    for question in questions:
        start = time.perf_counter()
        call(question)
        spent.append((time.perf_counter() - start) * 1e3)
    return f"p50 {np.percentile(spent, 50):.2f} ms  p95 {np.percentile(spent, 95):.2f} ms"


def main() -> None:
    questions = Corpus().questions(0, QUESTIONS)
    for size in [int(one) for one in sys.argv[1:]] or [10_000]:
        with (
            tempfile.TemporaryDirectory() as folder,
            filled(Path(folder) / "memory.db", size) as store,
        ):
            place = ("memories", "ana")
            print(f"{size:,} memories")
            print("  search", timed(lambda q: store.search(place, query=q), questions))  # noqa: B023
            print("  recall", timed(lambda q: store.recall(q, place), questions))  # noqa: B023


if __name__ == "__main__":
    main()
