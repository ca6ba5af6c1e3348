"""What a read may touch, as SQL: the one place where a `Scope` becomes predicates."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, get_args

from langmemory.sqlite import past
from langmemory.sqlite.filters import Condition, Start, compile_filter, matches
from langmemory.sqlite.namespaces import below, to_path
from langmemory.sqlite.ownership import READER, visible_to
from langmemory.sqlite.times import to_us
from langmemory.types import Kind, Scope


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
        return " AND ".join(f"({one.sql})" for one in self.conditions) or "1"

    @property
    def bindings(self) -> tuple[Any, ...]:
        return tuple(binding for one in self.conditions for binding in one.bindings)

    @property
    def residual(self) -> Callable[[Mapping[str, Any]], bool] | None:
        """A test of the item's value that SQL could not decide, or None."""
        filter = self.scope.filter
        if filter is None or not any(one.residual for one in self.conditions):
            return None
        return lambda value: matches(value, filter)

    @property
    def driver(self) -> Condition | None:
        """The condition a listing can start from instead of looking at every item."""
        return next((one for one in self.conditions if one.selective), None)

    def namespaces(self) -> tuple[str, tuple[Any, ...]]:
        """SQL set of the namespace ids in scope."""
        return below(self.scope.namespace)


def compile_scope(scope: Scope, *, alive_at_us: int | None = None) -> CompiledScope:
    """The predicates of a scope.

    Args:
        scope: What may be read.
        alive_at_us: If given, items whose TTL ended before it are out of reach.
    """
    conditions: list[Condition] = list(compile_filter(scope.filter)) if scope.filter else []
    kinds = scope.kinds
    if kinds is not None:
        of_kind = _one_of("i.kind", kinds)
        conditions.append(replace(of_kind, starts=(_start("item_class", of_kind),)))
    if scope.statuses is not None and scope.known_at is None:  # else of what it was then
        of_status = _one_of("i.status", scope.statuses)
        # The index knows the status within a kind.
        of_kind = _one_of("i.kind", get_args(Kind) if kinds is None else kinds)
        conditions.append(replace(of_status, starts=(_start("item_class", of_kind, of_status),)))
    if scope.viewer is not None:
        conditions.append(_visible(scope.viewer))
    if scope.as_of is not None or scope.known_at is not None:
        conditions.extend(_in_time(scope))
    if scope.since is not None or scope.until is not None:
        conditions.append(_said(scope))
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


_NAMED: Final = (
    "SELECT x.id FROM json_each(?) g CROSS JOIN namespace n ON n.path = g.key "
    "CROSS JOIN json_each(g.value) k CROSS JOIN item x ON x.namespace = n.id AND x.key = k.value"
)
"""Ids of the items that a JSON object names: the keys in each namespace, by its path."""


def _start(index: str, *conditions: Condition) -> Start:
    """Items that all the conditions hold for, by an index that has their columns and the namespace."""
    return Start(
        item="i.id",
        source=f"item i INDEXED BY {index}",
        where=" AND ".join(f"({one.sql})" for one in conditions),
        namespace="i.namespace",
        bindings=tuple(binding for one in conditions for binding in one.bindings),
    )


def _visible(viewer: str) -> Condition:
    readers = [Condition(f"{READER} IS NULL")]
    if viewer:
        readers.append(Condition(f"{READER} = ?", (viewer,)))
    return replace(visible_to(viewer), starts=tuple(_start("item_reader", one) for one in readers))


_WITHOUT_TIME: Final = Condition("i.valid_at IS NULL")


def _said(scope: Scope) -> Condition:
    """Said, or true from, within ``[since, until)``; where that is unknown, stored."""
    bounds = {
        sign: to_us(at) for sign, at in ((">=", scope.since), ("<", scope.until)) if at is not None
    }

    def within(time: str) -> Condition:
        return Condition(
            " AND ".join(f"{time} {sign} ?" for sign in bounds), tuple(bounds.values())
        )

    return replace(
        within("coalesce(i.valid_at, i.created_at)"),
        starts=(
            _start("item_valid", within("i.valid_at")),
            _start("item_created", _WITHOUT_TIME, within("i.created_at")),
        ),
        told_by="sql",
    )


def _begun(as_of_us: int) -> Condition:
    """True from then or before, or since nobody knows when."""
    before = Condition("i.valid_at <= ?", (as_of_us,))
    return Condition(
        f"{_WITHOUT_TIME.sql} OR {before.sql}",
        before.bindings,
        starts=(_start("item_valid", before), _start("item_created", _WITHOUT_TIME)),
        told_by="sql",
    )


def _in_time(scope: Scope) -> list[Condition]:
    """True in the world at ``as_of``, as far as the system believed at ``known_at``, or believes now."""
    as_of = None if scope.as_of is None else to_us(scope.as_of)
    if scope.known_at is not None:
        return _believed(scope, to_us(scope.known_at), as_of)
    begun = [] if as_of is None else [_begun(as_of)]
    return [
        *begun,
        Condition("i.invalid_at IS NULL OR i.invalid_at > ?", (as_of,), told_by="sql"),
    ]


def _believed(scope: Scope, known_at_us: int, as_of_us: int | None) -> list[Condition]:
    """What stood at a time as the statuses asked for (None: whatever was not put away), and with
    ``as_of`` was taken to be true then.

    Decided by the columns as the history says they were. Of what came with an import that told no
    history the row alone tells: before it was given up it was active, its end not known.
    """
    statuses = scope.statuses
    if statuses is None:
        statuses = ("pending", "approved", "active", *(() if as_of_us is None else ("superseded",)))
    standing = "CASE WHEN {0}.expired_at > ? THEN 'active' ELSE {0}.status END"
    parts = [Condition(_one_of(standing, statuses).sql, (known_at_us, *statuses))]
    if as_of_us is not None:
        parts += [
            Condition("{0}.valid_at IS NULL OR {0}.valid_at <= ?", (as_of_us,)),
            Condition(
                "{0}.expired_at > ? OR {0}.invalid_at IS NULL OR {0}.invalid_at > ?",
                (known_at_us, as_of_us),
            ),
        ]
    told = " AND ".join(f"({one.sql})" for one in parts)
    bindings = tuple(binding for one in parts for binding in one.bindings)
    then = past.columns(("status", "valid_at", "invalid_at", "expired_at"))
    return [
        Condition("i.created_at <= ?", (known_at_us,), told_by="sql"),
        Condition(
            f"CASE WHEN {past.REVISED} THEN EXISTS (SELECT 1 FROM ({then}) t "
            f"WHERE {told.format('t')}) ELSE {told.format('i')} END",
            (known_at_us, *(known_at_us,) * then.count("?"), *bindings, *bindings),
            told_by="sql",
        ),
    ]


def _one_of(column: str, options: tuple[str, ...]) -> Condition:
    return Condition(f"{column} IN ({', '.join('?' * len(options))})", tuple(options))
