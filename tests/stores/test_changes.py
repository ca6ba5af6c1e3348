"""Change sets: one door in, one transaction, told before and after, never twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    DecideReview,
    Facets,
    Invalidate,
    LinkEntities,
    MarkReflected,
    Merge,
    OpenReview,
    SetStatus,
    Supersede,
    UnlinkEntities,
    UpdateMemory,
)
from langmemory.errors import ChangeError, EmbeddingError, InvalidValueError, StalePlanError
from langmemory.operations import core, following
from langmemory.stores import MemoryStore, reembed
from langmemory.stores.face import bound
from tests.indexed import holding
from tests.places import POSTGRES
from tests.seeds import examples
from tests.stores.change_sets import (
    NS,
    apply,
    change_set,
    fact,
    known,
    problems,
    rows,
    value,
    year,
)
from tests.stores.embedders import WordEmbeddings


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with MemoryStore(tmp_path / "memory.db") as store:
        yield store
        assert problems(store) == []


def memories(store: MemoryStore, query: str = "where does Maria live", **options: Any) -> set[str]:
    return {one.memory.key for one in store.recall(query, NS, limit=50, **options)}


def talked(store: MemoryStore) -> list[str]:
    return store.remember(NS, [("user", "I moved"), ("user", "to Zürich")], thread_id="t")


def test_everything_at_once(store: MemoryStore) -> None:
    """Facts arrive with text, vector, words, evidence, entities and edges; searches find them by
    meaning, by speaker and by date; the run and the history tell of it."""
    turns = talked(store)
    said = value("Zürich is home now", speaker="Maria", when={"start": "2019-08-02T00:00:00+00:00",
                 "precision": "day", "words": "then", "end": "2019-08-03T00:00:00+00:00"})  # fmt: skip
    done = apply(
        store, "reflect/1",
        AddEntity(key="maria", name="Maria", kind="person", aliases=("Mia",)),
        AddEntity(key="zurich", name="Zürich", kind="place"),
        AddMemory(key="fact/1", value=said, evidence=tuple(turns), mentions=("maria",),
                  facets=Facets(importance=0.9, valid_at=year(2019)), reason="she said so"),
        AddEdge(fact="fact/1", subject="maria", relation="lives_in", object="zurich"),
        MarkReflected(keys=tuple(turns)),
        note={"model_calls": 1},
    )  # fmt: skip
    assert (done.added, done.changed, done.repeated) == (("fact/1",), (), False)
    assert len(done.lines) == 5
    found = store.recall("Zürich home", NS, kinds=["semantic"]).results[0].memory
    assert (found.key, found.speaker, found.importance) == ("fact/1", "Maria", 0.9)
    assert found.valid_at == year(2019)
    for words in ("maria", "august 2019"):
        assert found.id in holding(store, words, context=False)
    assert [(run.id, run.kind, run.note) for run in store.changes.runs(NS)] == [
        ("reflect/1", "reflection", {"model_calls": 1})
    ]
    [entry] = store.changes.history(NS, "fact/1")
    assert (entry.action, entry.run_id, entry.reason) == ("add", "reflect/1", "she said so")
    counts = {name: rows(store, name) for name in ("evidence", "mention", "edge", "reflected")}
    assert counts == {"evidence": 2, "mention": 2, "edge": 1, "reflected": 2}


def test_the_same_run_again(store: MemoryStore) -> None:
    """A run applied twice, also through another store on the file, is applied once; its id in
    another namespace is refused."""
    apply(store, "r", fact("f", "Maria lives in Bern"))
    before = known(store), rows(store, "history")
    with MemoryStore(store.path) as other:
        again = apply(other, "r", fact("f", "something else"), fact("g", "more"))
    assert (again.repeated, again.added) == (True, ())
    assert (known(store), rows(store, "history")) == before
    with pytest.raises(ChangeError, match="Give every run an id of its own"):
        apply(store, "r", namespace=("memories", "tom"))


def test_another_run_with_the_same_facts(store: MemoryStore) -> None:
    """Existing memories stay as they are, and the lines say so."""
    turns = talked(store)
    changes = (
        AddEntity(key="maria", name="Maria"),
        fact("f", "Maria lives in Bern", turns[0]),
        AddEdge(fact="f", subject="maria", relation="lives_in", literal="Bern"),
        MarkReflected(keys=tuple(turns)),
    )
    apply(store, "r1", *changes)
    before = known(store)
    again = apply(store, "r2", *changes)
    assert known(store) == before
    assert (again.added, again.changed) == ((), ())
    assert all(": " in line for line in again.lines)


def test_a_dry_run(store: MemoryStore) -> None:
    """A dry run tells what applying would do, line by line, embeds nothing and writes nothing."""
    apply(store, "r1", fact("old", "Maria lives in Bern"))
    plan = change_set(
        "r2",
        fact("old", "again"),
        fact("new", "Maria lives in Zürich"),
        Supersede(key="old", by="new", invalid_at=year(2020), reason="moved"),
    )
    before = list(store.admin.export())[1:]
    dry = store.changes.apply(plan, dry_run=True)
    assert dry.dry_run
    assert list(store.admin.export())[1:] == before
    real = store.changes.apply(plan)
    assert (real.lines, real.added, real.changed) == (dry.lines, dry.added, dry.changed)
    assert real.lines == (
        "add old 'again': is there already, and is left as it is",
        "add new 'Maria lives in Zürich'",
        "supersede old by=new invalid_at=2020-01-01T00:00:00+00:00 (moved)",
    )


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_without_blocking(tmp_path: Path, asynchronous: bool) -> None:
    """The async twins do what the sync ones do; concurrent runs of one id are applied once."""
    with MemoryStore(tmp_path / "memory.db") as store:
        asked = OpenReview(
            id="q", about="duplicate", question="?", memories=("f",),
            options={"away": (SetStatus(key="f", status="archived"),), "stay": ()},
        )  # fmt: skip
        plan = change_set("r", fact("f", "Maria lives in Bern"), asked)
        if asynchronous:
            done = await asyncio.gather(*(store.changes.aapply(plan) for _ in range(5)))
            assert sorted(one.repeated for one in done) == [False, True, True, True, True]
            assert [review.id for review in await store.changes.areviews(NS)] == ["q"]
            decided = await store.changes.adecide("q", "away", by="maria")
            assert decided.changed == ("f",)
            assert (await store.changes.aundo(decided.run_id, dry_run=True)).dry_run
            await store.changes.aundo(decided.run_id)
            assert len(await store.changes.aruns()) == 3
        else:
            store.changes.apply(plan)
            decided = store.changes.decide("q", "away", by="maria")
            store.changes.undo(decided.run_id)
        assert memories(store) == {"f"}
        assert store.changes.runs()[1].note["by"] == "maria"
        assert [review.decision for review in store.changes.reviews()] == [None]


BAD: dict[str, Change] = {
    "nobody": UpdateMemory(key="nobody", facets=Facets(confidence=1)),
    "no source": fact("x", "from nothing", "nobody"),
    "successor": Supersede(key="f", by="nobody", invalid_at=year(2020)),
    "itself": Supersede(key="f", by="f", invalid_at=year(2020)),
    "merged with itself": Merge(key="f", others=("f",)),
    "nobody to merge": Merge(key="f", others=("nobody",)),
    "entity": AddEdge(fact="f", subject="nobody", relation="likes", literal="tea"),
    "mention": UpdateMemory(key="f", mentions=("nobody",)),
    "two objects": AddEdge(fact="f", subject="e", relation="is", object="e", literal="tea"),
    "no object": AddEdge(fact="f", subject="e", relation="is"),
    "link": LinkEntities(key="e", same_as="nobody"),
    "link to itself": LinkEntities(key="e", same_as="e"),
    "circle": LinkEntities(key="g", same_as="e"),
    "review": DecideReview(id="nobody", option="yes"),
    "option": DecideReview(id="q", option="maybe"),
    "read": MarkReflected(keys=("nobody",)),
    "question": OpenReview(id="p", about="a", question="?", memories=("nobody",), options={}),
}


@pytest.mark.parametrize("name", BAD)
def test_a_failing_change_leaves_nothing(store: MemoryStore, name: str) -> None:
    """A change that names what there never was, or contradicts itself, is refused with the name, and
    nothing of its set is written, the changes before it included."""
    apply(
        store, "r", fact("f", "Maria lives in Bern"), AddEntity(key="e", name="E"),
        AddEntity(key="g", name="G"), LinkEntities(key="e", same_as="g"),
        OpenReview(id="q", about="a", question="?", memories=("f",), options={"yes": ()}),
    )  # fmt: skip
    before = list(store.admin.export())[1:]
    good = (fact("new", "written first"), UpdateMemory(key="f", facets=Facets(pinned=True)))
    with pytest.raises(ChangeError, match=r"nobody|itself|'is'|linked to it|maybe"):
        apply(store, "bad", *good, BAD[name])
    assert list(store.admin.export())[1:] == before
    assert apply(store, "bad", *good).added == ("new",)


def test_values_and_embedders_fail_first(tmp_path: Path) -> None:
    """A value without a JSON form, or an embedder that fails, stops the run before its transaction."""
    embeddings = WordEmbeddings()
    with MemoryStore(tmp_path / "m.db", index={"embed": embeddings, "dims": 16}) as store:
        with pytest.raises(InvalidValueError):
            apply(store, "r", fact("a", "good"), AddMemory(key="b", value={"text": {1, 2}}))
        embeddings.fail_after = 0
        with pytest.raises(EmbeddingError):
            apply(store, "r", fact("a", "good"))
        assert store.changes.runs() == []
        assert known(store) == []
        store.changes.apply(change_set("dry", fact("a", "good")), dry_run=True)  # asks no embedder


def test_a_plan_that_is_out_of_date(store: MemoryStore) -> None:
    """A plan is refused when a memory it builds on changed, or went, after it was made; another
    memory's change does not matter."""
    turns = talked(store)
    apply(store, "r1", fact("f", "Maria lives in Bern", turns[0]), fact("g", "Maria likes tea"))
    seen = store.changes.history(NS, "g")[-1].seq
    apply(store, "r2", UpdateMemory(key="f", facets=Facets(confidence=0.5)))
    with pytest.raises(StalePlanError, match=r"f \(update by run r2\)"):
        apply(store, "r3", Invalidate(key="f", invalid_at=year(2020)), planned_at=seen)
    store.delete(NS, turns[0])
    with pytest.raises(StalePlanError, match=r"\(delete\)"):
        apply(store, "r3", fact("h", "Maria moved", turns[0]), planned_at=seen)
    apply(store, "r3", UpdateMemory(key="g", facets=Facets(confidence=0.5)), planned_at=seen)
    apply(store, "r4", Invalidate(key="f", invalid_at=year(2020)))
    assert len(store.changes.runs()) == 4


