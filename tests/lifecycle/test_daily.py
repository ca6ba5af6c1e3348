"""A night once a day, and nights that are interrupted."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from langmemory.cli.app import app
from langmemory.errors import MaintenanceBusyError
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.lifecycle.policies import PolicyOptions
from langmemory.maintenance import tasks
from langmemory.maintenance.daily import Daily, next_time
from langmemory.maintenance.night import Night
from langmemory.maintenance.report import TaskReport
from langmemory.operations.maintaining import Maintaining
from langmemory.stores import MemoryStore
from tests.children import ended
from tests.lifecycle.test_nights import ADA, NOW, cite, learn, lines
from tests.places import address

AT = time(3)
FOUND = {"night": "n", "reports": [{"task": "demote", "error": None, "lines": []}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(path) as opened:
        yield opened


def night(store: MemoryStore, hours: float = 0, **options: Any) -> dict[str, Any]:
    """Return the outcome of a night so long after `NOW`."""
    graph = build_maintenance_graph(store, now=lambda: NOW + timedelta(hours=hours), **options)
    found: dict[str, Any] = graph.invoke({})
    return found


class Clock:
    """Shows these local times, one after the other, and stops `Daily` at the last."""

    def __init__(self, *shown: str) -> None:
        self.shown = [datetime.fromisoformat(one) for one in shown]
        self.daily: Daily | None = None

    def __call__(self) -> datetime:
        if len(self.shown) == 1 and self.daily is not None:
            self.daily.stop(grace_seconds=0)
        return self.shown.pop(0) if len(self.shown) > 1 else self.shown[0]


def run_by(clock: Clock, perform: Any, last: Any = None) -> Daily:
    """Run `Daily` by a clock until that has shown all its times."""
    daily = Daily(perform, AT, last=lambda: last, clock=clock)
    clock.daily = daily
    daily._work()
    return daily


def test_the_next_time_is_today_or_tomorrow() -> None:
    """Before three it is today at three, from three on tomorrow."""
    assert next_time(datetime(2026, 3, 1, 2, 59), AT) == datetime(2026, 3, 1, 3)
    assert next_time(datetime(2026, 3, 1, 3), AT) == datetime(2026, 3, 2, 3)


def test_a_night_runs_once_a_day() -> None:
    """Two days that pass three o'clock are two nights, and the start of the process is none."""
    ran: list[int] = []
    clock = Clock(
        "2026-03-01T02:59:59.99", "2026-03-01T03:00", "2026-03-01T03:05", "2026-03-02T03:00",
        "2026-03-02T03:01", "2026-03-02T03:02",
    )  # fmt: skip
    run_by(clock, lambda: ran.append(1) or FOUND)
    assert len(ran) == 2


def test_a_night_that_another_process_has_run_is_not_run_again() -> None:
    """Where the file notes a night since three o'clock, there is none."""
    noted = {"finished": True, "at": int(datetime(2026, 3, 1, 3, 0, 1).timestamp() * 1_000_000)}
    clock = Clock("2026-03-01T02:59", "2026-03-01T03:01", "2026-03-01T03:02", "2026-03-01T03:03")
    run_by(clock, lambda: pytest.fail("a night was run"), noted)


def test_an_interrupted_night_goes_on_at_once() -> None:
    """A process that starts finds the night that the one before it left, and finishes it."""
    ran: list[int] = []
    clock = Clock("2026-03-01T12:00", "2026-03-01T12:00", "2026-03-01T12:01", "2026-03-01T12:01")
    run_by(clock, lambda: ran.append(1) or FOUND, {"finished": False, "at": 0})
    assert ran == [1]


def test_a_failure_is_logged_and_survived(caplog: pytest.LogCaptureFixture) -> None:
    """A night that fails is counted and told without memory text, and the next day has another one."""
    caplog.set_level(logging.INFO, "langmemory.maintenance")
    outcomes = iter([KeyError("walnuts"), FOUND])

    def perform() -> Any:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    clock = Clock(
        "2026-03-01T02:59:59.99", "2026-03-01T03:00", "2026-03-01T03:05", "2026-03-02T03:00",
        "2026-03-02T03:01", "2026-03-02T03:02",
    )  # fmt: skip
    assert run_by(clock, perform).failed == 1
    assert "A night failed" in caplog.text
    assert "Night n: 0 changes" in caplog.text
    assert "walnuts" not in caplog.text


