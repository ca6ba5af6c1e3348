"""The archive file: what moves there, what reaches it, and what comes back."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    ChangeSet,
    Facets,
    SetStatus,
    Supersede,
    UpdateMemory,
)
from langmemory.cli.doctor import _archive
from langmemory.config import Config
from langmemory.embeddings.mock import MockEmbedder
from langmemory.errors import ChangeError, DatabaseError, UndoRefusedError
from langmemory.ledger.transfer import moving
from langmemory.operations.forgetting import complete_forgetting
from langmemory.operations.maintaining import Maintaining
from langmemory.stores import MemoryStore, reembed
from langmemory.types import Namespace
from tests.lifecycle.test_nights import ADA, NOW, cite, lines, night

moves = pytest.mark.sqlite("moves memories into an archive file; a server keeps them")
LATER = NOW + timedelta(days=3650)
FACTS = ("likes green tea", "plays the cello", "owns a red bicycle", "collects stamps")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(path) as opened:
        yield opened


def learn(store: MemoryStore, namespace: Namespace = ADA, **facets: Any) -> list[str]:
    """Facts about Ada with edges and evidence; their keys."""
    [turn] = store.remember(
        namespace,
        [{"role": "user", "content": "I say much.", "at": NOW - timedelta(days=300)}],
        thread_id="t",
    )
    keys = [f"fact/{n}" for n in range(len(FACTS))]
    added = [
        AddMemory(
            key=key,
            value={"text": f"Ada {said}", "fact_kind": "preference"},
            facets=Facets(kind="semantic", **facets),
            evidence=(turn,),
            mentions=("ada",),
        )
        for key, said in zip(keys, FACTS, strict=True)
    ]
    edges = [
        AddEdge(fact=key, subject="ada", relation="likes", literal=said)
        for key, said in zip(keys, FACTS, strict=True)
    ]
    store.changes.apply(
        ChangeSet(
            namespace=namespace, run_id=f"learn/{'.'.join(namespace)}", kind="reflection",
            reason="test",
            changes=(AddEntity(key="ada", name="Ada", kind="person", aliases=("Ada",)),
                     *added, *edges),
        )
    )  # fmt: skip
    cite(store, keys[0], 3)
    store.admin.usage()
    return keys


def put_away(store: MemoryStore, *keys: str, namespace: Namespace = ADA) -> None:
    """Archive memories as an eviction does."""
    store.changes.apply(
        ChangeSet(
            namespace=namespace, run_id=f"evict/{'.'.join((*namespace, *keys))}",
            kind="maintenance", reason="test",
            changes=tuple(SetStatus(key=key, status="archived", reason="evicted") for key in keys),
        )
    )  # fmt: skip


def move(store: MemoryStore) -> dict[str, Any]:
    """A night of which only the archive is of interest."""
    from langmemory.graphs.maintenance import build_maintenance_graph

    found: dict[str, Any] = build_maintenance_graph(
        store, now=lambda: LATER, tasks=["archive"]
    ).invoke({})
    [report] = found["reports"]
    assert report["error"] is None
    return found


def rows(store: MemoryStore, **options: Any) -> list[dict[str, Any]]:
    """All that an export tells, but when it was made and which nights moved memories."""
    return [
        row
        for row in store.admin.export(**options)
        if row["type"] != "meta" and not (row["type"] == "run" and "night/" in row["id"])
    ]


def keys_in(store: MemoryStore) -> set[str]:
    """Keys of the items in the memory file."""
    return {row[0] for row in store.conn.execute("SELECT key FROM item")}


def texts(path: Path) -> bytes:
    """Every byte of the archive file and its WAL."""
    archive = path.with_name("memory.archive.db")
    found = archive.read_bytes()
    wal = archive.with_name(f"{archive.name}-wal")
    return found + (wal.read_bytes() if wal.exists() else b"")


@moves
def test_what_was_archived_long_ago_moves(store: MemoryStore, path: Path) -> None:
    """Only archived facts leave the memory file, into one beside it, and both agree with themselves."""
    first, second, *active = learn(store)
    put_away(store, first, second)
    found = move(store)
    assert len(lines(found, "archive")) == 2
    assert keys_in(store) & {first, second, *active} == set(active)
    assert path.with_name("memory.archive.db").exists()
    assert store.admin.check() == []
    assert store.stats().archived == 2
    assert store.stats().archive_bytes > 0
    assert store.admin.health().archive_bytes == store.stats().archive_bytes
    assert store.admin.health().moved == 2


@moves
def test_an_export_does_not_show_that_anything_moved(store: MemoryStore) -> None:
    """With a memory in the archive file the export is what it was before; after its return, too."""
    first, *_ = learn(store)
    put_away(store, first)
    before = rows(store)
    found = move(store)
    assert rows(store) == before
    store.lifecycle.undo(found["night"])
    assert rows(store) == before
    assert store.admin.check() == []
    assert store.stats().archived == 0


def test_an_import_brings_moved_memories_back_as_archived(
    store: MemoryStore, tmp_path: Path
) -> None:
    """The rows of an export hold the archive; imported they are archived memories in the new file."""
    first, *_ = learn(store)
    put_away(store, first)
    move(store)
    with MemoryStore(tmp_path / "other.db") as other:
        other.admin.import_rows(list(store.admin.export()))
        assert {one.key: one.status for one in other.admin.memories(past=True)}[first] == "archived"
        assert [one.action for one in other.changes.history(ADA, first)] == ["add", "archive"]
    store.admin.import_rows(list(store.admin.export()))
    assert store.admin.check() == []


@moves
def test_a_second_night_moves_nothing(store: MemoryStore) -> None:
    """Once all has moved, a night finds nothing to move."""
    put_away(store, *learn(store))
    assert len(lines(move(store), "archive")) == len(FACTS)
    assert lines(move(store), "archive") == []


@moves
def test_a_dry_run_moves_nothing(store: MemoryStore, path: Path) -> None:
    """A dry run says what would move, and makes no file."""
    first, *_ = learn(store)
    put_away(store, first)
    from langmemory.graphs.maintenance import build_maintenance_graph

    graph = build_maintenance_graph(store, now=lambda: LATER, tasks=["archive"])
    found = graph.invoke({"dry_run": True})
    assert lines(found, "archive") == [f"move {first} to the archive file"]
    assert first in keys_in(store)
    assert not path.with_name("memory.archive.db").exists()


@moves
def test_nothing_moves_too_early_or_where_it_is_needed(store: MemoryStore) -> None:
    """What was archived lately stays, and so do turns and what another memory was derived from."""
    first, second, *_ = learn(store)
    [turn] = [key for key in keys_in(store) if not key.startswith("fact/")]
    store.changes.apply(
        ChangeSet(
            namespace=ADA, run_id="insight", kind="reflection", reason="test",
            changes=(AddMemory(key="summary/1", value={"text": "Ada likes much"}, evidence=(first,)),),
        )
    )  # fmt: skip
    put_away(store, first, second, turn)
    assert lines(night(store, tasks=["archive"]), "archive") == [], "archived only now"
    assert lines(move(store), "archive") == [f"move {second} to the archive file"]
    put_away(store, "summary/1")
    assert len(lines(move(store), "archive")) == 2, "first what was derived, then its source"
    assert store.admin.check() == []
    store.lifecycle.restore(ADA, "summary/1")
    assert first in keys_in(store), "a memory comes back with what it was derived from"
    assert store.admin.check() == []


def test_memory_keeps_what_is_archived(tmp_path: Path) -> None:
    """From ":memory:" nothing moves."""
    with MemoryStore(":memory:") as store:
        put_away(store, *learn(store))
        assert lines(move(store), "archive") == []


def test_recall_reaches_the_archive_on_request(store: MemoryStore) -> None:
    """A moved memory is recalled with ``include_archive`` alone, ranked with the others, and says so."""
    first, second, *_ = learn(store)
    put_away(store, first, second)
    put_away_here = store.recall("green tea", ADA, include_archive=True, kinds=["semantic"])
    assert put_away_here.results[0].memory.key == first
    move(store)
    assert first not in [one.memory.key for one in store.recall("green tea", ADA)]
    found = store.recall("green tea", ADA, include_archive=True, kinds=["semantic"], explain=True)
    assert found.results[0].memory.key == first
    assert found.results[0].memory.status == "archived"
    assert {one.memory.key for one in found} == {f"fact/{n}" for n in range(4)}
    assert found.trace.degraded == ()
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert len(store.recall("Ada", ADA, include_archive=True, limit=2)) == 2


async def test_recall_reaches_the_archive_without_blocking(store: MemoryStore) -> None:
    """`arecall` does the same."""
    first, *_ = learn(store)
    put_away(store, first)
    move(store)
    found = await store.arecall("green tea", ADA, include_archive=True, kinds=["semantic"])
    assert found.results[0].memory.key == first


def test_a_viewer_recalls_no_private_memory_of_others(store: MemoryStore) -> None:
    """In the archive file, too, what is private is its owner's alone."""
    first, *_ = learn(store, owner="ada", privacy="private")
    put_away(store, first)
    move(store)
    own, other = store.for_viewer("ada"), store.for_viewer("bob")
    assert first in [one.memory.key for one in own.recall("tea", ADA, include_archive=True)]
    assert first not in [one.memory.key for one in other.recall("tea", ADA, include_archive=True)]
    assert other.changes.history(ADA, first) == []
    assert len(own.changes.history(ADA, first)) == 2
    assert first not in str(list(other.admin.export()))


