"""Between datetimes and the microseconds the file stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def to_us(moment: datetime) -> int:
    """Microseconds since the epoch; a naive datetime is taken as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // MICROSECOND


def from_us(us: int) -> datetime:
    """Timezone-aware UTC datetime."""
    return EPOCH + timedelta(microseconds=us)


def maybe_datetime(us: int | None) -> datetime | None:
    return None if us is None else from_us(us)


def by_clock(us: int | None, *told: object) -> datetime | None:
    """A moment with the offset of the first of these ISO 8601 times that has one, else in UTC: by
    the clock of who told it, whose midnight is another day in UTC."""
    if us is None:
        return None
    for one in told:
        try:
            zone = datetime.fromisoformat(str(one)).tzinfo
        except ValueError:
            continue
        if zone is not None:
            return from_us(us).astimezone(zone)
    return from_us(us)
