"""Forgetting: gone from every table, from the bytes of the file, and for good."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    ChangeSet,
    Facets,
    LinkEntities,
    MarkReflected,
    OpenReview,
    RemoveMemory,
    Supersede,
    UpdateMemory,
)
from langmemory.config import DEFAULT_DATABASE, load_config
from langmemory.engines import opening
from langmemory.engines.sqlite import indexes
from langmemory.errors import ConfigError, DatabaseError, ForgettingError, UndoRefusedError
from langmemory.ledger.forgetting import erase
from langmemory.operations import forgetting
from langmemory.operations.gathering import Gathering
from langmemory.ports.jobs import NewJob
from langmemory.projections.journal import JournalFiles
from langmemory.reflection import LocalReflectionExecutor
from langmemory.search import binary
from langmemory.search.chunks import sign_bits
from langmemory.stores import MemoryStore
from tests.children import ended
from tests.postgres_server import place
from tests.privacy.household import START
from tests.seeds import seeds
from tests.stores.change_sets import NS, apply, known, problems
from tests.stores.change_sets import fact as plain_fact

WORDS = (  # noqa: SIM905
    "apple boat castle dragon engine forest guitar hammer island jacket kettle lantern mountain "
    "needle ocean pepper quilt river saddle teapot umbrella violin window yogurt zebra anchor "
    "butter candle diamond eagle feather garden honey insect jungle kitten ladder magnet noodle "
    "onion pirate queen rabbit sailor tiger uncle valley whale yacht acorn basket copper donkey"
).split()


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with MemoryStore(tmp_path / "memory.db") as store:
        yield store
        assert problems(store) == []


def fact(key: str, text: str, *evidence: str, mentions: Any = (), **facets: Any) -> AddMemory:
    return plain_fact(key, text, *evidence, **facets).model_copy(update={"mentions": mentions})


def said(store: MemoryStore, owner: str, *texts: str, thread: str = "t") -> list[str]:
    return store.remember(
        NS,
        [
            {"role": "user", "content": text, "id": f"{owner}-{text[:12]}", "name": owner}
            for text in texts
        ],
        thread_id=thread,
        owner=owner,
        at=START,
    )


def in_files(store: MemoryStore, *words: str) -> list[str]:
    """The words that stand anywhere in the file, its WAL or its shared memory, in any case, also
    as FTS5 keeps them: without their first letters."""
    if store.path.startswith(
        "postgresql://"
    ):  # whose bytes are out of reach: the rows of every table
        return [word for word in words if store._core.engine.leftovers([word])[1]]
    image = b"".join(
        path.read_bytes().lower() for path in Path(store.path).parent.glob("memory.db*")
    )
    assert image
    return [word for word in words if word[3:].lower().encode() in image]


def remaining(path: Path) -> str | None:
    """What an interrupted forgetting did not come to."""
    with closing(opening.open_engine(path, DEFAULT_DATABASE)) as engine:
        return engine.remaining


def test_no_byte_is_left(store: MemoryStore) -> None:
    """After forgetting somebody, nothing that person owned or that was made of it alone stands in the
    file: not in values, versions before, names, claims, notes, reasons, questions or jobs."""
    [turn] = said(store, "alice", "Zqxhummel keeps Zqxwespen in the attic")
    said(store, "bob", "The attic is full")
    store.put(NS, "diary", {"text": "Zqxdraussen", "owner": "alice"})
    store.put(NS, "diary", {"text": "Zqxdrinnen", "owner": "alice", "Zqxpfad": 1})
    store.put(NS, "Zqxschluessel", {"text": "gone before", "owner": "alice"})
    store.delete(NS, "Zqxschluessel")
    apply(
        store, "reflect/1",
        AddEntity(key="e/zqxhummel", name="Zqxhummel", aliases=("Zqxspitzname",)),
        AddEntity(key="e/attic", name="attic", aliases=("Zqxdachboden",)),
        fact("f", "Zqxhummel has Zqxwespen", turn, mentions=("e/zqxhummel", "e/attic")),
        AddEdge(fact="f", subject="e/zqxhummel", relation="keeps", literal="Zqxinsekten"),
        fact("g", "The attic is full", mentions=("e/attic",)),
        OpenReview(id="q", about="duplicate", question="Is Zqxfrage so?", memories=("f", "g"),
                   options={"no": ()}),
        Supersede(key="g", by="f", invalid_at=START, reason="Zqxgrund"),
        note={"journal": "Today Zqxtagebuch", "model_calls": 2}, reason="Zqxanlass",
    )  # fmt: skip
    with store._core.engine.write() as connection:
        connection.execute(
            "INSERT INTO job (kind, lane, payload, created_at, due_at, state, error) VALUES "
            "('reflection', 'l', ?, 0, 0, 'dead', 'failed on Zqxhummel keeps Zqxwespen')",
            (f'{{"keys": ["{turn}"]}}',),
        )
    words = (
        "Zqxhummel", "Zqxwespen", "Zqxdraussen", "Zqxdrinnen", "Zqxpfad", "Zqxschluessel", "Zqxspitzname",
        "Zqxdachboden", "Zqxinsekten", "Zqxfrage", "Zqxgrund", "Zqxtagebuch", "Zqxanlass",
    )  # fmt: skip
    assert set(in_files(store, *words)) == set(words)
    done = store.forget(NS, owner="alice")
    assert in_files(store, *words) == []
    assert (done.memories, done.edges, done.entities, done.reviews) == (3, 1, 1, 1)
    assert done.words > 5
    [run] = store.changes.runs(NS)[:1]
    assert (run.id, run.kind, run.note["memories"]) == (done.run_id, "forget", 3)
    [reflection] = [one for one in store.changes.runs(NS) if one.id == "reflect/1"]
    assert (reflection.reason, reflection.note) == ("", {"model_calls": 2})
    assert [entity.name for entity in store.graph(NS).entities(past=True)] == ["attic"]
    assert [one.text for one in store.recall("attic", NS).results] == ["The attic is full"] * 2
    found = store.get(NS, "g")
    assert found is not None
    assert found.value["text"] == "The attic is full"
    assert store.jobs.listed(("dead",)) == []


@pytest.mark.parametrize("how", ["keys", "owner", "entity", "source"])
def test_no_byte_of_what_could_be_brought_back(store: MemoryStore, how: str) -> None:
    """A removed memory is kept for undo until it is forgotten by its key, its owner, an entity in
    it, or its evidence. Then neither an undo nor an import brings it back."""
    [turn] = said(store, "alice", "Zqxhummel keeps Zqxwespen in the attic")
    apply(
        store, "reflect/1", AddEntity(key="e/zqxhummel", name="Zqxhummel"),
        fact("f", "There is a Zqxnest", turn, mentions=("e/zqxhummel",), owner="alice",
             speaker="Zqxsprecher"),
        AddEdge(fact="f", subject="e/zqxhummel", relation="keeps", literal="Zqxinsekten"),
        fact("s", "Zqxzusammen", "f", kind="archival"), fact("g", "The attic is full"),
    )  # fmt: skip
    apply(store, "clean", *(RemoveMemory(key=key) for key in ("f", "s", turn)), reason="Zqxgrund")
    rows = list(store.admin.export())
    words = ("Zqxnest", "Zqxsprecher", "Zqxinsekten", "Zqxzusammen", "Zqxgrund")
    assert set(in_files(store, *words)) == set(words)
    if how == "owner":
        store.forget(NS, owner="alice")
    elif how == "entity":
        store.forget(NS, entity="Zqxhummel")
    else:
        store.forget(NS, keys=[turn if how == "source" else "f"])
    assert in_files(store, *words) == []
    with pytest.raises(UndoRefusedError, match="was forgotten since"):
        store.changes.undo("clean")
    store.admin.import_rows(rows)
    assert in_files(store, *words) == []
    assert [item.key for item in store.search(NS)] == ["g"]


@pytest.mark.sqlite("looks into the bytes of the file and its tables of vectors")
def test_vectors_and_their_signs_go(tmp_path: Path) -> None:
    """Neither a forgotten embedding nor its sign bits stay, packed or not, on disk or in memory, nor
    an embedding kept for the next time."""
    with MemoryStore(tmp_path / "memory.db") as store:
        for number in range(50):
            text = " ".join(WORDS[number : number + 4])
            store.put(NS, f"k{number}", {"text": text, "owner": f"o{number % 5}"})
        store.search(NS, query="apple")  # the signs are in memory now
        with store._core.engine.write() as connection:
            binary.pack(connection, store._core.engine.model.words)
        store.put(NS, "late", {"text": "the last thing", "owner": "o0"})
        store.search(NS, query="apple")
        gone = [
            (row[0], np.frombuffer(row[1], np.float32).reshape(1, -1))
            for row in store.conn.execute(
                "SELECT v.id, v.e FROM vector v JOIN item i ON i.id = v.id >> 16 WHERE owner = 'o0'"
            )
        ]
        assert len(gone) == 11
        store.forget((), owner="o0")
        image = (tmp_path / "memory.db").read_bytes()
        assert not [id for id, vector in gone if vector.tobytes() in image]
        _, index = store._core.engine.copies.current
        assert index is not None
        (chunk,) = index.chunks(store._core.engine.database._writer)
        there = set(chunk.ids[: chunk.n][chunk.namespaces[: chunk.n] >= 0].tolist())
        assert not there & {id for id, _ in gone}
        segments = store.conn.execute("SELECT count, vectors, bits FROM code_segment").fetchall()
        for count, ids, bits in segments:
            rows = np.frombuffer(bits, np.uint64).reshape(-1, count).T
            assert not {id for id, _ in gone} & set(np.frombuffer(ids, np.int64).tolist())
            kept = {row.tobytes() for row in rows}
            assert not [id for id, vector in gone if sign_bits(vector)[0].tobytes() in kept]
        assert len(store.search((), query="apple", limit=100)) == 40
        assert problems(store) == []


def test_what_was_made_of_it(store: MemoryStore) -> None:
    """A fact goes with its only evidence, and stays with less where somebody else said so too; a
    summary goes with any of its sources; the person's facts go whoever said them."""
    [mine] = said(store, "alice", "We moved to Bern")
    [theirs] = said(store, "bob", "They moved to Bern")
    summary: dict[str, Any] = {"text": "They talked of Bern", "fact_kind": "fact"}
    apply(
        store, "r",
        fact("only", "Alice lives in Bern", mine),
        fact("both", "They live in Bern", mine, theirs),
        fact("hers", "Alice is tall", theirs, owner="alice"),
        AddMemory(key="summary/1", value=summary, facets=Facets(kind="archival"),
                  evidence=(mine, theirs)),
        AddMemory(key="summary/2", value=summary, facets=Facets(kind="archival"),
                  evidence=("summary/1",)),
    )  # fmt: skip
    preview = store.forget(NS, owner="alice", dry_run=True)
    assert (preview.kinds, preview.facts_kept) == ({"archival": 2, "episodic": 1, "semantic": 2}, 1)
    assert preview.samples[0] == "We moved to Bern"
    assert preview.dry_run
    assert store.get(NS, "only") is not None, "a dry run changes nothing"
    store.forget(NS, owner="alice")
    assert {item.key for item in store.search(NS, limit=99)} == {theirs, "both"}
    with Gathering(store).knowledge(NS) as knowledge:
        both = knowledge.by_key("both")
        assert both is not None
        assert both.evidence == (theirs,)


