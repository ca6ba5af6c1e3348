"""The knowledge graph as rows: entities, their names and links, and the edges memories claim.

Every read joins the memory that speaks of an entity, or claims an edge, and puts the scope's
predicates on it: what no memory in scope speaks of is not there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np

from langmemory.ledger import anchors, scopes
from langmemory.ledger.connection import Connection
from langmemory.ledger.scopes import CompiledScope, visible_to
from langmemory.ledger.tables.facets import REVISABLE, UPKEEP
from langmemory.ledger.values import IS_NODE, to_us
from langmemory.links import MEMORY
from langmemory.ports.candidates import NOTHING, Ids
from langmemory.types import Status

Bindings = tuple[Any, ...]


class EntityRow(NamedTuple):
    """An entity as it stands, links not followed."""

    id: int
    key: str
    name: str
    kind: str


class EdgeRow(NamedTuple):
    """An edge with the times of its fact, in microseconds; links not followed. With ``known_at`` they
    are those of then."""

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


EDGE_COLUMNS: Final = "e.id, e.subject, e.relation, e.object, e.literal, i.key, i.id"
FACT_COLUMNS: Final = tuple(name for name in EdgeRow._fields if name in (*REVISABLE, *UPKEEP))
"""Those of an edge that are of its fact: as they were at the time whose beliefs are asked for."""


def within(scope: CompiledScope) -> tuple[str, Bindings]:
    """Return the scope over ``item AS i``, namespace included, as one SQL expression. A filter's
    residual is left to the caller."""
    if not scope.scope.namespace:
        return scope.where, scope.bindings
    namespaces, bindings = scope.namespaces()
    return f"{scope.where} AND i.namespace IN {namespaces}", (*scope.bindings, *bindings)


NOBODY: Final = "SELECT NOT EXISTS (SELECT 1 FROM entity)"


def is_empty(connection: Connection) -> bool:
    """Return whether no entity was ever found in this file: most reads of the graph end here."""
    return bool(connection.execute(NOBODY).fetchone()[0])


def _told_by_then(scope: CompiledScope, table: str) -> tuple[str, Bindings]:
    """Return whether a row beside the items, that a run added, was there at the ``known_at`` of a scope."""
    known_at = scope.scope.known_at
    if known_at is None:
        return "TRUE", ()
    later = f"SELECT 1 FROM run r WHERE r.id = {table}.run AND r.at > ?"
    return f"NOT EXISTS ({later})", (to_us(known_at),)


def roots(
    connection: Connection, entities: Iterable[int], *, known_at_us: int | None = None
) -> dict[int, int]:
    """Return the entity that each of these, and each linked with one of them, stands for;
    ``known_at_us``: as they were linked then.

    Links are followed to their end; entities linked in a circle stand for the oldest of them.
    """
    if known_at_us is not None:
        return _roots_then(connection, entities, known_at_us)
    rows = connection.execute(
        "WITH RECURSIVE linked (id) AS ("
        "SELECT value FROM carray(?) UNION "
        "SELECT CASE e.id WHEN linked.id THEN e.same_as ELSE e.id END FROM linked CROSS JOIN entity e "
        "ON e.id = linked.id AND e.same_as IS NOT NULL OR e.same_as = linked.id) "
        "SELECT e.id, e.same_as FROM linked CROSS JOIN entity e ON e.id = linked.id",
        (connection.array(entities),),
    ).fetchall()
    link: dict[int, int | None] = dict(rows)
    return {entity: _root(entity, link) for entity in link}


def _roots_then(
    connection: Connection, entities: Iterable[int], known_at_us: int
) -> dict[int, int]:
    link: dict[int, int | None] = dict(
        connection.execute("SELECT id, same_as FROM entity WHERE same_as IS NOT NULL").fetchall()
    )
    # Each run tells how the links that it set stood before: the first one since, how they were.
    link |= connection.execute(
        "SELECT e.id, s.id FROM run r CROSS JOIN json_each(r.links) j "
        "CROSS JOIN entity e ON e.namespace = r.namespace AND e.key = j.key "
        "LEFT JOIN entity s ON s.namespace = r.namespace AND s.key = j.value ->> 0 "
        "WHERE r.at > ? AND r.links <> '{}' ORDER BY r.at DESC, r.id DESC",
        (known_at_us,),
    ).fetchall()
    linked: dict[int, set[int]] = {}
    for one, other in link.items():
        if other is not None:
            linked.setdefault(one, set()).add(other)
            linked.setdefault(other, set()).add(one)
    found, rest = set[int](), list(entities)
    while rest:
        one = rest.pop()
        if one not in found:
            found.add(one)
            rest.extend(linked.get(one, ()))
    within_reach = {one: link.get(one) for one in found}
    return {one: _root(one, within_reach) for one in found}


def _root(entity: int, link: dict[int, int | None]) -> int:
    seen = [entity]
    while (following := link.get(seen[-1])) is not None and following in link:
        if following in seen:
            return min(seen[seen.index(following) :])
        seen.append(following)
    return seen[-1]


def all_entities(connection: Connection, scope: CompiledScope, namespace: int) -> list[int]:
    """Return the entities of one namespace that a memory in scope speaks of, oldest first."""
    where, bindings = within(scope)
    told, then = _told_by_then(scope, "m")
    rows = connection.execute(
        "SELECT id FROM entity WHERE namespace = ? AND EXISTS "
        "(SELECT 1 FROM mention m CROSS JOIN item i ON i.id = m.item "
        f"WHERE m.entity = entity.id AND {told} AND {where}) ORDER BY id",
        (namespace, *then, *bindings),
    )
    found = [int(row[0]) for row in rows]
    if anchors.are_there(connection, namespace):
        found = sorted({*found, *_anchors(connection, scope, None, namespace)})
    return found


def _anchors(
    connection: Connection,
    scope: CompiledScope,
    entities: Iterable[int] | None,
    namespace: int | None = None,
) -> set[int]:
    """Return the anchors that a reader may know of: of an edge, and of the memory they stand for."""
    where, bindings = within(scope)
    claimed = anchors.anchors_with_claims(connection, where, bindings, entities, namespace)
    return claimed - anchors.hidden(connection, where, bindings, claimed) if claimed else claimed


def entities_in(
    connection: Connection, namespace: int, *, kind: str | None = None, after: int | None = None
) -> list[EntityRow]:
    """Return the entities of one namespace, spoken of or not, oldest first.

    Args:
        kind: Only those of this kind.
        after: Only those with a higher id.
    """
    newer = "e.namespace = ?" if after is None else "+e.namespace = ? AND e.id > ?"  # by their ids
    of_kind = "TRUE" if kind is None else "e.kind = ?"
    rows = connection.execute(
        f"SELECT e.id, e.key, e.name, e.kind FROM entity e WHERE {newer} AND {of_kind} ORDER BY e.id",
        tuple(one for one in (namespace, after, kind) if one is not None),
    )
    return [EntityRow(*row) for row in rows]


def names_in(connection: Connection, namespace: int) -> list[str]:
    """Return every normalised name of one namespace, once, those of the oldest entity first."""
    rows = connection.execute(
        "SELECT a.norm FROM (SELECT id FROM entity WHERE namespace = ? ORDER BY id) e "
        "CROSS JOIN alias a ON a.entity = e.id ORDER BY e.id, a.norm",
        (namespace,),
    )
    return list(dict.fromkeys(row[0] for row in rows))


def linked_entities(connection: Connection, namespace: int) -> list[int]:
    """Return the entities of one namespace that are linked to another, oldest first."""
    rows = connection.execute(
        "SELECT id FROM entity INDEXED BY entity_same "
        "WHERE namespace = ? AND same_as IS NOT NULL ORDER BY id",
        (namespace,),
    )
    return [int(row[0]) for row in rows]


def spoken_of(connection: Connection, scope: CompiledScope, entities: Iterable[int]) -> set[int]:
    """Return those of the entities that a memory in scope speaks of, and anchors that are there."""
    where, bindings = within(scope)
    asked = set(entities)
    told, then = _told_by_then(scope, "m")
    rows = connection.execute(
        "SELECT c.value FROM carray(?) c WHERE EXISTS "
        "(SELECT 1 FROM mention m CROSS JOIN item i ON i.id = m.item "
        f"WHERE m.entity = c.value AND {told} AND {where})",
        (connection.array(asked), *then, *bindings),
    )
    found = {int(row[0]) for row in rows}
    rest = asked - found
    return found | _anchors(connection, scope, rest) if rest else found


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
        (connection.text_array(tuple(norms)), *bindings),
    )
    return [(str(norm), int(entity)) for norm, entity in rows]


def named_by(connection: Connection, scope: CompiledScope, speakers: Collection[str]) -> set[int]:
    """Return the entities that speakers without a name of their own said they are: "My name is Ada"."""
    where, bindings = within(scope)
    rows = connection.execute(
        "SELECT DISTINCT e.subject FROM item i CROSS JOIN edge e ON e.fact = i.id "
        f"WHERE {where} AND e.relation = 'named' AND i.speaker IN (SELECT value FROM carray(?))",
        (*bindings, connection.text_array(tuple(speakers))),
    )
    return {int(row[0]) for row in rows}


def aliases(
    connection: Connection, scope: CompiledScope, entities: Iterable[int]
) -> list[tuple[int, str, str]]:
    """(entity, name, normalised name) of these entities, as far as the viewer may know of it."""
    known, viewer = _known_name(scope)
    rows = connection.execute(
        "SELECT a.entity, a.name, a.norm FROM carray(?) c CROSS JOIN alias a ON a.entity = c.value "
        f"WHERE {known} ORDER BY a.entity, a.norm",
        (connection.array(entities), *viewer),
    )
    return [(int(entity), str(name), str(norm)) for entity, name, norm in rows]


def stands_in(name: str, norm: str) -> str:
    """Return whether a name, given by expressions for it and for it normalised, stands in ``item AS i``."""
    # In a value ``Dwayne "The Rock" Johnson`` has backslashes.
    in_json = f"substr(json_quote({name}), 2, length(json_quote({name})) - 2)"
    return (
        f"(instr(lower(i.value), lower({in_json})) > 0 OR instr(lower(i.value), {norm}) > 0 "
        f"OR lower(i.speaker) = lower({name}))"
    )


def _known_name(scope: CompiledScope) -> tuple[str, Bindings]:
    """Return whether a name, ``alias AS a``, is one the viewer may read.

    What a private memory calls somebody is private with it, so a viewer knows only names that
    stand in a memory open to them, or its speaker. Letters beyond ASCII compare by case.
    """
    told, then = _told_by_then(scope, "a")
    if scope.scope.viewer is None:
        return told, then
    where, bindings = within(scope)
    return (
        f"{told} AND EXISTS (SELECT 1 FROM mention m CROSS JOIN item i ON i.id = m.item "
        f"WHERE m.entity = a.entity AND {where} AND {stands_in('a.name', 'a.norm')})",
        (*then, *bindings),
    )


def entities(connection: Connection, ids: Iterable[int]) -> list[EntityRow]:
    """Return the rows of these entities, oldest first."""
    rows = connection.execute(
        "SELECT id, key, name, kind FROM carray(?) c CROSS JOIN entity e ON e.id = c.value "
        "ORDER BY id",
        (connection.array(ids),),
    )
    return [EntityRow(*row) for row in rows]


def names(connection: Connection, scope: CompiledScope, ids: Iterable[int]) -> dict[int, str]:
    """Return a name for each of these entities: its name, or one the viewer may know, or its kind."""
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
    among: Iterable[int] | None = None,
    relation: str | None = None,
    inside: bool = False,
    also: Iterable[int] | None = None,
    corrects: bool = False,
) -> list[EdgeRow]:
    """Return the edges that a memory in scope claims, oldest claim first.

    Args:
        namespace: All of this namespace; or
        touching: those with one of these entities at either end; or
        facts: those that one of these memories claims; or
        among: those of these ids.
        relation: Only this relation.
        inside: Of those that touch one of these, only those between two of them, or to a literal.
        also: Only those whose memories claim something of one of these, too, at either end.
        corrects: Only those whose memories say that they correct something.
    """
    where, bindings = within(scope)
    columns, asked = [f"i.{name}" for name in FACT_COLUMNS], cast("Bindings", ())
    if scope.scope.known_at is not None:
        columns = [scopes.column(name) for name in FACT_COLUMNS]
        asked = (to_us(scope.scope.known_at),) * len(columns)
        # A claim may have been made of the memory later.
        told, then = _told_by_then(scope, "e")
        where, bindings = f"{where} AND {told}", (*bindings, *then)
    if relation is not None:
        where, bindings = f"{where} AND e.relation = ?", (*bindings, relation)
    if also is not None:
        where += (
            " AND EXISTS (SELECT 1 FROM edge b WHERE b.fact = e.fact AND EXISTS "
            "(SELECT 1 FROM carray(?) c WHERE c.value IN (b.subject, b.object)))"
        )
        bindings = (*bindings, connection.array(also))
    if corrects:
        where += " AND CAST(i.value ->> '$.corrects' AS INTEGER) = 1"
    first: Any = namespace
    sources = ["entity s CROSS JOIN edge e ON e.subject = s.id AND s.namespace = ?"]
    some = touching if facts is None else facts
    if some is not None:
        ends = ("fact",) if facts is not None else ("subject", "object")[: 1 if inside else 2]
        sources = [f"carray(?) c CROSS JOIN edge e ON e.{end} = c.value" for end in ends]
        first = connection.array(some)
    if among is not None:
        sources = ["carray(?) c CROSS JOIN edge e ON e.id = c.value"]
        first = connection.array(among)
    if facts is None and touching is not None and inside:
        where += " AND (e.object IS NULL OR e.object IN (SELECT value FROM carray(?)))"
        bindings = (*bindings, first)
    # One part a source, never OR: each end has an index of its own.
    rows = connection.execute(
        " UNION ".join(
            f"SELECT {EDGE_COLUMNS}, {', '.join(columns)} FROM {source} CROSS JOIN item i ON i.id = e.fact "
            f"WHERE {where}"
            for source in sources
        )
        + " ORDER BY 1",
        tuple(value for _ in sources for value in (*asked, first, *bindings)),
    )
    return [EdgeRow(*row) for row in rows]


FEW_EDGES: Final = 20_000
"""Up to so many edges of a namespace are sorted; of more those of the file are walked in order."""


def edge_ids(
    connection: Connection,
    namespace: int,
    *,
    touching: Iterable[int] | None,
    relation: str | None,
    after: int,
    limit: int,
) -> list[int]:
    """Return the ids of the first edges behind one, whoever may know of them, in order.

    Args:
        namespace: All of this namespace; or
        touching: those with one of these entities at either end.
        relation: Only this relation.
    """
    told, bindings = "e.id > ?", cast("Bindings", (after,))
    if relation is not None:
        told, bindings = f"{told} AND e.relation = ?", (*bindings, relation)
    of_place = "entity s CROSS JOIN edge e ON e.subject = s.id AND s.namespace = ?"
    if touching is not None:
        first: Any = connection.array(touching)
        sources = [
            f"carray(?) c CROSS JOIN edge e ON e.{end} = c.value" for end in ("subject", "object")
        ]
    else:
        first, sources = namespace, [of_place]
        (held,) = connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {of_place} LIMIT ?)", (namespace, FEW_EDGES + 1)
        ).fetchone()
        if held > FEW_EDGES:
            sources = ["edge e CROSS JOIN entity s ON s.id = e.subject AND s.namespace = ?"]
    rows = connection.execute(
        " UNION ".join(f"SELECT e.id FROM {source} WHERE {told}" for source in sources)
        + " ORDER BY 1 LIMIT ?",
        (*(value for _ in sources for value in (first, *bindings)), limit),
    )
    return [int(row[0]) for row in rows]


def by_keys(
    connection: Connection, namespace: int, after: str, limit: int
) -> list[tuple[int, str]]:
    """Return ids and keys of the first entities of a namespace behind a key, spoken of or not."""
    rows = connection.execute(
        "SELECT id, key FROM entity WHERE namespace = ? AND key > ? ORDER BY key LIMIT ?",
        (namespace, after, limit),
    )
    return [(int(row[0]), str(row[1])) for row in rows]


class ClockRow(NamedTuple):
    """When a fact, and what replaced it, were said: ISO 8601 with the offset of who said it."""

    item: int
    said_at: str | None
    ended_said_at: str | None


def clocks(connection: Connection, facts: Iterable[int]) -> list[ClockRow]:
    """Return the clocks by which the times of these memories are to be told."""
    rows = connection.execute(
        "SELECT i.id, i.value ->> '$.said_at', (SELECT b.value ->> '$.said_at' FROM item b "
        "WHERE b.namespace = i.namespace AND b.key = i.superseded_by) "
        "FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
        (connection.array(facts),),
    )
    return [ClockRow(*row) for row in rows]


MOST_CLAIMS: Final = 64
"""Claims of one entity under one relation that are read, the newest."""
MOST_CLAIMS_NAMED: Final = 20_000
"""Claims whose relations are looked through (a millisecond)."""
MOST_CLAIMS_OF_OBJECT: Final = 512
"""Claims with one entity as their object that are looked through, the newest."""


_CLAIM_COLUMNS: Final = (
    "i.id, i.owner, e.subject, e.relation, e.object, e.literal, i.valid_at, "
    "coalesce(i.value ->> '$.fact_kind' = 'event' "
    "AND i.valid_at > unixepoch(i.value ->> '$.said_at') * 1000000, FALSE)"
)


class ClaimRow(NamedTuple):
    """An edge and its memory."""

    item: int
    owner: str | None
    subject: int
    relation: str
    object: int | None
    literal: str | None
    valid_at: int | None
    """Since when it holds, in microseconds."""
    announced: bool
    """It was told as an event of a day that was yet to come."""


def relations_of(
    connection: Connection, entities: Iterable[int], words: Collection[str]
) -> set[str]:
    """Return the relations that these entities (links not followed) are the subject of, for any viewer,
    and whose names have one of the words in them."""
    rows = connection.execute(
        "SELECT DISTINCT relation FROM (SELECT e.relation FROM carray(?) c "
        "CROSS JOIN edge e ON e.subject = c.value LIMIT ?) named "
        "WHERE EXISTS (SELECT 1 FROM carray(?) w WHERE instr(relation, w.value) > 0)",
        (connection.array(entities), MOST_CLAIMS_NAMED, connection.text_array(tuple(words))),
    )
    return {str(row[0]) for row in rows}


def claims_made(connection: Connection, items: Iterable[int]) -> list[ClaimRow]:
    """Return the edges of these memories."""
    rows = connection.execute(
        f"SELECT {_CLAIM_COLUMNS} FROM carray(?) c CROSS JOIN edge e ON e.fact = c.value "
        "CROSS JOIN item i ON i.id = e.fact ORDER BY e.id",
        (connection.array(items),),
    )
    return [ClaimRow(*row) for row in rows]


def claims_of(
    connection: Connection, scope: CompiledScope, entities: Iterable[int], limit: int
) -> list[ClaimRow]:
    """Return the newest edges in scope from one of these entities (links not followed)."""
    where, bindings = within(scope)
    rows: list[tuple[Any, ...]] = []
    for entity in entities:
        found = connection.execute(
            f"SELECT {_CLAIM_COLUMNS}{scope.value_column} FROM edge e CROSS JOIN item i ON i.id = e.fact "
            f"WHERE e.subject = ? AND {where} ORDER BY e.id DESC LIMIT ?",
            (entity, *bindings, limit),
        )
        rows += scope.passing(found)
    return [ClaimRow(*row) for row in rows]


def claims_about(
    connection: Connection,
    scope: CompiledScope,
    entities: Iterable[int],
    relations: Collection[str],
) -> list[ClaimRow]:
    """Return the edges in scope from or to one of these entities (links not followed)."""
    where, bindings = within(scope)
    columns = _CLAIM_COLUMNS + scope.value_column
    of_subject = (
        f"SELECT {columns} FROM edge e CROSS JOIN item i ON i.id = e.fact "
        f"WHERE e.subject = ? AND e.relation = ? AND {where} ORDER BY e.id DESC LIMIT ?"
    )
    of_object = (
        f"SELECT {columns} FROM (SELECT * FROM edge WHERE object = ? ORDER BY id DESC LIMIT ?) e "
        "CROSS JOIN item i ON i.id = e.fact "
        f"WHERE e.relation IN (SELECT value FROM carray(?)) AND {where} LIMIT ?"
    )
    rows: list[tuple[Any, ...]] = []
    for entity in entities:
        for relation in relations:
            found = connection.execute(of_subject, (entity, relation, *bindings, MOST_CLAIMS))
            rows += scope.passing(found)
        named = connection.text_array(tuple(relations))
        found = connection.execute(
            of_object, (entity, MOST_CLAIMS_OF_OBJECT, named, *bindings, MOST_CLAIMS)
        )
        rows += scope.passing(found)
    return [ClaimRow(*row) for row in rows]


NO_FACTS: Final = "SELECT NOT EXISTS (SELECT 1 FROM evidence)"


def rests_on_nothing(connection: Connection) -> bool:
    """Return whether nothing in the file was derived from anything."""
    return bool(connection.execute(NO_FACTS).fetchone()[0])


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


def outdated_sources(
    connection: Connection, scope: CompiledScope, items: Ids
) -> list[tuple[int, bytes]]:
    """Return those of the items that something was derived from, of which all that the viewer may know
    of has given way since: (item, words of one fact) for each fact."""
    seen = visible_to(scope.scope.viewer)
    rows = connection.execute(
        "SELECT v.source, i.status, i.tokens FROM carray(?) c CROSS JOIN evidence v ON v.source = c.value "
        f"CROSS JOIN item i ON i.id = v.item WHERE {seen.sql} AND NOT ({IS_NODE.format('i')}) "
        "ORDER BY v.source, i.id",
        (connection.array(items.tolist()), *seen.bindings),
    ).fetchall()
    hold = {source for source, status, _ in rows if status == "active"}
    return [
        (source, tokens or b"")
        for source, status, tokens in rows
        if status == "superseded" and source not in hold
    ]


def successors(connection: Connection, scope: CompiledScope, items: Ids) -> tuple[Ids, Ids]:
    """Return the items that took the place of something that was derived from the items, of which the
    viewer may know: (int64[n] of the items, int64[n] memories in scope that hold now)."""
    where, bindings = within(scope)
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


def linked(
    connection: Connection, scope: CompiledScope, items: Ids, relations: Sequence[str]
) -> list[tuple[int, int]]:
    """Return the pairs of one of the items and a memory in scope that a link of these relations leads to from
    it, or from which one leads to it."""
    where, bindings = within(scope)
    seen = visible_to(scope.scope.viewer, "f")
    pairs = connection.execute(
        "WITH here (item, anchor) AS (SELECT h.id, a.id FROM carray(?) c CROSS JOIN item h ON h.id = c.value "
        f"CROSS JOIN entity a ON a.namespace = h.namespace AND a.key = '{MEMORY}' || h.key), "
        "beside (item, fact, relation, other) AS ("
        "SELECT s.item, e.fact, e.relation, e.object FROM here s CROSS JOIN edge e ON e.subject = s.anchor "
        "WHERE e.object IS NOT NULL UNION ALL "
        "SELECT o.item, e.fact, e.relation, e.subject FROM here o CROSS JOIN edge e ON e.object = o.anchor) "
        f"SELECT DISTINCT b.item, i.id{scope.value_column} FROM beside b CROSS JOIN item f ON f.id = b.fact "
        f"CROSS JOIN entity n ON n.id = b.other CROSS JOIN item i ON {anchors.of_memory('n', 'i')} "
        f"WHERE b.relation IN ({', '.join('?' * len(relations))}) AND f.status = 'active' AND {seen.sql} "
        f"AND {where} ORDER BY b.item, i.id",
        (connection.array(items.tolist()), *relations, *seen.bindings, *bindings),
    )
    return list(scope.passing(pairs))


def _columns(pairs: Sequence[tuple[int, ...]]) -> tuple[Ids, Ids]:
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


def _evidence(connection: Connection, scope: CompiledScope, asked: Any) -> list[tuple[Any, ...]]:
    """Return the steps between memories and their sources: (asked, reached, whether the reached was
    derived from it)."""
    where, bindings = within(scope)
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
