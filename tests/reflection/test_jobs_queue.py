"""The queue in the file: who gets which job when, and what becomes of it. The clock is moved by hand."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest

from langmemory import MemoryStore
from langmemory.config import Config, load_config
from langmemory.errors import ConfigError, ModelUnavailableError, StalePlanError
from langmemory.ledger.jobs import claimable
from langmemory.operations.jobs import Jobs
from langmemory.ports.jobs import NewJob
from langmemory.reflection import Debounce, LocalReflectionExecutor, TurnQueue, Worker, WorkOptions
from langmemory.types import Job, JobState
from tests.reflection.clock import Clock

LEASE_US = 60_000_000
PLACE = ("memories", "anna")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        yield store


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jobs(store: MemoryStore, clock: Clock) -> Jobs:
    jobs = store.jobs
    jobs.clock = clock
    return jobs


def add(jobs: Jobs, *, lock: str = "a", thread: str | None = None, **more: Any) -> int:
    new = NewJob(kind="test", lock=lock, thread=thread, payload={"n": 1}, config={}, **more)
    return jobs.enqueue(new, lambda _: None).result(10).id


def claim(jobs: Jobs, worker: str = "w", max_attempts: int = 3) -> Job | None:
    return jobs.leases.claim("test", worker, lease_us=LEASE_US, max_attempts=max_attempts)


def state(jobs: Jobs, job: int) -> JobState:
    return jobs.find([job])[0].state


def test_a_later_job_of_a_thread_replaces_the_pending_one(jobs: Jobs) -> None:
    """Of one kind, lock and thread only the last waits; other threads, locks and jobs without a
    thread are left alone, and so is one that was begun."""
    first = add(jobs, thread="t")
    others = [add(jobs, thread="u"), add(jobs, lock="b", thread="t"), add(jobs), add(jobs)]
    second = add(jobs, thread="t")
    assert state(jobs, first) == "replaced"
    assert {state(jobs, job) for job in [*others, second]} == {"pending"}
    begun = claim(jobs)
    assert begun is not None
    after = add(jobs, thread=begun.thread)
    assert state(jobs, begun.id) == "running"
    assert state(jobs, after) == "pending"


def test_a_quiet_conversation_is_reflected_and_an_endless_one_too(
    jobs: Jobs, store: MemoryStore, clock: Clock
) -> None:
    """A job waits for quiet after the last turn, but never longer than the limit after the first."""
    queue = TurnQueue(store, kind="test", debounce=Debounce(debounce_seconds=30))
    queue._jobs = jobs
    queue.submit(PLACE, thread_id="t", keys=["a"])
    clock.forward(29)
    assert claim(jobs) is None
    queue.submit(PLACE, thread_id="t", keys=["b"])
    clock.forward(29)
    assert claim(jobs) is None
    clock.forward(1)
    job = claim(jobs)
    assert job is not None
    assert job.payload == {"namespace": list(PLACE), "thread_id": "t"}
    assert jobs.leases.finish(job, "null")
    for _ in range(100):
        queue.submit(PLACE, thread_id="t")
        if (found := claim(jobs)) is not None:
            break
        clock.forward(20)
    assert found is not None
    assert clock.us - 1_800_000_000_000_000 == (29 + 30 + 600) * 1_000_000


@pytest.mark.sqlite("locks a file")
def test_turns_that_could_not_be_queued_are_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """On an event loop nobody waits for the queue: where the file cannot be written, the log says so,
    of queue and executor, and the next turns are queued."""
    config = load_config()
    database = config.database.model_copy(update={"busy_timeout_ms": 10})
    config = config.model_copy(update={"database": database})
    path = tmp_path / "locked.db"
    other = apsw.Connection(str(path))
    other.set_busy_timeout(10_000)

    async def submit(queue: Any) -> None:
        queue.submit(PLACE, thread_id="t", keys=[])

    with MemoryStore(path, index=False, config=config) as store:
        executor = LocalReflectionExecutor(lambda _: None, store, name="executor", lanes=0)
        for queue in (TurnQueue(store, kind="queue"), executor):
            other.execute("BEGIN IMMEDIATE")
            asyncio.run(submit(queue))
            store._core.workers.later(lambda connection: None).exception(10)
            other.execute("ROLLBACK")
            asyncio.run(submit(queue))
            store._core.workers.later(lambda connection: None).result(10)
        assert [job.kind for job in store.jobs.listed()] == ["queue", "executor"]
        executor.shutdown()
    assert caplog.text.count("turns_not_queued error=BusyError") == 2
    other.close()


def test_the_configuration_says_when_and_how_often(tmp_path: Path, clock: Clock) -> None:
    """Section ``reflection`` of the store's configuration is what queue and executor go by where
    the application says nothing."""
    settings = {"debounce_seconds": 5, "max_debounce_seconds": 8, "max_attempts": 1}
    config = Config.model_validate({"reflection": settings})
    with MemoryStore(tmp_path / "configured.db", config=config) as store:
        queue = TurnQueue(store, kind="test")
        queue._jobs = jobs = store.jobs
        jobs.clock = clock
        queue.submit(PLACE, thread_id="t")
        clock.forward(4)
        queue.submit(PLACE, thread_id="t")
        [job] = jobs.listed(["pending"])
        assert job.due_at.timestamp() == clock.us / 1e6 + 4

        def fail(payload: Any) -> None:
            raise OSError("away")

        with LocalReflectionExecutor(fail, store) as executor:
            future = executor.submit(PLACE, thread_id="u")
            [_, waiting] = sorted(store.jobs.listed(["pending"]), key=lambda one: one.id)
            assert waiting.due_at - waiting.created_at == timedelta(seconds=5)
            assert future.cancel()
            with pytest.raises(OSError, match="away"):  # its only attempt
                executor.submit({}, thread_id=None).result(30)


def test_one_job_of_a_lane_at_a_time(jobs: Jobs) -> None:
    """While a job runs, others of its lock wait; other locks do not."""
    first, second, other = add(jobs), add(jobs), add(jobs, lock="b")
    one, two = claim(jobs), claim(jobs)
    assert one is not None
    assert two is not None
    assert (one.id, two.id) == (first, other)
    assert claim(jobs) is None
    jobs.leases.finish(one, "null")
    three = claim(jobs)
    assert three is not None
    assert three.id == second


@pytest.mark.sqlite("counts SQLite's instructions")
def test_the_next_job_costs_the_same_however_many_wait(jobs: Jobs, store: MemoryStore) -> None:
    """Thousands of conversations that are due are not sorted for the sake of the first."""
    steps: list[int] = []

    def cost(waiting: int) -> int:
        rows = ((f"lane {n}", n) for n in range(waiting))
        with store._core.engine.write() as connection:
            connection.executemany(
                "INSERT INTO job (kind, lane, payload, created_at, due_at) "
                "VALUES ('test', ?, '{}', 1, ?)", rows,
            )  # fmt: skip
            steps.clear()
            connection.set_progress_handler(lambda: steps.append(1) or False, 10)
            try:
                assert claimable(connection, "test", 1_000_000, 1_000_000)
            finally:
                connection.set_progress_handler(None)
        return len(steps)

    few = cost(10)
    assert cost(2_000) <= few + 1


def test_a_job_that_cannot_be_read_holds_up_no_other(jobs: Jobs, store: MemoryStore) -> None:
    """It is given up with a reason and can be listed, and the next one is done."""
    broken, good = add(jobs), add(jobs)
    with store._core.engine.write() as connection:
        connection.execute("UPDATE job SET payload = '{oops' WHERE id = ?", (broken,))
    done: list[int] = []
    Worker(jobs, lambda job: done.append(job.id), kind="test").run_due()
    assert done == [good]
    [dead] = jobs.listed()
    assert (dead.id, dead.state, dead.error) == (
        broken, "dead", "UnreadableJob: what it was to do is no JSON",
    )  # fmt: skip


class _Detached:
    """As a row of a database whose session is over."""

    def __repr__(self) -> str:
        raise RuntimeError("the session is over")


def test_work_whose_result_cannot_be_kept_is_not_done_again(jobs: Jobs) -> None:
    """An error in the result's own code does not fail the work: the job is done, its result
    null."""
    job = add(jobs)
    assert Worker(jobs, lambda job: _Detached(), kind="test").run_due() == 1
    [found] = jobs.find([job])
    assert (found.state, found.result) == ("done", None)


def test_a_job_for_which_there_is_no_thread_is_given_back(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a process may start no more threads the job waits, and the worker looks again."""
    job = add(jobs)
    begin = threading.Thread.start
    refused: list[str] = []

    def start(thread: threading.Thread) -> None:
        if thread.name.startswith("langmemory-job") and not refused:
            refused.append(state(jobs, job))
            raise RuntimeError("can't start new thread")
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    done = threading.Event()
    options = WorkOptions(poll_seconds=0.02)
    worker = Worker(jobs, lambda job: done.set(), kind="test", options=options)
    worker.start()
    assert done.wait(10)
    assert worker.stop()
    assert refused == ["running"]
    [found] = jobs.find([job])
    assert (found.state, found.attempts) == ("done", 1)