def test_it_does_not_come_back(store: MemoryStore) -> None:
    """A client that sends a forgotten message again, a run that derives a forgotten fact again and an
    export from before do not bring it back; a new put under the key does what it says. The file
    knows the key again without holding it."""
    [turn] = said(store, "alice", "I am Zqxgeheim")
    said(store, "bob", "Hello")
    apply(store, "r", fact("fact/1", "Alice is Zqxgeheim", turn))
    export = list(store.admin.export())
    store.forget(NS, keys=[turn])
    assert said(store, "alice", "I am Zqxgeheim") == []
    done = apply(store, "r2", fact("fact/1", "Alice is Zqxgeheim"))
    assert done.added == ()
    assert "deleted" in done.lines[0]
    store.admin.import_rows(export)
    assert store.get(NS, turn) is None
    assert store.get(NS, "fact/1") is None
    assert in_files(store, "alice-I am Zqx") == []
    entries = store.changes.history(NS, turn)
    assert [(one.action, one.before, one.after) for one in entries] == [
        ("add", None, None), ("forget", None, None)
    ]  # fmt: skip
    store.put(NS, turn, {"text": "something else"})
    assert [one.action for one in store.changes.history(NS, turn)] == ["add", "forget", "add"]


@pytest.mark.parametrize("history", [True, False])
def test_an_old_export_brings_back_nothing(tmp_path: Path, history: bool) -> None:
    """An export from before brings nothing of the forgotten back that it tells beside memories: what
    was deleted, who was spoken of, what was asked, why, and the names of places. What is put under a
    forgotten key afterwards stays as it is."""
    home = ("memories", "zqxalice")
    with MemoryStore(tmp_path / "memory.db") as store:
        store.put(home, "gone", {"text": "Zqxwegwerf", "owner": "alice"})
        store.delete(home, "gone")
        store.put(home, "slot", {"text": "Zqxvormals", "owner": "alice"})
        store.put(NS, "k", {"text": "of Bob"})
        apply(
            store,
            "r",
            AddEntity(key="e/1", name="Zqxmarlene", aliases=("Zqxspitzname",)),
            fact("fact/1", "Zqxsiebold", mentions=("e/1",), owner="alice"),
            fact("fact/2", "Bob has a boat"),
            OpenReview(
                id="q", about="duplicate", question="Zqxfragewort?", memories=("fact/1",),
                options={"no": ()},
            ),
            Supersede(key="fact/2", by="fact/1", invalid_at=START, reason="Zqxgrundwort"),
        )  # fmt: skip
        export = list(store.admin.export(history=history))
        store.forget((), owner="alice")
        store.put(NS, "k", {"text": "of Bob, too"})
        assert (
            store.admin.import_rows(export) == 2
        )  # fact/2 holds again, and in the export it did not
        assert in_files(
            store, "Zqxwegwerf", "Zqxvormals", "Zqxmarlene", "Zqxspitzname", "Zqxsiebold",
            "Zqxfragewort", "Zqxgrundwort", "zqxalice",
        ) == []  # fmt: skip
        assert store.changes.reviews(open_only=False) == []
        store.put(home, "slot", {"text": "mine"})
        store.admin.import_rows(export)
        assert store.get(home, "slot").value == {"text": "mine"}  # type: ignore[union-attr]
        assert problems(store) == []
        after = list(store.admin.export())
        with MemoryStore(tmp_path / "copy.db") as copy:
            copy.admin.import_rows(after)
            assert known(copy) == known(store)


