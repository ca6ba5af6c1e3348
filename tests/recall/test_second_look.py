"""A second look follows a chain of facts."""

from __future__ import annotations

from langmemory import MemoryStore
from langmemory.recall.explain import _moves

NS = ("memories", "team")
OTHERS = [
    f"{who} {what}."
    for who in ("Ana", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal")
    for what in ("likes tea", "plays chess", "has a garden", "reads a lot")
]


def test_what_the_first_results_name_is_looked_up() -> None:
    """The preset thorough finds the second link of a chain, which has no word of the question."""
    with MemoryStore(":memory:") as store:
        said = ["Mara's sister works at Hollins.", *OTHERS, "Hollins is in Ghent, by the canal."]
        for n, text in enumerate(said):
            store.remember(NS, [("user", text)], thread_id=f"t{n}")
        question = "In which town is the job of Mara's sister?"
        found = store.recall(question, NS, preset="thorough", limit=10, explain=True)
        texts = [one.text for one in found]
        scores = [one.score for one in found]
        assert said[0] in texts[:4]
        assert said[-1] in texts
        assert scores == sorted(scores, reverse=True)
        assert all(one.explanation is not None for one in found)


def test_a_result_that_the_first_look_left_out_is_explained() -> None:
    """A memory that a stage of the first look took out, and the second look found, has no moves there."""
    assert _moves(
        1, [("", {1: 1}), ("scoring", {1: 2}), ("derivation", {}), ("rerank", {1: 4})]
    ) == ("scoring: 1 -> 2",)
