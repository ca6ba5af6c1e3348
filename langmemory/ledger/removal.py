"""Items revised in place, removed, and brought back, each with the record of what was there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from langmemory.ledger import graph_writing, history, runs
from langmemory.ledger.connection import Connection, insert
from langmemory.ledger.evidence import Withdrawn
from langmemory.ledger.items import Batch, Write
from langmemory.ledger.namespaces import intern_thread, to_path
from langmemory.ledger.tables import schema
from langmemory.ledger.tables.facets import AT_FIRST, FACETS, REVISABLE, UPKEEP
from langmemory.types import HistoryAction, Namespace
from langmemory.values import from_json


def delete(
    connection: Connection,
    item: int,
    now_us: int,
    *,
    action: Literal["delete", "expire"] = "delete",
    run: str | None = None,
    reason: str | None = None,
) -> None:
    """Remove an item and everything derived from it. Its history stays; that of an expiry without
    the text, because whoever sets a TTL wants the text gone."""
    namespace, key, value, thread, position, *columns = connection.execute(
        f"SELECT namespace, key, value, {_THREAD}, position, {', '.join(AT_FIRST)} "
        "FROM item WHERE id = ?",
        (item,),
    ).fetchone()
    was = dict(zip(AT_FIRST, columns, strict=True))
    told = AT_FIRST if action == "delete" else history.WHOSE
    facets = {name: was[name] for name in told if was[name] != AT_FIRST[name]}
    facets = history.with_whose(facets, was)
    if action == "delete":
        facets |= _claims_record(connection, item)
        facets |= {"thread_id": thread, "position": position} if thread is not None else {}
    take_out(connection, item, namespace)
    forget_beside(connection, item)
    history.record(
        connection, now_us, action, item, gone_from=(namespace, key),
        before=value if action == "delete" else None, facets=facets or None, run=run, reason=reason,
    )  # fmt: skip
    if action == "expire":
        _forget_past(connection, item)


def expired_deletions(connection: Connection, now_us: int) -> list[int]:
    """Return the items that were deleted before their TTL ended, as it has since: what they said is in the
    history still."""
    rows = connection.execute(
        "SELECT g.item FROM history g INDEXED BY history_gone "
        "WHERE g.key IS NOT NULL AND g.action = 'delete' "
        "AND g.before IS NOT NULL AND CAST(g.facets ->> '$.expires_at' AS INTEGER) <= ? ORDER BY g.item",
        (now_us,),
    )
    return [int(row[0]) for row in rows]


def expire_gone(connection: Connection, items: Iterable[int], now_us: int) -> None:
    """Delete what deleted items said with their TTL, as if they had lived as long."""
    for item in items:
        gone_from = connection.execute(
            "SELECT namespace, key, facets FROM history WHERE item = ? AND key IS NOT NULL "
            "AND action = 'delete' AND before IS NOT NULL",
            (item,),
        ).fetchone()
        if gone_from is None:  # it came back since it was looked for
            continue
        namespace, key, facets = gone_from
        was = from_json(facets)
        whose = {name: was[name] for name in history.WHOSE if name in was}
        history.record(
            connection, now_us, "expire", item, gone_from=(namespace, key), facets=whose or None
        )
        forget_beside(connection, item)
        _forget_past(connection, item)


_THREAD: Final = "(SELECT t.name FROM thread t WHERE t.id = item.thread)"


def _claims_record(connection: Connection, item: int) -> dict[str, Any]:
    claims = graph_writing.claims_of_item(connection, item)
    return {history.CLAIMS: claims} if claims else {}


def _forget_past(connection: Connection, item: int) -> None:
    connection.execute(
        "UPDATE history SET before = NULL, facets = json_remove(facets, '$.' || ?) WHERE item = ?",
        (history.CLAIMS, item),
    )


KEPT: Final = (*UPKEEP, *(name for name in FACETS if name != "thread"))
"""Columns by which, with its namespace, key, value and thread, an item is there again."""

RESTORABLE: Final = (
    "h.action = 'delete' AND h.key IS NOT NULL AND h.before IS NOT NULL "
    "AND CAST(h.facets ->> '$.created_at' AS INTEGER) > 0"
)
"""Rows of the history, ``h``, of items that a run removed and its undo can bring back."""


def remove(connection: Connection, item: int, now_us: int, *, run: str, reason: str | None) -> None:
    """Take an item out so that `bring_back` can undo it: its columns are kept in the history, and
    what stands beside it (evidence from and for it, mentions, edges, what was read, counts) stays
    there under its id, which nobody else gets. Reads find these rows by way of the item."""
    namespace, key, value, thread, *kept = connection.execute(
        f"SELECT namespace, key, value, {_THREAD}, {', '.join(KEPT)} FROM item WHERE id = ?",
        (item,),
    ).fetchone()
    take_out(connection, item, namespace)
    history.record(
        connection, now_us, "delete", item, gone_from=(namespace, key), before=value,
        facets={**dict(zip(KEPT, kept, strict=True)), "thread_id": thread,
                **_claims_record(connection, item)}, run=run, reason=reason,
    )  # fmt: skip


def bring_back(
    connection: Connection,
    item: int,
    write: Write,
    kept: Mapping[str, Any],
    now_us: int,
    *,
    run: str,
    reason: str | None,
) -> None:
    """Put an item back that was removed, as it was: under its id, with all that stands beside it.

    Args:
        connection: The writer, in a transaction.
        write: Its namespace, key and value, with what is derived from it.
        kept: The columns that `remove` left in the history.
    """
    batch = Batch(connection, now_us, run, reason)
    namespace, _ = batch.namespace(write.namespace)
    columns = {name: kept[name] for name in KEPT}
    if kept["thread_id"] is not None:
        columns |= _place_in_thread(connection, namespace, item, kept)
    columns |= {
        "id": item, "namespace": namespace, "key": write.key, "value": write.value,
        "tokens": write.tokens,
    }  # fmt: skip
    insert(connection, f"item ({', '.join(columns)})", [tuple(columns.values())])
    batch.replace(write, item, namespace)
    batch.flush()
    history.came_back(connection, item)
    history.record(connection, now_us, "restore", item, run=run, reason=reason)
    # Short ids are filled up from the newest item that has one (`items.has_every_hash`).
    connection.execute("DELETE FROM label WHERE item > ?", (item,))


def _place_in_thread(
    connection: Connection, namespace: int, item: int, kept: Mapping[str, Any]
) -> dict[str, int | None]:
    """Return thread and position of an item that comes back: its own, or after what is older, where
    others took the places of those that were removed with it. Then these move on."""
    thread, position = intern_thread(connection, namespace, kept["thread_id"]), kept["position"]
    # A thread is in the order in which its turns came, so that of each side the next one tells.
    (in_order,) = connection.execute(
        "SELECT NOT EXISTS (SELECT 1 FROM item WHERE thread = ?1 AND position = ?2) "
        "AND coalesce((SELECT (created_at, id) < (?3, ?4) FROM item WHERE thread = ?1 "
        "AND position < ?2 ORDER BY position DESC LIMIT 1), TRUE) "
        "AND coalesce((SELECT (created_at, id) > (?3, ?4) FROM item WHERE thread = ?1 "
        "AND position > ?2 ORDER BY position LIMIT 1), TRUE)",
        (thread, position, kept["created_at"], item),
    ).fetchone()
    if not in_order:
        older = connection.execute(
            "SELECT position FROM item WHERE thread = ?1 AND (created_at, id) < (?2, ?3) "
            "ORDER BY position DESC LIMIT 1",
            (thread, kept["created_at"], item),
        ).fetchone()
        position = 0 if older is None else older[0] + 1
        connection.execute(
            "WITH RECURSIVE taken (position) AS (VALUES (?2) UNION ALL SELECT k.position + 1 "
            "FROM taken k JOIN item t ON t.thread = ?1 AND t.position = k.position) "
            "UPDATE item SET position = position + 1 WHERE thread = ?1 AND position >= ?2 "
            "AND position < (SELECT max(position) FROM taken)",
            (thread, position),
        )
    return {"thread": thread, "position": position}


def take_out(connection: Connection, item: int, namespace: int) -> None:
    """The row of an item, and what is derived from its value, goes."""
    connection.delete_keywords(item)
    connection.delete_vectors(item, namespace)
    connection.execute(*_deleting(_derived_deletions(), item))


def forget_beside(connection: Connection, item: int) -> None:
    """Delete the rows beside an item that may be removed."""
    connection.execute(*_deleting(_dependent_deletions(), item))


@schema.cached_derivation
def _derived_deletions() -> tuple[str, int]:
    from_item = (one for one in schema.tables() if one.beside and one.derived and not one.triggers)
    return _deletions([*((one.name, one.item) for one in from_item), ("item", "id")])


@schema.cached_derivation
def _dependent_deletions() -> tuple[str, int]:
    going = (one for one in schema.beside_items() if not one.outlives)
    return _deletions([(one.name, column) for one in going for column in one.ids_of("item")])


def _deletions(columns: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """Return the statements that delete the rows in which one of these columns of tables holds an id, and how
    many they are."""
    return "; ".join(f"DELETE FROM {table} WHERE {one} = ?" for table, one in columns), len(columns)


def _deleting(deletions: tuple[str, int], item: int) -> tuple[str, tuple[int, ...]]:
    statements, count = deletions
    return statements, (item,) * count


WHOLE_NAMESPACE: Final = "namespace deleted"
"""Reason, in the history, of deletions that were not about the item itself."""


def was_deleted(connection: Connection, namespace: Namespace, key: str) -> bool:
    """Return whether an item of this name was deleted, forgotten, or expired, for its own sake. What an
    undo took back was not, once somebody let the turns it was made of be read again."""
    row = connection.execute(
        "SELECT h.reason, h.run FROM namespace n JOIN history h ON h.namespace = n.id "
        "WHERE n.path = ? AND h.key = ? ORDER BY h.at DESC, h.seq DESC LIMIT 1",
        (to_path(namespace), key),
    ).fetchone()
    if row is not None and row[0] != WHOLE_NAMESPACE and not runs.is_again(connection, row[1]):
        return True
    return bool(history.forgotten_lives(connection, namespace, key))


def column(connection: Connection, item: int, name: str) -> Any:
    """Return a column of `REVISABLE`, of an item that exists."""
    if name not in REVISABLE:
        raise KeyError(name)
    return connection.execute(f"SELECT {name} FROM item WHERE id = ?", (item,)).fetchone()[0]


def revise(
    connection: Connection,
    item: int,
    now_us: int,
    *,
    action: HistoryAction,
    run: str,
    reason: str | None,
    columns: Mapping[str, Any] | None = None,
    write: Write | None = None,
    touched: bool = False,
    withdrawn: Sequence[Withdrawn] = (),
    updated_us: int | None = None,
) -> bool:
    """Set columns and the value of an item; return whether anything is otherwise than before.

    Its TTL, its place in a thread and what of it is indexed stay as they are.

    Args:
        columns: Those of `REVISABLE` to set, times in microseconds.
        write: The new value, with what is derived from it.
        touched: The item changes in another table, so that it counts as changed in any case.
        withdrawn: Evidence it has no longer, for the undo; that is a change, too.
        updated_us: What ``updated_at`` is to be; else now.
    """
    given = dict(columns or {})
    if unknown := given.keys() - set(REVISABLE):
        raise KeyError(*unknown)
    names = tuple(dict.fromkeys(("value", "updated_at", *given, *history.WHOSE)))
    value, *rest = connection.execute(
        f"SELECT {', '.join(names)} FROM item WHERE id = ?", (item,)
    ).fetchone()
    before = dict(zip(names[1:], rest, strict=True))
    after = {name: new for name, new in given.items() if before[name] != new}
    if write is not None and write.value == value:
        write = None
    if not after and write is None and not touched and not withdrawn:
        return False
    after["updated_at"] = now_us if updated_us is None else updated_us
    told = history.with_whose({name: before[name] for name in after}, before)
    history.record(
        connection, now_us, action, item, before=value,
        facets=told | ({history.WITHDRAWN: withdrawn} if withdrawn else {}), run=run, reason=reason,
    )  # fmt: skip
    if write is not None:
        after |= {"value": write.value, "tokens": write.tokens}
        batch = Batch(connection, now_us, run, reason)
        batch.replace(write, item, batch.namespace(write.namespace)[0])
        batch.flush()
    sets = ", ".join(f"{name} = ?" for name in after)
    connection.execute(f"UPDATE item SET {sets} WHERE id = ?", (*after.values(), item))
    return True
