"""Item rows: reading them, claiming them for a viewer, and writing one with everything derived from it.

An item, its filter leaves, keywords, vectors, sign bits and history change in one transaction. A short id is
a hash of namespace and key, which SQLite cannot compute; whoever looks one up first adds the hashes of the
items that came since the last time, so that no write pays for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from langmemory.errors import ChangedMeanwhileError, OwnershipError
from langmemory.ledger import graph_writing, history, sparse
from langmemory.ledger.connection import Connection, insert
from langmemory.ledger.filters import Condition
from langmemory.ledger.namespaces import (
    PLACES,
    below,
    from_path,
    holds_few,
    intern,
    namespace_tokens,
    to_path,
    tokens_of,
    with_ancestors,
)
from langmemory.ledger.runs import CURRENT
from langmemory.ledger.scopes import visible_to
from langmemory.ledger.tables.facets import AT_FIRST, FACETS, FLAGS, SHOWN, TIMES
from langmemory.ledger.values import LeafValue, by_clock, from_us
from langmemory.ports.candidates import Floats, Ids
from langmemory.ports.sparse import Pairs
from langmemory.trust import capped, least
from langmemory.types import Memory, Namespace, Priority, Trust
from langmemory.values import from_json, readable_text

IndexFields = Literal[False] | list[str] | None
"""The indexed fields of an item: the store's fields, nothing, or these paths."""

NO_VECTORS: Final[Floats] = np.empty((0, 0), np.float32)


@dataclass(kw_only=True, slots=True)
class Write:
    """An item about to be stored, with everything derived from it. Vectors and tokens come last
    (`Indexing.embed`)."""

    namespace: Namespace
    key: str
    value: str
    """JSON."""
    leaves: set[tuple[str, LeafValue]]
    text: str = ""
    """The readable text."""
    texts: tuple[str, ...] = ()
    """Texts to be embedded, in order."""
    index_fields: IndexFields = None
    body: str | None = None
    """The words that the keyword index reads; None: not indexed."""
    context: str = ""
    embedded: Floats = field(default_factory=lambda: NO_VECTORS)
    """float32[n, dims], L2-normalised."""
    hashes: Sequence[bytes | None] = ()
    """Cache key of each vector, or None."""
    sparse: Pairs | None = None
    """The sparse vector; None: no encoder made one."""
    tokens: bytes | None = None
    fingerprint: bytes | None = None
    """SHA-256 of the normalised text; of facts only."""
    ttl_minutes: float | None = None
    facets: Mapping[str, Any] = field(default_factory=dict)
    """Columns of `FACETS`, times in microseconds."""
    created_us: int | None = None
    """When importing: the original time."""
    updated_us: int | None = None


_TOLD: Final = (*(name for name in AT_FIRST if name in FACETS), "created_at")


ENDED: Final = ("superseded", "archived")
"""Statuses of memories that are no longer believed to hold."""


def following(status: str, was: Mapping[str, Any], now_us: int) -> dict[str, Any]:
    """Return the columns that follow from a status: since when the memory is not believed any more; one
    that holds again has no end and no successor.

    Args:
        status: The new one.
        was: ``status`` and ``expired_at`` until now.
    """
    if status in ENDED:
        return {"expired_at": was["expired_at"] or now_us}
    ended = {"invalid_at": None} if was["status"] == "superseded" else {}
    return {"expired_at": None, "superseded_by": None, **ended}