def test_why_is_not_told_once_what_it_was_about_has_moved(store: MemoryStore) -> None:
    """The reason of a run that also changed somebody's private memory stays closed after that has moved."""
    for key, owner, privacy in (("fact/a", "ada", "private"), ("fact/b", "bob", "shared")):
        store.changes.apply(
            ChangeSet(
                namespace=ADA, run_id=f"add/{key}", kind="reflection", reason="test",
                changes=(AddMemory(key=key, value={"text": f"{key} is so"},
                                   facets=Facets(owner=owner, privacy=privacy)),),  # type: ignore[arg-type]
            )
        )  # fmt: skip
    store.changes.apply(
        ChangeSet(
            namespace=ADA, run_id="both", kind="correction", reason="a secret of Ada's",
            changes=(SetStatus(key="fact/a", status="archived"),
                     SetStatus(key="fact/b", status="superseded")),
        )
    )  # fmt: skip
    bob = store.for_viewer("bob")
    before = [one.reason for one in bob.changes.history(ADA, "fact/b")]
    assert before == ["test", None]
    exported = [row for row in bob.admin.export() if row["type"] != "meta"]
    move(store)
    assert [one.reason for one in bob.changes.history(ADA, "fact/b")] == before
    assert [row for row in bob.admin.export() if row["type"] != "meta"] == exported


