"""Erasing memories from every table that names them by id or key.

What stays is that something was forgotten: one row a memory in the history, with its key sealed,
and the record of the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from langmemory.ledger import history, removal
from langmemory.ledger.connection import Connection
from langmemory.ledger.forgetting.erasure_scope import ErasureScope, id_set
from langmemory.ledger.items import Batch
from langmemory.ledger.jobs import READS_ONLY
from langmemory.ledger.namespaces import below, find, intern, lineage, to_path
from langmemory.ledger.part_rows import registered
from langmemory.ledger.runs import UNDO
from langmemory.ledger.tables import schema
from langmemory.ledger.values import from_us, leaves
from langmemory.types import Forgotten, Namespace
from langmemory.values import from_json, to_json


class _Place(NamedTuple):
    """Where a memory is, or was."""

    item: int
    namespace: int
    path: str
    key: str


class Kept(NamedTuple):
    """What memories that are not in this file still need of it."""

    entities: AbstractSet[int] = frozenset()
    """Entities that they speak of."""
    runs: AbstractSet[str] = frozenset()
    """Runs that made or changed them."""


def still_there(connection: Connection, namespace: Namespace) -> int:
    """Return the id of a namespace, or of what is left above it, or of the `history.TOMBSTONES`."""
    for depth in range(len(namespace), 0, -1):
        found = find(connection, namespace[:depth])
        if found is not None:
            return found
    return intern(connection, history.TOMBSTONES)


def erase(
    connection: Connection,
    scope: ErasureScope,
    prefix: Namespace,
    now_us: int,
    run: str,
    kept: Kept,
) -> tuple[Forgotten, list[str]]:
    """Take what is in scope out of every table that names it by id or key, in a write transaction.
    Return what went, or was blanked, and the runs whose record may tell of it.

    Entities below the prefix that no memory speaks of any more go with it, whoever spoke of them.
    What tables say in free text is `scrub`'s; the bytes are the purge's.

    Args:
        connection: Of the memory file.
        scope: What goes.
        prefix: Below which it is forgotten.
        now_us: When, microseconds since 1970 UTC.
        run: The id of the run that forgets.
        kept: What memories in the archive file need.
    """
    array = connection.array(scope.every)

    def number(query: str) -> int:
        return int(connection.execute(query, (array,)).fetchone()[0])

    # Look first: what is counted and named here is gone afterwards.
    kinds = connection.execute(
        "SELECT kind, count(*) FROM item WHERE id IN (SELECT value FROM carray(?)) "
        "GROUP BY kind ORDER BY kind",
        (array,),
    ).fetchall()
    rows = connection.execute(
        "WITH place (item, namespace, key) AS ("
        "SELECT id, namespace, key FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
        "SELECT item, namespace, key FROM history WHERE key IS NOT NULL "
        "AND item IN (SELECT value FROM carray(?1))) "
        "SELECT p.item, n.id, n.path, p.key FROM place p JOIN namespace n ON n.id = p.namespace",
        (array,),
    )
    places = [_Place(*row) for row in rows]
    entities = scope.entities | (_silent(connection, array, prefix) - kept.entities)
    reviews = scope.reviews | _reviews_about(connection, places)
    changed = id_set(
        connection,
        "SELECT item FROM history WHERE seq IN (SELECT value FROM carray(?))",
        (connection.array(scope.past),),
    )
    empty = [one for one in _empty_runs(connection, prefix) if one not in kept.runs]
    runs = empty + _runs_of(
        connection,
        connection.array({*scope.every, *changed}),
        connection.array(entities),
        reviews,
    )
    facts_kept = number(
        "SELECT count(DISTINCT item) FROM evidence WHERE source IN (SELECT value FROM carray(?1)) "
        "AND item NOT IN (SELECT value FROM carray(?1)) "
        "AND EXISTS (SELECT 1 FROM item i WHERE i.id = evidence.item)"
    )
    told = number(
        "SELECT count(*) FROM history WHERE before IS NOT NULL "
        "AND item IN (SELECT value FROM carray(?))"
    )
    edges = number("SELECT count(*) FROM edge WHERE fact IN (SELECT value FROM carray(?))")
    # Then erase, from the items to the namespaces that they leave empty.
    _hand_on(connection, scope)
    for item in sorted(scope.alive):
        removal.delete(connection, item, now_us, run=run)
    for item in sorted(scope.gone):
        removal.forget_beside(connection, item)
    _forget_entities(connection, entities)
    _forget_heirs(connection, places)
    connection.executemany("DELETE FROM review WHERE id = ?", [(one,) for one in reviews])
    told += _blank_past(connection, scope.past, changed)
    _seal(connection, scope, places, now_us, run)
    connection.erase_vectors(scope.every)
    touched = {place.namespace for place in places} | scope.namespaces
    _forget_threads(connection, touched)
    connection.execute(
        "DELETE FROM path WHERE NOT EXISTS (SELECT 1 FROM leaf WHERE leaf.path = path.id)"
    )
    connection.executemany(
        "DELETE FROM message WHERE namespace = ?1; DELETE FROM subscription WHERE namespace = ?1",
        [(one,) * 2 for one in scope.namespaces],
    )
    for kind, rows in scope.part_rows.items():
        touched |= registered()[kind].forget(connection, list(rows.values()), now_us)
    forget_namespaces(connection, touched)
    forgotten = Forgotten(
        run_id=run, kinds=dict(kinds), history=told, facts_kept=facts_kept, edges=edges,
        entities=len(entities), reviews=len(reviews), notes=0,
        secrets=sum(map(len, scope.part_rows.values())),
    )  # fmt: skip
    return forgotten, runs


def _runs_of(
    connection: Connection, items_array: Any, entities_array: Any, reviews: Iterable[str]
) -> list[str]:
    rows = connection.execute(
        "WITH going (id) AS (SELECT value FROM carray(?1)), named (id) AS "
        "(SELECT value FROM carray(?2)), "
        "spoken (id) AS (SELECT entity FROM mention WHERE item IN going) "
        f"{_runs_beside()} UNION "
        "SELECT run FROM entity WHERE id IN named UNION "
        "SELECT link_run FROM entity WHERE id IN named UNION "
        # Why names are linked may quote what was said of them.
        "SELECT link_run FROM entity WHERE id IN spoken OR same_as IN spoken UNION "
        "SELECT run FROM alias WHERE entity IN named UNION "
        "SELECT run FROM review WHERE id IN (SELECT value FROM json_each(?3)) UNION "
        "SELECT decided_run FROM review WHERE id IN (SELECT value FROM json_each(?3))",
        (items_array, entities_array, json.dumps(list(reviews))),
    )
    return [str(row[0]) for row in rows if row[0] is not None]


@schema.cached_derivation
def _runs_beside() -> str:
    """Return the query for the runs that wrote rows beside the items in ``going``."""
    return " UNION ".join(
        f"SELECT {run} FROM {table.name} WHERE "
        + " OR ".join(f"{item} IN going" for item in table.ids_of("item"))
        for table in schema.beside_items()
        for run in table.ids_of("run")
    )


@schema.cached_derivation
def _runs_named() -> str:
    """Return the query for the runs that rows name; of the history, its index is asked."""
    return " UNION ALL ".join(
        f"SELECT {run} FROM {table.name} WHERE {run} IS NOT NULL"
        for table in schema.tables()
        if table is not schema.HISTORY
        for run in table.ids_of("run")
    )


def _empty_runs(connection: Connection, prefix: Namespace) -> list[str]:
    """Return the runs of which nothing is left but their record: of whom that tells, nobody knows. An undo
    says no more than which run it undid, and tells of whom that one does."""
    where, bindings = below(prefix)
    rows = connection.execute(
        "SELECT r.id, u.id FROM run r "
        "LEFT JOIN run u ON r.kind = 'undo' AND u.id = substr(r.id, length(?) + 1) "
        f"WHERE r.namespace IN {where} AND r.kind <> 'forget' AND r.id NOT IN ({_runs_named()}) "
        "AND NOT EXISTS (SELECT 1 FROM history WHERE history.run = r.id)",
        (UNDO, *bindings),
    )
    found: dict[str, str | None] = dict(rows.fetchall())
    return [run for run, undone in found.items() if undone is None or undone in found]


def _silent(connection: Connection, going: Any, prefix: Namespace) -> set[int]:
    """Return the entities that only memories which are going speak of, or none at all."""
    where, bindings = below(prefix)
    return id_set(
        connection,
        "WITH going (id) AS (SELECT value FROM carray(?)) SELECT e.id FROM entity e WHERE "
        "NOT EXISTS (SELECT 1 FROM mention WHERE entity = e.id AND item NOT IN going) AND "
        "NOT EXISTS (SELECT 1 FROM edge WHERE subject = e.id AND fact NOT IN going) AND "
        "NOT EXISTS (SELECT 1 FROM edge WHERE object = e.id AND fact NOT IN going) AND "
        f"e.namespace IN {where}",
        (going, *bindings),
    )


def _forget_entities(connection: Connection, entities: set[int]) -> None:
    array = connection.array(entities)
    query = "SELECT key FROM entity WHERE id IN (SELECT value FROM carray(?))"
    keys = {row[0] for row in connection.execute(query, (array,))}
    connection.execute(
        "DELETE FROM edge WHERE subject IN (SELECT value FROM carray(?1)) "
        "OR object IN (SELECT value FROM carray(?1)); "
        "DELETE FROM mention WHERE entity IN (SELECT value FROM carray(?1)); "
        "DELETE FROM alias WHERE entity IN (SELECT value FROM carray(?1)); "
        "UPDATE entity SET same_as = NULL WHERE same_as IN (SELECT value FROM carray(?1)); "
        "DELETE FROM entity WHERE id IN (SELECT value FROM carray(?1))",
        (array,) * 5,
    )
    for run, links in connection.execute(
        "SELECT id, links FROM run WHERE links <> '{}'"
    ).fetchall():
        found = from_json(links)
        kept = {key: old for key, old in found.items() if not {key, old[0]} & keys}
        if kept != found:
            connection.execute("UPDATE run SET links = ? WHERE id = ?", (to_json(kept), run))


def _forget_heirs(connection: Connection, places: Iterable[_Place]) -> None:
    """Memories that gave way to these do not name them any more, nor does their history."""
    keys = {(place.namespace, place.key) for place in places}
    for namespace in {place.namespace for place in places}:
        items = connection.execute(
            "SELECT id, superseded_by FROM item WHERE namespace = ? AND superseded_by IS NOT NULL",
            (namespace,),
        ).fetchall()
        connection.executemany(
            "UPDATE item SET superseded_by = NULL WHERE id = ?",
            [(item,) for item, heir in items if (namespace, heir) in keys],
        )
        changes = connection.execute(
            "SELECT h.seq, h.facets ->> '$.superseded_by' FROM ("
            "SELECT id AS item FROM item WHERE namespace = ?1 UNION "
            "SELECT item FROM history WHERE namespace = ?1 AND key IS NOT NULL) there "
            "CROSS JOIN history h ON h.item = there.item "
            "WHERE h.facets ->> '$.superseded_by' IS NOT NULL",
            (namespace,),
        ).fetchall()
        connection.executemany(
            "UPDATE history SET facets = json_set(facets, '$.superseded_by', NULL) WHERE seq = ?",
            [(seq,) for seq, heir in changes if (namespace, heir) in keys],
        )


def _reviews_about(connection: Connection, places: Iterable[_Place]) -> set[str]:
    going = {(place.namespace, place.key) for place in places}
    rows = connection.execute(
        "SELECT v.id, v.namespace, j.value FROM review v, json_each(v.items) j UNION "
        "SELECT v.id, v.namespace, j.atom FROM review v, json_tree(v.options) j"
    )
    return {str(review) for review, namespace, key in rows if (namespace, key) in going}


def _seal(
    connection: Connection,
    scope: ErasureScope,
    places: Sequence[_Place],
    now_us: int,
    run: str,
) -> None:
    """Blank the history of the items, and record that they were forgotten."""
    array = connection.array(scope.every)
    connection.execute(
        "UPDATE history SET before = NULL, facets = NULL, reason = NULL "
        "WHERE item IN (SELECT value FROM carray(?))",
        (array,),
    )
    for item, namespace, path, key in places:
        seal = history.seal_key(path, key)
        connection.execute(
            "UPDATE history SET key = ? WHERE item = ? AND key IS NOT NULL", (seal, item)
        )
        if item in scope.alive:  # its deletion, just recorded, is the record
            connection.execute(
                # Not by the index of runs: this one has as many rows as there are memories.
                "UPDATE history SET action = 'forget' WHERE item = ? AND +run = ?",
                (item, run),
            )
        else:
            history.record(connection, now_us, "forget", item, gone_from=(namespace, seal), run=run)


def _blank_past(connection: Connection, past: Iterable[int], items: Iterable[int]) -> int:
    """Blank what items that stay once said, and why they were changed."""
    connection.execute(
        "UPDATE history SET before = NULL, facets = NULL WHERE seq IN "
        "(SELECT value FROM carray(?))",
        (connection.array(past),),
    )
    count = connection.changes()
    connection.execute(
        "UPDATE history SET reason = NULL WHERE item IN (SELECT value FROM carray(?))",
        (connection.array(items),),
    )
    return count


def _forget_threads(connection: Connection, touched: Iterable[int]) -> None:
    """Threads of these namespaces that no item is in any more, with the jobs that were to read them."""
    gone = connection.execute(
        "DELETE FROM thread WHERE namespace IN (SELECT value FROM carray(?)) "
        "AND NOT EXISTS (SELECT 1 FROM item WHERE item.thread = thread.id) "
        "RETURNING name, (SELECT path FROM namespace n WHERE n.id = thread.namespace)",
        (connection.array(touched),),
    ).fetchall()
    connection.executemany(f"DELETE FROM job WHERE thread = ? AND lane = ? AND {READS_ONLY}", gone)


@schema.cached_derivation
def _names_namespace() -> str:
    """Return the condition that something is in a namespace, or below it."""
    return " OR ".join(
        f"EXISTS (SELECT 1 FROM {table.name} WHERE {column.name} = ?1)"
        for table in schema.tables()
        for column in table.columns
        if column.of == schema.NAMESPACE.name and not (column.loose or table.derived)
    )


def forget_namespaces(connection: Connection, touched: Iterable[int]) -> None:
    """Names of namespaces that nothing else is in go too: they are often those of people. What the
    history says of them stands one up, or in the `history.TOMBSTONES`."""
    above = {one for namespace in touched for one in lineage(connection, namespace)}
    rows = connection.execute(
        "SELECT id, parent FROM namespace WHERE id IN (SELECT value FROM carray(?)) "
        "AND path <> ? ORDER BY length(path) DESC",
        (connection.array(above), to_path(history.TOMBSTONES)),
    ).fetchall()
    for namespace, parent in rows:
        used = connection.execute(
            f"SELECT {_names_namespace()} OR EXISTS (SELECT 1 FROM history "
            "WHERE namespace = ?1 AND key IS NOT NULL AND substr(key, 1, ?2) <> ?3)",
            (namespace, len(history.SEAL), history.SEAL),
        ).fetchone()
        if used[0]:
            continue
        heir = intern(connection, history.TOMBSTONES) if parent is None else parent
        connection.execute(
            "UPDATE history SET namespace = ?1 WHERE namespace = ?2 AND key IS NOT NULL; "
            "UPDATE run SET namespace = ?1 WHERE namespace = ?2; "
            "DELETE FROM job WHERE lane = (SELECT path FROM namespace WHERE id = ?) "
            f"AND {READS_ONLY}; DELETE FROM namespace WHERE id = ?",
            (heir, namespace, heir, namespace, namespace, namespace),
        )


def _hand_on(connection: Connection, scope: ErasureScope) -> None:
    """Make facts that others said too those others'. In a write transaction, before the rest is erased.

    Owner, speaker and time become those of what is left of the evidence: the first of it tells who said
    it and when, and they own it if nobody else said it as well.
    """
    going = connection.array(scope.every)
    for item in sorted(scope.inherited):
        left = connection.execute(
            "SELECT s.owner, s.speaker, s.valid_at, s.value ->> '$.at' FROM evidence v "
            "JOIN item s ON s.id = v.source WHERE v.item = ? "
            "AND s.id NOT IN (SELECT value FROM carray(?)) ORDER BY s.valid_at, s.id",
            (item, going),
        ).fetchall()
        first_said = connection.execute(
            "SELECT min(s.valid_at) FROM evidence v JOIN item s ON s.id = v.source "
            "WHERE v.item = ? AND s.id IN (SELECT value FROM carray(?))",
            (item, going),
        ).fetchone()[0]
        owners = {row[0] for row in left}
        owner = owners.pop() if len(owners) == 1 else None
        _, speaker, valid_at, told = left[0]
        [(namespace, text, since)] = connection.execute(
            "SELECT namespace, value, valid_at FROM item WHERE id = ?", (item,)
        ).fetchall()
        value = from_json(text)
        said_at = told or (None if valid_at is None else from_us(valid_at).isoformat())
        for name, new in (("speaker", speaker), ("owner", owner), ("said_at", said_at)):
            if name in value:
                value[name] = new
        connection.execute(
            "UPDATE item SET owner = ?, speaker = ?, value = ?, valid_at = ? WHERE id = ?",
            (owner, speaker, to_json(value), valid_at if since == first_said else since, item),
        )
        connection.execute("DELETE FROM leaf WHERE item = ?", (item,))
        batch = Batch(connection, 0, None, None)
        batch.leaf_rows.extend(
            (batch.path(name), leaf, namespace, item) for name, leaf in leaves(value)
        )
        batch.flush()
