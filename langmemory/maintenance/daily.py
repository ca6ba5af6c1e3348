"""A night once a day, at a local time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, time, timedelta
from typing import Any, Final

from langmemory.errors import MaintenanceBusyError
from langmemory.pluralize import count_noun
from langmemory.reflection.events import reason

logger = logging.getLogger("langmemory.maintenance")

LOOK_SECONDS: Final = 60.0
"""So often it is looked at the clock, which may be set and may stop while a machine sleeps."""


class Daily:
    """Runs a night at one time of day, in a thread of its own, until stopped.

    A night that another process has begun since that time is not run again; one that was interrupted goes on
    at once. Whatever fails is logged, and the next day's night runs all the same. The thread is a daemon:
    a night that an exiting process leaves behind goes on at the next start.

    Args:
        perform: Runs a night; returns the output of the maintenance graph.
        at: When, by the clock.
        last: Returns what the memory file notes of the last night.
        clock: Returns the local time, without a zone.
    """

    def __init__(
        self,
        perform: Callable[[], Mapping[str, Any]],
        at: time,
        *,
        last: Callable[[], Mapping[str, Any] | None],
        clock: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._perform, self._at, self._last, self._clock = perform, at, last, clock
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.failed = 0
        """Nights of which something failed."""

    def start(self, *, once: bool = False) -> None:
        """Begin; with ``once`` run one night now, and end."""
        work = self.run if once else self._work
        self._thread = threading.Thread(target=work, name="langmemory-maintenance", daemon=True)
        self._thread.start()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; whether it has after so many seconds."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def stop(self, *, grace_seconds: float | None = None) -> bool:
        """Run no further night; whether the one under way was finished within so many seconds."""
        self._stopped.set()
        return self.join(grace_seconds)

    def run(self) -> None:
        """Run a night now, and log what came of it."""
        try:
            found = self._perform()
        except MaintenanceBusyError as error:
            logger.warning("No night: %s", reason(error))
            return
        except Exception as error:  # the boundary of a night: the next day there is another one
            self.failed += 1
            logger.warning("A night failed, the next one is tomorrow: %s", reason(error))
            return
        reports = found["reports"]
        failed = [report["task"] for report in reports if report["error"]]
        self.failed += bool(failed)
        changes = sum(len(report["lines"]) for report in reports)
        told = f"; failed: {', '.join(failed)}" if failed else ""
        logger.info("Night %s: %s%s", found["night"], count_noun(changes, "change"), told)

    def _work(self) -> None:
        due = self._clock()
        if not self._was_interrupted():
            due = next_time(due, self._at)
        while not self._stopped.is_set():
            left = (due - self._clock()).total_seconds()
            if left > 0:
                self._stopped.wait(min(left, LOOK_SECONDS))
                continue
            if self._was_interrupted() or not self._done_since(due):
                self.run()
            due = next_time(self._clock(), self._at)

    def _was_interrupted(self) -> bool:
        last = self._last_run()
        return last is not None and not last["finished"]

    def _done_since(self, due: datetime) -> bool:
        last = self._last_run()
        return last is not None and last["at"] >= due.timestamp() * 1_000_000

    def _last_run(self) -> Mapping[str, Any] | None:
        try:
            return self._last()
        except Exception as error:  # locked: a night tries again, or says why not
            logger.warning("The last night is not known: %s", reason(error))
            return None


def next_time(now: datetime, at: time) -> datetime:
    """Return the next moment after ``now`` at which the local clock shows ``at``, both without a zone. Where
    clocks skip that time, it has come as soon as they show a later one."""
    today = datetime.combine(now.date(), at)
    return today if today > now else today + timedelta(days=1)
