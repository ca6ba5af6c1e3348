"""Rows that the journal is written from: what reflection made, by the day on which it was said, and what
nights of maintenance changed."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from typing import Any, Final, cast

from langmemory.ledger.connection import Connection
from langmemory.ledger.namespaces import below, find, from_path
from langmemory.ledger.settings import distilled_months
from langmemory.ledger.values import IS_NODE, LONG, LeafValue, by_clock, from_us
from langmemory.ports.journal import DerivedRow, DreamRow, QuestionRow, ReplacedRow, Spoken
from langmemory.types import Namespace
from langmemory.values import from_json

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


def namespaces(connection: Connection, prefix: Namespace) -> list[tuple[int, Namespace]]:
    """Return those in a prefix where reflection made anything."""
    query, bindings = below(prefix)
    rows = connection.execute(
        f"SELECT n.id, n.path FROM namespace n WHERE n.id IN {query} AND EXISTS "
        f"(SELECT 1 FROM item i WHERE i.namespace = n.id AND ({_DERIVED})) ORDER BY n.path",
        bindings,
    )
    return [(int(row[0]), from_path(row[1])) for row in rows]


def pages_of(connection: Connection, items: Iterable[int]) -> set[tuple[Namespace, str]]:
    """Return the namespace and day of the pages that tell of these items: of themselves, of what rests on
    them, beside what took their place or gave way to them, or in a question about them too."""
    rows = connection.execute(_PAGES, (connection.array(items),))
    return {(from_path(path), day) for path, day in rows}


STATE: Final = ("task", "decision", "session")
"""Records that `STATE.md` tells of."""
STATE_DAY: Final = "0001-01-01"
"""Stands, among the marks of stale pages, for the page of a namespace that is of no day."""


def stated_in(connection: Connection, items: Iterable[int]) -> set[tuple[Namespace, str]]:
    """Return the namespaces whose `STATE.md` tells of these items, each with `STATE_DAY`."""
    rows = connection.execute(
        "SELECT DISTINCT n.path FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
        "CROSS JOIN namespace n ON n.id = i.namespace WHERE i.value ->> '$.record' IN "
        "(SELECT value FROM carray(?))",
        (connection.array(items), connection.text_array(STATE)),
    )
    return {(from_path(path), STATE_DAY) for (path,) in rows}


def with_state(connection: Connection, prefix: Namespace) -> list[Namespace]:
    """Return the namespaces in a prefix that have tasks, decisions or sessions, in order."""
    query, bindings = below(prefix)
    rows = connection.execute(
        "SELECT DISTINCT n.path FROM path p CROSS JOIN leaf l ON l.path = p.id "
        "CROSS JOIN namespace n ON n.id = l.namespace WHERE p.name = 'record' "
        f"AND l.value IN (?, ?, ?) AND n.id IN {query} ORDER BY n.path",
        (*STATE, *bindings),
    )
    return [from_path(path) for (path,) in rows]


def retold_in(connection: Connection, items: Iterable[int]) -> set[tuple[Namespace, str]]:
    """Return the namespace and a day of the distilled months whose pages quote these items, or are made of
    them: days and months of the tree of summaries, and turns that these rest on."""
    months = distilled_months(connection)
    if not months:
        return set()
    rows = connection.execute(_RETOLD, (connection.array(items),))
    return {(from_path(path), day) for id, path, day in rows if day[:7] <= months.get(id, "")}


def leaving(
    connection: Connection, prefix: Namespace, through: str | None
) -> dict[int, set[tuple[Namespace, str]]]:
    """Return the days whose pages are elsewhere once the namespaces in a prefix are distilled up to a month,
    by namespace. None: no month is distilled. A month that is distilled stays so."""
    known = distilled_months(connection)
    found = {}
    for namespace, path in namespaces(connection, prefix):
        before = known.get(namespace, "")
        if not before if through is None else before >= through:
            continue
        first, last = sorted((before, through or ""))
        rows = connection.execute(
            f"SELECT DISTINCT {_DAY} AS day FROM item i WHERE i.namespace = ? AND ({_DERIVED}) "
            f"AND i.status <> 'archived' AND substr({_DAY}, 1, 7) > ? AND substr({_DAY}, 1, 7) <= ?",
            (namespace, first, last),
        )
        found[namespace] = {(path, str(day)) for (day,) in rows}
    return found


def entities_by_item(connection: Connection, items: Iterable[int]) -> dict[str, tuple[Spoken, ...]]:
    """Return the people and things that each item speaks of, by its key."""
    rows = connection.execute(
        "SELECT i.key, coalesce(o.key, e.key), coalesce(o.name, e.name), e.name "
        "FROM carray(?) c CROSS JOIN mention m ON m.item = c.value CROSS JOIN item i ON i.id = m.item "
        "JOIN entity e ON e.id = m.entity LEFT JOIN entity o ON o.id = e.same_as ORDER BY i.id, 2, e.id",
        (connection.array(items),),
    )
    found: dict[str, dict[str, list[str]]] = {}
    for key, entity, *names in rows:
        found.setdefault(key, {}).setdefault(entity, []).extend(names)
    return {
        key: tuple(Spoken(entity, tuple(dict.fromkeys(names))) for entity, names in told.items())
        for key, told in found.items()
    }


def mark(connection: Connection, pages: Iterable[tuple[Namespace, str]]) -> None:
    """Note within a transaction that these pages do not say any more what the file says."""
    for path, day in pages:
        namespace = find(connection, path)
        connection.execute(
            "DELETE FROM stale_page WHERE namespace = ? AND day = ?", (namespace, day)
        )
        connection.execute(
            "INSERT INTO stale_page (namespace, day) VALUES (?, ?)", (namespace, day)
        )


def stale_pages(connection: Connection) -> tuple[set[tuple[Namespace, str]], int]:
    """Return the pages that were marked, and the newest mark, 0 where there is none."""
    rows = connection.execute(
        "SELECT n.path, s.day, s.id FROM stale_page s LEFT JOIN namespace n ON n.id = s.namespace"
    ).fetchall()
    pages = {(from_path(path), day) for path, day, _ in rows if path is not None}
    return pages, max((id for *_, id in rows), default=0)


def unmark(connection: Connection, newest: int) -> None:
    """Take back the marks up to this one: files follow them."""
    connection.execute("DELETE FROM stale_page WHERE id <= ?", (newest,))


def items_of_run(connection: Connection, run: str) -> list[int]:
    """Return the ids of the items that a run changed, or asked or decided about, and of those that had
    taken the place of one before it, or speak of somebody it linked. The pages that tell of them before
    the run and after are all that look otherwise since."""
    rows = connection.execute(
        "SELECT item FROM history WHERE run = ?1 "
        "UNION SELECT b.id FROM history h CROSS JOIN item i ON i.id = h.item CROSS JOIN item b "
        "ON b.namespace = i.namespace AND b.key = h.facets ->> '$.superseded_by' WHERE h.run = ?1 "
        "UNION SELECT i.id FROM (SELECT namespace, items FROM review WHERE run = ?1 "
        "UNION ALL SELECT namespace, items FROM review WHERE decided_run = ?1) r "
        "CROSS JOIN json_each(r.items) k "
        "CROSS JOIN item i ON i.namespace = r.namespace AND i.key = k.value "
        "UNION SELECT m.item FROM run r CROSS JOIN json_each(r.links) k CROSS JOIN entity e "
        "ON e.namespace = r.namespace AND e.key = k.key CROSS JOIN mention m ON m.entity = e.id "
        "WHERE r.id = ?1",
        (run,),
    )
    return [int(item) for (item,) in rows]


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
WHERE ({_DERIVED}) AND {_DAY} IS NOT NULL
"""


