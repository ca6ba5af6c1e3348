"""A fact that ended holds again once it is said again, whether rules or a model read each turn."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from langmemory.graphs import build_reflection_graph
from tests.formation.retold import NS, Retelling, at, told
from tests.seeds import seeds

DAYS = ("2026-01-01", "2026-02-01", "2026-03-01")
TURNS = [
    (
        ("I work at BMW.", "Lena works at BMW|Lena > works_at > BMW"),
        ("I no longer work at BMW.", "Lena no longer works at BMW|Lena > no longer works_at > BMW"),
        ("I work at BMW again.", "Lena works at BMW again|Lena > works_at > BMW"),
    ),
    (
        ("I play chess.", "Lena plays chess|Lena > has_hobby > =chess"),
        ("I stopped playing chess.", "Lena stopped chess|Lena > no longer has_hobby > =chess"),
        ("I play chess again.", "Lena plays chess again|Lena > has_hobby > =chess"),
    ),
    (
        ("I live in Bonn.", "Lena lives in Bonn|Lena > lives_in > Bonn"),
        (
            "I don't live in Bonn anymore.",
            "Lena no longer lives in Bonn|Lena > no longer lives_in > Bonn",
        ),
        ("I live in Bonn again.", "Lena lives in Bonn again|Lena > lives_in > Bonn"),
    ),
    (
        ("I like olives.", "Lena likes olives|Lena > likes > =olives"),
        ("I don't like olives anymore.", "Lena dislikes olives|Lena > dislikes > =olives"),
        ("I like olives again.", "Lena likes olives again|Lena > likes > =olives"),
    ),
]


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
