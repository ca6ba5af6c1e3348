"""Who may know of an item: the one predicate behind every read and write on behalf of a viewer.

A viewer is a person, chosen by the application. ``None`` is the application itself, which may know
of everything; ``""`` is somebody unknown, who owns nothing.
"""

from __future__ import annotations

from typing import Final

from langmemory.errors import ConfigError
from langmemory.ledger.scope.filters import TRUE, Condition
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.namespaces import to_path
from langmemory.types import Namespace

READER: Final = "CASE i.privacy WHEN 'private' THEN coalesce(i.owner, '') END"
"""Who alone may know of an item: ``""`` is nobody, NULL everybody. What `visible_to` asks, as the
index ``item_reader`` has it."""


def is_visible(item: str, viewer: str) -> str:
    """Return whether a viewer, given by an expression, may know of rows of the table ``item``: 1 or 0,
    never NULL."""
    return f"({item}.privacy <> 'private' OR coalesce({item}.owner = nullif({viewer}, ''), FALSE))"


def visible_to(viewer: str | None, item: str = "i") -> Condition:
    """Return rows of the table ``item`` that a viewer may know of: 1 or 0, never NULL.

    Raises:
        ConfigError: The viewer is no string.
    """
    if viewer is None:
        return TRUE
    if not isinstance(viewer, str):  # SQLite would take 1 for "1" in one query and not in another
        raise ConfigError(
            f"viewer is {viewer!r:.80}; it must be the id of a person as a string, or None."
        )
    return Condition(is_visible(item, "?"), (viewer,))


def was_private(item: str, viewer: str) -> str:
    """Return whether an item, given by an expression for its id, was at any time the private memory of
    somebody else than a viewer, given by an expression. What was written about it then may quote it,
    whatever it says now."""
    return (
        f"EXISTS (SELECT 1 FROM history p LEFT JOIN item q ON q.id = p.item WHERE p.item = {item} AND "
        "'private' IN (p.before ->> '$.privacy', p.facets ->> '$.privacy') AND NOT coalesce("
        "coalesce(p.facets ->> '$.owner', p.before ->> '$.owner', q.owner) "
        f"= nullif({viewer}, ''), FALSE))"
    )


def past_is_open(item: str, viewer: str) -> str:
    """Return whether a viewer may see the history of an item, both given by expressions: the item
    itself, where it is still there, and that it was at no time the private memory of somebody else. Of
    what was forgotten nobody can say whose it was.

    What it was is told by its values, which say so themselves when they are not shared, and by the
    facets that the history keeps.
    """
    return (
        f"NOT EXISTS (SELECT 1 FROM item i WHERE i.id = {item} AND NOT {is_visible('i', viewer)}) "
        f"AND NOT EXISTS (SELECT 1 FROM history h WHERE h.item = {item} AND h.action = 'forget') "
        f"AND NOT {was_private(item, viewer)}"
    )


def open_past(connection: Connection, item: int, viewer: str | None) -> bool:
    """Return whether a viewer may see the history of an item, see `past_is_open`."""
    if viewer is None:
        return True
    row = connection.execute(f"SELECT {past_is_open('?1', '?2')}", (item, viewer)).fetchone()
    return bool(row[0])


def run_is_open(run: str, viewer: str) -> str:
    """Return whether a viewer may read why a run did what it did, both given by expressions: all that
    it changed, and what that was derived from, is there for them to read, and was at no time private
    to somebody else."""
    return (
        f"NOT EXISTS (WITH changed (item) AS (SELECT item FROM history WHERE run = {run}), "
        "touched (item) AS (SELECT item FROM changed UNION "
        "SELECT e.source FROM changed c JOIN evidence e ON e.item = c.item) "
        "SELECT 1 FROM touched t LEFT JOIN item i ON i.id = t.item "
        f"WHERE i.id IS NULL OR NOT {is_visible('i', viewer)} OR {was_private('t.item', viewer)})"
    )


def open_run(connection: Connection, run: str, viewer: str | None) -> bool:
    """Return whether a viewer may read why a run did what it did, see `run_is_open`."""
    if viewer is None:
        return True
    row = connection.execute(f"SELECT {run_is_open('?1', '?2')}", (run, viewer)).fetchone()
    return bool(row[0])


def is_private_to_another(
    connection: Connection, namespace: Namespace, key: str, owner: str | None
) -> bool:
    """Return whether an item of this name is private and not this owner's, or was when it was
    deleted or expired. Of one that was forgotten nobody can say whose it was."""
    row = connection.execute(
        "SELECT i.privacy = 'private' AND i.owner IS NOT ?3 FROM namespace n "
        "JOIN item i ON i.namespace = n.id WHERE n.path = ?1 AND i.key = ?2 UNION ALL "
        "SELECT * FROM (SELECT coalesce(h.facets ->> '$.privacy' = 'private', FALSE) "
        "AND h.facets ->> '$.owner' IS NOT ?3 FROM namespace n "
        "JOIN history h ON h.namespace = n.id WHERE n.path = ?1 AND h.key = ?2 "
        "ORDER BY h.at DESC, h.seq DESC LIMIT 1) LIMIT 1",
        (to_path(namespace), key, owner),
    ).fetchone()
    return row is not None and bool(row[0])