class Known(NamedTuple):
    """An item that a write replaces."""

    item: int
    value: str
    was: dict[str, Any]
    """Its columns of `_TOLD`."""
    speaks: bool
    """Whether it speaks of anybody, as far as the graph knows."""

    def is_reworded(self, write: Write) -> bool:
        """Return whether a write has other words, where that changes more than the words."""
        if not self.speaks and self.was["status"] == "active":
            return False
        return readable_text(from_json(self.value)) != readable_text(from_json(write.value))

    def is_said_anew(self, write: Write, *, reworded: bool) -> bool:
        """Return whether a write, that names no status, makes a memory hold which did not: it says
        something else, or, as a whole, not any more that it does not hold. What only stands beside the
        words is no statement that they hold."""
        status = self.was["status"]
        if status == "active" or "status" in write.facets:
            return False
        return reworded or from_json(self.value).get("status") == status

    def followed(self, write: Write, now_us: int) -> dict[str, Any]:
        """Return columns that follow from the status a write gives, where it does not set them itself."""
        status = write.facets.get("status", self.was["status"])
        return {} if status == self.was["status"] else following(status, self.was, now_us)

    def priority_after(self, write: Write, trust: Trust) -> Priority:
        """Return the priority after a write by a source that may be trusted little. What a person gave stays,
        as long as the words do."""
        before, value = from_json(self.value), from_json(write.value)
        priority: Priority = value.get("priority", self.was["priority"])
        if priority == self.was["priority"] and readable_text(before) == readable_text(value):
            return priority
        return capped(trust, write.facets.get("priority", self.was["priority"]))

    def replaced(self, write: Write) -> dict[str, Any]:
        """Return the columns that a write sets otherwise, as they were, for the history."""
        was = self.was
        new = {**was, **write.facets}
        if write.created_us is not None:
            new["created_at"] = write.created_us
        found = {name: was[name] for name in _TOLD if new[name] != was[name]}
        return history.with_whose(found, was)


class Reworded(NamedTuple):
    """An item that spoke of somebody by the words it had."""

    item: int
    before: str
    """Its readable text until now."""
    claims: dict[str, Any]
    """As in `graph_rows.claims_of`; the graph has them no more."""


class Written(NamedTuple):
    """The result of `put`."""

    ids: list[int]
    """Item ids, in the order of the writes."""
    replaced: list[int]
    """Those that existed before."""
    reworded: list[Reworded]


def put(
    connection: Connection,
    writes: Iterable[Write],
    now_us: int,
    *,
    run: str | None = None,
    reason: str | None = None,
) -> Written:
    """Insert or replace items. ``created_at`` survives a replacement.

    Args:
        writes: At most one for each namespace and key.
        run: Which run does; None is that of the context, if there is one, see `runs.CURRENT`.
    """
    batch = Batch(connection, now_us, run or CURRENT.get(), reason)
    writes = list(writes)
    known = batch.known(writes)
    ids = [batch.add(write, known.get((write.namespace, write.key))) for write in writes]
    batch.flush()
    return Written(ids, [item for _, item, _ in batch.replaced], batch.reworded)


