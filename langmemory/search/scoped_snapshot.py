"""What the snapshots of SQL engines share: a scope compiled for them, its plan, and values of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from langmemory.ledger.scope.scopes import CompiledScope, compile_scope
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.namespaces import of_kinds
from langmemory.ports.candidates import Floats, Ids
from langmemory.recall.layers import DOCUMENTS, MOST_COUNTED, SAID, crowds
from langmemory.search.scope_plan import CardinalityCache, ScopePlan
from langmemory.types import Namespace, Scope
from langmemory.values import from_json

FACETS: Final = (
    "i.id, i.thread, i.position, i.speaker, coalesce(i.valid_at, i.created_at), i.tokens, "
    "i.importance, i.confidence, i.status, i.invalid_at, i.expired_at, i.kind = 'resource'"
)
"""The columns by which an item ``i`` is ranked."""
SHOWN: Final = "i.id, n.path, i.key, i.value, i.created_at, i.updated_at, i.expires_at"
"""The columns of an item ``i`` in a namespace ``n`` that LangGraph shows."""
INACTIVE: Final = "SELECT 1 FROM item WHERE status <> 'active' LIMIT 1"


class ScopedSnapshot:
    """Reads of one moment, see `langmemory.ledger.engine.Snapshot`."""

    def __init__(self, connection: Connection, cardinalities: CardinalityCache) -> None:
        self._reader, self._cardinalities = connection, cardinalities
        self._selected: tuple[CompiledScope, ScopePlan] | None = None

    def scoped(self, scope: Scope, *, alive_at_us: int | None = None) -> CompiledScope:
        """See `scopes.compile_scope`; without a condition that every item of the database meets."""
        if (
            scope.statuses == ("active",)
            and scope.known_at is None
            and self._reader.execute(INACTIVE).fetchone() is None
        ):
            scope = replace(scope, statuses=None)
        return compile_scope(scope, alive_at_us=alive_at_us)

    def crowded(self, namespace: Namespace) -> bool:
        """Return whether documents lie beside what was said, and the one leaves the other few places, see
        `layers.crowds`. The counts are those of a time when the database had about this size."""
        size = self._cardinalities.size(self._reader)

        def held(kinds: Sequence[str]) -> int:
            query, bindings = of_kinds(namespace, kinds)
            return self._cardinalities.items(self._reader, query, bindings, MOST_COUNTED, size)

        documents = held(DOCUMENTS)
        return documents > 0 and crowds(documents, held(SAID))

    def plan(self, scope: CompiledScope) -> ScopePlan:
        """One for both arms of a search, or for a listing."""
        if self._selected is None or self._selected[0] is not scope:
            plan = ScopePlan(self._reader, self._cardinalities, scope)
            self._selected = (scope, plan)
        return self._selected[1]

    def facets(self, ids: Ids, shown: Floats | None = None) -> list[Any]:
        """Return the rows of `FACETS`, in the order of the ids, of items that are there."""
        found: list[Any] = self._reader.execute(
            f"SELECT {FACETS} FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
            (self._reader.array(ids),),
        ).fetchall()
        return found

    def shown(self, ids: Ids) -> Mapping[int, Any]:
        """Return the rows of `SHOWN`, by id, of items that are there."""
        rows = self._reader.execute(
            f"SELECT {SHOWN} FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
            "CROSS JOIN namespace n ON n.id = i.namespace",
            (self._reader.array(ids),),
        ).fetchall()
        return {row[0]: row for row in rows}

    def value(self, item: int) -> dict[str, Any]:
        """Return the value of an item that exists."""
        row = self._reader.execute("SELECT value FROM item WHERE id = ?", (item,)).fetchone()
        value: dict[str, Any] = from_json(row[0])
        return value
