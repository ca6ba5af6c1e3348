"""One namespace as lifecycle reads it: `ports.lifecycle.LifecycleView` on one snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from sys import intern
from typing import Any, Final

import numpy as np

from langmemory.engines.sql.engine import Snapshot
from langmemory.engines.sql.records import history, items, progress
from langmemory.engines.sql.tables import namespaces
from langmemory.engines.sql.tables.times import to_us
from langmemory.engines.sql.tables.tree import IS_NODE
from langmemory.ports.candidates import UNKNOWN_TIME, Floats, Ids
from langmemory.ports.lifecycle import Aged, Times
from langmemory.types import Kind, Memory, Namespace
from langmemory.values import from_json

DAY_US: Final = 86_400_000_000

AGEING: Final[tuple[Kind, ...]] = ("semantic", "procedural", "archival")
"""Kinds of memory that age."""

_KINDS: Final = f"({', '.join(map(repr, AGEING))}) AND NOT ({IS_NODE.format('i')})"

_ROWS: Final = f"""
    SELECT i.id, i.key, i.kind, i.status, i.priority, i.owner, i.privacy, i.value ->> '$.relation',
    i.value ->> '$.fact_kind', i.value ->> '$.temporal_class', i.pinned, i.verified,
    i.value ->> '$.corrects', i.importance, i.confidence, i.created_at, i.valid_at, i.invalid_at,
    i.expired_at, i.value ->> '$.when', i.value ->> '$.kept_at', u.loaded, u.referenced, u.succeeded,
    c.matched, c.relevance, c.used_at
    FROM item i LEFT JOIN usage u ON u.item = i.id LEFT JOIN citation c ON c.item = i.id
    WHERE i.namespace = ? AND i.kind IN {_KINDS} ORDER BY i.id"""

_EVIDENCE: Final = f"""
    SELECT v.item, count(*), max(coalesce(s.valid_at, s.created_at)) FROM item i
    CROSS JOIN evidence v ON v.item = i.id CROSS JOIN item s ON s.id = v.source
    WHERE i.namespace = ? AND i.kind IN {_KINDS} GROUP BY v.item"""

_MENTIONS: Final = f"""
    SELECT m.entity, m.item FROM item i CROSS JOIN mention m ON m.item = i.id
    WHERE i.namespace = ? AND i.kind IN {_KINDS}"""

_SUPPORTS: Final = f"""
    SELECT DISTINCT v.source FROM item i CROSS JOIN evidence v ON v.source = i.id
    CROSS JOIN item d ON d.id = v.item
    WHERE i.namespace = ? AND i.kind IN {_KINDS} AND d.status = 'active'
    AND NOT ({IS_NODE.format("d")})"""


class AgeingView:
    """Reads of one namespace, valid while the snapshot is."""

    __slots__ = ("_id", "_namespace", "_snapshot", "seq")

    def __init__(self, snapshot: Snapshot, namespace: Namespace) -> None:
        self._snapshot, self._namespace = snapshot, namespace
        self._id = namespaces.find(snapshot.connection, namespace) or 0
        self.seq = history.newest(snapshot.connection)

    @property
    def namespace(self) -> Namespace:
        return self._namespace

    def _ask(self, query: str, *bindings: Any) -> Iterable[Sequence[Any]]:
        rows: Iterable[Sequence[Any]] = self._snapshot.connection.execute(query, bindings)
        return rows

    def aged(self) -> Aged:
        """Return every derived memory, whatever its status."""
        rows = list(self._ask(_ROWS, self._id))
        columns = list(zip(*rows, strict=True)) if rows else [()] * 27
        n = len(rows)
        ids = np.fromiter(columns[0], np.int64, n)
        counts, told = np.zeros(n, np.int64), np.full(n, UNKNOWN_TIME)
        found = list(self._ask(_EVIDENCE, self._id))
        if found:
            at = np.searchsorted(ids, [row[0] for row in found])
            counts[at] = [row[1] for row in found]
            told[at] = [row[2] for row in found]
        created, kept = _times(columns[15]), _times(map(_moment, columns[20]))
        valid = _times(columns[16])
        told = np.where(told == UNKNOWN_TIME, np.where(valid == UNKNOWN_TIME, created, valid), told)
        ends = np.maximum(_times(columns[17]), _times(map(_end, columns[19])))
        status = _texts(columns[3])
        archived = np.fromiter((one == "archived" for one in status), np.bool_, n)
        cited = _numbers(columns[22])
        known = np.maximum(_numbers(columns[24]), 1)
        relevance = np.fromiter((one or 0.0 for one in columns[25]), np.float32, n)
        return Aged(
            ids=ids,
            keys=columns[1],
            kind=_texts(columns[2]),
            status=status,
            priority=_texts(columns[4]),
            owner=columns[5],
            privacy=_texts(columns[6]),
            relation=_texts(columns[7]),
            fact_kind=_texts(columns[8]),
            temporal_class=_texts(columns[9]),
            pinned=_flags(columns[10]),
            verified=_flags(columns[11]),
            corrects=_flags(columns[12]),
            importance=np.fromiter(columns[13], np.float32, n),
            confidence=np.fromiter(columns[14], np.float32, n),
            created_at=created,
            told_at=np.maximum(told, kept),
            ends_at=ends,
            archived_at=np.where(archived, _times(columns[18]), UNKNOWN_TIME),
            used_at=_times(columns[26]),
            loaded=_numbers(columns[21]),
            cited=cited,
            right=_numbers(columns[23]),
            relevance=(relevance / known).astype(np.float32),
            evidence=counts,
            degree=self._degrees(ids),
            supports=np.isin(ids, [row[0] for row in self._ask(_SUPPORTS, self._id)]),
        )

    def _degrees(self, ids: Ids) -> Ids:
        """int64[n]: how many other memories speak of what each speaks of, see `Aged.degree`."""
        degree = np.zeros(len(ids), np.int64)
        pairs = np.array([tuple(row) for row in self._ask(_MENTIONS, self._id)], np.int64)
        if len(pairs):
            _, entity, spoken = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
            np.maximum.at(degree, np.searchsorted(ids, pairs[:, 1]), spoken[entity] - 1)
        return degree

    def memories(self, ids: Ids) -> list[Memory]:
        """Return memories in the order of the ids; those that are gone are left out."""
        return items.memories(self._snapshot.connection, ids)

    def vectors(self, ids: Ids) -> tuple[Ids, Floats]:
        """Return the first vector of each memory that has one: int64[m] ids, float32[m, dims]."""
        return self._snapshot.first_vectors(ids)

    def evidence(self, ids: Ids) -> Mapping[int, tuple[str, ...]]:
        """Return the keys of what each memory was derived from, oldest first."""
        found: dict[int, list[str]] = defaultdict(list)
        if len(ids):
            rows = self._ask(
                "SELECT v.item, s.key FROM evidence v JOIN item s ON s.id = v.source "
                "WHERE v.item IN (SELECT value FROM carray(?)) ORDER BY s.id",
                self._snapshot.connection.array(ids),
            )
            for item, key in rows:
                found[item].append(key)
        return {item: tuple(keys) for item, keys in found.items()}

    def nodes(self) -> list[Memory]:
        """Return the summaries of the tree, in the order of their ids."""
        rows = self._ask(
            f"SELECT i.id FROM item i WHERE i.namespace = ? AND {IS_NODE.format('i')} ORDER BY i.id",
            self._id,
        )
        return self.memories(np.array([row[0] for row in rows], np.int64))

    def days(self) -> set[int]:
        """Return the days, since 1970 UTC, on which turns were said."""
        rows = self._ask(
            "SELECT DISTINCT coalesce(i.valid_at, i.created_at) / ? FROM item i "
            "WHERE i.namespace = ? AND i.kind = 'episodic'",
            DAY_US, self._id,
        )  # fmt: skip
        return {int(row[0]) for row in rows}

    def find(self, keys: Sequence[str]) -> Mapping[str, int]:
        """Return the ids of those of the keys that are there."""
        rows = self._ask(
            "SELECT i.key, i.id FROM carray(?) c CROSS JOIN item i ON i.namespace = ? AND i.key = c.value",
            self._snapshot.connection.text_array(tuple(dict.fromkeys(keys))), self._id,
        ) if keys else ()  # fmt: skip
        return dict(map(tuple, rows))

    def mentions(self) -> list[tuple[int, str]]:
        """Return which derived memory speaks of which entity, by its key, links followed."""
        rows = self._ask(
            "SELECT m.item, coalesce(o.key, e.key) FROM item i CROSS JOIN mention m ON m.item = i.id "
            "CROSS JOIN entity e ON e.id = m.entity LEFT JOIN entity o ON o.id = e.same_as "
            f"WHERE i.namespace = ? AND i.kind IN {_KINDS} ORDER BY m.item, m.entity",
            self._id,
        )
        return [(int(item), str(entity)) for item, entity in rows]

    def turns(self, since: int = UNKNOWN_TIME, until: int | None = None) -> Ids:
        """Return the turns said in ``[since, until)``, microseconds, in the order they were said."""
        rows = self._ask(
            "SELECT i.id FROM item i WHERE i.namespace = ? AND i.kind = 'episodic' AND "
            "coalesce(i.valid_at, i.created_at) >= ? AND (? IS NULL OR "
            "coalesce(i.valid_at, i.created_at) < ?) ORDER BY coalesce(i.valid_at, i.created_at), i.id",
            self._id, since, until, until,
        )  # fmt: skip
        return np.array([row[0] for row in rows], np.int64)

    def changed(self, since_seq: int) -> Ids:
        """Return what changed after a place in the history, but for what maintenance changed itself."""
        rows = self._ask(
            "SELECT DISTINCT h.item FROM history h CROSS JOIN item i ON i.id = h.item "
            "LEFT JOIN run r ON r.id = h.run WHERE h.seq > ? AND i.namespace = ? "
            "AND (r.kind IS NULL OR r.kind <> 'maintenance') ORDER BY h.item",
            since_seq, self._id,
        )  # fmt: skip
        return np.array([row[0] for row in rows], np.int64)

    def progress(self, task: str) -> int:
        """Return the place in the history up to which a task has taken changes into account."""
        return progress.reached(self._snapshot.connection, task, self._id)

    def people_asked(self) -> frozenset[str]:
        """Return the keys of memories that open reviews are about."""
        rows = self._ask(
            "SELECT r.items FROM review r WHERE r.namespace = ? AND r.decision IS NULL", self._id
        )
        return frozenset(str(key) for row in rows for key in from_json(row[0]))


def _texts(column: Iterable[str | None]) -> list[str]:
    return [intern(one) if one else "" for one in column]


def _flags(column: Sequence[Any]) -> Any:
    return np.fromiter((bool(one) for one in column), np.bool_, len(column))


def _numbers(column: Sequence[int | None]) -> Ids:
    return np.fromiter((one or 0 for one in column), np.int64, len(column))


def _times(column: Iterable[int | None]) -> Times:
    return np.array([UNKNOWN_TIME if one is None else one for one in column], np.int64)


def _moment(text: object) -> int | None:
    try:
        moment = datetime.fromisoformat(str(text)) if text else None
    except ValueError:
        return None
    return None if moment is None or moment.tzinfo is None else to_us(moment)


def _end(when: str | None) -> int | None:
    """The end of the time that a value names."""
    told = from_json(when) if when and when.startswith("{") else None
    return _moment(told.get("end")) if isinstance(told, dict) else None
