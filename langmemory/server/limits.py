"""Limits: how often a token may ask, how much a request may hold, how slowly it may come."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Final

from starlette.requests import ClientDisconnect, Request

from langmemory.server.problems import Problem

KNOWN: Final = 10_000
"""Senders that are kept in mind."""
BURST_SECONDS: Final = 2.0
"""So many seconds' requests may come at once."""
PIECE_BYTES: Final = 64 * 1024
FAILURES_PER_SECOND: Final = 20.0
"""Wrong tokens that one address may try, on average."""


class RateLimit:
    """A token bucket for each sender. One event loop uses it."""

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._per_second, self._clock = per_second, clock
        self._most = max(per_second * BURST_SECONDS, 1.0)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, sender: str) -> None:
        """Count a request.

        Raises:
            Problem: It is one too many.
        """
        left, now = self._refilled(sender)
        if left < 1:
            wait = max(1, math.ceil((1 - left) / self._per_second))
            raise Problem(
                429,
                "too-many-requests",
                f"More than {self._per_second:g} requests a second; wait {wait} s.",
                headers={"Retry-After": str(wait)},
            )
        self._left[sender] = (left - 1, now)
        self._left.move_to_end(sender)
        if len(self._left) > KNOWN:
            self._left.popitem(last=False)

    def _refilled(self, sender: str) -> tuple[float, float]:
        now = self._clock()
        left, since = self._left.get(sender, (self._most, now))
        return min(self._most, left + (now - since) * self._per_second), now


async def pieces(
    request: Request, *, limit_bytes: int, timeout_seconds: float
) -> AsyncIterator[bytes]:
    """Yield the body of a request as it comes.

    Raises:
        Problem: It holds more than ``limit_bytes``, or 64 KiB of it took longer than
            ``timeout_seconds``.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit_bytes:
        raise _too_large(limit_bytes)
    stream = request.stream().__aiter__()
    loop = asyncio.get_running_loop()
    size, due_at, due_bytes = 0, loop.time() + timeout_seconds, PIECE_BYTES
    while True:
        try:
            async with asyncio.timeout_at(due_at):
                piece = await anext(stream, None)
        except TimeoutError:
            raise Problem(
                408,
                "too-slow",
                f"The body came too slowly: 64 KiB may take {timeout_seconds:g} s.",
                headers={"Connection": "close"},
            ) from None
        except ClientDisconnect:
            raise Problem(400, "malformed", "The body ended early.") from None
        if piece is None:
            return
        size += len(piece)
        if size > limit_bytes:
            raise _too_large(limit_bytes)
        if size >= due_bytes:
            due_at, due_bytes = loop.time() + timeout_seconds, size + PIECE_BYTES
        yield piece


def _too_large(limit_bytes: int) -> Problem:
    return Problem(
        413,
        "too-large",
        f"The body is larger than {limit_bytes:,} bytes. Send less at a time.",
    )
