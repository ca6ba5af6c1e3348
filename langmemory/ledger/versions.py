"""Texts of items at a time, where they say something else by now or are gone."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from langmemory.ledger import scopes
from langmemory.ledger.connection import Connection
from langmemory.ledger.filters import matches
from langmemory.ledger.history import CLAIMS, shown_facets
from langmemory.ledger.items import FIELDS, memory_of, without_heir
from langmemory.ledger.namespaces import below, find, find_thread, from_path, holds_few, to_path
from langmemory.ledger.scopes import compile_scope, open_past, visible_to
from langmemory.ledger.tables.facets import AT_FIRST, COUNTED
from langmemory.ledger.tables.schema import ITEM
from langmemory.ledger.values import from_us, to_us
from langmemory.types import Memory, Namespace, Scope
from langmemory.values import from_json

_COLUMNS: Final = (*AT_FIRST, *COUNTED)


_UNUSED: Final = {name: ITEM.column(name).default for name in COUNTED}


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """An item as it was."""

    item: int
    """Id of the item, which may be gone."""
    path: str
    """Of the namespace."""
    key: str
    value: dict[str, Any]
    said: str
    """The value as JSON."""
    columns: Mapping[str, Any]
    """Columns of the item, as then; times in microseconds."""
    thread: int | None
    """Its thread, if there still is one."""
    thread_id: str | None
    position: int | None
    tokens: bool | None
    """Whether its tokens are kept, for late interaction; of an item that is gone nobody knows."""
    claims: Mapping[str, Any] = field(default_factory=dict)
    """Its claims in the graph (`graph_rows.claims_of`), where that is there no more."""

    @property
    def namespace(self) -> Namespace:
        return from_path(self.path)

    def memory(self) -> Memory:
        """As it would have been read."""
        was = self.columns
        own = {
            "id": self.item,
            "namespace": self.path,
            "key": self.key,
            "value": self.said,
            "thread_id": self.thread_id,
            "position": self.position,
        }
        return memory_of({**{name: was[name] for name in FIELDS if name in was}, **own})  # fmt: skip


def versions(
    connection: Connection, scope: Scope, now_us: int, *, alive_at_us: int | None = None
) -> list[Version]:
    """Return the items in a scope with ``known_at`` that have another value since, or none, in the
    order of their ids. What was forgotten, or has expired, the history holds no more; of what was
    deleted before its TTL ended is left out once that has ended, also before a sweep comes by.

    A viewer gets what was open to them then and is now; of what is gone, what was at no time private
    to somebody else.
    """
    return [
        one
        for one in _every(connection, scope, now_us, alive_at_us)
        if (scope.filter is None or matches(one.value, scope.filter))
        and (one.namespace, one.key) not in scope.given
    ]


def departed_versions(
    connection: Connection, scope: Scope, now_us: int, *, alive_at_us: int | None
) -> list[Version]:
    """Return the items that claimed something then that the graph does not hold any more: those of the
    `versions` whose items are gone, or say something else by a person's hand."""
    return [one for one in _every(connection, scope, now_us, alive_at_us) if one.claims]


def _every(
    connection: Connection, scope: Scope, now_us: int, alive_at_us: int | None
) -> list[Version]:
    """Return the `versions` in a scope, its filter and what was given left aside."""
    assert scope.known_at is not None
    known_at = to_us(scope.known_at)
    every = (
        *_replaced_versions(connection, scope, known_at),
        *_deleted_versions(connection, scope, known_at, now_us),
    )
    return within(connection, scope, alive_at_us, _as_then(connection, every, known_at))


