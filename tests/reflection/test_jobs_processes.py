"""Several processes on one queue: shared work, ends of programs, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.errors import ClosedStoreError
from langmemory.ports.jobs import NewJob
from langmemory.reflection import Debounce, LocalReflectionExecutor, TurnQueue
from tests.children import process_context
from tests.postgres_server import place
from tests.reflection.processes import drain
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
JOBS = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(path, index=False) as store:
        yield store


def diary(path: Path) -> list[str]:
    file = Path(f"{path}.diary")
    return file.read_text().splitlines() if file.exists() else []


def program(function: str, path: Path, *arguments: str, **environ: str) -> subprocess.Popen[str]:
    code = (
        "import sys; from pathlib import Path; from tests.reflection import processes; "
        f"path = Path(sys.argv.pop(1)); processes.{function}(path)"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path), *arguments],
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until_diary_says(path: Path, line: str) -> None:
    until(lambda: line in diary(path), f"{line!r} is not in the diary")


def remember(store: MemoryStore, *threads: str) -> None:
    queue = TurnQueue(store, debounce=Debounce(debounce_seconds=60))
    for thread in threads:
        queue.submit(("memories", "anna"), thread_id=thread)


def test_two_processes_share_the_work(store: MemoryStore, path: Path) -> None:
    """Every job is done once, by one of them, and both take part."""
    for n in range(JOBS):
        new = NewJob(kind="shared", lock=f"l{n % 7}", thread=None, payload={}, config={})
        store.jobs.enqueue(new, lambda _: None)
    context = process_context()
    names = [("left", "right"), ("right", "left")]
    children = [context.Process(target=drain, args=(path, *both)) for both in names]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    lines = [line.split() for line in diary(path)]
    assert Counter(job for _, job in lines) == dict.fromkeys(map(str, range(1, JOBS + 1)), 1)
    assert {name for name, _ in lines} == {"left", "right"}
    assert store.jobs.counts() == {"done": JOBS}


@pytest.mark.thorough
def test_the_end_of_a_program_keeps_every_job(store: MemoryStore, path: Path) -> None:
    """A program that ends without a word is not held up by a reflection under way; that one is
    given back at once, as if it had not been begun, and what waited still waits."""
    child = program("leave", path)
    _, error = child.communicate(timeout=60)
    assert (child.returncode, error) == (0, "")
    assert len(diary(path)) == 1
    waiting = store.jobs.listed(("pending", "running"))
    assert [(job.state, job.attempts) for job in waiting] == [("pending", 0)] * 3


def test_a_forked_child_is_told_to_open_its_own(store: MemoryStore) -> None:
    """It neither submits through its parent's connections nor hangs at its end."""
    executor = LocalReflectionExecutor(print, store, name="shared")

    def child() -> None:
        try:
            executor.submit({"n": 1})
        except ClosedStoreError:
            sys.exit(7)

    forked = get_context("fork").Process(target=child)
    forked.start()
    forked.join(30)
    assert forked.exitcode == 7
    assert executor.submit({"n": 1}).result(10) is None
    executor.shutdown()


def test_a_stopped_worker_finishes_what_it_began(store: MemoryStore, path: Path) -> None:
    """SIGTERM: the reflection under way is finished, the others are left for later."""
    remember(store, "a", "b")
    store.jobs.run_now("reflection")
    may_end = path.with_name("may_end")
    child = program("command_line", path, "--db", place(path), "worker", HELD=str(may_end))
    until_diary_says(path, "began a")
    child.send_signal(signal.SIGTERM)
    assert child.stderr is not None
    while "finishing what is under way" not in child.stderr.readline():
        assert child.poll() is None
    may_end.touch()
    _, error = child.communicate(timeout=60)
    assert child.returncode == 0, error
    assert diary(path) == ["began a", "ended a"]
    assert "1 waiting, 0 given up" in error
    assert "lock=memories.anna thread=a attempt=1 state=done ms=" in error


@pytest.mark.thorough
def test_a_worker_that_has_no_time_gives_back_what_it_began(store: MemoryStore, path: Path) -> None:
    """Ctrl-C without grace: nothing is lost, and the next worker need not wait for a lease."""
    remember(store, "a")
    store.jobs.run_now("reflection")
    arguments = ("--db", place(path), "worker", "--grace", "0")
    child = program("command_line", path, *arguments, HELD="never")
    until_diary_says(path, "began a")
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=60)
    assert child.returncode == 0, error
    assert "1 waiting" in error
    assert "Traceback" not in error
    again = program("command_line", path, "--db", place(path), "worker", "--once")
    _, error = again.communicate(timeout=60)
    assert again.returncode == 0, error
    assert diary(path)[-2:] == ["began a", "ended a"]


@pytest.mark.thorough
def test_once_does_all_that_waits_and_ends(store: MemoryStore, path: Path) -> None:
    """Conversations that are not quiet yet, too: nothing is left, and the exit code is 0."""
    remember(store, "a", "b", "c")
    child = program("command_line", path, "--db", place(path), "worker", "--once", "--lanes", "3")
    _, error = child.communicate(timeout=60)
    assert child.returncode == 0, error
    assert sorted(diary(path)) == [f"{did} {x}" for did in ("began", "ended") for x in "abc"]
    assert "0 waiting, 0 given up" in error


@pytest.mark.thorough
def test_once_tells_by_its_exit_code_that_something_failed(store: MemoryStore, path: Path) -> None:
    """Who runs it from cron learns of it; what did not fail is done, and the rest is tried again."""
    remember(store, "a", "b")
    arguments = ("--db", place(path), "worker", "--once")
    child = program("command_line", path, *arguments, FAILS="a")
    _, error = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "ended b" in diary(path)
    assert "1 waiting, 0 given up" in error
    assert "Traceback" not in error
