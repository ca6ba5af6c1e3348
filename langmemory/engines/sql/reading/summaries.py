"""The tree of summaries as recall reads it: which memories in scope the sentences of a summary retell."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from langmemory.engines.sql.scope.ownership import visible_to
from langmemory.engines.sql.scope.scopes import CompiledScope
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.times import from_us
from langmemory.engines.sql.tables.tree import IS_NODE
from langmemory.lifecycle.summaries.nodes import day_of, key_of, period_of
from langmemory.ports.candidates import Ids, Level, Retold

_LEAVES: Final = (
    "CROSS JOIN json_each(n.value, '$.sentences') s CROSS JOIN json_each(s.value, '$.leaves') l "
    "CROSS JOIN item i ON i.namespace = n.namespace AND i.key = l.value"
)
_AFTER_SLASH: Final = "0"
"""The character after the slash: where the keys that begin with it end."""


def retold_with(connection: Connection, scope: CompiledScope, ids: Ids) -> Retold:
    """Return what the summaries of days and themes retell that rest on some of the ids."""
    if not len(ids):
        return _pairs([])
    return _retold(
        connection,
        scope,
        "(SELECT DISTINCT v.item FROM carray(?) c CROSS JOIN evidence v ON v.source = c.value) d "
        "CROSS JOIN item n ON n.id = d.item",
        "TRUE",
        (connection.array(ids),),
    )


def retold_in(
    connection: Connection, scope: CompiledScope, level: Level, since: int | None, until: int | None
) -> Retold:
    """Return what the summaries of a level retell whose periods have a day in ``[since, until)``."""
    first, last = (
        key_of(level, "" if at is None else period_of(day_of(from_us(at)), level), None)
        for at in (since, None if until is None else until - 1)
    )
    end = (last.removesuffix("/") if until is None else last) + _AFTER_SLASH
    namespaces, bindings = scope.namespaces()
    return _retold(
        connection,
        scope,
        "item n",
        f"n.namespace IN {namespaces} AND n.key >= ? AND n.key < ?",
        (*bindings, first, end),
    )


def _retold(
    connection: Connection, scope: CompiledScope, source: str, where: str, bindings: tuple[Any, ...]
) -> Retold:
    """Return what summaries retell that the viewer may read. What they retell is in scope itself: a
    summary opens nothing."""
    seen = visible_to(scope.scope.viewer, "n")
    rows = connection.execute(
        f"SELECT n.id, i.id{scope.value_column} FROM {source} {_LEAVES} "
        f"WHERE {where} AND {IS_NODE.format('n')} AND n.status = 'active' AND {seen.sql} "
        f"AND {scope.where} ORDER BY n.id, s.key, l.key",
        (*bindings, *seen.bindings, *scope.bindings),
    )
    return _pairs(scope.passing(rows))


def _pairs(rows: list[tuple[Any, ...]]) -> Retold:
    both = np.array(rows, np.int64).reshape(-1, 2)
    return Retold(np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1]))
