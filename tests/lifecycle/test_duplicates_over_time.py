"""Duplicates and contradictions over time, in nights over a real file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    ChangeSet,
    Facets,
    UpdateMemory,
)
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.graphs.reflection import build_reflection_graph
from langmemory.stores import MemoryStore
from langmemory.types import Namespace
from tests.believing import believing_graph
from tests.scripted import ScriptedModel
from tests.seeds import examples

ADA: Namespace = ("memories", "ada")
NOW = datetime(2026, 6, 1, tzinfo=UTC)
TASKS = ("duplicates", "contradictions")
TALK = (
    "I live in Hamburg.",
    "My sister Katrin lives in Bremen.",
    "I am allergic to peanuts.",
    "I work at Initech as a baker.",
    "I like green tea.",
    "My dog is called Bello.",
)


def change(store: MemoryStore, run: str, *changes: Change) -> None:
    """An application changes memory."""
    store.changes.apply(
        ChangeSet(namespace=ADA, run_id=run, kind="correction", reason="test", changes=changes)
    )


def fact(key: str, text: str, *, days: int = 100, value: Any = None, **more: Any) -> AddMemory:
    """A fact, said so many days before `NOW`."""
    at = NOW - timedelta(days=days)
    facets = {"kind": "semantic", "valid_at": at, "speaker": "Ada", **more.pop("facets", {})}
    told = {"text": text, "fact_kind": "fact", "said_at": at.isoformat(), **(value or {})}
    return AddMemory(key=key, value=told, facets=Facets(**facets), **more)


def entities(*keys: str) -> list[Change]:
    return [
        AddEntity(key=key, name=key.split("/")[1].rpartition("-")[0].replace("-", " ").title(),
                  kind=key.split("/")[0])
        for key in keys
    ]  # fmt: skip


def claiming(
    key: str, text: str, relation: str, about: str, *, subject: str = "person/ada-0001", **more: Any
) -> tuple[Change, ...]:
    return (
        fact(key, text, mentions=(subject, about), **more),
        AddEdge(fact=key, subject=subject, relation=relation, object=about),
    )


def night(
    store: MemoryStore, model: ScriptedModel | None = None, tasks: Sequence[str] = TASKS
) -> dict[str, Any]:
    """Return the reports of a night at `NOW`, by task."""
    graph = build_maintenance_graph(store, tasks=tasks, model=model, now=lambda: NOW)
    found = graph.invoke({})
    reports = {one["task"]: one for one in found["reports"]}
    assert [one["error"] for one in found["reports"]] == [None] * len(reports)
    return {**reports, "night": found["night"]}


def lines(found: dict[str, Any]) -> list[str]:
    return [line for task in TASKS for line in found[task]["lines"]]


def active(store: MemoryStore) -> list[str]:
    """Texts of the derived memories that hold."""
    rows = (row for row in store.admin.export(history=False) if row["type"] == "item")
    return sorted(
        row["value"]["text"]
        for row in rows
        if row.get("kind") == "semantic" and row.get("status", "active") == "active"
    )


def known(store: MemoryStore) -> list[dict[str, Any]]:
    return [row for row in store.admin.export(history=False) if row["type"] != "meta"]


def test_copies_are_merged_and_keep_their_evidence(store: MemoryStore) -> None:
    """What an application writes twice is one memory afterwards, with the evidence of both; a second night
    finds nothing."""
    turns = store.remember(
        ADA,
        [{"role": "user", "content": text} for text in ("Tea it is.", "Tea!", "Yes, tea.")],
        thread_id="t",
    )
    change(
        store, "import",
        fact("a", "Ada drinks green tea.", evidence=(turns[0],)),
        fact("b", "ada drinks green tea", evidence=turns[1:]),
    )  # fmt: skip
    assert store.admin.health().duplicates == 1
    night(store)
    assert active(store) == ["ada drinks green tea"], "the one with the most evidence stays"
    assert store.admin.health().duplicates == 0
    assert {one.key for one in store.changes.evidence(ADA, "b")} == set(turns)
    assert lines(night(store)) == []


def test_many_copies_become_one(store: MemoryStore) -> None:
    """Of hundreds of copies of one sentence the pinned one is left, in one night; what an application keeps
    more beside it is another memory."""
    for n in range(300):
        store.put(ADA, f"k{n:03}", {"text": "The door code is on the fridge."})
    store.put(ADA, "other", {"text": "The door code is on the fridge.", "project": 7})
    change(store, "pin", UpdateMemory(key="k200", facets=Facets(pinned=True)))
    night(store)
    assert active(store) == ["The door code is on the fridge."] * 2
    assert store.changes.history(ADA, "k200")[-1].action != "merge"
    assert store.changes.history(ADA, "other")[-1].action == "add"


@pytest.mark.parametrize("by", ["put", "update"])
def test_text_edited_into_a_copy_is_merged(store: MemoryStore, by: str) -> None:
    """A memory that was compared before is compared anew once its text is another."""
    change(store, "import", fact("a", "Ada drinks tea."), fact("b", "The cellar is damp."))
    assert lines(night(store)) == []
    value = {"text": "Ada drinks tea.", "fact_kind": "fact"}
    if by == "put":
        store.put(ADA, "b", value)
    else:
        change(store, "edit", UpdateMemory(key="b", value=value))
    night(store)
    assert active(store) == ["Ada drinks tea."]
    assert lines(night(store)) == []


def test_owners_and_privacy_are_kept_apart(store: MemoryStore) -> None:
    """The same words of two owners, or of one owner in private, stay several memories."""
    text = "The key is under the mat."
    change(
        store, "import",
        fact("a", text, facets={"owner": "ada"}),
        fact("b", text, facets={"owner": "bob"}),
        fact("c", text, facets={"owner": "ada", "privacy": "private"}),
        fact("d", text, facets={"owner": "bob", "privacy": "private"}),
    )  # fmt: skip
    assert lines(night(store)) == []
    assert len(active(store)) == 4


def test_what_a_person_confirmed_is_kept(store: MemoryStore) -> None:
    """A verified memory is the one that stays, and of two confirmed ones neither goes."""
    change(
        store, "import",
        fact("a", "Ada drinks tea."),
        fact("b", "Ada drinks tea.", facets={"verified": True}),
    )  # fmt: skip
    night(store)
    assert store.changes.history(ADA, "a")[-1].action == "merge"
    change(store, "more", fact("c", "Ada drinks tea.", facets={"pinned": True}))
    night(store)
    assert len(active(store)) == 2
    assert [one.about for one in store.changes.reviews(ADA)] == ["duplicate"]


def test_what_says_more_is_kept_with_the_claims_of_both(store: MemoryStore) -> None:
    """A merge loses no claim: the memory that is kept claims what the other claimed."""
    change(
        store, "import", *entities("person/ada-0001", "place/kiel-0001"),
        fact("a", "Ada lives in Kiel."),
        *claiming("b", "Ada lives in Kiel.", "lives_in", "place/kiel-0001"),
    )  # fmt: skip
    night(store)
    assert store.changes.history(ADA, "b")[-1].action == "merge"
    [edge] = store.graph(ADA).edges("Ada")
    assert edge.fact == "a"


def test_what_may_be_the_same_is_asked_once(store: MemoryStore) -> None:
    """Nearly the same words are a question to a person; what was answered is not asked again."""
    change(
        store, "import",
        fact("a", "Ada takes the early train to the office in the city on Mondays."),
        fact("b", "Ada takes the early train to the office in town on Mondays."),
    )  # fmt: skip
    night(store)
    [review] = store.changes.reviews(ADA)
    assert (review.about, set(review.memories)) == ("duplicate", {"a", "b"})
    store.changes.decide(review.id, "different")
    store.put(ADA, "b", {**store.get(ADA, "b").value, "seen": 1})  # type: ignore[union-attr]
    assert lines(night(store)) == []
    assert len(active(store)) == 2


def test_other_numbers_and_days_are_no_question(store: MemoryStore) -> None:
    """Texts that differ in a number, a day or a negation are neither merged nor asked about."""
    texts = (
        "Room 12 of the town hall is free.", "Room 13 of the town hall is free.",
        "Room 12 of the town hall is not free.", "Room 12 of the town hall is free on Monday.",
    )  # fmt: skip
    change(store, "import", *(fact(text, text) for text in texts))
    assert lines(night(store)) == []


HOMES = (
    *entities("person/ada-0001", "place/kiel-0001", "place/bonn-0001"),
    *claiming("a", "Ada lives in Kiel.", "lives_in", "place/kiel-0001", days=400),
    *claiming("b", "Ada moved to Bonn.", "lives_in", "place/bonn-0001", days=10),
)
LIKES = (
    *entities("person/ada-0001", "thing/tea-0001"),
    *claiming("a", "Ada likes tea.", "likes", "thing/tea-0001", days=400),
    *claiming("b", "Ada dislikes tea.", "dislikes", "thing/tea-0001", days=10),
)


def test_what_surely_gave_way_is_superseded(store: MemoryStore) -> None:
    """An imported home gives way to the later one, without a model, and a second night does nothing."""
    change(store, "import", *HOMES)
    found = night(store, ScriptedModel(otherwise=RuntimeError("asked")))
    assert active(store) == ["Ada moved to Bonn."]
    assert found["contradictions"]["model_calls"] == 0
    assert lines(night(store)) == []


def test_what_is_doubtful_is_asked(store: MemoryStore) -> None:
    """Where structure is not certain a review opens and both hold; it is asked once."""
    change(store, "import", *LIKES)
    night(store)
    [review] = store.changes.reviews(ADA)
    assert (review.about, set(review.memories)) == ("contradiction", {"a", "b"})
    assert len(active(store)) == 2
    store.changes.decide(review.id, "both")
    store.put(ADA, "c", {"text": "Something else."})
    assert lines(night(store)) == []


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ('{"verdicts": [{"pair": 1, "verdict": "supersedes"}]}', ["Ada dislikes tea."]),
        ('{"verdicts": [{"pair": 1, "verdict": "both_true"}]}', ["Ada dislikes tea.", "Ada likes tea."]),
        ("", ["Ada dislikes tea.", "Ada likes tea."]),
        ("I would rather not say.", ["Ada dislikes tea.", "Ada likes tea."]),
    ],
)  # fmt: skip
def test_a_model_is_asked_once_a_group(store: MemoryStore, answer: str, left: list[str]) -> None:
    """A model decides what structure leaves open; a useless answer changes nothing that holds and is
    told. The next night does not ask again."""
    change(store, "import", *LIKES)
    model = ScriptedModel(otherwise=answer)
    found = night(store, model)["contradictions"]
    assert active(store) == left
    assert bool(found["refused"]) == (not answer.startswith("{"))
    asked = len(model.prompts)
    assert found["model_calls"] == asked <= 2
    assert lines(night(store, model)) == []
    assert len(model.prompts) == asked


@pytest.mark.parametrize("changes", [HOMES, LIKES])
def test_contradictions_of_two_owners_are_left(
    store: MemoryStore, changes: tuple[Change, ...]
) -> None:
    """What two people say of each other's lives is not decided by a night."""
    change(store, "import", *changes)
    owned = [UpdateMemory(key=key, facets=Facets(owner=key)) for key in ("a", "b")]
    change(store, "owners", *owned)
    assert lines(night(store)) == []


