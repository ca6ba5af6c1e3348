"""Claims by whom they are about: the edges of some entities under some relations."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from langmemory.engines.sql.graph import graph
from langmemory.engines.sql.scope.scopes import CompiledScope
from langmemory.engines.sql.tables.connection import Connection

MOST: Final = 64
"""Claims of one entity under one relation that are read, the newest."""
MOST_NAMED: Final = 20_000
"""Claims whose relations are looked through (a millisecond)."""
MOST_OBJECT: Final = 512
"""Claims with one entity as their object that are looked through, the newest."""


_COLUMNS: Final = (
    "i.id, i.owner, e.subject, e.relation, e.object, e.literal, i.valid_at, "
    "coalesce(i.value ->> '$.fact_kind' = 'event' "
    "AND i.valid_at > unixepoch(i.value ->> '$.said_at') * 1000000, 0)"
)


class ClaimRow(NamedTuple):
    """An edge and its memory."""

    item: int
    owner: str | None
    subject: int
    relation: str
    object: int | None
    literal: str | None
    valid_at: int | None
    """Since when it holds, in microseconds."""
    announced: bool
    """It was told as an event of a day that was yet to come."""


def relations_of(
    connection: Connection, entities: Iterable[int], words: Collection[str]
) -> set[str]:
    """Return the relations that these entities (links not followed) are the subject of, for any viewer,
    and whose names have one of the words in them."""
    rows = connection.execute(
        "SELECT DISTINCT relation FROM (SELECT e.relation FROM carray(?) c "
        "CROSS JOIN edge e ON e.subject = c.value LIMIT ?) "
        "WHERE EXISTS (SELECT 1 FROM carray(?) w WHERE instr(relation, w.value))",
        (connection.array(entities), MOST_NAMED, connection.text_array(tuple(words))),
    )
    return {str(row[0]) for row in rows}


def claims_made(connection: Connection, items: Iterable[int]) -> list[ClaimRow]:
    """Return the edges of these memories."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM carray(?) c CROSS JOIN edge e ON e.fact = c.value "
        "CROSS JOIN item i ON i.id = e.fact ORDER BY e.id",
        (connection.array(items),),
    )
    return [ClaimRow(*row) for row in rows]


def claims_about(
    connection: Connection,
    scope: CompiledScope,
    entities: Iterable[int],
    relations: Collection[str],
) -> list[ClaimRow]:
    """Return the edges in scope from or to one of these entities (links not followed)."""
    where, bindings = graph.within(scope)
    columns = _COLUMNS + scope.value_column
    of_subject = (
        f"SELECT {columns} FROM edge e CROSS JOIN item i ON i.id = e.fact "
        f"WHERE e.subject = ? AND e.relation = ? AND {where} ORDER BY e.id DESC LIMIT ?"
    )
    of_object = (
        f"SELECT {columns} FROM (SELECT * FROM edge WHERE object = ? ORDER BY id DESC LIMIT ?) e "
        "CROSS JOIN item i ON i.id = e.fact "
        f"WHERE e.relation IN (SELECT value FROM carray(?)) AND {where} LIMIT ?"
    )
    rows: list[tuple[Any, ...]] = []
    for entity in entities:
        for relation in relations:
            found = connection.execute(of_subject, (entity, relation, *bindings, MOST))
            rows += scope.passing(found)
        named = connection.text_array(tuple(relations))
        found = connection.execute(of_object, (entity, MOST_OBJECT, named, *bindings, MOST))
        rows += scope.passing(found)
    return [ClaimRow(*row) for row in rows]
