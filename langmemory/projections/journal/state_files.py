"""`STATE.md` and its archive as files in the folder of the journal, which follow what they tell of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from langmemory.ports.journal import JournalRows
from langmemory.projections.journal import state_page
from langmemory.projections.journal.files import remove_left, tidy, write_file
from langmemory.projections.journal.memory_page import path_of
from langmemory.types import Namespace

_NAMES = (state_page.NAME, state_page.ARCHIVE)


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
                changed += self._followed(here, self._told(namespace))
                written = stamp
        return changed

    def rebuild(self) -> None:
        """Make every page of the folder what memory holds, after something was forgotten."""
        remove_left(list(self.folder.rglob(".STATE*")))
        while self._followed(self.folder, self._everything(), deep=True):
            pass

    def _told(self, namespace: Namespace) -> dict[Path, str]:
        rows = self._rows.state(namespace)
        return {
            self.folder.joinpath(*page.path(name)): text
            for page in state_page.pages(namespace, rows)
            for name, text in state_page.render(page).items()
        }

    def _everything(self) -> dict[Path, str]:
        told: dict[Path, str] = {}
        for namespace in self._rows.with_state(()):
            told |= self._told(namespace)
        return told

    def _followed(self, here: Path, told: Mapping[Path, str], *, deep: bool = False) -> int:
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
    return file.is_file() and file.read_bytes().split(b"\n", 2)[1:2] == [state_page.MARK.encode()]
