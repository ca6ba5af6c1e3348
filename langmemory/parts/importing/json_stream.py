"""JSON read piece by piece: lines of objects, and the elements of one big array."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from langmemory.errors import ImportFormatError

CHUNK_BYTES = 1 << 16
"""First read of an array; doubled while one element does not fit, so that parsing stays linear."""

MAX_BYTES = 16 * 1024 * 1024
"""Size of one line or array element, at most: parsing takes about twenty times as much memory."""

END = ""
"""The character that stands for the end of the file."""

NOT_UTF8 = "not UTF-8 text; save the file as UTF-8 and try again"
UNREADABLE = (
    "holds JSON that Python does not read: nested too deeply, or a number of too many digits"
)


def iterate_lines(file: BinaryIO, *, limited: bool = True) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSONL file with their 1-based line numbers; blank lines are skipped.

    Args:
        limited: Refuse lines above `MAX_BYTES`.
    """
    for number, raw in raw_lines(file, limited=limited):
        line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except UnicodeDecodeError:
            raise ImportFormatError(f"{file.name}, line {number}: {NOT_UTF8}") from None
        except json.JSONDecodeError as error:
            raise ImportFormatError(
                f"{file.name}, line {number}: not JSON ({error.msg} at column {error.colno}); "
                "expected one JSON object per line"
            ) from None
        except (ValueError, RecursionError):
            raise ImportFormatError(f"{file.name}, line {number}: {UNREADABLE}") from None
        if not isinstance(value, dict):
            raise ImportFormatError(
                f"{file.name}, line {number}: {type(value).__name__}; expected a JSON object"
            )
        yield number, value


def raw_lines(file: BinaryIO, *, limited: bool = True) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their 1-based numbers; one above `MAX_BYTES` is an error where
    they are limited."""
    lines = iter(lambda: file.readline(MAX_BYTES + 1 if limited else -1), b"")
    for number, line in enumerate(lines, start=1):
        if limited and len(line) > MAX_BYTES:
            raise _too_long(file, number, "this line")
        yield number, line


def _too_long(file: BinaryIO, line: int, named: str) -> ImportFormatError:
    return ImportFormatError(
        f"{file.name}, line {line}: {named} is longer than {MAX_BYTES // 1024**2} MiB, the most that is "
        "read at once. Split the text into several messages and try again."
    )


def iterate_array(file: BinaryIO) -> Iterator[tuple[int, Any]]:
    """The elements of a JSON array with the 1-based line each begins on, in bounded memory.

    Only the element being parsed is held. Raises `ImportFormatError` naming the line.
    """
    window = _Window(file)
    window.expect("[")
    delimiter = window.expect("]") if window.peek() == "]" else ","
    while delimiter == ",":
        yield window.element()
        delimiter = window.expect(",", "]")
    window.expect(END)


class _Window:
    """The part of a text file that is not parsed yet."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.line = 1
        self._text = ""
        self._read_bytes = CHUNK_BYTES
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()

    def peek(self) -> str:
        """The next character that is not white space, or `END`."""
        while True:
            stripped = self._text.lstrip()
            self._drop(len(self._text) - len(stripped))
            if self._text or not self._more():
                return self._text[:1]

    def expect(self, *characters: str) -> str:
        """Pass over the next character, which is one of these."""
        found = self.peek()
        if found not in characters:
            expected = " or ".join(map(_named, characters))
            raise self._error(self.line, f"found {_named(found)}; expected {expected}")
        self._drop(len(found))
        return found

    def element(self) -> tuple[int, Any]:
        self.peek()
        self._read_bytes = CHUNK_BYTES
        while True:
            self._refuse_long_element()
            try:
                value, end = self._json.raw_decode(self._text)
            except json.JSONDecodeError as error:
                if self._more():
                    continue
                raise self._error(self.line + error.lineno - 1, f"not JSON ({error.msg})") from None
            except (ValueError, RecursionError):
                raise self._error(self.line, UNREADABLE) from None
            # A number cut by the window parses too: it is whole only with something behind it.
            if end == len(self._text) and self._more():
                continue
            line = self.line
            self._drop(end)
            return line, value

    def _refuse_long_element(self) -> None:
        """Stop where even the part of an element that was read is too long to go on."""
        if self._read_bytes > MAX_BYTES and len(self._text) > MAX_BYTES:
            raise _too_long(self.file, self.line, "this element")

    def _more(self) -> bool:
        raw = self.file.read(self._read_bytes)
        self._read_bytes *= 2
        try:
            self._text += self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError:
            raise self._error(self.line, NOT_UTF8) from None
        return bool(raw)

    def _drop(self, characters: int) -> None:
        self.line += self._text.count("\n", 0, characters)
        self._text = self._text[characters:]

    def _error(self, line: int, problem: str) -> ImportFormatError:
        return ImportFormatError(f"{self.file.name}, line {line}: {problem}")


def _named(character: str) -> str:
    return "the end of the file" if character == END else repr(character)
