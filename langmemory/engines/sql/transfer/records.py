"""Rows beside the items as plain rows, and back: runs, entities, evidence, usage, reviews, and
what stood beside those that a run removed.

Rows name items, entities and runs by key, so that they mean the same in every file. One whose item
or entity is not there is left out; one that is there already changes nothing. Nor is a run undone
here because it was in the file that the rows come from: what it did is still here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from langmemory.engines.sql.graph import graph_rows
from langmemory.engines.sql.records import evidence, items, removal, runs, usage
from langmemory.engines.sql.scope.ownership import visible_to
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.namespaces import below, find, from_path, intern, to_path
from langmemory.engines.sql.tables.times import from_us, to_us
from langmemory.engines.sql.transfer import secret_rows
from langmemory.errors import ImportFormatError
from langmemory.types import Namespace

Row = Mapping[str, Any]

QUERIES: Final[Mapping[str, str]] = {
    "run": (
        "SELECT n.path, r.id, r.kind, r.at, r.reason, r.note, r.links, r.undone_by "
        "FROM run r JOIN namespace n ON n.id = r.namespace WHERE {here} ORDER BY r.at, r.id"
    ),
    "entity": (
        "SELECT n.path, e.key, e.name, e.kind, e.run "
        "FROM entity e JOIN namespace n ON n.id = e.namespace WHERE {here} ORDER BY e.id"
    ),
    "link": (
        "SELECT n.path, e.key, s.key AS same_as, e.link_run AS run FROM entity e "
        "JOIN namespace n ON n.id = e.namespace LEFT JOIN entity s ON s.id = e.same_as "
        "WHERE {here} AND e.link_run IS NOT NULL ORDER BY e.id"
    ),
    "alias": (
        "SELECT n.path, e.key AS entity, a.norm, a.name, a.run FROM namespace n "
        "CROSS JOIN entity e ON e.namespace = n.id CROSS JOIN alias a ON a.entity = e.id "
        "WHERE {here} ORDER BY a.entity, a.norm"
    ),
    "evidence": (
        "SELECT n.path, i.key, s.key AS source, v.run FROM evidence v JOIN item i ON i.id = v.item "
        "JOIN item s ON s.id = v.source JOIN namespace n ON n.id = i.namespace "
        "WHERE {here} AND {i} AND {s} ORDER BY v.item, v.source"
    ),
    "mention": (
        "SELECT n.path, i.key, e.key AS entity, m.run FROM mention m JOIN item i ON i.id = m.item "
        "JOIN entity e ON e.id = m.entity JOIN namespace n ON n.id = i.namespace "
        "WHERE {here} ORDER BY m.item, m.entity"
    ),
    "edge": (
        "SELECT n.path, i.key, s.key AS subject, g.relation, o.key AS object, g.literal, g.run "
        "FROM edge g JOIN item i ON i.id = g.fact JOIN entity s ON s.id = g.subject "
        "LEFT JOIN entity o ON o.id = g.object JOIN namespace n ON n.id = i.namespace "
        "WHERE {here} ORDER BY g.id"
    ),
    "reflected": (
        "SELECT n.path, i.key, f.run FROM reflected f JOIN item i ON i.id = f.item "
        "JOIN namespace n ON n.id = i.namespace WHERE {here} ORDER BY f.item"
    ),
    "usage": (
        "SELECT n.path, i.key, u.loaded, u.referenced, u.succeeded, u.read_tokens, "
        "u.discovery_tokens FROM usage u JOIN item i ON i.id = u.item "
        "JOIN namespace n ON n.id = i.namespace WHERE {here} AND {i} ORDER BY u.item"
    ),
    "citation": (
        "SELECT n.path, i.key, c.matched, c.relevance, c.used_at FROM citation c "
        "JOIN item i ON i.id = c.item JOIN namespace n ON n.id = i.namespace "
        "WHERE {here} AND {i} ORDER BY c.item"
    ),
    "removed": (
        "SELECT n.path, h.key, h.at, h.item FROM history h JOIN namespace n ON n.id = h.namespace "
        f"WHERE {{here}} AND {removal.RESTORABLE} ORDER BY h.seq"
    ),
    "review": (
        "SELECT n.path, v.id, v.about, v.question, v.items, v.options, v.run, v.opened_at, "
        "v.decision, v.decided_run FROM review v JOIN namespace n ON n.id = v.namespace "
        "WHERE {here} ORDER BY v.opened_at, v.id"
    ),
}
"""Rows of each type, in an order in which an import finds what they name."""

RECORD: Final = frozenset({"run", "reflected", "usage", "citation", "removed"})
"""Types that tell what happened, not what is known."""
FOR_VIEWERS: Final = frozenset({"evidence", "usage", "citation"})
"""Types that lead to nothing but items. Names, claims, notes and questions may stem from memories
a viewer cannot read."""

_TELLING: Final = frozenset({"entity", "alias", "review"})
"""Types that tell something in words of their own."""

_TIMES: Final = ("at", "opened_at")
_JSON: Final[Mapping[str, type]] = {"note": dict, "links": dict, "items": list, "options": dict}


def export_rows(
    connection: Connection, prefix: Namespace, viewer: str | None, *, history: bool
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a namespace and below it.

    Args:
        prefix: ``()`` is the whole file.
        viewer: Who gets them; None is the application. Others get `FOR_VIEWERS` only.
        history: With the `RECORD`.
    """
    namespaces, bindings = below(prefix)
    item, source = visible_to(viewer, "i"), visible_to(viewer, "s")
    for kind, query in QUERIES.items():
        if (viewer is not None and kind not in FOR_VIEWERS) or (kind in RECORD and not history):
            continue
        sql = query.format(here=f"n.id IN {namespaces}", i=item.sql, s=source.sql)
        seen = {
            "evidence": (*item.bindings, *source.bindings),
            "usage": item.bindings,
            "citation": item.bindings,
        }
        cursor = connection.execute(sql, (*bindings, *seen.get(kind, ())))
        names: list[str] = []
        for found in cursor:
            names = names or [column[0] for column in cursor.description]
            row = dict(zip(names, found, strict=True))
            if kind == "removed":
                row |= _beside(connection, row.pop("item"))
            for name in row.keys() & set(_TIMES):
                row[name] = from_us(row[name]).isoformat()
            for name in row.keys() & _JSON.keys():
                row[name] = json.loads(row[name])
            yield {"type": kind, "namespace": list(from_path(row.pop("path"))), **row}
    if viewer is None:
        yield from secret_rows.export_rows(connection, prefix, history=history)


