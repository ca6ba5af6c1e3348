"""Mail in an mbox file, as Thunderbird, Google Takeout and mailing lists write it."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime
from functools import cache
from itertools import islice, takewhile
from typing import BinaryIO, Final

from langmemory.documents.converting import decoded
from langmemory.documents.html_text import text_of
from langmemory.errors import ImportFormatError
from langmemory.languages.temporal.words import one_of
from langmemory.parts.importing.json_stream import MAX_BYTES
from langmemory.parts.importing.message import ImportedMessage, MessageReader
from langmemory.parts.importing.words import import_words

FROM: Final = b"From "
"""Begins the line before each mail."""
LINE_BYTES: Final = 1 << 20
HEADER_LINES: Final = 50
"""That are looked at behind a line that may begin a mail."""
_DATED: Final = re.compile(
    rb"From .*\b[A-Z][a-z]{2},? +[A-Z][a-z]{2} +\d{1,2} +\d{1,2}:\d{2}\b.*\b\d{4}\b"
)
"""As RFC 4155 has it, and with a zone."""
_SENT: Final = re.compile(rb"From (?:\S*|\S*@.*|.*\b\d{4}\b.*)\s*$")
"""In another form: who sent it, or a year."""
_HEADER_LINE: Final = re.compile(rb"[!-9;-~]+[ \t]*:|[ \t]+\S")
_ORIGIN: Final = re.compile(rb"(?:From|Date|Message-ID|Received|Return-Path)[ \t]*:", re.IGNORECASE)
"""Headers that every mail has one of: RFC 5322, 3.6."""
_MEANT: Final = {
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "euc_kr": "cp949", "shift_jis": "cp932",
}  # fmt: skip
"""Charset → what who names it means: https://encoding.spec.whatwg.org/#names-and-labels"""
_ID: Final = re.compile(r"<([^<>\s]+)>")
_QUOTED: Final = re.compile(r"^>.*\n?", re.MULTILINE)
_QUOTATIONS: Final = frozenset({"blockquote"})
_SIGNATURE: Final = re.compile(r"^-- ?\n.*", re.MULTILINE | re.DOTALL)
_INTRODUCES: Final = re.compile(r"^[^\n]{0,200}[:：]\s*\n(?=>)", re.MULTILINE)
"""The line above a quotation, which says who wrote it."""
_INTRODUCES_LONG: Final = re.compile(
    r"(?:\A|(?<=\n\n))(?!>)[^\n]{0,100}\b(?:\d{4}|\d{1,2}[:.]\d{2})\b[^\n]{0,100}\n"
    r"(?:(?!>)[^\n]{1,100}\n)?[^\n>]{0,100}[:：]\s*(?=>|\Z)"
)
"""The same, wrapped into two or three lines, with a date."""


@cache
def _copied() -> re.Pattern[str]:
    """Return what Outlook copies below an answer, and every program below what it passes on: the headers of
    another mail, and all that follows."""
    words = import_words()
    writer, sent = (one_of(each) for each in (words.mail_from, words.mail_sent))
    return re.compile(
        rf"^(?:[-_]{{5,80}}[^\n]{{0,80}}\n\n?)?\*{{0,2}}(?:{writer})\*{{0,2}}[:：][^\n]{{1,300}}\n\n?"
        rf"\*{{0,2}}(?:{sent})\*{{0,2}}[:：].*",
        re.MULTILINE | re.DOTALL | re.IGNORECASE,
    )


def read_mbox(file: BinaryIO) -> Iterator[ImportedMessage]:
    """Stream the mails; the first mail of a conversation is its thread.

    Of a mail counts what its writer says: not what it quotes, its signature, and attached files. Of a mail
    beyond 16 MiB only the beginning is read, which has the text before the attachments.
    """
    reader = MessageReader(file=file.name)
    for line, separator, raw in _mails(file):
        where = f"line {line}"
        try:
            mail = message_from_bytes(raw, policy=policy.default)
            assert isinstance(mail, EmailMessage)
            parts = _parts(mail)
        except (
            Exception
        ) as error:  # `email` fails in many ways on what is malformed or nests too deep
            why = f"the mail cannot be read ({type(error).__name__})"
            yield reader.message(where=where, role="user", content="", thread="mail", unread=why)
            continue
        name, address = parseaddr(_header(mail, "From"))
        own = _ids(mail, "Message-ID")
        above = (*_ids(mail, "References"), *_ids(mail, "In-Reply-To"), *own)
        text = _said(parts.text)
        subject, sent = _header(mail, "Subject"), _header(mail, "Date")
        at = _date(sent or separator)
        if sent and at is None:
            parts.unread.append(f"its date is {sent[:80]!r}")
        if text and subject and above[:1] == own:
            text = f"{subject}\n\n{text}"
        yield reader.message(
            where=where,
            role="user",
            content=text,
            thread=above[0] if above else subject or "mail",
            id=own[0] if own else None,
            at=at,
            name=name or address or None,
            unread="; ".join(parts.unread),
        )


