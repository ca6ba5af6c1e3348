"""Rows of parts that stand beside no item: how they leave and enter a file, and how they are forgotten.

A part registers a module with these functions where it registers its tables (`hooks.Part.tables`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from langmemory.ledger.connection import Connection
from langmemory.ledger.tables import schema
from langmemory.types import Namespace


class NamedRow(Protocol):
    """A row that somebody may want forgotten."""

    @property
    def id(self) -> int:
        """The id of the row."""

    @property
    def name(self) -> str:
        """The text by which people know it."""


class PartRows(Protocol):
    """What a part does with its rows of one type."""

    def export_rows(
        self, connection: Connection, prefix: Namespace, *, history: bool
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a namespace and below it; without ``history`` only those that count now."""

    def import_row(
        self, connection: Connection, namespace: Namespace, row: Mapping[str, Any]
    ) -> None:
        """Take a row of `export_rows` back; one that was forgotten here stays away."""

    def of_namespace(
        self, connection: Connection, prefix: Namespace, owner: str | None, *, newest: bool = True
    ) -> Sequence[NamedRow]:
        """Return the rows of a namespace and below it; ``owner`` None is everybody's."""

    def delete_namespace(
        self, connection: Connection, prefix: Namespace, viewer: str | None, now_us: int
    ) -> None:
        """Mark the rows of a namespace and below it as deleted; of a viewer only their own."""

    def forget(self, connection: Connection, rows: Sequence[Any], now_us: int) -> set[int]:
        """Erase rows of `of_namespace`; return the ids of the namespaces they were in."""

    def forget_person(self, connection: Connection, prefix: Namespace, person: str) -> None:
        """Erase a person's name from what is recorded of other people's rows."""


_REGISTERED: Final[dict[str, PartRows]] = {}


def register(kind: str, rows: Any) -> None:
    """Add rows of a part; ``rows`` is a `PartRows`, or a module with its functions, and ``kind`` the
    ``type`` of the rows of an export."""
    _REGISTERED[kind] = rows


def registered() -> Mapping[str, PartRows]:
    """Return the rows of parts, by the ``type`` of an export."""
    schema.load_parts()
    return _REGISTERED
