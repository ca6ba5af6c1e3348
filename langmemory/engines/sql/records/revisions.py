"""Revising an item in place: some of its columns, or its value, with the record of what was there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langmemory.engines.sql.records import history
from langmemory.engines.sql.records.evidence import Withdrawn
from langmemory.engines.sql.records.history import WITHDRAWN
from langmemory.engines.sql.records.items import FACETS, Batch, Write
from langmemory.engines.sql.tables.connection import Connection
from langmemory.types import HistoryAction

REVISABLE: Final = tuple(name for name in FACETS if name not in ("thread", "position"))
"""Columns a run may set; together with the value and ``updated_at`` all that an undo restores."""


def column(connection: Connection, item: int, name: str) -> Any:
    """A column of `REVISABLE`, of an item that exists."""
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
    """Set columns and the value of an item; whether anything is otherwise than before.

    Its TTL, its place in a thread and what of it is indexed stay as they are.

    Args:
        connection: The writer, in a transaction.
        item: An item that exists.
        now_us: The time of the change.
        action: For the history.
        run: Id of the run that makes the change.
        reason: Why, for the history.
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
        facets=told | ({WITHDRAWN: withdrawn} if withdrawn else {}), run=run, reason=reason,
    )  # fmt: skip
    if write is not None:
        after |= {"value": write.value, "tokens": write.tokens}
        batch = Batch(connection, now_us, run, reason)
        batch.replace(write, item, batch.namespace(write.namespace)[0])
        batch.flush()
    sets = ", ".join(f"{name} = ?" for name in after)
    connection.execute(f"UPDATE item SET {sets} WHERE id = ?", (*after.values(), item))
    return True
