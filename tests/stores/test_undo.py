"""Undo: what was before a run is there again, exactly, or nothing changes and it is said why."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langmemory.changes import (
    AddEdge,
    AddEntity,
    Change,
    ChangeSet,
    DecideReview,
    Facets,
    Invalidate,
    LinkEntities,
    MarkReflected,
    Merge,
    OpenReview,
    RemoveMemory,
    SetStatus,
    Supersede,
    UnlinkEntities,
    UpdateMemory,
)
from langmemory.citing import digest
from langmemory.context.citations import Usage
from langmemory.errors import ChangeError, EmbeddingError, UndoRefusedError
from langmemory.ledger import graph_writing, items
from langmemory.stores import MemoryStore
from tests.indexed import holding
from tests.seeds import examples
from tests.stores.change_sets import NS, apply, change_set, fact, known, problems, rows, value, year
from tests.stores.embedders import WordEmbeddings

USED: Usage = {
    "namespace": list(NS), "key": "", "loaded": 2, "referenced": 1, "succeeded": 1,
    "read_tokens": 7, "discovery_tokens": 9,
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with MemoryStore(tmp_path / "memory.db") as store:
        yield store
        assert problems(store) == []


def test_exactly_as_it_was(store: MemoryStore) -> None:
    """After the undo an export is what it was before the run: values, facets, times, evidence,
    entities, links, edges and reviews; searches find the old words again."""
    turns = store.remember(NS, [("user", "I moved"), ("user", "to Zürich")], thread_id="t")
    apply(
        store, "r1", AddEntity(key="m", name="Maria"), AddEntity(key="n", name="M."),
        AddEntity(key="o", name="Mia"), LinkEntities(key="n", same_as="m"),
        fact("f", "Maria keeps bees", turns[0], valid_at=year(2010), confidence=0.4),
        fact("g", "Maria keeps insects"), fact("h", "Maria lives in Bern"),
        AddEdge(fact="f", subject="m", relation="keeps", literal="bees"),
        OpenReview(id="q", about="duplicate", question="?", memories=("f", "g"),
                   options={"stay": ()}),
    )  # fmt: skip
    before = known(store)
    apply(
        store, "r2",
        UpdateMemory(key="f", value=value("Maria keeps wasps", pinned=True), evidence=(turns[1],),
                     facets=Facets(confidence=0.9, valid_at=None), mentions=("n",)),
        UpdateMemory(key=turns[0], value={"role": "user", "content": "I stayed"}),
        Merge(key="f", others=("g",)),
        fact("i", "Maria lives in Zürich", "f"),
        Supersede(key="h", by="i", invalid_at=year(2020)),
        AddEntity(key="z", name="Zürich"), AddEntity(key="m", name="Maria", aliases=("Mary",)),
        AddEdge(fact="i", subject="m", relation="lives_in", object="z"),
        AddEdge(fact="f", subject="m", relation="likes", literal="honey"),
        UnlinkEntities(key="n"), LinkEntities(key="n", same_as="o"),
        LinkEntities(key="o", same_as="z"),
        DecideReview(id="q", option="stay"),
        OpenReview(id="p", about="a", question="?", memories=("i",), options={}),
        MarkReflected(keys=tuple(turns)),
    )  # fmt: skip
    assert known(store) != before
    dry = store.changes.undo("r2", dry_run=True)
    assert (dry.dry_run, store.changes.runs()[0].id) == (True, "r2")
    done = store.changes.undo("r2")
    assert known(store) == before
    assert (done.run_id, done.lines, done.changed) == ("undo/r2", dry.lines, dry.changed)
    assert {"f", "g", "h", "i", turns[0]} == set(done.changed)
    said = {
        "restore f: value, confidence, pinned, valid_at", f"restore {turns[0]}: value", "remove i",
        "restore h: expired_at, invalid_at, status, superseded_by", "link n to m", "unlink o",
        "take back 1 name", "take back review p", "reopen review q",
    }  # fmt: skip
    assert said <= set(done.lines)
    undo, undone = store.changes.runs(limit=2)
    assert (undo.kind, undo.note, undone.undone_by) == ("undo", {"undoes": "r2"}, "undo/r2")
    assert [one.action for one in store.changes.history(NS, "f")] == ["add", "update", "restore"]
    assert {store.changes.history(NS, one)[-1].run_id for one in done.changed} == {"undo/r2"}
    assert store.changes.history(NS, "f")[-1].facets["confidence"] == 0.9
    for words, expected in (("bees", 1), ("wasps", 0), ("zürich", 2), ("stayed", 0), ("moved", 2)):
        assert len(holding(store, words)) == expected, words
    assert rows(store, "reflected") == 2, "what was undone does not come back by itself"
    again = store.changes.undo("r2")
    assert again.repeated
    assert apply(store, "r3", fact("i", "Maria lives in Zürich")).added == ()
    assert apply(store, "r2", fact("j", "Maria is tall")).repeated


def test_what_cannot_be_undone(store: MemoryStore) -> None:
    """A run nobody knows, an undo, and a run whose record was forgotten are refused with the next
    step."""
    apply(store, "r", fact("f", "Maria lives in Bern"))
    store.changes.undo("r")
    with pytest.raises(ChangeError, match="no run 'x' to undo"):
        store.changes.undo("x")
    with pytest.raises(UndoRefusedError, match="is an undo and cannot be undone"):
        store.changes.undo("undo/r")


STANDING: dict[str, tuple[str, tuple[Change, ...]]] = {
    "changed": ("changed f", (UpdateMemory(key="f", facets=Facets(pinned=True)),)),
    "claimed": ("changed f", (AddEdge(fact="f", subject="e", relation="is", literal="x"),)),
    "evidence": ("takes f as evidence", (fact("g", "so she moved", "f"),)),
    "successor": (
        "lets f take a memory's place",
        (Supersede(key="old", by="f", invalid_at=year(2020)),),
    ),
    "merged": ("lets f take a memory's place", (Merge(key="f", others=("old",)),)),
    "removed": ("removed f", (RemoveMemory(key="f"),)),
    "asked": (
        "asks about f",
        (OpenReview(id="p", about="a", question="?", memories=("f",), options={}),),
    ),
    "decided": ("decided review q", (DecideReview(id="q", option="yes"),)),
    "named": ("names the entity e", (AddEntity(key="e", name="Eve"),)),
    "mentioned": ("mentions the entity e", (UpdateMemory(key="old", mentions=("e",)),)),
    "edge": (
        "claims something of the entity e",
        (AddEdge(fact="old", subject="a", relation="likes", object="e"),),
    ),
    "linked": ("links another entity to e", (LinkEntities(key="a", same_as="e"),)),
    "linked away": ("links the entity e", (LinkEntities(key="e", same_as="b"),)),
    "relinked": ("links the entity c", (UnlinkEntities(key="c"),)),
}


@pytest.mark.parametrize("name", STANDING)
def test_later_runs_stand_on_it(store: MemoryStore, name: str) -> None:
    """A run on which a later one stands is not undone; the refusal names the later run and what it
    did, and nothing changes. Once that is undone, the run can be."""
    what, changes = STANDING[name]
    apply(
        store, "r0", fact("old", "Maria lives in Bern"), AddEntity(key="a", name="A"),
        AddEntity(key="b", name="B"), AddEntity(key="c", name="C"),
    )  # fmt: skip
    before = known(store)
    apply(
        store, "r1", fact("f", "Maria lives in Zürich"), AddEntity(key="e", name="E"),
        LinkEntities(key="c", same_as="b"),
        OpenReview(id="q", about="a", question="?", memories=("old",), options={"yes": ()}),
    )  # fmt: skip
    middle = known(store)
    apply(store, "r2", *changes)
    after = list(store.admin.export())[1:]
    with pytest.raises(UndoRefusedError) as refused:
        store.changes.undo("r1")
    assert "run r2 " in str(refused.value)
    assert what in str(refused.value)
    assert "First undo r2." in str(refused.value)
    with pytest.raises(UndoRefusedError):
        store.changes.undo("r1", dry_run=True)
    assert list(store.admin.export())[1:] == after
    store.changes.undo("r2")
    assert known(store) == middle
    store.changes.undo("r1")
    assert known(store) == before


def test_no_link_back_to_itself(store: MemoryStore) -> None:
    """A link that was taken away is not brought back once another leads the other way."""
    apply(store, "r0", AddEntity(key="a", name="A"), AddEntity(key="b", name="B"),
          AddEntity(key="c", name="C"), LinkEntities(key="a", same_as="b"))  # fmt: skip
    apply(store, "r1", UnlinkEntities(key="a"))
    apply(store, "r2", LinkEntities(key="b", same_as="c"))
    apply(store, "r3", LinkEntities(key="c", same_as="a"))
    before = known(store)
    with pytest.raises(UndoRefusedError, match=r"run r3 links to a what it was linked to.*run r2"):
        store.changes.undo("r1")
    assert known(store) == before
    store.changes.undo("r3")
    store.changes.undo("r1")


def test_links_that_would_go_round_without_end(store: MemoryStore) -> None:
    """Links that a run took away are looked at together: the circle that they would close with a later one is
    found from each of them, also from one that only leads into it."""
    names = (AddEntity(key=one, name=one.upper()) for one in "abc")
    apply(
        store, "r0", *names, LinkEntities(key="a", same_as="b"), LinkEntities(key="c", same_as="a")
    )
    apply(store, "r1", UnlinkEntities(key="c"), UnlinkEntities(key="a"))
    apply(store, "r2", LinkEntities(key="b", same_as="a"))
    with pytest.raises(UndoRefusedError, match=r"run r2 links to a what it was linked to\."):
        store.changes.undo("r1")


def test_what_was_removed_since_stands_on_it_too(store: MemoryStore) -> None:
    """What rests on a run is there again when its removal is undone: until then both are named. What the run
    itself took the place of and removed is no obstacle."""
    apply(store, "r0", fact("old", "Maria lives in Bern"))
    before = known(store)
    moved = Supersede(key="old", by="f", invalid_at=year(2020))
    apply(store, "r1", fact("f", "Maria lives in Zürich"))
    apply(store, "r2", fact("g", "so she moved", "f"), moved)
    apply(store, "r3", RemoveMemory(key="g"), RemoveMemory(key="old"))
    for later, both in (
        ("r3", "run r3 removed a memory whose place f had taken; run r2 takes f as evidence"),
        ("r2", "run r2 lets f take a memory's place, takes f as evidence"),
    ):
        with pytest.raises(UndoRefusedError, match=rf"on it: {both}\. First undo {later}"):
            store.changes.undo("r1")
        store.changes.undo(later)
    store.changes.undo("r1")
    apply(store, "r4", fact("h", "Maria lives in Basel"), moved.model_copy(update={"by": "h"}),
          RemoveMemory(key="old"))  # fmt: skip
    store.changes.undo("r4")
    assert known(store) == before


def test_a_run_that_was_undone_is_no_obstacle(store: MemoryStore) -> None:
    """What an undone run did after another that did the same need not be undone first; nor its removal of
    a memory that a person deleted for good since."""
    moved = Supersede(key="old", by="f", invalid_at=year(2020))
    apply(store, "r0", fact("old", "Maria lives in Bern"), fact("g", "Maria lives in Chur"))
    apply(store, "r1", fact("f", "Maria lives in Zürich"))
    apply(store, "r2", moved)
    apply(store, "r3", moved.model_copy(update={"by": "g"}))
    store.changes.undo("r3")
    with pytest.raises(
        UndoRefusedError, match=r"run r2 lets f take a memory's place\. First undo r2"
    ):
        store.changes.undo("r1")
    apply(store, "r4", RemoveMemory(key="old"))
    store.put(NS, "old", {"text": "another"})
    store.delete(NS, "old")
    for run in ("r4", "r2", "r1"):
        store.changes.undo(run)
    assert {item.key for item in store.search(NS)} == {"g"}


def test_the_same_keys_elsewhere_are_no_obstacle(store: MemoryStore) -> None:
    """Keys are those of a namespace: what stands on a memory of another one stands on that alone."""
    elsewhere = ("memories", "ben")
    for name, namespace in (("there", elsewhere), ("here", NS)):
        for number, changes in enumerate((
            [fact("old", "Maria lives in Bern"), fact("older", "She lived in Chur")], [fact("f", "In Basel")],
        )):  # fmt: skip
            plan = change_set(f"{name} {number}", *changes)
            store.changes.apply(plan.model_copy(update={"namespace": namespace}))
    plan = change_set(
        "stands", *(Supersede(key=one, by="f", invalid_at=year(2020)) for one in ("old", "older")),
        OpenReview(id="p", about="a", question="?", memories=("f",), options={}),
    )  # fmt: skip
    store.changes.apply(plan.model_copy(update={"namespace": elsewhere}))
    plan = change_set("removed", RemoveMemory(key="old"))
    store.changes.apply(plan.model_copy(update={"namespace": elsewhere}))
    with pytest.raises(
        UndoRefusedError, match=r"run removed .*; run stands asks about f .*lets f take"
    ):
        store.changes.undo("there 1")
    assert store.changes.undo("here 1").lines == ("remove f",)


def test_what_a_person_wrote_since(store: MemoryStore) -> None:
    """A value put by hand on top of a run stops its undo; a deletion does not, and stays."""
    apply(store, "r1", fact("f", "Maria lives in Bern"), fact("g", "Maria likes tea"))
    apply(store, "r2", UpdateMemory(key="f", facets=Facets(pinned=True)), fact("h", "more"))
    store.put(NS, "f", value("Maria lives in Basel"))
    with pytest.raises(UndoRefusedError, match="f was written by the application at 20"):
        store.changes.undo("r2")
    store.delete(NS, "f")
    store.put(NS, "f", {"text": "another life"})
    done = store.changes.undo("r2")
    assert done.changed == ("h",)
    assert store.get(NS, "f").value == {"text": "another life"}  # type: ignore[union-attr]
    assert store.changes.undo("r1").changed == ("g",)
    assert [item.key for item in store.search(NS)] == ["f"]


def test_in_which_order(store: MemoryStore) -> None:
    """Where several runs stand in the way, the newest is named first, whatever they are called."""
    apply(store, "a", fact("f", "Maria lives in Bern"))
    apply(store, "c", UpdateMemory(key="f", facets=Facets(confidence=0.5)))
    apply(store, "b", UpdateMemory(key="f", facets=Facets(confidence=0.6)))
    with pytest.raises(UndoRefusedError, match="First undo b, then c"):
        store.changes.undo("a")
    with pytest.raises(UndoRefusedError, match="First undo b"):
        store.changes.undo("c")
    for run in "bca":
        store.changes.undo(run)
    assert known(store) == []


def test_nothing_is_undone_by_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An undo that fails, in its embedder or in the middle of its transaction, changes nothing."""
    embeddings = WordEmbeddings()
    with MemoryStore(tmp_path / "m.db", index={"embed": embeddings, "dims": 16}) as store:
        apply(store, "r1", fact("f", "Maria keeps bees"))
        apply(store, "r2", UpdateMemory(key="f", value=value("Maria keeps wasps")), fact("g", "x"))
        before = list(store.admin.export())[1:]
        embeddings.fail_after = 0
        with pytest.raises(EmbeddingError):
            store.changes.undo("r2")
        embeddings.fail_after = None

        def broken(*arguments: Any) -> Any:
            raise RuntimeError

        with monkeypatch.context() as patched:
            patched.setattr(graph_writing, "delete_of_run", broken)
            with pytest.raises(RuntimeError):
                store.changes.undo("r2")
        assert list(store.admin.export())[1:] == before
        assert problems(store) == []
        store.changes.undo("r2")
        assert [item.value["text"] for item in store.search(NS)] == ["Maria keeps bees"]