def test_a_reflection_is_not_judged_twice(store: MemoryStore) -> None:
    """What a reflection compared, and a model found to hold side by side, is no question of a night."""
    for n, text in enumerate(("I like tea.", "I dislike tea.")):
        store.remember(
            ADA, [{"role": "user", "name": "Ada", "content": text}], thread_id=f"t{n}",
            at=NOW - timedelta(days=9 - n),
        )  # fmt: skip
        judge = ScriptedModel(otherwise='{"verdicts": [{"pair": 1, "verdict": "both_true"}]}')
        build_reflection_graph(store, judge=_judge(judge)).invoke({"namespace": list(ADA)})
    before = active(store)
    assert lines(night(store, ScriptedModel(otherwise=RuntimeError("asked")))) == []
    assert active(store) == before


def _judge(model: ScriptedModel) -> Any:
    from langmemory.formation.judging import ModelJudge

    return ModelJudge(model)


def _extraction(messages: list[BaseMessage]) -> str:
    """A model that finds a fact in each turn, in words that change from time to time."""
    shown = messages[-1].text
    facts = [
        {"text": f"Ada says: {text}", "evidence": [f"t{n}"], "kind": "fact", "claims": []}
        for n, text in enumerate((text for text in TALK if text in shown), start=1)
    ]
    return json.dumps({"facts": facts, "summary": {"text": ""}, "core": []})


