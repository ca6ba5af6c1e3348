"""``known_at``: memory as it was, whatever was written, changed, deleted or brought since."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from langgraph.store.base import PutOp

from langmemory.changes import (
    AddEdge,
    AddEntity,
    Facets,
    Invalidate,
    LinkEntities,
    RemoveMemory,
    SetStatus,
    Supersede,
    UnlinkEntities,
    UpdateMemory,
)
from langmemory.errors import ChangeError, EntityNameError
from langmemory.ledger.scopes import compile_scope
from langmemory.search import as_of as past
from langmemory.search import scope_plan
from langmemory.stores import MemoryStore
from langmemory.stores.face import bound
from langmemory.types import Scope, Status
from tests.seeds import examples
from tests.stores.change_sets import NS, apply, fact, problems, value, year
from tests.stores.embedders import WordEmbeddings
from tests.waiting import until

VIEWERS = (None, "ann", "bob", "nobody")
KEYS = ("a", "b", "c", "d", "e")


@dataclass(frozen=True)
class State:
    """A memory as it stands in the file."""

    item: int
    text: str
    status: str
    privacy: str
    owner: str | None
    named: str | None
    """The owner that the value names, which may be another by now."""

    def open_to(self, viewer: str | None) -> bool:
        return viewer is None or self.privacy != "private" or self.owner == viewer


@dataclass
class Past:
    """Every state there ever was, by the moment after it began: what ``known_at`` has to give back."""

    timestamps: list[datetime] = field(default_factory=list)
    states: list[dict[str, State]] = field(default_factory=list)
    vague: set[tuple[int, str]] = field(default_factory=set)
    """Moments and keys of which two lives tell, one that was here and one an import brought, or that
    may be forgotten."""
    forgotten: set[str] = field(default_factory=set)
    """Texts that must not come up again."""

    def note(self, store: MemoryStore, *, imported: bool) -> None:
        now = states(store)
        before = self.states[-1] if self.states else {}
        for key, state in now.items():
            if imported and (key not in before or before[key].item != state.item):
                self.vague |= {(n, key) for n in range(len(self.states))}
        self.states.append(now)
        self.timestamps.append(datetime.now(UTC))

    def forget(self, items: set[int], owner: str | None = None) -> None:
        for n, there in enumerate(self.states):
            for key, state in list(there.items()):
                if state.item in items or (owner is not None and state.owner == owner):
                    self.forgotten.add(state.text)
                    del there[key]
                elif owner is not None and state.named == owner:
                    self.vague.add((n, key))  # forgotten as well, if it is past
        # Unless somebody else said the same.
        self.forgotten -= {state.text for there in self.states for state in there.values()}

    def lives(self, owner: str) -> set[int]:
        """Items that are gone and were at some time this person's."""
        alive = {state.item for state in self.states[-1].values()}
        states = [one for there in self.states for one in there.values()]
        return {one.item for one in states if owner in (one.owner, one.named)} - alive

    def known(self, moment: int, viewer: str | None) -> dict[str, str]:
        """Texts by key: what was open to the viewer then and is now; of what is gone, what always
        was."""
        now = {state.item: state for state in self.states[-1].values()}
        ever: dict[int, list[State]] = {}
        for there in self.states:
            for state in there.values():
                ever.setdefault(state.item, []).append(state)
        return {
            key: state.text
            for key, state in self.states[moment].items()
            if state.status == "active"
            and state.open_to(viewer)
            and (
                now[state.item].open_to(viewer)
                if state.item in now
                else all(one.open_to(viewer) for one in ever[state.item])
            )
        }

    def given_away(self, moment: int) -> set[str]:
        """Keys of what is gone and was somebody else's than its value says: the history may keep that
        to itself."""
        alive = {state.item for state in self.states[-1].values()}
        every = [one for there in self.states for one in there.values()]
        given = {one.item for one in every if one.named not in (None, one.owner)} - alive
        return {key for key, state in self.states[moment].items() if state.item in given}


def states(store: MemoryStore) -> dict[str, State]:
    rows = store.conn.execute(
        "SELECT key, id, value ->> '$.text', status, privacy, owner, value ->> '$.owner' "
        "FROM item WHERE key > '9'"
    )
    return {row[0]: State(*row[1:]) for row in rows}


def recalled(
    store: MemoryStore, query: str = "fact", viewer: str | None = None, **options: Any
) -> dict[str, str]:
    found = bound(store, viewer).recall(query, NS, limit=100, **options)
    return {one.memory.key: one.memory.value["text"] for one in found}