def begins_mail(line: bytes, behind: Sequence[bytes]) -> bool:
    """Return whether a line begins a mail, by the lines behind it. People, too, begin lines with "From",
    which have no time, and no header behind them."""
    header = list(takewhile(_HEADER_LINE.match, behind))
    if _DATED.match(line):
        return bool(header) or not behind or not behind[0].strip() or bool(_DATED.match(behind[0]))
    return bool(_SENT.match(line)) and any(_ORIGIN.match(one) for one in header)


def _mails(file: BinaryIO) -> Iterator[tuple[int, str, bytes]]:
    """Yield each mail with the 1-based line it begins on, and when that says that it came."""
    parts: list[bytes] = []
    size, begun, number, came = 0, 0, 0, ""
    lines = iter(lambda: file.readline(LINE_BYTES), b"")
    ahead = deque[bytes]()
    whole = True
    while line := ahead.popleft() if ahead else next(lines, b""):
        number += whole
        if whole and line.startswith(FROM):
            ahead.extend(islice(lines, max(HEADER_LINES - len(ahead), 0)))
        if whole and begins_mail(line, tuple(ahead)):
            if b"".join(parts).strip():
                yield begun, came, _without_gap(parts)
            parts, size, begun = [], 0, number
            came = line.split(maxsplit=2)[-1].decode("ascii", "replace")
        elif begun and size < MAX_BYTES:
            parts.append(line[1:] if line.startswith(b">From ") else line)
            size += len(line)
        whole = line.endswith(b"\n")
    if b"".join(parts).strip():
        yield begun, came, _without_gap(parts)


def _without_gap(lines: Sequence[bytes]) -> bytes:
    """Return a mail without blank lines above its headers."""
    first = next(place for place, line in enumerate(lines) if line.strip())
    return b"".join(lines[first:] if _ORIGIN.match(lines[first]) else lines)


def _header(mail: EmailMessage, name: str) -> str:
    """Return a header as text, as it stands in the file where it cannot be read; empty where it is
    missing."""
    try:
        found = str(mail.get(name, ""))
    except Exception:  # `email` fails on some malformed headers: bpo-30681 and others
        found = ""
    values = (str(value) for one, value in mail.raw_items() if one.casefold() == name.casefold())
    raw = next(values, "")
    if not raw.isascii():  # bytes of an encoding that nothing names, as surrogates
        with suppress(ImportFormatError):
            found = decoded(raw.encode("utf-8", "surrogateescape"), name)
    return " ".join((found.strip() or raw).split())


def _ids(mail: EmailMessage, name: str) -> tuple[str, ...]:
    return tuple(_ID.findall(_header(mail, name)))


def _date(written: str) -> datetime | None:
    try:
        return parsedate_to_datetime(written)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


@dataclass(slots=True)
class _Parts:
    """What the parts of a mail say."""

    text: str = ""
    unread: list[str] = field(default_factory=list)
    """What cannot be read, and why."""


def _parts(mail: EmailMessage) -> _Parts:
    """Return the text of a mail, which may stand before and behind a picture; of the same text in several
    forms the plain one, unless it is blank. What is attached, as another mail is, counts for nothing."""
    found = _Parts()
    kind = mail.get_content_type()
    if mail.is_attachment() or mail.get_content_maintype() == "message":
        return found
    if mail.is_multipart():
        below = [_parts(one) for one in mail.iter_parts() if isinstance(one, EmailMessage)]
        if kind == "multipart/alternative":
            below = [one for one in below if _is_shown(one.text)][:1] or below[:1]
        found.text = "\n".join(one.text for one in below)
        found.unread = [why for one in below for why in one.unread]
    elif kind in ("text/plain", "text/html") or mail.get_content_maintype() == "multipart":
        data = mail.get_payload(decode=True)
        text = _decoded(data if isinstance(data, bytes) else b"", mail, found.unread)
        found.text = text_of(text, _QUOTATIONS) if kind == "text/html" else text
    elif mail.get_content_maintype() == "text" and not mail.get_filename():
        found.unread.append(f"a part of it is {kind}")
    return found


def _is_shown(text: str) -> bool:
    """Return whether a text has more than blanks, also those without width."""
    return any(unicodedata.category(one)[0] not in "ZC" for one in text)


def _decoded(data: bytes, part: EmailMessage, unread: list[str]) -> str:
    """Return the text of a part: in the charset that it names, else in that of its bytes."""
    charset = part.get_content_charset() or "us-ascii"
    with suppress(LookupError):
        meant = _MEANT.get(codecs.lookup(charset).name, charset)
        for one in (meant, charset):
            with suppress(UnicodeError):
                return data.decode(one)
    try:
        text = decoded(data, "its text")
    except ImportFormatError:
        unread.append(f"its text is in no known charset ({charset!r})")
        return ""
    if "\ufffd" in text:
        unread.append(f"some letters of its text ({charset!r})")
    return text


def _said(text: str) -> str:
    """Return what a writer says beside what was copied."""
    text = text.replace("\r\n", "\n")
    for another in (_copied(), _INTRODUCES_LONG, _INTRODUCES, _QUOTED, _SIGNATURE):
        text = another.sub("", text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return text if _is_shown(text) else ""