@pytest.mark.parametrize("how", ["rules", "model"])
def test_nights_over_the_same_talk_leave_no_duplicate(store: MemoryStore, how: str) -> None:
    """The same talk, told and reflected anew in several threads with a night after each, is known once."""
    model = ScriptedModel(otherwise=_extraction) if how == "model" else None
    first: list[str] = []
    for n in range(examples(10, first=3)):
        told = NOW - timedelta(days=20 - n)
        store.remember(
            ADA, [{"role": "user", "name": "Ada", "content": text} for text in TALK],
            thread_id=f"t{n}", at=told,
        )  # fmt: skip
        believing_graph(store, model=model).invoke({"namespace": list(ADA)})
        night(store)
        first = first or active(store)
    assert first
    assert active(store) == first
    assert max(Counter(text.casefold().rstrip(".") for text in first).values()) == 1
    assert store.admin.health().duplicates == 0
    assert lines(night(store, ScriptedModel(otherwise=RuntimeError("asked")))) == []


def test_undo_of_a_night_gives_the_same_export(store: MemoryStore) -> None:
    """Merges, supersessions, links and questions are taken back together, and are not done again."""
    change(store, "import", *HOMES, fact("c", "Ada drinks tea."), fact("d", "Ada drinks tea."))
    change(store, "firms", *_firms("initech laboratories", "initech labaratories"))
    before = known(store)
    found = night(store)
    assert known(store) != before
    store.lifecycle.undo(found["night"])
    assert known(store) == before
    night(store)
    assert known(store) == before