_RETOLD: Final = f"""
WITH RECURSIVE near (id) AS (
    SELECT value FROM carray(?)
    UNION SELECT v.item FROM near n CROSS JOIN evidence v ON v.source = n.id
)
SELECT DISTINCT p.id, p.path, i.value ->> '$.first_day' FROM near n
CROSS JOIN item i ON i.id = n.id CROSS JOIN namespace p ON p.id = i.namespace
WHERE {IS_NODE.format("i")} AND i.value ->> '$.level' IN ('day', 'month')
"""


def facts_of_days(
    connection: Connection, namespace: int, path: Namespace, days: Collection[str] | None
) -> list[DerivedRow]:
    """Return facts told on these days (None: ever) that are not rejected, in the order it was told."""
    source, chosen, bindings = "item i", "", cast("tuple[Any, ...]", (namespace,))
    if days is not None:
        source = "carray(?) c CROSS JOIN item i ON i.id = c.value"
        chosen = f"AND {_BEGINS} IN (SELECT value FROM carray(?))"
        told = _told_on(connection, namespace, days) if days else ()
        if not told:
            return []
        bindings = (connection.array(told), namespace, connection.text_array(tuple(days)))
    rows = connection.execute(
        f"SELECT i.key, i.value, {_DAY} AS day, i.owner, i.privacy, i.status, i.invalid_at, "
        "(SELECT b.value ->> '$.said_at' FROM item b "
        " WHERE b.namespace = i.namespace AND b.key = i.superseded_by), "
        "(SELECT t.name FROM evidence v JOIN item o ON o.id = v.source "
        " JOIN thread t ON t.id = o.thread WHERE v.item = i.id ORDER BY v.source LIMIT 1), "
        "(SELECT min(v.source) FROM evidence v WHERE v.item = i.id) AS source "
        f"FROM {source} WHERE i.namespace = ? AND ({_DERIVED}) AND i.status <> 'archived' "
        f"{chosen} AND {_DAY} IS NOT NULL ORDER BY day, source, i.id",
        bindings,
    )
    found = []
    for key, text, told_on, owner, privacy, status, invalid_at, replaced_at, thread, _ in rows:
        value = from_json(text)
        until = by_clock(invalid_at, replaced_at, value.get("said_at"))
        found.append(DerivedRow(path, key, value, told_on, owner, privacy, status, until, thread))
    return found


