"""Writing the graph: entities with their names and links, mentions, edges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from langmemory.ledger.connection import Connection, insert_new
from langmemory.ledger.tables import schema


def find_entity(connection: Connection, namespace: int, key: str) -> int | None:
    row = connection.execute(
        "SELECT id FROM entity WHERE namespace = ? AND key = ?", (namespace, key)
    ).fetchone()
    return None if row is None else int(row[0])


def add_entity(
    connection: Connection, namespace: int, key: str, name: str, kind: str, run: str
) -> int:
    row = connection.execute(
        "INSERT INTO entity (namespace, key, name, kind, run) VALUES (?, ?, ?, ?, ?) RETURNING id",
        (namespace, key, name, kind, run),
    ).fetchone()
    return int(row[0])


def add_aliases(
    connection: Connection,
    namespace: int,
    entity: int,
    names: Sequence[tuple[str, str]],
    run: str,
) -> int:
    """Add further (normalised name, name) of an entity; return how many were new."""
    return insert_new(
        connection,
        "alias (namespace, norm, entity, name, run)",
        [(namespace, norm, entity, name, run) for norm, name in names],
    )


def link_of(connection: Connection, entity: int) -> tuple[str | None, str | None]:
    """(key of the entity it is one with, run that said so last)."""
    key, run = connection.execute(
        "SELECT s.key, e.link_run FROM entity e LEFT JOIN entity s ON s.id = e.same_as "
        "WHERE e.id = ?",
        (entity,),
    ).fetchone()
    return key, run


def linked_by(connection: Connection, namespace: int, key: str) -> str | None:
    """Return the run by which the entity of this key is one with another; None where it is not."""
    row = connection.execute(
        "SELECT link_run FROM entity WHERE namespace = ? AND key = ? AND same_as IS NOT NULL",
        (namespace, key),
    ).fetchone()
    return None if row is None else row[0]


def link(connection: Connection, entity: int, same_as: int | None, run: str | None) -> None:
    connection.execute(
        "UPDATE entity SET same_as = ?, link_run = ? WHERE id = ?", (same_as, run, entity)
    )


def leads_to(connection: Connection, entity: int, target: int) -> bool:
    """Return whether an entity is another one, or links lead from it to that one."""
    row = connection.execute(
        "WITH RECURSIVE way (id) AS (VALUES (?) UNION SELECT e.same_as FROM way "
        "JOIN entity e ON e.id = way.id WHERE e.same_as IS NOT NULL) "
        "SELECT 1 FROM way WHERE id = ?",
        (entity, target),
    ).fetchone()
    return row is not None


def mention(connection: Connection, item: int, entities: Iterable[int], run: str) -> int:
    """Record that an item speaks of entities; return of how many it was not known."""
    rows = [(entity, item, run) for entity in entities]
    return insert_new(connection, "mention (entity, item, run)", rows)


def entities_of_item(connection: Connection, item: int) -> list[int]:
    """Return the ids of the entities an item speaks of."""
    rows = connection.execute("SELECT entity FROM mention WHERE item = ? ORDER BY entity", (item,))
    return [int(row[0]) for row in rows]


def add_edge(
    connection: Connection,
    fact: int,
    subject: int,
    relation: str,
    object: int | None,
    literal: str | None,
    run: str,
) -> bool:
    """Record a claim of a memory; whether it did not claim it before."""
    connection.execute(
        "INSERT INTO edge (fact, subject, relation, object, literal, run) "
        "SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM edge WHERE fact = ?1 "
        "AND subject = ?2 AND relation = ?3 AND object IS ?4 AND literal IS ?5)",
        (fact, subject, relation, object, literal, run),
    )
    return bool(connection.changes())


def learned_since(
    connection: Connection, entities: Iterable[int], relations: Collection[str], seq: int
) -> list[tuple[str, str | None]]:
    """(key, run) of memories added after a place in the history that claim something of one of these
    entities, at either end, under one of these relations."""
    rows = connection.execute(
        "SELECT i.key, h.run FROM history h CROSS JOIN edge e ON e.fact = h.item "
        "CROSS JOIN item i ON i.id = h.item WHERE h.seq > ?1 AND h.action = 'add' "
        "AND EXISTS (SELECT 1 FROM carray(?2) c WHERE c.value IN (e.subject, e.object)) "
        "AND e.relation IN (SELECT value FROM carray(?3)) "
        "GROUP BY i.key, h.run ORDER BY min(h.seq)",
        (seq, connection.array(entities), connection.text_array(tuple(relations))),
    )
    return [(str(key), run) for key, run in rows]


def claims_of_item(connection: Connection, item: int) -> dict[str, Any]:
    """Return the claims of a memory, by keys that outlive the rows: ``entities`` it speaks of, as {key:
    [name, kind, run]}, and ``edges``, as [subject, relation, object, literal, run]; {} for neither."""
    entities = {
        key: told
        for key, *told in connection.execute(
            "SELECT e.key, e.name, e.kind, m.run FROM mention m JOIN entity e ON e.id = m.entity "
            "WHERE m.item = ? ORDER BY e.id",
            (item,),
        )
    }
    if not entities:  # whoever claims something speaks of it
        return {}
    edges = connection.execute(
        "SELECT s.key, c.relation, o.key, c.literal, c.run FROM edge c "
        "JOIN entity s ON s.id = c.subject LEFT JOIN entity o ON o.id = c.object "
        "WHERE c.fact = ? ORDER BY c.id",
        (item,),
    ).fetchall()
    return {"entities": entities, "edges": edges}


def end_claims(connection: Connection, item: int) -> None:
    """A memory claims nothing any more, nor does it speak of anybody as far as the graph knows."""
    connection.execute(
        "DELETE FROM mention WHERE item = ?; DELETE FROM edge WHERE fact = ?", (item, item)
    )


def delete_of_run(connection: Connection, run: str) -> dict[str, int]:
    """Remove what a run added beside the items; how many rows, by what a person calls one."""
    counts = {}
    for table in schema.tables():
        if table.undone is not None:
            connection.execute(f"DELETE FROM {table.name} WHERE run = ?", (run,))
            counts[table.undone] = connection.changes()
    return counts
