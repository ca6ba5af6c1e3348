"""JSON as data sets come: an object a line, or one list of large objects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langmemory.errors import ImportFormatError
from langmemory.parts.importing.json_stream import iterate_array, iterate_lines

UTF_8 = "utf-8-sig"
"""Of what Windows saves, too, which begins with a byte order mark."""


def rows(path: Path, *, required: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The objects of a file that has one a line.

    Raises:
        ImportFormatError: A line is none, or lacks what is required.
    """
    with path.open("rb") as file:
        for number, row in iterate_lines(file):
            if any(name not in row for name in required):
                raise ImportFormatError(
                    f"{path}, line {number}: expected an object with {', '.join(required)}"
                )
            yield row


def samples(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON list, one after the other: a list of gigabytes is never in memory whole.

    Raises:
        ImportFormatError: It is no list of objects.
    """
    with path.open("rb") as file:
        for line, sample in iterate_array(file):
            if not isinstance(sample, dict):
                found = type(sample).__name__
                raise ImportFormatError(f"{path}, line {line}: {found}; expected a JSON object")
            yield sample
