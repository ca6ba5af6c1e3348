"""A chat that WhatsApp exported as text, from Android and iPhone, with the dates of several languages.

`words` has what the application writes beside what people say.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import BinaryIO, Final, Literal

from langmemory.errors import ImportFormatError
from langmemory.parts.importing.json_stream import NOT_UTF8, raw_lines
from langmemory.parts.importing.message import ImportedMessage, MessageReader, stable_id
from langmemory.parts.importing.words import import_words

Order = Literal["dmy", "mdy", "ymd"]
"""Day, month and year in a date."""

_MARKS: Final = re.compile("[\u200e\u200f\u202a-\u202e\ufeff]")
_SPACES: Final = re.compile("[\u00a0\u202f\u2009]")
_SYSTEM: Final = "\u200e"
"""Begins what an iPhone's export says itself."""
_NOTICE: Final = re.compile(r"<[^<>\n ]+(?: [^<>\n ]+)+>")
"""What stands in the place of a picture, in any language of the phone: ``<Médias omis>``."""
_QUOTES: Final = re.compile('["“”„«»]')
_TIME: Final = re.compile(r"\b\d{1,2}$")
LOOKED_AT: Final = 20_000
"""Lines from which the order of day and month is told."""


def _head() -> re.Pattern[str]:
    """Return what begins a message: day, time, and the rest."""
    return _begins(import_words().behind_dates)


@cache
def _begins(behind_dates: tuple[str, ...]) -> re.Pattern[str]:
    year, month, day = (re.escape(mark) for mark in behind_dates)
    return re.compile(
        rf"\[?(?P<a>\d{{1,4}})[./\-{year}] ?(?P<b>\d{{1,2}})[./\-{month}] ?(?P<c>\d{{1,4}}){day}?,? +"
        r"(?P<before>[^\d\s\]]{1,4})? ?(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
        r"(?: ?(?P<after>[AaPp]\.? ?[Mm]\.?))?(?:\] | [-–] )(?P<rest>.*)",
        re.DOTALL,
    )


def is_whatsapp(head: str) -> bool:
    """Return whether a text begins as an exported chat does."""
    first = next(filter(str.strip, head.splitlines()), "")
    return _head().match(_clean(first)) is not None


def read_whatsapp(file: BinaryIO) -> Iterator[ImportedMessage]:
    """Stream the messages of a chat; the name of the file is the thread. Times are those of the phone, which
    does not tell its zone, and count as UTC.

    Raises:
        ImportFormatError: Whether the day or the month comes first cannot be told, or a date is none.
    """
    reader, known = MessageReader(file=file.name), Counter[str]()
    heads = _heads(file)
    order, names = _order(heads), Counter(_before_colon(one["rest"]) for one in heads)
    thread = Path(file.name).stem
    begun: tuple[int, re.Match[str]] | None = None
    lines: list[str] = []
    for number, line in _lines(file):
        match = _head().match(_clean(line))
        if match is not None:
            if begun is not None:
                yield _message(reader, known, *begun, lines, order, names, thread)
            begun, lines = (number, match), []
        lines.append(line)
    if begun is not None:
        yield _message(reader, known, *begun, lines, order, names, thread)


def _message(
    reader: MessageReader,
    known: Counter[str],
    number: int,
    head: re.Match[str],
    lines: list[str],
    order: Order,
    names: Mapping[str, int],
    thread: str,
) -> ImportedMessage:
    name, colon = _speaker(head["rest"], names)
    before = head.string[: head.start("rest")] + name + colon
    # As in the file, with the marks of direction, of which the head has none.
    text = lines[0].split(colon[0], before.count(colon[0]))[-1].strip(" ") if colon else ""
    content = _said([text, *lines[1:]]) if colon else ""
    where, at = f"line {number}", _time(reader, f"line {number}", head, order)
    # An export has the newest messages alone, so that the next one begins elsewhere: a message is known by
    # its words, not by its place.
    identity = f"{at.isoformat()} {name} {content}"
    known[identity] += 1
    return reader.message(
        where=where,
        role="user" if colon else "system",
        content=content,
        thread=thread,
        id=stable_id(thread, known[identity], "user", identity),
        at=at,
        name=name.strip() if colon else None,
    )


def _before_colon(rest: str) -> str:
    name, colon, _ = rest.partition(":")
    return name if colon else ""


def _speaker(rest: str, names: Mapping[str, int]) -> tuple[str, str]:
    """Return who said a line, and what stands behind the name; nothing where the application itself says it.

    Args:
        rest: What stands behind the time.
        names: How many lines have a text before a colon.
    """
    often = (":",) if names[_before_colon(rest)] > 1 else ()
    for colon in (*often, ": ", "：", ":"):
        name, found, text = rest.partition(colon)
        is_time = (
            not text.startswith(" ") and colon == ":" and (_TIME.search(name) or text[:2] == "//")
        )
        if found and not is_time and (names[name] > 1 or _is_closed(name)):
            return name, colon
    return "", ""