@settings(
    max_examples=examples(25, first=2), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(seed=st.integers(0, 2**32))
@example(seed=9635)  # deleted, put again, overwritten by an old export, and that past forgotten
def test_what_was_there_then(seed: int) -> None:
    """Recall of any moment gives the memories of that moment, with their texts of then, to those who
    might read them then and may now, whatever was put again, deleted, superseded, undone or imported
    since; of what was forgotten nothing, ever."""
    chance = random.Random(seed)
    numbers = count()
    saved: Sequence[Mapping[str, Any]] = ()

    def text() -> str:
        return f"fact number{next(numbers)}x of {chance.choice(['bees', 'boats', 'bread'])}"

    def whose() -> dict[str, Any]:
        if chance.random() < 0.5:
            return {}
        return {
            "owner": chance.choice(["ann", "bob"]),
            "privacy": chance.choice(["shared", "private"]),
        }

    def step(store: MemoryStore, past: Past, number: int) -> bool:
        """Whether it was an import."""
        nonlocal saved
        there, key = states(store), chance.choice(KEYS)
        run = f"r{number}"
        kind = chance.choice(
            ["put"] * 6 + ["delete", "delete", "add", "update", "facets", "facets", "status"]
            + ["supersede", "undo", "undo", "forget", "owner", "export", "export", "import"]
        )  # fmt: skip
        if kind == "put":
            store.put(NS, key, {"text": text(), **whose()})
        elif kind == "delete":
            store.delete(NS, key)
        elif kind == "add" and key not in there:
            apply(store, run, fact(key, text(), **whose()))
        elif kind == "update" and key in there:
            apply(store, run, UpdateMemory(key=key, value=value(text())))
        elif kind == "facets" and key in there:
            apply(store, run, UpdateMemory(key=key, facets=Facets(**whose(), importance=0.7)))
        elif kind == "status" and key in there:
            statuses: tuple[Status, ...] = ("active", "pending", "archived")
            status = chance.choice(statuses)
            apply(store, run, SetStatus(key=key, status=status))
        elif kind == "supersede" and key in there and len(there) > 1:
            by = chance.choice([one for one in there if one != key])
            apply(store, run, Supersede(key=key, by=by, invalid_at=datetime.now(UTC)))
        elif kind == "undo":
            store.changes.undo(f"r{chance.randrange(number + 1)}")
        elif kind == "forget" and number > 5:
            items = {one[key].item for one in past.states if key in one}
            store.forget(NS, keys=[key])
            past.forget(items)
        elif kind == "owner" and number > 5:
            owner = chance.choice(["ann", "bob"])
            items = {one.item for one in there.values() if one.owner == owner} | past.lives(owner)
            store.forget(NS, owner=owner)
            past.forget(items, owner)
        elif kind == "export":
            saved = list(store.admin.export())
        elif kind == "import":
            store.admin.import_rows(saved)
            return True
        return False

    past = Past()
    with MemoryStore(":memory:") as store:
        for number in range(20):  # so that words may be rare
            store.put(("beside",), f"{number}", {"text": f"something else {number}"})
        for number in range(chance.randint(5, 25)):
            imported = False
            with suppress(ChangeError):
                imported = step(store, past, number)
            past.note(store, imported=imported)
        assert problems(store) == []
        for moment, then in enumerate(past.timestamps):
            vague = {key for n, key in past.vague if n == moment}
            for viewer in VIEWERS:
                found = recalled(store, known_at=then, viewer=viewer)
                known = past.known(moment, viewer)
                sure = {k: t for k, t in known.items() if k not in vague}
                assert {k: t for k, t in found.items() if k not in vague}.items() <= sure.items()
                closed = past.given_away(moment) if viewer is not None else set[str]()
                assert sure.keys() - closed <= found.keys()
                assert not past.forgotten & set(found.values())
            if vague:
                continue
            for old in past.known(moment, None).values():  # found by its own words, too
                assert store.recall(old, NS, limit=1, known_at=then).results[0].text == old
        nothing = recalled(store, known_at=past.timestamps[0] - timedelta(days=1))
        assert nothing == {}


def test_the_graph_calls_people_as_it_did_then() -> None:
    """Names, mentions and links of entities are those of the time asked about: what was linked since
    is apart, what was unlinked, or whose link was undone, is together."""
    with MemoryStore(":memory:") as store:

        def moment() -> datetime:
            return datetime.now(UTC)

        apply(
            store, "r1", AddEntity(key="m", name="Mira"), AddEntity(key="n", name="Mimi"),
            fact("f", "Mira bakes."), fact("g", "Mimi swims."),
            AddEdge(fact="f", subject="m", relation="does", literal="baking"),
            AddEdge(fact="g", subject="n", relation="does", literal="swimming"),
        )  # fmt: skip
        apart = moment()
        apply(
            store, "r2", LinkEntities(key="n", same_as="m"), fact("h", "Mira is called Mirabella."),
            AddEntity(key="m", name="Mira", aliases=("Mirabella",)),
        )  # fmt: skip
        together = moment()
        apply(store, "r3", UnlinkEntities(key="n"))
        parted = moment()
        apply(store, "r4", LinkEntities(key="m", same_as="n"))
        otherwise = moment()
        store.changes.undo("r4")
        apply(store, "r5", Invalidate(key="g", invalid_at=year(2020)))

        def told(known_at: datetime | None) -> dict[str, set[str | None]]:
            graph = store.graph(NS, known_at=known_at)
            return {
                one.name: {edge.literal for edge in graph.edges(one.key)}
                for one in graph.entities()
            }

        separate = {"Mira": {"baking"}, "Mimi": {"swimming"}}
        assert told(apart) == told(parted) == separate
        assert told(together) == {"Mira": {"baking", "swimming"}}
        assert told(otherwise) == {"Mimi": {"baking", "swimming"}}
        assert store.graph(NS, known_at=together).entity("Mirabella").aliases == (
            "Mirabella", "Mimi",
        )  # fmt: skip
        with pytest.raises(EntityNameError):
            store.graph(NS, known_at=apart).entity("Mirabella")
        (then,) = store.graph(NS, known_at=apart).edges("Mimi")
        assert (then.status, then.invalid_at) == ("active", None)


@pytest.mark.parametrize("exported", ["before it was given away", "after it was given away"])
@pytest.mark.parametrize("deleted", [True, False])
@pytest.mark.parametrize("history", [True, False])
def test_an_import_does_not_bring_back_a_past_that_was_forgotten(
    exported: str, deleted: bool, history: bool
) -> None:
    """No export from before brings back what a memory said while it belonged to a person who was
    forgotten, whether the memory exists or was deleted. Its text under another owner does come
    back."""
    with MemoryStore(":memory:") as store:
        store.put(NS, "k", {"text": "Bob's secret", "owner": "bob"})
        before = list(store.admin.export(history=history))
        store.put(NS, "k", {"text": "Ann's word", "owner": "ann"})
        after = list(store.admin.export(history=history))
        then = datetime.now(UTC)
        store.forget(NS, owner="bob")
        if deleted:
            store.delete(NS, "k")
        rows = before if exported == "before it was given away" else after
        store.admin.import_rows(rows)
        store.admin.import_rows(rows)
        assert not any("secret" in str(row) for row in store.admin.export())
        there = not deleted or rows is after
        assert (store.get(NS, "k") is not None) == there
        assert recalled(store, "word", known_at=then) == {"k": "Ann's word"}
        assert problems(store) == []


def test_facets_filters_and_times_are_those_of_then() -> None:
    """A memory comes with its facets and its last change of then, and is, or is not, of the kind,
    from the time, demoted and with the values asked for as it was then; whoever waits for it, and told
    in full, too."""
    with MemoryStore(":memory:") as store:
        store.put(NS, "a", {"text": "Ana likes tea", "topic": "drink", "kind": "procedural"})
        apply(store, "r0", fact("b", "Ana likes boats", valid_at=year(2010)))
        store.put(NS, "gone", {"text": "Ana likes rain", "topic": "drink", "kind": "procedural"})
        archive, reference = Facets(priority="archive"), Facets(priority="reference")
        apply(store, "demoted", *(UpdateMemory(key=one, facets=archive) for one in ("b", "gone")))
        then = datetime.now(UTC)
        store.put(NS, "a", {"text": "Ana likes cake", "topic": "food", "kind": "semantic"})
        apply(store, "r1", Supersede(key="b", by="a", invalid_at=year(2015)))
        facets = Facets(valid_at=year(2001), importance=0.9)
        apply(store, "r2", UpdateMemory(key="b", facets=facets))
        apply(
            store, "promoted", *(UpdateMemory(key=one, facets=reference) for one in ("b", "gone"))
        )
        apply(store, "demoted again", UpdateMemory(key="a", facets=archive))
        assert recalled(store, "Ana likes rain", include_demoted=False).keys() == {"gone"}
        assert recalled(store, "Ana likes rain").keys() == {"a", "gone"}
        store.delete(NS, "gone")

        def known(**options: Any) -> set[str]:
            return set(recalled(store, "what does Ana like", **{"known_at": then, **options}))

        assert known() == {"a", "b", "gone"}
        assert known(filter={"topic": "drink"}) == known(kinds=["procedural"]) == {"a", "gone"}
        assert known(filter={"topic": "food"}) == set()
        assert known(until=year(2011), since=year(2009)) == known(until=year(2020)) == {"b"}
        assert known(until=year(2005)) == set()
        assert known(as_of=year(2012)) == {"a", "b", "gone"}
        now = datetime.now(UTC)
        assert known(as_of=year(2016), known_at=now) == {"a"}
        assert known(as_of=year(2012), known_at=now) == {"a", "b"}
        assert known(exclude=["gone"]) == {"a", "b"}
        assert known(include_demoted=False) == {"a"}
        found = asyncio.run(store.arecall("Ana", NS, known_at=then, explain=True))
        memories = {one.memory.key: one.memory for one in found.results}
        assert all(one.explanation is not None for one in found.results)
        assert {one.status for one in memories.values()} == {"active"}
        assert (memories["b"].superseded_by, memories["b"].invalid_at) == (None, None)
        assert (memories["b"].valid_at, memories["b"].importance) == (year(2010), 0.5)
        assert memories["gone"].kind == "procedural"
        assert all(one.created_at <= one.updated_at < then for one in memories.values())
        assert memories["a"].created_at == memories["a"].updated_at


def test_what_was_private_or_is_private_is_closed_to_others(store: MemoryStore) -> None:
    """Of a time when a memory was private nobody else is told, though all may read it now; nor of one when
    all could read it, once it is private. Its owner and the application are."""
    private, shared = Facets(privacy="private", owner="ann"), Facets(privacy="shared", owner="ann")
    apply(store, "r0", fact("opened", "Ann likes tea"), fact("closed", "Ann likes rain"))
    apply(store, "r1", UpdateMemory(key="opened", facets=private))
    then = datetime.now(UTC)
    apply(
        store,
        "r2",
        UpdateMemory(key="opened", facets=shared),
        UpdateMemory(key="closed", facets=private),
    )
    for viewer, now, before in (
        ("bob", {"opened"}, set()),
        ("ann", {"opened", "closed"}, {"opened", "closed"}),
        (None, {"opened", "closed"}, {"opened", "closed"}),
    ):
        assert recalled(store, "Ann likes", viewer).keys() == now, viewer
        assert recalled(store, "Ann likes", viewer, known_at=then).keys() == before, viewer


def test_of_what_came_without_a_history_the_row_tells(store: MemoryStore) -> None:
    """What an import says was given up at a time was believed until then."""
    with MemoryStore(":memory:") as other:
        apply(other, "r0", fact("old", "Ana likes tea"), fact("new", "Ana likes cake"))
        between = datetime.now(UTC)
        apply(other, "r1", Supersede(key="old", by="new", invalid_at=year(2020)))
        store.admin.import_rows(other.admin.export(history=False))
    assert recalled(store, "Ana likes").keys() == {"new"}
    assert recalled(store, "Ana likes", known_at=between).keys() == {"old", "new"}


def test_what_was_of_a_time_is_found_among_many_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where too many memories are there to look at each, an index gives those of a time: those that were of
    it then are among them, though they are of another now."""
    monkeypatch.setattr(scope_plan, "FILTERED_FIRST", 8)
    with MemoryStore(":memory:") as store:
        store.batch([PutOp(NS, f"k{n}", {"text": f"Ana likes tea {n}"}) for n in range(300)])
        apply(
            store,
            "r1",
            *(fact(one, f"Ana likes tea {one}", valid_at=year(2010)) for one in ("is", "was")),
        )
        then = datetime.now(UTC)
        apply(store, "r2", UpdateMemory(key="was", facets=Facets(valid_at=year(2020))))
        asked = {"since": year(2009), "until": year(2011), "known_at": then}
        assert recalled(store, "tea", **asked).keys() == {"was", "is"}


@pytest.mark.parametrize("known_at", [None, year(2020)], ids=["now", "then"])
def test_each_field_of_a_scope_has_its_say(known_at: datetime | None) -> None:
    """Whatever a read may be limited by is a predicate of its query, of the present and of the past."""
    limits: dict[str, Any] = {
        "exact": True, "filter": {"a": 1}, "kinds": ("core",), "statuses": ("archived",), "demoted": False,
        "priority": "mandate", "trust": "person", "viewer": "ann", "as_of": year(2010), "since": year(2011),
        "until": year(2012), "exclude": frozenset(["k"]), "given": frozenset([(NS, "k")]),
    }  # fmt: skip
    assert {one.name for one in fields(Scope)} == {*limits, "namespace", "known_at"}
    asked = {
        (compiled.where, compiled.bindings)
        for limit in ({}, *({name: one} for name, one in limits.items()))
        for compiled in [compile_scope(Scope(namespace=NS, known_at=known_at, **limit))]
    }
    assert len(asked) == len(limits) + 1


def test_what_expired_is_in_no_answer() -> None:
    """Whoever sets a TTL wants the text gone: also as what was known before."""
    with MemoryStore(":memory:") as store:
        store.put(NS, "a", {"text": "the code is 1234"}, ttl=1e-5)
        then = datetime.now(UTC)
        until(lambda: store.sweep_ttl())
        assert recalled(store, "code", known_at=then) == {}


def test_a_ttl_ends_after_the_deletion(monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory deleted before its TTL ended is found by `known_at` until that time and not after;
    no sweep removes it earlier."""
    with MemoryStore(":memory:") as store:
        store.put(NS, "a", {"text": "the code is 1234"}, ttl=60)
        store.put(NS, "b", {"text": "the code is long"}, ttl=60)
        then = datetime.now(UTC)
        store.delete(NS, "a")
        store.changes.remove(NS, "b", reason="over")
        assert set(recalled(store, "code", known_at=then)) == {"a", "b"}
        later = past.now_us() + 61 * 60_000_000
        monkeypatch.setattr(past, "now_us", lambda: later)
        assert recalled(store, "code", known_at=then) == {}


def test_a_turn_stands_in_its_thread_as_it_did() -> None:
    """A turn whose words were changed since is found by those of then, among its neighbours."""
    with MemoryStore(":memory:") as store:
        said = [("user", "My cat is called Miso"), ("user", "She likes fish")]
        first, _ = store.remember(NS, said, thread_id="t")
        then = datetime.now(UTC)
        apply(store, "r", UpdateMemory(key=first, value={"content": "My dog is called Rex"}))
        (best, *_) = store.recall("what is the cat called", NS, known_at=then).results
        assert (best.memory.key, best.text) == (first, "My cat is called Miso")
        assert (best.memory.thread_id, best.memory.position) == ("t", 0)
        assert "Rex" in store.recall("what is the dog called", NS).results[0].text


def test_more_has_changed_than_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many texts of then those with the words of the question are looked at, and the trace
    says that there were more."""
    monkeypatch.setattr(past, "MOST", 2)
    with MemoryStore(":memory:") as store:
        for n in range(9):
            store.put(NS, f"{n}", {"text": f"bees in garden number{n}"})
        then = datetime.now(UTC)
        for n in range(9):
            store.put(NS, f"{n}", {"text": f"boats {n}"})
        found = store.recall("number3", NS, known_at=then)
        assert found.results[0].text == "bees in garden number3"
        assert len(found.results) == 2
        assert found.trace.degraded == ("known_at: of 9 earlier texts 2 were looked at",)


def test_an_embedder_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of then are compared by meaning, as many as a model behind a network is asked for; where
    it fails, words find them, and the trace says so."""
    embeddings = WordEmbeddings()
    index: Any = {"embed": embeddings, "dims": embeddings.dims, "fields": ["text"]}
    with MemoryStore(":memory:", index=index) as store:
        for n in range(4):
            store.put(NS, f"{n}", {"text": f"heron number{n}"})
        then = datetime.now(UTC)
        for n in range(4):
            store.put(NS, f"{n}", {"text": f"boat {n}"})
        found = store.recall("heron number2", NS, known_at=then)
        assert found.results[0].text == "heron number2"
        assert found.results[0].parts["dense"] == pytest.approx(1, abs=1e-5)
        assert found.trace.degraded == ()
        monkeypatch.setattr(past, "MOST_ASKED", 1)
        (told,) = store.recall("heron", NS, known_at=then).trace.degraded
        assert told.startswith("known_at: of 4 earlier texts 1 were embedded")

        embeddings.fail_after = 1  # the question
        found = store.recall("heron number3", NS, known_at=then)
        assert found.results[0].text == "heron number3"
        assert "known_at: embedder failed, earlier texts are found by their words" in (
            found.trace.degraded
        )


def test_the_graph_of_then_has_what_deleted_memories_claimed() -> None:
    """Deleted, removed, or taken back with a run that brought the people along: their claims are in
    the graph of a time when they were there, as of when they held, by the names of then; not in one
    before, nor today's, nor one of a viewer who may not know of them, nor once they are forgotten."""
    with MemoryStore(":memory:") as store:

        def told(known_at: datetime | None, viewer: str | None = None, **more: Any) -> set[str]:
            edges = bound(store, viewer).graph(NS, known_at=known_at, **more).subgraph().edges
            return {f"{one.subject} {one.relation} {one.object or one.literal}" for one in edges}

        before = datetime.now(UTC)
        apply(
            store, "r1", AddEntity(key="m", name="Mira"), AddEntity(key="o", name="Oslo"),
            fact("f", "Mira lives in Oslo.", valid_at=year(2020)), fact("g", "Mira bakes."),
            fact("h", "Mira's secret.", privacy="private", owner="ann"),
            AddEdge(fact="f", subject="m", relation="lives_in", object="o"),
            AddEdge(fact="g", subject="m", relation="does", literal="baking"),
            AddEdge(fact="h", subject="m", relation="hides", literal="gold"),
        )  # fmt: skip
        everything = {"m lives_in o", "m does baking", "m hides gold"}
        then = datetime.now(UTC)
        store.delete(NS, "h")
        apply(store, "r2", RemoveMemory(key="g"))
        less = datetime.now(UTC)
        assert told(None) == told(less) == {"m lives_in o"}
        assert told(then) == told(then, "ann") == everything
        assert told(then, "bob") == everything - {"m hides gold"}
        assert told(then, as_of=year(2019)) == everything - {"m lives_in o"}
        store.changes.undo("r2")
        assert told(then) == everything
        store.changes.undo("r1")
        assert (told(None), told(before)) == (set(), set())
        graph = store.graph(NS, known_at=then)
        assert (told(then), told(less)) == (everything, {"m lives_in o"})
        assert [one.name for one in graph.entities()] == ["Mira", "Oslo"]
        assert {edge.literal for edge in graph.edges("mira", "does")} == {"baking"}
        assert [one.name for one in graph.neighbours("Oslo")] == ["Mira"]
        rows = list(store.admin.export())
        assert "baking" not in str(list(store.for_viewer("bob").admin.export()))
        with MemoryStore(":memory:") as other:
            other.admin.import_rows(rows)
            edges = other.graph(NS, known_at=then).subgraph().edges
            assert {edge.literal for edge in edges} == {None, "baking", "gold"}
        store.forget(NS, entity="Mira")
        assert told(then) == set()
        assert "gold" not in str(list(store.admin.export()))
        assert problems(store) == []


def test_whom_a_deleted_memory_spoke_of_later_is_not_there_before() -> None:
    """A memory that came to speak of somebody, and was deleted since, has them in the graph of the time
    after that, and not in that of the time before."""
    with MemoryStore(":memory:") as store:
        apply(
            store, "r1", AddEntity(key="m", name="Mira"), AddEntity(key="o", name="Oslo"),
            fact("f", "Mira bakes."), fact("g", "Oslo is cold."),
            AddEdge(fact="f", subject="m", relation="does", literal="baking"),
        )  # fmt: skip
        before = datetime.now(UTC)
        apply(store, "r2", AddEdge(fact="f", subject="m", relation="lives_in", object="o"))
        after = datetime.now(UTC)
        store.delete(NS, "f")
        then = [store.graph(NS, known_at=at).entities() for at in (before, after)]
        assert [[one.name for one in found] for found in then] == [["Mira"], ["Mira", "Oslo"]]


def test_a_deleted_turn_stands_in_its_thread_as_it_did() -> None:
    """It is recalled as of then with its thread and its place, among what was said around it."""
    with MemoryStore(":memory:") as store:
        said = [("user", "My cat is called Miso"), ("user", "She likes fish")]
        first, _ = store.remember(NS, said, thread_id="t")
        then = datetime.now(UTC)
        store.delete(NS, first)
        (best, *_) = store.recall("what is the cat called", NS, known_at=then).results
        assert (best.text, best.memory.thread_id, best.memory.position) == (
            "My cat is called Miso", "t", 0,
        )  # fmt: skip