@moves
def test_history_and_evidence_of_a_moved_memory(store: MemoryStore) -> None:
    """What became of a memory, and what it was derived from, is told wherever it is."""
    first, *_ = learn(store)
    put_away(store, first)
    before = store.changes.history(ADA, first), store.changes.evidence(ADA, first)
    move(store)
    assert (store.changes.history(ADA, first), store.changes.evidence(ADA, first)) == before
    assert first not in keys_in(store), "reading brings nothing back"


@moves
def test_restore_makes_active_again(store: MemoryStore) -> None:
    """One call brings a memory back from either file; its undo archives it; no night evicts it again."""
    first, second, *_ = learn(store)
    store.changes.archive(ADA, first, reason="old")
    put_away(store, second)
    store.lifecycle.restore(ADA, second)
    move(store)
    assert keys_in(store) >= {second}
    assert first not in keys_in(store)
    done = store.lifecycle.restore(ADA, first)
    item = store.get(ADA, first)
    assert item is not None
    assert "archived_at" not in item.value
    assert first in [one.memory.key for one in store.recall("green tea", ADA)]
    assert first in Maintaining(store).undone_keys(ADA, "evict")
    store.changes.undo(done.run_id)
    assert first not in [one.memory.key for one in store.recall("green tea", ADA)]
    with pytest.raises(ChangeError, match="nothing to restore"):
        store.lifecycle.restore(ADA, second)
    with pytest.raises(ChangeError, match="search --archive"):
        store.lifecycle.restore(ADA, "nobody")
    assert store.admin.check() == []


