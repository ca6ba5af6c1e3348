"""Rows beside the items as plain rows, and back: runs, entities, evidence, usage, reviews, and
what stood beside those that a run removed.

Rows name items, entities and runs by key, so that they mean the same in every file. One whose item
or entity is not there is left out; one that is there already changes nothing. Nor is a run undone
here because it was in the file that the rows come from: what it did is still here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from langmemory.errors import ImportFormatError
from langmemory.ledger import evidence, graph_writing, items, removal, runs, usage
from langmemory.ledger.connection import Connection
from langmemory.ledger.namespaces import Bindings, below, find, from_path, intern, to_path
from langmemory.ledger.part_rows import registered
from langmemory.ledger.scopes import visible_to
from langmemory.ledger.tables import schema
from langmemory.ledger.tables.table import Table
from langmemory.ledger.values import from_us, to_us
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
"""Rows of each type that are not the rows of one table beside items."""
_RECORD: Final = ("run", "removed")
"""Types that tell what happened, not what is known."""


_KEYED: Final = (schema.ITEM.name, schema.ENTITY.name)
"""Tables whose rows have a key, by which an export names them."""
_TELLING: Final = tuple(
    table.name
    for table in schema.tables()
    if "run" in table.ids_of("run")
    and (table.saying("name") or table.saying("aside"))
    and not table.beside
)
"""Types that tell something in words of their own."""


class _Beside:
    """A table of rows beside items, as rows of an export that name items and entities by their keys."""

    def __init__(self, table: Table) -> None:
        self.table = table
        counted = table.of_type("counter", "serial")
        self.columns = [one for one in table.columns if one.name not in (table.item, *counted)]
        self.keyed = [one for one in self.columns if one.of in _KEYED]
        """Those that name another item, or an entity."""
        self.for_viewers = table.beside == "item" and all(one.of == "item" for one in self.keyed)
        """Whether it leads to nothing but items. Names and claims may stem from memories that a viewer
        cannot read."""
        names = ", ".join((table.item, *(one.name for one in self.columns)))
        marks = [f"?{n + 1}" for n in range(1 + len(self.columns))]
        new = "TRUE"
        if counted:  # nothing else keeps a row from being there twice
            same = [
                f"{one.name} IS {mark}"
                for one, mark in zip(self.columns, marks[1:], strict=True)
                if one.of != "run"
            ]
            there = " AND ".join((f"{table.item} = ?1", *same))
            new = f"NOT EXISTS (SELECT 1 FROM {table.name} WHERE {there})"
        self.insert = (
            f"INSERT OR IGNORE INTO {table.name} ({names}) SELECT {', '.join(marks)} WHERE {new}"
        )

    def of_removed(self, connection: Connection, item: int) -> list[list[Any]]:
        """Return the rows of an item that was removed, in the order of `columns`. One that names another item
        or an entity that is not there is left out."""
        shown, joins, there = [], [], [f"r.{self.table.item} = ?"]
        for n, one in enumerate(self.columns):
            shown.append(f"k{n}.key" if one in self.keyed else f"r.{one.name}")
            if one in self.keyed:
                joins.append(f"LEFT JOIN {one.of} k{n} ON k{n}.id = r.{one.name}")
                there.append(f"(r.{one.name} IS NULL OR k{n}.id IS NOT NULL)")
        sql = (
            f"SELECT {', '.join(shown)} FROM {self.table.name} r {' '.join(joins)} "
            f"WHERE {' AND '.join(there)} ORDER BY {', '.join(f'r.{name}' for name in self.table.id)}"
        )
        return [list(row) for row in connection.execute(sql, (item,))]

    def query(self, here: str, viewer: str | None) -> tuple[str, Bindings]:
        """Return the query for the rows of items that a viewer may know of, in namespaces ``n``."""
        seen = visible_to(viewer, "i")
        conditions, bindings = [seen.sql], [*seen.bindings]
        shown, joins = ["n.path", "i.key"], [f"JOIN item i ON i.id = r.{self.table.item}"]
        for n, one in enumerate(self.columns):
            if one not in self.keyed:
                shown.append(f"r.{one.name}")
                continue
            shown.append(f"k{n}.key AS {one.name}")
            joins.append(f"{'LEFT ' * one.null}JOIN {one.of} k{n} ON k{n}.id = r.{one.name}")
            if one.of == "item":
                seen = visible_to(viewer, f"k{n}")
                conditions.append(seen.sql)
                bindings += seen.bindings
        order = ", ".join(f"r.{name}" for name in self.table.id)
        return (
            f"SELECT {', '.join(shown)} FROM {self.table.name} r {' '.join(joins)} "
            f"JOIN namespace n ON n.id = i.namespace WHERE {here} AND {' AND '.join(conditions)} "
            f"ORDER BY {order}",
            tuple(bindings),
        )


@schema.cached_derivation
def _of_parts() -> dict[str, _Beside]:
    """Return the tables beside items that parts declare. Those of memory itself are in `_BESIDE`."""
    return {name: one for name, one in _beside_items().items() if schema.is_of_part(name)}


@schema.cached_derivation
def _beside_items() -> dict[str, _Beside]:
    found = (table for table in schema.beside_items() if table.exported and not table.outlives)
    return {table.name: _Beside(table) for table in found}


def row_types() -> frozenset[str]:
    """Return the types of rows that `import_row` takes."""
    return frozenset((*QUERIES, *_beside_items(), *registered()))


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
    here = f"n.id IN {namespaces}"
    queries: dict[str, tuple[str, Bindings]] = {}
    if viewer is None:
        queries |= {
            kind: (query.format(here=here), ())
            for kind, query in QUERIES.items()
            if history or kind not in _RECORD
        }
    for kind, beside in _beside_items().items():
        if (history or not beside.table.record) and (viewer is None or beside.for_viewers):
            queries[kind] = beside.query(here, viewer)
    for kind, (sql, seen) in queries.items():
        cursor = connection.execute(sql, (*bindings, *seen))
        names: list[str] = []
        for found in cursor:
            names = names or [column[0] for column in cursor.description]
            row = dict(zip(names, found, strict=True))
            if kind == "removed":
                row |= _dependent_rows(connection, row.pop("item"))
            for name in row.keys() & set(_TIMES):
                row[name] = from_us(row[name]).isoformat()
            for name in row.keys() & _JSON.keys():
                row[name] = json.loads(row[name])
            yield {"type": kind, "namespace": list(from_path(row.pop("path"))), **row}
    if viewer is None:
        for rows in registered().values():
            yield from rows.export_rows(connection, prefix, history=history)


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


def _dependent_rows(connection: Connection, item: int) -> dict[str, Any]:
    found = {
        name: [list(row) for row in connection.execute(query, (item,))]
        for name, query in _BESIDE.items()
    }
    for row in found["evidence"]:
        row[1] = None if row[1] is None else from_us(row[1]).isoformat()
    for name, beside in _of_parts().items():
        if rows := beside.of_removed(connection, item):
            found[name] = rows
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
        elif (rows := registered().get(kind)) is not None:
            rows.import_row(self.connection, self.namespace, row)
        elif kind == "entity":
            if self._entity(row["key"]) is None:
                graph_writing.add_entity(
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
                graph_writing.add_aliases(self.connection, namespace, entity, names, row["run"])
        elif kind == "removed":
            if (removed := self._removed_item(row["key"], row["at"])) is not None:
                self._add_dependent_rows(removed, row)
        elif (item := self._item(row["key"])) is not None:
            self._of_item(_beside_items()[kind], item, row)

    def _whole(self, table: str, row: Row) -> None:
        columns = {name: found for name, found in row.items() if name != "type"}
        columns |= {
            name: to_us(datetime.fromisoformat(row[name])) for name in _TIMES if name in row
        }
        for name in _JSON.keys() & row.keys():
            if not isinstance(row[name], _JSON[name]):
                raise TypeError(f"{name} is {row[name]!r:.40}")
            columns[name] = json.dumps(row[name], ensure_ascii=False, separators=(",", ":"))
        names = schema.table(table).names
        columns["namespace"] = intern(self.connection, self.namespace)
        self.connection.execute(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
            "ON CONFLICT DO NOTHING",
            [columns[name] for name in names],
        )

    def _link(self, row: Row) -> None:
        entity = self._entity(row["key"])
        if entity is None or graph_writing.link_of(self.connection, entity) != (None, None):
            return
        target = None if row["same_as"] is None else self._entity(row["same_as"])
        if target is None or not graph_writing.leads_to(self.connection, target, entity):
            graph_writing.link(self.connection, entity, target, row["run"])

    def _of_item(self, beside: _Beside, item: int, row: Row) -> None:
        columns = {one.name: row[one.name] for one in beside.columns}
        named = {item}
        for one in beside.keyed:
            key = columns[one.name]
            if key is None and one.null:
                continue
            found = self._entity(key) if one.of == "entity" else self._item(key)
            if found is None or (one.of == "item" and found in named):
                return
            columns[one.name] = found
            named |= {found} if one.of == "item" else set()
        self.connection.execute(beside.insert, (item, *columns.values()))

    def _item(self, key: str) -> int | None:
        return items.find(self.connection, self.namespace, key)

    def _removed_item(self, key: str, at: str) -> int | None:
        """Return the id of an item that a run removed at this time, and that is not back."""
        found = self.connection.execute(
            "SELECT h.item FROM namespace n JOIN history h ON h.namespace = n.id "
            f"WHERE n.path = ? AND h.key = ? AND h.at = ? AND {removal.RESTORABLE}",
            (to_path(self.namespace), key, to_us(datetime.fromisoformat(at))),
        ).fetchone()
        return None if found is None else int(found[0])

    def _add_dependent_rows(self, item: int, row: Row) -> None:
        """See `_BESIDE`."""
        for key, removed_at, run in row["evidence"]:
            source = (
                items.find(self.connection, self.namespace, key)
                if removed_at is None
                else self._removed_item(key, removed_at)
            )
            evidence.add(self.connection, item, _as_list(source), run)
        for key, run in row["evidence_for"]:
            derived = items.find(self.connection, self.namespace, key)
            if derived is not None:
                evidence.add(self.connection, derived, [item], run)
        for key, run in row["mentions"]:
            graph_writing.mention(self.connection, item, _as_list(self._entity(key)), run)
        for subject, relation, thing, literal, run in row["edges"]:
            self._edge(item, subject, relation, thing, literal, run)
        for (run,) in row["reflected"]:
            evidence.mark_reflected(self.connection, [item], run)
        for count in row["usage"]:
            usage.restore(self.connection, item, count)
        for name, beside in _of_parts().items():
            for values in row.get(name, ()):
                named = zip((one.name for one in beside.columns), values, strict=True)
                self._of_item(beside, item, dict(named))

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
            graph_writing.add_edge(self.connection, item, known, relation, object, literal, run)

    def _entity(self, key: str) -> int | None:
        namespace = find(self.connection, self.namespace)
        if namespace is None:
            return None
        return graph_writing.find_entity(self.connection, namespace, key)


def _as_list(found: int | None) -> list[int]:
    return [] if found is None else [found]
