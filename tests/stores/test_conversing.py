"""Store operations of a conversation besides recall: mandates, short ids, evidence, usage."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.messages import HumanMessage

from langmemory.changes import Facets, SetStatus, Supersede, UpdateMemory
from langmemory.citing import digest
from langmemory.context import Usage, note_id
from langmemory.engines.sqlite.connection import Connection
from langmemory.ledger import items
from langmemory.ledger.usage import BATCH, EVERY_SECONDS, UsageCounts
from langmemory.stores import MemoryStore
from langmemory.types import Namespace
from tests.citing import twins
from tests.stores.change_sets import NS, apply, fact, problems, year
from tests.waiting import until_blocked


def keys(found: list[Any]) -> list[str]:
    return [one.key for one in found]


def shown(key: str, namespace: Namespace = NS, **counts: int) -> Usage:
    """A memory that stood in a prompt once, at 10 tokens for 90."""
    usage = {"loaded": 1, "referenced": 0, "succeeded": 0, "read_tokens": 10}
    return {"namespace": [*namespace], "key": key, "discovery_tokens": 90, **usage, **counts}  # type: ignore[typeddict-item]


# Mandates.


def test_a_mandate_is_one_by_value_or_by_facet(store: MemoryStore) -> None:
    """Whether a put says so in its value or a change set in a facet, it is found; newest first."""
    store.put(NS, "by-value", {"text": "Prices are in euros.", "priority": "mandate"})
    apply(store, "r1", fact("by-facet", "No peanuts.", priority="mandate"), fact("other", "Hm."))
    apply(store, "r2", UpdateMemory(key="other", facets=Facets(priority="mandate")))
    store.put((*NS, "below"), "deeper", {"text": "Be brief.", "priority": "mandate"})
    assert keys(store._conversing.mandates(NS)) == ["deeper", "other", "by-facet", "by-value"]
    assert keys(store._conversing.mandates(NS, limit=1)) == ["deeper"]
    assert store._conversing.mandates(("memories", "bert")) == []


def test_a_mandate_that_was_put_away_is_none(store: MemoryStore) -> None:
    """Archived, superseded, and no longer called one: it is not shown, whoever said so."""
    for key in ("archived", "superseded", "demoted", "expired", "kept"):
        store.put(NS, key, {"text": key, "priority": "mandate"}, ttl=5)
    apply(
        store,
        "r1",
        SetStatus(key="archived", status="archived"),
        Supersede(key="superseded", by="kept", invalid_at=year(2024)),
        UpdateMemory(key="demoted", facets=Facets(priority="reference")),
    )
    with store._core.engine.write() as connection:
        connection.execute("UPDATE item SET expires_at = 1 WHERE key = 'expired'")
    store.sweep_ttl()
    assert keys(store._conversing.mandates(NS)) == ["kept"]


# Evidence, and what is in force.


def test_evidence_is_what_the_viewer_may_read(store: MemoryStore) -> None:
    """The turns a fact was made of come oldest first, without other people's private ones."""
    said = [HumanMessage(f"turn {n}", id=f"m{n}") for n in range(3)]
    mine = store.remember(NS, said[:2], thread_id="t", owner="anna")
    hers = store.remember(NS, said[2:], thread_id="t", owner="bert", privacy="private")
    apply(store, "r1", fact("fact", "They talked.", *hers, *mine))
    assert keys(store.changes.evidence(NS, "fact")) == [*mine, *hers]
    assert keys(store.for_viewer("anna").changes.evidence(NS, "fact")) == mine
    assert store.changes.evidence(NS, mine[0]) == store.changes.evidence(NS, "nothing") == []


