"""Versions of the schema: that of 0.1.0, and the steps that lead on from it, for every engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from langmemory.errors import SchemaVersionError
from langmemory.ledger.tables.ddl import Dialect, add_column, allow
from langmemory.ledger.tables.table import text

INITIAL: Final = 20
"""The version of the tables of 0.1.0."""

Step = Callable[[Dialect], Sequence[str]]
"""Makes the statements that lead from one version to the next. A step declares the columns and tables that it
adds by itself (`ddl.add_column`, `ddl.create`), because the list of tables goes on changing."""


def _trust(dialect: Dialect) -> Sequence[str]:
    """Add where each memory comes from; what rests on others is trusted as little as the least of them."""
    sources = ("person", "agent", "import", "document", "tool")
    column = text("trust", default="person", one_of=sources)
    rank = " ".join(f"WHEN '{one}' THEN {place}" for place, one in enumerate(sources))
    role = "lower(value ->> '$.role')"
    return (
        add_column("item", column, dialect),
        f"UPDATE item SET trust = CASE WHEN {role} IN ('tool', 'function') THEN 'tool' "
        f"WHEN kind = 'resource' THEN 'document' WHEN {role} IN ('assistant', 'ai') "
        "OR value ->> '$.editor' IN ('assistant', 'summarizer') THEN 'agent' ELSE 'person' END;",
        "WITH RECURSIVE low (item, trust) AS (SELECT id, trust FROM item WHERE trust <> 'person' UNION "
        "SELECT e.item, low.trust FROM low JOIN evidence e ON e.source = low.item) "
        "UPDATE item SET trust = (SELECT l.trust FROM low l WHERE l.item = item.id "
        f"ORDER BY CASE l.trust {rank} END DESC LIMIT 1) WHERE id IN (SELECT l.item FROM low l);",
    )


STEPS: tuple[Step, ...] = (
    lambda dialect: allow(
        "message",
        "type",
        (
            "finding", "decision", "progress", "warning", "knowledge", "task_result", "escalation", "request",
            "reply", "handoff", "invalidation",
        ),
        dialect,
    ),
    _trust,
    lambda _: (
        "CREATE INDEX IF NOT EXISTS item_talk ON item (namespace, coalesce(owner, ''), "
        "coalesce(valid_at, created_at)) WHERE thread IS NOT NULL;",
    ),
)  # fmt: skip
"""The first leads from `INITIAL` to the version after it."""

_FROM_UNRELEASED: Final = (
    "CREATE INDEX IF NOT EXISTS item_guardrail ON item (namespace) WHERE priority = 'guardrail';",
)
"""To be dropped at 0.2: leads from the last schema before 0.1.0, which had the same tables, to `INITIAL`."""


def newest() -> int:
    """Return the version that this langmemory writes."""
    return INITIAL + len(STEPS)


def check(version: int, unreleased: int, path: str) -> None:
    """Refuse a schema that no step leads on from; 0 is an empty one.

    Args:
        version: Of the schema.
        unreleased: The last version of the engine's schema before `INITIAL`.
        path: Of the file, or the address, for the error.

    Raises:
        SchemaVersionError: It is newer than this langmemory, or older than ``unreleased``.
    """
    if version > newest():
        raise SchemaVersionError(
            f"{path} has schema version {version}, this langmemory knows up to {newest()}. "
            "Upgrade langmemory: pip install -U . in a newer checkout, or its newer wheel."
        )
    if version not in (0, unreleased) and version < INITIAL:
        raise SchemaVersionError(
            f"{path} has schema version {version}, of a langmemory before 0.1.0; this one reads version "
            f"{unreleased} and those from {INITIAL} on. Open it with the langmemory that wrote it, and "
            "export it (langmemory export)."
        )


def leading_on(version: int, dialect: Dialect) -> list[str]:
    """Return the statements that bring a schema, which `check` lets pass and is not empty, to the newest
    version."""
    done = max(0, version - INITIAL)
    steps = [statement for step in STEPS[done:] for statement in step(dialect)]
    return [*(_FROM_UNRELEASED if version < INITIAL else ()), *steps]
