"""Output to a terminal or a pipe, in whatever encoding it has."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from datetime import date
from typing import Any

import typer

BIDI_CONTROLS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Characters that reorder the text around them, so that a line reads as something it does not say."""
CONTROLS = dict.fromkeys(
    code
    for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *BIDI_CONTROLS)
    if code not in (9, 10)
)
"""Characters that are orders to a terminal. They have no width, so that none is missed."""
_ESCAPED = {code: f"\\u{code:04x}" for code in (*CONTROLS,) if code >= 0x7F}
"""Those of them that JSON allows as they are, written as JSON escapes."""


def printable(text: str) -> str:
    """A text that may be anybody's, without what would clear the screen or colour what follows."""
    return text if text.isprintable() else text.translate(CONTROLS)


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a line without what would be an order to the terminal."""
    typer.echo(printable(text), err=err, nl=nl)


def forgive_terminal() -> None:
    """Read nothing where stdin is closed, print to nowhere where stdout is, and a question mark for what
    the encoding of stdout and stderr lacks, instead of failing.

    Closed they are for some services; the encoding is not UTF-8 on Windows when piped, and in locales
    such as ISO-8859-1.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  # for good
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _is_utf8(stream.encoding):
            stream.reconfigure(errors="replace")


def read_any_bytes() -> None:
    """Read what is no text in stdin's encoding as �. In a chat it would else end it or, as half a
    surrogate pair, stay among the messages and fail every later turn."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")


def plain(value: Any) -> Any:
    """Return a value, or a list of them, as `langmemory.wire` has it: the form that the server sends, too."""
    from langmemory.wire import plain as written

    return written(value)


def json_text(value: Any) -> str:
    """Return JSON for stdout, which loses nothing: orders to a terminal are escaped, and everything
    beyond ASCII where stdout is not UTF-8; days and times are in ISO 8601."""
    text = json.dumps(value, ensure_ascii=not _is_utf8(sys.stdout.encoding), default=_iso)
    return text if text.isprintable() else text.translate(_ESCAPED)


def _iso(value: Any) -> str:
    if not isinstance(value, date):  # a datetime is one, too
        raise TypeError(f"{type(value).__name__} has no JSON")
    return value.isoformat()


def _is_utf8(encoding: str | None) -> bool:
    return encoding is None or codecs.lookup(encoding).name.startswith("utf-8")
