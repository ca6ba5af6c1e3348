"""A private event loop: lets synchronous code wait for an embedder that is only async.

One loop for the process, so that a client which an async function keeps open stays on the loop it
was opened on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")

_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
_starting = threading.Lock()


def wait_for(awaitable: Awaitable[T]) -> T:
    """Run `awaitable` on the private loop and return its result, or raise its error."""
    future = asyncio.run_coroutine_threadsafe(_await(awaitable), _running_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()  # Ctrl-C must not leave it running; on a finished future this does nothing
        raise


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _thread
    with _starting:
        # A forked child inherits the loop but not its thread, and starts another.
        if _loop is None or _thread is None or not _thread.is_alive():
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(
                target=_loop.run_forever, name="langmemory-embedding", daemon=True
            )
            _thread.start()
        return _loop