def test_what_a_person_deleted_stays_deleted(store: MemoryStore) -> None:
    """A deleted fact does not come back with another run, nor what hangs on it: no edge, no review,
    and the memory it would have superseded stays. Deleting the source keeps a fact from coming."""
    turns = talked(store)
    apply(store, "r1", fact("old", "Maria lives in Bern"), AddEntity(key="e", name="Maria"))
    apply(store, "r2", fact("new", "Maria lives in Zürich", turns[0]))
    store.delete(NS, "new")
    done = apply(
        store, "r3",
        fact("new", "Maria lives in Zürich", turns[0]),
        AddEdge(fact="new", subject="e", relation="lives_in", literal="Zürich"),
        Supersede(key="old", by="new", invalid_at=year(2020)),
        OpenReview(id="q", about="a", question="?", memories=("new",), options={}),
        UpdateMemory(key="new", facets=Facets(pinned=True)),
    )  # fmt: skip
    assert (done.added, done.changed, store.changes.reviews()) == ((), (), [])
    assert all("deleted" in line for line in done.lines)
    store.delete(NS, turns[1])
    assert apply(store, "r4", fact("g", "Maria moved", turns[1])).added == ()
    assert apply(store, "r5", fact("h", "Maria moved", *turns)).added == ("h",)
    assert memories(store, kinds=["semantic"]) == {"old", "h"}
    store.admin.delete_namespace(NS)
    assert apply(store, "r6", fact("h", "Maria moved")).added == ("h",)