def test_what_was_theirs_before_it_was_given_away(store: MemoryStore) -> None:
    """Of a memory that is somebody else's now, every version goes that was written while it was the
    forgotten person's, though its value does not say whose it is; what it says now stays."""
    alice = store.for_viewer("alice")
    alice.put(NS, "k", {"text": "Zqxerstens"})
    alice.put(NS, "k", {"text": "Zqxzweitens"})
    store.put(NS, "k", {"text": "Zqxdrittens", "owner": "bob"})
    store.put(NS, "k", {"text": "of bob"})
    apply(store, "r", fact("fact/1", "Zqxviertens", owner="alice"))
    apply(store, "s", UpdateMemory(key="fact/1", value={"text": "Zqxfuenftens"}))
    apply(
        store, "t", UpdateMemory(key="fact/1", value={"text": "bob's"}, facets=Facets(owner="bob"))
    )
    store.forget(NS, owner="alice")
    words = ("Zqxerstens", "Zqxzweitens", "Zqxviertens", "Zqxfuenftens")
    assert in_files(store, *words, "Zqxdrittens") == ["Zqxdrittens"]
    assert [item.value["text"] for item in store.search(NS)] == ["bob's", "of bob"]


def test_names_of_places_go(tmp_path: Path) -> None:
    """A namespace that held nothing but the forgotten is named no more, and still what was forgotten
    there does not come back."""
    home = ("memories", "zqxalice")
    with MemoryStore(tmp_path / "memory.db") as store:
        messages = [{"role": "user", "content": "Hello there", "id": "1"}]
        store.remember(home, messages, thread_id="zqxfaden", owner="zqxalice")
        store.put(("memories", "bob"), "k", {"text": "Bob"})
        store.put((*home, "core"), "human", {"text": "is tall", "owner": "zqxalice"})
        store.forget((), owner="zqxalice")
        assert in_files(store, "zqxalice", "zqxfaden") == []
        assert store.remember(home, messages, thread_id="zqxfaden", owner="zqxalice") == []
        assert [one.action for one in store.changes.history(home, "zqxfaden/1")] == [
            "add",
            "forget",
        ]
        assert store.list_namespaces() == [("memories", "bob")]
        assert problems(store) == []
        store.forget((), owner="nobody")
        store.put(("zqxalice",), "k", {"text": "a", "owner": "zqxalice"})
        store.forget(("zqxalice",), owner="zqxalice")
        assert in_files(store, "zqxalice") == []
        assert store.changes.history(("zqxalice",), "k")[-1].action == "forget"


def test_everything_that_speaks_of_somebody(store: MemoryStore) -> None:
    """Forgetting an entity takes what mentions it, under any of its names and links, what was said
    of it in words alone, and what was written before; not who is only called alike."""
    turns = said(
        store,
        "bob",
        "Zqxmarlene came by",
        "Marles cousin too",
        "Zqxmarlene-Marie paints",
        "It rained",
    )
    store.put(NS, "note", {"text": "Zqxmarlene owes me ten"})
    store.put(NS, "note", {"text": "Nobody owes me"})
    apply(
        store, "r",
        AddEntity(key="e/zqxmarlene", name="Zqxmarlene"),
        AddEntity(key="e/zqxhelene", name="Zqxhelene", aliases=("the Zqxgrosse",)),
        LinkEntities(key="e/zqxhelene", same_as="e/zqxmarlene"),
        AddEntity(key="e/bob", name="Bob"),
        fact("f", "She paints", mentions=("e/zqxhelene",)),
        fact("g", "Bob sleeps", mentions=("e/bob",)),
        AddEdge(fact="f", subject="e/zqxhelene", relation="knows", object="e/bob"),
    )  # fmt: skip
    done = store.forget(NS, entity="zqxMARLENE")
    assert in_files(store, "Zqxmarlene", "Zqxhelene", "Zqxgrosse") == []
    left = {item.key for item in store.search(NS, limit=99)}
    assert left == {turns[1], turns[3], "note", "g"}
    assert (done.entities, done.edges) == (2, 1)
    assert [entity.name for entity in store.graph(NS).entities()] == ["Bob"]
    assert store.changes.history(NS, "note")[1].before is None