@moves
def test_what_was_taken_back_does_not_move_again(store: MemoryStore) -> None:
    """After the undo of a night that moved a memory, the next one leaves it where it is."""
    first, *_ = learn(store)
    put_away(store, first)
    store.lifecycle.undo(move(store)["night"])
    assert lines(move(store), "archive") == []


@moves
def test_undo_of_an_earlier_run_brings_back_first(store: MemoryStore) -> None:
    """The run that archived a moved memory, and the one that learned it, can be undone."""
    keys = learn(store)
    before = rows(store, history=False)
    put_away(store, keys[0])
    move(store)
    tried = store.changes.undo(f"evict/memories.ada.{keys[0]}", dry_run=True)
    assert tried.lines[0] == f"bring back {keys[0]} from the archive file"
    assert keys[0] not in keys_in(store)
    store.changes.undo(f"evict/memories.ada.{keys[0]}")
    assert rows(store, history=False) == before
    put_away(store, keys[1])
    move(store)
    with pytest.raises(UndoRefusedError, match=f"evict/memories.ada.{keys[1]} changed {keys[1]}"):
        store.changes.undo("learn/memories.ada")
    store.changes.undo(f"evict/memories.ada.{keys[1]}")
    store.changes.undo("learn/memories.ada")
    assert not keys_in(store) & set(keys)
    assert store.stats().archived == 0
    assert store.admin.check() == []
    assert not list(store.admin.export(ADA, history=False))[2:], "nor anything beside them"


@moves
def test_a_write_to_a_moved_memory_is_an_update(store: MemoryStore) -> None:
    """`put`, `delete` and a change set find a moved memory as if it had not moved."""
    first, second, third, _ = learn(store)
    put_away(store, first, second, third)
    move(store)
    assert store.changes.apply(
        ChangeSet(namespace=ADA, run_id="try", kind="correction", reason="test",
                  changes=(SetStatus(key=third, status="active"),)),
        dry_run=True,
    ).dry_run  # fmt: skip
    assert third not in keys_in(store)
    store.put(ADA, first, {"text": "Ada likes black tea"})
    actions = [one.action for one in store.changes.history(ADA, first)]
    assert actions[:3] == ["add", "archive", "update"]
    store.delete(ADA, second)
    assert store.changes.history(ADA, second)[-1].action == "delete"
    store.changes.apply(
        ChangeSet(namespace=ADA, run_id="again", kind="correction", reason="test",
                  changes=(SetStatus(key=third, status="active"),))
    )  # fmt: skip
    assert third in keys_in(store)
    assert store.stats().archived == 0
    assert store.admin.check() == []
    move(store)
    assert Maintaining(store).archive.leftovers() == 0, "the next night sweeps what they left there"


@moves
def test_forgetting_erases_in_both_files(store: MemoryStore, path: Path) -> None:
    """Forgotten memories leave no byte in the archive file, and others stay there."""
    first, second, third, _ = learn(store)
    put_away(store, first, second, third)
    move(store)
    assert b"cello" in texts(path)
    tried = store.forget(ADA, keys=[second], dry_run=True)
    assert tried.memories == 1
    done = store.forget(ADA, keys=[second])
    assert done.memories == 1
    assert done.purged
    assert b"cello" not in texts(path)
    assert b"cello" not in path.read_bytes()
    assert store.admin.check() == []
    found = store.recall("green tea", ADA, include_archive=True, kinds=["semantic"])
    assert found.results[0].memory.key == first
    move(store)
    store.for_viewer("ada")
    store.forget(ADA, everything=True)
    assert b"bicycle" not in texts(path)
    assert b"memories.ada" not in texts(path)


