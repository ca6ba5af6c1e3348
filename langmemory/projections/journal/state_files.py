"""`STATE.md` and its archive as files in the folder of the journal, which follow what they tell of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from langmemory.ports.journal import JournalRows, StateRow
from langmemory.projections.journal.files import remove_left, tidy, write_file
from langmemory.projections.journal.memory_page import path_of
from langmemory.projections.journal.pages import line
from langmemory.swarm import CLOSED, SESSION_PARTS
from langmemory.types import Namespace

NAME: Final = "STATE.md"
ARCHIVE: Final = "STATE-archive.md"
MARK: Final = (
    "<!-- Written by langmemory from tasks and decisions. What is changed here is overwritten. -->"
)
MOST_LINES: Final = 100
"""Of the page; the rest stands in the archive."""
_SECTIONS: Final = (("task", "Tasks"), ("decision", "Decisions"), ("session", "Sessions"))
_FRAME: Final = 2 + 3 * len(_SECTIONS) + 2
"""Lines of the page that are no entry: its head, each heading with the lines around it, where the rest is."""
_CHARACTERS: Final = 500
"""Of one entry."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatePage:
    """What a team is doing, for everybody in a namespace or for the owner of what is private."""

    namespace: Namespace
    owner: str | None
    rows: Sequence[StateRow]

    def path(self, name: str) -> tuple[str, ...]:
        """Folders and file name."""
        return path_of(self.namespace, self.owner, name)


def render(page: StatePage) -> dict[str, str]:
    """Return the page and, where it does not hold everything, its archive, by name. Open tasks stay the
    longest, then what changed last."""
    rows = sorted(
        page.rows, key=lambda row: (not _is_open(row), not row.holds, -row.at.timestamp(), row.key)
    )
    most = MOST_LINES - _FRAME
    kept, rest = rows[:most], rows[most:]
    files = {NAME: _text("State", kept, len(rest))}
    if rest:
        files[ARCHIVE] = _text("State, archive", rest, 0)
    return files


def _text(title: str, rows: Sequence[StateRow], more: int) -> str:
    blocks = [f"# {title}\n{MARK}"]
    newest = sorted(rows, key=lambda row: (-row.at.timestamp(), row.key))
    for record, heading in _SECTIONS:
        lines = [_line(row) for row in newest if row.record == record]
        if lines:
            blocks.append(f"## {heading}\n\n" + "\n".join(lines))
    if more:
        blocks.append(f"{more} older: see {ARCHIVE}")
    return "\n\n".join(blocks) + "\n"


def _is_open(row: StateRow) -> bool:
    return row.record == "task" and row.value.get("status") not in CLOSED


def _line(row: StateRow) -> str:
    said = "; ".join(filter(None, map(line, _said(row))))
    return f"- {said[:_CHARACTERS]}" + ("" if row.holds else " (superseded)")


def _said(row: StateRow) -> Iterator[str]:
    value = row.value
    if row.record == "task":
        mark = "x" if value.get("status") in CLOSED else " "
        yield f"({mark}) {value.get('title', '')}: {str(value.get('status', '')).replace('_', ' ')}"
        if value.get("agent"):
            yield str(value["agent"])
        if blockers := _texts(value.get("blockers")):
            yield f"waits for {', '.join(blockers)}"
        yield str(value.get("note") or "")
    elif row.record == "decision":
        by = f" ({value['made_by']})" if value.get("made_by") else ""
        yield f"{row.at:%Y-%m-%d} {value.get('what', '')}{by}"
        yield f"because {value.get('why', '')}"
        if others := _texts(value.get("alternatives")):
            yield f"instead of {', '.join(others)}"
    else:
        yield f"{row.at:%Y-%m-%d %H:%M} {value.get('agent') or 'an agent'}"
        for name, label in SESSION_PARTS.items():
            if told := _texts(value.get(name)):
                yield f"{label.lower()}: {', '.join(told)}"


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def pages(namespace: Namespace, rows: Iterable[StateRow]) -> Iterator[StatePage]:
    """Yield a page for everybody, and one for each owner of what is private."""
    by_owner: dict[str | None, list[StateRow]] = {}
    for row in rows:
        owner = (row.owner or "") if row.privacy == "private" else None
        by_owner.setdefault(owner, []).append(row)
    for owner, found in by_owner.items():
        yield StatePage(namespace=namespace, owner=owner, rows=found)


_NAMES = (NAME, ARCHIVE)


class StateFiles:
    """The pages of a folder. They are written whole and put in place at once; a file of somebody else is
    never written over.

    Args:
        folder: Of the journal.
        rows: What they are written from.
    """

    def __init__(self, folder: str | os.PathLike[str], rows: JournalRows) -> None:
        self.folder = Path(folder).expanduser().absolute()
        self._rows = rows

    def write(self, prefix: Namespace = ()) -> int:
        """Make the pages of the namespaces in a prefix what memory holds, and keep them so; how many files
        are different."""
        found = self._rows.with_state(prefix)
        if found:
            self._rows.keep(self.folder)
        return self.follow(found)

    def follow(self, namespaces: Iterable[Namespace]) -> int:
        """Make the pages of these namespaces what memory holds, also where that is nothing; how many files
        are different."""
        changed = 0
        for namespace in namespaces:
            here = self.folder.joinpath(*path_of(namespace, None, ""))
            remove_left([*here.glob(".STATE*"), *here.glob("*.private/.STATE*")])
            # Until nothing has changed meanwhile: others write, too, and the last must not write what was.
            written = None
            while (stamp := self._rows.stamp()) != written:
                changed += self._sync_files(here, self._render_files(namespace))
                written = stamp
        return changed

    def rebuild(self) -> None:
        """Make every page of the folder what memory holds, after something was forgotten."""
        remove_left(list(self.folder.rglob(".STATE*")))
        while self._sync_files(self.folder, self._everything(), deep=True):
            pass

    def _render_files(self, namespace: Namespace) -> dict[Path, str]:
        rows = self._rows.state(namespace)
        return {
            self.folder.joinpath(*page.path(name)): text
            for page in pages(namespace, rows)
            for name, text in render(page).items()
        }

    def _everything(self) -> dict[Path, str]:
        told: dict[Path, str] = {}
        for namespace in self._rows.with_state(()):
            told |= self._render_files(namespace)
        return told

    def _sync_files(self, here: Path, told: Mapping[Path, str], *, deep: bool = False) -> int:
        changed = sum(write_file(file, text.encode(), _is_ours) for file, text in told.items())
        places = ("**/",) if deep else ("", "*.private/")
        written = [
            file for place in places for name in _NAMES for file in here.glob(f"{place}{name}")
        ]
        for file in written:
            if file not in told and _is_ours(file):
                file.unlink(missing_ok=True)
                changed += 1
                tidy(file.parent, self.folder)
        return changed


def _is_ours(file: Path) -> bool:
    return file.is_file() and file.read_bytes().split(b"\n", 2)[1:2] == [MARK.encode()]