def _told_on(connection: Connection, namespace: int, days: Collection[str]) -> set[int]:
    """Return the items that may say they were told on one of these days: by the index of leaves, where a
    string too long for it stands without its words."""
    spans: list[tuple[LeafValue, LeafValue]] = [(LONG, LONG)]
    spans += [(day, day + chr(sys.maxunicode)) for day in days]
    found: set[int] = set()
    for span in spans:
        rows = connection.execute(
            "SELECT l.item FROM path p CROSS JOIN leaf l ON l.path = p.id WHERE p.name = 'said_at' "
            "AND l.value >= ? AND l.value <= ? AND l.namespace = ?",
            (*span, namespace),
        )
        found.update(item for (item,) in rows)
    return found


def superseded_facts(
    connection: Connection, namespace: int, by: Iterable[str]
) -> list[ReplacedRow]:
    """Return facts that gave way to these."""
    rows = connection.execute(
        "SELECT i.key, i.superseded_by, i.value, i.owner, i.privacy FROM carray(?) c "
        "CROSS JOIN item i INDEXED BY item_successor "
        "ON i.namespace = ? AND i.superseded_by = c.value "
        "WHERE i.status <> 'active' AND i.key GLOB 'fact/*' ORDER BY i.id",
        (connection.text_array(tuple(by)), namespace),
    )
    return [ReplacedRow(key, by, from_json(value), *rest) for key, by, value, *rest in rows]


def questions(connection: Connection, namespace: int, about: Iterable[str]) -> list[QuestionRow]:
    """Return the open reviews about any of these facts, with all that they are about, in their order. One
    about a memory that is gone is left out, since a question may quote it."""
    rows = connection.execute(
        "SELECT r.id, r.question, i.key, i.value, i.owner, i.privacy FROM review r "
        "CROSS JOIN json_each(r.items) k CROSS JOIN item i "
        "ON i.namespace = r.namespace AND i.key = k.value WHERE r.namespace = ? "
        "AND r.decision IS NULL AND EXISTS (SELECT 1 FROM json_each(r.items) o "
        "WHERE o.value IN (SELECT value FROM carray(?))) AND i.key GLOB 'fact/*' "
        "AND NOT EXISTS (SELECT 1 FROM json_each(r.items) g LEFT JOIN item a "
        "ON a.namespace = r.namespace AND a.key = g.value WHERE a.id IS NULL) "
        "ORDER BY r.opened_at, r.id, k.key",
        (namespace, connection.text_array(tuple(about))),
    )
    return [
        QuestionRow(review, question, key, from_json(value), owner, privacy)
        for review, question, key, value, owner, privacy in rows
    ]


MOST: Final = 500
"""Changes that are told, the newest."""

RUNS: Final = 200
"""Runs that are looked at, the newest."""

_ROWS: Final = """
    SELECT h.at, r.note ->> '$.night', h.action, i.value, h.before, coalesce(h.reason, r.reason),
    i.owner, i.privacy, h.facets ->> '$.privacy' FROM (
        SELECT id, note, reason FROM run WHERE namespace = ? AND kind = 'maintenance'
        AND undone_by IS NULL ORDER BY at DESC LIMIT ?
    ) r CROSS JOIN history h ON h.run = r.id CROSS JOIN item i ON i.id = h.item
    WHERE i.kind IN ('semantic', 'procedural', 'archival')
    ORDER BY h.seq DESC LIMIT ?"""


def namespaces_of_nights(connection: Connection) -> list[Namespace]:
    """Return the namespaces that nights have changed."""
    rows = connection.execute(
        "SELECT DISTINCT n.path FROM run r JOIN namespace n ON n.id = r.namespace "
        "WHERE r.kind = 'maintenance' ORDER BY n.path"
    )
    return [from_path(row[0]) for row in rows]


def rows_of_nights(connection: Connection, namespace: Namespace) -> list[DreamRow]:
    """Return what nights that stand changed in a namespace, the newest first. What is gone is not told,
    and of what was private to others before only that it is theirs now."""
    found = connection.execute(_ROWS, (find(connection, namespace) or 0, RUNS, MOST))
    return [
        DreamRow(
            day=f"{from_us(at):%Y-%m-%d}",
            night=str(night or ""),
            action=action,
            text=_text(value),
            summary_of=_summary_of(value),
            before="" if was_privacy not in (None, privacy) else _text(before),
            reason=str(reason or ""),
            owner=owner,
            privacy=privacy,
        )
        for at, night, action, value, before, reason, owner, privacy, was_privacy in found
    ]


def _summary_of(value: str) -> str:
    told = from_json(value)
    return f"{told['level']} {told['period']}" if "level" in told and "period" in told else ""


def _text(value: str | None) -> str:
    told: Any = from_json(value) if value else {}
    text = told.get("text", told.get("content")) if isinstance(told, dict) else None
    return text[:300] if isinstance(text, str) else ""