@dataclass(slots=True)
class Batch:
    """Collects rows of many items, so that each table is written once and in order."""

    connection: Connection
    now_us: int
    run: str | None
    reason: str | None
    namespaces: dict[Namespace, tuple[int, str]] = field(default_factory=dict)
    paths: dict[str, int] = field(default_factory=dict)
    fresh: list[tuple[Write, int, int]] = field(default_factory=list)
    replaced: list[tuple[Write, int, int]] = field(default_factory=list)
    reworded: list[Reworded] = field(default_factory=list)
    leaf_rows: list[tuple[int, LeafValue, int, int]] = field(default_factory=list)
    inserts: dict[tuple[str, ...], list[tuple[Any, ...]]] = field(default_factory=dict)
    last_id: int | None = None

    def namespace(self, namespace: Namespace) -> tuple[int, str]:
        known = self.namespaces.get(namespace)
        if known is None:
            found = intern(self.connection, namespace)
            tokens = namespace_tokens(self.connection, found)
            known = self.namespaces[namespace] = (found, tokens)
        return known

    def path(self, name: str) -> int:
        known = self.paths.get(name)
        if known is None:
            row = self.connection.execute("SELECT id FROM path WHERE name = ?", (name,)).fetchone()
            if row is None:
                row = self.connection.execute(
                    "INSERT INTO path (name) VALUES (?) RETURNING id", (name,)
                ).fetchone()
            known = self.paths[name] = int(row[0])
        return known

    def known(self, writes: Sequence[Write]) -> dict[tuple[Namespace, str], Known]:
        """Return the items there are already, by namespace and key; look up on the way what else there is of
        what the writes name."""
        keys = _keys(writes)
        places = dict(self.connection.execute(*_places(keys)).fetchall())
        for namespace in keys:
            ids = [places.get(path) for path in with_ancestors(namespace)]
            if ids[0] is not None:
                self.namespaces[namespace] = ids[0], tokens_of(id for id in ids if id is not None)
        names = _leaf_names(writes)
        if names:
            self.paths |= dict(self.connection.execute(*_paths(names)).fetchall())
        return {
            (namespace, key): Known(item, value, dict(zip(_TOLD, was, strict=True)), bool(speaks))
            for namespace, some in keys.items()
            for key, item, value, speaks, *was in self.connection.execute(
                *_items_query(namespace, some)
            )
        }

    def add(self, write: Write, old: Known | None) -> int:
        """Write an item; ``old`` is the one that is there. What is said anew of one that did not hold
        holds, and with other words it does not claim any more what it did by its own."""
        namespace, _ = self.namespace(write.namespace)
        claimed: dict[str, Any] = {}
        if old is not None:
            reworded = old.is_reworded(write)
            if reworded and old.speaks:
                claimed = graph_writing.claims_of_item(self.connection, old.item)
                graph_writing.end_claims(self.connection, old.item)
                before = readable_text(from_json(old.value))
                self.reworded.append(Reworded(old.item, before, claimed))
            if old.is_said_anew(write, reworded=reworded):
                write.facets = {**write.facets, "status": "active"}
            write.facets = {**old.followed(write, self.now_us), **write.facets}
            trust = write.facets.get("trust", "person")
            if trust != "person" and write.created_us is None:  # an import tells what was
                write.facets["trust"] = least([old.was["trust"], trust])
                write.facets["priority"] = old.priority_after(write, trust)
        updated = self.now_us if write.updated_us is None else write.updated_us
        ttl = write.ttl_minutes
        expires = None if ttl is None else self.now_us + round(ttl * 60_000_000)
        index_fields = None if write.index_fields is None else json.dumps(write.index_fields)
        columns: dict[str, Any] = {
            "value": write.value, "updated_at": updated, "ttl_minutes": ttl,
            "expires_at": expires, "index_fields": index_fields,
            "tokens": write.tokens, **write.facets,
        }  # fmt: skip
        if old is None:
            created = updated if write.created_us is None else write.created_us
            columns |= {"namespace": namespace, "key": write.key, "created_at": created}
            if self.last_id is None:
                self.last_id = self.connection.last_item()
            item = self.last_id = columns["id"] = self.last_id + 1
            self.inserts.setdefault(tuple(columns), []).append(tuple(columns.values()))
            self.fresh.append((write, item, namespace))
        else:
            item = old.item
            if write.created_us is not None:
                columns["created_at"] = write.created_us
            changes = ", ".join(f"{name} = ?" for name in columns)
            self.connection.execute(
                f"UPDATE item SET {changes} WHERE id = ?", (*columns.values(), item)
            )
            self.replace(write, item, namespace)
            facets = old.replaced(write) | ({history.CLAIMS: claimed} if claimed else {})
            history.record(
                self.connection, self.now_us, "update", item, before=old.value,
                facets=facets or None, run=self.run, reason=self.reason,
            )  # fmt: skip
            return item
        self._add_leaves(write, item, namespace)
        return item

    def replace(self, write: Write, item: int, namespace: int) -> None:
        """Replace what was derived from an item's value."""
        self.connection.execute("DELETE FROM leaf WHERE item = ?", (item,))
        self.replaced.append((write, item, namespace))
        self._add_leaves(write, item, namespace)

    def _add_leaves(self, write: Write, item: int, namespace: int) -> None:
        self.leaf_rows += [(self.path(name), one, namespace, item) for name, one in write.leaves]

    def flush(self) -> None:
        for columns, rows in self.inserts.items():
            insert(self.connection, f"item ({', '.join(columns)})", rows)
        history.record_added(
            self.connection, self.now_us, [item for _, item, _ in self.fresh], self.run, self.reason
        )
        self.leaf_rows.sort(key=lambda row: (row[0], row[2], row[3]))
        insert(self.connection, "leaf (path, value, namespace, item)", self.leaf_rows)
        for group, fresh in ((self.fresh, True), (self.replaced, False)):
            if not group:
                continue
            self.connection.write_keywords(
                [
                    (item, self.namespaces[write.namespace][1], write.body, write.context)
                    for write, item, _ in group
                    if write.body is not None
                ],
                fresh=fresh,
            )
            for write, item, _ in () if fresh else group:
                if write.body is None:
                    self.connection.delete_keywords(item)
            self.connection.write_vectors(
                [(item, ns, write.embedded, write.hashes) for write, item, ns in group],
                fresh=fresh,
            )
            encoded = [(item, one.sparse) for one, item, _ in group if one.sparse is not None]
            if encoded:
                sparse.write(self.connection, encoded, fresh=fresh)
            if not fresh:
                self.connection.executemany(
                    "DELETE FROM fingerprint WHERE item = ?", [(item,) for _, item, _ in group]
                )
            facts = [(ns, one.fingerprint, item) for one, item, ns in group if one.fingerprint]
            if facts:
                into = "INSERT INTO fingerprint (namespace, hash, item) VALUES (?, ?, ?)"
                self.connection.executemany(into, facts)


