"""Times as values have them: ISO 8601 text, mostly, or nothing that can be read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment(value: object, *, or_seconds: bool = False) -> datetime | None:
    """A datetime, or the ISO 8601 text of one, with a timezone, which is UTC where it tells none; with
    ``or_seconds`` a number, too: seconds since 1970. None for what is no time."""
    try:
        if or_seconds and isinstance(value, int | float) and not isinstance(value, bool):
            value = EPOCH + timedelta(seconds=value)  # Windows' fromtimestamp begins in 1970
        elif isinstance(value, str):
            value = datetime.fromisoformat(value)
    except (ValueError, OverflowError):
        return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