@pytest.mark.parametrize(
    ("name", "text", "speaks"),
    [
        ("王小红", "我姐姐叫王小红，她住在北京。", True),
        ("佐藤", "佐藤さんは東京に住んでいます。", True),
        ("Lena", "Lena住在北京。", True),
        ("Katrin", "Katrins Hund heißt Bello.", True),
        ("Katrin", "Hello!\nKatrin is here.", True),
        ("María", "Mari\u0301a vive en Lugo.", True),
        ("O'Brien", "Mrs O’Brien called.", True),
        ("O'Brien", "Mrs O´Brien called.", True),
        ("Andrea", "Andreas kommt.", False),
        ("Katrin", "Katrina is here.", False),
        ("The Who", "I know who is there.", False),
        ("Die Ärzte", "Dr. Arzte ist da.", False),
    ],
)
def test_a_name_is_found_however_it_is_written(
    tmp_path: Path, name: str, text: str, speaks: bool
) -> None:
    """A text speaks of somebody also where words are not spaced, in a genitive, at the beginning of a
    line, with other accents and apostrophes. A longer name is another name, and an article is a part
    of one."""
    with MemoryStore(tmp_path / "memory.db") as store:
        said(store, "bob", text)
        apply(
            store, "r",
            AddEntity(key="e/1", name=name),
            AddEntity(key="e/2", name="Andreas"),
            fact("f", "Somebody else", mentions=("e/2",)),
        )  # fmt: skip
        store.forget(NS, entity=name)
        left = [item.key for item in store.search(NS) if item.key != "f"]
        assert (left == []) == speaks


@pytest.mark.parametrize("name", ["Bob", "小红"])
def test_a_short_name_goes_from_what_is_said_in_passing(store: MemoryStore, name: str) -> None:
    """A name too short to be a word of its own in the proof goes from reasons, notes of runs,
    questions and jobs that name it, though they are about others; those of other namespaces stay."""
    store.put(NS, "k", {"text": "Zqxanna sleeps"})
    elsewhere = ("elsewhere",)
    for n, namespace in enumerate((NS, elsewhere)):
        store.put(namespace, "k", {"text": "Zqxanna sleeps"})
        change = UpdateMemory(key="k", facets=Facets(importance=0.9), reason=f"{name} 说的, {name}")
        review = OpenReview(
            id=f"q{n}", about="a", question=f"Is it {name}?", memories=("k",), options={}
        )
        note = {"linked": [{"key": "e/1", "reason": f"a model: {name} says so"}]}
        store.changes.apply(
            ChangeSet(
                namespace=namespace, run_id=f"r{n}", kind="reflection", reason="because",
                changes=(change, review), note=note,
            )
        )  # fmt: skip
        job = NewJob(
            kind="reflect", lock=".".join(namespace), thread=None, config={},
            payload={"messages": [{"role": "user", "content": f"{name} is back"}]},
        )  # fmt: skip
        store.jobs.enqueue(job, lambda _: None).result(10)
    store.forget(NS, entity=name)
    [kept, changed] = [store.changes.runs(namespace)[-1] for namespace in (elsewhere, NS)]
    assert (kept.note["linked"][0]["reason"], changed.note) == (f"a model: {name} says so", {})
    assert [entry.reason for entry in store.changes.history(NS, "k")][-1] is None
    assert store.changes.history(elsewhere, "k")[-1].reason is not None
    assert [review.id for review in store.changes.reviews()] == ["q1"]
    assert [job.lock for job in store.jobs.listed()] == ["elsewhere"]


def test_a_memory_whose_key_names_somebody_speaks_of_them(store: MemoryStore) -> None:
    """Memories under a person's name are forgotten with them, even if the text does not name them
    or they were deleted before. A name that only begins alike is another person's."""
    for key in ("zqxolga", "gifts/Zqxolga", "zqxolgarith", "zqxolga deleted"):
        store.put(NS, key, {"phone": f"555 {len(key)}"})
    store.delete(NS, "zqxolga deleted")
    assert store.forget(NS, entity="Zqxolga").memories == 2
    assert [item.key for item in store.search(NS)] == ["zqxolgarith"]
    assert in_files(store, "zqxolga deleted", "123555 15") == []


def test_everything_in_a_namespace(tmp_path: Path) -> None:
    """Of a namespace, as of a person who has one, nothing is left: memories nobody owns, what was
    deleted before, names, runs, open questions, pages, what waits, what was made of it elsewhere, and
    its own name. The neighbours stay, and it does not come back."""
    ida, idas = ("memories", "zqxida"), ("memories", "zqxidas-sister")
    config = load_config()
    journal = config.journal.model_copy(update={"path": str(tmp_path / "journal")})
    config = config.model_copy(update={"journal": journal})
    message = {"role": "user", "content": "I keep Zqxwespen", "id": "1"}
    words = ("Zqxwespen", "Zqxdraussen", "Zqxgeloescht", "Zqxspitzname", "Zqxfrage", "Zqxanlass",
             "Zqxtagebuch", "Zqxkern", "Zqxwartend")  # fmt: skip
    with MemoryStore(tmp_path / "memory.db", config=config) as store:
        [turn] = store.remember(ida, [message], thread_id="Zqxfaden")
        store.put(ida, "k", {"text": "Zqxdraussen"})
        store.put(ida, "gone", {"text": "Zqxgeloescht"})
        store.delete(ida, "gone")
        store.put((*ida, "core"), "human", {"text": "Zqxkern"})
        store.put(idas, "k", {"text": "stays"})
        store.changes.apply(ChangeSet(
            namespace=ida, run_id="reflect/1", kind="reflection", reason="Zqxanlass",
            note={"journal": "Zqxtagebuch"},
            changes=(
                AddEntity(key="e/ida", name="Ida", aliases=("Zqxspitzname",)),
                fact("f", "Ida keeps Zqxwespen", turn, mentions=("e/ida",)),
                OpenReview(id="q", about="duplicate", question="Is Zqxfrage so?",
                           memories=("f",), options={"no": ()}),
            ),
        ))  # fmt: skip
        executor = LocalReflectionExecutor(print, store, name="reflect", lanes=0)
        for user in ("zqxida", "bob"):
            executor.submit(
                {"messages": [{"role": "user", "content": f"Zqxwartend, said {user}"}]},
                {"configurable": {"user_id": user, "thread_id": "t"}},
            )
        executor.submit(ida, thread_id="Zqxfaden")
        assert in_files(store, *words) == list(words)
        preview = store.forget(ida, everything=True, dry_run=True)
        assert (preview.memories, store.get(ida, "k") is not None) == (4, True)
        done = store.forget(ida, everything=True)
        assert (done.memories, done.reviews, done.entities) == (4, 1, 1)
        assert [job.lock for job in store.jobs.listed()] == ["reflect.bob"]
        assert in_files(store, *words[:-1], "Zqxfaden") == []
        assert in_files(store, "said zqxida", 'zqxida"') == []
        assert store.list_namespaces() == [idas]
        assert list((tmp_path / "journal").rglob("*zqxida*")) == []
        assert store.remember(ida, [message], thread_id="Zqxfaden") == []
        assert problems(store) == []
        for wrong in (((), {}), (ida, {"owner": "ida"})):
            with pytest.raises(ConfigError, match="everything"):
                store.forget(wrong[0], everything=True, **wrong[1])  # type: ignore[arg-type]