def _as_then(
    connection: Connection, versions: Iterable[Version], known_at: int
) -> Iterable[Version]:
    """With the columns of then."""
    found = {one.item: one for one in versions}
    told = _columns_at(connection, found, known_at)
    changed = _change_times(connection, found, known_at)
    for item, one in found.items():
        # What the changes since replaced; else as it is, or was at the end.
        was = told[item]
        columns = {**one.columns, **{name: was[name] for name in was.keys() & one.columns.keys()}}
        # Not what they replaced: a put, which keeps no facets, may be the first of them.
        columns["updated_at"] = changed.get(item, columns["created_at"])
        found[item] = replace(
            one, columns=columns, thread_id=was.get("thread_id", one.thread_id),
            position=was.get("position", one.position), claims=was.get(CLAIMS, {}),
        )  # fmt: skip
        if found[item].thread is None and found[item].thread_id is not None:
            found[item] = replace(found[item], thread=_thread(connection, found[item]))
    return found.values()


def _thread(connection: Connection, one: Version) -> int | None:
    namespace = find(connection, one.namespace)
    return None if namespace is None else find_thread(connection, namespace, one.thread_id or "")


FEW_ITEMS: Final = 1_000
"""Of a namespace with at most so many, as of one of many people, all items and those that are gone are
looked at, instead of everything that happened in the file since."""


def _since(
    connection: Connection, namespace: Namespace, known_at: int
) -> tuple[str, tuple[Any, ...]]:
    """Return a common table, ``since``, with the items of a namespace that changed after a time, and
    others."""
    if holds_few(connection, namespace, FEW_ITEMS):
        namespaces, labels = below(namespace)
        source = (
            f"SELECT id FROM item WHERE namespace IN {namespaces} UNION "
            "SELECT item FROM history INDEXED BY history_gone "
            f"WHERE namespace IN {namespaces} AND key IS NOT NULL"
        )
        bindings: tuple[Any, ...] = (*labels, *labels)
    else:
        source = "SELECT DISTINCT item FROM history WHERE at > ? AND action <> 'add'"
        bindings = (known_at,)
    return f"WITH since (item) AS MATERIALIZED ({source}) ", bindings


def _replaced_versions(connection: Connection, scope: Scope, known_at: int) -> list[Version]:
    namespaces, labels = below(scope.namespace)
    visible = visible_to(scope.viewer)
    columns = ", ".join(f"r.{name}" for name in _COLUMNS)
    since, some = _since(connection, scope.namespace, known_at)
    rows = connection.execute(
        f"{since}SELECT r.id, n.path, r.key, r.said, t.name, r.thread, "
        f"r.position, r.tokens IS NOT NULL, {columns} FROM ("
        f"SELECT i.*, {scopes.value_before('i.id')} AS said FROM since s CROSS JOIN item i ON i.id = s.item "
        f"WHERE i.namespace IN {namespaces} AND {visible.sql}) r "
        "CROSS JOIN namespace n ON n.id = r.namespace LEFT JOIN thread t ON t.id = r.thread "
        "WHERE r.said IS NOT NULL AND (r.said <> r.value OR r.created_at > ?)",
        (*some, known_at, *labels, *visible.bindings, known_at),
    )
    return [
        Version(
            item=row[0], path=row[1], key=row[2], value=from_json(row[3]), said=row[3],
            thread_id=row[4], thread=row[5], position=row[6],
            tokens=bool(row[7]), columns=dict(zip(_COLUMNS, row[8:], strict=True)),
        )
        for row in rows
    ]  # fmt: skip


