"""Anchors: entities at the ends of links, which stand for a memory, or for an agent, swarm or artifact.

No memory mentions an anchor. One that stands for a memory is there as that memory is; every anchor is there
for who may read a memory that claims an edge of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from langmemory.ledger import graph_writing
from langmemory.ledger.connection import Connection
from langmemory.ledger.filters import Condition
from langmemory.ledger.scopes import CompiledScope
from langmemory.links import ANCHORS, KEYS, MEMORY, memory_of

RUN: Final = "anchor"
"""Stands for the run of an anchor: no run adds one, so that none is undone with another's links."""
_SPANS: Final = tuple(
    f"{{0}}.key >= '{one}' AND {{0}}.key < '{one[:-1]}{chr(ord(one[-1]) + 1)}'" for one in ANCHORS
)
"""Keys of anchors, as the index of keys finds them."""
_IN_NAMESPACE: Final = " UNION ALL ".join(
    f"SELECT k.id, k.key, k.namespace FROM entity k WHERE k.namespace = ? AND {one.format('k')}"
    for one in _SPANS
)


def is_anchor(entity: str) -> str:
    """Return whether rows of the table ``entity`` are anchors."""
    return f"({' OR '.join(one.format(entity) for one in _SPANS)})"


def of_memory(entity: str, item: str) -> str:
    """Return whether an anchor stands for an item."""
    return (
        f"({item}.namespace = {entity}.namespace AND substr({entity}.key, 1, {len(MEMORY)}) = '{MEMORY}' "
        f"AND {item}.key = substr({entity}.key, {len(MEMORY) + 1}))"
    )


def anchor(connection: Connection, namespace: int, key: str) -> int:
    """Return the id of an anchor, which is added if it is not there."""
    found = graph_writing.find_entity(connection, namespace, key)
    if found is not None:
        return found
    kind, _, name = key.partition(":")
    shown = "memory" if memory_of(key) is not None else kind
    return graph_writing.add_entity(connection, namespace, key, name, shown, RUN)


def are_there(connection: Connection, namespace: int) -> bool:
    """Return whether a namespace has anchors."""
    found = connection.execute(
        f"SELECT 1 FROM ({_IN_NAMESPACE}) n LIMIT 1", (namespace,) * len(_SPANS)
    ).fetchone()
    return found is not None


def hidden(
    connection: Connection, where: str, bindings: tuple[Any, ...], entities: Iterable[int]
) -> set[int]:
    """Return those of the entities that stand for a memory which is not in scope, over ``item AS i``."""
    rows = connection.execute(
        "SELECT n.id FROM carray(?) c CROSS JOIN entity n ON n.id = c.value "
        f"WHERE {_is_hidden('n', where)}",
        (connection.array(entities), *bindings),
    )
    return {int(row[0]) for row in rows}


def _is_hidden(entity: str, where: str) -> str:
    return (
        f"substr({entity}.key, 1, {len(MEMORY)}) = '{MEMORY}' AND NOT EXISTS "
        f"(SELECT 1 FROM item i WHERE {of_memory(entity, 'i')} AND {where})"
    )


def anchors_with_claims(
    connection: Connection,
    where: str,
    bindings: tuple[Any, ...],
    entities: Iterable[int] | None,
    namespace: int | None = None,
) -> set[int]:
    """Return the anchors among some entities, or in a namespace, of which a memory in scope, over
    ``item AS i``, claims an edge whose other end is no `hidden` one."""
    if entities is not None:
        source = f"carray(?) c CROSS JOIN entity n ON n.id = c.value AND {is_anchor('n')}"
        first: tuple[Any, ...] = (connection.array(entities),)
    else:
        source, first = f"({_IN_NAMESPACE}) n", (namespace,) * len(_SPANS)
    rows = connection.execute(
        " UNION ".join(
            f"SELECT n.id FROM {source} WHERE EXISTS (SELECT 1 FROM edge g "
            f"CROSS JOIN item i ON i.id = g.fact WHERE g.{end} = n.id AND {where} AND NOT EXISTS "
            f"(SELECT 1 FROM entity o WHERE o.id = g.{other} AND {_is_hidden('o', where)}))"
            for end, other in (("subject", "object"), ("object", "subject"))
        ),
        (*first, *bindings, *bindings) * 2,
    )
    return {int(row[0]) for row in rows}


class Anchored(NamedTuple):
    """The memory that an anchor stands for."""

    anchor: int
    item: int
    key: str
    value: str
    """JSON."""


