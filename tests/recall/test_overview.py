"""Overviews over a real file: with a tree of summaries and without, and what nobody may see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from langmemory.config import Config, RecallConfig
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.recall import overview, pipeline
from langmemory.recall.fact_sources import FactSources
from langmemory.recall.intent import read_intent
from langmemory.stores import MemoryStore
from langmemory.types import Namespace
from langmemory.wire import plain

ADA: Namespace = ("memories", "ada")
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
PLAIN = Config(recall=RecallConfig(presets={"plain": {"overview": False}}))
SAID = {
    1: "We bought the old mill by the river for 90,000 euros.",
    2: "The carpenter Jorn has repaired the roof, it cost 12,000 euros.",
    3: "Our neighbours complained about the noise of the turbine.",
    4: "The first guests have booked two rooms for Easter.",
    5: "Jorn broke his arm and the stairs have to wait until June.",
    6: "The stairs are done, and the inspector has signed everything.",
}
"""One turn in the middle of each month."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "memory.db", config=PLAIN) as opened:
        yield opened


def month(number: int) -> datetime:
    return datetime(2026, number, 15, 10, tzinfo=UTC)


def say(store: MemoryStore, text: str, at: datetime, **facets: Any) -> str:
    said = {"role": "user", "content": text, "at": at}
    [key] = store.remember(ADA, [said], thread_id=f"{at:%j}", **facets)
    return key


def told(store: MemoryStore) -> dict[int, str]:
    """Keys of the six turns by month, each with two others of the same day that tell little."""
    keys = {}
    for number, text in SAID.items():
        keys[number] = say(store, text, month(number))
        for minutes, more in enumerate(("I had soup for lunch.", "It rained a bit."), start=1):
            say(store, more, month(number) + timedelta(minutes=minutes))
    return keys


def night(store: MemoryStore) -> None:
    build_maintenance_graph(store, tasks=["summarise"], now=lambda: NOW).invoke({})


def keys_of(store: MemoryStore, query: str, **options: Any) -> list[str]:
    found = store.recall(query, ADA, now=NOW, **options)
    return [one.memory.key for one in found.results]


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("What happened in spring?", "overview"),
        ("Summarise the project.", "overview"),
        ("What have we talked about?", "overview"),
        ("How did the move go over the year?", "overview"),
        ("In which order did we visit the towns?", "order"),
        ("What came first, the roof or the stairs?", "order"),
        ("List our trips chronologically.", "order"),
        ("Was ist im Frühling passiert?", "overview"),
        ("Fass das Projekt bitte zusammen.", "overview"),
        ("Worüber haben wir gesprochen?", "overview"),
        ("In welcher Reihenfolge kamen Dach und Treppe?", "order"),
        ("¿Qué pasó en primavera?", "overview"),
        ("Resume el proyecto.", "overview"),
        ("¿De qué hemos hablado?", "overview"),
        ("¿En qué orden visitamos las ciudades?", "order"),
        ("春天发生了什么？", "overview"),
        ("总结一下这个项目。", "overview"),
        ("我们聊过什么？", "overview"),
        ("这些事情的先后顺序是什么？", "order"),
    ],
)
def test_broad_questions_are_recognised(query: str, asks: str) -> None:
    """Each language tells questions for an overview or an order."""
    assert asks in read_intent(query, NOW).asks


@pytest.mark.parametrize(
    "query",
    [
        "Where does Ada live?", "What happened to my keys?", "When did the roof leak?",
        "Who came to dinner first thing on Monday?", "How do I order a pizza?",
        "Wo wohnt Klara?", "Wann war die Hochzeit?", "¿Dónde vive Ana?", "他住在哪里？",
    ],
)  # fmt: skip
def test_other_questions_are_not_broad(query: str) -> None:
    """A question for one thing asks for no overview."""
    assert not read_intent(query, NOW).asks_whole


