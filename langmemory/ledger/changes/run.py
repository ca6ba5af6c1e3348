"""One change set while it is written: what it stands on, what it has changed so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langmemory.changes import Change, ChangeSet
from langmemory.errors import ChangeError
from langmemory.ledger.graph import graph_rows
from langmemory.ledger.records import history, runs
from langmemory.ledger.records.evidence import Withdrawn
from langmemory.ledger.records.items import Write, find, following
from langmemory.ledger.records.removal import column, revise
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.namespaces import intern
from langmemory.types import HistoryAction


class Unchanged(Exception):
    """A change that has nothing to do, and why."""


@dataclass(slots=True)
class ChangeRun:
    """A run within its transaction. The functions that write its changes are in `memories`, `graph`
    and `reviews`; those that find nothing to do raise `Unchanged`."""

    connection: Connection
    change_set: ChangeSet
    now_us: int
    said: frozenset[str] = frozenset()
    """Ids of reviews that suggest what the core block says already."""
    write: Write | None = None
    """The item that the change writes, if it writes one."""
    added: dict[str, int] = field(default_factory=dict)
    """Id of each memory that is new, by key."""
    changed: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    not_added: set[str] = field(default_factory=set)
    """Keys that were to be added, and are not, because somebody deleted them."""
    links: runs.Links = field(default_factory=dict)
    """How entity links stood before."""
    id: str = field(init=False)
    namespace: int = field(init=False)

    def __post_init__(self) -> None:
        self.id = self.change_set.run_id
        self.namespace = intern(self.connection, self.change_set.namespace)

    def find(self, key: str) -> int | None:
        """Return the id of a memory; None if it was deleted.

        Raises:
            ChangeError: There never was one.
        """
        namespace = self.change_set.namespace
        item = find(self.connection, namespace, key)
        if item is not None:
            return item
        if key in self.not_added or history.is_gone(self.connection, namespace, key):
            return None
        raise ChangeError(
            f"Run {self.id!r} names the memory {key!r}, which {namespace} never "
            "held. Add it in an earlier change of the set, or correct the key; nothing was written."
        )

    def item(self, key: str) -> int:
        """Return the id of a memory that is to be changed."""
        item = self.find(key)
        if item is None:
            raise Unchanged(f"{key} was deleted, and stays so")
        return item

    def items(self, keys: Sequence[str]) -> list[int]:
        """Return the ids of those memories that are still there."""
        return [item for key in keys if (item := self.find(key)) is not None]

    def entity(self, key: str) -> int:
        entity = graph_rows.find_entity(self.connection, self.namespace, key)
        if entity is None:
            raise ChangeError(
                f"Run {self.id!r} names the entity {key!r}, which {self.change_set.namespace} does "
                "not know. Add it in an earlier change of the set; nothing was written."
            )
        return entity

    def revise(
        self,
        key: str,
        item: int,
        change: Change,
        action: HistoryAction,
        columns: Mapping[str, Any] | None = None,
        *,
        write: Write | None = None,
        touched: bool = False,
        withdrawn: Sequence[Withdrawn] = (),
    ) -> bool:
        """Set columns and value of a memory; return whether anything is otherwise than before.

        ``touched``: rows beside it are new, which counts as a change of the memory, as does evidence
        that was ``withdrawn``.
        """
        columns = dict(columns or {})
        if (status := columns.get("status")) is not None:
            was = {name: column(self.connection, item, name) for name in ("status", "expired_at")}
            columns = {**following(status, was, self.now_us), **columns}
        revised = revise(
            self.connection, item, self.now_us, action=action, run=self.id,
            reason=change.reason or self.change_set.reason,
            columns=columns, write=write,
            touched=touched and key not in self.added and key not in self.changed,
            withdrawn=withdrawn,
        )  # fmt: skip
        if revised and key not in self.added:
            self.changed[key] = item
        return revised or touched

    def change(
        self, key: str, change: Change, action: HistoryAction, columns: Mapping[str, Any]
    ) -> None:
        """Set columns of a memory that is to be changed, and is not so already."""
        if not self.revise(key, self.item(key), change, action, columns):
            raise Unchanged("is so already")