@moves
def test_an_interrupted_forgetting_is_completed_in_both_files(
    store: MemoryStore, path: Path
) -> None:
    """What a forgetting without a purge left in the archive file goes when the file is opened again."""
    first, second, *_ = learn(store)
    put_away(store, first, second)
    move(store)
    store.forget(ADA, keys=[second], purge="later")
    store.close()
    with MemoryStore(path) as again:
        complete_forgetting(again._core)
        assert b"cello" not in texts(path)
        assert b"cello" not in path.read_bytes()
        assert again.admin.check() == []


@moves
def test_a_viewer_forgets_in_both_files(store: MemoryStore, path: Path) -> None:
    """A viewer's forgetting reaches what of theirs has moved, and nothing of others."""
    learn(store, owner="ada")
    store.put(ADA, "fact/bob", {"text": "Bob likes saffron", "owner": "bob"})
    put_away(store, "fact/0", "fact/bob")
    move(store)
    assert b"green tea" in texts(path)
    store.for_viewer("ada").forget(ADA)
    assert b"green tea" not in texts(path)
    assert "saffron" in str(rows(store))


def test_a_deleted_namespace_is_deleted_in_both_files(store: MemoryStore) -> None:
    """`delete_namespace` deletes what moved, too; the history keeps it as it keeps the rest."""
    keys = learn(store)
    put_away(store, keys[0])
    move(store)
    assert store.admin.delete_namespace(ADA) == len(keys) + 1
    assert store.stats().archived == 0
    assert store.changes.history(ADA, keys[0])[-1].action == "delete"
    assert Maintaining(store).archive.leftovers() == 0


@moves
def test_a_missing_archive_file_is_told(store: MemoryStore, path: Path) -> None:
    """Without the archive file nothing is pretended: doctor, check and every call say where it should be."""
    first, *_ = learn(store)
    put_away(store, first)
    move(store)
    store.close()
    path.with_name("memory.archive.db").rename(path.with_name("elsewhere.db"))
    with MemoryStore(path) as again:
        [problem] = again.admin.check()
        assert "is not there. Put the archive file back" in problem
        assert "is not there" in again.recall("tea", ADA, include_archive=True).trace.degraded[0]
        with pytest.raises(DatabaseError, match="is not there"):
            again.lifecycle.restore(ADA, first)
        with pytest.raises(DatabaseError, match="is not there"):
            again.forget(ADA, keys=[first])
        with pytest.raises(DatabaseError, match="is not there"):
            list(again.admin.export())
    settings = Config.model_validate({"database": {"path": str(path)}})
    assert [one.state for one in _archive(settings)] == ["fail"]
    elsewhere = {"path": str(path), "archive_path": str(path.with_name("elsewhere.db"))}
    settings = Config.model_validate({"database": elsewhere})
    assert [one.state for one in _archive(settings)] == ["ok"]


@moves
def test_an_archive_file_belongs_to_one_memory_file(store: MemoryStore, tmp_path: Path) -> None:
    """Two memory files with one archive path: the second is refused, and keeps its memories."""
    put_away(store, *learn(store))
    move(store)
    shared = {"archive_path": str(tmp_path / "memory.archive.db")}
    settings = Config.model_validate({"database": shared})
    with MemoryStore(tmp_path / "other.db", config=settings) as other:
        put_away(other, *learn(other))
        from langmemory.graphs.maintenance import build_maintenance_graph

        graph = build_maintenance_graph(other, now=lambda: LATER, tasks=["archive"])
        [report] = graph.invoke({})["reports"]
        assert "the archive of another memory file" in report["error"]
        assert {f"fact/{n}" for n in range(4)} <= keys_in(other)


