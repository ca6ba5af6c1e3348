"""`langmemory jobs`: what waits to be reflected, what is under way, and what was given up and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmemory.cli.target import JsonOption, LimitOption, OnFile
from langmemory.cli.terminal import json_text, plain, say
from langmemory.cli.values import count
from langmemory.errors import ConfigError
from langmemory.types import JobState

if TYPE_CHECKING:
    from langmemory.types import Job

NAMES: dict[JobState, str] = {"pending": "waiting", "running": "running", "dead": "given up"}


def jobs(
    target: OnFile,
    retry: Annotated[
        str | None,
        typer.Option("--retry", metavar="ID|all", help="Try jobs again that were given up."),
    ] = None,
    drop: Annotated[
        int | None,
        typer.Option("--drop", metavar="ID", parser=count, help="Delete a job that does not run."),
    ] = None,
    limit: LimitOption = 50,
    as_json: JsonOption = False,
) -> None:
    """Show the queue of reflections; retry or drop what was given up."""
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
    shown = {state: counts.get(state, 0) for state in NAMES}
    say(", ".join(f"{count:,} {NAMES[state]}" for state, count in shown.items()))


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
            NAMES.get(job.state, job.state),
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
