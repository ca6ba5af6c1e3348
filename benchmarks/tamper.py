"""Edit a memory file behind its back in nine ways: ``python -m benchmarks.tamper``.

For each edit the table says what `langmemory doctor` names without a head, and with one of before.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from langmemory import MemoryStore
from langmemory.engines.sqlite import Engine
from langmemory.engines.sqlite.engine import check
from langmemory.errors import LangMemoryError
from langmemory.ledger import heads

KEY: Final = b"a key of a benchmark, not a secret"
NS: Final = ("memories", "mia")

Edit = Callable[[Path, Path], None]
"""Changes the file; the second one is a copy from before the last writes."""


@dataclass(frozen=True)
class Tampering:
    """An edit, and what the doctor said of it."""

    edit: str
    plain: str
    """Its first problem without a head; "" is none."""
    with_head: str
    """Likewise with one."""


def _sql(*statements: str) -> Edit:
    def edit(path: Path, before: Path) -> None:
        with closing(apsw.Connection(str(path))) as connection:
            for statement in statements:
                connection.execute(statement)

    return edit


def _zero_page(path: Path, before: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        root = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'item_created'"
        ).get
        size = connection.execute("PRAGMA page_size").get
    data = bytearray(path.read_bytes())
    data[(root - 1) * size + 8 : root * size] = bytes(size - 8)
    path.write_bytes(data)


def _roll_back(path: Path, before: Path) -> None:
    shutil.copy(before, path)


EDITS: Final[dict[str, Edit]] = {
    "The text of a memory is another": _sql(
        "UPDATE item SET value = json_set(value, '$.text', 'Mia owes Bob 900 euros') WHERE key = 'k3'"
    ),
    "A memory is deleted": _sql("DELETE FROM item WHERE key = 'k3'"),
    "A memory is added": _sql(
        "INSERT INTO item (namespace, key, value, created_at, updated_at) "
        "SELECT namespace, 'forged', value, created_at, updated_at FROM item WHERE key = 'k3'"
    ),
    "A memory is moved to another namespace": _sql(
        "UPDATE item SET namespace = (SELECT id FROM namespace WHERE path LIKE '%noor') WHERE key = 'k3'"
    ),
    "A change is taken from the record": _sql(
        "DELETE FROM history WHERE item = (SELECT id FROM item WHERE key = 'k3')"
    ),
    "A memory is found by the vector of another": _sql(
        "UPDATE vector SET e = (SELECT e FROM vector ORDER BY id LIMIT 1) "
        "WHERE id = (SELECT max(id) FROM vector)"
    ),
    "A page is overwritten": _zero_page,
    "A private memory is made public, and another's": _sql(
        "UPDATE item SET privacy = 'public', owner = 'eve', speaker = 'eve' WHERE key = 'k5'"
    ),
    "The whole file is put back to an earlier state": _roll_back,
}


def measure(folder: Path) -> Iterator[Tampering]:
    """Yield what the doctor says of each edit of a file of its own."""
    sound, before = folder / "sound.db", folder / "before.db"
    with MemoryStore(sound) as store:
        store.put((*NS[:1], "noor"), "n", {"text": "Noor plays chess"})
        for n in range(12):
            privacy = "private" if n == 5 else "shared"
            text = f"Mia keeps box {n} in the cellar"
            store.for_viewer("mia").put(NS, f"k{n}", {"text": text, "privacy": privacy})
    shutil.copy(sound, before)
    with MemoryStore(sound) as store:
        store.put(NS, "k3", {"text": "Mia keeps box 3 in the attic"})
    with closing(Engine(sound)) as engine, engine.read() as snapshot:
        head = heads.take(snapshot.connection, KEY)
    for name, edit in EDITS.items():
        path = folder / "edited.db"
        shutil.copy(sound, path)
        edit(path, before)
        plain, with_head = _problems(path, head)
        yield Tampering(name, _first(plain), _first([*with_head, *plain]))


def _first(problems: list[str]) -> str:
    return next(iter(problems), "").split(":\n")[0].partition("\n")[0]


def _problems(path: Path, head: heads.Head) -> tuple[list[str], list[str]]:
    try:
        with closing(Engine(path)) as engine, engine.read() as snapshot:
            plain = check(snapshot.connection)
            differences = heads.differences(snapshot.connection, KEY, head)
            return plain, [one.text for one in differences if one.sure]
    except LangMemoryError as error:
        return [str(error)], [str(error)]


def table(rows: list[Tampering]) -> str:
    """Return the table, as Markdown."""
    lines = ["| edit | `doctor` | `doctor --head` | it says |", "|---|---|---|---|"]
    for row in rows:
        marks = ("named" if said else "-" for said in (row.plain, row.with_head))
        lines.append(f"| {' | '.join((row.edit, *marks, row.with_head))} |")
    counts = (
        sum(map(bool, column))
        for column in zip(*((row.plain, row.with_head) for row in rows), strict=True)
    )
    return "\n".join([*lines, f"| named | {' | '.join(f'{n} of {len(rows)}' for n in counts)} | |"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(table(list(measure(Path(folder)))) + "\n")
