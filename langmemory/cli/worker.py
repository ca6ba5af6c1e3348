"""`langmemory worker` and `langmemory jobs`: a process for work in the background, and its queue."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import typer

from langmemory.cli.target import JsonOption, LimitOption, OnFile
from langmemory.cli.terminal import json_text, plain, say
from langmemory.cli.values import Count, Seconds, TimeOfDay
from langmemory.errors import ConfigError
from langmemory.types import JobState

if TYPE_CHECKING:
    from datetime import time
    from types import FrameType

    from langmemory.maintenance.daily import Daily
    from langmemory.stores import MemoryStore
    from langmemory.types import Job


def worker(
    target: OnFile,
    *,
    once: bool = False,
    lanes: Count = 1,
    grace: Seconds = 30,
    maintain: TimeOfDay | None = None,
) -> None:
    """Reflect conversations and read projects in the background, until stopped.

    Any number of workers and applications may share a file; one of them maintains it.
    With --once the exit code is 1 if any of it failed, now to be tried again or given up.
    Ctrl-C or SIGTERM finishes what is under way and leaves the rest in the file;
    a second one ends at once, and what was begun is begun again.

    Args:
        once: Do everything that waits, due or not, and end.
        lanes: Namespaces reflected at the same time.
        grace: To finish what is under way when stopped.
        maintain: Also maintain the file once a day at this local time; with --once, once at the end.
    """
    from langmemory.documents.projects import JOB
    from langmemory.graphs.reflection import build_reflection_graph
    from langmemory.reflection.payload import WorkOptions
    from langmemory.reflection.queue import REFLECTION
    from langmemory.reflection.reflector import performer
    from langmemory.reflection.worker import Worker

    with _logged_to_stderr(), target.open(create=not once) as store:
        options = WorkOptions.of(store.config.reflection)
        reflect = performer(build_reflection_graph(store), store)
        read = store.projects.perform
        workers = [
            Worker(store.jobs, reflect, kind=REFLECTION, lanes=lanes, options=options),
            Worker(store.jobs, read, kind=JOB, lanes=min(lanes, 1), options=options),
        ]
        asked = asked_to_stop()
        also = f", maintaining it at {maintain:%H:%M}" if maintain and not once else ""
        say(f"Reflecting {store.path}{also}" + ("" if once else "; Ctrl-C stops"), err=True)
        daily = None if maintain is None else _daily(store, maintain)
        if daily is not None and not once:
            daily.start()
        for one in workers:
            one.start(until_idle=once)
        while not all(one.join(0.2) for one in workers) and not asked.is_set():
            pass
        if daily is not None and once and not asked.is_set():
            daily.start(once=True)
            while not daily.join(0.2) and not asked.is_set():
                pass
        finished = all(one.join(0) for one in workers) and (daily is None or daily.join(0))
        if not finished:
            say("Stopping: finishing what is under way", err=True)
            if daily is not None:
                daily.stop(grace_seconds=0)
            for one in workers:  # before any of them is waited for
                one.stop(wait=False)
            stopped = [one.stop(grace_seconds=grace) for one in workers]
            finished = all(stopped) and (daily is None or daily.join(grace))
        counts = store.jobs.counts()
    waiting, dead = counts.get("pending", 0), counts.get("dead", 0)
    hint = " (`langmemory jobs` says why)" if dead else ""
    say(f"{waiting} waiting, {dead} given up{hint}", err=True)
    failed = any(one.failed for one in workers) or (daily is not None and daily.failed)
    code = 1 if once and failed else 0
    if not finished:  # a model may still be asked in a thread, for which Python would wait
        os._exit(code)
    raise typer.Exit(code)


def _daily(store: MemoryStore, at: time) -> Daily:
    from langmemory.graphs.maintenance import build_maintenance_graph
    from langmemory.maintenance.daily import Daily
    from langmemory.operations.maintaining import Maintaining

    graph = build_maintenance_graph(store)
    return Daily(lambda: graph.invoke({}), at, last=Maintaining(store).last_night)


def asked_to_stop() -> threading.Event:
    """Set by the first Ctrl-C or SIGTERM; the second does what it always does."""
    asked = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        asked.set()
        signal.signal(number, before[number])

    before: dict[int, Any] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, ask)
    return asked


@contextmanager
def _logged_to_stderr() -> Iterator[None]:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
    logger = logging.getLogger("langmemory")
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


STATE_NAMES: dict[JobState, str] = {"pending": "waiting", "running": "running", "dead": "given up"}


def jobs(
    target: OnFile,
    *,
    retry: str | None = None,
    drop: Count | None = None,
    limit: LimitOption = 50,
    as_json: JsonOption = False,
) -> None:
    """Show the queue of reflections; retry or drop what was given up.

    Args:
        retry (ID|all): Try jobs again that were given up.
        drop (ID): Delete a job that does not run.
    """
    from langmemory.cli.screen import Screen

    with target.open(vectors=False) as store:
        queue = store.jobs
        if retry is not None:
            tried = queue.retry(None if retry == "all" else [_number(retry)])
            if not tried and retry != "all":
                raise ConfigError(f"Job {retry} was not given up. `langmemory jobs` lists them.")
            said = f"{len(tried)} to be tried again; a worker takes them at once"
            say(json_text({"retried": tried}) if as_json else said)
            return
        if drop is not None:
            if not queue.drop([drop]):
                raise ConfigError(
                    f"There is no job {drop} that waits or was given up. `langmemory jobs` lists them."
                )
            say(json_text({"dropped": [drop]}) if as_json else f"Job {drop} deleted")
            return
        found, counts = queue.listed(limit=limit), queue.counts()
    if as_json:
        say(json_text([_row(job) for job in found]))
        return
    if not found:
        say(f"Nothing waits; {counts.get('done', 0):,} done lately")
        return
    console = Screen()
    console.print(_table(found, datetime.now(UTC)))
    for job in found:
        if job.error:
            console.print(f"job {job.id} failed last: {job.error}", style="yellow", soft_wrap=True)
    shown = {state: counts.get(state, 0) for state in STATE_NAMES}
    say(", ".join(f"{count:,} {STATE_NAMES[state]}" for state, count in shown.items()))


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"--retry {text}: give the number of a job, or all.") from None


def _row(job: Job) -> dict[str, Any]:
    """A job for scripts, without what it is to do, which may quote what somebody said."""
    row: dict[str, Any] = plain(job)
    for name in ("payload", "config", "result"):
        del row[name]
    return row


def _table(jobs: list[Job], now: datetime) -> Any:
    from langmemory.cli.screen import FOLD, RIGHT, WHOLE, plain_table

    # The columns that fold leave the rest its room.
    columns = {"job": RIGHT, "state": WHOLE, "what": FOLD, "where": FOLD, "thread": FOLD}
    table = plain_table({**columns, "due": RIGHT, "tries": RIGHT})
    for job in jobs:
        table.add_row(
            str(job.id),
            STATE_NAMES.get(job.state, job.state),
            job.kind,
            job.lock.replace(".", "/"),
            job.thread or "–",
            _due(job, now),
            str(job.attempts),
            style="yellow" if job.state == "dead" else None,
        )
    return table


def _due(job: Job, now: datetime) -> str:
    if job.state == "pending":
        return _span(job.due_at - now, "in {}", "now")
    if job.state == "running" and job.lease_until is not None and job.lease_until < now:
        return "lost"
    return "–" if job.finished_at is None else _span(now - job.finished_at, "{} ago", "now")


def _span(span: timedelta, form: str, none: str) -> str:
    """The time in its largest whole unit: ``in 4 min``."""
    seconds = span.total_seconds()
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        if seconds >= size:
            return form.format(f"{seconds / size:.0f} {unit}")
    return none
