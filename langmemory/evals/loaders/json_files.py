"""JSON as data sets come: an object a line, or one list of large objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from langmemory.errors import ImportFormatError

UTF_8 = "utf-8-sig"
"""Of what Windows saves, too, which begins with a byte order mark."""

UNREADABLE = "nested too deeply, or a number of too many digits"
"""What is JSON, and Python does not read."""

READ_CHARACTERS = 1 << 22
"""Of a list, read at once. A list of gigabytes is never in memory whole."""


def rows(path: Path, *, required: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The objects of a file that has one a line.

    Raises:
        ImportFormatError: A line is none, or lacks what is required.
    """
    with path.open(encoding=UTF_8) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise ImportFormatError(f"{path.name}, line {number}: not JSON ({error})") from None
            except (ValueError, RecursionError):
                raise ImportFormatError(f"{path.name}, line {number}: {UNREADABLE}") from None
            if not isinstance(row, dict) or any(name not in row for name in required):
                raise ImportFormatError(
                    f"{path.name}, line {number}: expected an object with {list(required)}"
                )
            yield row


def samples(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON list, one after the other.

    Raises:
        ImportFormatError: It is no list of objects.
    """
    with path.open(encoding=UTF_8) as file:
        text = _Text(path.name, file)
        text.expect("[")
        sign = text.expect("{]")
        while sign == "{":
            yield text.object()
            sign = text.expect(",]")
            if sign == ",":
                sign = text.expect("{")
        if text.sign():
            raise text.error("more follows the list")


class _Text:
    """A file as far as it has been read, and the place in it."""

    _WHITE = re.compile(r"[ \t\n\r]*")

    def __init__(self, name: str, file: TextIO) -> None:
        self._name = name
        self._file = file
        self._text = ""
        self._at = 0
        self._gone = 0
        """Characters before the text that is held."""
        self._decode = json.JSONDecoder().raw_decode

    def sign(self) -> str:
        """The next character that is not white; "" at the end."""
        while True:
            if white := self._WHITE.match(self._text, self._at):
                self._at = white.end()
            if self._at < len(self._text):
                self._at += 1
                return self._text[self._at - 1]
            if not self._more(READ_CHARACTERS):
                return ""

    def expect(self, signs: str) -> str:
        """The next sign, which is one of these."""
        sign = self.sign()
        if not sign or sign not in signs:
            raise self.error(f"expected {' or '.join(signs)}, not {sign or 'the end'}")
        return sign

    def object(self) -> dict[str, Any]:
        """The object whose brace was the last sign."""
        self._at -= 1
        characters = READ_CHARACTERS
        while True:
            try:
                value, self._at = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more(characters):
                    self._at = error.pos
                    raise self.error(error.msg) from None
                characters *= 2  # so that what is decoded in vain is no more than what there is
            except (ValueError, RecursionError):
                raise self.error(UNREADABLE) from None
            else:
                return dict(value)

    def error(self, message: str) -> ImportFormatError:
        return ImportFormatError(
            f"{self._name}: not a JSON list of objects: {message}, at character "
            f"{self._gone + self._at:,}"
        )

    def _more(self, characters: int) -> bool:
        more = self._file.read(characters)
        if more:
            self._gone += self._at
            self._text, self._at = self._text[self._at :] + more, 0
        return bool(more)
