"""Pictures of the graph can be read: nothing lies on what is not its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from langmemory import MemoryStore
from langmemory.cli.demo import NAMESPACE, sample_folder
from langmemory.graphs import build_reflection_graph
from langmemory.importers.importing import import_conversations
from langmemory.subgraph.picture import arranged, places, said_once
from langmemory.subgraph.subgraph import Subgraph
from tests.graph_world import apply, entities, fact

NAMES = {
    "maria": ("Maria Silva", "person"), "tom": ("Tom", "person"), "eva": ("Eva", "person"),
    "rui": ("Rui", "person"), "ana": ("Ana", "person"), "coffee": ("Coffee", "thing"),
    "chess": ("Chess", "thing"), "sailing": ("Sailing", "thing"), "rex": ("Rex", "animal"),
    "lisbon": ("Lisbon", "place"), "porto": ("Porto", "place"),
    "initech": ("Initech Iberia", "organisation"),
}  # fmt: skip
CLAIMS = (
    "maria likes coffee", "maria plays chess", "maria likes sailing", "maria has_pet rex",
    "maria married_to tom", "maria sister_of eva", "rui friend_of maria", "ana mother_of maria",
    "maria lives_in lisbon", "maria works_at initech", "tom lives_in lisbon", "eva lives_in porto",
    "ana lives_in porto", "tom likes sailing", "rui plays chess", "initech located_in lisbon",
)  # fmt: skip
"""Twelve people and things."""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Subgraph]]:
    path: Path = tmp_path_factory.mktemp("pictures") / "memory.db"
    with MemoryStore(path) as store:
        with (sample_folder() / "lena.jsonl").open("rb") as stream:
            import_conversations(store, NAMESPACE, stream, "messages")
        build_reflection_graph(store, journal=False).invoke({"namespace": list(NAMESPACE)})
        claims = (fact(f"f{n}", "x", *claim.split()) for n, claim in enumerate(CLAIMS))
        changes = [*entities(NAMES), *(change for claim in claims for change in claim)]
        apply(store, "twelve", *changes, namespace=("twelve",))
        sample = store.graph(NAMESPACE)
        yield {
            "the sample": sample.subgraph("Lena", 3, past=True),
            "around another": sample.subgraph("Katrin", 2, past=True),
            "one step": sample.subgraph("Lena", 1, past=True),
            "twelve": store.graph(("twelve",)).subgraph("Maria Silva", 4),
        }


def overlapping(
    one: np.ndarray, one_sizes: np.ndarray, other: np.ndarray, other_sizes: np.ndarray
) -> np.ndarray:
    """bool[n, m]: which of these rectangles lie on which of those."""
    room = (one_sizes[:, None] + other_sizes[None]) / 2
    return (np.abs(one[:, None] - other[None]) < room).all(axis=2)


@pytest.mark.parametrize("name", ["the sample", "around another", "one step", "twelve"])
def test_nothing_lies_on_anything_else(pictures: dict[str, Subgraph], name: str) -> None:
    """No two of the boxes and labels overlap; the same graph looks the same every time."""
    boxes, _, sizes, at = arranged(pictures[name])
    assert len(boxes) >= 10
    assert not np.triu(overlapping(at, sizes, at, sizes), 1).any()
    assert np.array_equal(at, arranged(pictures[name])[3])


def test_what_nothing_connects_stands_beside_each_other() -> None:
    """Parts without an edge between them neither overlap nor drift apart, however large one of them
    is."""
    ring = [(n, (n + 1) % 20, 1.0) for n in range(20)]
    sizes = np.full((30, 2), (1.0, 0.3))
    at = places(sizes, [*ring, (21, 22, 1.0), (23, 24, 1.0)])
    assert not np.triu(overlapping(at, sizes, at, sizes), 1).any()
    whole, part = (sizes[0] + np.ptp(some, axis=0) for some in (at, at[:20]))
    assert whole.prod() < 1.6 * part.prod()


def test_a_claim_that_began_and_ended_in_one_year_names_it_once(
    pictures: dict[str, Subgraph],
) -> None:
    """Lena lived in Hamburg until 2026, as far as is known since 2026: that is "2026"."""
    labels = {arrow.label for arrow in arranged(pictures["the sample"])[1]}
    assert "lives in, 2026" in labels
    assert not any("2026–2026" in label for label in labels)


def test_what_is_over_is_drawn_once(pictures: dict[str, Subgraph]) -> None:
    """That Lena no longer works there is a dashed arrow, and no second one beside it."""
    labels = {arrow.label for arrow in arranged(said_once(pictures["the sample"]))[1]}
    assert "works at, 2026" in labels
    assert not any(label.startswith("no longer") for label in labels)
