"""Rows of sparse vectors, and the settings that say which encoder they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from langmemory.ledger.connection import Connection, insert
from langmemory.ports.sparse import Pairs

_ENCODER: Final = "sparse"
"""Setting: the name of the encoder."""


_GAPS: Final = "sparse gaps"
"""Setting that is there as long as memories from before the encoder have no vector."""


_MISSED: Final = "sparse missed"
"""Setting that is there since a store without the encoder wrote a memory, until the next `reencode`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SparseSetting:
    """Which encoder the sparse vectors of a database come from."""

    encoder: str | None = None
    """None: there are none."""
    gaps: bool = False
    """Whether memories from before the encoder have none."""
    missed: bool = False
    """Whether some have none since a store without the encoder wrote them."""

    @property
    def lacks(self) -> str | None:
        """Which memories have no vector, and what to do, as a recall and the doctor say it."""
        if self.gaps:
            return "memories from before the sparse encoder have no vector: not asked, run reencode"
        if self.missed:
            return (
                "memories that were written without the sparse encoder have no vector: run reencode"
            )
        return None


SETTING: Final = (
    "SELECT name, value FROM setting WHERE name IN (?, ?, ?)",
    (_ENCODER, _GAPS, _MISSED),
)
"""What `read_sparse` asks."""


def read_sparse(connection: Connection) -> SparseSetting:
    found = dict(connection.execute(*SETTING).fetchall())
    return SparseSetting(encoder=found.get(_ENCODER), gaps=_GAPS in found, missed=_MISSED in found)


def write_sparse(connection: Connection, setting: SparseSetting) -> None:
    """Say which encoder the vectors come from. Vectors of another one go."""
    if read_sparse(connection).encoder not in (None, setting.encoder):
        connection.execute("DELETE FROM sparse")
    connection.execute("DELETE FROM setting WHERE name IN (?, ?, ?)", (_ENCODER, _GAPS, _MISSED))
    given = (setting.encoder, "1" if setting.gaps else None, "1" if setting.missed else None)
    rows = zip((_ENCODER, _GAPS, _MISSED), given, strict=True)
    insert(connection, "setting (name, value)", [row for row in rows if row[1] is not None])


def note_missed(connection: Connection) -> None:
    """Note that a memory is written without its vector, where others have one."""
    found = read_sparse(connection)
    if found.encoder is not None and not found.missed:
        connection.execute(
            "INSERT OR IGNORE INTO setting (name, value) VALUES (?, '1')", (_MISSED,)
        )


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
