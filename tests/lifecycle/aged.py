"""Derived memories as columns, made by hand for tests of rules."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from langmemory.lifecycle.retention import DAY_US
from langmemory.ports.candidates import UNKNOWN_TIME
from langmemory.ports.lifecycle import Aged

NOW = 1_000 * DAY_US

USUAL: dict[str, Any] = {
    "kind": "semantic", "status": "active", "priority": "reference", "trust": "person",
    "owner": None,
    "privacy": "shared", "relation": "", "fact_kind": "", "temporal_class": "", "pinned": False,
    "verified": False, "corrects": False, "replaces": False, "importance": 0.5, "confidence": 0.8,
    "created_at": NOW, "told_at": NOW, "ends_at": UNKNOWN_TIME, "archived_at": UNKNOWN_TIME,
    "used_at": UNKNOWN_TIME, "shown_at": UNKNOWN_TIME,
    "loaded": 0, "cited": 0, "right": 0, "relevance": 0.0, "evidence": 1,
    "degree": 0, "supports": False,
}  # fmt: skip
"""A memory said now, never used."""

TEXTS = (
    "kind",
    "status",
    "priority",
    "trust",
    "owner",
    "privacy",
    "relation",
    "fact_kind",
    "temporal_class",
)


def aged(*memories: dict[str, Any]) -> Aged:
    """Memories with these facets, otherwise `USUAL`; ``days`` is how long ago one was said. Their keys are
    k0, k1 and so on, unless one says otherwise."""
    rows = []
    for place, memory in enumerate(memories):
        row = {**USUAL, "ids": place + 1, "keys": f"k{place}", **memory}
        if "days" in row:
            row["told_at"] = row["created_at"] = NOW - round(row.pop("days") * DAY_US)
        rows.append(row)
    columns: dict[str, Any] = {}
    for column in fields(Aged):
        values = [row[column.name] for row in rows]
        if column.name in (*TEXTS, "keys"):
            columns[column.name] = values
        elif isinstance(USUAL.get(column.name), bool):
            columns[column.name] = np.array(values, np.bool_)
        elif isinstance(USUAL.get(column.name), float):
            columns[column.name] = np.array(values, np.float32)
        else:
            columns[column.name] = np.array(values, np.int64)
    return Aged(**columns)
