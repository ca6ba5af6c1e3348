"""A fact that ended holds again once it is said again, whether rules or a model read each turn."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from langmemory.graphs import build_reflection_graph
from tests.formation.retold import NS, Retelling, at, told
from tests.seeds import seeds
from tests.tables import tables

CASES = tables(__file__)

DAYS = ("2026-01-01", "2026-02-01", "2026-03-01")
TURNS = CASES["turns"]


READERS = list(itertools.product(("rules", "model"), repeat=3))
CASES = [
    (readers, TURNS[(number + shift) % len(TURNS)])
    for shift in range(len(TURNS))
    for number, readers in enumerate(READERS)
]
"""Who reads each turn, with each fact; the first eight are all readers, and each fact twice."""


@pytest.mark.parametrize(("readers", "turns"), seeds(CASES, first=len(READERS)))
def test_what_is_so_again_alone_holds(
    tmp_path: Path, turns: tuple[tuple[str, str], ...], readers: tuple[str, ...]
) -> None:
    """Of a fact, its end and its return exactly one holds after each of them: the last."""
    known = Retelling(tmp_path / "memory.db")
    holding = []
    for day, reader, (said, line) in zip(DAYS, readers, turns, strict=True):
        if reader == "model":
            known.tell(told(day, said, line))
        else:
            message = {"role": "user", "name": "Lena", "content": said, "at": at(day)}
            known.store.remember(NS, [message], thread_id=day, owner="lena")
            graph = build_reflection_graph(
                known.store, namespace=NS, journal=False, now=lambda day=day: at(day)
            )
            graph.invoke({"namespace": list(NS), "thread_id": day})
        found = [one for one in known.store.admin.memories(NS) if one.kind != "episodic"]
        assert len(found) == 1, [one.text for one in found]
        holding.append(found[0].value["relation"])
    known.close()
    first, over, again = holding
    assert again == first != over