@moves
def test_a_damaged_archive_file_keeps_nothing_else_from_being_read(
    store: MemoryStore, path: Path
) -> None:
    """With an archive file that is no database, recall says so, and an export brings out the rest."""
    first, second, *_ = learn(store)
    put_away(store, first)
    move(store)
    store.close()
    path.with_name("memory.archive.db").write_bytes(b"not a database, but a text" * 500)
    with MemoryStore(path) as again:
        assert "is not a SQLite database" in again.admin.check()[0]
        found = again.recall("cello", ADA, include_archive=True)
        assert "is not a SQLite database" in found.trace.degraded[0]
        told: list[dict[str, Any]] = []
        with pytest.raises(DatabaseError, match="All that is in the memory file"):
            told.extend(again.admin.export())
        assert second in {row.get("key") for row in told}


@moves
def test_a_new_embedding_model_reaches_both_files(store: MemoryStore, path: Path) -> None:
    """`reembed` gives the moved memories vectors of the new model; before it nothing more moves."""
    first, second, *_ = learn(store)
    put_away(store, first)
    move(store)
    put_away(store, second)
    store.close()
    index: Any = {"dims": 64, "embed": MockEmbedder(dims=64).embeddings, "fields": ["text"]}
    reembed(str(path), index=index)
    with MemoryStore(path, index=index) as again:
        found = again.recall("green tea", ADA, include_archive=True, kinds=["semantic"])
        assert found.trace.degraded == ()
        assert first in [one.memory.key for one in found]
        move(again)
        assert again.admin.check() == []
        again.lifecycle.restore(ADA, first)
        assert again.admin.check() == []


@moves
def test_a_copy_that_a_killed_move_left_is_not_read(store: MemoryStore) -> None:
    """A memory that is in both files is recalled once and active; doctor tells, and the next night sweeps."""
    first, *_ = learn(store)
    put_away(store, first)
    move(store)
    archive = store._core.archive
    with store._core.engine.write() as connection:  # as `restore`, killed before it swept
        archive.bring_back_named(connection, [(ADA, first)])
    assert Maintaining(store).archive.leftovers() == 1
    assert store.admin.check() == []
    found = store.recall("green tea", ADA, include_archive=True, kinds=["semantic"])
    assert [one.memory.key for one in found].count(first) == 1
    settings = Config.model_validate({"database": {"path": store.path}})
    assert [one.state for one in _archive(settings)] == ["warn"]
    store.changes.undo(f"evict/memories.ada.{first}")
    move(store)
    assert Maintaining(store).archive.leftovers() == 0
    assert store.admin.check() == []


def household(store: MemoryStore) -> None:
    """Memories of two owners about each other, with a chain of homes, a summary and an edit; those that may
    have moved."""
    said = {
        "ada": "I live in Oslo now, and Nora plays the accordion.",
        "bob": "Nora plays the accordion, I collect lighthouses.",
    }
    turn = {
        owner: store.remember(
            ADA,
            [{"role": "user", "content": text, "at": NOW - timedelta(days=300)}],
            thread_id=owner,
            owner=owner,
        )[0]
        for owner, text in said.items()
    }

    def fact(key: str, text: str, owner: str, *evidence: str, about: str = "ada") -> AddMemory:
        return AddMemory(
            key=key, value={"text": text, "fact_kind": "fact", "speaker": owner, "owner": owner},
            facets=Facets(kind="semantic", owner=owner), evidence=evidence, mentions=(about,),
        )  # fmt: skip

    entities = [
        AddEntity(key=one.lower(), name=one, kind="person") for one in ("Ada", "Bob", "Nora")
    ]
    change_sets: dict[str, tuple[Any, ...]] = {
        "learn": (
            *entities,
            fact("home/1", "Ada lives in Bergen", "ada", turn["ada"]),
            fact("home/2", "Ada lives in Oslo", "ada", turn["ada"]),
            fact("both", "The accordion is loud", "ada", turn["ada"], turn["bob"], about="nora"),
            fact("named", "Nora has a cello", "bob", turn["bob"], about="bob"),
            fact("edited", "Nora sails a kayak", "bob", turn["bob"], about="bob"),
            fact("plain", "Bob collects lighthouses", "bob", turn["bob"], about="bob"),
            fact("insight", "A home by the water", "bob", "home/2", "plain", about="bob"),
            AddEdge(fact="named", subject="nora", relation="owns", literal="cello"),
        ),
        "edit": (
            UpdateMemory(key="edited", value={"text": "Somebody sails", "fact_kind": "fact"}),
            Supersede(key="home/1", by="home/2", invalid_at=NOW),
        ),
        "away": tuple(
            SetStatus(key=key, status="archived", reason=why)
            for key, why in {
                "home/1": "given way", "both": "evicted", "named": "evicted", "edited": "evicted",
                "insight": "evicted", "plain": "Nora with her accordion said so in Bergen",
            }.items()
        ),
    }  # fmt: skip
    for run_id, changes in change_sets.items():
        store.changes.apply(
            ChangeSet(
                namespace=ADA, run_id=run_id, kind="reflection", reason="test", changes=changes
            )
        )


