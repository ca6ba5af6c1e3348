"""Mail in an mbox file, as Thunderbird, Google Takeout and mailing lists write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime
from functools import cache
from html.parser import HTMLParser
from typing import BinaryIO, Final

from langmemory.languages.temporal.words import one_of
from langmemory.parts.importing.json_stream import MAX_BYTES
from langmemory.parts.importing.message import ImportedMessage, MessageReader
from langmemory.parts.importing.words import import_words

FROM: Final = b"From "
"""Begins the line before each mail."""
LINE_BYTES: Final = 1 << 20
_ID: Final = re.compile(r"<([^<>\s]+)>")
_QUOTED: Final = re.compile(r"^>.*\n?", re.MULTILINE)
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
    for line, raw in _mails(file):
        mail = message_from_bytes(raw, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        name, address = parseaddr(_header(mail, "From"))
        own = _ids(mail, "Message-ID")
        above = (*_ids(mail, "References"), *_ids(mail, "In-Reply-To"), *own)
        text = _text(mail)
        subject = _header(mail, "Subject")
        if text and subject and above[:1] == own:
            text = f"{subject}\n\n{text}"
        yield reader.message(
            where=f"line {line}",
            role="user",
            content=text,
            thread=above[0] if above else subject or "mail",
            id=own[0] if own else None,
            at=_date(mail),
            name=name or address or None,
        )


def _mails(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield each mail with the 1-based line it begins on."""
    parts: list[bytes] = []
    size, begun, blank, number = 0, 0, True, 0
    whole = True
    for line in iter(lambda: file.readline(LINE_BYTES), b""):
        number += whole
        if whole and blank and line.startswith(FROM):
            if parts:
                yield begun, b"".join(parts)
            parts, size, begun = [], 0, number
        elif begun and size < MAX_BYTES:
            parts.append(line[1:] if line.startswith(b">From ") else line)
            size += len(line)
        blank, whole = not line.strip(), line.endswith(b"\n")
    if parts:
        yield begun, b"".join(parts)


def _header(mail: EmailMessage, name: str) -> str:
    """Return a header as text; empty where it is missing or cannot be read."""
    try:
        return " ".join(str(mail.get(name, "")).split())
    except (ValueError, LookupError, AttributeError, IndexError, TypeError):
        return ""  # `email` fails on some malformed headers: bpo-30681 and others


def _ids(mail: EmailMessage, name: str) -> tuple[str, ...]:
    return tuple(_ID.findall(_header(mail, name)))


def _date(mail: EmailMessage) -> datetime | None:
    try:
        return parsedate_to_datetime(_header(mail, "Date"))
    except (ValueError, TypeError, IndexError):
        return None


def _text(mail: EmailMessage) -> str:
    try:
        body = mail.get_body(preferencelist=("plain", "html"))
        found = "" if body is None else body.get_content()
    except (LookupError, ValueError, KeyError, AttributeError):  # an unknown charset, say
        return ""
    if not isinstance(found, str):
        return ""
    if body is not None and body.get_content_type() == "text/html":
        found = _shown(found)
    found = found.replace("\r\n", "\n")
    for another in (_copied(), _INTRODUCES_LONG, _INTRODUCES, _QUOTED, _SIGNATURE):
        found = another.sub("", found)
    return re.sub(r"\n{3,}", "\n\n", found).strip()


class _Shown(HTMLParser):
    """Collects the text that a page shows."""

    HIDDEN: Final = frozenset({"style", "script", "head", "title", "blockquote"})
    BREAKS: Final = frozenset({"p", "br", "div", "tr", "li", "h1", "h2", "h3"})

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in self.HIDDEN
        if tag in self.BREAKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in self.HIDDEN and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _shown(page: str) -> str:
    parser = _Shown()
    parser.feed(page)
    lines = (" ".join(line.split()) for line in "".join(parser.parts).splitlines())
    return "\n".join(lines)
