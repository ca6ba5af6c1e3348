"""The queue of work for later: rows that are due, claimed under a lease, and finished or buried.

Every function is one step within a transaction; times are microseconds since the epoch. A claim is
known by job, worker and attempt: whoever lost a lease can neither finish nor delay the job any more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from langmemory.ledger.connection import Connection
from langmemory.ledger.tables.schema import JOB
from langmemory.ledger.values import maybe_datetime
from langmemory.ports.jobs import Enqueued, NewJob
from langmemory.types import Job, JobState
from langmemory.values import from_json, to_json

_COLUMNS: Final = ", ".join(JOB.names)

_NEXT: Final = """
    SELECT id, state, attempts, due_at FROM job AS one
    WHERE kind = :kind AND {ready} AND NOT EXISTS (
        SELECT 1 FROM job AS other
        WHERE other.state = 'running' AND other.lane = one.lane AND other.lease_until > :now
    )
    ORDER BY due_at, id LIMIT 1
"""
CLAIMABLE: Final = f"""
    SELECT id, state, attempts FROM (
        SELECT * FROM ({_NEXT.format(ready="state = 'pending' AND due_at <= :due_by")})
        UNION ALL
        SELECT * FROM ({_NEXT.format(ready="state = 'running' AND lease_until <= :now")})
    )
    ORDER BY due_at, id LIMIT 1