@pytest.mark.parametrize(
    "query",
    [
        "What have we talked about?", "Worüber haben wir gesprochen?", "¿De qué hemos hablado?",
        "我们聊过什么？",
    ],
)  # fmt: skip
def test_a_question_without_a_topic_is_answered_by_the_tree(store: MemoryStore, query: str) -> None:
    """Each month that was talked about has its say before any has a second one."""
    keys = told(store)
    night(store)
    found = store.recall(query, ADA, now=NOW, limit=6, explain=True)
    assert {one.memory.valid_at.month for one in found.results if one.memory.valid_at} == {*keys}
    assert {one.memory.key for one in found.results} == {*keys.values()}
    assert found.trace.candidates["summaries"] >= 6
    assert "overview" in found.trace.intent["asks"]
    assert all("summaries" in one.explanation.ranks for one in found.results if one.explanation)


@pytest.mark.parametrize(
    "query",
    [
        "What happened in spring?", "Was ist im Frühling passiert?", "¿Qué pasó en primavera?",
        "春天发生了什么？",
    ],
)  # fmt: skip
def test_a_stretch_of_time_is_answered_by_its_summaries(store: MemoryStore, query: str) -> None:
    """What happened in spring comes from March to May."""
    keys = told(store)
    night(store)
    assert set(keys_of(store, query, limit=3)) == {keys[3], keys[4], keys[5]}


def test_the_answer_fits_the_budget_and_is_spread(store: MemoryStore) -> None:
    """Within few tokens there is something of as many months as fit."""
    keys = told(store)
    night(store)
    found = store.recall("What have we talked about?", ADA, now=NOW, budget_tokens=60)
    assert len(found.results) >= 3
    assert len({one.memory.valid_at for one in found.results}) == len(found.results)
    assert {one.memory.key for one in found.results} <= {*keys.values()}


def test_an_order_of_events_comes_in_order_of_time(store: MemoryStore) -> None:
    """The events are chosen by how well they answer, within the budget, and then put in order of time."""
    keys = told(store)
    query = "In which order came the stairs, the roof and the guests?"
    found = store.recall(query, ADA, now=NOW, budget_tokens=60)
    times = [one.at for one in found.results]
    assert found.trace.by_time
    assert times == sorted(times)
    shown = {one.memory.key for one in found.results}
    assert {keys[2], keys[4]} <= shown
    assert shown & {keys[5], keys[6]}
    assert plain(found)["trace"]["by_time"]
    assert not store.recall("Who repaired the roof?", ADA, now=NOW).trace.by_time


def test_the_budget_decides_and_not_the_limit(store: MemoryStore) -> None:
    """A budget with room for more results than other questions have is used for an overview."""
    for number in range(60):
        say(store, f"The mill got part {number}.", month(1) + timedelta(hours=number))
    broad, other = "Summarise the work on the mill.", "Which part did the mill get?"
    assert len(keys_of(store, other, budget_tokens=1000)) == 40
    assert len(keys_of(store, broad, budget_tokens=1000)) == 60
    assert len(keys_of(store, broad, budget_tokens=1000, limit=7)) == 7


def test_within_a_budget_a_long_text_counts_by_the_token() -> None:
    """A text of more than a fifth of the budget keeps the share that fits; without a budget all keep all."""
    tokens = np.array([10, 100, 200, 400], np.int64)
    assert overview.per_token(tokens, 500).tolist() == [1, 1, 0.5, 0.25]
    assert overview.per_token(tokens, None).tolist() == [1, 1, 1, 1]
    assert overview.per_token(tokens, 20).tolist()[0] == 1


def test_the_best_stay_first_and_what_was_told_comes_later() -> None:
    """What the first ranking had first stays first; a fact counts less after the turn it was derived from."""
    none = np.empty(0, np.int64)
    turn, fact, other, best = range(4)
    facts = FactSources(
        derived=np.array([fact]), sources=np.array([turn]), superseded=none, successors=none
    )
    worth = np.array([1, 0.9, 0.8, 0.1], np.float32)
    order = overview.spread(
        np.array([turn, fact, other, best]),
        worth,
        np.arange(4),
        1.0,
        first=np.array([best]),
        fact_sources=facts,
    )
    assert order.tolist() == [best, turn, other, fact]


@pytest.mark.parametrize(
    "query", ["What have we talked about?", "In which order did things happen?"]
)
def test_the_gate_lets_an_overview_without_a_topic_through(store: MemoryStore, query: str) -> None:
    """Such a question asks for no memory in particular, so that no probability keeps the block empty; thanks
    still bring nothing."""
    told(store)
    assert len(store.recall(query, ADA, now=NOW, min_score="auto").results) >= len(SAID)
    assert not store.recall("Thanks!", ADA, now=NOW, min_score="auto").results


