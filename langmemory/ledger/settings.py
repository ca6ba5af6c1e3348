"""Settings in the file: embedding model, dimensions, generation of the vectors, and the
folders where its journal stands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal, get_args

from langmemory.ledger.connection import Connection

ARCHIVE_IDENTITY: Final = "archive identity"
"""Setting of a memory file by which its archive file knows it; there since the first move."""
ARCHIVE_OF: Final = "archive of"
"""Setting of an archive file: the identity of its memory file."""

_JOURNAL: Final = "journal "
"""Begins the name of a setting whose value is a folder."""

_DISTILLED: Final = "distilled "
"""Begins the name of a setting whose value is a month, YYYY-MM: that of a namespace, by its id."""

_CORE_FILE: Final = "core file "
"""Begins the name of a setting whose value is a binding of a core block to a file: JSON, see
`langmemory.core_files.bindings.Binding`. No client of the server reaches it: a path is the operator's to
give."""

_COPYING: Final = "copying"
"""Setting of a database that another one is being copied into: JSON, see `Copying`."""
_CURSORS: Final = "cursor secret"
OWN: Final = frozenset({"generation", "keywords", _COPYING, _CURSORS, ARCHIVE_IDENTITY})
"""Settings of one database alone: a copy of it has its own, or none."""

_FORGETTING: Final = "forgetting"
_NEWEST: Final = "newest forgetting"
Remaining = Literal["file", "copies"]
"""The rest of a forgetting: clear the file of what was deleted, or only empty its WAL and let
the journal follow."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSetting:
    """Which model the vectors of a file come from."""

    model: str | None = None
    """None: nothing was ever embedded here."""
    dims: int | None = None
    generation: int = 0
    """Starts at random, so that no two files are taken for one another; grows when re-embedded."""

    @property
    def words(self) -> int:
        """64-bit words of sign bits a vector."""
        return -(-(self.dims or 0) // 64)


MODEL: Final = "SELECT name, value FROM setting WHERE name IN ('model', 'dims', 'generation')"


def read_model(connection: Connection) -> ModelSetting:
    rows = connection.execute(MODEL)
    found = {str(name): value for name, value in rows if value is not None}
    return ModelSetting(
        model=found.get("model"),
        dims=int(found["dims"]) if "dims" in found else None,
        generation=int(found.get("generation", 0)),
    )


def write_model(connection: Connection, setting: ModelSetting) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)",
        [(name, getattr(setting, name)) for name in ("model", "dims", "generation")],
    )


def journals(connection: Connection) -> list[str]:
    """Return the folders that pages of the journal were written to."""
    rows = connection.execute(
        "SELECT value FROM setting WHERE substr(name, 1, ?) = ?", (len(_JOURNAL), _JOURNAL)
    )
    return [str(row[0]) for row in rows]


def add_journal(connection: Connection, folder: str) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO setting (name, value) VALUES (?, ?)", (_JOURNAL + folder, folder)
    )


def distilled_months(connection: Connection) -> dict[int, str]:
    """Return the last month of the journal that is distilled, YYYY-MM, by the id of the namespace."""
    rows = connection.execute(
        "SELECT substr(name, ?1 + 1), value FROM setting WHERE substr(name, 1, ?1) = ?2",
        (len(_DISTILLED), _DISTILLED),
    )
    return {int(namespace): str(month) for namespace, month in rows}


def note_distilled(connection: Connection, namespace: int, month: str | None) -> None:
    """Note up to which month the journal of a namespace is distilled; None: it is not."""
    name = f"{_DISTILLED}{namespace}"
    connection.execute("DELETE FROM setting WHERE name = ?", (name,))
    if month is not None:
        connection.execute("INSERT INTO setting (name, value) VALUES (?, ?)", (name, month))


def core_files(connection: Connection) -> list[str]:
    """Return the bindings of core blocks to files, as JSON."""
    rows = connection.execute(
        "SELECT value FROM setting WHERE substr(name, 1, ?) = ?", (len(_CORE_FILE), _CORE_FILE)
    )
    return [str(row[0]) for row in rows]


def note_core_file(connection: Connection, block: Sequence[str], binding: str | None) -> None:
    """Note to which file a core block, its labels, is bound; None: to none."""
    name = _CORE_FILE + json.dumps(list(block), ensure_ascii=False)
    connection.execute("DELETE FROM setting WHERE name = ?", (name,))
    if binding is not None:
        connection.execute("INSERT INTO setting (name, value) VALUES (?, ?)", (name, binding))


def remaining(connection: Connection) -> Remaining | None:
    """Return the rest of an earlier forgetting: it was interrupted, or something stood in its way."""
    row = connection.execute("SELECT value FROM setting WHERE name = ?", (_FORGETTING,)).fetchone()
    return next((one for one in get_args(Remaining) if row == (one,)), None)


def note_remaining(connection: Connection, what: Remaining | None, run: str | None = None) -> None:
    """Note what a forgetting has still to do; None: it is complete.

    Args:
        what: ``file`` once its memories are gone.
        run: Which one; what it has done later counts only while none has come after it.
    """
    if what == "file":
        connection.execute(
            "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", (_NEWEST, run)
        )
    elif newest_forgetting(connection) != run:
        return
    connection.execute("DELETE FROM setting WHERE name = ?", (_FORGETTING,))
    if what is not None:
        connection.execute("INSERT INTO setting (name, value) VALUES (?, ?)", (_FORGETTING, what))


def newest_forgetting(connection: Connection) -> str | None:
    """Return the run that was the last to forget something."""
    row = connection.execute("SELECT value FROM setting WHERE name = ?", (_NEWEST,)).fetchone()
    return None if row is None else row[0]


def cursor_secret(connection: Connection) -> str | None:
    """Return what seals the cursors, in hexadecimal; None before the first of them."""
    row = connection.execute("SELECT value FROM setting WHERE name = ?", (_CURSORS,)).fetchone()
    return None if row is None else str(row[0])


def note_cursor_secret(connection: Connection, secret: str) -> None:
    """Keep what seals the cursors, unless there is one."""
    connection.execute(
        "INSERT OR IGNORE INTO setting (name, value) VALUES (?, ?)", (_CURSORS, secret)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Copying:
    """An unfinished copy."""

    source: str
    """What is copied, as a person names it."""
    generation: int
    """Of the vectors there, which tells it from every other database."""


def copying(connection: Connection) -> Copying | None:
    """Return what is being copied into a database; None: it is whole."""
    row = connection.execute("SELECT value FROM setting WHERE name = ?", (_COPYING,)).fetchone()
    return None if row is None else Copying(**json.loads(row[0]))


def note_copying(connection: Connection, state: Copying | None) -> None:
    """Note what is being copied into a database; None: the copy is whole."""
    connection.execute("DELETE FROM setting WHERE name = ?", (_COPYING,))
    if state is not None:
        connection.execute(
            "INSERT INTO setting (name, value) VALUES (?, ?)", (_COPYING, json.dumps(asdict(state)))
        )


def is_archive(connection: Connection) -> bool:
    """Return whether a database is the archive file of a memory file."""
    row = connection.execute("SELECT 1 FROM setting WHERE name = ?", (ARCHIVE_OF,)).fetchone()
    return row is not None