def test_a_lost_lease_is_taken_over_and_the_loser_has_no_say(jobs: Jobs, clock: Clock) -> None:
    """A job whose worker is silent goes to the next one; a renewed lease holds, and what the former
    worker says afterwards changes nothing."""
    job = add(jobs)
    slow = claim(jobs, "slow")
    assert slow is not None
    clock.forward(59)
    assert jobs.leases.renew([slow], LEASE_US) == []
    clock.forward(59)
    assert claim(jobs, "other") is None
    clock.forward(1)
    other = claim(jobs, "other")
    assert other is not None
    assert (other.id, other.attempts) == (job, 2)
    assert jobs.leases.renew([slow], LEASE_US) == [slow]
    assert not jobs.leases.finish(slow, '"slow"')
    assert jobs.leases.fail(slow, "late", None) is None
    jobs.leases.release([slow])
    assert state(jobs, job) == "running"
    assert jobs.leases.finish(other, '"other"')
    assert jobs.find([job])[0].result == "other"


def test_a_lease_begins_when_the_lock_is_had(jobs: Jobs, clock: Clock) -> None:
    """A worker that waited for the file for longer than a lease has the whole lease all the same."""
    add(jobs)
    asked = 0

    def later() -> int:
        nonlocal asked
        asked += 1
        if asked == 2:  # it was claimable, and then another process wrote for so long
            clock.forward(90)
        return clock()

    jobs.clock = later
    assert claim(jobs, "waited") is not None
    jobs.clock = clock
    clock.forward(59)
    assert claim(jobs, "other") is None