Question = tuple[str, tuple[Any, ...]]


def questions(writes: Sequence[Write]) -> Iterator[Question]:
    """Return what `put` will ask first, for `Connection.ahead`."""
    keys = _keys(writes)
    yield _places(keys)
    if names := _leaf_names(writes):
        yield _paths(names)
    for namespace, some in keys.items():
        yield _items_query(namespace, some)


def _keys(writes: Iterable[Write]) -> dict[Namespace, list[str]]:
    keys: dict[Namespace, list[str]] = {}
    for write in writes:
        keys.setdefault(write.namespace, []).append(write.key)
    return keys


def _leaf_names(writes: Iterable[Write]) -> list[str]:
    return list(dict.fromkeys(name for write in writes for name, _ in write.leaves))


def _places(namespaces: Iterable[Namespace]) -> Question:
    paths = dict.fromkeys(path for one in namespaces for path in with_ancestors(one))
    return PLACES, (json.dumps(list(paths), ensure_ascii=False),)


def _paths(names: Sequence[str]) -> Question:
    query = "SELECT name, id FROM path WHERE name IN (SELECT value FROM json_each(?))"
    return query, (json.dumps(names, ensure_ascii=False),)


def _items_query(namespace: Namespace, keys: Sequence[str]) -> Question:
    """Return the query for the items of a namespace with some keys."""
    several = len(keys) > 1
    return (
        "SELECT key, id, value, EXISTS (SELECT 1 FROM mention WHERE item = item.id), "
        f"{', '.join(_TOLD)} FROM item WHERE namespace = (SELECT id FROM namespace WHERE path = ?) AND "
        + ("key IN (SELECT value FROM json_each(?))" if several else "key = ?"),
        (to_path(namespace), json.dumps(keys, ensure_ascii=False) if several else keys[0]),
    )


NAMED: Final = "i.namespace = (SELECT n.id FROM namespace n WHERE n.path = ?) AND i.key = ?"
"""The item of a namespace (`to_path`) and key. The sub-select takes a third of the time of a join
(SQLite 3.54, 2.4 against 6.5 µs)."""


