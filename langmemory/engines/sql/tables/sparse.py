"""The rows of sparse vectors, and the settings that say which encoder they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.rows import insert
from langmemory.ports.sparse import Pairs

_ENCODER: Final = "sparse"
"""Setting: the name of the encoder."""
_GAPS: Final = "sparse gaps"
"""Setting that is there as long as memories from before the encoder have no vector."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SparseSetting:
    """Which encoder the sparse vectors of a database come from."""

    encoder: str | None = None
    """None: there are none."""
    gaps: bool = False
    """Whether memories from before the encoder have none."""


def read_sparse(connection: Connection) -> SparseSetting:
    rows = connection.execute(
        "SELECT name, value FROM setting WHERE name IN (?, ?)", (_ENCODER, _GAPS)
    )
    found = dict(rows.fetchall())
    return SparseSetting(encoder=found.get(_ENCODER), gaps=_GAPS in found)


def write_sparse(connection: Connection, setting: SparseSetting) -> None:
    """Say which encoder the vectors come from. Vectors of another one go."""
    if read_sparse(connection).encoder not in (None, setting.encoder):
        connection.execute("DELETE FROM sparse")
    connection.execute("DELETE FROM setting WHERE name IN (?, ?)", (_ENCODER, _GAPS))
    rows = [(_ENCODER, setting.encoder), (_GAPS, "1" if setting.gaps else None)]
    insert(connection, "setting (name, value)", [row for row in rows if row[1] is not None])


def write(connection: Connection, vectors: Sequence[tuple[int, Pairs]], *, fresh: bool) -> None:
    """Replace the sparse vectors of items. ``fresh``: the items are new, so there is nothing to replace."""
    if not fresh:
        connection.executemany("DELETE FROM sparse WHERE item = ?", [(one,) for one, _ in vectors])
    insert(
        connection, "sparse (item, vector)", [(item, vector.tobytes()) for item, vector in vectors]
    )


def of_items(connection: Connection, items: Sequence[int]) -> Mapping[int, bytes]:
    """Return the sparse vectors of those items that have one, as they are stored."""
    rows = connection.execute(
        "SELECT s.item, s.vector FROM carray(?) c CROSS JOIN sparse s ON s.item = c.value",
        (connection.array(items),),
    )
    return dict(rows.fetchall())
