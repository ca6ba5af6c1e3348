"""Rows that rest on a run: changes and rows of later runs that would lose their ground with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from langmemory.ledger.graph import graph_rows
from langmemory.ledger.records import runs
from langmemory.ledger.records.removal import RESTORABLE
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.tree import IS_NODE


class Dependant(NamedTuple):
    """Something of a later run, and what it builds on."""

    run: str
    what: str


_ON_ENTITY: Final = (
    ("SELECT run FROM alias WHERE entity = ?", "names the entity {}"),
    ("SELECT run FROM mention WHERE entity = ?", "mentions the entity {}"),
    ("SELECT run FROM edge WHERE subject = ?", "claims something of the entity {}"),
    ("SELECT run FROM edge WHERE object = ?", "claims something of the entity {}"),
    ("SELECT link_run FROM entity WHERE same_as = ?", "links another entity to {}"),
    ("SELECT link_run FROM entity WHERE id = ? AND link_run IS NOT NULL", "links the entity {}"),
)


def on_items(connection: Connection, run: str, added: Mapping[int, str]) -> Iterator[Dependant]:
    """Yield the rows of other runs that rest on the items a run added: {id: key}, of one namespace."""
    for item, key in added.items():
        # A summary of the tree is made anew without what is taken out.
        for (other,) in connection.execute(
            "SELECT v.run FROM evidence v LEFT JOIN item i ON i.id = v.item "
            f"WHERE v.source = ? AND NOT coalesce({IS_NODE.format('i')}, FALSE)",
            (item,),
        ):
            if other != run:
                yield Dependant(other, f"takes {key} as evidence")
    here = "(SELECT namespace FROM run WHERE id = ?1)"
    keys = json.dumps(list(added.values()))
    for key, other in connection.execute(
        "SELECT i.superseded_by, (SELECT h.run FROM history h JOIN run r ON r.id = h.run "
        "WHERE h.item = i.id AND h.action IN ('supersede', 'merge') AND r.undone_by IS NULL "
        f"ORDER BY h.seq DESC LIMIT 1) FROM item i WHERE i.status <> 'active' "
        f"AND i.namespace = {here} AND i.superseded_by IN (SELECT value FROM json_each(?2))",
        (run, keys),
    ):
        if other not in (None, run):
            yield Dependant(other, f"lets {key} take a memory's place")
    for key, other in connection.execute(
        "SELECT heir, run FROM (SELECT h.facets ->> '$.superseded_by' AS heir, h.run FROM history h "
        f"JOIN run r ON r.id = h.run WHERE h.namespace = {here} AND {RESTORABLE} "
        "AND h.facets ->> '$.status' <> 'active' "
        "AND r.undone_by IS NULL AND h.run <> ?1) removed WHERE heir IN (SELECT value FROM json_each(?2))",
        (run, keys),
    ):
        yield Dependant(other, f"removed a memory whose place {key} had taken")
    for review, other, key in connection.execute(
        f"SELECT v.id, v.run, j.value FROM review v, json_each(v.items) j WHERE v.namespace = {here} "
        "AND v.decision IS NULL AND v.run <> ?1 AND j.value IN (SELECT value FROM json_each(?2))",
        (run, keys),
    ):
        yield Dependant(other, f"asks about {key} (decide review {review}, or undo the run)")


def on_graph(connection: Connection, run: str) -> Iterator[Dependant]:
    """Yield the rows of other runs that rest on the entities, links and reviews of a run."""
    entities = connection.execute("SELECT id, key FROM entity WHERE run = ?", (run,)).fetchall()
    for entity, key in entities:
        for query, what in _ON_ENTITY:
            for (other,) in connection.execute(query, (entity,)):
                if other not in (None, run):
                    yield Dependant(other, what.format(key))
    for key, other in connection.execute(
        "SELECT e.key, e.link_run FROM run r CROSS JOIN json_each(r.links) j "
        "CROSS JOIN entity e ON e.namespace = r.namespace AND e.key = j.key "
        "WHERE r.id = ?1 AND e.link_run <> ?1",
        (run,),
    ):
        yield Dependant(other, f"links the entity {key}")
    yield from _circles(connection, run)
    for review, other in connection.execute(
        "SELECT id, decided_run FROM review WHERE run = ?1 AND decided_run <> ?1", (run,)
    ):
        yield Dependant(other, f"decided review {review}")


def _circles(connection: Connection, run: str) -> Iterator[Dependant]:
    """Links of other runs that would lead an entity back to itself, once the links of a run are as
    they were before it."""
    restored: dict[int, int | None] = {}
    keys: dict[int, str] = {}
    (namespace,) = connection.execute("SELECT namespace FROM run WHERE id = ?", (run,)).fetchone()
    for key, (same_as, _) in runs.links(connection, run).items():
        entity = graph_rows.find_entity(connection, namespace, key)
        if entity is not None:
            target = same_as and graph_rows.find_entity(connection, namespace, same_as)
            restored[entity], keys[entity] = target or None, key
    for entity, target in restored.items():
        later: list[str | None] = []
        passed: set[int] = set()
        at = target
        while at is not None and at != entity and at not in passed:
            passed.add(at)
            if at in restored:
                at = restored[at]
                continue
            at, by = connection.execute(
                "SELECT same_as, link_run FROM entity WHERE id = ?", (at,)
            ).fetchone()
            later.append(by)
        if at == entity:
            for other in later:
                if other is not None:
                    yield Dependant(other, f"links to {keys[entity]} what it was linked to")
