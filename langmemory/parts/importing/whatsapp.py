"""A chat that WhatsApp exported as text, from Android and iPhone, with the dates of several languages.

`words` has what the application writes beside what people say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
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
_NO_NAME: Final = re.compile('["“”„«»\n]')
"""What no name of a person has; a message of the application that quotes a text may have ``: `` in it."""
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
    order = _order(file)
    thread = Path(file.name).stem
    begun: tuple[int, re.Match[str], bool] | None = None
    more: list[str] = []
    for number, line in _lines(file):
        clean = _clean(line)
        match = _head().match(clean)
        if match is None:
            if begun is not None:
                more.append(clean)
            continue
        if begun is not None:
            yield _message(reader, known, *begun, more, order, thread)
        _, _, content = line.partition(": ")
        begun, more = (number, match, _SPACES.sub(" ", content).startswith(_SYSTEM)), []
    if begun is not None:
        yield _message(reader, known, *begun, more, order, thread)


def _message(
    reader: MessageReader,
    known: Counter[str],
    number: int,
    head: re.Match[str],
    by_system: bool,
    more: list[str],
    order: Order,
    thread: str,
) -> ImportedMessage:
    name, colon, text = head["rest"].partition(": ")
    if not colon:
        name, colon, text = head["rest"].partition("：")
    spoken = bool(colon) and not _NO_NAME.search(name) and not by_system
    content = _without_marks("\n".join([text, *more]).strip()) if spoken else ""
    where, at = f"line {number}", _time(reader, f"line {number}", head, order)
    # An export has the newest messages alone, so that the next one begins elsewhere: a message is known by
    # its words, not by its place.
    identity = f"{at.isoformat()} {name} {content}"
    known[identity] += 1
    return reader.message(
        where=where,
        role="user" if spoken else "system",
        content=content,
        thread=thread,
        id=stable_id(thread, known[identity], "user", identity),
        at=at,
        name=name.strip() if spoken else None,
    )


def _without_marks(text: str) -> str:
    """Return what somebody said; nothing where it was a picture, or deleted."""
    words = import_words()
    plain = text.casefold().strip().rstrip(".")
    if (
        plain in words.omitted
        or _NOTICE.fullmatch(plain)
        or any(one in plain for one in words.attached)
    ):
        return ""
    for one in words.edited:
        if plain.endswith(one):
            return text[: text.casefold().rindex(one)].strip()
    return text


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


def _order(file: BinaryIO) -> Order:
    """Return which of the numbers of a date is the day: one above 12 tells, else what keeps the messages in
    order, else the sign between them and the clock of twelve hours."""
    heads = []
    for number, line in _lines(file):
        if number > LOOKED_AT:
            break
        if (match := _head().match(_clean(line))) is not None:
            heads.append(match)
    file.seek(0)
    if not heads:
        raise ImportFormatError(f"{file.name}: no line has a date as WhatsApp writes it.")
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
