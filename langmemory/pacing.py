"""Long work in steps, between which others get their turn."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def in_steps(things: Sequence[T], at_once: int) -> Iterator[Sequence[T]]:
    """Yield so many at a time, with a pause before the next as long as the last step took.

    A write lock that is taken again at once is rarely given to anybody else.
    """
    for start in range(0, len(things), at_once):
        began = time.monotonic()
        yield things[start : start + at_once]
        if start + at_once < len(things):
            time.sleep(time.monotonic() - began)