def test_what_waits_to_be_reflected_goes_with_who_said_it(store: MemoryStore) -> None:
    """Words that were handed over and not reflected yet go with who submitted them, whose name may be
    short, or known from others; so does that a thread waits which nothing is left of. What others
    handed over stays."""
    home = ("memories", "ann")
    store.put(NS, "k", {"text": "Ann is a friend"})
    store.remember(
        home, [{"role": "user", "content": "Hello", "id": "1"}], thread_id="t", owner="ann"
    )
    executor = LocalReflectionExecutor(print, store, name="reflect", lanes=0)
    for user in ("ann", "bob"):
        config: Any = {"configurable": {"user_id": user, "thread_id": "t"}}
        executor.submit({"messages": [{"role": "user", "content": "Replaced"}]}, config)
        executor.submit({"messages": [{"role": "user", "content": "I play chess"}]}, config)
        executor.submit(("memories", user), thread_id="t")
    executor.submit({"messages": [{"role": "user", "name": "ann", "content": "I am in"}]})
    executor.submit({"messages": [{"role": "user", "content": "Ann is in"}]})
    executor.submit({"said": "Over"}, {"configurable": {"user_id": 77}})
    assert store.forget((), owner="ann").memories == 1
    assert not store.forget((), owner="77").memories
    lanes = {row[0] for row in store.conn.execute("SELECT lane FROM job")}
    assert lanes == {"reflect.bob", "memories.bob", "reflect"}
    left = {
        (job.lock, job.payload.get("messages", [{}])[0].get("content"))
        for job in store.jobs.listed()
    }
    assert left == {
        ("reflect.bob", "I play chess"), ("memories.bob", None), ("reflect", "Ann is in")
    }  # fmt: skip


def test_a_text_of_short_words_goes_from_what_repeats_it(store: MemoryStore) -> None:
    """Job results and reasons may quote a memory without a long word of its own: the quotes go too.
    Words that somebody else said as well stay."""
    store.put(NS, "k", {"text": 'My cat is "Momo"', "owner": "ann"})
    store.put(NS, "l", {"text": "It rains", "owner": "ann"})
    store.put(NS, "m", {"text": "Look, it rains", "owner": "bob"})
    for told in ('My cat is "Momo"', "It rains"):
        job = NewJob(kind="manage", lock="manage", thread=None, payload={}, config={})
        store.jobs.enqueue(job, lambda _: None).result(10)
        claimed = store.jobs.leases.claim("manage", "w", lease_us=10**9, max_attempts=1)
        assert claimed is not None
        store.jobs.leases.finish(claimed, json.dumps([{"content": f"{told}!"}]))
        change = UpdateMemory(
            key="m", facets=Facets(importance=len(told) / 20), reason=f"{told}, she says"
        )
        apply(store, told[:2], change)
    store.forget(NS, owner="ann")
    assert in_files(store, "my cat is", 'is \\"momo') == []
    assert [job.result for job in store.jobs.listed(("done",))] == [[{"content": "It rains!"}]]
    reasons = [entry.reason for entry in store.changes.history(NS, "m")]
    assert reasons == [None, None, "It rains, she says"]


def test_who_decided_goes_with_what_was_theirs(store: MemoryStore) -> None:
    """A question about others' memories that a person decided stays decided, and names nobody."""
    apply(
        store, "r",
        fact("f", "The bins go out"),
        OpenReview(id="q", about="approval", question="So?", memories=("f",), options={"yes": ()}),
    )  # fmt: skip
    decided = store.changes.decide("q", "yes", by="ann").run_id
    store.forget(NS, owner="ann")
    [run] = [run for run in store.changes.runs() if run.id == decided]
    assert (run.reason, run.note) == ("approval decided: yes", {"review": "q", "option": "yes"})


def test_why_names_are_linked_goes_with_what_it_may_quote(store: MemoryStore) -> None:
    """Forgetting what somebody said of a person takes the reason for which a model linked two names
    of that person, since it was shown that; the link stays."""
    apply(
        store, "r",
        AddEntity(key="e/1", name="Zqxanna"),
        AddEntity(key="e/2", name="Zqxanne"),
        fact("f", "Zqxanna has HIV", mentions=("e/1",), owner="alice"),
        fact("g", "Zqxanna sleeps", mentions=("e/1",)),
        fact("h", "Zqxanne sleeps", mentions=("e/2",)),
    )  # fmt: skip
    link = LinkEntities(key="e/2", same_as="e/1")
    note = {"linked": [{"key": "e/2", "same_as": "e/1", "reason": "a model: both HIV"}]}
    store.changes.apply(
        ChangeSet(
            namespace=NS, run_id="s", kind="reflection", reason="r", changes=(link,), note=note
        )
    )
    store.forget(NS, owner="alice")
    assert [run.note for run in store.changes.runs(NS) if run.id == "s"] == [{}]
    assert store.graph(NS).entity("Zqxanne").name == "Zqxanna"