def _is_closed(name: str) -> bool:
    """Return whether quotation marks are in pairs: what the application says may quote a text with a
    colon."""
    return len(_QUOTES.findall(name)) % 2 == 0


def _said(lines: list[str]) -> str:
    """Return what somebody said; nothing where it was a picture without a caption, or deleted. What the
    application adds has a mark, or is the whole first line: elsewhere somebody said so."""
    first, *others = lines
    marked = _SPACES.sub(" ", first)
    kept = "" if marked.startswith(_SYSTEM) or _is_added(_clean(first)) else _without_file(first)
    text = "\n".join(_clean(_own_words().sub("", one)) for one in (kept, *others)).strip()
    return _edited().sub("", text).strip()


def _is_added(line: str) -> bool:
    plain = line.casefold().strip().rstrip(".")
    return plain in import_words().omitted or _NOTICE.fullmatch(plain) is not None


def _without_file(line: str) -> str:
    """Return a first line without the name of a file that was sent."""
    return "" if _attached(import_words().attached).fullmatch(_clean(line).strip()) else line


@cache
def _attached(marks: tuple[str, ...]) -> re.Pattern[str]:
    behind = _any(one for one in marks if not one.startswith("<"))
    return re.compile(rf"[^\n]+\.\w{{1,5}} {behind}", re.IGNORECASE)


def _own_words() -> re.Pattern[str]:
    """Return what stands in the place of a picture, behind a caption."""
    words = import_words()
    return _beside(words.attached, tuple(sorted(words.omitted)))


@cache
def _beside(attached: tuple[str, ...], omitted: tuple[str, ...]) -> re.Pattern[str]:
    begin = _any(one for one in attached if one.startswith("<"))
    return re.compile(
        rf"[{_SYSTEM} ]*{begin}[^<>\n]*>|{_SYSTEM} *{_any(omitted)}\.? *$", re.IGNORECASE
    )


def _edited() -> re.Pattern[str]:
    return _ends_in(import_words().edited)


@cache
def _ends_in(marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"{_any(marks)}\.?\s*\Z", re.IGNORECASE)


def _any(texts: Iterable[str]) -> str:
    return f"(?:{'|'.join(re.escape(one) for one in texts) or '(?!)'})"


def _time(reader: MessageReader, where: str, head: re.Match[str], order: Order) -> datetime:
    day, month, year = _parts(head, order)
    hour = int(head["hour"])
    period = (head["before"] or head["after"] or "").casefold().strip().rstrip(".")
    words = import_words()
    if period in words.pm and hour < 12:
        hour += 12
    elif period in words.am and hour == 12:
        hour = 0
    try:
        return datetime(
            year, month, day, hour, int(head["minute"]), int(head["second"] or 0), tzinfo=UTC
        )
    except ValueError as error:
        raise reader.error(where, f"the time is {head[0][:24]!r}: {error}") from None


def _parts(head: re.Match[str], order: Order) -> tuple[int, int, int]:
    a, b, c = int(head["a"]), int(head["b"]), int(head["c"])
    day, month, year = {"dmy": (a, b, c), "mdy": (b, a, c), "ymd": (c, b, a)}[order]
    return day, month, year + 2000 if year < 100 else year


def _heads(file: BinaryIO) -> list[re.Match[str]]:
    """Return what begins the first messages, and leave the file at its beginning."""
    lines = itertools.islice(_lines(file), LOOKED_AT)
    heads = [match for _, line in lines if (match := _head().match(_clean(line))) is not None]
    file.seek(0)
    if not heads:
        raise ImportFormatError(f"{file.name}: no line has a date as WhatsApp writes it.")
    return heads


def _order(heads: Sequence[re.Match[str]]) -> Order:
    """Return which of the numbers of a date is the day: one above 12 tells, else what keeps the messages in
    order, else the sign between them and the clock of twelve hours."""
    if len(heads[0]["a"]) == 4:
        return "ymd"
    if any(int(one["a"]) > 12 for one in heads):
        return "dmy"
    if any(int(one["b"]) > 12 for one in heads):
        return "mdy"
    fits: list[Order] = []
    orders: tuple[Order, ...] = ("dmy", "mdy")
    for order in orders:
        days = [_parts(one, order)[::-1] for one in heads]
        if days == sorted(days):
            fits.append(order)
    if len(fits) == 1:
        return fits[0]
    first = heads[0]
    return "mdy" if "/" in first[0][:6] and (first["after"] or first["before"]) else "dmy"


def _lines(file: BinaryIO) -> Iterator[tuple[int, str]]:
    for number, raw in raw_lines(file):
        try:
            yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise ImportFormatError(f"{file.name}, line {number}: {NOT_UTF8}") from None


def _clean(line: str) -> str:
    return _MARKS.sub("", _SPACES.sub(" ", line))
