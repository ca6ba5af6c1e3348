"""Checks of arguments that public methods share."""

from __future__ import annotations

import operator
from datetime import datetime
from typing import Any, Final, TypeVar, get_args

from langmemory.errors import ConfigError

ChoiceT = TypeVar("ChoiceT", bound=str)

NO_LIMIT: Final = 1 << 40
"""More items than a file holds; larger limits and offsets (``sys.maxsize``) mean the same."""


def whole_number(name: str, value: Any, *, least: int = 0) -> int:
    """Return a limit or the like as SQLite takes it: `NO_LIMIT` at most.

    Raises:
        ConfigError: It is no whole number from ``least`` on, as True is none.
    """
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < least:
        raise ConfigError(f"{name} is {value!r:.80}; it must be a whole number, {least} or more.")
    return min(number, NO_LIMIT)


def one_of(name: str, value: ChoiceT, allowed: Any) -> ChoiceT:
    """Return an argument that is one of those a Literal ``allowed`` lists.

    Raises:
        ConfigError: It is another.
    """
    known = get_args(allowed)
    if value not in known:
        listed = ", ".join(f'"{one}"' for one in known[:-1])
        raise ConfigError(f'{name} is {value!r:.80}; pass {listed} or "{known[-1]}"')
    return value


def check_time(name: str, value: object) -> None:
    """Raises ConfigError for what is neither a datetime nor None."""
    if not isinstance(value, datetime | None):
        raise ConfigError(f"{name} is {value!r:.80}; it must be a datetime.")


def check_agent(name: str, value: object) -> str:
    """Return the name of an agent: up to 200 printable characters, without blanks around it.

    Raises:
        ConfigError: It is none.
    """
    if (
        not isinstance(value, str)
        or not 0 < len(value) <= 200
        or not value.isprintable()
        or value != value.strip()
    ):
        raise ConfigError(
            f"{name} is {value!r:.80}; pass the name of an agent: 1 to 200 printable characters, without "
            "blanks around it."
        )
    return value