def _firms(one: str, other: str, *, kind: str = "organisation") -> list[Change]:
    """Two entities, each with the same two neighbours."""
    keys = [f"{kind}/{name.replace(' ', '-')}-000{n}" for n, name in enumerate((one, other))]
    changes = entities(*keys, "person/uma-0001", "person/ole-0001")
    for place, key in enumerate(keys):
        for who in ("uma", "ole"):
            changes += claiming(
                f"{who}{place}", f"{who} has to do with firm number {place}", "knows_of",
                key, subject=f"person/{who}-0001",
            )  # fmt: skip
    return changes


def test_names_spelled_alike_are_linked_where_the_same_is_said(store: MemoryStore) -> None:
    """Two firms of nearly one name, known to the same people, are linked; nothing is rewritten."""
    change(store, "firms", *_firms("initech laboratories", "initech labaratories"))
    assert any(line.startswith("link") for line in lines(night(store)))
    assert lines(night(store)) == []
    [one] = [one for one in store.graph(ADA).entities() if "nitech" in one.name]
    assert len(one.aliases) >= 1


def test_people_of_like_names_are_a_question(store: MemoryStore) -> None:
    """Two people are never linked by their spelling: a person decides, once."""
    change(store, "people", *_firms("anna schmidtbauer", "anna schmidbauer", kind="person"))
    night(store)
    [review] = store.changes.reviews(ADA)
    assert (review.about, review.options) == ("entity", ("same", "different"))
    store.changes.decide(review.id, "different")
    store.put(ADA, "c", {"text": "Something else."})
    assert lines(night(store)) == []


def test_a_budget_that_is_spent_leaves_the_rest_for_the_next_night(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is new is taken in parts: what one night did not reach the next one merges."""
    monkeypatch.setattr("langmemory.maintenance.tasks.FOUND_AT_ONCE", 4)
    for n in range(10):
        change(store, f"r{n}", fact(f"k{n}", f"The code of door {n % 5} is {n % 5}{n % 5}1."))
    spent = iter((False, False, False, True))
    monkeypatch.setattr(
        "langmemory.maintenance.night.Night.check_budget",
        lambda self, report: _spend(report, next(spent, True)),
    )
    build_maintenance_graph(store, tasks=["duplicates"], now=lambda: NOW).invoke({})
    monkeypatch.undo()
    assert store.admin.health().duplicates > 0
    night(store)
    assert store.admin.health().duplicates == 0


def _spend(report: Any, spent: bool) -> None:
    from langmemory.maintenance.night import BudgetSpentError

    if spent:
        report.unfinished = True
        raise BudgetSpentError("spent")