"""
"""The next job of a kind: due, or left behind by a worker whose lease ran out; its lane is free. Each
is looked for by itself: with one OR, SQLite sorts all that waits for the sake of one."""


WHOSE: Final = ("namespace", "thread_id")
"""The owner whose turns a job reads."""
_WHOSE_PATHS: Final = ", ".join(f"'$.{name}'" for name in WHOSE)
BROUGHT: Final = f"json_remove(payload, {_WHOSE_PATHS})"
"""Options of a job beyond whose turns are to be read."""
READS_ONLY: Final = f"{BROUGHT} = '{{}}'"
"""Of a job that brings nothing along: where nothing is left to read, it only tells whose that was."""


def enqueue(connection: Connection, job: NewJob, now_us: int) -> Enqueued:
    """Put a job into the queue, in place of a pending one of its thread."""
    replaced: list[int] = []
    since = now_us
    if job.thread is not None:
        for found, created, attempts in connection.execute(
            "UPDATE job SET state = 'replaced', finished_at = ?, payload = '{}', config = '{}' "
            "WHERE state = 'pending' AND kind = ? AND lane = ? AND thread = ? "
            "RETURNING id, created_at, attempts",
            (now_us, job.kind, job.lock, job.thread),
        ).fetchall():
            replaced.append(found)
            if not attempts:  # one that failed has had its turn: the wait starts anew
                since = min(since, created)
    due = now_us + round(max(job.wait_seconds, 0) * 1_000_000)
    if job.max_debounce_seconds is not None:
        due = min(due, max(now_us, since + round(job.max_debounce_seconds * 1_000_000)))
    row = connection.execute(
        "INSERT INTO job (kind, lane, thread, payload, config, created_at, due_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (job.kind, job.lock, job.thread, to_json(job.payload), to_json(job.config), since, due),
    ).fetchone()
    return Enqueued(id=row[0], replaced=tuple(replaced))


def claimable(connection: Connection, kind: str, now_us: int, due_by_us: int) -> bool:
    """Return whether `claim` would find something; a read."""
    return _next(connection, kind, now_us, due_by_us) is not None


def _next(connection: Connection, kind: str, now_us: int, due_by_us: int) -> Any:
    names = {"kind": kind, "now": now_us, "due_by": due_by_us}
    return connection.execute(CLAIMABLE, names).fetchone()


def claim(
    connection: Connection,
    *,
    kind: str,
    worker: str,
    now_us: int,
    due_by_us: int,
    lease_us: int,
    max_attempts: int,
) -> Job | None:
    """Take the next job of a kind. One whose workers died ``max_attempts`` times is buried, and so is
    one that is no JSON any more, where somebody edited the file: the others wait behind it."""
    while row := _next(connection, kind, now_us, due_by_us):
        found, state, attempts = row
        if state == "running" and attempts >= max_attempts:
            reason = f"WorkerLost: no worker lived to finish it in {attempts} attempts"
            _bury(connection, found, now_us, reason)
            continue
        taken = connection.execute(
            "UPDATE job SET state = 'running', worker = ?, lease_until = ?, "
            f"attempts = attempts + 1 WHERE id = ? RETURNING {_COLUMNS}",
            (worker, now_us + lease_us, found),
        ).fetchone()
        try:
            return _job(taken)
        except ValueError:  # emptied, so that it can be listed
            connection.execute(
                "UPDATE job SET payload = '{}', config = '{}' WHERE id = ?", (found,)
            )
            _bury(connection, found, now_us, "UnreadableJob: what it was to do is no JSON")
    return None


def _bury(connection: Connection, job: int, now_us: int, error: str) -> None:
    connection.execute(
        "UPDATE job SET state = 'dead', finished_at = ?, error = ? WHERE id = ?",
        (now_us, error, job),
    )


def next_due(connection: Connection, kind: str) -> int | None:
    """Return when the next pending job is due or the next lease runs out; also of lanes not free."""
    row = connection.execute(
        "SELECT min(at) FROM ("
        "SELECT min(due_at) AS at FROM job WHERE state = 'pending' AND kind = ?1 UNION ALL "
        "SELECT min(lease_until) FROM job WHERE state = 'running' AND kind = ?1)",
        (kind,),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def renew(connection: Connection, job: Job, now_us: int, lease_us: int) -> bool:
    """Prolong a claim; False when it is lost."""
    return _change_claimed(connection, job, "lease_until = ?", (now_us + lease_us,))


def holds(connection: Connection, job: Job) -> bool:
    """Return whether a claim is not lost: to another worker, or with what was forgotten."""
    row = connection.execute(f"SELECT 1 FROM job WHERE {_CLAIM}", _claim_of(job)).fetchone()
    return row is not None


def finish(connection: Connection, job: Job, now_us: int, result: str) -> bool:
    """It is done; ``result`` is JSON. False when the claim is lost.

    What it was to do is not kept: it may quote what somebody said. Where it only read what there
    was, the dead ones of its thread have nothing left to do.
    """
    done = _change_claimed(
        connection,
        job,
        "state = 'done', finished_at = ?, result = ?, error = NULL, payload = '{}', config = '{}'",
        (now_us, result),
    )
    if done and job.thread is not None and job.payload.keys() <= {*WHOSE}:
        connection.execute(
            "UPDATE job SET state = 'replaced', payload = '{}', config = '{}' WHERE state = 'dead' "
            f"AND kind = ? AND lane = ? AND thread = ? AND {READS_ONLY}",
            (job.kind, job.lock, job.thread),
        )
    return done


def fail(
    connection: Connection, job: Job, now_us: int, error: str, retry_at_us: int | None
) -> JobState | None:
    """Put a failed attempt off until then, or bury it; return what became of it.

    A job whose thread has a newer one waiting is replaced by that. None: the claim is lost.
    """
    newer = (
        job.thread is not None
        and connection.execute(
            "SELECT EXISTS (SELECT 1 FROM job WHERE state = 'pending' AND kind = ? AND lane = ? "
            "AND thread = ? AND id > ?)",
            (job.kind, job.lock, job.thread, job.id),
        ).fetchone()[0]
    )
    state: JobState = "replaced" if newer else "dead" if retry_at_us is None else "pending"
    kept = _change_claimed(
        connection,
        job,
        "state = ?1, error = ?2, due_at = coalesce(?3, due_at), finished_at = ?4, "
        "payload = CASE WHEN ?1 = 'replaced' THEN '{}' ELSE payload END, "
        "config = CASE WHEN ?1 = 'replaced' THEN '{}' ELSE config END",
        (state, error, retry_at_us, None if state == "pending" else now_us),
    )
    return state if kept else None


def release(connection: Connection, job: Job, now_us: int) -> bool:
    """Give a claim back before its end; the attempt does not count."""
    return _change_claimed(
        connection, job, "state = 'pending', due_at = ?, attempts = attempts - 1", (now_us,)
    )


def run_now(connection: Connection, kind: str, now_us: int) -> None:
    """Every pending job of a kind is due now."""
    connection.execute(
        "UPDATE job SET due_at = min(due_at, ?) WHERE state = 'pending' AND kind = ?",
        (now_us, kind),
    )


def requeue(connection: Connection, ids: Sequence[int] | None, now_us: int) -> list[int]:
    """Make dead jobs pending again, as if new; None means all. Return their ids."""
    rows = connection.execute(
        "UPDATE job SET state = 'pending', attempts = 0, due_at = ?, finished_at = NULL "
        "WHERE state = 'dead' AND (CAST(? AS TEXT) IS NULL OR id IN "
        "(SELECT CAST(value AS INTEGER) FROM json_each(?))) "
        "RETURNING id",
        (now_us, _ids_as_json(ids), _ids_as_json(ids)),
    )
    return sorted(row[0] for row in rows)


def drop(connection: Connection, ids: Sequence[int]) -> list[int]:
    """Delete pending and dead jobs; those it was."""
    rows = connection.execute(
        "DELETE FROM job WHERE state IN ('pending', 'dead') "
        "AND id IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) RETURNING id",
        (_ids_as_json(ids),),
    )
    return sorted(row[0] for row in rows)


def after_clock_change(connection: Connection, now_us: int) -> None:
    """After the clock was put back: what it had put off by more than a day, or what was claimed for
    so long by a worker that may be dead, waits from now on as long as it was to wait then."""
    connection.execute(
        "UPDATE job SET due_at = ?1 + max(due_at - max(created_at, coalesce(lease_until, 0)), 0), "
        "created_at = min(created_at, ?1), lease_until = NULL "
        "WHERE state = 'pending' AND max(created_at, coalesce(lease_until, 0)) > ?1 + ?2",
        (now_us, _DAY_US),
    )
    connection.execute(
        "UPDATE job SET lease_until = ?1 + ?2 WHERE state = 'running' AND lease_until > ?1 + ?2",
        (now_us, _DAY_US),
    )


_DAY_US: Final = 86_400_000_000
"""No clock runs so fast, and no lease is so long."""


def prune(connection: Connection, before_us: int) -> int:
    """Delete done and replaced jobs that ended before then; how many."""
    connection.execute(
        "DELETE FROM job WHERE state IN ('done', 'replaced') AND finished_at < ?", (before_us,)
    )
    return connection.changes()


def unfinished_jobs(connection: Connection, due_by_us: int | None) -> set[int]:
    """Return the jobs that are running, or pending and due by then; None: whenever. From the indexes alone:
    it is asked every second, and what waits may be thousands of conversations."""
    rows = connection.execute(
        "SELECT id FROM job WHERE state = 'running' UNION ALL "
        "SELECT id FROM job WHERE state = 'pending' AND due_at <= ?",
        (_NEVER_US if due_by_us is None else due_by_us,),
    )
    return {row[0] for row in rows}


_NEVER_US: Final = 2**63 - 1


def find(connection: Connection, ids: Sequence[int]) -> list[Job]:
    """Return those of the jobs that are there."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM job WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))",
        (_ids_as_json(ids),),
    )
    return [_job(row) for row in rows]


