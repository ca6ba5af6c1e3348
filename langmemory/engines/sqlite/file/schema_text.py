"""The schema as it is written in `schema.sql`."""

from __future__ import annotations

from importlib.resources import files


def schema_sql() -> str:
    """Return the current schema, whole."""
    return (files("langmemory.engines.sqlite") / "schema.sql").read_text("utf-8")