_REMOVED: Final = f"history h ON h.item = {{0}} AND {removal.RESTORABLE}"

_BESIDE: Final[Mapping[str, str]] = {
    "evidence": (
        "SELECT coalesce(s.key, h.key), h.at, v.run FROM evidence v LEFT JOIN item s "
        f"ON s.id = v.source LEFT JOIN {_REMOVED.format('v.source')} "
        "WHERE v.item = ? ORDER BY v.source"
    ),
    "evidence_for": (
        "SELECT i.key, v.run FROM evidence v JOIN item i ON i.id = v.item "
        "WHERE v.source = ? ORDER BY v.item"
    ),
    "mentions": (
        "SELECT e.key, m.run FROM mention m JOIN entity e ON e.id = m.entity "
        "WHERE m.item = ? ORDER BY m.entity"
    ),
    "edges": (
        "SELECT s.key, g.relation, o.key, g.literal, g.run FROM edge g JOIN entity s "
        "ON s.id = g.subject LEFT JOIN entity o ON o.id = g.object WHERE g.fact = ? ORDER BY g.id"
    ),
    "reflected": "SELECT run FROM reflected WHERE item = ?",
    "usage": (
        "SELECT loaded, referenced, succeeded, read_tokens, discovery_tokens FROM usage "
        "WHERE item = ?"
    ),
}
"""Rows beside an item that was removed and may be brought back. Evidence that was removed as
well is named with the time at which it was."""


def _beside(connection: Connection, item: int) -> dict[str, Any]:
    found = {
        name: [list(row) for row in connection.execute(query, (item,))]
        for name, query in _BESIDE.items()
    }
    for row in found["evidence"]:
        row[1] = None if row[1] is None else from_us(row[1]).isoformat()
    return found


def import_row(connection: Connection, row: Row, since: set[str]) -> None:
    """Take a row of `export_rows` back, within a transaction.

    Args:
        since: Ids of the forgettings of this file that the export does not tell of; those it does
            are taken out. While there are any, what a run named and asked of which no more may be
            told does not come back.

    Raises:
        ImportFormatError: It is not one.
    """
    wrong: tuple[type[Exception], ...] = (
        KeyError,
        OverflowError,
        TypeError,
        ValueError,
        *connection.constraint_errors,
    )
    try:
        _Import(connection, tuple(row["namespace"])).row(row, since)
        connection.flush()
    except wrong as error:
        raise ImportFormatError(
            f"A row of type {row['type']!r} is not from `langmemory export`: {error!r}."
        ) from error


