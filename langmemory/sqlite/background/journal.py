"""What reflection made, by the day on which it was said: what the journal is written from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

import apsw

from langmemory.sqlite.file.connection import Connection
from langmemory.sqlite.file.namespaces import below, from_path
from langmemory.sqlite.file.rows import id_array
from langmemory.sqlite.file.values import from_json
from langmemory.types import Namespace

KEYS: Final = ("fact/", "summary/")
"""Begin the keys of what pages tell of."""
_DERIVED: Final = (
    "i.key GLOB 'fact/*' AND i.kind IN ('semantic', 'procedural') "
    "OR i.key GLOB 'summary/*' AND i.kind = 'archival'"
)
_BEGINS: Final = "substr(i.value ->> '$.said_at', 1, 10)"
"""``said_at`` is ISO 8601 with an offset, so it begins with the speaker's own day."""
_DAY: Final = f"CASE WHEN date({_BEGINS}) = {_BEGINS} AND {_BEGINS} > '0001' THEN {_BEGINS} END"
"""NULL where somebody put something else there."""


class DerivedRow(NamedTuple):
    """A fact or a summary, and where it was told."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    day: str
    owner: str | None
    privacy: str
    status: str
    invalid_at_us: int | None
    ended_said_at: str | None
    """``said_at`` of what replaced it."""
    thread: str | None


class ReplacedRow(NamedTuple):
    """A fact that gave way to another."""

    by: str
    value: dict[str, Any]
    owner: str | None
    privacy: str


def namespaces(connection: Connection, prefix: Namespace) -> list[tuple[int, Namespace]]:
    """Those in a prefix where reflection made anything."""
    query, bindings = below(prefix)
    rows = connection.execute(
        f"SELECT n.id, n.path FROM namespace n WHERE n.id IN {query} AND EXISTS "
        f"(SELECT 1 FROM item i WHERE i.namespace = n.id AND ({_DERIVED})) ORDER BY n.path",
        bindings,
    )
    return [(int(row[0]), from_path(row[1])) for row in rows]


def pages_of(connection: Connection, items: Iterable[int]) -> set[tuple[Namespace, str]]:
    """Namespace and day of the pages that tell of these items: of themselves, of what rests on them,
    beside what took their place or gave way to them, or in a question about them too."""
    rows = connection.execute(_PAGES, (id_array(items),))
    return {(from_path(path), day) for path, day in rows}


_PAGES: Final = f"""
WITH told (id, namespace, key, heir) AS MATERIALIZED (
    SELECT i.id, i.namespace, i.key, i.superseded_by
    FROM carray(?) c CROSS JOIN item i ON i.id = c.value
), near (id) AS (
    SELECT id FROM told
    UNION SELECT v.item FROM told t CROSS JOIN evidence v ON v.source = t.id
    UNION SELECT b.id FROM told t CROSS JOIN item b ON b.namespace = t.namespace AND b.key = t.heir
    UNION SELECT a.id FROM told t
        CROSS JOIN item a ON a.namespace = t.namespace AND a.superseded_by = t.key
    UNION SELECT o.id FROM review r CROSS JOIN json_each(r.items) k
        CROSS JOIN item o ON o.namespace = r.namespace AND o.key = k.value
        WHERE r.namespace IN (SELECT namespace FROM told) AND r.decision IS NULL
        AND EXISTS (SELECT 1 FROM json_each(r.items) m
            CROSS JOIN item x ON x.namespace = r.namespace AND x.key = m.value
            WHERE x.id IN (SELECT id FROM told))
)
SELECT DISTINCT p.path, {_DAY} AS day FROM near n
CROSS JOIN item i ON i.id = n.id CROSS JOIN namespace p ON p.id = i.namespace
WHERE ({_DERIVED}) AND day IS NOT NULL
"""


def derived(
    connection: Connection, namespace: int, path: Namespace, days: Collection[str] | None
) -> list[DerivedRow]:
    """What was told on these days (None: ever) and is not rejected, in the order it was told."""
    chosen = "" if days is None else f"AND {_BEGINS} IN (SELECT value FROM carray(?))"
    rows = connection.execute(
        f"SELECT i.key, i.value, {_DAY} AS day, i.owner, i.privacy, i.status, i.invalid_at, "
        "(SELECT b.value ->> '$.said_at' FROM item b "
        " WHERE b.namespace = i.namespace AND b.key = i.superseded_by), "
        "(SELECT t.name FROM evidence v JOIN item o ON o.id = v.source "
        " JOIN thread t ON t.id = o.thread WHERE v.item = i.id ORDER BY v.source LIMIT 1), "
        "(SELECT min(v.source) FROM evidence v WHERE v.item = i.id) AS source "
        f"FROM item i WHERE i.namespace = ? AND ({_DERIVED}) AND i.status <> 'archived' "
        f"{chosen} AND day IS NOT NULL ORDER BY day, source, i.id",
        (namespace, *(() if days is None else (apsw.carray(tuple(days)),))),
    )
    return [DerivedRow(path, key, from_json(value), *rest) for key, value, *rest, _ in rows]


def replaced(connection: Connection, namespace: int) -> list[ReplacedRow]:
    """Facts that gave way to others."""
    rows = connection.execute(
        "SELECT i.superseded_by, i.value, i.owner, i.privacy FROM item i WHERE i.namespace = ? "
        "AND i.status <> 'active' AND i.superseded_by IS NOT NULL "
        "AND i.key GLOB 'fact/*' ORDER BY i.id",
        (namespace,),
    )
    return [ReplacedRow(by, from_json(value), *rest) for by, value, *rest in rows]


class QuestionRow(NamedTuple):
    """An open review, and one of the facts it is about."""

    review: str
    question: str
    key: str
    value: dict[str, Any]
    owner: str | None
    privacy: str


def questions(connection: Connection, namespace: int) -> list[QuestionRow]:
    """Open reviews with the facts they are about, in their order. One about a memory that is gone is
    left out, since a question may quote it."""
    rows = connection.execute(
        "SELECT r.id, r.question, i.key, i.value, i.owner, i.privacy FROM review r "
        "CROSS JOIN json_each(r.items) k CROSS JOIN item i "
        "ON i.namespace = r.namespace AND i.key = k.value WHERE r.namespace = ? "
        "AND r.decision IS NULL AND i.key GLOB 'fact/*' AND NOT EXISTS (SELECT 1 "
        "FROM json_each(r.items) g LEFT JOIN item a ON a.namespace = r.namespace "
        "AND a.key = g.value WHERE a.id IS NULL) ORDER BY r.opened_at, r.id, k.key",
        (namespace,),
    )
    return [
        QuestionRow(review, question, key, from_json(value), owner, privacy)
        for review, question, key, value, owner, privacy in rows
    ]