@moves
@pytest.mark.parametrize(
    ("what", "left"),
    [
        ({"owner": "ada"}, {"named", "edited"}),
        ({"owner": "bob"}, {"home/1"}),
        ({"entity": "Nora"}, set()),
        ({"entity": "Bergen"}, {"both", "named", "edited", "plain", "insight"}),
        ({"keys": ["home/2"]}, {"both", "named", "edited"}),
        ({"keys": ["plain"]}, {"home/1", "both", "named", "edited"}),
        ({"everything": True}, set()),
    ],
)
def test_forgetting_brings_back_no_more_than_it_concerns(
    store: MemoryStore, path: Path, tmp_path: Path, what: dict[str, Any], left: set[str]
) -> None:
    """What stays known after a forgetting is the same as where all had come back first; the memories that it
    does not concern stay in the archive file."""
    household(store)
    move(store)
    moved = {"home/1", "both", "named", "edited", "plain", "insight"}
    assert away(store) == moved
    store.close()
    (tmp_path / "other").mkdir()
    for name in ("memory.db", "memory.archive.db"):
        shutil.copy(path.with_name(name), tmp_path / "other" / name)
    outcomes, told = [], {"run_id": "", "words": 0, "purged": False, "dry_run": False}
    for file, first in ((path, False), (tmp_path / "other" / "memory.db", True)):
        with MemoryStore(file) as one:
            if first:
                one._core.archive.return_all(
                    lambda connection: sorted(moving.archived_ids(connection))
                )
            tried = one.forget(ADA, dry_run=True, **what)
            assert first or away(one) == moved, "a dry run moves nothing"
            done = one.forget(ADA, **what)
            assert not first or away(one) == set()
            assert first or away(one) == left
            assert replace(tried, samples=(), **told) == replace(done, **told)
            assert one.admin.check() == []
            # Where all came back nothing is left of the run that moved it but its record, which goes.
            outcomes.append((without_ids(one), replace(done, **told, notes=0)))
    assert outcomes[0] == outcomes[1]


def away(store: MemoryStore) -> set[str]:
    """Keys of what is in the archive file alone."""
    return {row[0] for row in store.conn.execute("SELECT key FROM archived_item")}


def without_ids(store: MemoryStore) -> list[str]:
    """The export, without the ids and times of the runs that forgot."""
    found = []
    for row in rows(store):
        new = re.search("forget/|reinstated/", str(row)) is not None
        told = {
            name: "" if new and name in ("at", "seq", "created_at", "updated_at") else value
            for name, value in row.items()
        }
        found.append(re.sub(r"(forget|reinstated)/[0-9a-f]{16}", r"\\1", str(told)))
    return sorted(found)