def _deleted_versions(
    connection: Connection, scope: Scope, known_at: int, now_us: int
) -> list[Version]:
    """One for each name, the last: an import may have brought an item that was here before. What is
    there tells of that time, unless what it said then is forgotten."""
    namespaces, labels = below(scope.namespace)
    since, some = _since(connection, scope.namespace, known_at)
    rows = connection.execute(
        f"{since}SELECT * FROM (SELECT g.item, n.path, g.key, {scopes.value_before('g.item')} AS said, "
        "(SELECT min(a.at) FROM history a WHERE a.item = g.item AND a.action = 'add') AS begun "
        "FROM since s CROSS JOIN history g ON g.item = s.item AND g.key IS NOT NULL "
        "CROSS JOIN namespace n ON n.id = g.namespace "
        f"WHERE g.namespace IN {namespaces} "
        "AND coalesce(CAST(g.facets ->> '$.expires_at' AS INTEGER) > ?, TRUE) AND NOT EXISTS "
        "(SELECT 1 FROM item i WHERE i.namespace = g.namespace AND i.key = g.key "
        f"AND {scopes.column('created_at')} <= ? AND {scopes.TOLD})) r "
        "WHERE r.begun <= ? AND r.said IS NOT NULL ORDER BY r.item",
        (*some, known_at, *labels, now_us, known_at, known_at, known_at, known_at),
    ).fetchall()
    last = {(row[1], row[2]): row for row in rows}
    return [
        Version(
            item=item, path=path, key=key, value=from_json(said), said=said,
            columns={**AT_FIRST, **_UNUSED, "created_at": begun, "updated_at": begun},
            thread=None, thread_id=None, position=None, tokens=None,
        )
        for item, path, key, said, begun in last.values()
        if open_past(connection, item, scope.viewer)
    ]  # fmt: skip


def _columns_at(
    connection: Connection, items: Iterable[int], known_at: int
) -> defaultdict[int, dict[str, Any]]:
    """Return the columns of items at a time, as far as later changes replaced them."""
    rows = connection.execute(
        "SELECT h.item, h.facets FROM carray(?) c CROSS JOIN history h ON h.item = c.value "
        "WHERE h.at > ? AND h.facets IS NOT NULL ORDER BY h.item, h.at, h.seq",
        (connection.array(items), known_at),
    )
    found: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for item, facets in rows:
        found[item] = {**from_json(facets), **found[item]}
    return found


def _change_times(connection: Connection, items: Iterable[int], known_at: int) -> dict[int, int]:
    """Return when these items were last changed, at most at a time."""
    rows = connection.execute(
        "SELECT h.item, max(h.at) FROM carray(?) c CROSS JOIN history h ON h.item = c.value "
        "WHERE h.at <= ? GROUP BY h.item",
        (connection.array(items), known_at),
    )
    return dict(rows.fetchall())


_IN_ROW: Final = "j.value ->> '$.{}'"


def within(
    connection: Connection, scope: Scope, alive_at_us: int | None, found: Iterable[Version]
) -> list[Version]:
    """Return those in scope, by their columns as then."""
    place = to_path(scope.namespace) if scope.exact else None
    versions = sorted((one for one in found if place in (None, one.path)), key=lambda one: one.item)
    # The value is asked by itself: its leaves are those of today. Who was given what, likewise.
    then = replace(scope, exact=False, filter=None, given=frozenset())
    compiled = compile_scope(then, alive_at_us=alive_at_us, as_then=True)
    rows = [
        {"id": one.item, "key": one.key, **{name: one.columns[name] for name in _COLUMNS}}
        for one in versions
    ]
    names = ("id", "key", *_COLUMNS)
    columns = ", ".join(f"{scopes.cast_column(one, _IN_ROW.format(one))} AS {one}" for one in names)
    passed = connection.execute(
        f"SELECT i.place FROM (SELECT CAST(j.key AS INTEGER) AS place, {columns} FROM json_each(?) j) i "
        f"WHERE {compiled.where} ORDER BY i.place",
        (json.dumps(rows, ensure_ascii=False), *compiled.bindings),
    )
    return [versions[place] for (place,) in passed]


def as_then(connection: Connection, memories: Iterable[Memory], scope: Scope) -> list[Memory]:
    """Return the memories that say what they said at ``scope.known_at``, with their facets of then."""
    assert scope.known_at is not None
    known_at = to_us(scope.known_at)
    found = {one.id: one for one in memories}
    told = _columns_at(connection, found, known_at)
    changed = _change_times(connection, told, known_at)
    for item, columns in told.items():
        one = found[item]
        facets = {name: was for name, was in shown_facets(columns).items() if name in AT_FIRST}
        updated = from_us(changed[item]) if item in changed else one.created_at
        found[item] = replace(one, updated_at=updated, **facets)
    return [without_heir(connection, one, scope.viewer) for one in found.values()]