def find(
    connection: Connection, namespace: Namespace, key: str, *, viewer: str | None = None
) -> int | None:
    """Return the id of an item; None if there is none that the viewer may know of."""
    visible = visible_to(viewer)
    row = connection.execute(
        f"SELECT i.id FROM item i WHERE {NAMED} AND {visible.sql}",
        (to_path(namespace), key, *visible.bindings),
    ).fetchone()
    return None if row is None else int(row[0])


def is_expired(connection: Connection, item: int, alive_at_us: int | None) -> bool:
    """Return whether an item's time to live has ended; where ``alive_at_us`` is None that does not
    matter yet."""
    if alive_at_us is None:
        return False
    row = connection.execute("SELECT expires_at FROM item WHERE id = ?", (item,)).fetchone()
    return row is not None and row[0] is not None and row[0] <= alive_at_us


def check_unchanged(
    connection: Connection,
    namespace: Namespace,
    key: str,
    updated_at: datetime | None,
    *,
    viewer: str | None = None,
) -> None:
    """Refuse a write of an item that is not any more what the writer saw.

    Args:
        updated_at: When it was updated last, as the writer knows; None: there was none.

    Raises:
        ChangedMeanwhileError: It was changed or deleted, or is there by now.
    """
    visible = visible_to(viewer)
    row = connection.execute(
        f"SELECT i.updated_at FROM item i WHERE {NAMED} AND {visible.sql}",
        (to_path(namespace), key, *visible.bindings),
    ).fetchone()
    if (None if row is None else from_us(row[0])) != updated_at:
        raise ChangedMeanwhileError(
            f"{key!r} in {namespace} was changed meanwhile. Read it again, then write."
        )


def under(prefix: Namespace, *, viewer: str | None = None) -> Condition:
    """Return the items, of the table ``i``, in a namespace and below it that the viewer may know of."""
    namespaces, labels = below(prefix)
    visible = visible_to(viewer)
    return Condition(f"i.namespace IN {namespaces} AND {visible.sql}", (*labels, *visible.bindings))


def has_expired(now_us: int) -> Condition:
    """Return the items, of the table ``i``, whose TTL has ended."""
    return Condition("i.expires_at <= ?", (now_us,))


def those(
    connection: Connection, condition: Condition, among: Sequence[int] | None = None
) -> list[int]:
    """Return ids of the items, or of those ``among`` these ids, that a condition over ``i`` holds for;
    ascending."""
    start, bindings = "item i", condition.bindings
    if among is not None:
        start = "carray(?) c CROSS JOIN item i ON i.id = c.value"
        bindings = (connection.array(np.array(among, np.int64)), *bindings)
    rows = connection.execute(f"SELECT i.id FROM {start} WHERE {condition.sql}", bindings)
    return sorted(int(row[0]) for row in rows)


def refresh_ttl(connection: Connection, ids: Iterable[int], now_us: int) -> None:
    """Start the TTL of items anew; items without one are left alone."""
    connection.executemany(
        "UPDATE item SET expires_at = ? + CAST(ttl_minutes * 60000000 AS INTEGER) "
        "WHERE id = ? AND ttl_minutes IS NOT NULL",
        [(now_us, item) for item in ids],
    )


def count_accesses(connection: Connection, uses: Iterable[tuple[int, int, int]]) -> None:
    """Add to the usage counters of items: (id, times, last at in microseconds)."""
    connection.executemany(
        "UPDATE item SET access_count = access_count + ?, "
        "accessed_at = max(coalesce(accessed_at, 0), ?) WHERE id = ?",
        [(times, last_us, item) for item, times, last_us in uses],
    )


