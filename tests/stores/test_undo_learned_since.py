"""An undo brings a fact back into what was learned while it was away."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    Facets,
    Invalidate,
    OpenReview,
    SetStatus,
    Supersede,
    UpdateMemory,
)
from langmemory.errors import UndoRefusedError
from langmemory.operations.gathering import Gathering
from langmemory.stores import MemoryStore
from langmemory.types import Memory, Status
from tests.stores.change_sets import NS, apply, known, problems, value
from tests.stores.embedders import WordEmbeddings

LENA, SINCE = "person/lena-1", {"bonn": 1, "ulm": 2, "kiel": 3}


def month(number: int) -> datetime:
    return datetime(2026, number, 1, tzinfo=UTC)


def home(
    city: str, relation: str = "lives_in", *more: Change, status: Status = "active"
) -> tuple[Change, ...]:
    """Lena says in the month of the city that she lives there."""
    said = month(SINCE[city])
    told = value(f"Lena lives in {city.title()}.") | {"said_at": said.isoformat()}
    return (
        AddEntity(key=LENA, name="Lena", kind="person"),
        AddEntity(key=f"place/{city}-1", name=city.title(), kind="place"),
        AddMemory(
            key=f"fact/{city}", value=told, facets=Facets(valid_at=said, status=status),
        ),
        AddEdge(fact=f"fact/{city}", subject=LENA, relation=relation, object=f"place/{city}-1"),
        *more,
    )  # fmt: skip


def fact(store: MemoryStore, city: str) -> Memory:
    with Gathering(store).knowledge(NS) as knowledge:
        found = knowledge.by_key(f"fact/{city}")
    assert found is not None
    return found.memory


def _archive(store: MemoryStore) -> str:
    return store.changes.archive(NS, "fact/bonn", reason="no use").run_id


def _remove(store: MemoryStore) -> str:
    return store.changes.remove(NS, "fact/bonn", reason="no use").run_id


def _confide(store: MemoryStore) -> str:
    mine = UpdateMemory(key="fact/bonn", facets=Facets(owner="tom", privacy="private"))
    return apply(store, "tom's", mine, kind="correction").run_id


def _end(store: MemoryStore) -> str:
    over = Invalidate(key="fact/bonn", invalid_at=datetime(2026, 1, 15, tzinfo=UTC))
    return apply(store, "over", over, kind="correction").run_id


@pytest.mark.parametrize("away", [_archive, _remove, _end, _confide])
def test_what_comes_back_gives_way_to_what_was_learned_since(
    tmp_path: Path, away: Callable[[MemoryStore], str]
) -> None:
    """A home that was put away, removed, ended or given away by hand, and is brought back after a move
    was told, is where she lived until then; the dry run says so too, and what did it can be undone."""
    store = MemoryStore(tmp_path / "m.db")
    apply(store, "r1", *home("bonn"))
    run = away(store)
    apply(store, "r2", *home("ulm"))
    before = known(store)
    rehearsed = store.changes.undo(run, dry_run=True)
    assert known(store) == before
    done = store.changes.undo(run)
    assert done.lines == rehearsed.lines
    assert "supersede fact/bonn by=fact/ulm" in done.lines[-1]
    bonn = fact(store, "bonn")
    assert (bonn.status, bonn.superseded_by) == ("superseded", "fact/ulm")
    assert bonn.invalid_at == month(2)
    assert problems(store) == []
    store.changes.undo(f"since/{run}")
    store.changes.undo("r2")
    assert fact(store, "bonn").status == "active"


def test_what_an_application_wrote_of_it_gives_way_with_it(tmp_path: Path) -> None:
    """A memory of the application in the words of a fact that comes back and gives way at once ends with
    it, and one that is newer than what takes the place stays; nothing is embedded for it."""
    embedder = WordEmbeddings()
    with MemoryStore(tmp_path / "m.db", index={"dims": embedder.dims, "embed": embedder}) as store:
        apply(store, "january", *home("bonn"))
        for key, said in (("note", month(1)), ("newer", month(4))):
            store.put(NS, key, {"content": "Lena lives in Bonn.", "said_at": said.isoformat()})
        run = _end(store)
        apply(store, "march", *home("kiel"))
        asked = len(embedder.asked)
        store.changes.undo(run)
        assert len(embedder.asked) == asked
        assert fact(store, "bonn").status == "superseded"
        with Gathering(store).knowledge(NS) as knowledge:
            notes = {one.memory.key for one in knowledge.worded("Lena lives in Bonn.")}
        assert notes == {"newer"}


def test_two_that_were_never_there_together_are_compared_at_last(tmp_path: Path) -> None:
    """A home that came back while the next one was away gives way when that comes back, too."""
    store = MemoryStore(tmp_path / "m.db")
    apply(store, "r1", *home("bonn"))
    first = _remove(store)
    apply(store, "r2", *home("ulm"))
    second = store.changes.archive(NS, "fact/ulm", reason="no use").run_id
    store.changes.undo(first)
    assert fact(store, "bonn").status == "active"
    store.changes.undo(second)
    bonn, ulm = fact(store, "bonn"), fact(store, "ulm")
    assert (bonn.status, bonn.invalid_at, ulm.status) == ("superseded", month(2), "active")


def test_what_was_learned_before_is_not_compared_again(tmp_path: Path) -> None:
    """Two homes that stood side by side before a fact was put away do so again after the undo."""
    store = MemoryStore(tmp_path / "m.db")
    apply(store, "r1", *home("bonn"))
    apply(store, "r2", *home("ulm"))
    run = _archive(store)
    apply(store, "r3", AddMemory(key="other", value=value("It rains.")))
    store.changes.undo(run)
    assert [fact(store, city).status for city in ("bonn", "ulm")] == ["active", "active"]


def test_what_structure_leaves_open_is_asked_after_an_undo(tmp_path: Path) -> None:
    """A job that comes back beside another, of which one does not surely end the other, is a
    question; so is what a person confirmed."""
    store = MemoryStore(tmp_path / "m.db")
    apply(store, "r1", *home("bonn", "works_at"))
    run = _archive(store)
    apply(store, "r2", *home("ulm", "works_at"))
    store.changes.undo(run)
    assert [one.memories for one in store.changes.reviews(NS)] == [("fact/ulm", "fact/bonn")]
    assert fact(store, "bonn").status == "active"


def test_what_was_past_may_have_ended_news_that_came_late(tmp_path: Path) -> None:
    """Kiel gave way to Ulm and was put away; Bonn, told late, ended when Kiel began, once that is
    back."""
    store = MemoryStore(tmp_path / "m.db")
    SINCE_ULM_LAST = {"bonn": 1, "kiel": 2, "ulm": 3}
    for city, number in SINCE_ULM_LAST.items():
        SINCE[city] = number
    try:
        over = Supersede(key="fact/kiel", by="fact/ulm", invalid_at=month(3))
        apply(store, "r1", *home("kiel"))
        apply(store, "r2", *home("ulm"), over)
        run = store.changes.archive(NS, "fact/kiel", reason="no use").run_id
        late = Supersede(key="fact/bonn", by="fact/ulm", invalid_at=month(3))
        apply(store, "r3", *home("bonn"), late)
        store.changes.undo(run)
        assert fact(store, "bonn").invalid_at == month(2)
        assert fact(store, "kiel").invalid_at == month(3)
    finally:
        SINCE.update({"ulm": 2, "kiel": 3})


def test_what_is_approved_is_compared_with_what_was_learned_while_it_waited(
    tmp_path: Path,
) -> None:
    """A home that waited for a person ends, when it is approved, an earlier one that was told late."""
    store = MemoryStore(tmp_path / "m.db")
    asked = OpenReview(
        id="q", about="approval", question="?", memories=("fact/ulm",),
        options={"approve": (SetStatus(key="fact/ulm", status="active"),), "reject": ()},
    )  # fmt: skip
    apply(store, "r1", *home("ulm", status="pending"), asked)
    apply(store, "r2", *home("bonn"))
    done = store.changes.decide("q", "approve")
    bonn, ulm = fact(store, "bonn"), fact(store, "ulm")
    assert (bonn.status, bonn.invalid_at, ulm.status) == ("superseded", month(2), "active")
    store.changes.undo(done.run_id)
    bonn, ulm = fact(store, "bonn"), fact(store, "ulm")
    assert (bonn.status, ulm.status) == ("active", "pending")


def test_the_history_says_that_something_was_archived(tmp_path: Path) -> None:
    """The history calls it "archive". After an edit the memory stays archived, and undo of the
    archiving requires undo of the edit first."""
    store = MemoryStore(tmp_path / "m.db")
    apply(store, "r1", *home("bonn"))
    run = _archive(store)
    edited = UpdateMemory(key="fact/bonn", value=value("Lena lives in Bonn-Beuel."))
    apply(store, "edit", edited, kind="correction")
    assert fact(store, "bonn").status == "archived"
    entries = store.changes.history(NS, "fact/bonn")
    assert [one.action for one in entries if one.run_id != "r1"] == ["archive", "update"]
    with pytest.raises(UndoRefusedError, match="First undo edit"):
        store.changes.undo(run)
    store.changes.undo("edit")
    store.changes.undo(run)
    assert fact(store, "bonn").status == "active"
