"""The scope of a read as SQL: the one place where a `Scope` becomes predicates, for a viewer and at a
time.

A viewer is a person, chosen by the application. ``None`` is the application itself, which may know of
everything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, get_args

from langmemory.errors import ConfigError
from langmemory.ledger.connection import Connection
from langmemory.ledger.filters import TRUE, Condition, Start, compile_filter, matches
from langmemory.ledger.namespaces import below, to_path
from langmemory.ledger.tables.facets import SQL_TYPES
from langmemory.ledger.tables.schema import ITEM
from langmemory.ledger.values import to_us
from langmemory.trust import at_least
from langmemory.types import Kind, Namespace, Scope
from langmemory.values import from_json

REVISED: Final = (
    "EXISTS (SELECT 1 FROM history h WHERE h.item = i.id AND h.at > ? AND h.facets IS NOT NULL)"
)
"""Whether a run changed columns of the item ``i`` after a time, in microseconds."""

_NEXT: Final = (
    "(SELECT {} FROM history h WHERE h.item = {} AND h.at > ? AND h.action <> 'add' "
    "ORDER BY h.at, h.seq LIMIT 1)"
)
"""Of the first change of an item after a time: its value before that is the one of the time."""

TOLD: Final = f"coalesce({_NEXT.format('h.before IS NOT NULL', 'i.id')}, TRUE)"
"""Whether it is still known what the item ``i`` said at a time: it was not, if it was taken out and
not yet brought back, or if what it said was forgotten."""

UNCHANGED: Final = f"coalesce({_NEXT.format('h.before IS i.value', 'i.id')}, TRUE)"
"""Whether the item ``i`` said at a time what it says now."""


def cast_column(name: str, found: str) -> str:
    """Return a column that was read from JSON, as the table has it: some databases read a text."""
    return f"CAST({found} AS {SQL_TYPES[name]})" if name in SQL_TYPES else f"({found})"


def value_before(item: str) -> str:
    """Return the value that an item had at a time and has no more, or that is forgotten: then it is
    NULL."""
    return _NEXT.format("h.before", item)


def column(name: str) -> str:
    """Return a column of ``i`` at a time, in microseconds: what the first change after it replaced,
    or what it is. As JSON until it is chosen, in which a column that was NULL is not one without
    a change."""
    told = f"h.facets -> '$.{name}'"
    found = (
        f"coalesce((SELECT {told} FROM history h WHERE h.item = i.id AND h.at > ? "
        f"AND {told} IS NOT NULL ORDER BY h.at, h.seq LIMIT 1), json_quote(i.{name})) ->> '$'"
    )
    return cast_column(name, found)


def columns(names: Iterable[str]) -> str:
    """Return a query of one row: these columns of ``i`` at a time, which is bound once for each."""
    return "SELECT " + ", ".join(f"{column(name)} AS {name}" for name in names)


READER: Final = "CASE i.privacy WHEN 'private' THEN coalesce(i.owner, '') END"
"""Who alone may know of an item: ``""`` is nobody, NULL everybody. What `visible_to` asks, as the
index ``item_reader`` has it."""


def is_visible(item: str, viewer: str) -> str:
    """Return whether a viewer, given by an expression, may know of rows of the table ``item``: 1 or 0,
    never NULL."""
    return f"({item}.privacy <> 'private' OR coalesce({item}.owner = nullif({viewer}, ''), FALSE))"


def visible_to(viewer: str | None, item: str = "i") -> Condition:
    """Return rows of the table ``item`` that a viewer may know of: 1 or 0, never NULL.

    Raises:
        ConfigError: The viewer is no string.
    """
    if viewer is None:
        return TRUE
    if not isinstance(viewer, str):  # SQLite would take 1 for "1" in one query and not in another
        raise ConfigError(
            f"viewer is {viewer!r:.80}; it must be the id of a person as a string, or None."
        )
    return Condition(is_visible(item, "?"), (viewer,))


def was_private(item: str, viewer: str) -> str:
    """Return whether an item, given by an expression for its id, was at any time the private memory of
    somebody else than a viewer, given by an expression. What was written about it then may quote it,
    whatever it says now."""
    return (
        f"EXISTS (SELECT 1 FROM history p LEFT JOIN item q ON q.id = p.item WHERE p.item = {item} AND "
        "'private' IN (p.before ->> '$.privacy', p.facets ->> '$.privacy') AND NOT coalesce("
        "coalesce(p.facets ->> '$.owner', p.before ->> '$.owner', q.owner) "
        f"= nullif({viewer}, ''), FALSE))"
    )


def past_is_open(item: str, viewer: str) -> str:
    """Return whether a viewer may see the history of an item, both given by expressions: the item
    itself, where it is still there, and that it was at no time the private memory of somebody else. Of
    what was forgotten nobody can say whose it was.

    What it was is told by its values, which say so themselves when they are not shared, and by the
    facets that the history keeps.
    """
    return (
        f"NOT EXISTS (SELECT 1 FROM item i WHERE i.id = {item} AND NOT {is_visible('i', viewer)}) "
        f"AND NOT EXISTS (SELECT 1 FROM history h WHERE h.item = {item} AND h.action = 'forget') "
        f"AND NOT {was_private(item, viewer)}"
    )


def open_past(connection: Connection, item: int, viewer: str | None) -> bool:
    """Return whether a viewer may see the history of an item, see `past_is_open`."""
    if viewer is None:
        return True
    row = connection.execute(f"SELECT {past_is_open('?1', '?2')}", (item, viewer)).fetchone()
    return bool(row[0])


def run_is_open(run: str, viewer: str) -> str:
    """Return whether a viewer may read why a run did what it did, both given by expressions: all that
    it changed, and what that was derived from, is there for them to read, and was at no time private
    to somebody else."""
    return (
        f"NOT EXISTS (WITH changed (item) AS (SELECT item FROM history WHERE run = {run}), "
        "touched (item) AS (SELECT item FROM changed UNION "
        "SELECT e.source FROM changed c JOIN evidence e ON e.item = c.item) "
        "SELECT 1 FROM touched t LEFT JOIN item i ON i.id = t.item "
        f"WHERE i.id IS NULL OR NOT {is_visible('i', viewer)} OR {was_private('t.item', viewer)})"
    )


def open_run(connection: Connection, run: str, viewer: str) -> bool:
    """Return whether a viewer may read why a run did what it did, see `run_is_open`."""
    row = connection.execute(f"SELECT {run_is_open('?1', '?2')}", (run, viewer)).fetchone()
    return bool(row[0])


def is_private_to_another(
    connection: Connection, namespace: Namespace, key: str, owner: str | None
) -> bool:
    """Return whether an item of this name is private and not this owner's, or was when it was
    deleted or expired. Of one that was forgotten nobody can say whose it was."""
    row = connection.execute(
        "SELECT i.privacy = 'private' AND i.owner IS NOT ?3 FROM namespace n "
        "JOIN item i ON i.namespace = n.id WHERE n.path = ?1 AND i.key = ?2 UNION ALL "
        "SELECT * FROM (SELECT coalesce(h.facets ->> '$.privacy' = 'private', FALSE) "
        "AND h.facets ->> '$.owner' IS NOT ?3 FROM namespace n "
        "JOIN history h ON h.namespace = n.id WHERE n.path = ?1 AND h.key = ?2 "
        "ORDER BY h.at DESC, h.seq DESC LIMIT 1) LIMIT 1",
        (to_path(namespace), key, owner),
    ).fetchone()
    return row is not None and bool(row[0])


@dataclass(frozen=True, slots=True)
class CompiledScope:
    """A scope ready to run. The namespace is kept apart, because vectors and words know it too."""

    scope: Scope
    conditions: tuple[Condition, ...]
    """Over ``item AS i``, beyond the namespace; all must hold."""

    @property
    def trivial(self) -> bool:
        """Nothing beyond the namespace."""
        return not self.conditions

    @property
    def where(self) -> str:
        """Conditions beyond the namespace as one SQL expression."""
        return " AND ".join([f"({one.sql})" for one in self.conditions]) or "TRUE"

    @property
    def bindings(self) -> tuple[Any, ...]:
        return tuple(chain.from_iterable([one.bindings for one in self.conditions]))

    @property
    def residual(self) -> Callable[[Mapping[str, Any]], bool] | None:
        """A test of the item's value that SQL could not decide, or None."""
        filter = self.scope.filter
        if filter is None or not any(one.residual for one in self.conditions):
            return None
        return lambda value: matches(value, filter)

    @property
    def value_column(self) -> str:
        """The item's value, to be selected last, where `passing` has to look at it; else nothing."""
        return ", i.value" if self.residual else ""

    def passing(self, rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return rows of items that the conditions hold for, without their `value_column`: those
        whose value passes what SQL could not decide."""
        residual = self.residual
        if residual is None:
            return list(rows)
        return [row[:-1] for row in rows if residual(from_json(row[-1]))]

    @property
    def driver(self) -> Condition | None:
        """The condition a listing can start from instead of looking at every item."""
        return next((one for one in self.conditions if one.selective), None)

    def namespaces(self) -> tuple[str, tuple[Any, ...]]:
        """Return the SQL set of the namespace ids in scope."""
        return below(self.scope.namespace)


def compile_scope(
    scope: Scope, *, alive_at_us: int | None = None, as_then: bool = False
) -> CompiledScope:
    """Return the predicates of a scope.

    Args:
        scope: What may be read.
        alive_at_us: If given, items whose TTL ended before it are out of reach.
        as_then: The columns of ``i`` are those of ``scope.known_at`` already.
    """
    conditions: list[Condition] = list(compile_filter(scope.filter)) if scope.filter else []
    if scope.exact:
        conditions.append(Condition(_EXACT, (to_path(scope.namespace),)))
    now = scope.known_at is None  # else kind, status, priority and trust are those of then
    if scope.kinds is not None and now:
        conditions.append(_of_kind(scope.kinds))
    if scope.statuses is not None and now:
        of_status = _one_of("i.status", scope.statuses)
        # The index knows the status within a kind.
        of_kind = _one_of("i.kind", get_args(Kind) if scope.kinds is None else scope.kinds)
        conditions.append(replace(of_status, starts=(_start("item_class", of_kind, of_status),)))
    if now:
        conditions.extend(_of_standing(scope, "i"))
    if scope.viewer is not None:
        conditions.append(_visible(scope.viewer))
    if scope.known_at is not None:
        conditions.extend(_believed_at(scope, to_us(scope.known_at), as_then))
    else:
        if scope.as_of is not None:
            conditions.extend(_in_time(to_us(scope.as_of)))
        if scope.since is not None or scope.until is not None:
            conditions.append(_statement_time(scope))
    if scope.exclude:
        keys = json.dumps(list(scope.exclude), ensure_ascii=False)  # SQLite binds 32,766 at most
        conditions.append(
            Condition("i.key NOT IN (SELECT value FROM json_each(?))", (keys,), told_by="nothing")
        )
    if scope.given:
        given: dict[str, list[str]] = {}
        for where, key in scope.given:
            given.setdefault(to_path(where), []).append(key)
        items = json.dumps(given, ensure_ascii=False)
        conditions.append(Condition(f"i.id NOT IN ({_NAMED})", (items,), told_by="nothing"))
    if alive_at_us is not None:
        conditions.append(
            Condition("i.expires_at IS NULL OR i.expires_at > ?", (alive_at_us,), told_by="sql")
        )
    return CompiledScope(scope, tuple(conditions))


_EXACT: Final = "i.namespace = (SELECT n.id FROM namespace n WHERE n.path = ?)"

_NAMED: Final = (
    "SELECT x.id FROM json_each(?) g CROSS JOIN namespace n ON n.path = g.key "
    "CROSS JOIN json_each(g.value) k CROSS JOIN item x ON x.namespace = n.id AND x.key = k.value"
)
"""Ids of the items that a JSON object names: the keys in each namespace, by its path."""


def _start(index: str, *conditions: Condition) -> Start:
    """Return items that all the conditions hold for, by an index that has their columns and the
    namespace."""
    return Start(
        item="i.id",
        source=f"item i INDEXED BY {index}",
        where=" AND ".join(f"({one.sql})" for one in conditions),
        namespace="i.namespace",
        bindings=tuple(binding for one in conditions for binding in one.bindings),
    )


def _of_standing(scope: Scope, item: str) -> list[Condition]:
    """Return the conditions for the priority and trust of rows of the table ``item``."""
    found = [] if scope.demoted else [Condition(f"{item}.priority <> 'archive'")]
    if scope.priority is not None:
        found.append(Condition(f"{item}.priority = ?", (scope.priority,)))
    if scope.trust is not None:
        found.append(_one_of(f"{item}.trust", at_least(scope.trust)))
    return found


def _of_kind(kinds: tuple[str, ...]) -> Condition:
    found = _one_of("i.kind", kinds)
    return replace(found, starts=(_start("item_class", found),))


def _visible(viewer: str) -> Condition:
    readers = [Condition(f"{READER} IS NULL")]
    if viewer:
        readers.append(Condition(f"{READER} = ?", (viewer,)))
    return replace(visible_to(viewer), starts=tuple(_start("item_reader", one) for one in readers))


_WITHOUT_TIME: Final = Condition("i.valid_at IS NULL")


def _statement_time(scope: Scope) -> Condition:
    """Return the condition for what was said, or is true from, within ``[since, until)``; where
    that is unknown, stored."""
    return replace(
        _within("coalesce(i.valid_at, i.created_at)", scope),
        starts=(
            _start("item_valid", _within("i.valid_at", scope)),
            _start("item_created", _WITHOUT_TIME, _within("i.created_at", scope)),
        ),
        told_by="sql",
    )


def _within(time: str, scope: Scope) -> Condition:
    bounds = {
        bound: to_us(at)
        for bound, at in ((">=", scope.since), ("<", scope.until))
        if at is not None
    }
    return Condition(
        " AND ".join(f"{time} {bound} ?" for bound in bounds) or "TRUE", tuple(bounds.values())
    )


def _in_time(as_of_us: int) -> list[Condition]:
    """Return the conditions for what was true in the world at a time, as far as the system believes
    now: from then or before, or since nobody knows when, and not over."""
    before = Condition("i.valid_at <= ?", (as_of_us,))
    begun = Condition(
        f"{_WITHOUT_TIME.sql} OR {before.sql}",
        before.bindings,
        starts=(_start("item_valid", before), _start("item_created", _WITHOUT_TIME)),
        told_by="sql",
    )
    return [
        begun, Condition("i.invalid_at IS NULL OR i.invalid_at > ?", (as_of_us,), told_by="sql")
    ]  # fmt: skip


def _believed_at(scope: Scope, known_at_us: int, as_then: bool) -> list[Condition]:
    """Return the condition for items that had at a time the statuses asked for (None: whatever was not
    put away), were open to the viewer, of the kinds and from the times asked for, and with
    ``as_of`` were taken to be true then.

    Decided by the columns as the history says they were. Of what came with an import that told no
    history the row alone tells: before it was given up it was active, its end not known.
    """
    as_of_us = None if scope.as_of is None else to_us(scope.as_of)
    statuses = scope.statuses
    if statuses is None:
        statuses = ("pending", "approved", "active", *(() if as_of_us is None else ("superseded",)))
    standing = "CASE WHEN {0}.expired_at > ? THEN 'active' ELSE {0}.status END"
    parts = [
        Condition("{0}.created_at <= ?", (known_at_us,)),
        Condition(_one_of(standing, statuses).sql, (known_at_us, *statuses)),
    ]
    if as_of_us is not None:
        parts += [
            Condition("{0}.valid_at IS NULL OR {0}.valid_at <= ?", (as_of_us,)),
            Condition(
                "{0}.expired_at > ? OR {0}.invalid_at IS NULL OR {0}.invalid_at > ?",
                (known_at_us, as_of_us),
            ),
        ]
    if scope.kinds is not None:
        parts.append(_one_of("{0}.kind", scope.kinds))
    parts.extend(_of_standing(scope, "{0}"))
    if scope.viewer is not None:
        parts.append(visible_to(scope.viewer, "{0}"))
    if scope.since is not None or scope.until is not None:
        parts.append(_within("coalesce({0}.valid_at, {0}.created_at)", scope))
    told = " AND ".join(f"({one.sql})" for one in parts)
    bindings = tuple(binding for one in parts for binding in one.bindings)
    if as_then:
        return [Condition(told.format("i"), bindings)]
    then = columns(name for name in ITEM.names if f"{{0}}.{name}" in told)
    likely: list[Condition] = []
    if scope.kinds is not None:
        likely.append(_of_kind(scope.kinds))
    if scope.since is not None or scope.until is not None:
        likely.append(_statement_time(scope))
    return [
        # What an import made younger is among the `versions`.
        Condition("i.created_at <= ?", (known_at_us,), told_by="sql"),
        *(_or_revised(one, known_at_us) for one in likely),
        Condition(TOLD, (known_at_us,), told_by="sql"),
        Condition(
            f"CASE WHEN {REVISED} THEN EXISTS (SELECT 1 FROM ({then}) t "
            f"WHERE {told.format('t')}) ELSE {told.format('i')} END",
            (known_at_us, *(known_at_us,) * then.count("?"), *bindings, *bindings),
            told_by="sql",
        ),
    ]


def _or_revised(one: Condition, known_at_us: int) -> Condition:
    """Return items for which a condition holds today, by its indexes, and what was revised since."""
    since = "SELECT DISTINCT h.item FROM history h WHERE h.at > ? AND h.facets IS NOT NULL"
    revised = Start(
        item="i.id",
        source=f"({since}) s CROSS JOIN item i ON i.id = s.item",
        where="TRUE",
        namespace="i.namespace",
        bindings=(known_at_us,),
        direct=False,
    )
    return replace(
        one,
        sql=f"({one.sql}) OR {REVISED}",
        bindings=(*one.bindings, known_at_us),
        starts=(*one.starts, revised),
        told_by="sql",
    )


def saying_the_same(scope: CompiledScope) -> CompiledScope:
    """Of a scope with ``known_at``, the items that said then what they say now."""
    assert scope.scope.known_at is not None
    same = Condition(UNCHANGED, (to_us(scope.scope.known_at),), told_by="sql")
    return replace(scope, conditions=(*scope.conditions, same))


def _one_of(column: str, options: tuple[str, ...]) -> Condition:
    return Condition(f"{column} IN ({', '.join('?' * len(options))})", tuple(options))
