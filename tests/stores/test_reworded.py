"""A `put` of other words over a memory that holds: what it claims follows the words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langmemory.changes import AddEdge, AddEntity, AddMemory, Change
from langmemory.graphs import build_reflection_graph
from langmemory.operations.gathering import Gathering
from langmemory.stores import MemoryStore
from tests.stores.change_sets import NS, apply, problems, rows, value


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return MemoryStore(tmp_path / "m.db")


def learn(store: MemoryStore, text: str, *claims: tuple[str, str, str]) -> None:
    """A fact under ``fact/home``; each end of a claim is an entity of that name, or a literal."""
    kinds = {
        "Lena": "person",
        "Lena Berg": "person",
        "Tom": "person",
        "小明": "person",
        "Siemens": "organisation",
    }
    changes: list[Change] = [AddMemory(key="fact/home", value=value(text))]
    for subject, relation, end in claims:
        is_entity = relation != "allergic_to"
        for name in (subject, *([end] if is_entity else [])):
            kind = kinds.get(name, "place")
            changes.append(AddEntity(key=f"{kind}/{name}", name=name, kind=kind))
        changes.append(
            AddEdge(
                fact="fact/home",
                subject=f"{kinds[subject]}/{subject}",
                relation=relation,
                object=f"{kinds.get(end, 'place')}/{end}" if is_entity else None,
                literal=None if is_entity else end,
            )
        )
    apply(store, "learned", *changes)


def claimed(store: MemoryStore, known_at: datetime | None = None) -> list[tuple[str, str, str]]:
    graph = store.graph(NS, known_at=known_at)
    data = graph.subgraph()
    names = {one.key: one.name for one in data.entities}
    return [
        (names[one.subject], one.relation, names[one.object] if one.object else str(one.literal))
        for one in data.edges
    ]


HOME = ("Lena", "lives_in", "Bonn")


@pytest.mark.parametrize(
    ("was", "claims", "now", "then"),
    [
        ("Lena lives in Bonn.", [HOME], "Lena lives in Kiel.", [("Lena", "lives_in", "Kiel")]),
        ("Lena lives in Bonn.", [HOME], "Tom lives in Bonn.", [("Tom", "lives_in", "Bonn")]),
        ("Lena wohnt in Bonn.", [HOME], "Lena wohnt in Kiel", [("Lena", "lives_in", "Kiel")]),
        (
            "小明住在北京。",
            [("小明", "lives_in", "北京")],
            "小明住在上海。",
            [("小明", "lives_in", "上海")],
        ),
        ("Lena住在Bonn。", [HOME], "Lena住在Kiel。", [("Lena", "lives_in", "Kiel")]),
        (
            "Lena is allergic to nuts.",
            [("Lena", "allergic_to", "nuts")],
            "Lena is allergic to cats.",
            [("Lena", "allergic_to", "cats")],
        ),
        (
            "Lena lives in Bonn and works at Siemens.",
            [HOME, ("Lena", "works_at", "Siemens")],
            "Lena lives in Bonn and works at Bosch.",
            [HOME, ("Lena", "works_at", "Bosch")],
        ),
        (
            "Siemens employs Lena.",
            [("Siemens", "employs", "Lena")],
            "Siemens employs Tom.",
            [("Siemens", "employs", "Tom")],
        ),
        (
            "Lena is married to Lena Berg.",
            [("Lena", "married_to", "Lena Berg")],
            "Tom is married to Lena Berg.",
            [("Tom", "married_to", "Lena Berg")],
        ),
    ],
)
def test_what_stands_in_the_place_of_a_name_is_claimed(
    store: MemoryStore,
    was: str,
    claims: Sequence[tuple[str, str, str]],
    now: str,
    then: Sequence[tuple[str, str, str]],
) -> None:
    """One word put for another is claimed instead of it, in any language; the rest stays."""
    learn(store, was, *claims)
    before = datetime.now(UTC)
    store.put(NS, "fact/home", value(now))
    assert sorted(claimed(store)) == sorted(then)
    assert sorted(claimed(store, known_at=before)) == sorted(claims)
    assert problems(store) == []


def test_of_two_of_one_name_it_is_who_it_was(store: MemoryStore) -> None:
    """Whom a memory spoke of is known where another has the name, too; only what was put is looked up."""
    for key, age in (("lena-1", "3"), ("lena-2", "4")):
        apply(
            store,
            key,
            AddMemory(key=key, value=value(f"Lena is {age}.")),
            AddEntity(key=f"person/{key}", name="Lena", kind="person"),
            AddEdge(fact=key, subject=f"person/{key}", relation="age", literal=age),
        )
    store.put(NS, "lena-1", value("Lena is 5."))
    store.put(NS, "lena-2", value("Lena is 6."))
    edges = [(one.subject, one.literal) for one in store.graph(NS).subgraph().edges]
    assert sorted(edges) == [("person/lena-1", "5"), ("person/lena-2", "6")]


@pytest.mark.parametrize(
    "now",
    ["Lena lives in Bonn, near the Rhine.", "Bonn is where Lena lives.", "lena lives in  bonn"],
)
def test_what_is_named_still_is_claimed_still(store: MemoryStore, now: str) -> None:
    """A memory that is put more exactly goes on claiming what it did."""
    learn(store, "Lena lives in Bonn.", HOME)
    store.put(NS, "fact/home", value(now))
    assert claimed(store) == [HOME]


@pytest.mark.parametrize(
    "now",
    [
        "Lena does not live in Bonn.",
        "Lena lived in Bonn.",
        "Lena wohnt nicht mehr in Bonn.",
        "It rains.",
        "Lena has found a flat by the sea.",
        "Lena lives in '.",
    ],
)
def test_what_is_said_no_more_is_not_claimed(store: MemoryStore, now: str) -> None:
    """The opposite, what is over and another matter leave nothing of the earlier claim."""
    learn(store, "Lena lives in Bonn.", HOME)
    store.put(NS, "fact/home", value(now))
    assert claimed(store) == []
    assert problems(store) == []


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("Her sister still lives in Bonn.", [("Tom", "lives_in", "Bonn")]),
        ("Her brother lives in Bonn.", []),
        ("Her sister works in Bonn.", []),
    ],
)
def test_who_is_not_named_is_meant_while_no_word_is_exchanged(
    store: MemoryStore, now: str, then: Sequence[tuple[str, str, str]]
) -> None:
    """Of whom a memory speaks without the name is not known any more where it has another word."""
    learn(store, "Her sister lives in Bonn.", ("Tom", "lives_in", "Bonn"))
    store.put(NS, "fact/home", value(now))
    assert claimed(store) == then


def test_the_same_words_leave_the_graph_alone(store: MemoryStore) -> None:
    """A value with an entry more under the same words makes no run and no new edge."""
    learn(store, "Lena lives in Bonn.", HOME)
    store.put(NS, "fact/home", value("Lena lives in Bonn.", seen=True))
    assert [run.id for run in store.changes.runs(NS)] == ["learned"]
    assert (claimed(store), rows(store, "edge")) == ([HOME], 1)


def test_the_new_claim_can_be_undone(store: MemoryStore) -> None:
    """Claiming anew is a run of its own, that says why; taking it back leaves the words."""
    learn(store, "Lena lives in Bonn.", HOME)
    store.put(NS, "fact/home", value("Lena lives in Kiel."))
    run = store.changes.runs(NS)[0]
    assert (run.kind, run.reason) == ("correction", "a memory was given other words")
    store.changes.undo(run.id)
    assert claimed(store) == []
    item = store.get(NS, "fact/home")
    assert item is not None
    assert item.value["text"] == "Lena lives in Kiel."
    assert problems(store) == []


async def test_it_is_the_same_for_aput_and_in_a_batch(store: MemoryStore) -> None:
    """However it is put, and whatever is put beside it."""
    learn(store, "Lena lives in Bonn.", HOME)
    await store.aput(NS, "fact/home", value("Lena lives in Kiel."))
    assert claimed(store) == [("Lena", "lives_in", "Kiel")]
    await store.aput(NS, "fact/home", value("Lena lives in Bonn."))
    assert claimed(store) == [HOME]


def test_what_comes_later_ends_a_corrected_fact(store: MemoryStore) -> None:
    """A fact whose place somebody corrected gives way to the news of a move as one that was learned
    so, and is what a question for the place finds until then."""
    at = "2026-05-01T10:00:00+00:00"
    graph = build_reflection_graph(store)

    def say(text: str, id: str) -> None:
        said = {"role": "user", "name": "Lena", "content": text, "id": id, "at": at}
        store.remember(NS, [said], thread_id="t")
        graph.invoke({"namespace": NS})

    say("I live in Bonn.", "1")
    [fact] = [one for one in store.search(NS, limit=9) if "fact_kind" in one.value]
    store.put(NS, fact.key, {**fact.value, "text": "Lena lives in Kiel."})
    found = store.recall("Where does Lena live?", NS).results[0].memory
    assert (found.key, found.text) == (fact.key, "Lena lives in Kiel.")
    say("I moved to Berlin.", "2")
    assert claimed(store) == [("Lena", "lives_in", "Berlin")]
    with Gathering(store).knowledge(NS) as knowledge:
        known = knowledge.by_key(fact.key)
    assert known is not None
    assert known.memory.status == "superseded"
    assert problems(store) == []
