"""Between datetimes and the microseconds the file stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

from langmemory.timestamps import EPOCH

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
    for one in told:
        try:
            zone = datetime.fromisoformat(str(one)).tzinfo
            if zone is not None:
                return from_us(us).astimezone(zone)
        except (ValueError, OverflowError):  # no time, or beyond what a datetime can be there
            continue
    return from_us(us)