MEMORY_COLUMNS: Final = ", ".join(
    {"namespace": "n.path", "thread": "t.name"}.get(name, f"i.{name}") for name in SHOWN
)
"""Columns of ``item i``, ``namespace n`` and ``thread t`` that make a `Memory`."""
FIELDS: Final = tuple({"thread": "thread_id"}.get(name, name) for name in SHOWN)
"""The names of `MEMORY_COLUMNS` as fields of a `Memory`."""


def memory(row: Sequence[Any]) -> Memory:
    """`MEMORY_COLUMNS` as a `Memory`."""
    return memory_of(dict(zip(FIELDS, row, strict=True)))


def memory_of(columns: dict[str, Any]) -> Memory:
    """Return a memory from its `FIELDS` as the table has them; the mapping is changed."""
    value = columns["value"] = from_json(columns["value"])
    columns["namespace"] = from_path(columns["namespace"])
    for name in FLAGS:
        columns[name] = bool(columns[name])
    for name in _CLOCKED:
        if columns[name] is not None:
            columns[name] = from_us(columns[name])
    for name in ("valid_at", "invalid_at"):
        if columns[name] is not None:
            columns[name] = by_clock(columns[name], value.get("at"), value.get("said_at"))
    return Memory(text=readable_text(value), **columns)


_CLOCKED: Final = tuple(
    name for name in TIMES if name in FIELDS and name not in ("valid_at", "invalid_at")
)
"""Times that are shown in UTC; the others by the clock of who told them."""


def replacing(connection: Connection, ids: Collection[int]) -> dict[Namespace, list[str]]:
    """Return the keys, by namespace, of those items that took the place of others, or may do so, because
    they tell when they begin to hold."""
    found: dict[Namespace, list[str]] = {}
    for path, key in connection.execute(
        "SELECT n.path, i.key FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
        "CROSS JOIN namespace n ON n.id = i.namespace "
        "WHERE i.kind NOT IN ('episodic', 'core') AND (i.value ->> '$.when' IS NOT NULL OR EXISTS "
        "(SELECT 1 FROM item o WHERE o.namespace = i.namespace AND o.superseded_by = i.key "
        "AND o.status = 'superseded')) ORDER BY i.id",
        (connection.array(ids),),
    ):
        found.setdefault(from_path(path), []).append(key)
    return found


def memories(connection: Connection, ids: Ids, *, viewer: str | None = None) -> list[Memory]:
    """Return the memories in the order of the ids; unknown ids are left out. One that gave way to something
    the viewer may not know of does not name it; whether the viewer may know of these is asked before."""
    if not len(ids):
        return []
    rows = connection.execute(
        f"SELECT {MEMORY_COLUMNS} FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
        "CROSS JOIN namespace n ON n.id = i.namespace LEFT JOIN thread t ON t.id = i.thread",
        (connection.array(ids),),
    )
    found = [memory(row) for row in rows.fetchall()]
    return found if viewer is None else [without_heir(connection, one, viewer) for one in found]


def without_heir(connection: Connection, one: Memory, viewer: str | None) -> Memory:
    """Return a memory that does not name what took its place, if the viewer may not know of that."""
    if viewer is None or one.superseded_by is None:
        return one
    heir = find(connection, one.namespace, one.superseded_by, viewer=viewer)
    return replace(one, superseded_by=None) if heir is None else one


