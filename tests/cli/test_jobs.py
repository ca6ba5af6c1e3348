"""`langmemory jobs`: what waits, what was given up, and how it goes on. `worker` needs a graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.errors import ModelUnavailableError
from langmemory.reflection import Debounce, TurnQueue, Worker, WorkOptions
from langmemory.types import Job
from tests.cli.place import Run


@pytest.fixture
def queued(run: Run, tmp_path: Path) -> Run:
    """A job that was given up, and one that waits."""

    def perform(job: Job) -> None:
        raise ModelUnavailableError("http://127.0.0.1:9 does not answer")

    with MemoryStore(tmp_path / "memory.db") as store:
        for quiet, thread in ((0, "monday"), (86_400 * 3, "tuesday")):
            queue = TurnQueue(
                store, debounce=Debounce(debounce_seconds=quiet, max_debounce_seconds=1e6)
            )
            queue.submit(("memories", "me"), thread_id=thread)
        options = WorkOptions(max_attempts=1)
        Worker(store.jobs, perform, kind="reflection", options=options).run_due()
    return run


def test_the_queue_reads_well(queued: Run) -> None:
    """Both jobs are shown: what, where, when, how often tried and why it failed."""
    shown = " ".join(queued("jobs").stdout.split())
    for words in ("memories/me", "monday", "tuesday", "given up", "waiting", "in 3 d", "1 waiting"):
        assert words in shown
    assert "ModelUnavailableError:" in shown
    rows = json.loads(queued("jobs", "--json").stdout)
    assert [(row["thread"], row["state"], row["attempts"]) for row in rows] == [
        ("tuesday", "pending", 0),
        ("monday", "dead", 1),
    ]
    assert "payload" not in rows[0]


def test_ids_stay_whole_in_a_narrow_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads named by UUIDs, as LangGraph's server names them, squeeze no number of a job."""
    monkeypatch.setenv("COLUMNS", "80")
    thread = "01a2008e-ce07-70a8-9c55-e1b39db9b91a"
    with MemoryStore(tmp_path / "memory.db") as store:
        TurnQueue(store).submit(("memories", "anna-lena"), thread_id=thread)
    shown = run("jobs").stdout
    head, *lines, _ = shown.splitlines()
    assert lines[0].startswith("  1  waiting  reflection  ")
    column = slice(head.index("thread"), head.index("thread") + 18)
    assert "".join(line[column].split()[0] for line in lines) == thread


def test_what_was_given_up_is_tried_again_or_deleted(queued: Run) -> None:
    """By number or all at once; what cannot be is said on one line."""
    dead = json.loads(queued("jobs", "--json").stdout)[1]["id"]
    refused = queued("jobs", "--retry", str(dead + 1))
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1
    assert "1 to be tried again" in queued("jobs", "--retry", str(dead)).stdout
    assert "0 to be tried again" in queued("jobs", "--retry", "all").stdout
    assert json.loads(queued("jobs", "--retry", "all", "--json").stdout) == {"retried": []}
    assert queued("jobs", "--drop", str(dead)).exit_code == 0
    assert "no job" in queued("jobs", "--drop", str(dead)).stderr
    assert "give the number" in queued("jobs", "--retry", "x").stderr
    assert len(json.loads(queued("jobs", "--json").stdout)) == 1


def test_stats_and_doctor_mention_what_was_given_up(queued: Run) -> None:
    """Whoever looks at the file learns that somebody has to look at the queue."""
    assert "1 waiting, 1 given up" in queued("stats").stdout
    assert json.loads(queued("stats", "--json").stdout)["jobs"] == {"dead": 1, "pending": 1}
    assert "langmemory jobs" in queued("doctor").stdout


def test_an_empty_queue_is_no_error(run: Run, tmp_path: Path) -> None:
    """It says that nothing waits; without a file, which file is missing."""
    assert "does not exist" in run("jobs").stderr
    MemoryStore(tmp_path / "memory.db").close()
    assert run("jobs").stdout == "Nothing waits; 0 done lately\n"
    assert run("jobs", "--json").stdout == "[]\n"
    assert run("jobs", "-k", "9" * 30, "--json").stdout == "[]\n"
