"""Waiting for what happens, instead of for a time in which it should."""

from __future__ import annotations

import linecache
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType

LONGEST_SECONDS = 30.0


def until(true: Callable[[], object], what: str = "it did not happen") -> None:
    """Return as soon as a condition is true.

    Raises:
        AssertionError: It is not, after half a minute.
    """
    deadline = time.monotonic() + LONGEST_SECONDS
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


def until_blocked(thread: int, line: str) -> None:
    """Return when a thread, by its identifier, stands still within a call on a line of source that has
    these words."""
    before: list[tuple[int, int]] = []

    def blocked() -> bool:
        nonlocal before
        stack = list(_stack(sys._current_frames().get(thread)))
        places, previous = [(id(frame), frame.f_lasti) for frame in stack], before
        before = places
        return places == previous and any(
            line in linecache.getline(frame.f_code.co_filename, frame.f_lineno) for frame in stack
        )

    until(blocked, f"the thread does not stand at {line!r}")


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