def memories(
    connection: Connection, scope: CompiledScope, anchors: Iterable[int]
) -> list[Anchored]:
    """Return the memories that anchors stand for, as far as they are in scope."""
    rows = connection.execute(
        "SELECT n.id, i.id, i.key, i.value FROM carray(?) c CROSS JOIN entity n ON n.id = c.value "
        f"CROSS JOIN item i ON {of_memory('n', 'i')} WHERE {scope.where}",
        (connection.array(anchors), *scope.bindings),
    )
    return [Anchored(*row) for row in rows]


def items_by_field(
    connection: Connection, namespace: int, record: str, field: str, name: str
) -> list[int]:
    """Return the items of a namespace that are such a record, and have this name in a field."""
    rows = connection.execute(
        "SELECT i.id FROM path p CROSS JOIN leaf l ON l.path = p.id CROSS JOIN item i ON i.id = l.item "
        "WHERE p.name = 'record' AND l.value = ? AND l.namespace = ? AND i.value ->> ? = ? ORDER BY i.id",
        (record, namespace, f"$.{field}", name),
    )
    return [int(row[0]) for row in rows]


_RECORDS: Final = (
    "FROM path p CROSS JOIN leaf l ON l.path = p.id CROSS JOIN item i ON i.id = l.item "
    "WHERE p.name = 'record' AND l.value = ? AND l.namespace = ? AND i.status <> 'archived'"
)


def records(
    connection: Connection,
    namespace: int,
    record: str,
    seen: Condition,
    *,
    order: str,
    limit: int,
) -> list[int]:
    """Return the items of a namespace that are such a record, over ``item AS i``, and are not archived; in an
    order, and at most ``limit``."""
    rows = connection.execute(
        f"SELECT i.id {_RECORDS} AND {seen.sql} ORDER BY {order} LIMIT {limit:d}",
        (record, namespace, *seen.bindings),
    )
    return [int(row[0]) for row in rows]


def record_fields(
    connection: Connection, namespace: int, record: str, seen: Condition, fields: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Return fields of all records of a namespace that are not archived, over ``item AS i``; the latest
    changes first."""
    names = ", ".join(f"i.value ->> '$.{one}'" for one in fields)
    rows = connection.execute(
        f"SELECT {names} {_RECORDS} AND {seen.sql} ORDER BY i.updated_at DESC, i.key",
        (record, namespace, *seen.bindings),
    )
    return [tuple(row) for row in rows.fetchall()]


def iterate_records(
    connection: Connection, namespace: int, records: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Yield the records of a namespace that are not archived: key, record, value as JSON, status, owner,
    privacy, and when it was created and changed, in microseconds."""
    for record in records:
        for key, *rest in connection.execute(
            "SELECT i.key, i.value, i.status, i.owner, i.privacy, i.created_at, i.updated_at "
            f"{_RECORDS} ORDER BY i.id",
            (record, namespace),
        ):
            yield key, record, *rest


LINKS_OF: Final = (
    "WITH going (namespace, key) AS ("
    "SELECT namespace, key FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
    "SELECT namespace, key FROM history WHERE key IS NOT NULL AND item IN (SELECT value FROM carray(?1))), "
    f"ends (id) AS (SELECT n.id FROM going o JOIN entity n ON {of_memory('n', 'o')}) "
)


def of_items(connection: Connection, items: Iterable[int]) -> set[int]:
    """Return the anchors that stand for items of now and before."""
    rows = connection.execute(f"{LINKS_OF} SELECT id FROM ends", (connection.array(items),))
    return {int(row[0]) for row in rows}


def links_of(connection: Connection, items: Iterable[int]) -> set[int]:
    """Return the memories of now and before that claim a link from or to one of the items."""
    rows = connection.execute(
        f"{LINKS_OF}, claims (id) AS (SELECT fact FROM edge WHERE subject IN (SELECT id FROM ends) "
        "UNION SELECT fact FROM edge WHERE object IN (SELECT id FROM ends)) "
        "SELECT k.id FROM claims k JOIN item i ON i.id = k.id WHERE substr(i.key, 1, ?2) = ?3 UNION "
        "SELECT k.id FROM claims k JOIN history h ON h.item = k.id WHERE substr(h.key, 1, ?2) = ?3",
        (connection.array(items), len(KEYS), KEYS),
    )
    return {int(row[0]) for row in rows}
