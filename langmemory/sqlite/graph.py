"""The knowledge graph as rows: entities, their names and links, and the edges memories claim.

Every read joins the memory that speaks of an entity, or claims an edge, and puts the scope's
predicates on it: what no memory in scope speaks of is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, cast

import apsw
import numpy as np

from langmemory.sqlite import past
from langmemory.sqlite.connection import Connection
from langmemory.sqlite.scopes import CompiledScope
from langmemory.sqlite.times import to_us
from langmemory.types import Status

Bindings = tuple[Any, ...]


class EntityRow(NamedTuple):
    """An entity as it stands, links not followed."""

    id: int
    key: str
    name: str
    kind: str


class EdgeRow(NamedTuple):
    """An edge with the times of its fact, in microseconds; links not followed."""

    id: int
    subject: int
    relation: str
    object: int | None
    literal: str | None
    fact: str
    """Key of the memory."""
    item: int
    """Its id."""
    valid_at: int | None
    invalid_at: int | None
    created_at: int
    expired_at: int | None
    status: Status
    until: int | None
    """Its ``invalid_at`` as it was believed at the time whose beliefs are asked for."""
    given_up: int | None
    """Its ``expired_at``, likewise: later than that time only where no history tells what was."""


EDGE_COLUMNS: Final = (
    "e.id, e.subject, e.relation, e.object, e.literal, i.key, i.id, i.valid_at, i.invalid_at, "
    "i.created_at, i.expired_at, i.status"
)


def within(scope: CompiledScope) -> tuple[str, Bindings]:
    """The scope over ``item AS i``, namespace included, as one SQL expression. A filter's residual
    is left to the caller."""
    if not scope.scope.namespace:
        return scope.where, scope.bindings
    namespaces, bindings = scope.namespaces()
    return f"{scope.where} AND i.namespace IN {namespaces}", (*scope.bindings, *bindings)


def is_empty(connection: Connection) -> bool:
    """Whether no entity was ever found in this file: most reads of the graph end here."""
    row = connection.execute("SELECT NOT EXISTS (SELECT 1 FROM entity)").fetchone()
    return bool(row[0])


def roots(connection: Connection, entities: Iterable[int]) -> dict[int, int]:
    """What each of these entities, and each linked with one of them, stands for.

    Links are followed to their end; entities linked in a circle stand for the oldest of them.
    """
    rows = connection.execute(
        "WITH RECURSIVE linked (id) AS ("
        "SELECT value FROM carray(?) UNION "
        "SELECT e.same_as FROM linked l CROSS JOIN entity e ON e.id = l.id "
        "WHERE e.same_as IS NOT NULL UNION "
        "SELECT e.id FROM linked l CROSS JOIN entity e ON e.same_as = l.id) "
        "SELECT e.id, e.same_as FROM linked l CROSS JOIN entity e ON e.id = l.id",
        (array(entities),),
    ).fetchall()
    link: dict[int, int | None] = dict(rows)
    return {entity: _root(entity, link) for entity in link}


def _root(entity: int, link: dict[int, int | None]) -> int:
    seen = [entity]
    while (following := link.get(seen[-1])) is not None and following in link:
        if following in seen:
            return min(seen[seen.index(following) :])
        seen.append(following)
    return seen[-1]


def all_entities(connection: Connection, scope: CompiledScope | None, namespace: int) -> list[int]:
    """The entities of one namespace that a memory in scope speaks of, oldest first; without a
    scope, every one there is."""
    spoken, bindings = "1", cast("Bindings", ())
    if scope is not None:
        where, bindings = within(scope)
        spoken = (
            "EXISTS (SELECT 1 FROM mention m CROSS JOIN item i ON i.id = m.item "
            f"WHERE m.entity = entity.id AND {where})"
        )
    rows = connection.execute(
        f"SELECT id FROM entity WHERE namespace = ? AND {spoken} ORDER BY id",
        (namespace, *bindings),
    )
    return [int(row[0]) for row in rows]


def spoken_of(connection: Connection, scope: CompiledScope, entities: Iterable[int]) -> set[int]:
    """Those of the entities that a memory in scope speaks of."""
    where, bindings = within(scope)
    rows = connection.execute(
        "SELECT c.value FROM carray(?) c WHERE EXISTS "
        "(SELECT 1 FROM mention m CROSS JOIN item i ON i.id = m.item "
        f"WHERE m.entity = c.value AND {where})",
        (array(entities), *bindings),
    )
    return {int(row[0]) for row in rows}


def by_key(connection: Connection, namespace: int, key: str) -> int | None:
    """Id of an entity."""
    row = connection.execute(
        "SELECT id FROM entity WHERE namespace = ? AND key = ?", (namespace, key)
    ).fetchone()
    return None if row is None else int(row[0])


def by_names(
    connection: Connection,
    scope: CompiledScope,
    norms: Sequence[str],
    namespace: int | None = None,
) -> list[tuple[str, int]]:
    """(normalised name, entity) for those of the names that an entity has, as far as the viewer
    may know of it: in this namespace, or in all of the scope's."""
    if not norms:
        return []
    known, bindings = _known_name(scope)
    if namespace is not None:
        known, bindings = f"{known} AND a.namespace = ?", (*bindings, namespace)
    elif scope.scope.namespace:
        namespaces, inside = scope.namespaces()
        known, bindings = f"{known} AND a.namespace IN {namespaces}", (*bindings, *inside)
    rows = connection.execute(
        "SELECT a.norm, a.entity FROM carray(?) c CROSS JOIN alias a ON a.norm = c.value "
        f"WHERE {known}",
        (apsw.carray(tuple(norms)), *bindings),
    )
    return [(str(norm), int(entity)) for norm, entity in rows]