def test_a_job_that_kills_its_workers_is_buried(jobs: Jobs, clock: Clock) -> None:
    """A job nobody lives to finish is given up after the last attempt, with the reason."""
    job = add(jobs)
    for _ in range(3):
        assert claim(jobs) is not None
        clock.forward(61)
    assert claim(jobs) is None
    found = jobs.find([job])[0]
    assert found.state == "dead"
    assert found.error == "WorkerLost: no worker lived to finish it in 3 attempts"


def test_failures_are_retried_with_growing_delays_and_then_kept(jobs: Jobs, clock: Clock) -> None:
    """15, 30, 60 … seconds and a jitter between attempts, at most the longest; then the job is dead
    with its reason, and a retry begins as new."""
    options = WorkOptions(max_attempts=5, retry_max_seconds=100, jitter=0.1)
    begun: list[int] = []

    def perform(job: Job) -> str:
        begun.append(clock.us)
        if len(begun) <= 5:
            raise ModelUnavailableError("no answer")
        return "fine"

    worker = Worker(jobs, perform, kind="test", options=options, chance=lambda: 1.0)
    job = add(jobs)
    while state(jobs, job) == "pending":
        worker.run_due()
        clock.forward(0.5)
    delays = [(after - before) / 1e6 for before, after in pairwise(begun)]
    assert delays == [16.5, 33, 66, 110]
    found = jobs.find([job])[0]
    assert (found.state, found.attempts) == ("dead", 5)
    assert found.error == "ModelUnavailableError: no answer"
    assert worker.run_due() == 0
    assert jobs.retry() == [job]
    assert worker.run_due() == 1
    found = jobs.find([job])[0]
    assert (found.state, found.attempts, found.result, found.error) == ("done", 1, "fine", None)
    assert options.retry_delay_us(2, 0.0) == 27_000_000


SECRET = "Anna's diary"


def test_hopeless_errors_are_not_repeated_and_no_error_quotes_memory(jobs: Jobs) -> None:
    """A wrong setting or program is dead at once; a stale plan, a time-out or a strange error is
    tried again. What foreign errors say is not written down, only what they are and where."""
    outcomes: list[tuple[type[BaseException], JobState]] = [
        (ConfigError, "dead"),
        (TypeError, "dead"),
        (StalePlanError, "pending"),
        (TimeoutError, "pending"),
        (ValueError, "pending"),
        (GeneratorExit, "pending"),
        (SystemExit, "pending"),
    ]
    raised: list[BaseException] = []

    def perform(job: Job) -> None:
        raise raised[-1]

    worker = Worker(jobs, perform, kind="test")
    for kind, expected in outcomes:
        raised.append(kind("our own words" if issubclass(kind, ConfigError) else SECRET))
        job = add(jobs, lock=kind.__name__)
        worker.run_due()
        found = jobs.find([job])[0]
        assert found.state == expected
        assert found.error is not None
        assert found.error.startswith(kind.__name__)
        if kind not in (ConfigError, StalePlanError):
            assert SECRET not in found.error
            assert "perform, line" in found.error


def test_a_broken_off_job_is_recorded_before_the_worker_ends(jobs: Jobs) -> None:
    """Ctrl-C ends a worker that works in the main thread, and its job waits for another attempt
    instead of for the end of its lease."""

    def perform(job: Job) -> None:
        raise KeyboardInterrupt

    job = add(jobs)
    with pytest.raises(KeyboardInterrupt):
        Worker(jobs, perform, kind="test").run_due()
    assert jobs.find([job])[0].state == "pending"