def claim(
    connection: Connection,
    writes: Iterable[Write],
    viewer: str | None,
    *,
    personal: Collection[str] = (),
) -> None:
    """Let a viewer write these items: what belongs to nobody becomes the viewer's.

    Args:
        personal: relations of what somebody alone says of themselves: how they want to be answered.

    Raises:
        OwnershipError: A place is taken by something the viewer may not know of, or a memory would
            become somebody else's, or private to them, or be taken from its owner, or say for them
            what is ``personal``.
    """
    if viewer is None:
        return
    visible = visible_to(viewer)
    for write in writes:
        row = connection.execute(
            f"SELECT {visible.sql}, i.privacy, i.owner, i.value ->> '$.relation' FROM namespace n "
            "JOIN item i ON i.namespace = n.id WHERE n.path = ? AND i.key = ?",
            (*visible.bindings, to_path(write.namespace), write.key),
        ).fetchone()
        seen, privacy, holder, relation = row or (True, "shared", None, None)
        if not seen:
            raise OwnershipError(
                f"The key {write.key!r} in {write.namespace} is not free. Choose another one."
            )
        owner = write.facets.get("owner") or holder or viewer or None
        if write.facets.get("privacy", privacy) == "private" and not (
            viewer and owner == viewer and holder in (None, viewer)
        ):
            raise OwnershipError(
                f"{write.key!r} in {write.namespace} cannot be made private: a viewer keeps "
                "private only what is the viewer's own. Leave out its privacy and owner."
            )
        if owner not in (None, viewer, holder):
            raise OwnershipError(
                f"{write.key!r} in {write.namespace} cannot be made {owner!r:.80}'s: a viewer "
                "writes for nobody else. Leave out its owner."
            )
        said = from_json(write.value).get("relation") if personal and owner != viewer else None
        if owner != viewer and {relation, said if isinstance(said, str) else None} & {*personal}:
            raise OwnershipError(
                f"{write.key!r} in {write.namespace} says how {owner!r:.80} wants to be answered, "
                "which no other viewer changes. Write another memory, or use the application's store."
            )
        write.facets = {**write.facets, "owner": owner}


FEW_ITEMS: Final = 500
"""A namespace with at most so many, as of one of many people, is looked through without the index (at
most 2 ms): nobody waits for those of all others to get their ids."""
HASHES_AT_ONCE: Final = 10_000
"""Items given their ids in one transaction (about 30 ms)."""


def has_every_hash(connection: Connection) -> bool:
    """Return whether every item has its id. Item ids only grow, so the newest one tells."""
    row = connection.execute(
        "SELECT coalesce((SELECT max(id) FROM item), 0) <= coalesce((SELECT max(item) FROM label), 0)"
    ).fetchone()
    return bool(row[0])


def add_hashes(connection: Connection, hash_of: Callable[[Namespace, str], int]) -> None:
    """Give the next `BATCH` items their ids."""
    rows = connection.execute(
        "SELECT i.id, n.path, i.key FROM item i JOIN namespace n ON n.id = i.namespace "
        "WHERE i.id > coalesce((SELECT max(item) FROM label), 0) ORDER BY i.id LIMIT ?",
        (HASHES_AT_ONCE,),
    ).fetchall()
    connection.executemany(
        "INSERT INTO label (item, hash) VALUES (?, ?)",
        [(item, hash_of(from_path(path), key)) for item, path, key in rows],
    )


def find_by_hash(
    connection: Connection,
    hash: int,
    prefix: Namespace,
    hash_of: Callable[[Namespace, str], int],
    *,
    viewer: str | None = None,
) -> list[int] | None:
    """Return the items of this id in a namespace and below it that the viewer may know of, oldest first;
    None where the index has to be asked and not every item has its id yet."""
    namespaces, labels = below(prefix)
    visible = visible_to(viewer)
    scope = f"i.namespace IN {namespaces} AND {visible.sql} ORDER BY i.id"
    bindings = (*labels, *visible.bindings)
    if holds_few(connection, prefix, FEW_ITEMS):
        rows = connection.execute(
            "SELECT i.id, n.path, i.key FROM item i JOIN namespace n ON n.id = i.namespace "
            f"WHERE {scope}",
            bindings,
        )
        return [item for item, path, key in rows if hash_of(from_path(path), key) == hash]
    if not has_every_hash(connection):
        return None
    rows = connection.execute(
        f"SELECT i.id FROM label l CROSS JOIN item i ON i.id = l.item WHERE l.hash = ? AND {scope}",
        (hash, *bindings),
    )
    return [int(row[0]) for row in rows]
