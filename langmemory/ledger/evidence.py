"""The sources of memories, and the turns that were read for them."""

from __future__ import annotations

from collections.abc import Iterable

from langmemory.ledger.connection import Connection, insert_new

Withdrawn = tuple[int, str]
"""A source an item had, and the run that had named it."""


def add(connection: Connection, item: int, sources: Iterable[int], run: str) -> int:
    """Name further sources of an item; return how many were new."""
    rows = [(item, source, run) for source in sources if source != item]
    return insert_new(connection, "evidence (item, source, run)", rows)


def sources(connection: Connection, item: int) -> list[int]:
    """Return the ids of the items an item was derived from."""
    rows = connection.execute("SELECT source FROM evidence WHERE item = ? ORDER BY source", (item,))
    return [int(row[0]) for row in rows]


def withdraw(connection: Connection, item: int, sources: Iterable[int]) -> list[Withdrawn]:
    """Take sources from an item; return those it had."""
    lost: list[Withdrawn] = []
    for source in sources:
        rows = connection.execute(
            "DELETE FROM evidence WHERE item = ? AND source = ? RETURNING source, run",
            (item, source),
        )
        lost += rows
    return lost


def give_back(connection: Connection, item: int, lost: Iterable[Iterable[int | str]]) -> None:
    """Sources an item had before, those that are there still."""
    connection.executemany(
        "INSERT OR IGNORE INTO evidence (item, source, run) SELECT ?, o.id, ? FROM item o "
        "WHERE o.id = ?",
        [(item, run, source) for source, run in map(tuple, lost)],
    )


def mark_reflected(connection: Connection, items: Iterable[int], run: str) -> int:
    """Mark turns as read by a run; return how many nobody had read before."""
    return insert_new(connection, "reflected (item, run)", [(item, run) for item in items])


def mark_unread(connection: Connection, run: str) -> int:
    """Mark the turns that a run has read as unread again; return how many."""
    connection.execute("DELETE FROM reflected WHERE run = ?", (run,))
    return connection.changes()
