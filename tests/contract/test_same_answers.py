"""Same memory, same answers: fuzzed stores in a file, copied to a server, are asked the same there."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from langmemory.ledger.transfer.sampling import same_ranking
from langmemory.stores import MemoryStore, copy
from langmemory.types import SearchMode
from tests import postgres_server
from tests.seeds import seeds
from tests.stores import fuzzed

pytestmark = pytest.mark.sqlite  # one of the two is a file

STORES = int(os.environ.get("LANGMEMORY_FUZZED_STORES", 8))
"""How many; 300 take about ten minutes."""
BLOCKS = [range(1), *(range(at, min(at + 15, STORES)) for at in range(1, STORES, 15))]
"""Some for each test."""
QUESTIONS = 10
"""Of each store, in each mode."""
TIE = 1e-6
NOW = datetime(2026, 11, 1, tzinfo=UTC)
SHARE = 0.99
"""Of the answers are equal. The last bit of a cosine can decide between two paths over the graph."""


def asked(store: MemoryStore, question: fuzzed.Question) -> list[tuple[tuple[Any, str], float]]:
    """Return the best ten, by place and score."""
    options: Any = question.options
    seen = store if question.viewer is None else store.for_viewer(question.viewer)
    found = seen.recall(question.text, question.namespace, now=NOW, counted=False, **options)
    return [((one.memory.namespace, one.memory.key), one.score) for one in found]


def compared(seed: int, path: str, address: str) -> list[tuple[str, fuzzed.Question, bool]]:
    """Fill a file, copy it, and ask both; return whether each answer is the same."""
    with MemoryStore(path) as store:
        fuzzed.fill(store, seed)
    copy(path, address)
    found = []
    for mode in get_args(SearchMode):
        with (
            MemoryStore(path, index={"search": mode}) as file,
            MemoryStore(address, index={"search": mode}) as server,
        ):
            for question in fuzzed.questions(seed, QUESTIONS):
                ranked = [asked(store, question) for store in (file, server)]
                found.append((mode, question, same_ranking(*ranked, TIE)))
    return found


@pytest.mark.parametrize("stores", seeds(BLOCKS, first=1), ids=str)
def test_both_engines_answer_alike(stores: range, tmp_path: Path) -> None:
    """The best ten of a file and of its copy on a server are equal in 99 of 100 answers, ties aside:
    hybrid, by meaning and by words, with filters, viewers and times, in seven languages."""
    found = []
    for seed in stores:
        address = postgres_server.fresh()
        try:
            found += compared(seed, str(tmp_path / f"{seed}.db"), address)
        finally:
            postgres_server.drop(address)
    wrong = [one[:2] for one in found if not one[2]]
    assert len(found) == len(stores) * QUESTIONS * len(get_args(SearchMode))
    print(f"{len(found) - len(wrong)} of {len(found)} answers are equal")
    assert len(wrong) <= (1 - SHARE) * len(found), wrong
