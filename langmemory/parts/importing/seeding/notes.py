"""Notes: Markdown that somebody wrote for themselves, as turns that formation reads."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time
from pathlib import Path, PurePosixPath
from typing import Any, Final

from langmemory.documents.files import read
from langmemory.documents.splitting import FRONT_MATTER
from langmemory.errors import ImportFormatError
from langmemory.parts.importing.message import stable_id
from langmemory.parts.importing.words import import_words
from langmemory.projections.journal.memory_page import is_memory_page

NAMES: Final = frozenset({"memory.md", "user.md"})
_DAY: Final = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_HEADING: Final = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_FENCE: Final = re.compile(r"\s*(```|~~~)")
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
LONGEST: Final = 2_000
"""Characters of one note; what is longer becomes several."""


def is_note(name: str) -> bool:
    """Return whether a Markdown file, by its path in the workspace, holds notes."""
    path = PurePosixPath(name.casefold())
    return (
        path.name in NAMES
        or not import_words().note_folders.isdisjoint(path.parts[:-1])
        or _DAY.match(path.name) is not None
    )


def notes_of(path: Path) -> list[dict[str, Any]]:
    """Return the notes of a file as messages: each paragraph and each item of a list. A note is known by
    its words: where others are written above it, it is the same. It was said on the day that the heading
    above it names, else the name of the file, else when the file was changed.

    Raises:
        ImportFormatError: It is no UTF-8, or too large.
        OSError: It cannot be read.
    """
    content = read(path)
    try:
        text = content.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportFormatError(
            f"{path} is not UTF-8 at byte {error.start}. Save it as UTF-8."
        ) from error
    if is_memory_page(text):
        return []  # langmemory wrote it from what it knows
    at = _day_in(path.name) or datetime.fromtimestamp(content.stamp.modified_ns / 1e9, UTC)
    notes, occurrences = [], Counter[tuple[datetime | None, str]]()
    for day, note in _paragraphs(_COMMENT.sub("", FRONT_MATTER.sub("", text))):
        occurrences[day, note] += 1
        id = stable_id(f"{day or ''}", occurrences[day, note], "user", note)
        notes.append({"role": "user", "content": note, "id": id, "at": day or at})
    return notes


def _day_in(name: str) -> datetime | None:
    if (match := _DAY.search(name)) is not None:
        with suppress(ValueError):  # a number that only looks like a day
            return datetime.combine(date(*map(int, match.groups())), time(12), UTC)
    return None


def _paragraphs(text: str) -> Iterator[tuple[datetime | None, str]]:
    """Yield the text of each paragraph and item, and the day that a heading above it names."""
    lines: list[str] = []
    day: datetime | None = None
    heading, fence = "", ""

    def finished() -> Iterator[tuple[datetime | None, str]]:
        text = " ".join(" ".join(lines).split())
        if text:
            # A name as a heading is who the lines below are about.
            subject = "" if not heading or heading.casefold() in text.casefold() else f"{heading}: "
            for part in textwrap.wrap(f"{subject}{text}", LONGEST):
                yield day, part
        lines.clear()

    for line in text.splitlines():
        opens = _FENCE.match(line)
        if fence or opens:
            yield from finished()
            if opens and not fence:
                fence = opens[1]
            elif opens and opens[1] == fence:
                fence = ""
            continue
        title, item = _HEADING.match(line), _ITEM.match(line)
        if title or item or not line.strip() or line.lstrip().startswith("|"):
            yield from finished()
        if title:
            named = _day_in(title[1])
            day = named or day
            heading = "" if line.startswith("# ") or named else title[1]
        elif item:
            lines.append(item[1])
        elif line.strip() and not line.lstrip().startswith("|"):
            lines.append(line.lstrip("> ").strip())
    yield from finished()
