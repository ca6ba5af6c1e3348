"""`MEMORY.md` and `DREAMS.md` as files in the folder of the journal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from langmemory.ports.journal import DreamRow, JournalRows, Remembered
from langmemory.projections.journal import memory_page
from langmemory.projections.journal.files import tidy, write_file
from langmemory.projections.journal.memory_page import Edits, MemoryPage, MemoryPageError, path_of
from langmemory.projections.journal.pages import line
from langmemory.types import Namespace

NAME: Final = "DREAMS.md"
MARK: Final = (
    "<!-- Written by langmemory from its history. What is changed here is overwritten. -->"
)
MOST_LINES: Final = 50
"""Changes of one night that are told; the others are counted."""
_TOLD: Final[Mapping[str, str]] = {
    "add": "New", "update": "Changed", "supersede": "Outdated", "invalidate": "Over",
    "archive": "Put away", "status": "Standing", "merge": "Merged away", "restore": "Back",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class DreamsPage:
    """What nights changed in one namespace, for everybody in it or for the owner of what is private."""

    namespace: Namespace
    owner: str | None
    rows: Sequence[DreamRow]
    """The newest first."""

    @property
    def path(self) -> tuple[str, ...]:
        """Folders and file name."""
        return path_of(self.namespace, self.owner, NAME)


def render(page: DreamsPage) -> str:
    """Return the page as Markdown."""
    nights = groupby(page.rows, key=lambda row: (row.day, row.night))
    blocks = [f"# Dreams\n{MARK}"]
    for (day, night), rows in nights:
        blocks.append(f"## {day} ({line(night)})\n\n" + "\n".join(_lines(list(rows))))
    return "\n\n".join(blocks) + "\n"


def _lines(rows: Sequence[DreamRow]) -> Iterator[str]:
    told = list(dict.fromkeys(filter(None, map(_line, reversed(rows)))))
    yield from told[:MOST_LINES]
    if len(told) > MOST_LINES:
        yield f"- and {len(told) - MOST_LINES} more: `langmemory maintain --list`"


def _line(row: DreamRow) -> str:
    before = f"~~{line(row.before)}~~ → " if row.before and row.before != row.text else ""
    because = f" ({line(row.reason)})" if row.reason else ""
    what = (
        f"Summary of {line(row.summary_of)}"
        if row.summary_of
        else _TOLD.get(row.action, row.action)
    )
    return f"- {what}: {before}{line(row.text)}{because}"


def pages(namespace: Namespace, rows: Iterable[DreamRow]) -> Iterator[DreamsPage]:
    """Yield a page for everybody, and one for each owner of private memories."""
    by_owner: dict[str | None, list[DreamRow]] = {}
    for row in rows:
        owner = (row.owner or "") if row.privacy == "private" else None
        by_owner.setdefault(owner, []).append(row)
    for owner, found in by_owner.items():
        yield DreamsPage(namespace=namespace, owner=owner, rows=found)


class MemoryFiles:
    """The pages of a folder. They are written whole and put in place at once, and never over an edit that
    was not taken up.

    Args:
        folder: Of the journal.
        rows: What they are written from.
    """

    def __init__(self, folder: str | os.PathLike[str], rows: JournalRows) -> None:
        self.folder = Path(folder).expanduser().absolute()
        self._rows = rows

    def write(
        self, prefix: Namespace = (), *, budget_tokens: int, now_us: int
    ) -> tuple[int, list[Path]]:
        """Make the pages of the namespaces in a prefix what memory holds.

        Returns:
            How many files are different, and those left as they are because a person edited them.
        """
        changed, edited = 0, list[Path]()
        for found in self._rows.remembered(prefix, now_us):
            told = set[Path]()
            for page in memory_pages(found):
                file = self.folder.joinpath(*page.path)
                told.add(file)
                if is_edited(file):
                    edited.append(file)
                else:
                    changed += self._put(file, memory_page.render(page, budget_tokens))
            for file in self._of(found.namespace, memory_page.NAME):
                if file not in told and _is_ours(file) and not is_edited(file):
                    self._remove(file)
                    changed += 1
            changed += self._dreams(found.namespace)
        if changed:
            self._rows.keep(self.folder)
        return changed, edited

    def prune(self, namespaces: Iterable[Namespace] | None = None) -> None:
        """Take lines out of the pages that tell of what is gone, edited or not.

        Args:
            namespaces: Of these; None is all that have files.
        """
        if namespaces is None:
            files: Iterable[Path] = sorted(self.folder.rglob(memory_page.NAME))
            told = [one for one in self.folder.rglob(NAME) if _is_ours(one)]
            dreams = self._rows.dreaming() if told else []
            for file in told:  # of namespaces that are gone, too
                self._remove(file)
        else:
            names = list(namespaces)
            files = [file for one in names for file in self._of(one, memory_page.NAME)]
            dreams = [one for one in names if self._of(one, NAME)]
        for file in files:
            if not _is_ours(file):
                continue
            text = _text(file)
            try:
                written = memory_page.written_of(text)
            except MemoryPageError:
                self._put(file, memory_page.prune_page(text, (), {}))
                continue
            keys = [key for key, _ in written.lines.values()]
            holding = self._rows.holding(written.namespace, keys, written.owner)
            core = self._rows.core(written.namespace) if written.core else {}
            self._put(file, memory_page.prune_page(text, holding, core))
            left = memory_page.edits_of(_text(file))
            if not (left or left.written.lines or left.written.core):
                self._remove(file)
        for namespace in dreams:
            self._dreams(namespace)

    def edits(self, prefix: Namespace = ()) -> Iterator[tuple[Path, Edits | MemoryPageError]]:
        """Yield the pages of namespaces in a prefix that a person edited: the file, and how it was edited."""
        here = self.folder.joinpath(*memory_page.path_of(prefix, None, ""))
        for file in sorted(here.rglob(memory_page.NAME)):
            if not _is_ours(file):
                continue
            try:
                found = memory_page.edits_of(_text(file))
            except MemoryPageError as error:
                yield file, error
                continue
            where = memory_page.path_of(found.written.namespace, found.written.owner)
            if self.folder.joinpath(*where) != file:
                elsewhere = "it was written for another folder. Move it back."
                yield file, MemoryPageError(elsewhere)
            elif found:
                yield file, found

    def _dreams(self, namespace: Namespace) -> int:
        rows = self._rows.dreamt(namespace)
        told, changed = set[Path](), 0
        for page in pages(namespace, rows):
            file = self.folder.joinpath(*page.path)
            told.add(file)
            changed += self._put(file, render(page))
        for file in self._of(namespace, NAME):
            if file not in told and _is_ours(file):
                self._remove(file)
                changed += 1
        return changed

    def _of(self, namespace: Namespace, name: str) -> list[Path]:
        """The files of a namespace: everybody's, and those of single owners."""
        here = self.folder.joinpath(*memory_page.path_of(namespace, None, ""))
        found = [here / name, *sorted(here.glob(f"*.private/{name}"))]
        return [file for file in found if file.is_file()]

    def _remove(self, file: Path) -> None:
        """Remove a page, and the folders that are empty then."""
        file.unlink(missing_ok=True)
        tidy(file.parent, self.folder)

    def _put(self, file: Path, text: str) -> int:
        return int(write_file(file, text.encode(), _is_ours))


def memory_pages(found: Remembered) -> Iterator[MemoryPage]:
    """Yield a page for everybody in a namespace, and one for each owner of private memories."""
    private: dict[str, list[int]] = {}
    shared = []
    for place, row in enumerate(found.rows):
        if row.privacy == "private":
            private.setdefault(row.owner or "", []).append(place)
        else:
            shared.append(row)
    if shared or found.core:
        yield MemoryPage(namespace=found.namespace, owner=None, core=found.core, rows=shared)
    for owner, places in private.items():
        rows = [found.rows[place] for place in places]
        yield MemoryPage(namespace=found.namespace, owner=owner, rows=rows)


def is_edited(file: Path) -> bool:
    """Whether a page is there and is not as it was written; also one that cannot be read."""
    if not file.is_file():
        return False
    try:
        return bool(memory_page.edits_of(_text(file)))
    except MemoryPageError:
        return True


def _is_ours(file: Path) -> bool:
    return file.is_file() and memory_page.is_memory_page(_text(file), (memory_page.MARK, MARK))


def _text(file: Path) -> str:
    return file.read_text("utf-8", errors="replace")