def test_what_a_run_removed_comes_back_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A removed memory is found by nothing, and is not added again; after the undo it is there under
    its id with its value, facets, times, TTL, place, evidence from and for it, edges, counts and
    short id, and is found by meaning and by words. The history tells of one life."""
    monkeypatch.setattr(items, "FEW_ITEMS", 0)  # else they are not looked up in their index
    with MemoryStore(tmp_path / "m.db", index={"embed": WordEmbeddings(), "dims": 16}) as store:
        turns = store.remember(NS, [("user", "bees"), ("user", "wasps")], thread_id="t")
        apply(
            store, "r1", AddEntity(key="m", name="Maria"),
            fact("f", "Maria keeps bees", *turns, owner="ann", importance=0.3, valid_at=year(2010)),
            fact("g", "Maria likes honey", "f"), fact("h", "Maria has a hive"),
            AddEdge(fact="f", subject="m", relation="keeps", literal="bees"),
            Supersede(key="h", by="f", invalid_at=year(2020)), MarkReflected(keys=tuple(turns)),
        )  # fmt: skip
        store.put(NS, "z", {"content": "to last"}, ttl=60, index=["content"])
        store.admin.count_usage([USED | {"key": "f"}])
        [short] = [one.id for one in store._conversing.labelled(NS, digest(NS, "f"))]
        searched = store.search(NS, query="Maria keeps bees")
        before = known(store)
        removed = ("f", "z", turns[0])
        done = apply(store, "r2", *(RemoveMemory(key=key) for key in removed))
        assert (done.removed, done.changed, done.added) == (removed, ("h",), ())  # it holds again
        assert [store.get(NS, key) for key in removed] == [None, None, None]
        assert not {item.key for item in store.search(NS, query="Maria keeps bees")} & set(removed)
        assert store.changes.evidence(NS, "g") == []
        assert store._conversing.labelled(NS, digest(NS, "f")) == []
        assert [entity.key for entity in store.graph(NS).entities()] == []
        assert apply(store, "r3", fact("f", "Maria keeps bees")).added == ()
        assert store.remember(NS, [("user", "new")], thread_id="t2")
        assert problems(store) == []
        dry = store.changes.undo("r2", dry_run=True)
        assert store.get(NS, "f") is None
        undone = store.changes.undo("r2")
        *lines, last = undone.lines
        assert (undone.lines, last[:10]) == (dry.lines, "restore h:")
        assert lines == [f"bring back {key}" for key in removed]
        assert [row for row in known(store) if "t2" not in row] == before
        found = store.search(NS, query="Maria keeps bees")
        assert [one.key for one in found][: len(searched)] == [one.key for one in searched]
        assert [one.id for one in store._conversing.labelled(NS, digest(NS, "f"))] == [short]
        entries = store.changes.history(NS, "f")
        assert [one.action for one in entries] == ["add", "delete", "restore"]
        assert entries[1].facets["importance"] == 0.3
        assert not entries[1].facets.keys() & {"created_at", "position"}
        assert problems(store) == []


def test_what_was_removed_and_written_again(store: MemoryStore) -> None:
    """A memory under the key of a removed one stops the undo, which names who wrote it; one that was
    deleted since by hand stays deleted."""
    store.put(NS, "k", {"content": "old"})
    run = store.changes.remove(NS, "k", reason="outdated").run_id
    store.put(NS, "k", {"content": "new"})
    with pytest.raises(UndoRefusedError, match="k was written by the application at 20"):
        store.changes.undo(run)
    second = store.changes.remove(NS, "k", reason="outdated, too").run_id
    with pytest.raises(UndoRefusedError, match=f"run {second} removed k.*First undo {second}"):
        store.changes.undo(run)
    store.changes.undo(second)
    assert store.get(NS, "k").value == {"content": "new"}  # type: ignore[union-attr]
    store.delete(NS, "k")
    assert store.changes.undo(run).lines == ("leave k: was deleted since, and stays so",)
    assert store.get(NS, "k") is None
    assert store.changes.remove(NS, "k", reason="again").removed == ()
    assert [one.kind for one in store.changes.runs()] == [
        "undo",
        "undo",
        "correction",
        "correction",
    ]


def test_what_a_memory_says_stays_when_it_is_put_away(store: MemoryStore) -> None:
    """Since when and why are in its value, and no part of the text of one without a sentence."""
    store.put(NS, "k", {"door": "blue", "floor": 3})
    before = store.admin.memory(NS, "k")
    store.changes.archive(NS, "k", reason="moved away")
    memory = store.admin.memory(NS, "k")
    assert memory is not None
    assert before is not None
    assert memory.value["archived_because"] == "moved away"
    assert memory.text == before.text


async def test_removing_and_archiving_without_blocking(store: MemoryStore) -> None:
    """`aremove` and `aarchive` are runs as their sync twins are, also for a viewer, who cannot reach
    what is private to others."""
    await store.aput(NS, "k", {"content": "hers", "privacy": "private", "owner": "ann"})
    before = known(store)
    ann, bob = store.for_viewer("ann"), store.for_viewer("bob")
    for refused in (
        await bob.changes.aremove(NS, "k", reason="x"),
        await bob.changes.aarchive(NS, "k", reason="x"),
    ):
        assert (refused.removed, refused.changed, refused.lines) == ((), (), ("there is no k",))
    assert store.changes.runs() == []
    archived = await ann.changes.aarchive(NS, "k", reason="over")
    assert archived.changed == ("k",)
    [memory] = store._conversing.labelled(NS, digest(NS, "k"))
    assert (memory.status, memory.value["archived_because"]) == ("archived", "over")
    removed = await ann.changes.aremove(NS, "k", reason="gone")
    assert (removed.removed, await store.aget(NS, "k")) == (("k",), None)
    with pytest.raises(UndoRefusedError, match=f"First undo {removed.run_id}"):
        await store.changes.aundo(archived.run_id)
    await store.changes.aundo(removed.run_id)
    await store.changes.aundo(archived.run_id)
    assert known(store) == before


def test_a_turn_comes_back_to_its_place(store: MemoryStore) -> None:
    """Turns that were removed stand again before those that were said since and took their places;
    what stands beside a turn is found with it."""
    keys = store.remember(NS, [("user", "one"), ("user", "two"), ("user", "three")], thread_id="t")
    apply(store, "r", *(RemoveMemory(key=key) for key in reversed(keys[1:])))
    keys += store.remember(NS, [("user", "four"), ("user", "five")], thread_id="t")
    assert store._conversing.said_after(NS, keys[0]) == keys[3:]
    store.changes.undo("r")
    rows = store.conn.execute("SELECT key, position FROM item ORDER BY position").fetchall()
    assert [row[0] for row in rows] == keys
    assert len(holding(store, "three", body=False)) == 2


@pytest.mark.parametrize("seed", [0, 1, 17, 85])
def test_a_thread_stays_in_order(store: MemoryStore, seed: int) -> None:
    """Whichever turns are removed, brought back and said meanwhile, and in whatever order: a thread
    goes from the oldest to the newest, and no two turns have one place."""
    choose = random.Random(seed)
    there, gone = list[str](), dict[str, list[str]]()
    for step in range(40):
        what = choose.random()
        if what < 0.4 or not there:
            said = [("user", f"{step} and {n}") for n in range(choose.randint(1, 3))]
            there += store.remember(NS, said, thread_id="t")
        elif what < 0.7:
            keys = choose.sample(there, choose.randint(1, min(4, len(there))))
            apply(store, f"r{step}", *(RemoveMemory(key=key) for key in keys))
            gone[f"r{step}"] = keys
            there = [key for key in there if key not in keys]
        elif gone:
            run = choose.choice(list(gone))
            store.changes.undo(run)
            there += gone.pop(run)
        rows = store.conn.execute("SELECT id, position FROM item ORDER BY position, id").fetchall()
        assert rows == sorted(rows)
        assert len({position for _, position in rows}) == len(rows) == len(there)


def test_rows_beside_what_was_removed_keep_their_own_runs(store: MemoryStore) -> None:
    """In whatever order runs are undone that removed a memory, its source, or gave it evidence, all
    of it is there at the end."""
    apply(store, "r0", fact("s", "source"), fact("f", "made of it"), fact("g", "another"))
    begin = known(store)
    for order in itertools.permutations(("r1", "r2", "r3")):
        rename = {run: f"{run}-{'-'.join(order)}" for run in order}
        apply(store, rename["r1"], UpdateMemory(key="f", evidence=("s", "g")))
        apply(store, rename["r2"], RemoveMemory(key="s"))
        apply(store, rename["r3"], RemoveMemory(key="f"), RemoveMemory(key="g"))
        left = [rename[run] for run in order]
        while left:
            run = left.pop(0)
            try:
                store.changes.undo(run)
            except UndoRefusedError:
                left.append(run)
            assert problems(store) == []
        assert known(store) == begin


def random_changes(random: random.Random, step: int, store: MemoryStore) -> list[Change]:
    """A few changes that fit what the store holds, also to what they add themselves."""
    keys = [row[0] for row in store.conn.execute("SELECT key FROM item WHERE thread IS NULL")]
    entities = [row[0] for row in store.conn.execute("SELECT key FROM entity")]
    reviews = [review.id for review in store.changes.reviews()]
    made: list[Change] = []
    for n in range(random.randint(1, 8)):
        key, other = random.choice(keys or [""]), random.choice(keys or [""])
        entity, second = random.choice(entities or [""]), random.choice(entities or [""])
        kind = random.randrange(15) if keys and entities else random.choice((0, 1))
        new = f"{step}-{n}"
        facets = Facets(confidence=random.random(), pinned=random.random() < 0.5)
        if kind == 0:
            some = tuple(random.sample(keys, min(len(keys), 2)))
            made.append(fact(f"f{new}", f"fact {new}", *some, importance=random.random()))
            keys.append(f"f{new}")
        elif kind == 1:
            names = tuple(random.choice("ABCD") for _ in range(random.randrange(3)))
            name = random.choice([*entities, f"e{new}"])
            made.append(AddEntity(key=name, name=name, aliases=names))
            entities.append(name)
        elif kind == 2:
            made.append(UpdateMemory(key=key, facets=facets, evidence=(other,)))
        elif kind == 3:
            made.append(UpdateMemory(key=key, value=value(f"said {new}"), mentions=(entity,)))
        elif kind == 4 and key != other:
            made.append(Supersede(key=key, by=other, invalid_at=year(random.randint(2000, 2030))))
        elif kind == 5:
            made.append(Invalidate(key=key, invalid_at=year(random.randint(2000, 2030))))
        elif kind == 6:
            status = random.choice(["pending", "approved", "active", "superseded", "archived"])
            made.append(SetStatus(key=key, status=status))
        elif kind == 7 and key != other:
            made.append(Merge(key=key, others=(other,)))
        elif kind == 8:
            made.append(AddEdge(fact=key, subject=entity, relation="knows", object=second))
        elif kind == 9:
            made.append(UnlinkEntities(key=entity))
        elif kind == 10 and entity != second:
            made.append(UnlinkEntities(key=second))
            made.append(LinkEntities(key=entity, same_as=second))
        elif kind == 11:
            made.append(OpenReview(id=f"q{new}", about="a", question="?", memories=(key,),
                                   options={"yes": (SetStatus(key=key, status="archived"),)}))  # fmt: skip
        elif kind == 12 and reviews:
            made.append(DecideReview(id=reviews.pop(), option="yes"))
        elif kind > 12:
            made.append(RemoveMemory(key=key))
    return made


@settings(
    max_examples=examples(40, first=3), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(seed=st.integers(0, 2**32), backwards=st.booleans())
def test_any_runs_undone(seed: int, backwards: bool) -> None:
    """Whatever runs did, undone last first each brings back the export from before it. In any other
    order that is not refused, they too end where they began; a refusal changes nothing."""
    chance = random.Random(seed)
    with MemoryStore(":memory:", index=False) as store:
        store.remember(NS, [("user", "hello")], thread_id="t")
        states: list[tuple[str, list[str]]] = []
        for step in range(8):
            plan = change_set(f"r{step}", *random_changes(chance, step, store))
            before = known(store)
            if _fits(store, plan):
                states.append((plan.run_id, before))
            else:
                assert known(store) == before
        first = known(store) if not states else states[0][1]
        while states:
            run, before = states[-1] if backwards else chance.choice(states)
            now = known(store)
            try:
                store.changes.undo(run)
            except UndoRefusedError:
                assert known(store) == now
                assert run != states[-1][0], "on the newest nothing stands"
                continue
            states.remove((run, before))
            assert problems(store) == [], problems(store)
            if backwards:
                assert known(store) == before, run
        assert known(store) == first


def _fits(store: MemoryStore, plan: ChangeSet) -> bool:
    try:
        store.changes.apply(plan)
    except ChangeError:  # links in a circle
        return False
    return True


TABLES = ("item", "history", "run", "evidence", "reflected", "entity", "alias", "mention", "edge",
          "review")  # fmt: skip
"""Those a run writes."""


@pytest.mark.thorough
@pytest.mark.sqlite("reads plans of SQLite")
def test_a_large_file_is_not_searched_for_a_small_run(store: MemoryStore) -> None:
    """In a file of 50,000 edges, no statement of the undo of a run of one fact scans a table: by
    SQLite's own plan, each finds what the run did by an index."""
    turns = store.remember(NS, [("user", "I keep bees"), ("user", "and wasps")], thread_id="t")
    apply(store, "r1", AddEntity(key="m", name="Maria"), fact("f", "Maria keeps bees", turns[0]))
    with store._core.engine.database.write() as connection:
        connection.execute(
            "CREATE TEMP TABLE n (n INTEGER PRIMARY KEY);"
            "WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < 50000) "
            "INSERT INTO n SELECT n FROM up;"
            "INSERT INTO entity (namespace, key, name, kind, run) "
            "SELECT e.namespace, 'e' || n, 'E' || n, 'thing', 'r1' FROM n, entity e WHERE e.key = 'm';"
            "INSERT INTO mention (entity, item, run) SELECT e.id, i.id, 'r1' "
            "FROM entity e, item i WHERE i.key = 'f';"
            "INSERT INTO edge (fact, subject, relation, object, run) SELECT i.id, e.id, 'keeps', "
            "e.id, 'r1' FROM entity e, item i WHERE i.key = 'f'; DROP TABLE n"
        )
    apply(
        store, "r2", AddEntity(key="w", name="Wasps"), LinkEntities(key="m", same_as="e7"),
        fact("g", "Maria keeps wasps", turns[1]), MarkReflected(keys=(turns[1],)),
        AddEdge(fact="g", subject="m", relation="keeps", object="w"), RemoveMemory(key="f"),
        OpenReview(id="q", about="duplicate", question="?", memories=("g",), options={"x": ()}),
    )  # fmt: skip

    plans: dict[str, list[str]] = {}
    explaining = False

    def explain(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        nonlocal explaining
        if not explaining and sql.lstrip().startswith(("SELECT", "WITH", "DELETE", "UPDATE")):
            explaining = True
            rows = cursor.connection.execute(f"EXPLAIN QUERY PLAN {sql}", bindings or ())
            plans[sql] = [str(row[3]) for row in rows]
            explaining = False
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = explain

    with store._core.engine.database.write() as writer, store._core.engine.read() as snapshot:
        watch(writer)
        watch(snapshot.connection)
    assert "take back 1 name" in store.changes.undo("r2").lines
    with store._core.engine.database.write() as writer, store._core.engine.read() as snapshot:
        writer.exec_trace = snapshot.connection.exec_trace = None
    named = {table for sql in plans for table in TABLES if f" {table} " in f"{sql} "}
    assert named == set(TABLES)
    scanned = re.compile(rf"SCAN ({'|'.join(TABLES)}|[a-z])\b(?! VIRTUAL)")
    assert {sql: plan for sql, plan in plans.items() if scanned.search("; ".join(plan))} == {}


def test_a_copy_that_is_brought_up_to_date_can_undo_what_it_got(tmp_path: Path) -> None:
    """A file that gets the exports of another one time and again has its runs with all that they
    did: undone there they give back what was before them, in the right order, also where the other
    file has undone them already; what its items had, and have no more, they have here no more."""
    with MemoryStore(tmp_path / "a.db") as one, MemoryStore(tmp_path / "b.db") as copy:
        apply(one, "first", AddEntity(key="e", name="E"), fact("k", "old"), fact("s", "source"))
        assert copy.admin.import_rows(one.admin.export()) == 2
        before = known(copy)
        update = UpdateMemory(
            key="k",
            value=value("new"),
            evidence=("s",),
            mentions=("e",),
            facets=Facets(owner="ann"),
        )
        apply(one, "second", update)
        apply(one, "third", Supersede(key="k", by="s", invalid_at=year(2024)), fact("n", "more"))
        copy.admin.import_rows(one.admin.export())
        assert known(copy) == known(one)
        assert [entry.run_id for entry in copy.changes.history(NS, "k")] == [
            "first",
            "second",
            "third",
        ]
        with pytest.raises(UndoRefusedError, match="First undo third"):
            copy.changes.undo("second")
        one.changes.undo("third")
        one.changes.undo("second")
        copy.admin.import_rows(one.admin.export())
        (row,) = [
            row
            for row in copy.admin.export(history=False)
            if row.get("key") == "k" and row["type"] == "item"
        ]
        assert (row["status"], row["value"]["text"]) == ("active", "old")
        assert not row.keys() & {"superseded_by", "owner", "invalid_at"}
        for run in ("third", "second"):
            copy.changes.undo(run)
        assert known(copy) == before
        assert problems(copy) == []


def test_a_copy_brings_back_what_the_other_file_removed(tmp_path: Path) -> None:
    """An export tells what a run removed, and what stood beside it: the copy can undo that run, also
    where a memory was removed twice. What was brought back is not removed by importing it again."""
    with MemoryStore(tmp_path / "a.db") as one, MemoryStore(tmp_path / "b.db") as copy:
        apply(
            one, "first", AddEntity(key="e", name="E"), fact("s", "source"), fact("k", "old", "s"),
            fact("n", "made of it", "k"), AddEdge(fact="k", subject="e", relation="is", literal="x"),
        )  # fmt: skip
        one.admin.count_usage([USED | {"key": "k"}])
        before = known(one)
        one.changes.undo(one.changes.remove(NS, "k", reason="too early").run_id)
        apply(one, "second", RemoveMemory(key="k"), RemoveMemory(key="s"))
        rows = list(one.admin.export())
        copy.admin.import_rows(rows)
        assert known(copy) == known(one)
        assert problems(copy) == []
        copy.changes.undo("second")
        assert sorted(known(copy)) == sorted(before)
        assert [row for row in copy.admin.export() if row["type"] == "usage"] != []
        copy.admin.import_rows(rows)
        assert sorted(known(copy)) == sorted(before)
        assert problems(copy) == []


def test_a_run_of_which_an_import_tells_half_is_not_undone(tmp_path: Path) -> None:
    """Where a memory was changed here meanwhile, it keeps its own history: undoing a run that changed
    it elsewhere is refused, and says which memory it is."""
    with MemoryStore(tmp_path / "a.db") as one, MemoryStore(tmp_path / "b.db") as other:
        apply(one, "first", fact("k", "old"), fact("s", "source"))
        other.admin.import_rows(one.admin.export())
        other.put(NS, "k", {"text": "by hand"})
        apply(one, "second", UpdateMemory(key="k", value=value("new"), evidence=("s",)))
        other.admin.import_rows(one.admin.export())
        with pytest.raises(UndoRefusedError, match=r"came with an import.* k said before"):
            other.changes.undo("second")
        assert [entry.reason for entry in other.changes.history(NS, "k")][1:] == [None, "import"]


@pytest.mark.parametrize("known_before", [True, False], ids=["before", "after"])
def test_what_is_there_all_the_same_is_left_there(tmp_path: Path, known_before: bool) -> None:
    """A copy that hears of a removal keeps the memory it had, and gets one from where the removal was undone:
    its own undo of the run leaves both, and brings back the rest."""
    with MemoryStore(tmp_path / "a.db") as one, MemoryStore(tmp_path / "b.db") as copy:
        apply(one, "first", fact("k", "old"), fact("n", "more"), fact("m", "much"))
        if known_before:
            copy.admin.import_rows(one.admin.export())
        apply(one, "second", RemoveMemory(key="k"), RemoveMemory(key="m"))
        copy.admin.import_rows(one.admin.export())
        one.changes.undo("second")
        copy.admin.import_rows(row for row in one.admin.export() if row.get("key") != "m")
        assert copy.changes.undo("second", dry_run=True).lines.count("leave k: is there again") == 1
        assert copy.changes.undo("second").changed == (() if known_before else ("m",))
        assert sorted(known(copy)) == sorted(known(one))
        assert problems(copy) == []


def test_an_import_that_tells_too_little_stops_an_undo(tmp_path: Path) -> None:
    """What a run removed does not come back in place of another memory that an import brought, however old
    that is, nor without all that it was."""
    with MemoryStore(tmp_path / "a.db") as one, MemoryStore(tmp_path / "b.db") as other:
        other.put(NS, "k", {"text": "another"})
        apply(one, "first", fact("k", "old"))
        apply(one, "second", RemoveMemory(key="k"))
        told = list(one.admin.export())
        one.admin.import_rows(other.admin.export())
        with pytest.raises(UndoRefusedError, match="another k is there"):
            one.changes.undo("second")
    for row in told:
        if row["type"] == "history" and row["action"] == "delete":
            del row["facets"]["importance"]
    with MemoryStore(tmp_path / "c.db") as copy:
        copy.admin.import_rows(told)
        with pytest.raises(UndoRefusedError, match="does not tell all that k was"):
            copy.changes.undo("second")