class _Import:
    """Rows of one namespace, taken back."""

    def __init__(self, connection: Connection, namespace: Namespace) -> None:
        self.connection = connection
        self.namespace = namespace

    def row(self, row: Row, since: set[str]) -> None:
        kind = row["type"]
        if since and kind in _TELLING and runs.is_blank(self.connection, row["run"]):
            return
        if kind == "review":
            self._whole(kind, row)
        elif kind == "run":
            since.discard(row["id"])
            found = runs.find(self.connection, str(row["id"]))
            if found is None and not runs.undoes_what_stands(self.connection, str(row["id"])):
                self._whole(kind, row)
        elif kind == "secret":
            secret_rows.import_row(self.connection, self.namespace, row)
        elif kind == "entity":
            if self._entity(row["key"]) is None:
                graph_rows.add_entity(
                    self.connection,
                    intern(self.connection, self.namespace),
                    row["key"],
                    row["name"],
                    row["kind"],
                    row["run"],
                )
        elif kind == "link":
            self._link(row)
        elif kind == "alias":
            if (entity := self._entity(row["entity"])) is not None:
                names = [(row["norm"], row["name"])]
                namespace = intern(self.connection, self.namespace)
                graph_rows.add_aliases(self.connection, namespace, entity, names, row["run"])
        elif kind == "removed":
            if (removed := self._removed(row["key"], row["at"])) is not None:
                self._beside(removed, row)
        elif (item := items.find(self.connection, self.namespace, row["key"])) is not None:
            self._of_item(kind, item, row)

    def _whole(self, table: str, row: Row) -> None:
        columns = {name: found for name, found in row.items() if name != "type"}
        columns |= {
            name: to_us(datetime.fromisoformat(row[name])) for name in _TIMES if name in row
        }
        for name in _JSON.keys() & row.keys():
            if not isinstance(row[name], _JSON[name]):
                raise TypeError(f"{name} is {row[name]!r:.40}")
            columns[name] = json.dumps(row[name], ensure_ascii=False, separators=(",", ":"))
        names = _COLUMNS[table]
        columns["namespace"] = intern(self.connection, self.namespace)
        self.connection.execute(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
            "ON CONFLICT DO NOTHING",
            [columns[name] for name in names],
        )

    def _link(self, row: Row) -> None:
        entity = self._entity(row["key"])
        if entity is None or graph_rows.link_of(self.connection, entity) != (None, None):
            return
        target = None if row["same_as"] is None else self._entity(row["same_as"])
        if target is None or not graph_rows.leads_to(self.connection, target, entity):
            graph_rows.link(self.connection, entity, target, row["run"])

    def _of_item(self, kind: str, item: int, row: Row) -> None:
        if kind == "usage":
            usage.restore(self.connection, item, [row[name] for name in usage.COUNTS])
            return
        if kind == "citation":
            found = (row["matched"], row["relevance"], row["used_at"])
            usage.restore_citations(self.connection, item, found)
            return
        run = row["run"]
        if kind == "evidence":
            source = items.find(self.connection, self.namespace, row["source"])
            evidence.add(self.connection, item, _some(source), run)
        elif kind == "reflected":
            evidence.mark_reflected(self.connection, [item], run)
        elif kind == "mention":
            graph_rows.mention(self.connection, item, _some(self._entity(row["entity"])), run)
        elif kind == "edge":
            self._edge(item, row["subject"], row["relation"], row["object"], row["literal"], run)

    def _removed(self, key: str, at: str) -> int | None:
        """Return the id of an item that a run removed at this time, and that is not back."""
        found = self.connection.execute(
            "SELECT h.item FROM namespace n JOIN history h ON h.namespace = n.id "
            f"WHERE n.path = ? AND h.key = ? AND h.at = ? AND {removal.RESTORABLE}",
            (to_path(self.namespace), key, to_us(datetime.fromisoformat(at))),
        ).fetchone()
        return None if found is None else int(found[0])

    def _beside(self, item: int, row: Row) -> None:
        """See `_BESIDE`."""
        for key, removed_at, run in row["evidence"]:
            source = (
                items.find(self.connection, self.namespace, key)
                if removed_at is None
                else self._removed(key, removed_at)
            )
            evidence.add(self.connection, item, _some(source), run)
        for key, run in row["evidence_for"]:
            derived = items.find(self.connection, self.namespace, key)
            if derived is not None:
                evidence.add(self.connection, derived, [item], run)
        for key, run in row["mentions"]:
            graph_rows.mention(self.connection, item, _some(self._entity(key)), run)
        for subject, relation, thing, literal, run in row["edges"]:
            self._edge(item, subject, relation, thing, literal, run)
        for (run,) in row["reflected"]:
            evidence.mark_reflected(self.connection, [item], run)
        for count in row["usage"]:
            usage.restore(self.connection, item, count)

    def _edge(
        self,
        item: int,
        subject: str,
        relation: str,
        thing: str | None,
        literal: str | None,
        run: str,
    ) -> None:
        known, object = self._entity(subject), None if thing is None else self._entity(thing)
        if known is not None and (object is None) == (thing is None):
            graph_rows.add_edge(self.connection, item, known, relation, object, literal, run)

    def _entity(self, key: str) -> int | None:
        namespace = find(self.connection, self.namespace)
        if namespace is None:
            return None
        return graph_rows.find_entity(self.connection, namespace, key)


_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "run": ("id", "kind", "namespace", "at", "reason", "note", "links", "undone_by"),
    "review": (
        "id", "namespace", "about", "question", "items", "options", "run", "opened_at", "decision",
        "decided_run",
    ),
}  # fmt: skip


def _some(found: int | None) -> list[int]:
    return [] if found is None else [found]
