"""Steps of recall over the graph: from memories to those that share an entity or their evidence,
and from names to the memories that speak of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import log2
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langmemory.engines.sql.graph import graph
from langmemory.engines.sql.scope.ownership import visible_to
from langmemory.engines.sql.scope.scopes import CompiledScope
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.tree import IS_NODE
from langmemory.ports.candidates import Floats, Ids

HUB: Final = 64
"""An entity that more memories speak of, of those that a viewer may know of, connects none of them:
everything is about the user."""


class Steps(NamedTuple):
    """One step from each of some memories; n steps."""

    ids: Ids
    """int64[n]: memories reached."""
    origins: NDArray[np.int64]
    """int64[n]: index into the memories asked about."""
    weights: Floats
    """float32[n], 0..1: 1 for evidence, less for what goes over an entity that many speak of."""
    labels: Sequence[str]
    related: NDArray[np.bool_]
    """bool[n]: whether it goes over an entity, not over evidence."""


_NO_IDS: Final = np.empty(0, np.int64)
NOTHING: Final = Steps(_NO_IDS, _NO_IDS, np.empty(0, np.float32), (), np.empty(0, np.bool_))


NO_STEPS: Final = (
    "SELECT NOT EXISTS (SELECT 1 FROM mention) AND NOT EXISTS (SELECT 1 FROM evidence)"
)


def is_empty(connection: Connection) -> bool:
    """Return whether no step can be taken anywhere in the file."""
    return bool(connection.execute(NO_STEPS).fetchone()[0])


def rarity(memories: int) -> float:
    """Return the weight of a connection over an entity that so many memories speak of: 1 / log2, so
    that two memories which alone speak of something are connected wholly, sixteen a quarter."""
    return 1 / log2(max(memories, 2))


def steps(
    connection: Connection, scope: CompiledScope, items: Ids, fan_out: int, *, labelled: bool
) -> Steps:
    """Return the memories in scope one step from these, at most ``fan_out`` from each, the strongest; their
    labels are empty where they are not asked for.

    A step leads from a memory to what it was derived from, back, or to another memory that speaks
    of the same entity (links followed).
    """
    if not len(items):
        return NOTHING
    asked = connection.array(items.tolist())
    reached: dict[int, dict[int, tuple[float, int | str]]] = defaultdict(dict)
    keys: dict[int, str] = {}
    if labelled:
        keys |= connection.execute(
            "SELECT i.id, i.key FROM carray(?) c CROSS JOIN item i ON i.id = c.value", (asked,)
        )
    # In one order, whatever the database: of two paths with the same score the first one counts.
    evidence = sorted(_evidence(connection, scope, asked), key=lambda step: (step[2], step[1]))
    for origin, other, derived in evidence:
        label = f"{'derived from' if derived else 'evidence of'} {keys.get(origin)}"
        reached[origin][other] = (1.0, label)
    spoken = connection.execute(  # in an archive file there are no entities
        "SELECT m.item, m.entity FROM carray(?) c CROSS JOIN mention m ON m.item = c.value "
        "CROSS JOIN entity e ON e.id = m.entity",
        (asked,),
    ).fetchall()
    root = graph.roots(connection, {entity for _, entity in spoken})
    members = _members(connection, scope, root)
    by_rarity = sorted({(len(members[root[e]]), root[e], item) for item, e in spoken})
    for memories, entity, origin in by_rarity:
        found = reached[origin]
        for other in members[entity]:
            if len(found) >= fan_out:
                break
            if other != origin and other not in found:
                found[other] = (rarity(memories), entity)
    pairs = [
        (place, other, weight, over)
        for place, origin in enumerate(items.tolist())
        for other, (weight, over) in list(reached[origin].items())[:fan_out]
    ]
    return Steps(
        ids=np.array([other for _, other, _, _ in pairs], np.int64),
        origins=np.array([place for place, _, _, _ in pairs], np.int64),
        weights=np.array([weight for _, _, weight, _ in pairs], np.float32),
        labels=_labels(connection, scope, root, [(other, over) for _, other, _, over in pairs])
        if labelled
        else [""] * len(pairs),
        related=np.array([isinstance(over, int) for _, _, _, over in pairs], np.bool_),
    )


def about(
    connection: Connection, scope: CompiledScope, norms: Sequence[str], known: Ids, limit: int
) -> tuple[Ids, Floats]:
    """Return the memories that speak of entities with these normalised names: (int64[n], float32[n]).

    Those of the ``known`` memories that do, and at most ``limit`` others in scope, the newest of
    those with the highest score; but no others for a hub. The score is the sum of the entities'
    `rarity`, at most 1.
    """
    named = graph.by_names(connection, scope, norms)
    if not named:
        return NOTHING.ids, NOTHING.weights
    root = graph.roots(connection, {entity for _, entity in named})
    members = _members(connection, scope, root)
    worth = {entity: rarity(len(found) or HUB) for entity, found in members.items()}
    score: dict[int, float] = defaultdict(float)
    for entity, found in sorted(members.items()):
        for item in found:
            score[item] += worth[entity]
    rows = connection.execute(
        "SELECT DISTINCT m.entity, m.item FROM carray(?) c CROSS JOIN carray(?) k "
        "CROSS JOIN mention m ON m.entity = c.value AND m.item = k.value",
        (connection.array(root), connection.array(known.tolist())),
    )
    for entity, item in sorted(rows):
        if item not in members[root[entity]]:  # of a hub
            score[item] += worth[root[entity]]
    asked = set(known.tolist())
    further = [item for item in score if item not in asked]
    for item in sorted(further, key=lambda item: (-score[item], -item))[limit:]:
        del score[item]
    best = sorted(score, key=lambda item: (-score[item], -item))
    return np.array(best, np.int64), np.array([min(score[one], 1) for one in best], np.float32)


def fact_sources(connection: Connection, scope: CompiledScope, items: Ids) -> tuple[Ids, Ids]:
    """Return the pairs of a memory and its source, where either of the two is among the items and both are
    in scope: (int64[n] derived, int64[n] sources)."""
    if not len(items):
        return NOTHING.ids, NOTHING.ids
    asked = connection.array(items.tolist())
    found = {
        (reached, origin) if derived else (origin, reached)
        for origin, reached, derived in _evidence(connection, scope, asked)
    }
    return _columns(sorted(found))


def outdated(connection: Connection, scope: CompiledScope, items: Ids) -> Ids:
    """Return those of the items that something was derived from, of which all that the viewer may know
    of has given way since."""
    seen = visible_to(scope.scope.viewer)
    rows = connection.execute(
        "SELECT v.source FROM carray(?) c CROSS JOIN evidence v ON v.source = c.value "
        f"CROSS JOIN item i ON i.id = v.item WHERE {seen.sql} AND NOT ({IS_NODE.format('i')}) "
        "GROUP BY v.source "
        "HAVING count(CASE i.status WHEN 'superseded' THEN 1 END) > 0 "
        "AND count(CASE i.status WHEN 'active' THEN 1 END) = 0",
        (connection.array(items.tolist()), *seen.bindings),
    )
    return np.fromiter((row[0] for row in rows), np.int64)


def successors(connection: Connection, scope: CompiledScope, items: Ids) -> tuple[Ids, Ids]:
    """Return the items that took the place of something that was derived from the items, of which the
    viewer may know: (int64[n] of the items, int64[n] memories in scope that hold now)."""
    where, bindings = graph.within(scope)
    seen = visible_to(scope.scope.viewer, "f")
    rows = connection.execute(
        "WITH RECURSIVE gone (source, namespace, heir) AS ("
        "SELECT v.source, f.namespace, f.superseded_by FROM carray(?) c "
        "CROSS JOIN evidence v ON v.source = c.value CROSS JOIN item f ON f.id = v.item "
        f"WHERE f.status = 'superseded' AND f.superseded_by IS NOT NULL AND {seen.sql} UNION "
        "SELECT g.source, f.namespace, f.superseded_by FROM gone g CROSS JOIN item f "
        "ON f.namespace = g.namespace AND f.key = g.heir "
        "WHERE f.status = 'superseded' AND f.superseded_by IS NOT NULL) "
        f"SELECT DISTINCT g.source, i.id{scope.value_column} FROM gone g "
        f"CROSS JOIN item i ON i.namespace = g.namespace AND i.key = g.heir WHERE {where} "
        "ORDER BY g.source, i.id",
        (connection.array(items.tolist()), *seen.bindings, *bindings),
    )
    return _columns(scope.passing(rows))


def _columns(pairs: Sequence[tuple[int, ...]]) -> tuple[Ids, Ids]:
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


def _evidence(connection: Connection, scope: CompiledScope, asked: Any) -> list[tuple[Any, ...]]:
    """Return the steps between memories and their sources: (asked, reached, whether the reached was
    derived from it)."""
    where, bindings = graph.within(scope)
    rows = connection.execute(
        f"SELECT v.item, i.id, 0{scope.value_column} FROM carray(?) c "
        "CROSS JOIN evidence v ON v.item = c.value CROSS JOIN item i ON i.id = v.source "
        f"WHERE {where} UNION ALL "
        f"SELECT v.source, i.id, 1{scope.value_column} FROM carray(?) c "
        "CROSS JOIN evidence v ON v.source = c.value CROSS JOIN item i ON i.id = v.item "
        f"AND NOT ({IS_NODE.format('i')}) WHERE {where}",
        (asked, *bindings, asked, *bindings),
    )
    return scope.passing(rows)


def _members(
    connection: Connection, scope: CompiledScope, root: dict[int, int]
) -> dict[int, list[int]]:
    """Return the memories in scope that speak of each root, newest first; none for a hub."""
    where, bindings = graph.within(scope)
    speaking, seen = "mention h", visible_to(scope.scope.viewer, "s")
    if scope.scope.viewer is not None:
        speaking += f" CROSS JOIN item s ON s.id = h.item AND {seen.sql}"
    rows = connection.execute(
        f"SELECT m.entity, m.item{scope.value_column} FROM carray(?) c "
        "CROSS JOIN mention m ON m.entity = c.value CROSS JOIN item i ON i.id = m.item "
        f"WHERE (SELECT count(*) FROM (SELECT 1 FROM {speaking} WHERE h.entity = c.value LIMIT ?)) "
        f"<= ? AND {where} ORDER BY m.item DESC",
        (connection.array(root), *seen.bindings, HUB + 1, HUB, *bindings),
    )
    members: dict[int, dict[int, None]] = {one: {} for one in root.values()}
    for entity, item in scope.passing(rows):
        members[root[entity]][item] = None
    return {one: list(items) for one, items in members.items()}


def _labels(
    connection: Connection,
    scope: CompiledScope,
    root: dict[int, int],
    steps: Sequence[tuple[int, int | str]],
) -> list[str]:
    """One readable step for each (memory reached, label or entity it was reached over)."""
    claims: dict[int, list[tuple[int, str, int | None, str | None]]] = defaultdict(list)
    ends = {entity for _, entity in steps if isinstance(entity, int)}
    # The memories are in scope: what they claim may be told.
    for fact, subject, relation, thing, literal in connection.execute(
        "SELECT e.fact, e.subject, e.relation, e.object, e.literal FROM carray(?) c "
        "CROSS JOIN edge e ON e.fact = c.value ORDER BY e.id",
        (connection.array({item for item, one in steps if isinstance(one, int)}),),
    ):
        claims[fact].append((subject, relation, thing, literal))
        ends |= {subject} if thing is None else {subject, thing}
    names = graph.names(connection, scope, ends)

    def label(item: int, entity: int | str) -> str:
        if isinstance(entity, str):
            return entity
        for subject, relation, thing, literal in claims[item]:
            if entity in (root.get(subject), None if thing is None else root.get(thing)):
                end = literal if thing is None else names[thing]
                return f"{names[subject]} -{relation}-> {end}"
        return f"speaks of {names[entity]}"

    return [label(item, entity) for item, entity in steps]