def test_where_another_process_maintains_the_night_is_left_out(
    caplog: pytest.LogCaptureFixture, store: MemoryStore
) -> None:
    """A process that finds the lease taken says so and fails nothing."""
    Maintaining(store).take_lease("elsewhere:1", 60)
    daily = Daily(lambda: night(store), AT, last=lambda: None)
    daily.run()
    assert daily.failed == 0
    assert "being maintained by elsewhere:1" in caplog.text


def test_the_lease_of_a_process_that_ended_is_free(store: MemoryStore) -> None:
    """A lease that a killed process of this machine holds keeps nobody out."""
    child = subprocess.run(
        [
            sys.executable,
            "-c",
            "from langmemory.operations.maintaining import this_process as me; print(me())",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    machine, _, pid = child.stdout.strip().rpartition(":")
    Maintaining(store).take_lease(f"{machine}0:{pid}", 600)
    with pytest.raises(MaintenanceBusyError):  # another container of this host name numbers its own
        night(store)
    Maintaining(store).give_back_lease(f"{machine}0:{pid}")
    Maintaining(store).take_lease(child.stdout.strip(), 600)
    assert night(store)["night"]


KILLED = """
import os, sys
from pathlib import Path
from langmemory.stores import MemoryStore
from langmemory.maintenance import tasks
from tests.lifecycle.test_daily import FEW, night

def killed(night, report):
    done["demote"](night, report)
    os.kill(os.getpid(), 9)

done = dict(tasks.TASKS)
tasks.TASKS["demote"] = killed
with MemoryStore(sys.argv[1]) as store:
    night(store, policies=FEW)
"""
FEW = PolicyOptions(most_at_once=0.5)


@pytest.mark.thorough
def test_a_killed_night_goes_on(path: Path, store: MemoryStore) -> None:
    """After SIGKILL in a task the night goes on under its id: what was done is not done again, the cap of a
    night holds over both parts, and undo takes back both."""
    learn(store, 9)
    [used] = learn(store, 1, days=2)
    cite(store, used, 12)
    store.close()
    assert ended(KILLED, address(path)) == -9
    with MemoryStore(path) as again:
        first = {run.id for run in again.lifecycle.nights()[0].runs}
        found = night(again, hours=1, policies=FEW)
        assert lines(found, "promote") == []
        [told] = [one["refused"] for one in found["reports"] if one["task"] == "promote"]
        assert told == ["done before the night was interrupted"]
        assert lines(found, "demote") == [], "half of ten were demoted before the end"
        [only] = again.lifecycle.nights()
        assert only.id == found["night"]
        assert first == {run.id for run in only.runs if "/summarise/" not in run.id}
        with Maintaining(again).view(ADA) as view:
            assert sum(one == "archive" for one in view.aged().priority) == 5
        assert night(again, hours=2, policies=FEW)["night"] != found["night"], "it is finished"


def test_an_old_interrupted_night_is_left(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a day later it is not gone on with: all tasks run again in a night of their own."""

    def interrupted(night: Night, report: TaskReport) -> None:
        raise MaintenanceBusyError("Another process has taken the lease.")

    monkeypatch.setitem(tasks.TASKS, "promote", interrupted)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(MaintenanceBusyError):
            night(store)
    left = Maintaining(store).last_night() or {}
    assert left["done"]
    monkeypatch.undo()
    assert night(store, hours=13)["night"] != left["id"]


def test_the_worker_maintains_once(
    path: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`langmemory worker --once --maintain 03:00` reflects what waits, then runs a night, and ends."""
    monkeypatch.setattr("langmemory.cli.worker._logged_to_stderr", nullcontext)
    result = CliRunner().invoke(
        app, ["--db", address(path), "worker", "--once", "--maintain", "03:00"]
    )
    assert result.exit_code == 0, result.output
    assert (Maintaining(store).last_night() or {})["finished"] is True
    wrong = CliRunner().invoke(app, ["--db", address(path), "worker", "--maintain", "3 am"])
    assert "write it as 03:00" in wrong.output


def test_a_budget_of_calls_or_tokens_ends_in_order(store: MemoryStore) -> None:
    """Where the calls or tokens of a task are spent, the model is not asked and the report says so."""
    one = Night(store=store, model=object())  # type: ignore[arg-type]
    report = one.begin("consolidate")
    assert one.may_ask(report)
    report.model_calls = one.config.task_model_calls
    assert not one.may_ask(report)
    assert report.unfinished
    many = one.begin("consolidate")
    one.counter.usage["m"] = {"input_tokens": 150_000, "output_tokens": 50_000}
    assert not one.may_ask(many)
    assert (many.tokens, many.unfinished) == (200_000, True)
    assert not Night(store=store).may_ask(report)