def list_jobs(connection: Connection, states: Sequence[JobState], limit: int) -> list[Job]:
    """Return the jobs in these states, by state as given, then the next due first."""
    jobs: list[Job] = []
    for state in states:
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM job WHERE state = ? ORDER BY due_at, id LIMIT ?",
            (state, limit - len(jobs)),
        )
        jobs.extend(_job(row) for row in rows)
    return jobs


def by_number(
    connection: Connection, states: Sequence[JobState], after: int, limit: int
) -> list[Job]:
    """Return the first jobs in these states behind a number, by number."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM job WHERE id > ? AND state IN (SELECT value FROM json_each(?)) "
        "ORDER BY id LIMIT ?",
        (after, json.dumps(list(states)), limit),
    )
    return [_job(row) for row in rows]


def counts(connection: Connection) -> dict[JobState, int]:
    """Return how many jobs there are in each state."""
    rows = connection.execute("SELECT state, count(*) FROM job GROUP BY state ORDER BY state")
    return dict(rows.fetchall())


def _change_claimed(connection: Connection, job: Job, change: str, values: Sequence[Any]) -> bool:
    """Change a job that is still this claim's; return whether it is."""
    connection.execute(f"UPDATE job SET {change} WHERE {_CLAIM}", (*values, *_claim_of(job)))
    return connection.changes() == 1


_CLAIM: Final = "id = ? AND state = 'running' AND worker = ? AND attempts = ?"


def _claim_of(job: Job) -> tuple[Any, ...]:
    return job.id, job.worker, job.attempts


def _ids_as_json(ids: Sequence[int] | None) -> str | None:
    return None if ids is None else json.dumps(list(ids))


_JSON, _TIMES = JOB.of_type("json"), JOB.of_type("time")


def _job(row: Sequence[Any]) -> Job:
    found: dict[str, Any] = dict(zip(JOB.names, row, strict=True))
    for name in _JSON:
        found[name] = None if found[name] is None else from_json(found[name])
    for name in _TIMES:
        found[name] = maybe_datetime(found[name])
    return Job(lock=found.pop("lane"), **found)  # the name that files have for it
