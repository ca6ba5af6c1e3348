"""Whether a database agrees with itself, as far as every SQL engine has the same tables: rows, leaves,
history, graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from langmemory.ledger.connection import Connection
from langmemory.ledger.history import GONE
from langmemory.ledger.removal import RESTORABLE
from langmemory.ledger.settings import is_archive
from langmemory.ledger.tables import schema
from langmemory.ledger.values import LeafValue, leaves
from langmemory.values import from_json

SHOWN: Final = 3
"""Ids named in a problem."""
PAGE: Final = 4096
"""Items whose leaves are looked at together."""
_KNOWN: Final = f"SELECT id FROM item UNION ALL SELECT h.item FROM history h WHERE {RESTORABLE}"
"""Items, and those that an undo would bring back."""


def identity(value: LeafValue) -> Any:
    return value


def rows(connection: Connection) -> Iterator[str]:
    """Yield what is wrong with items and what stands beside them."""
    yield from problem_of_query(
        connection,
        "items in a namespace that does not exist",
        "SELECT id FROM item WHERE namespace NOT IN (SELECT id FROM namespace)",
    )
    yield from problem_of_query(
        connection,
        "turns whose thread does not exist or belongs to another namespace",
        "SELECT i.id FROM item i LEFT JOIN thread t ON t.id = i.thread "
        "WHERE i.thread IS NOT NULL AND (t.id IS NULL OR t.namespace <> i.namespace)",
    )
    yield from problem_of_query(
        connection,
        "turns that share their place in a thread",
        "SELECT min(id) FROM item WHERE thread IS NOT NULL AND position IS NOT NULL "
        "GROUP BY thread, position HAVING count(*) > 1",
    )


def check_archive_overlap(connection: Connection) -> Iterator[str]:
    """Yield what is here and in the archive."""
    yield from problem_of_query(
        connection,
        "items are here and noted to be in the archive file",
        "SELECT item FROM archived_item WHERE item IN (SELECT id FROM item)",
    )


def filter_leaves(
    connection: Connection, stored: Callable[[LeafValue], Any] = identity
) -> Iterator[str]:
    """Yield what is wrong with the leaves that filters look up.

    Args:
        stored: Returns a value as the engine stores it in a leaf.
    """
    wrong: list[int] = []
    names = dict(connection.execute("SELECT id, name FROM path").fetchall())
    last = 0
    while page := connection.execute(
        f"SELECT id, namespace, value FROM item WHERE id > ? ORDER BY id LIMIT {PAGE}", (last,)
    ).fetchall():
        first, last = page[0][0], page[-1][0]
        found = connection.execute(
            "SELECT item, path, value, namespace FROM leaf INDEXED BY leaf_item "
            "WHERE item BETWEEN ? AND ? ORDER BY item",
            (first, last),
        )
        there = {
            item: {(names.get(path), *leaf) for _, path, *leaf in of_item}
            for item, of_item in groupby(found, key=itemgetter(0))
        }
        for item, namespace, value in page:
            wanted = {(path, stored(leaf), namespace) for path, leaf in leaves(from_json(value))}
            if there.get(item, set()) != wanted:
                wrong.append(item)
    yield from problem("items whose filter leaves are not those of their value", wrong)
    yield from problem_of_query(
        connection,
        "items are gone and left filter leaves",
        "SELECT item FROM leaf EXCEPT SELECT id FROM item",
    )


def history(connection: Connection) -> Iterator[str]:
    """Yield items whose record has a gap."""
    yield from problem_of_query(
        connection,
        "items have no history",
        "SELECT id FROM item EXCEPT SELECT item FROM history",
    )
    yield from problem_of_query(
        connection,
        "items are gone, and no deletion is recorded",
        "SELECT item FROM history EXCEPT SELECT id FROM ("
        f"SELECT id FROM item UNION ALL SELECT item FROM history WHERE action IN {GONE}) known",
    )


@schema.cached_derivation
def _ids() -> list[tuple[str, str, str, bool]]:
    """(table, column, the table whose id it holds, whether a row may stand beside an item that is gone and
    may be brought back)."""
    return [
        (table.name, column.name, column.of, column.of == "item" and not table.derived)
        for table in schema.tables()
        for column in table.columns
        if column.of == "entity" or (column.of == "item" and table.beside and not table.outlives)
        if table is not schema.LEAF  # see `filter_leaves`
    ]


def graph(connection: Connection) -> Iterator[str]:
    """Yield what is wrong with evidence, facts, entities and edges."""
    away = is_archive(connection)
    for table, column, target, beside in _ids():
        if away and (target == "entity" or column == "source"):
            continue  # these stay in the memory file
        known = _KNOWN if beside else f"SELECT id FROM {target}"
        yield from problem_of_query(
            connection,
            f"{target} ids in {table}.{column} that belong to nothing",
            f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL "
            f"EXCEPT SELECT id FROM ({known}) known",
        )
    yield from problem_of_query(
        connection,
        "facts without their fingerprint, or items with another one",
        "SELECT i.id FROM item i LEFT JOIN fingerprint f ON f.item = i.id "
        "AND f.namespace = i.namespace GROUP BY i.id HAVING count(f.hash) <> "
        "CASE WHEN json_type(value, '$.fact_kind') = 'text' AND json_type(value, '$.text') = 'text' "
        "THEN 1 ELSE 0 END",
    )
    yield from problem_of_query(
        connection,
        "entities that are linked in a circle",
        "WITH RECURSIVE way (start, id) AS (SELECT id, same_as FROM entity "
        "WHERE same_as IS NOT NULL UNION SELECT w.start, e.same_as FROM way w "
        "JOIN entity e ON e.id = w.id WHERE e.same_as IS NOT NULL) "
        "SELECT DISTINCT start FROM way WHERE start = id",
    )


def problem_of_query(
    connection: Connection, what: str, ids: str, bindings: tuple[Any, ...] = ()
) -> Iterator[str]:
    """Yield a problem if a query finds ids that have it."""
    yield from problem(what, [row[0] for row in connection.execute(ids, bindings)])


def problem(what: str, ids: list[int]) -> Iterator[str]:
    """Yield a problem, if any ids have it."""
    if ids:
        some = ", ".join(map(str, sorted(ids)[:SHOWN]))
        more = f", … ({len(ids):,} in all)" if len(ids) > SHOWN else ""
        yield f"{what}: {some}{more}"
