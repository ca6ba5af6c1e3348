"""Recall over the knowledge graph: facts that only people and things connect are found, and why."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from langmemory.changes import AddEntity, AddMemory, Facets, LinkEntities, Supersede
from langmemory.config import Config
from langmemory.engines.sql.graph.hops import HUB
from langmemory.engines.sql.reading.source import SnapshotSource
from langmemory.engines.sql.scope.scopes import compile_scope
from langmemory.graphs import build_reflection_graph
from langmemory.ports.candidates import ScoredIds
from langmemory.recall.hops import hop
from langmemory.recall.intent import read_intent
from langmemory.recall.query import possible_names
from langmemory.stores import MemoryStore
from langmemory.stores.face import bound
from langmemory.types import Recall, Scope
from tests.graph_world import NAMESPACE, apply, day, entities, fact, furnish
from tests.recall.memory_source import NOW, MemorySource, memory

QUESTION = "Which city does Lena's sister work in?"
NONE = np.empty(0, np.int64)
NO_GRAPH = {"no_graph": {"hop_depth": 0, "entity_depth": 0, "claim_depth": 0}}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """The world among a hundred facts of others who work in cities and have sisters."""
    config = Config.model_validate({"recall": {"presets": NO_GRAPH}})
    with MemoryStore(tmp_path / "memory.db", config=config) as opened:
        furnish(opened)
        dice = random.Random(3)
        names = {f"person/{n}": (f"Nobody{n}", "person") for n in range(50)}
        cities = {
            f"place/{n}": (f"{city} City", "place")
            for n, city in enumerate(("Arnhem", "Bilbao", "Cork"))
        }
        changes = list(entities(names | cities))
        for n in range(50):
            city = f"place/{dice.randrange(3)}"
            changes += fact(
                f"w{n}",
                f"Nobody{n} works in the city of {cities[city][0]}.",
                f"person/{n}",
                "works_in",
                city,
            )
            other = f"person/{dice.randrange(50)}"
            changes += fact(
                f"s{n}",
                f"Nobody{n}'s sister is {names[other][0]}.",
                f"person/{n}",
                "sister_of",
                other,
            )
        apply(opened, "crowd", *changes)
        yield opened


def found(recall: Recall) -> list[str]:
    return [result.memory.key for result in recall.results]


def source(snapshot: object, scope: Scope) -> SnapshotSource:
    return SnapshotSource(snapshot, compile_scope(scope), labelled=True)  # type: ignore[arg-type]


def test_a_two_hop_question_finds_the_end_of_the_chain(store: MemoryStore) -> None:
    """Sister, employer, its city: the last two share no word with the question and come over the
    graph, with the way to them told."""
    recall = store.recall(QUESTION, NAMESPACE, explain=True)
    assert {"sister", "job", "office"} <= set(found(recall))
    ways = {one.memory.key: one.explanation.hop_path for one in recall.results if one.explanation}
    assert ways["office"][-1] == "Initech -located_in-> Zurich"
    assert ways["job"]
    assert recall.trace.candidates["entity"] > 0
    without = store.recall(QUESTION, NAMESPACE, preset="no_graph")
    assert not {"job", "office"} & set(found(without))


def test_a_name_finds_what_is_told_under_another(store: MemoryStore) -> None:
    """Linked names are one: asked for by nickname, the facts under the full name are candidates."""
    apply(
        store,
        "nickname",
        AddEntity(key="person/mimi", name="Schnuffelchen", kind="person"),
        LinkEntities(key="person/mimi", same_as="person/mira"),
    )
    recall = store.recall("What about schnuffelchen?", NAMESPACE, limit=40, explain=True)
    named = {
        one.memory.key
        for one in recall.results
        if one.explanation and "entity" in one.explanation.ranks
    }
    assert "job" in named


def test_a_step_leads_to_evidence_and_back(store: MemoryStore) -> None:
    """From a fact to the turn it came from, and from the turn to its facts."""
    with store._core.engine.read() as snapshot:
        ids = dict(snapshot.connection.execute("SELECT key, id FROM item").fetchall())
        reader = source(snapshot, Scope(namespace=NAMESPACE))
        edges = reader.edges(np.array([ids["job"], ids["t/1"]]), 8)
        steps = set(zip(edges.ids.tolist(), edges.origins.tolist(), edges.labels, strict=True))
        assert (ids["t/1"], 0, "evidence of job") in steps
        assert (ids["sister"], 1, "derived from t/1") in steps
        assert (ids["office"], 0, "Initech -located_in-> Zurich") in steps
        assert edges.weights.max() == 1
        over = dict(zip(edges.labels, edges.related.tolist(), strict=True))
        assert over["Initech -located_in-> Zurich"]
        assert not over["evidence of job"]


def test_evidence_is_no_nearness(store: MemoryStore) -> None:
    """The turn a fact rests on is reached, but no nearer to what a query names for that; it is as
    soon as a person or thing lies between."""
    nobody = ScoredIds(NONE, np.empty(0, np.float32))
    with store._core.engine.read() as snapshot:
        ids = dict(snapshot.connection.execute("SELECT key, id FROM item").fetchall())
        reader = source(snapshot, Scope(namespace=NAMESPACE))

        def nearness(start: str, end: str) -> float:
            reached = hop(
                reader,
                np.array([ids[start]]),
                np.ones(1, np.float32),
                depth=2,
                decay=0.7,
                fan_out=8,
            )
            assert ids[end] in reached.score
            return float(reached.closeness(np.array([ids[end]]), nobody)[0])

        assert nearness("secret", "t/2") == 0
        assert nearness("office", "job") == pytest.approx(0.7)
        assert nearness("office", "t/1") == pytest.approx(0.49)


def test_rare_things_connect_and_hubs_do_not(tmp_path: Path) -> None:
    """Steps over what few memories speak of come first; over what all speak of there are none."""
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        names = {"me": ("Me", "person"), "club": ("Club", "thing"), "cello": ("Cello", "thing")}
        changes = list(entities(names))
        for n in range(HUB + 1):
            also = ("club",) if n < 20 else ()
            also += ("cello",) if n < 2 else ()
            changes.append(
                AddMemory(key=f"f{n}", value={"text": f"Fact {n}."}, mentions=("me", *also))
            )
        apply(store, "all", *changes)
        with store._core.engine.read() as snapshot:
            ids = dict(snapshot.connection.execute("SELECT key, id FROM item").fetchall())
            reader = source(snapshot, Scope(namespace=NAMESPACE))
            edges = reader.edges(np.array([ids["f0"], ids["f30"]]), 5)
            assert edges.origins.tolist() == [0] * 5
            assert edges.ids[0] == ids["f1"]
            assert edges.labels[0] == "speaks of Cello"
            assert edges.weights[0] == 1 > edges.weights[1]
            assert set(reader.entity(["Club", "nobody"], NONE, 3).ids.tolist()) <= {
                ids[f"f{n}"] for n in range(20)
            }
            assert reader.entity(["Me"], NONE, 3).ids.tolist() == []
            assert reader.entity(["Me"], np.array([ids["f7"]]), 3).ids.tolist() == [ids["f7"]]


def test_no_step_leaves_the_scope(store: MemoryStore) -> None:
    """Viewer, kind, date, status, filter, exclusions and namespace hold for every step and name."""
    apply(
        store,
        "secret",
        AddMemory(
            key="hidden",
            value={"text": "Mira is ill.", "tag": "x" * 80},
            facets=Facets(privacy="private", owner="paul", valid_at=day("2030-01-01")),
            evidence=("t/1",),
            mentions=("person/mira", "organisation/initech"),
        ),
    )
    scopes = {
        "viewer": Scope(namespace=NAMESPACE, viewer="lena"),
        "kinds": Scope(namespace=NAMESPACE, kinds=("episodic",)),
        "as_of": Scope(namespace=NAMESPACE, as_of=day("2025-01-01")),
        "statuses": Scope(namespace=NAMESPACE, statuses=("archived",)),
        "filter": Scope(namespace=NAMESPACE, filter={"tag": "y" * 80}),
        "exclude": Scope(namespace=NAMESPACE, exclude=frozenset({"hidden"})),
        "namespace": Scope(namespace=("memories", "other")),
    }
    with store._core.engine.read() as snapshot:
        ids = dict(snapshot.connection.execute("SELECT key, id FROM item").fetchall())
        from_here = np.array([ids["job"], ids["t/1"]])

        def reached(scope: Scope) -> set[int]:
            reader = source(snapshot, scope)
            return {
                *reader.edges(from_here, 50).ids.tolist(),
                *reader.entity(["Mira"], NONE, 50).ids.tolist(),
            }

        assert ids["hidden"] in reached(Scope(namespace=NAMESPACE))
        assert ids["hidden"] in reached(Scope(namespace=NAMESPACE, filter={"tag": "x" * 80}))
        for name, scope in scopes.items():
            assert ids["hidden"] not in reached(scope), name


def test_labels_do_not_tell_a_viewer_private_names(store: MemoryStore) -> None:
    """An entity first named in a private memory goes by a name the viewer may read."""
    apply(
        store,
        "nick",
        AddEntity(key="person/x", name="Grumpel", kind="person", aliases=("Otto",)),
        *fact("otto", "Otto works at Initech.", "person/x", "works_at", "organisation/initech"),
    )
    with store._core.engine.read() as snapshot:
        job = snapshot.connection.execute("SELECT id FROM item WHERE key = 'job'").fetchone()[0]

        def labels(viewer: str | None) -> str:
            reader = source(snapshot, Scope(namespace=NAMESPACE, viewer=viewer))
            return " ".join(reader.edges(np.array([job]), 50).labels)

        assert "Grumpel -works_at-> Initech" in labels(None)
        assert "Otto -works_at-> Initech" in labels("lena")
        assert "Grumpel" not in labels("lena")
        assert (
            source(snapshot, Scope(namespace=NAMESPACE, viewer="lena"))
            .entity(["Grumpel"], NONE, 5)
            .ids.size
            == 0
        )


def test_the_past_is_walked_as_of_its_date(store: MemoryStore) -> None:
    """A hop in a recall of an earlier date goes over what held then."""
    recall = store.recall("Where did Lena work?", NAMESPACE, as_of=day("2022-01-01"), limit=20)
    assert "hooli" in found(recall)
    assert "globex" not in found(recall)


def test_a_store_without_a_graph_recalls_as_before(tmp_path: Path) -> None:
    """Nothing to walk: results and scores are those of the same recall without hops."""
    config = Config.model_validate({"recall": {"presets": NO_GRAPH}})
    with MemoryStore(tmp_path / "memory.db", config=config) as store:
        said = [
            {"role": "user", "content": f"Thought {n} about the garden", "id": str(n)}
            for n in range(20)
        ]
        store.remember(NAMESPACE, said, thread_id="t", at=NOW - timedelta(days=1))
        with_hops, without = (
            store.recall("garden thoughts", NAMESPACE, preset=preset, now=NOW)
            for preset in ("balanced", "no_graph")
        )
        assert [(one.memory.key, one.score) for one in with_hops.results] == [
            (one.memory.key, one.score) for one in without.results
        ]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Which city does Lena's sister work in?", {"Lena", "city", "sister"}),
        ("what did anna maria say about st. gallen", {"anna maria", "st. gallen"}),
        ("Wo arbeitet Lenas Schwester?", {"Lena", "Lenas", "Schwester"}),
        ("Was she in The Hague?", {"The Hague", "Hague"}),
        ("张伟在哪里工作", {"张伟"}),
        ("O’Neill & Söhne", {"O’Neill", "O’Neill & Söhne"}),
    ],
)
def test_what_may_be_a_name_in_a_query(query: str, names: set[str]) -> None:
    """Single words and runs, possessives bare, any script; stop words alone are none."""
    possible = set(possible_names(query, read_intent(query, NOW)))
    assert names <= possible
    assert not {"does", "in", "the", "was"} & possible


def test_names_cost_nothing_while_nobody_is_known(tmp_path: Path) -> None:
    """Without entities the names of a query are not even read."""
    with (
        MemoryStore(tmp_path / "memory.db", index=False) as store,
        store._core.engine.read() as snapshot,
    ):
        names = iter(["unread"])
        assert source(snapshot, Scope(namespace=())).entity(names, NONE, 5).ids.size == 0
        assert next(names) == "unread"


def test_any_source_can_have_an_entity_channel() -> None:
    """The pipeline asks its source for the names of the query, and shows the channel."""
    from langmemory.recall import pipeline

    memories = [
        memory(n, text) for n, text in enumerate(("The weather is fine.", "He plays chess."), 1)
    ]
    found_by = MemorySource(memories, embed=False, named={"otto": (2,)})
    recall = pipeline.run("What does Otto do?", found_by, vector=None, now=NOW, explain=True)
    assert [one.memory.id for one in recall.results] == [2]
    assert recall.trace.candidates["entity"] == 1


def test_what_others_gave_up_in_private_does_not_show(store: MemoryStore) -> None:
    """A turn of which only a private fact has given way is no staler to those who may not see it."""
    private: dict[str, object] = {"privacy": "private", "owner": "paul"}
    store.remember(
        NAMESPACE,
        [{"role": "user", "content": "The greenhouse was sold.", "id": "9"}],
        thread_id="u",
    )
    for key, text, evidence in (("old", "Paul owns it.", "u/9"), ("new", "He does not.", "t/2")):
        apply(
            store,
            key,
            *fact(
                key,
                text,
                "person/paul",
                "owns",
                literal="a greenhouse",
                evidence=[evidence],
                facets=private,
            ),
        )
    apply(
        store,
        "end",
        Supersede(key="old", by="new", invalid_at=day("2024-01-01")),
    )

    def factors(viewer: str) -> dict[str, float]:
        recall = bound(store, viewer).recall("Was the greenhouse sold?", NAMESPACE, explain=True)
        (turn,) = (one for one in recall.results if one.memory.key == "u/9")
        assert turn.explanation is not None
        return dict(turn.explanation.multipliers)

    assert factors("paul")["stale"] < 1
    assert factors("lena").get("stale", 1) == 1


def test_what_holds_now_is_found_before_what_was_said_of_it_once(tmp_path: Path) -> None:
    """A turn that says where somebody lived, and what is still so, stands behind where they live now,
    also after two moves and for a viewer; not where it is asked for what is still so, in a recall of
    then, or where what took its place is hidden."""
    ada = ("memories", "ada")
    talk = {
        "2026-01-05": "Hi, I'm Ada, I'm 34 and I live in Bremen.",
        "2026-03-05": "We moved to Kiel.",
        "2026-06-05": "I moved to Ghent, and I have a cat called Momo.",
    }
    with MemoryStore(tmp_path / "memory.db") as store:
        for at, text in talk.items():
            message = {"role": "user", "name": "Ada", "content": text, "at": at}
            store.remember(ada, [message], thread_id=at, owner="ada")
        build_reflection_graph(store).invoke({"namespace": ada})

        def texts(query: str, viewer: str | None = None, **options: Any) -> list[str]:
            return [one.text for one in bound(store, viewer).recall(query, ada, **options).results]

        for viewer in (None, "ada"):
            for query in ("Where does Ada live?", "Where do I live?"):
                found = texts(query, viewer=viewer)
                assert found[0] == "Ada lives in Ghent.", found
                assert talk["2026-01-05"] in found
        assert "34" in texts("How old is Ada?")[0]
        then = datetime(2026, 2, 1, tzinfo=UTC)
        assert "Bremen" in texts("Where does Ada live?", as_of=then)[0]
        heir = next(one for one in store.search(ada, limit=50) if "in Ghent." in str(one.value))
        store.forget(ada, keys=[heir.key])
        assert "Ghent" not in texts("Where does Ada live?")[0]