def test_deleting_takes_the_links_along(store: MemoryStore) -> None:
    """A deleted memory leaves no evidence, mention, edge, fingerprint or mark; a fact survives its
    source."""
    turns = talked(store)
    apply(
        store, "r", AddEntity(key="e", name="Maria"), fact("f", "Maria lives in Bern", *turns),
        UpdateMemory(key="f", mentions=("e",)), MarkReflected(keys=tuple(turns)),
        AddEdge(fact="f", subject="e", relation="lives_in", literal="Bern"),
    )  # fmt: skip
    store.delete(NS, turns[0])
    assert (rows(store, "evidence"), rows(store, "reflected")) == (1, 1)
    assert store.get(NS, "f") is not None
    store.delete(NS, "f")
    tables = ("evidence", "mention", "edge", "fingerprint")
    assert [rows(store, table) for table in tables] == [0, 0, 0, 0]


def test_an_end_and_a_successor(store: MemoryStore) -> None:
    """A superseded or invalidated fact is not recalled as the present and is as the past; what it
    was before stands in the history with its facets."""
    apply(
        store, "r1", fact("bern", "Maria lives in Bern", valid_at=year(2010), confidence=0.7),
        fact("job", "Maria works at Initech", valid_at=year(2010)),
    )  # fmt: skip
    apply(
        store, "r2", fact("zurich", "Maria lives in Zürich", valid_at=year(2020)),
        Supersede(key="bern", by="zurich", invalid_at=year(2020)),
        Invalidate(key="job", invalid_at=year(2015)),
    )  # fmt: skip
    assert memories(store) == {"zurich"}
    assert memories(store, as_of=year(2012)) == {"bern", "job"}
    assert memories(store, as_of=year(2018)) == {"bern"}
    assert memories(store, as_of=year(2021)) == {"zurich"}
    bern = next(iter(store.recall("Bern", NS, as_of=year(2012)))).memory
    assert (bern.status, bern.superseded_by, bern.invalid_at) == (
        "superseded",
        "zurich",
        year(2020),
    )
    assert bern.expired_at == store.changes.runs()[0].at
    entry = store.changes.history(NS, "bern")[-1]
    assert (entry.action, entry.before) == ("supersede", value("Maria lives in Bern"))
    assert entry.facets == {
        "status": "active", "superseded_by": None, "invalid_at": None, "expired_at": None,
    }  # fmt: skip
    apply(store, "r3", SetStatus(key="bern", status="active"))
    again = next(iter(store.recall("Bern", NS))).memory
    assert (again.superseded_by, again.invalid_at, again.expired_at) == (None, None, None)


