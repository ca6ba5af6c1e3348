"""Notes: Markdown that somebody wrote for themselves, as turns that formation reads."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from langmemory.documents.files import read
from langmemory.documents.splitting import FRONT_MATTER, is_closed
from langmemory.errors import ImportFormatError, with_extra
from langmemory.parts.importing.message import stable_id
from langmemory.parts.importing.words import import_words
from langmemory.projections.journal.memory_page import is_memory_page

if TYPE_CHECKING:
    from markdown_it.token import Token

NAMES: Final = frozenset({"memory.md", "user.md"})
_DAY: Final = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+")
_TASK: Final = re.compile(r"^\[[ xX]\]\s+")
_CODE_OR_COMMENT: Final = re.compile(
    r"((?:^[> \t]*(`{3,}(?![^\n]*`)|~{3,}).*?^[> \t]*\2)|`[^`\n]+`)|<!--.*?-->",
    re.DOTALL | re.MULTILINE,
)
"""Code, in which nothing is a comment, is its group."""
_PICTURE: Final = re.compile(
    r"(\[)?(?:!\[\[[^\]]*\]\]|!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|<img\b[^>]*>)(?(1)\]\([^)]*\))"
)
_LINK: Final = re.compile(r"\[[^\]]+\]:\s*<?\S*(?:/|\.\w)\S*>?(?:\s+[\"'(].*)?")
"""The address of a link or picture that is named elsewhere."""
_TABLE_RULE: Final = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*")
"""The second line of a table."""
LONGEST_MARK: Final = 3
"""Digits of the number of an item; a line that begins with more begins with a year."""
_YAML_KEY: Final = re.compile(r"^[\w-]+:(?:\s|$)", re.MULTILINE)
_SENTENCE_END: Final = re.compile(r"[.!?…。！？,;:]$")
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


def notes_of(path: Path, unread: list[str] | None = None) -> list[dict[str, Any]]:
    """Return the notes of a file as messages: each paragraph and each item of a list. A note is known by
    its words: where others are written above it, it is the same. It was said on the day that the heading
    above it names, else the name of the file, else when the file was changed.

    Args:
        path: A Markdown file.
        unread: Gets what is no note: code, tables and pictures.

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
    front = FRONT_MATTER.match(text)
    if front is not None and _YAML_KEY.search(front[1] or ""):  # else it stands between two rules
        text = text[front.end() :]
    reader = _Reader()
    notes, occurrences = [], Counter[tuple[datetime | None, str]]()
    try:
        found = list(reader.notes(_CODE_OR_COMMENT.sub(lambda found: found[1] or "", text)))
    except RecursionError as error:
        raise ImportFormatError(f"{path} nests deeper than can be read.") from error
    for day, note in found:
        occurrences[day, note] += 1
        id = stable_id(f"{day or ''}", occurrences[day, note], "user", note)
        notes.append({"role": "user", "content": note, "id": id, "at": day or at})
    if unread is not None:
        unread += reader.unread
    return notes


def _day_in(name: str) -> datetime | None:
    if (match := _DAY.search(name)) is not None:
        with suppress(ValueError):  # a number that only looks like a day
            return datetime.combine(date(*map(int, match.groups())), time(12), UTC)
    return None


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    title: str
    day: datetime | None


@dataclass(kw_only=True, slots=True)
class _Reader:
    """Reads the Markdown of a file."""

    above: list[_Heading] = field(default_factory=list)
    """The headings above, outermost first."""
    unread: list[str] = field(default_factory=list)

    def notes(self, text: str) -> Iterator[tuple[datetime | None, str]]:
        """Yield the text of each paragraph and item, and the day that a heading above it names.

        Raises:
            ImportFormatError: The extra ``documents`` is not installed.
        """
        try:
            from markdown_it import MarkdownIt
        except ImportError as error:
            raise ImportFormatError(
                f"Notes need {error.name}: {with_extra('documents')}"
            ) from error
        # What these rules would take for no text may be some.
        commonmark = MarkdownIt("commonmark").disable(["inline", "code", "reference", "html_block"])
        lines = text.splitlines()
        tokens = commonmark.parse("\n".join(lines))
        begun: Token | None = None
        year = ""
        for token in tokens:
            if token.type == "list_item_open" and len(token.info) > LONGEST_MARK:
                year = f"{token.info}{token.markup} "
            if token.type == "fence":
                if is_closed(token, lines):
                    self.unread.append(token.content)
                else:
                    yield from self.notes(token.content)
            elif token.type == "inline" and not (begun and self._is_heading(begun, token.content)):
                yield from self._paragraph(f"{year}{token.content}")
                year = ""
            begun = token if token.type == "heading_open" else None

    def _is_heading(self, begun: Token, title: str) -> bool:
        """Return whether a text is a heading, and note it. What is underlined may be a sentence above a
        rule."""
        if begun.markup[0] in "=-" and ("\n" in title or _SENTENCE_END.search(title)):
            return False
        level = int(begun.tag[1:])
        while self.above and self.above[-1].level >= level:
            self.above.pop()
        self.above.append(_Heading(level, title, _day_in(title)))
        return True

    def _paragraph(self, text: str) -> Iterator[tuple[datetime | None, str]]:
        lines: list[str] = []
        every = text.splitlines()
        rules = [at for at, line in enumerate(every) if _TABLE_RULE.fullmatch(line)]
        for at, line in enumerate(every):
            item = _ITEM.match(line)
            is_table = (
                line.lstrip().startswith("|")
                or ("|" in line and any(at >= rule - 1 for rule in rules))
                or _LINK.fullmatch(line.strip()) is not None
            )
            if item or is_table:
                yield from self._note(lines)
                lines = []
            if is_table:
                self.unread.append(line)
            else:
                lines.append(line[item.end() :] if item else line)
        yield from self._note(lines)

    def _note(self, lines: Iterable[str]) -> Iterator[tuple[datetime | None, str]]:
        whole = _TASK.sub("", " ".join(lines).strip())
        text = " ".join(_PICTURE.sub("", whole).split())
        if whole and not text:
            self.unread.append(whole)
        if not text:
            return
        heading = self.above[-1] if self.above else _Heading(1, "", None)
        # A name as a heading is who the lines below are about.
        is_subject = heading.level > 1 and heading.day is None
        is_named = heading.title.casefold() in text.casefold()
        subject = f"{heading.title}: " if is_subject and heading.title and not is_named else ""
        day = next((one.day for one in reversed(self.above) if one.day), None)
        for part in textwrap.wrap(f"{subject}{text}", LONGEST):
            yield day, part
