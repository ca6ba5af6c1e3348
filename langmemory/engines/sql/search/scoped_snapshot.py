"""What the snapshots of SQL engines share: a scope compiled for them, its plan, and values of items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from langmemory.engines.sql.scope.scopes import CompiledScope, compile_scope
from langmemory.engines.sql.search.scope_plan import CardinalityCache, ScopePlan
from langmemory.engines.sql.tables.connection import Connection
from langmemory.types import Scope
from langmemory.values import from_json

INACTIVE: Final = "SELECT 1 FROM item WHERE status <> 'active' LIMIT 1"


class ScopedSnapshot:
    """Reads of one moment, see `langmemory.engines.sql.engine.Snapshot`."""

    def __init__(self, connection: Connection, cardinalities: CardinalityCache) -> None:
        self._reader, self._cardinalities = connection, cardinalities
        self._selected: tuple[CompiledScope, ScopePlan] | None = None

    def scoped(self, scope: Scope, *, alive_at_us: int | None = None) -> CompiledScope:
        """See `scopes.compile_scope`; without a condition that every item of the database meets."""
        if scope.statuses == ("active",) and scope.known_at is None:
            if self._reader.execute(INACTIVE).fetchone() is None:
                scope = replace(scope, statuses=None)
        return compile_scope(scope, alive_at_us=alive_at_us)

    def plan(self, scope: CompiledScope) -> ScopePlan:
        """One for both arms of a search, or for a listing."""
        if self._selected is None or self._selected[0] is not scope:
            plan = ScopePlan(self._reader, self._cardinalities, scope)
            self._selected = (scope, plan)
        return self._selected[1]

    def value(self, item: int) -> dict[str, Any]:
        """Return the value of an item that exists."""
        row = self._reader.execute("SELECT value FROM item WHERE id = ?", (item,)).fetchone()
        value: dict[str, Any] = from_json(row[0])
        return value