def test_a_failure_gives_way_to_a_newer_job_of_its_thread(jobs: Jobs) -> None:
    """Instead of a retry beside it, the newer one alone goes on."""

    def perform(job: Job) -> None:
        if not newer:
            newer.append(add(jobs, thread="t", wait_seconds=5))
        raise TimeoutError

    newer: list[int] = []
    job = add(jobs, thread="t")
    Worker(jobs, perform, kind="test").run_due()
    assert state(jobs, job) == "replaced"
    assert state(jobs, newer[0]) == "pending"


@pytest.mark.parametrize("brings", [{}, {"messages": ["Hello."]}])
def test_a_dead_job_gives_way_to_what_read_its_turns(jobs: Jobs, brings: dict[str, Any]) -> None:
    """Who is told of work that was given up is not told of turns that a later job has read; what a job
    brings along itself, no other has read."""
    turns = {"namespace": ["a"], "thread_id": "t"}

    def begun(more: dict[str, Any]) -> Job:
        new = NewJob(kind="test", lock="a", thread="t", payload={**turns, **more}, config={})
        jobs.enqueue(new, lambda _: None).result(10)
        job = claim(jobs)
        assert job is not None
        return job

    dead = begun(brings)
    jobs.leases.fail(dead, "ModelUnavailableError: gone", None)
    jobs.leases.finish(begun({}), "{}")
    assert state(jobs, dead.id) == ("dead" if brings else "replaced")


def test_what_is_over_is_forgotten_and_what_is_dead_is_kept(jobs: Jobs, clock: Clock) -> None:
    """Done and replaced jobs go after their days, and lose their payload at once; dead ones stay."""
    done, replaced = add(jobs), add(jobs, lock="b", thread="t", wait_seconds=9)
    add(jobs, lock="b", thread="t", wait_seconds=9)
    job = claim(jobs)
    assert job is not None
    assert job.id == done
    jobs.leases.finish(job, '"x"')
    assert [found.payload for found in jobs.find([done, replaced])] == [{}, {}]
    dead = add(jobs)
    job = claim(jobs)
    assert job is not None
    jobs.leases.fail(job, "TypeError", None)
    clock.forward(86_400)
    assert jobs.leases.tidy(2 * 86_400_000_000) == 0
    clock.forward(2 * 86_400)
    assert jobs.leases.tidy(2 * 86_400_000_000) == 2
    assert state(jobs, dead) == "dead"
    assert jobs.find([dead])[0].payload == {"n": 1}
    assert jobs.drop([dead, done]) == [dead]


def test_a_clock_that_was_wrong_for_a_while_puts_nothing_off(jobs: Jobs, clock: Clock) -> None:
    """Jobs from a time when the clock ran years ahead wait for minutes once it is right again; jobs
    that shall wait for years do."""
    later = add(jobs, lock="later", wait_seconds=10 * 365 * 86_400)
    failed = add(jobs, lock="failed")
    clock.forward(5 * 365 * 86_400)
    job = claim(jobs)
    assert job is not None
    assert job.id == failed
    jobs.leases.fail(job, "TimeoutError", clock() + 120_000_000)
    claimed = add(jobs, lock="claimed")
    assert claim(jobs, "dies") is not None
    waiting = add(jobs, lock="waiting", wait_seconds=300)
    clock.forward(-5 * 365 * 86_400)
    assert claim(jobs) is None
    jobs.leases.tidy(86_400_000_000)
    due = {job.id: job.due_at.timestamp() - clock() / 1e6 for job in jobs.listed(("pending",))}
    assert due == {later: 10 * 365 * 86_400, failed: 60, waiting: 300}
    clock.forward(86_400)
    taken = [claim(jobs, str(n)) for n in range(4)]
    assert [job and job.id for job in taken] == [failed, waiting, claimed, None]


@pytest.mark.parametrize(
    "options",
    [
        {"max_attempts": 0},
        {"lease_seconds": -1},
        {"lease_seconds": float("inf")},
        {"poll_seconds": float("nan")},
        {"jitter": 2},
        {"debounce_seconds": float("nan")},
        {"max_debounce_seconds": float("inf")},
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    """The message names the option and its value."""
    kind = (
        Debounce if options.keys() <= {"debounce_seconds", "max_debounce_seconds"} else WorkOptions
    )
    with pytest.raises(ConfigError, match=next(iter(options))):
        kind(**options)


def test_options_that_are_very_long_work(jobs: Jobs) -> None:
    """A job may be kept for longer than there are years, and tried more often than anybody counts."""
    options = WorkOptions(max_attempts=100_000, retention_days=3e9)
    assert jobs.leases.tidy(round(options.retention_days * 86_400_000_000)) == 0
    assert options.retry_delay_us(5_000, 0.5) == 3_600_000_000
