"""Async twins: the same work without blocking the event loop, written once.

Work that waits for one thing is a method, and `twin` makes its async twin. Work of several steps is a
generator that yields what it waits for; `run_steps` waits in this thread, `arun_steps` on the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

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


class Wait(NamedTuple):
    """Something to wait for: in this thread, or on an event loop."""

    blocking: Callable[[], Any]
    awaiting: Callable[[], Awaitable[Any]]


Steps: TypeAlias = Generator[Wait, Any, T]
"""Work that yields what it waits for, is sent the result, and returns what came of it all."""


def call(of: Any, name: str, /, *args: Any, **kwargs: Any) -> Wait:
    """Return a call of a method that has an async twin, as ``search`` has ``asearch``."""
    return Wait(
        lambda: getattr(of, name)(*args, **kwargs), lambda: getattr(of, f"a{name}")(*args, **kwargs)
    )


def thread_call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Wait:
    """Return a call of a function without an async twin; beside an event loop it runs in a thread."""
    run = partial(function, *args, **kwargs)
    return Wait(run, lambda: asyncio.to_thread(run))


def together(*several: Steps[Any]) -> Wait:
    """Return several works; their results are a list. On an event loop they run at the same time."""
    return Wait(
        lambda: [run_steps(steps) for steps in several],
        lambda: asyncio.gather(*(arun_steps(steps) for steps in several)),
    )


def run_steps(steps: Steps[T]) -> T:
    """Do the work in this thread."""
    try:
        wait = next(steps)
        while True:
            try:
                result = wait.blocking()
            except BaseException as error:
                wait = steps.throw(error)
            else:
                wait = steps.send(result)
    except StopIteration as done:
        value: T = done.value
        return value


async def arun_steps(steps: Steps[T]) -> T:
    """Do the work without blocking the event loop."""
    try:
        wait = next(steps)
        while True:
            try:
                result = await wait.awaiting()
            except BaseException as error:
                wait = steps.throw(error)
            else:
                wait = steps.send(result)
    except StopIteration as done:
        value: T = done.value
        return value


def blocking(work: Callable[P, Steps[T]]) -> Callable[P, T]:
    """Return a function that does the work in the calling thread; `_get` and `get_steps` make `get`."""

    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_steps(work(*args, **kwargs))

    run.__name__ = work.__name__.removeprefix("_").removesuffix("_steps")
    return run


def awaiting(work: Callable[P, Steps[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return an async function that does the work without blocking the event loop, as `aget`."""

    @wraps(work)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await arun_steps(work(*args, **kwargs))

    run.__name__ = f"a{work.__name__.removeprefix('_').removesuffix('_steps')}"
    run.__doc__ = f"`{run.__name__[1:]}` without blocking the event loop."
    return run
