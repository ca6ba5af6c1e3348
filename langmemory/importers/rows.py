"""langmemory's own export: JSONL of a `meta` row, items, their history and what stands beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from langmemory.errors import ImportFormatError
from langmemory.importers.json_stream import iterate_lines
from langmemory.ports.rows import ITEM_TYPES, RECORD_TYPES

ROW_TYPES = ITEM_TYPES | RECORD_TYPES


def read_rows(file: BinaryIO) -> Iterator[dict[str, Any]]:
    """Stream the rows for `Admin.import_rows`, which knows what each must contain.

    No row is too long: whatever was exported can be imported.
    """
    for number, row in iterate_lines(file, limited=False):
        if row.get("type") not in ROW_TYPES:
            raise ImportFormatError(
                f"{file.name}, line {number}: type is {row.get('type')!r}; "
                f"expected one of {', '.join(sorted(ROW_TYPES))}"
            )
        yield row
