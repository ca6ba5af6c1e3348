"""The words that the keyword index reads of turns and facts: who, when, what."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from langmemory.languages import index_text

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def turn_body(speaker: str, at: datetime, text: str) -> str:
    return index_text(f"{speaker} {at.day} {MONTHS[at.month - 1]} {at.year} {text}")


def is_fact(value: Mapping[str, Any]) -> bool:
    """Whether a value is what reflection derived: one sentence under ``text``, whatever else."""
    return isinstance(value.get("fact_kind"), str) and isinstance(value.get("text"), str)


def fact_body(value: Mapping[str, Any]) -> str:
    """As `turn_body`, with the time the fact speaks of, else that of its source, as exactly as it
    is known. It depends on nothing but the value, so that it can be made anew from it."""
    when = value.get("when")
    start = when.get("start") if isinstance(when, Mapping) else None
    precision = when.get("precision") if isinstance(when, Mapping) else None
    words = [str(value.get("speaker") or "")]
    with suppress(KeyError, TypeError, ValueError):  # a value without a readable time has no date
        at = datetime.fromisoformat(start or value["said_at"])
        if precision not in ("season", "year", "decade"):
            words.append(MONTHS[at.month - 1])
            if precision not in ("week", "month"):
                words.insert(-1, str(at.day))
        words.append(str(at.year))
    return index_text(" ".join([*words, value["text"]]).strip())