def test_undo_is_refused(store: MemoryStore) -> None:
    """Neither a forgetting nor a run that touched what is forgotten can be undone, and it is said."""
    [turn] = said(store, "alice", "I like tea")
    said(store, "bob", "I like coffee")
    store.put(NS, "pet", {"text": "a cat", "owner": "alice"})
    apply(store, "r", fact("f", "Alice likes tea", turn), fact("g", "Bob likes coffee"))
    apply(store, "s", UpdateMemory(key="pet", value={"text": "a dog", "owner": "alice"}))
    forgotten = store.forget(NS, owner="alice")
    for run in (forgotten.run_id, "r", "s"):
        with pytest.raises(UndoRefusedError, match="forg"):
            store.changes.undo(run)
    found = store.get(NS, "g")
    assert found is not None


def test_the_journal_follows(tmp_path: Path) -> None:
    """The pages of the configured journal do not tell of what is forgotten, and a page with nothing
    else is gone, name and all."""
    config = load_config()
    journal = config.journal.model_copy(update={"path": str(tmp_path / "journal")})
    config = config.model_copy(update={"journal": journal})
    with MemoryStore(tmp_path / "memory.db", config=config) as store:
        said = AddMemory(
            key="fact/1",
            value=plain_fact("", "Zqxgeheim").value,
            facets=Facets(owner="zqxalice", privacy="private"),
        )
        apply(store, "r", said, AddMemory(key="fact/2", value=plain_fact("", "It rained").value))
        JournalFiles(journal.path).rebuild(store.journal)
        pages = {path: path.read_text() for path in (tmp_path / "journal").rglob("*.md")}
        assert len(pages) == 2
        assert "Zqxgeheim" in "".join(pages.values())
        store.forget(NS, owner="zqxalice")
        [left] = (tmp_path / "journal").rglob("*.md")
        assert "It rained" in left.read_text()
        assert "zqxalice" not in str(list((tmp_path / "journal").rglob("*")))


def test_a_journal_that_cannot_follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a page cannot be removed, as on Windows while somebody reads it, the memories are gone
    and the error names the folder that still tells of them; other folders follow."""
    unlink = Path.unlink

    def fail(self: Path, missing_ok: bool = False) -> None:
        if tmp_path / "open" in self.parents:
            raise PermissionError(13, "The process cannot access the file", str(self))
        unlink(self, missing_ok)

    with MemoryStore(tmp_path / "memory.db") as store:
        apply(store, "r", AddMemory(key="fact/1", value=plain_fact("", "Zqxgeheim").value))
        for folder in ("open", "shut"):
            JournalFiles(tmp_path / folder).rebuild(store.journal)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "unlink", fail)
            with pytest.raises(ForgettingError, match=r"gone, but the journal in .*open could not"):
                store.forget(NS, keys=["fact/1"])
        assert store.search(NS) == []
        assert list((tmp_path / "shut").rglob("*.md")) == []
        JournalFiles(tmp_path / "open").rebuild(store.journal)
        assert list((tmp_path / "open").rglob("*.md")) == []


@pytest.mark.sqlite("reads an older state of the file")
def test_failure_to_prove_is_an_error(tmp_path: Path) -> None:
    """While another process reads an older state of the file, forgetting says that bytes may be left
    and why; done again afterwards it completes."""
    config_ms = 300
    config = load_config()
    database = config.database.model_copy(
        update={"path": str(tmp_path / "memory.db"), "busy_timeout_ms": config_ms}
    )
    with MemoryStore(config=config.model_copy(update={"database": database})) as store:
        said(store, "alice", "The word is Zqxlosung")
        reader = subprocess.Popen(
            [
                sys.executable, "-c",
                "import apsw, sys; c = apsw.Connection(sys.argv[1]); c.execute('BEGIN'); "
                "c.execute('SELECT count(*) FROM item').fetchall(); print('ready', flush=True); "
                "sys.stdin.read()",
                store.path,
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert reader.stdout is not None
        assert reader.stdout.readline()
        with pytest.raises(ForgettingError, match="another process"):
            store.forget(NS, owner="alice")
        assert store.search(NS) == []
        reader.communicate(b"")
        store.forget(NS, owner="alice")
        assert in_files(store, "Zqxlosung") == []


def test_a_purge_that_failed_is_made_up_for(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the file cannot be written anew, what is forgotten is out of reach and that is said; the
    next forgetting cleans up."""

    def fail(self: Any) -> tuple[bool, bool]:
        raise DatabaseError("The disk is full")

    said(store, "alice", "The word is Zqxlosung")
    with monkeypatch.context() as patch:
        patch.setattr(type(store._core.engine), "purge_if_sound", fail)
        with pytest.raises(ForgettingError, match="disk is full"):
            store.forget(NS, owner="alice")
    assert store.search(NS) == []
    store.forget(NS, owner="alice")
    assert in_files(store, "Zqxlosung") == []


