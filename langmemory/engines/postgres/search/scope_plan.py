"""What is known of the items of a scope before a search. PostgreSQL's planner decides the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langmemory.engines.sql.scope.filters import Condition
from langmemory.engines.sql.scope.scopes import CompiledScope
from langmemory.engines.sql.tables.namespaces import below
from langmemory.ports.candidates import Ids


@dataclass(frozen=True, slots=True)
class ScopePlan:
    """See `langmemory.engines.sql.engine.ScopePlan`."""

    scope: CompiledScope
    items: Ids | None = None

    def listed(self) -> Ids | None:
        return self.items

    def start(self, one: Condition) -> tuple[str, tuple[Any, ...]]:
        selects, bindings = list[str](), list[Any]()
        for start in one.starts:
            namespaces, labels = below(self.scope.scope.namespace)
            selects.append(
                f"SELECT {start.item} AS id FROM {start.source} WHERE {start.where} "
                f"AND {start.namespace} IN {namespaces}"
            )
            bindings += (*start.bindings, *labels)
        return " UNION ALL ".join(selects), tuple(bindings)
