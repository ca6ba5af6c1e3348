"""Notes: Markdown that somebody wrote for themselves, as turns that formation reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from pathlib import Path, PurePosixPath
from typing import Any, Final

from langmemory.documents.files import read
from langmemory.documents.splitting import FRONT_MATTER
from langmemory.errors import ImportFormatError
from langmemory.projections.journal.memory_page import is_memory_page

FOLDERS: Final = frozenset(
    {"notes", "journal", "diary", "memory", "people", "meetings", "daily"}
    | {"notizen", "tagebuch", "notas", "diario", "笔记", "日记"}
)
"""Folders of notes, in several languages."""
NAMES: Final = frozenset({"memory.md", "user.md"})
_DAY: Final = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_HEADING: Final = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_FENCE: Final = re.compile(r"\s*(```|~~~)")
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
LONGEST: Final = 2_000
"""Characters of one note; what is longer is a text, and is cut at the end of a line."""


def is_note(name: str) -> bool:
    """Return whether a Markdown file, by its path in the workspace, holds notes."""
    path = PurePosixPath(name.casefold())
    return (
        path.name in NAMES
        or not FOLDERS.isdisjoint(path.parts[:-1])
        or _DAY.match(path.name) is not None
    )


def notes_of(path: Path) -> list[dict[str, Any]]:
    """Return the notes of a file as messages: each paragraph and each item of a list, with its lines as the
    id, and the day of the file's name, else its time, as when it was said.

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
    at = _said_at(path.name, content.stamp.modified_ns)
    return [
        {
            "role": "user",
            "content": told,
            "id": f"L{first}" if first == last else f"L{first}-L{last}",
            "at": at,
        }
        for first, last, told in _paragraphs(_blank(_blank(text, FRONT_MATTER), _COMMENT))
    ]


def _said_at(name: str, modified_ns: int) -> datetime:
    if (match := _DAY.search(name)) is not None:
        try:
            return datetime.combine(date(*map(int, match.groups())), time(12), UTC)
        except ValueError:
            pass  # a number that only looks like a day
    return datetime.fromtimestamp(modified_ns / 1e9, UTC)


def _blank(text: str, pattern: re.Pattern[str]) -> str:
    """Return a text without what matches, with as many lines."""
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


def _paragraphs(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the first and last line, from 1, and the text of each paragraph and item."""
    lines: list[str] = []
    first, heading, fence = 0, "", ""

    def finished(last: int) -> Iterator[tuple[int, int, str]]:
        told = " ".join(" ".join(lines).split())
        if told:
            # A name as a heading is who the lines below are about.
            subject = "" if not heading or heading.casefold() in told.casefold() else f"{heading}: "
            yield first, last, f"{subject}{told}"[:LONGEST]
        lines.clear()

    number = 0
    for number, line in enumerate(text.splitlines(), 1):
        opens = _FENCE.match(line)
        if fence or opens:
            yield from finished(number - 1)
            if opens and not fence:
                fence = opens[1]
            elif opens and opens[1] == fence:
                fence = ""
            continue
        title, item = _HEADING.match(line), _ITEM.match(line)
        if title or item or not line.strip() or line.lstrip().startswith("|"):
            yield from finished(number - 1)
        if title:
            heading = "" if line.startswith("# ") or _DAY.search(title[1]) else title[1]
        elif item:
            first = number
            lines.append(item[1])
        elif line.strip() and not line.lstrip().startswith("|"):
            if not lines:
                first = number
            lines.append(line.lstrip("> ").strip())
    yield from finished(number)
