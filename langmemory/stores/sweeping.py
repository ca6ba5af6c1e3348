"""The TTL sweeper: a daemon thread that deletes expired items at an interval."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

from langmemory.errors import ClosedStoreError, LangMemoryError

logger = logging.getLogger("langmemory.store")


class Count(int):
    """A number that may also be awaited, so that sync and async callers share one method."""

    def __await__(self) -> Generator[Any, None, int]:
        return int(self)
        yield  # makes this a generator


class Done:
    """The answer of a finished call, for whoever awaits it."""

    def __await__(self) -> Generator[Any, None, None]:
        return None
        yield  # makes this a generator


class SweeperHandle(Future[None]):
    """Completes when the sweeper has stopped. Awaiting it returns at once: the sweeper runs."""

    def __await__(self) -> Generator[Any, None, SweeperHandle]:
        return self
        yield  # makes this a generator


class Sweeper:
    """Calls ``sweep`` every so many minutes until stopped."""

    def __init__(self, sweep: Callable[[], int], interval_minutes: float) -> None:
        self._sweep = sweep
        self._interval_seconds = min(interval_minutes * 60, threading.TIMEOUT_MAX)
        self._stop = threading.Event()
        self.handle = SweeperHandle()
        self._thread = threading.Thread(target=self._run, name="langmemory-sweeper", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.wait(self._interval_seconds):
            try:
                swept = self._sweep()
            except ClosedStoreError:  # in the middle of a long one
                break
            except LangMemoryError:
                logger.exception(
                    "TTL sweep failed; the next one is due in %g s", self._interval_seconds
                )
                continue
            if swept:
                logger.info("TTL sweep deleted %d items", swept)
        if self.handle.set_running_or_notify_cancel():
            self.handle.set_result(None)

    def stop(self, timeout: float | None) -> bool:
        """Ask it to stop; return whether it has, after at most ``timeout`` seconds."""
        self._stop.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()