def test_without_a_tree_broad_questions_are_answered(store: MemoryStore) -> None:
    """Where no night ever ran, the questions find memories; in an empty store they find nothing."""
    assert keys_of(store, "What have we talked about?") == []
    assert keys_of(store, "In which order did things happen?") == []
    keys = told(store)
    assert keys_of(store, "What have we talked about?")
    assert keys[1] in keys_of(store, "Summarise the work on the mill.", limit=4)


def test_private_memories_are_in_nobody_elses_overview(store: MemoryStore) -> None:
    """A tree with private nodes opens none of them, nor what they retell, to others."""
    told(store)
    for number in (2, 5):
        secret = f"The divorce lawyer called me in month {number} about the house and the money."
        say(store, secret, month(number) + timedelta(hours=2), owner="bo", privacy="private")
    night(store)
    for query in ("What have we talked about?", "What happened in May?", "Summarise the divorce."):
        for reader, sees in (
            (store, True),
            (store.for_viewer("bo"), True),
            (store.for_viewer("ada"), False),
            (store.for_anyone(), False),
        ):
            found = reader.recall(query, ADA, now=NOW, limit=20)
            assert any("divorce" in one.text for one in found.results) is sees


@pytest.mark.parametrize(
    "options",
    [
        {"kinds": ("semantic",)},
        {"filter": {"role": "assistant"}},
        {"until": datetime(2025, 1, 1, tzinfo=UTC)},
        {"as_of": datetime(2025, 1, 1, tzinfo=UTC)},
        {"known_at": datetime(2025, 1, 1, tzinfo=UTC)},
    ],
)
def test_the_scope_holds_for_what_the_tree_retells(
    store: MemoryStore, options: dict[str, Any]
) -> None:
    """Kinds, filters and times keep out of an overview what they keep out of everything else."""
    told(store)
    night(store)
    assert keys_of(store, "What have we talked about?", **options) == []


def test_what_is_excluded_or_deleted_is_in_no_overview(store: MemoryStore) -> None:
    """Keys that the caller names, and memories deleted after the night, are not returned."""
    keys = told(store)
    night(store)
    store.delete(ADA, keys[4])
    found = keys_of(store, "What have we talked about?", exclude=[keys[1]], limit=20)
    assert found
    assert not {keys[1], keys[4]} & {*found}


QUESTIONS = (
    "Who repaired the roof?", "Where is the mill?", "What did the neighbours say?", "Jorn",
    "When did guests book?", "What happened to the stairs?", "",
)  # fmt: skip


def test_other_questions_are_answered_as_without_overviews(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question for one thing has the same results, scores and parts with overviews on and off, and reads
    nothing of the tree."""
    told(store)
    night(store)

    def answers(preset: str) -> list[Any]:
        found = [store.recall(one, ADA, now=NOW, preset=preset) for one in QUESTIONS]
        return [[replace(one, explanation=None) for one in recall.results] for recall in found]

    def untouched(*_: Any, **__: Any) -> None:
        pytest.fail("an overview was made")

    before = answers("plain")
    for name in ("found_in", "found_around"):
        monkeypatch.setattr(pipeline.overview, name, untouched)
    assert any(before)
    assert _without_uses(answers("balanced")) == _without_uses(before)


def _without_uses(answers: Sequence[Sequence[Any]]) -> list[Any]:
    """What was recalled, without when it was last accessed, which each recall changes."""
    return [
        [
            replace(one, memory=replace(one.memory, access_count=0, accessed_at=None))
            for one in results
        ]
        for results in answers
    ]


def test_broad_questions_are_as_before_where_the_preset_says_so(store: MemoryStore) -> None:
    """With `overview` off, and in `fast`, the results stand in the order of their own scores."""
    told(store)
    night(store)
    for preset in ("plain", "fast"):
        found = store.recall(
            "In which order came the stairs and the roof?", ADA, now=NOW, preset=preset
        )
        assert not found.trace.by_time
        scores = [one.score for one in found.results]
        assert scores == sorted(scores, reverse=True)