def test_retired_memories_are_named(store: MemoryStore) -> None:
    """Of the places asked for, those of memories that are not in force and may be known of."""
    store.put(NS, "mine", {"text": "x", "status": "archived", "privacy": "private", "owner": "a"})
    store.put(NS, "old", {"text": "She lives in Graz."})
    store.put(NS, "new", {"text": "She lives in Linz."})
    apply(store, "r1", Supersede(key="old", by="new", invalid_at=year(2024)))
    places = [(NS, key) for key in ("mine", "old", "new", "nothing")]
    assert store._conversing.retired(places) == {(NS, "mine"), (NS, "old")}
    assert store.for_viewer("b")._conversing.retired(places) == {(NS, "old")}


# Short ids.


@pytest.mark.parametrize("id", ["", "no hex!!", "ä"])
def test_what_is_no_short_id_names_nothing(store: MemoryStore, id: str) -> None:
    """A model may answer anything where an id should stand."""
    assert store._conversing.labelled(NS, id) == []


@pytest.mark.parametrize("few", [0, items.FEW_ITEMS])
def test_a_short_id_finds_what_was_stored_before_and_since(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Ids of items that were there, came later, lie deeper, or are gone: each names what it should,
    by the index and without it."""
    monkeypatch.setattr(items, "FEW_ITEMS", few)
    deeper = (*NS, "notes")
    store.put(NS, "early", {"text": "x"})
    assert keys(store._conversing.labelled(NS, note_id(NS, "early"))) == ["early"]
    store.put(NS, "late", {"text": "x"})
    store.put(deeper, "deep", {"text": "x"})
    assert keys(store._conversing.labelled(NS, note_id(NS, "late").upper())) == ["late"]
    assert keys(store._conversing.labelled(NS, note_id(deeper, "deep"))) == ["deep"]
    assert keys(store._conversing.labelled((), note_id(deeper, "deep"))) == ["deep"]
    assert store._conversing.labelled(deeper, note_id(NS, "late")) == []
    for key in ("late", "early"):  # the newest one is where the next look-up begins
        store.delete(NS, key)
        assert store._conversing.labelled(NS, note_id(NS, key)) == []
        store.put(NS, key, {"text": "again"})
        assert keys(store._conversing.labelled(NS, note_id(NS, key))) == [key]
    assert problems(store) == []


def test_a_short_id_of_one_of_many_people_waits_for_no_other(store: MemoryStore) -> None:
    """A short id is looked up where few memories are without giving all others of the file theirs."""
    for person in range(20):
        store.put((*NS, f"p{person}"), "k", {"text": "x"})
    assert keys(store._conversing.labelled((*NS, "p7"), note_id((*NS, "p7"), "k"))) == ["k"]
    with store._core.engine.read() as snapshot:
        assert snapshot.connection.execute("SELECT count(*) FROM label").fetchone() == (0,)


def test_two_memories_of_one_short_id_are_told_apart_by_more_of_it(store: MemoryStore) -> None:
    """The short id names both, more digits only the one; a viewer does not meet another's."""
    one, other = twins(NS)
    store.put(NS, one, {"text": "x"})
    store.put(NS, other, {"text": "y", "privacy": "private", "owner": "bert"})
    assert keys(store._conversing.labelled(NS, note_id(NS, one))) == [one, other]
    assert keys(store._conversing.labelled(NS, digest(NS, other)[:16])) == [other]
    assert keys(store.for_viewer("anna")._conversing.labelled(NS, note_id(NS, one))) == [one]


@pytest.mark.sqlite("reads a plan of SQLite")
def test_a_short_id_is_looked_up_in_an_index(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many items there are, they are read once; after that SQLite uses the index."""
    monkeypatch.setattr(items, "HASHES_AT_ONCE", 7)  # several transactions
    for number in range(20):
        store.put(NS, f"k{number}", {"text": "x"})
    assert keys(store._conversing.labelled(NS, note_id(NS, "k11"))) == ["k11"]
    with store._core.engine.read() as snapshot:
        plan = snapshot.connection.execute(
            "EXPLAIN QUERY PLAN SELECT i.id FROM label l CROSS JOIN item i ON i.id = l.item "
            "WHERE l.hash = 1"
        ).fetchall()
    assert [str(row[3]).split(" (")[0] for row in plan] == [
        "SEARCH l USING COVERING INDEX label_hash",
        "SEARCH i USING INTEGER PRIMARY KEY",
    ]


# Usage.


def totals(store: Any, namespace: Namespace = NS) -> dict[str, tuple[int, ...]]:
    return {
        one.key: (
            one.loaded, one.referenced, one.succeeded, one.read_tokens, one.discovery_tokens
        )
        for one in store.admin.usage(namespace)
    }  # fmt: skip


def test_usage_adds_up_over_threads_stores_and_time(tmp_path: Path) -> None:
    """Counts of several stores on one file are one sum, which outlives them; what helped most often
    comes first; of discovery tokens the latest figure stands."""
    path = tmp_path / "memory.db"
    with MemoryStore(path) as first, MemoryStore(path) as second:
        for key in ("dog", "cat"):
            first.put(NS, key, {"text": f"The {key}."})
        first.admin.count_usage([shown("cat"), shown("dog", referenced=1)])
        first.admin.count_usage([shown("dog", loaded=0, read_tokens=0, succeeded=1)])
        assert totals(first) == {"dog": (1, 1, 1, 10, 90), "cat": (1, 0, 0, 10, 90)}
        second.admin.count_usage([{**shown("dog"), "discovery_tokens": 70}, shown("gone")])
    with MemoryStore(path) as store:
        assert list(totals(store).items()) == [
            ("dog", (2, 1, 1, 20, 70)),
            ("cat", (1, 0, 0, 10, 90)),
        ]
        [best] = store.admin.usage(("memories",), limit=1)
        assert (best.namespace, best.text) == (NS, "The dog.")
        assert store.admin.usage(("elsewhere",)) == []


def test_usage_waits_for_what_is_being_written(tmp_path: Path) -> None:
    """Counts that the background has taken and not yet committed are in the answer."""
    with MemoryStore(tmp_path / "memory.db") as store:
        store.put(NS, "dog", {"text": "The dog."})
        store._core.counts.note([shown("dog")], None)
        begun = threading.Event()
        asking = threading.get_ident()

        def slowly(connection: Connection) -> None:
            store._core.write_counts(connection)
            begun.set()
            until_blocked(asking, "list(totals(store))")

        written = store._core.workers.later(slowly)
        assert begun.wait(10)
        assert list(totals(store)) == ["dog"]
        written.result(10)


def test_counts_are_written_in_batches(tmp_path: Path) -> None:
    """The first counts are written at once, then again after a while or when many have come."""
    now = 0.0
    counts = UsageCounts(clock=lambda: now)
    assert counts.note([shown("a")], None)
    assert list(counts.drain()) == [None]
    assert not counts.note([shown("a")], None)
    assert counts.note([shown(f"k{n}") for n in range(BATCH)], "anna")
    counts.drain()
    assert not counts.note([shown("a")], None)
    now = EVERY_SECONDS
    assert counts.note([shown("a")], None)
    [twice] = counts.drain()[None]
    assert twice["loaded"] == 2
    assert not counts.note([], None)


def test_a_viewer_counts_and_reads_what_they_may_know_of(store: MemoryStore) -> None:
    """Another person's private memory is neither counted nor listed."""
    store.put(NS, "secret", {"text": "x", "privacy": "private", "owner": "bert"})
    store.put(NS, "open", {"text": "y"})
    store.for_viewer("anna").admin.count_usage([shown("secret"), shown("open")])
    assert list(totals(store)) == ["open"]
    store.for_viewer("bert").admin.count_usage([shown("secret")])
    assert totals(store.for_viewer("bert")).keys() == {"open", "secret"}  # in any order: as helpful
    assert list(totals(store.for_viewer("anna"))) == list(totals(store.for_anyone())) == ["open"]


def test_counts_go_with_their_memory(store: MemoryStore) -> None:
    """Deleting, clearing, forgetting, and undoing what added a memory take its counts along; an
    update and its undo leave them."""
    apply(store, "r1", fact("added", "A fact."))
    apply(store, "r2", UpdateMemory(key="added", value={"text": "Another fact."}))
    for key in ("deleted", "forgotten"):
        store.put(NS, key, {"text": key})
    store.put((*NS, "below"), "cleared", {"text": "x"})
    everything = [shown(key) for key in ("added", "deleted", "forgotten")]
    store.admin.count_usage([*everything, shown("cleared", (*NS, "below"))])
    assert len(totals(store)) == 4
    store.delete(NS, "deleted")
    store.admin.delete_namespace((*NS, "below"))
    store.forget(NS, keys=["forgotten"])
    store.changes.undo("r2")
    assert totals(store) == {"added": (1, 0, 0, 10, 90)}
    store.changes.undo("r1")
    assert totals(store) == {}
    assert problems(store) == []


def test_counts_are_exported_and_taken_back_once(store: MemoryStore, tmp_path: Path) -> None:
    """An import has the counts of the export, a second one changes nothing; a viewer's export has
    those of what they may read, and one without history has none."""
    store.put(NS, "open", {"text": "y"})
    store.put(NS, "secret", {"text": "x", "privacy": "private", "owner": "bert"})
    store.admin.count_usage([shown("open"), shown("secret")])
    store.admin.usage()
    with MemoryStore(tmp_path / "copy.db") as copy:
        for _ in range(2):
            copy.admin.import_rows(store.admin.export())
            assert totals(copy) == totals(store)
    anna = [row["key"] for row in store.for_viewer("anna").admin.export() if row["type"] == "usage"]
    assert anna == ["open"]
    assert not any(row["type"] == "usage" for row in store.admin.export(history=False))


# How near.


class Counting(Embeddings):
    """A model behind a network, as far as anybody can tell."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, float("dog" in text)] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        return self.embed_documents([text])[0]


class Failing(Counting):
    def embed_query(self, text: str) -> list[float]:
        raise ConnectionError("refused")


async def test_a_distance_costs_no_second_call(tmp_path: Path) -> None:
    """The distance to earlier memories is computed without another call of the model."""
    model = Counting()
    with MemoryStore(tmp_path / "m.db", index={"dims": 2, "embed": model}) as store:
        store.recall("my dog", NS)
        await store.arecall("your cat", NS)
        assert store._conversing.distance("my dog", "your cat") == pytest.approx(1 - 0.5**0.5)
        assert await store._conversing.adistance("my dog", "my dog") == pytest.approx(0, abs=1e-6)
        assert model.asked == ["my dog", "your cat"]


async def test_no_distance_without_a_model(tmp_path: Path) -> None:
    """None where there is no embedder, and where it fails."""
    with MemoryStore(tmp_path / "a.db", index=False) as store:
        assert (
            store._conversing.distance("a", "b")
            is await store._conversing.adistance("a", "b")
            is None
        )
    with MemoryStore(tmp_path / "b.db", index={"dims": 2, "embed": Failing()}) as store:
        assert (
            store._conversing.distance("a", "b")
            is await store._conversing.adistance("a", "b")
            is None
        )


def test_a_store_says_whether_it_answers_by_itself(tmp_path: Path) -> None:
    """With the embedded model, or none, it does; with a model of the application, an expander or a
    reranker it may have to wait."""
    options: list[tuple[dict[str, Any], bool]] = [
        ({}, True),
        ({"index": False}, True),
        ({"index": {"dims": 2, "embed": Counting()}}, False),
        ({"expander": lambda query: query}, False),
        ({"reranker": lambda query, texts: list(range(len(texts)))}, False),
    ]
    for number, (option, local) in enumerate(options):
        with MemoryStore(tmp_path / f"{number}.db", **option) as store:
            assert (
                store._conversing.answers_locally
                is store.for_viewer("anna")._conversing.answers_locally
                is local
            )