def test_what_was_known_then(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two times are apart: before the system learned of a move it believed the old address to
    hold, also for a time after the move; now it knows better, about then and about now."""
    clock = iter([2015, 2020, 2022])
    monkeypatch.setattr(core, "now_us", lambda: int(year(next(clock)).timestamp()) * 1_000_000)
    apply(store, "r1", fact("bern", "Maria lives in Bern", valid_at=year(2010)))
    apply(
        store, "r2", fact("zurich", "Maria lives in Zürich", valid_at=year(2018)),
        Supersede(key="bern", by="zurich", invalid_at=year(2018)),
    )  # fmt: skip
    apply(
        store, "r3", fact("oslo", "Maria lived in Oslo", valid_at=year(2005)),
        Supersede(key="oslo", by="bern", invalid_at=year(2010)),
    )  # fmt: skip

    def at(as_of: int | None, known_at: int | None) -> set[str]:
        return memories(
            store,
            as_of=None if as_of is None else year(as_of),
            known_at=None if known_at is None else year(known_at) + timedelta(days=1),
        )

    assert at(2019, 2016) == {"bern"}, "the move of 2018 was learned in 2020"
    assert at(2019, 2021) == {"zurich"}
    assert at(2012, 2021) == at(2012, None) == {"bern"}
    assert at(2007, 2021) == set()
    assert at(2007, 2023) == at(2007, None) == {"oslo"}
    assert at(None, 2016) == {"bern"}
    assert at(None, 2021) == {"zurich"}
    assert at(2012, 2014) == set()


def test_a_time_begins_with_its_first_moment_and_its_end_is_no_part_of_it(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fact holds on its first day, not before, and no longer on its end day; so does belief. A
    fact without times always held."""
    clock = iter([2015, 2020])
    monkeypatch.setattr(core, "now_us", lambda: int(year(next(clock)).timestamp()) * 1_000_000)
    apply(
        store, "r1", fact("bern", "Maria lives in Bern", valid_at=year(2010)),
        fact("ever", "Maria lives well"),
    )  # fmt: skip
    apply(
        store, "r2", fact("zurich", "Maria lives in Zürich", valid_at=year(2018)),
        Supersede(key="bern", by="zurich", invalid_at=year(2018)),
    )  # fmt: skip
    moment = timedelta(microseconds=1)
    true = [(2010, {"bern", "ever"}, {"ever"}), (2018, {"zurich", "ever"}, {"bern", "ever"})]
    for on, then, before in true:
        assert memories(store, as_of=year(on)) == then
        assert memories(store, as_of=year(on) - moment) == before
        assert memories(store, as_of=year(on), known_at=year(2020)) == then
        assert memories(store, as_of=year(on) - moment, known_at=year(2020)) == before
    believed = [(2015, {"bern", "ever"}, set()), (2020, {"zurich", "ever"}, {"bern", "ever"})]
    for at, then, before in believed:
        assert memories(store, known_at=year(at)) == then
        assert memories(store, known_at=year(at) - moment) == before
    assert memories(store, since=year(2018)) == {"zurich"}
    assert memories(store, since=year(2018) + moment) == set()
    assert memories(store, until=year(2018) + moment) == {"zurich", "ever"}
    assert memories(store, until=year(2018)) == {"ever"}, "stored in 2015"


@settings(
    max_examples=examples(30, first=2), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(seed=st.integers(0, 2**32))
def test_whatever_changed_since(seed: int) -> None:
    """`known_at` with `as_of` answers as memory did on that day, in recall and graph, whatever was
    corrected, shortened, approved, archived, undone or deleted since."""
    chance = random.Random(seed)
    now = year(2010)

    def some_year() -> datetime:
        return year(chance.randint(2000, 2030))

    def answers(store: MemoryStore, **options: Any) -> tuple[list[set[str]], list[set[str]]]:
        days = (year(2005), year(2015), year(2025))
        graphs = (store.graph(NS, as_of=on, **options) for on in days)
        return (
            [memories(store, "fact", **options)]
            + [memories(store, "fact", as_of=on, **options) for on in days],
            [{edge.fact for edge in graph.edges()} for graph in graphs],
        )

    def changes(keys: list[str], step: int) -> Iterator[Change]:
        for n in range(chance.randint(1, 3)):
            key, other = f"f{step}-{n}", chance.choice(keys or [""])
            kind = chance.randrange(6) if len(keys) > 1 else 0
            dates = {"valid_at": some_year(), "invalid_at": chance.choice([None, some_year()])}
            if kind == 0:
                status = chance.choice(["active", "active", "pending", "approved"])
                yield AddMemory(
                    key=key, value=value(f"fact {key}"), facets=Facets(status=status, **dates)
                )
                yield AddEdge(fact=key, subject="m", relation="is", literal=key)
                keys.append(key)
            elif kind == 1:
                yield UpdateMemory(key=other, facets=Facets(**dates))
            elif kind == 2 and other != keys[0]:
                yield Supersede(key=other, by=keys[0], invalid_at=some_year())
            elif kind == 3:
                yield Invalidate(key=other, invalid_at=some_year())
            elif kind == 4:
                status = chance.choice(["pending", "active", "superseded", "archived"])
                yield SetStatus(key=other, status=status)
            elif kind == 5 and other != keys[0]:
                yield Merge(key=keys[0], others=(other,))

    with pytest.MonkeyPatch.context() as patch, MemoryStore(":memory:", index=False) as store:
        for clock in (core, following):
            patch.setattr(clock, "now_us", lambda: int(now.timestamp()) * 1_000_000)
        apply(store, "begin", AddEntity(key="m", name="Maria"))
        answered: list[tuple[datetime, tuple[list[set[str]], list[set[str]]]]] = []
        for step in range(10):
            now += timedelta(days=chance.randint(2, 300))
            keys = [row[0] for row in store.conn.execute("SELECT key FROM item ORDER BY id")]
            if step > 2 and chance.random() < 0.3:
                with suppress(ChangeError):
                    store.changes.undo(f"r{chance.randrange(step)}")
            elif keys and step > 2 and chance.random() < 0.2:
                store.delete(NS, chance.choice(keys))
            else:
                apply(store, f"r{step}", *changes(keys, step))
            answered.append((now + timedelta(days=1), answers(store)))
        for then, told in answered:
            assert answers(store, known_at=then) == told, then


def test_a_claim_made_later_was_not_known_before(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edge that a later run gave a memory is not in the graph of what was believed before it, and
    what was superseded by then is named there all the same."""
    clock = iter([2015, 2017, 2020])
    monkeypatch.setattr(core, "now_us", lambda: int(year(next(clock)).timestamp()) * 1_000_000)
    apply(
        store, "r1", fact("bern", "Maria lives in Bern", valid_at=year(2010)),
        AddEntity(key="m", name="Maria"), AddEntity(key="b", name="Bern"),
        AddEdge(fact="bern", subject="m", relation="lives_in", object="b"),
    )  # fmt: skip
    apply(store, "r2", Invalidate(key="bern", invalid_at=year(2016)))
    apply(store, "r3", AddEdge(fact="bern", subject="m", relation="likes", object="b"))

    def edges(known_at: int, **options: Any) -> list[str]:
        graph = store.graph(NS, known_at=year(known_at), as_of=year(2012))
        return [edge.relation for edge in graph.entity("Bern", **options).edges]

    assert edges(2016) == ["lives_in"]
    assert edges(2018) == ["lives_in"]
    assert edges(2021) == ["lives_in", "likes"]


def test_statuses(store: MemoryStore) -> None:
    """Neither a pending nor an approved memory is recalled, now, as of a date, or as what was believed
    while it waited; an archived one is only what was believed before."""
    before = datetime.now(UTC)
    apply(
        store, "r1", fact("p", "Maria likes tea", status="pending"),
        fact("a", "Maria likes cake", status="approved"), fact("x", "Maria likes rum"),
    )  # fmt: skip
    between = datetime.now(UTC)
    apply(store, "r2", SetStatus(key="x", status="archived"), SetStatus(key="a", status="active"))
    assert memories(store, "Maria likes") == {"a"}
    assert memories(store, "Maria likes", as_of=between) == {"a"}
    assert memories(store, "Maria likes", known_at=between) == {"x"}
    assert memories(store, "Maria likes", known_at=before) == set()
    assert [one.action for one in store.changes.history(NS, "x")] == ["add", "archive"]


def test_another_value(store: MemoryStore) -> None:
    """An update is found by its new words, not by its old ones, and keeps what it does not name; a
    turn stays a turn; a facet set to None is taken away."""
    turns = talked(store)
    apply(store, "r1", fact("f", "Maria keeps bees", owner="maria", confidence=0.4, pinned=True))
    done = apply(
        store, "r2",
        UpdateMemory(key="f", value=value("Maria keeps wasps"), evidence=(turns[0],),
                     facets=Facets(confidence=0.9, pinned=None)),
        UpdateMemory(key=turns[1], value={"role": "user", "content": "to Geneva"}),
        UpdateMemory(key="f", facets=Facets(confidence=0.9)),
    )  # fmt: skip
    assert done.changed == ("f", turns[1])
    assert done.lines[2].endswith("is so already")
    found = {one.memory.key: one.memory for one in store.recall("wasps", NS, kinds=["semantic"])}
    assert (found["f"].owner, found["f"].confidence, found["f"].pinned) == ("maria", 0.9, False)
    for words, expected in (("wasps", 1), ("bees", 0), ("geneva", 2), ("zürich", 0), ("user", 2)):
        assert len(holding(store, words)) == expected, words


def test_merging(store: MemoryStore) -> None:
    """Of memories that say the same one stays, with the evidence and mentions of all."""
    turns = talked(store)
    apply(
        store, "r1", AddEntity(key="e", name="Maria"), fact("f", "Maria lives in Zürich", turns[0]),
        fact("g", "Zürich is where Maria lives", turns[1]),
        UpdateMemory(key="g", mentions=("e",)),
    )  # fmt: skip
    apply(store, "r2", Merge(key="f", others=("g",)))
    assert memories(store, kinds=["semantic"]) == {"f"}
    query = (
        "SELECT s.key FROM evidence v JOIN item i ON i.id = v.item JOIN item s ON s.id = v.source"
    )
    found = store.conn.execute(f"{query} WHERE i.key = 'f'").fetchall()
    assert {row[0] for row in found} == set(turns)
    assert rows(store, "mention") == 2


def test_entities(store: MemoryStore) -> None:
    """An entity that is known only gets new names; a link is set, moved and taken back."""
    apply(
        store, "r1", AddEntity(key="m", name="Maria", kind="person"), AddEntity(key="n", name="M.")
    )
    done = apply(
        store, "r2", AddEntity(key="m", name="Mary", aliases=("Mia", "maria")),
        AddEntity(key="m", name="Maria"), LinkEntities(key="n", same_as="m"),
        LinkEntities(key="n", same_as="m"),
    )  # fmt: skip
    assert [": " in line for line in done.lines] == [False, True, False, True]
    assert rows(store, "alias") == 4
    apply(store, "r3", UnlinkEntities(key="n"))
    query = "SELECT name, kind, same_as, link_run FROM entity ORDER BY key"
    assert store.conn.execute(query).fetchall() == [
        ("Maria", "person", None, None), ("M.", "thing", None, "r3"),
    ]  # fmt: skip


def test_reviews(store: MemoryStore) -> None:
    """A review is decided once, with the changes of the option, and its record says by whom; when
    a memory it is about is gone it can still be closed."""
    apply(store, "r", fact("f", "Maria lives in Bern"), fact("g", "Maria lives in Zürich"))
    asked = OpenReview(
        id="q", about="contradiction", question="Bern or Zürich?", memories=("f", "g"),
        options={
            "Bern": (Invalidate(key="g", invalid_at=year(2020)),),
            "Zürich": (Supersede(key="f", by="g", invalid_at=year(2020), reason="moved"),),
            "both": (),
        },
    )  # fmt: skip
    apply(store, "r2", asked, asked.model_copy(update={"id": "q2"}), asked)
    assert [(one.id, one.options, one.run_id) for one in store.changes.reviews(("memories",))] == [
        ("q", ("Bern", "Zürich", "both"), "r2"), ("q2", ("Bern", "Zürich", "both"), "r2"),
    ]  # fmt: skip
    assert store.changes.reviews(("else",)) == []
    with pytest.raises(ChangeError, match="'Bern', 'Zürich', 'both'"):
        store.changes.decide("q", "Basel")
    with pytest.raises(ChangeError, match="no review 'q3'"):
        store.changes.decide("q3", "Bern")
    done = store.changes.decide("q", "Zürich", by="maria")
    assert done.changed == ("f",)
    [run] = store.changes.runs(limit=1)
    assert (run.id, run.kind, run.note["by"]) == (done.run_id, "review", "maria")
    assert store.changes.history(NS, "f")[-1].reason == "moved"
    with pytest.raises(ChangeError, match="decided as 'Zürich' already"):
        store.changes.decide("q", "Bern")
    store.delete(NS, "g")
    assert store.changes.decide("q2", "Bern").changed == ()
    assert store.changes.reviews() == []
    assert [one.decision for one in store.changes.reviews(open_only=False)] == ["Zürich", "Bern"]


def test_reviews_of_others(store: MemoryStore) -> None:
    """A viewer is not asked about memories they cannot read, nor about ones that are gone."""
    apply(
        store, "r", fact("f", "Maria is ill", owner="maria", privacy="private"),
        fact("g", "Maria is well"),
        *(OpenReview(id=f"q{key}", about="a", question=f"is {key} so?", memories=tuple(key),
                     options={}) for key in ("f", "g", "fg")),
        OpenReview(id="none", about="a", question="?", memories=(), options={}),
    )  # fmt: skip

    def asked(viewer: str | None) -> list[str]:
        return [review.id for review in bound(store, viewer).changes.reviews(NS)]

    assert asked(None) == ["none", "qf", "qfg", "qg"]
    assert asked("maria") == ["qf", "qfg", "qg"]
    assert asked("tom") == asked("") == ["qg"]
    store.delete(NS, "g")
    assert asked("tom") == []


def test_facts_are_indexed_the_same_every_time(tmp_path: Path) -> None:
    """Whatever fields a store indexes, a fact is embedded as its sentence; putting its value again,
    another model and an import leave it findable by the same words."""
    embeddings = WordEmbeddings()
    index: Any = {"embed": embeddings, "dims": 16, "fields": ["$"]}
    with MemoryStore(tmp_path / "m.db", index=index) as store:
        apply(store, "r", AddMemory(key="f", value=value("keeps bees", speaker="Ann")))
        assert embeddings.asked == ["keeps bees"]
        terms = keyword_rows(store)
        assert {"ann", "2023"} <= terms
        store.put(NS, "f", value("keeps bees", speaker="Ann"))
        assert keyword_rows(store) == terms
        assert rows(store, "fingerprint") == 1
        exported = list(store.admin.export())
    other = WordEmbeddings(8, "words-b")
    if not POSTGRES:  # re-embedding of a schema is not built
        reembed(str(tmp_path / "m.db"), index={**index, "embed": other, "dims": 8})
        assert other.asked == ["keeps bees"]
    with MemoryStore(tmp_path / "n.db", index={**index, "embed": other, "dims": 8}) as restored:
        restored.admin.import_rows(exported)
        assert keyword_rows(restored) == terms
        assert problems(restored) == []


def keyword_rows(store: MemoryStore) -> set[str]:
    """Every word in the keyword index, but for those of namespaces."""
    if POSTGRES:
        words = store.conn.execute("SELECT unnest(tsvector_to_array(words)) FROM keyword")
        return {row[0] for row in words if not row[0].startswith("@")}
    store.conn.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.word USING fts5vocab(main, keyword, row)"
    )
    return {row[0] for row in store.conn.execute("SELECT term FROM temp.word")}
