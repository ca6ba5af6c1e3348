"""Async twins: the method of a room that does the same without blocking the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

SelfT = TypeVar("SelfT")
P = ParamSpec("P")
T = TypeVar("T")


def twin(
    blocking: Callable[Concatenate[SelfT, P], T],
) -> Callable[Concatenate[SelfT, P], Coroutine[Any, Any, T]]:
    """Return the async twin of a blocking method. It runs the method in a thread of the event loop."""

    @wraps(blocking)
    async def run(self: SelfT, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(blocking, self, *args, **kwargs)

    run.__name__ = f"a{blocking.__name__}"
    run.__qualname__ = f"{blocking.__qualname__.rpartition('.')[0]}.{run.__name__}"
    run.__doc__ = f"`{blocking.__name__}` without blocking the event loop."
    return run
