"""When a fact was true, in the words a prompt says it with: ``since March 2026``, ``until May 2026``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from langmemory.timestamps import moment

STATES: Final = frozenset(
    {"lives_in", "works_at", "works_as", "works_for", "studies_at", "married_to", "engaged_to",
     "partner_of", "member_of", "owns", "has_pet", "role"}
)  # fmt: skip
"""Relations that go on: what became true at a time has been true since."""

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

_SINCE = re.compile(r"\s*(?:since|from|seit|ab|desde|自|从|從)\b", re.IGNORECASE)


def validity(value: Mapping[str, Any], begins: datetime | None, ends: datetime | None) -> str:
    """Return when a fact is, or was, true; else when it was said; empty where neither is known.

    Args:
        value: of the fact, as reflection wrote it.
        begins: when it became true.
        ends: when it stopped being true.
    """
    when = value.get("when")
    when = when if isinstance(when, Mapping) else {}
    precision = str(when.get("precision") or "day")
    start = moment(when.get("start"))
    until = _date(ends, "month" if _is_month(ends) else "day") if ends else ""
    said = moment(value.get("said_at"))
    if start is not None:
        lasts = _SINCE.match(str(when.get("words") or "")) or value.get("relation") in STATES
        since = _date(start, precision)
        if until:
            return f"{since} to {until}"
        return f"since {since}" if lasts else since
    if until:
        return f"until {until}"
    if said is None and begins is None:
        return ""
    return f"said {_date(said or begins, 'day')}"


def _is_month(at: datetime | None) -> bool:
    """Whether a time is known to the month alone, which is written as the first of it."""
    return at is not None and (at.day, at.hour, at.minute, at.second) == (1, 0, 0, 0)


def _date(at: datetime | None, precision: str) -> str:
    if at is None:
        return ""
    if precision == "decade":
        return f"{at.year // 10 * 10}s"
    if precision == "year":
        return str(at.year)
    if precision in ("month", "season"):
        return f"{MONTHS[at.month - 1]} {at.year}"
    day = f"{at.day} {MONTHS[at.month - 1]} {at.year}"
    return f"about {day}" if precision == "week" else day
