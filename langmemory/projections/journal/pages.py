"""The journal: what was said on one day came to, as a page of Markdown for people.

A page is a function of what memory holds, so it can be written anew at any time, and what is
forgotten or undone leaves it. Private memories stand on pages of their owner's own.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from langmemory.types import Namespace

MARK: Final = "<!-- Written by langmemory from its memory. What is changed here is overwritten. -->"
"""Second line of every page: files without it are nobody's but their author's."""

ARCHIVE: Final = "archive"
"""Folder of the days whose months are distilled."""

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Learned:
    """A fact that was told on this day."""

    text: str
    until: datetime | None = None
    """When it stopped being true, if that is known by now."""
    instead_of: tuple[str, ...] = ()
    """Texts of earlier facts it replaced."""
    waits: bool = False
    """It is not believed yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One conversation, as far as it was on this day."""

    thread_id: str
    summaries: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    open_points: tuple[str, ...] = ()
    learned: tuple[Learned, ...] = ()
    """In the order they were told."""
    questions: tuple[str, ...] = ()
    """That a person has to answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """One day of one namespace, for everybody in it or for the owner of what is private."""

    namespace: Namespace
    owner: str | None
    """Whose private memories; None: what everybody in the namespace may read."""
    day: date
    """By the clock of who spoke."""
    sessions: tuple[Session, ...]

    @property
    def path(self) -> tuple[str, ...]:
        """Folders and file name: labels of the namespace, the owner of private pages, the day."""
        return (*folders_of(self.namespace, self.owner), f"{self.day.isoformat()}.md")

    @property
    def archived(self) -> tuple[str, ...]:
        """As `path`, once its month is distilled."""
        return (*folders_of(self.namespace, self.owner), *archive_path_of_day(self.day))


def folders_of(namespace: Namespace, owner: str | None) -> tuple[str, ...]:
    """Return the folders of pages: labels of the namespace, and the owner of private ones."""
    folders = [file_name(label) for label in namespace]
    if owner is not None:
        folders.append(f"{file_name(owner)}.private")  # no label has a period
    return tuple(folders)


def archive_path_of_day(day: date) -> tuple[str, str, str]:
    """Return folders and file name of a day whose month is distilled, beside the page of the month."""
    return (ARCHIVE, f"{day:%Y-%m}", f"{day.isoformat()}.md")


def render(page: Page) -> str:
    """The page as Markdown."""
    day = page.day
    blocks = [
        f"# {WEEKDAYS[day.weekday()]}, {day.day} {MONTHS[day.month - 1]} {day.year}\n{MARK}",
        *(block for session in page.sessions for block in _session(session)),
    ]
    return "\n\n".join(blocks) + "\n"


def _session(session: Session) -> Iterator[str]:
    yield f"## {line(session.thread_id) or 'Elsewhere'}"
    yield from (line(summary) for summary in session.summaries)
    new = [one for one in session.learned if not one.instead_of]
    changed = [one for one in session.learned if one.instead_of]
    yield from _list("Learned", (learned_line(one) for one in new))
    yield from _list("Changed", (learned_line(one) for one in changed))
    yield from _list("Decided", map(line, session.decisions))
    yield from _list("Open", map(line, session.open_points))
    yield from _list("To be answered", map(line, session.questions))


def learned_line(one: Learned) -> str:
    """A fact as a line, with what it replaced and until when it held."""
    before = "".join(f"~~{line(text)}~~ → " for text in one.instead_of)
    after = f" (until {one.until:%Y-%m-%d})" if one.until is not None else ""
    return f"{before}{line(one.text)}{after}{' (not confirmed)' if one.waits else ''}"


def _list(title: str, lines: Iterable[str]) -> Iterator[str]:
    items = [f"- {line}" for line in lines if line]
    if items:
        yield f"### {title}\n\n" + "\n".join(items)


_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
    "\U000e0000-\U000e007f]"
)
"""Orders to a terminal, and what makes text read otherwise than it is."""
_LINKED: Final = re.compile(r"(?<=\])(?=[(\[])|(?<=\[)(?=\[)")
"""Where a link, or a picture that is loaded from somewhere, has its address; a wiki's link begins."""
_BLOCK: Final = re.compile(r"(?=#{1,6}(?: |$)|[->+*=|\[]|```|~~~|___)|\d{1,9}(?=[.)] )")
"""Marks at the beginning of a line that are no text."""


def line(text: str) -> str:
    """Anybody's words on one line, which stay words wherever the page is shown."""
    told = " ".join(_UNSEEN.sub("", text).split()).replace("<", "&lt;")
    told = _LINKED.sub(r"\\", told)
    begun = _BLOCK.match(told)
    return told if begun is None else f"{begun[0]}\\{told[begun.end() :]}"


_UNSAFE: Final = re.compile(r'[<>:"/\\|?*%~\x00-\x1f\x7f-\x9f\ud800-\udfff]|^\.|[. ]$|^ ')
_RESERVED: Final = re.compile(
    rf"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)|{ARCHIVE}$", re.IGNORECASE
)
MAX_NAME_BYTES: Final = 120
"""File systems allow 255, and an owner's folder has an ending."""


def file_name(name: str) -> str:
    """A name as a file system can have it, another one for every other name: Unicode is kept, what
    Windows or a path gives a meaning is escaped, and what a file system might take for another
    name (case, normal form, length) has a digest."""
    plain = unicodedata.normalize("NFC", name)
    safe = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in _bytes(found[0])), plain)
    if _RESERVED.match(safe):
        safe = f"_{safe}"
    cut = _bytes(safe)[:MAX_NAME_BYTES].decode("utf-8", "ignore")
    if cut == name == name.casefold():
        return name
    return f"{cut}~{hashlib.sha256(_bytes(name)).hexdigest()[:8]}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def sessions(parts: Sequence[Session]) -> tuple[Session, ...]:
    """Parts of conversations put together, in the order of first mention."""
    found: dict[str, Session] = {}
    for part in parts:
        first = found.get(part.thread_id)
        found[part.thread_id] = part if first is None else _join_sessions(first, part)
    return tuple(found.values())


def _join_sessions(one: Session, other: Session) -> Session:
    return Session(
        thread_id=one.thread_id,
        summaries=(*one.summaries, *other.summaries),
        decisions=(*one.decisions, *other.decisions),
        open_points=(*one.open_points, *other.open_points),
        learned=(*one.learned, *other.learned),
        questions=(*dict.fromkeys((*one.questions, *other.questions)),),
    )