def aliases(
    connection: Connection, scope: CompiledScope, entities: Iterable[int]
) -> list[tuple[int, str, str]]:
    """(entity, name, normalised name) of these entities, as far as the viewer may know of it."""
    known, viewer = _known_name(scope)
    rows = connection.execute(
        "SELECT a.entity, a.name, a.norm FROM carray(?) c CROSS JOIN alias a ON a.entity = c.value "
        f"WHERE {known} ORDER BY a.entity, a.norm",
        (array(entities), *viewer),
    )
    return [(int(entity), str(name), str(norm)) for entity, name, norm in rows]


_IN_JSON: Final = "substr(json_quote(a.name), 2, length(json_quote(a.name)) - 2)"
"""A name as it stands in a value, where ``Dwayne "The Rock" Johnson`` has backslashes."""


def _known_name(scope: CompiledScope) -> tuple[str, Bindings]:
    """Whether a name, ``alias AS a``, is one the viewer may read.

    What a private memory calls somebody is private with it, so a viewer knows only names that
    stand in a memory open to them, or its speaker. Letters beyond ASCII compare by case.
    """
    if scope.scope.viewer is None:
        return "1", ()
    where, bindings = within(scope)
    return (
        "EXISTS (SELECT 1 FROM mention m CROSS JOIN item i ON i.id = m.item "
        f"WHERE m.entity = a.entity AND {where} AND (instr(lower(i.value), lower({_IN_JSON})) "
        "OR instr(lower(i.value), a.norm) OR lower(i.speaker) = lower(a.name)))",
        bindings,
    )


def entities(connection: Connection, ids: Iterable[int]) -> list[EntityRow]:
    """The rows of these entities, oldest first."""
    rows = connection.execute(
        "SELECT id, key, name, kind FROM carray(?) c CROSS JOIN entity e ON e.id = c.value "
        "ORDER BY id",
        (array(ids),),
    )
    return [EntityRow(*row) for row in rows]


def names(connection: Connection, scope: CompiledScope, ids: Iterable[int]) -> dict[int, str]:
    """What to call each of these entities: its name, or one the viewer may know, or its kind."""
    rows = entities(connection, ids)
    shown = {row.id: row.name for row in rows}
    if scope.scope.viewer is None:
        return shown
    known: dict[int, list[str]] = {row.id: [] for row in rows}
    for entity, name, _ in aliases(connection, scope, known):
        known[entity].append(name)
    return {
        row.id: row.name if row.name in known[row.id] else next(iter(known[row.id]), row.kind)
        for row in rows
    }


def edges(
    connection: Connection,
    scope: CompiledScope,
    *,
    namespace: int | None = None,
    touching: Iterable[int] | None = None,
    facts: Iterable[int] | None = None,
    relation: str | None = None,
) -> list[EdgeRow]:
    """Edges that a memory in scope claims, oldest claim first.

    Args:
        connection: A reader.
        scope: What may be read.
        namespace: All of this namespace; or
        touching: those with one of these entities at either end; or
        facts: those that one of these memories claims.
        relation: Only this relation.
    """
    where, bindings = within(scope)
    times, asked = "i.invalid_at, i.expired_at", cast("Bindings", ())
    if scope.scope.known_at is not None:
        known_at = to_us(scope.scope.known_at)
        times = f"{past.column('invalid_at')}, {past.column('expired_at')}"
        asked = (known_at, known_at)
        # A claim may have been made of the memory later.
        where = f"{where} AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = e.run AND r.at > ?)"
        bindings = (*bindings, known_at)
    if relation is not None:
        where, bindings = f"{where} AND e.relation = ?", (*bindings, relation)
    if facts is not None:
        sources, first = ["carray(?) c CROSS JOIN edge e ON e.fact = c.value"], array(facts)
    elif touching is not None:
        sources, first = (
            [
                f"carray(?) c CROSS JOIN edge e ON e.{end} = c.value"
                for end in ("subject", "object")
            ],
            array(touching),
        )
    else:
        sources, first = (
            ["entity s CROSS JOIN edge e ON e.subject = s.id AND s.namespace = ?"],
            namespace,
        )
    # One part a source, never OR: each end has an index of its own.
    rows = connection.execute(
        " UNION ".join(
            f"SELECT {EDGE_COLUMNS}, {times} FROM {source} CROSS JOIN item i ON i.id = e.fact "
            f"WHERE {where}"
            for source in sources
        )
        + " ORDER BY 1",
        tuple(value for _ in sources for value in (*asked, first, *bindings)),
    )
    return [EdgeRow(*row) for row in rows]


class ClockRow(NamedTuple):
    """When a fact, and what replaced it, were said: ISO 8601 with the offset of who said it."""

    item: int
    said_at: str | None
    ended_said_at: str | None


def clocks(connection: Connection, facts: Iterable[int]) -> list[ClockRow]:
    """By which clocks the times of these memories are to be told."""
    rows = connection.execute(
        "SELECT i.id, i.value ->> '$.said_at', (SELECT b.value ->> '$.said_at' FROM item b "
        "WHERE b.namespace = i.namespace AND b.key = i.superseded_by) "
        "FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
        (array(facts),),
    )
    return [ClockRow(*row) for row in rows]


def array(ids: Iterable[int]) -> Any:
    """Ids as a table of one column. SQLite takes no empty one: 0 stands for none, as no id is 0."""
    found = np.fromiter(ids, np.int64)
    return apsw.carray(found if len(found) else np.zeros(1, np.int64))
