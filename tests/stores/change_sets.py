"""Change sets for tests: one person's namespace, facts in short form, exports to compare."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from langmemory.changes import AddMemory, Change, ChangeSet, Facets
from langmemory.stores import MemoryStore
from langmemory.types import Applied, RunKind

NS = ("memories", "maria")


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


def value(text: str, **more: Any) -> dict[str, Any]:
    return {"text": text, "fact_kind": "fact", "said_at": "2023-05-07T10:00:00+00:00", **more}


def fact(key: str, text: str, *evidence: str, **facets: Any) -> AddMemory:
    return AddMemory(key=key, value=value(text), evidence=evidence, facets=Facets(**facets))


def change_set(
    run: str, *changes: Change, kind: RunKind = "reflection", **options: Any
) -> ChangeSet:
    options = {"namespace": NS, "reason": "a talk", **options}
    return ChangeSet(run_id=run, kind=kind, changes=changes, **options)


def apply(store: MemoryStore, run: str, *changes: Change, **options: Any) -> Applied:
    return store.changes.apply(change_set(run, *changes, **options))


def known(store: MemoryStore) -> list[str]:
    """Return the present state: the export without the record and without names of the moment."""
    rows = [json.dumps(row, sort_keys=True) for row in store.admin.export(history=False)]
    return rows[1:]


def problems(store: MemoryStore) -> list[str]:
    return store.admin.check()


def rows(store: MemoryStore, table: str) -> int:
    return int(store.conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # type: ignore[index]
