"""A table that a part declares: everything that concerns tables knows of it, on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from langmemory.ledger.tables import schema
from langmemory.ledger.tables.table import Index, Table, counter, integer, text, through
from langmemory.stores import MemoryStore, copy
from tests import postgres_server
from tests.places import address
from tests.stores.change_sets import NS, apply, fact

REMARK = Table(
    name="remark",
    doc="A remark on a memory, made in a run.",
    columns=(
        counter("id"),
        integer("item", of="item"),
        integer("other", "another memory that it compares with", null=True, of="item"),
        text("words", says="aside"),
        text("run", of="run"),
    ),
    indexes=(Index("remark_item", "item"),),
    beside="item",
    undone="remark",
    readers=through("item"),
)
WORDS = "zyxommatic cheese"


@pytest.fixture(params=["file", pytest.param("postgres", marks=pytest.mark.thorough)])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """Two places for stores, while the table is one of the list."""
    with ExitStack() as stack:
        schema.register(REMARK)
        stack.callback(schema.unregister, REMARK.name)
        if request.param == "file":
            yield [address(tmp_path / name) for name in ("one.db", "two.db")]
            return
        found = [postgres_server.fresh(), postgres_server.fresh()]
        for one in found:
            stack.callback(postgres_server.drop, one)
        yield found


def remark(store: MemoryStore, run: str, key: str = "f1", words: str = WORDS) -> None:
    """Make a remark on a memory, as a part would."""
    with store._core.engine.write() as connection:
        connection.execute(
            "INSERT INTO remark (item, other, words, run) "
            "SELECT id, (SELECT id FROM item WHERE key = 'f2'), ?, ? FROM item WHERE key = ?",
            (words, run, key),
        )


def remarks(store: MemoryStore) -> list[tuple[Any, ...]]:
    query = (
        "SELECT i.key, o.key, r.words, r.run FROM remark r JOIN item i ON i.id = r.item "
        "LEFT JOIN item o ON o.id = r.other ORDER BY r.id"
    )
    return [tuple(row) for row in store.conn.execute(query).fetchall()]


def test_its_rows_are_exported_imported_and_copied(places: list[str]) -> None:
    """An export names what a row names by keys, an import brings it back once, and a copy has it."""
    with MemoryStore(places[0], index=False) as store:
        apply(store, "r1", fact("f1", "Maria likes tea"), fact("f2", "Maria likes coffee"))
        remark(store, "r1")
        rows = list(store.admin.export())
        [row] = [row for row in rows if row["type"] == "remark"]
        assert row == {
            "type": "remark", "namespace": list(NS), "key": "f1", "other": "f2", "words": WORDS,
            "run": "r1",
        }  # fmt: skip
        told = remarks(store)
        with MemoryStore(":memory:", index=False) as other:
            other.admin.import_rows(rows)
            other.admin.import_rows(rows)
            assert remarks(other) == told
            assert other.admin.check() == []
    copy(places[0], places[1])
    with MemoryStore(places[1], index=False) as store:
        assert remarks(store) == told


def test_rows_of_a_removed_memory_are_exported_and_come_back(places: list[str]) -> None:
    """A copy that undoes the run which removed a memory has its rows again."""
    with MemoryStore(places[0], index=False) as store:
        apply(store, "r1", fact("f1", "Maria likes tea"), fact("f2", "Maria likes coffee"))
        remark(store, "r1")
        before = remarks(store)
        removed = store.changes.remove(NS, "f1", reason="a test")
        assert remarks(store) == []
        rows = list(store.admin.export(history=True))
    with MemoryStore(places[1], index=False) as other:
        other.admin.import_rows(rows)
        other.admin.import_rows(rows)
        other.changes.undo(removed.run_id)
        assert remarks(other) == before
        assert other.admin.check() == []


def test_a_store_from_before_the_part_gets_its_table(places: list[str]) -> None:
    """A store that was made without the part has its table once it is opened with it, and keeps its rows
    while the part is off."""
    schema.unregister(REMARK.name)
    with MemoryStore(places[0], index=False) as store:
        apply(store, "r1", fact("f1", "Maria likes tea"))
    schema.register(REMARK)
    for count in (1, 2):
        with MemoryStore(places[0], index=False) as store:
            remark(store, "r1")
            assert len(remarks(store)) == count
            assert store.admin.check() == []


def test_its_rows_go_with_what_they_stand_beside(places: list[str]) -> None:
    """No row outlives an undone run, or a deleted or forgotten memory; one that does is found."""
    with MemoryStore(places[0], index=False) as store:
        apply(store, "r1", fact("f1", "Maria likes tea"), fact("f2", "Maria likes coffee"))
        apply(store, "r2", fact("f3", "Maria likes cocoa"))
        remark(store, "r2")
        store.changes.undo("r2")
        assert remarks(store) == []
        remark(store, "r1", "f2")
        store.delete(NS, "f2")
        remark(store, "r1")
        assert [row[0] for row in remarks(store)] == ["f1"]
        assert store.admin.check() == []
        done = store.forget(NS, keys=["f1"])
        assert done.purged
        assert store.conn.execute("SELECT count(*) FROM remark").fetchone()[0] == 0
        with store._core.engine.write() as connection:
            connection.execute("INSERT INTO remark (item, words, run) VALUES (99, 'x', 'r1')")
        assert store.admin.check() == ["item ids in remark.item that belong to nothing: 99"]


def test_what_its_rows_say_in_passing_is_forgotten(places: list[str]) -> None:
    """A remark on another memory that repeats a forgotten one goes, and no word of it is left."""
    with MemoryStore(places[0], index=False) as store:
        apply(store, "r1", fact("f1", "Maria likes tea"), fact("f2", WORDS))
        remark(store, "r1")
        done = store.forget(NS, keys=["f2"])
        assert done.notes == 1
        assert remarks(store) == []


@pytest.mark.thorough
def test_whoever_reads_it_reads_what_it_stands_beside() -> None:
    """Under row-level security a row is hidden with its memory."""
    pytest.importorskip("psycopg")
    from langmemory.engines.postgres import row_security

    schema.register(REMARK)
    try:
        rule = row_security.rule("remark")
    finally:
        schema.unregister("remark")
    assert rule == "EXISTS (SELECT 1 FROM item o WHERE o.id = remark.item)"
    assert row_security.rule("remark") is None