def test_what_somebody_says_anew_meanwhile_is_no_remnant(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the file is written anew another one may say the same words: they are theirs, and what is
    forgotten is gone all the same."""
    engine = type(store._core.engine)
    purge = engine.purge_if_sound

    def purged(self: Any) -> tuple[bool, bool]:
        said(store, "bob", "The word is Zqxlosung")
        return purge(self)

    said(store, "alice", "The word is Zqxlosung", "and Qxzschloss")
    monkeypatch.setattr(engine, "purge_if_sound", purged)
    store.forget(NS, owner="alice")
    assert [item.value["content"] for item in store.search(NS)] == ["The word is Zqxlosung"]
    assert in_files(store, "Qxzschloss") == []


@pytest.mark.skipif(sys.platform != "linux", reason="sees open files in /proc")
@pytest.mark.sqlite("looks where the copy of the file is")
def test_the_file_is_written_anew_beside_itself(store: MemoryStore, tmp_path: Path) -> None:
    """The copy that forgetting takes of the file is in the folder of the file: the system's own for
    temporary files may be small, or not to be written to, as in a container."""
    for number in range(200):
        said(store, "alice", f"The word is Zqxlosung {number} " + "long " * 200)
    writer = store._core.engine.database._writer
    writer.pragma("cache_size", 10)  # pages; what is more goes into a file

    def without_a_name() -> set[Path]:
        found = set()
        for descriptor in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                found.add(descriptor.readlink())
        return {file for file in found if file.name.endswith(" (deleted)")}

    before, seen = without_a_name(), set[Path]()
    writer.set_progress_handler(lambda: bool(seen.update(without_a_name())), 20)
    store.forget(NS, keys=[store.search(NS)[0].key])
    writer.set_progress_handler(None)
    assert {copy.parent for copy in seen - before} == {tmp_path}
    assert not writer.pragma("temp_store_directory")


def test_who_chooses_to_purge_later_leaves_it_to_who_opens_the_file(tmp_path: Path) -> None:
    """With purge="later" the memories are gone at once, the file is not written anew, and the store that
    opens it next leaves no byte of them."""
    path = tmp_path / "memory.db"
    with MemoryStore(path) as store:
        for number in range(50):
            said(store, "bob", f"It is number {number} " + "and so on " * number)
        said(store, "alice", "The word is Zqxlosung")
        bytes_before = store.stats().file_bytes
        done = store.forget(NS, owner="alice", purge="later")
        assert (done.memories, done.words, done.purged) == (1, 0, False)
        assert store.stats().file_bytes >= bytes_before
        assert [
            item.key for item in store.search(NS, query="Zqxlosung") if "Zqx" in str(item)
        ] == []
    assert remaining(path) == "file"
    with MemoryStore(path):
        pass
    assert remaining(path) is None
    with MemoryStore(path) as store:
        assert in_files(store, "Zqxlosung") == []
        with pytest.raises(ConfigError, match="'now' or 'later'"):
            store.forget(NS, owner="bob", purge="never")  # type: ignore[arg-type]


_STRUCTURE = 10
"""Row of the index that lists its parts (ext/fts5/fts5_index.c, "STRUCTURE RECORD")."""
_WITH_ORIGINS = b"\xff\x00\x00\x01"
"""Follows the first four bytes of it in an index whose rows can be deleted by their id alone."""


def holds_deleted(connection: apsw.Connection) -> bool:
    """Whether a part of the index has a row that is deleted: FTS5 marks it as such in the part, and
    leaves its words there until that is merged."""
    row = connection.execute(
        "SELECT block FROM keyword_data WHERE id = ?", (_STRUCTURE,)
    ).fetchone()
    if row is None or row[0][4:8] != _WITH_ORIGINS:  # nothing was ever written to it
        return False
    numbers = _varints(row[0][8:])
    levels, _, _ = (next(numbers) for _ in range(3))
    for _ in range(levels):
        _, parts = next(numbers), next(numbers)
        for _ in range(parts):
            _, _, _, _, _, pages_of_deleted, _, _ = (next(numbers) for _ in range(8))
            if pages_of_deleted:
                return True
    return False


def _varints(record: bytes) -> Iterator[int]:
    value = length = 0
    for byte in record:
        length += 1
        if length == 9:
            value = value << 8 | byte
        else:
            value = value << 7 | byte & 0x7F
            if byte & 0x80:
                continue
        yield value
        value = length = 0


@pytest.mark.sqlite("looks into the parts of an FTS5 index")
def test_words_of_a_merge_under_way_go(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the keyword index that was being written when a memory in it was forgotten is written
    once more."""
    monkeypatch.setattr(indexes, "MERGED_PAGES", 1)
    for number in range(300):
        store.put(
            NS, f"k{number}", {"text": f"aaqx{number:04d} zz{number * 7:05d} " + "and so on " * 9}
        )
    store.put(NS, "secret", {"text": "aaqzqxlosung"})
    with store._core.engine.write() as writer:
        indexes.merge_words(writer, begin=True)
    store.forget(NS, keys=["secret"])
    with store._core.engine.read() as snapshot:
        assert not holds_deleted(snapshot.connection)
    assert in_files(store, "aaqzqxlosung") == []


def test_another_forgetting_is_not_taken_for_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each forgetting purges the file by itself: if one is interrupted while another one runs, the
    next store that opens the file finishes it."""
    path = tmp_path / "memory.db"
    with MemoryStore(path) as store, MemoryStore(path) as second:
        engine = type(store._core.engine)
        purge = engine.purge_if_sound

        def purged(self: Any) -> tuple[bool, bool]:
            done = purge(self)
            with monkeypatch.context() as patch:
                patch.setattr(engine, "purge_if_sound", lambda self: (True, False))
                with pytest.raises(ForgettingError):
                    second.forget(NS, owner="bob")
            return done

        said(store, "alice", "The word is Zqxlosung")
        said(store, "bob", "The word is Zqxriegel")
        with monkeypatch.context() as patch:
            patch.setattr(engine, "purge_if_sound", purged)
            store.forget(NS, owner="alice")
    assert remaining(path) == "file"
    with MemoryStore(path):
        pass
    assert remaining(path) is None
    with MemoryStore(path) as store:
        assert in_files(store, "Zqxlosung", "Zqxriegel") == []


def test_what_others_say_meanwhile_is_theirs(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word that somebody says after it was looked up who else has it tells nothing any more: what
    speaks of them in passing stays."""
    said(store, "alice", "Zqxhummel Zqxwespen Zqxbienen")
    said_by_others = forgetting.residue.said_by_others

    def foreseen(*arguments: Any) -> Any:
        found = said_by_others(*arguments)
        monkeypatch.undo()  # once
        store.put(NS, "bob", {"text": "Zqxhummel Zqxwespen Zqxbienen"})
        apply(store, "r", fact("f", "Bob likes them"), reason="Zqxhummel Zqxwespen Zqxbienen")
        return found

    monkeypatch.setattr(forgetting.residue, "said_by_others", foreseen)
    store.forget(NS, owner="alice")
    assert [run.reason for run in store.changes.runs(NS) if run.id == "r"] == [
        "Zqxhummel Zqxwespen Zqxbienen"
    ]


KILLED = """
import os, signal, sys
from langmemory.projections.journal import Journal
from langmemory.stores import MemoryStore

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

store, (place, name) = MemoryStore(sys.argv[1]), sys.argv[2].rsplit(".", 1)
engine = type(store._core.engine)
database = type(store._core.engine.database)
setattr({"engine": engine, "database": database, "journal": Journal}[place], name, die)
store.forget((), owner="alice")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process")
@pytest.mark.parametrize(
    "killed_at",
    [
        *seeds(["engine.leftovers", "engine.purge_if_sound", "journal.rebuild"], first=1),
        pytest.param(
            "database.empty_wal", marks=(pytest.mark.thorough, pytest.mark.sqlite("of a file"))
        ),
    ],
)
def test_a_killed_forgetting_is_completed_by_who_opens_the_file(
    tmp_path: Path, killed_at: str
) -> None:
    """Whenever a forgetting is killed after the memories are gone, the next store to open the file
    leaves no byte of them in it, nor a page of the journal; the doctor says that one was."""
    path, pages = tmp_path / "memory.db", tmp_path / "journal"
    with MemoryStore(path) as store:
        store.put(NS, "k", {"text": "The word was Zqxkennwort", "owner": "alice"})
        store.put(NS, "k", {"text": "The word is Zqxlosung", "owner": "alice"})
        apply(store, "r", fact("fact/1", "Alice has Zqxlosung", owner="alice"))
        JournalFiles(pages).write(store.journal, NS, ["fact/1"])
        assert list(pages.rglob("*.md"))
    assert ended(KILLED, place(path), killed_at) == -signal.SIGKILL
    assert remaining(path) is not None
    with MemoryStore(path) as store:
        assert store.search(NS) == []
    assert remaining(path) is None
    with MemoryStore(path) as store:
        assert in_files(store, "Zqxkennwort", "Zqxlosung") == []
        assert list(pages.rglob("*.md")) == []
        assert problems(store) == []


async def test_other_stores_see_it(store: MemoryStore) -> None:
    """Another store on the file, which had all of it in memory, finds nothing after it."""
    said(store, "alice", "The word is Zqxlosung")
    with MemoryStore(store.path) as other:
        assert other.search(NS, query="Zqxlosung")
        done = await store.aforget(NS, owner="alice")
        assert done.memories == 1
        assert other.search(NS, query="Zqxlosung") == []
        assert len(other.recall("Zqxlosung", NS)) == 0


@pytest.mark.parametrize(
    ("owner", "text"),
    [("алиса", "Мой секрет: зкъпароль"), ("爱丽丝", "我的秘密是紫水晶"), ("al", "PIN 4711")],
)
def test_any_language_and_short_secrets(tmp_path: Path, owner: str, text: str) -> None:
    """The proof works for other scripts, and for texts without a long word; also in memory."""
    for path in (tmp_path / "memory.db", ":memory:"):
        with MemoryStore(path) as store:
            store.put(NS, "k", {"text": text, "owner": owner})
            store.put(NS, "l", {"text": "something else"})
            done = store.forget((), owner=owner)
            assert (done.memories, done.words > 0) == (1, True)
            assert [item.key for item in store.search(())] == ["l"]


def test_nothing_to_forget(store: MemoryStore) -> None:
    """An empty file, an unknown person or key: nothing happens. Nobody named: an error."""
    assert store.forget((), owner="alice").memories == 0
    store.put(NS, "k", {"text": "here"})
    assert store.forget(NS, keys=["other"]).memories == 0
    assert store.forget(("elsewhere",), keys=["k"]).memories == 0
    assert store.forget((), entity="nobody").memories == 0
    for wrong in ({}, {"owner": " "}, {"entity": ""}, {"keys": "k"}):
        with pytest.raises(ConfigError):
            store.forget(NS, **wrong)  # type: ignore[arg-type]
    assert store.get(NS, "k") is not None


def test_a_remaining_memory_keeps_its_words(store: MemoryStore) -> None:
    """Words that somebody else used as well are no proof and no loss: that memory is untouched, and
    so are jobs and questions about it."""
    said(store, "alice", "the garden needs water")
    said(store, "bob", "the garden needs water")
    changes: tuple[Change, ...] = (
        fact("g", "The garden needs water"),
        OpenReview(id="q", about="a", question="the garden?", memories=("g",), options={}),
    )
    apply(store, "r", *changes)
    done = store.forget(NS, owner="alice")
    assert len(store.recall("garden", NS)) > 0
    assert [review.id for review in store.changes.reviews()] == ["q"]
    assert done.memories == 1


def test_an_undo_that_took_nothing_back_tells_of_nobody(store: MemoryStore) -> None:
    """A reflection that learned nothing, and its undo, keep their record when something else is
    forgotten; what was blanked once is not counted again."""
    said(store, "bob", "Hm.")
    apply(store, "empty", MarkReflected(keys=tuple(i.key for i in store.search(NS))))
    apply(store, "gone", fact("g", "Alice keeps bees"))
    store.changes.undo("empty")
    assert store.forget(NS, keys=["other"], dry_run=True).notes == 0
    assert store.forget(NS, keys=["g"]).notes == 1
    reasons = {run.id: run.reason for run in store.changes.runs()}
    assert reasons["undo/empty"] == "undo of empty"
    assert reasons["empty"] == "a talk"
    assert reasons["gone"] == ""
    assert store.forget(NS, keys=["other"]).notes == 0


@pytest.mark.sqlite("works on a copy of the file; on a server others wait, see tests/contract")
def test_a_dry_run_lets_others_write(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it finds out what would go, another process writes without waiting; what that writes
    stays, and of the dry run nothing does."""
    for number in range(5):
        store.put(NS, f"k{number}", {"text": f"the {WORDS[number]} of somebody"})
    before = store.stats().file_bytes
    erased, written = erase.erase, []

    def meanwhile(*args: Any) -> object:
        config = load_config()
        database = config.database.model_copy(update={"busy_timeout_ms": 1})
        quick = config.model_copy(update={"database": database})
        with closing(MemoryStore(tmp_path / "memory.db", config=quick)) as other:
            other.put(NS, "meanwhile", {"text": "a walnut"})
            written.append(other.get(NS, "meanwhile"))
        return erased(*args)

    monkeypatch.setattr(erase, "erase", meanwhile)
    preview = store.forget(NS, everything=True, dry_run=True)
    assert (preview.memories, len(written)) == (5, 1), "as it was when it began"
    assert len(store.search(NS, limit=99)) == 6
    assert store.stats().file_bytes >= before
    assert [run.kind for run in store.changes.runs()] == []
