"""Item values: JSON in and out without loss, their readable text, their scalar leaves, and times in
microseconds."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, overload

from langmemory.timestamps import EPOCH

LONG_STRING: Final = 64
"""Longer strings are not worth a place of their own in the index: a filter that asks for one reads
the items. Sentences in it would cost every put a random page."""
LONG: Final = b"long"
"""The entry in the index for a long string."""


ELEMENT: Final = "."
"""Ends the path of a list's elements. No filter key ends so, and no other leaf."""

LeafValue = int | float | str | bytes


def leaves(value: Mapping[str, Any]) -> set[tuple[str, LeafValue]]:
    """Return the leaves that filters look up: (path, comparable value) for every non-null place of a
    JSON value.

    ``value`` must be what `from_json` returns. Paths join keys with ``.``; the elements of a list
    stand under ``path.`` as well (`ELEMENT`). What no filter can name, below a key with an empty
    label, is left out.
    """
    found: set[tuple[str, LeafValue]] = set()
    _collect(value, "", found)
    return found


def _collect(value: Mapping[str, Any], path: str, found: set[tuple[str, LeafValue]]) -> None:
    for key, inner in value.items():
        if inner is None or not key or ("." in key and not all(key.split("."))):
            continue
        where = f"{path}.{key}" if path else key
        found.add((where, leaf_value(inner)))
        if isinstance(inner, dict):
            _collect(inner, where, found)
        elif isinstance(inner, list):
            found.update((where + ELEMENT, leaf_value(one)) for one in inner if one is not None)


def leaf_value(value: Any) -> LeafValue:
    """Return a JSON value as SQLite compares it: numbers, text, and digests for the rest.

    Equal JSON values have equal leaf values; `exact` tells where the converse does not hold.
    """
    if type(value) is str:  # as mostly
        return value if len(value) <= LONG_STRING else LONG
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else float_or_infinity(value)
    if isinstance(value, float):
        if math.isnan(value):
            return b"nan"
        # 3.0 == 3 in JSON as in Python, also as a key of a WITHOUT ROWID table.
        return int(value) if value.is_integer() and abs(value) < 2**63 else value
    if isinstance(value, str):
        return value if len(value) <= LONG_STRING else LONG
    if isinstance(value, dict):
        return b"{}"
    canonical = json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(canonical.encode(), digest_size=16).digest()


def _canonical(value: Any) -> Any:
    """1, 1.0 and True are equal in Python, so they get one digest."""
    if isinstance(value, dict):
        return {key: _canonical(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(inner) for inner in value]
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return value


def float_or_infinity(value: int) -> float:
    """Return the nearest float of an integer of any size."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def exact(value: Any) -> bool:
    """Return whether comparing `leaf_value` is comparing the value itself."""
    if isinstance(value, int | float):  # integers beyond 64 bits are rounded, NaN equals nothing
        return -(2**63) <= value < 2**63
    if isinstance(value, str):
        return len(value) <= LONG_STRING
    if isinstance(value, list | tuple):
        return not any(isinstance(one, dict) or not exact(one) for one in value)
    return True


IS_NODE: Final = "({0}.kind = 'archival' AND coalesce({0}.index_fields, '') = 'false')"
"""Whether an item, by its alias, is a node of the tree of summaries: no words and no vectors."""


MICROSECOND = timedelta(microseconds=1)
FIRST_US = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // MICROSECOND
LAST_US = (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - EPOCH) // MICROSECOND
"""A later one is the year 10000 in a float of seconds, which is no datetime."""


def to_us(moment: datetime) -> int:
    """Return the microseconds since the epoch; a naive datetime is taken as UTC.

    What a timezone puts before the first or after the last moment of UTC ("0001-01-01T00:00+01:00",
    as other languages write a time that is not set) is that moment: else nobody could read it again.
    """
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max((moment - EPOCH) // MICROSECOND, FIRST_US), LAST_US)


def from_us(us: int) -> datetime:
    """Return a datetime in UTC."""
    return EPOCH + timedelta(microseconds=us)


def maybe_datetime(us: int | None) -> datetime | None:
    return None if us is None else from_us(us)


@overload
def by_clock(us: int, *told: object) -> datetime: ...
@overload
def by_clock(us: int | None, *told: object) -> datetime | None: ...
def by_clock(us: int | None, *told: object) -> datetime | None:
    """Return a moment with the offset of the first of these ISO 8601 times that has one, else in UTC:
    by the clock of who told it, whose midnight is another day in UTC."""
    if us is None:
        return None
    for one in filter(None, told):
        try:
            zone = datetime.fromisoformat(str(one)).tzinfo
            if zone is not None:
                return from_us(us).astimezone(zone)
        except (ValueError, OverflowError):  # no time, or beyond what a datetime can be there
            continue
    return from_us(us)
