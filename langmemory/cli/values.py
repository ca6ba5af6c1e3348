"""Parsers of the values of options and arguments; an error names the value and how to write it.

Typer would read most of them itself, but newer versions do not say which value was wrong, and take the
day ``2026`` for seconds since 1970.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from langmemory import timestamps
from langmemory.types import Kind, MinScore

DAY = re.compile(r"\d{4}-?(\d{2}-?\d{2}|W\d{2}(-?\d)?)")
"""A day without a time, as ISO 8601 has it."""

PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True, slots=True)
class Reads:
    """How the text of a value is read, and what help calls it."""

    metavar: str
    parser: Callable[[str], Any]


def moment(text: str) -> datetime:
    """A day or a time; without a zone it is UTC."""
    at = timestamps.moment(text)
    if at is None:
        raise typer.BadParameter(f"{text!r} is no day; write it as 2026-05-02 or 2026-05-02T18:30.")
    return at


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no day; write it as 2026-05-02.") from None


def until(text: str) -> datetime:
    """Return the end of a day, or a time as it is written."""
    at = moment(text)
    return at + timedelta(days=1) if DAY.fullmatch(text.strip()) else at


def expiry(text: str) -> datetime:
    """The end of a day, a time, or so many hours or days from now."""
    span = re.fullmatch(r"(\d{1,6})\s*([hd])", text.strip())
    if span is not None:
        amount = timedelta(hours=int(span[1])) if span[2] == "h" else timedelta(days=int(span[1]))
        return datetime.now(UTC) + amount
    try:
        return until(text)
    except typer.BadParameter:
        raise typer.BadParameter(
            f"{text!r} is no day and no span; write it as 2026-12-31, 12h or 30d."
        ) from None


def kind(text: str) -> Kind:
    """A kind of memory."""
    known: tuple[Kind, ...] = get_args(Kind)
    for one in known:
        if one == text.strip().lower():
            return one
    raise typer.BadParameter(f"{text!r} is no kind of memory; there are {', '.join(known)}.")


def count(text: str) -> int:
    """A whole number, 1 or more."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise typer.BadParameter(f"{text!r} is no whole number from 1 on.")
    return number


def score(text: str) -> MinScore:
    """A probability, or ``auto``."""
    try:
        number = float(text)
    except ValueError:
        if text.strip().lower() == "auto":
            return "auto"
        number = -1
    if not 0 <= number <= 1:
        raise typer.BadParameter(f"{text!r} is no number from 0 to 1, and not auto.")
    return number


def time_of_day(text: str) -> time:
    """A time by the clock."""
    try:
        return datetime.strptime(text.strip(), "%H:%M").time()
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no time of day; write it as 03:00.") from None


def seconds(text: str) -> float:
    """0 or more."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        raise typer.BadParameter(f"{text!r} is no number of seconds.")
    return number


def picture(text: str) -> Path:
    """A file whose name says which kind of picture it is to be."""
    file = Path(text)
    if file.suffix.lower() not in PICTURES:
        raise typer.BadParameter(f"{text!r}: its name must end in {', '.join(PICTURES)}.")
    return file


def one_of(names: type[StrEnum]) -> Callable[[str], StrEnum]:
    """A parser of one of these names."""

    def parse(value: str) -> StrEnum:
        try:
            return names(value)
        except ValueError:
            known = ", ".join(repr(str(name)) for name in names)
            raise typer.BadParameter(f"{value!r} is not one of {known}.") from None

    return parse


Count = Annotated[int, Reads("N", count)]
Day = Annotated[date, Reads("DAY", day)]
Expiry = Annotated[datetime, Reads("WHEN", expiry)]
Picture = Annotated[Path, Reads("FILE", picture)]
Seconds = Annotated[float, Reads("SECONDS", seconds)]
TimeOfDay = Annotated[time, Reads("HH:MM", time_of_day)]
