"""`langmemory call`: the declared operations on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from langmemory.cli.app import app
from langmemory.stores import MemoryStore

TEAM = ("team", "shop")


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A memory file with a task of a team."""
    path = str(tmp_path / "m.db")
    with MemoryStore(path) as store:
        store.swarm(TEAM, agent="planner").add_task("Ship", requires=["artifact:API"])
    return path


def run(file: str, *words: str, namespace: str = "team/shop") -> Result:
    """Return what a command printed and how it ended."""
    return CliRunner().invoke(app, ["--db", file, "-n", namespace, "call", *words])


def test_an_answer_is_a_table_names_and_values_or_json(file: str) -> None:
    """A list is a table, one thing its fields, and ``--json`` is the form that the server sends."""
    assert "Ship" in run(file, "swarm", "tasks").stdout
    shown = run(
        file, "swarm", "update-task", "--task", "Ship", "--blockers", "legal", "--as", "writer"
    )
    assert "blocked" in shown.stdout
    assert "legal" in shown.stdout
    [task] = json.loads(run(file, "swarm", "tasks", "--json").stdout)
    assert (task["title"], task["blockers"], task["made_by"]) == ("Ship", ["legal"], "planner")
    assert run(file, "swarm", "tasks", "--status", "done").stdout == "There is nothing.\n"
    assert run(file, "jobs", "retry", "--ids", "1", "--json").stdout == "[]\n"


def test_a_table_shows_what_differs(file: str) -> None:
    """Columns that are the same in every row give way to the others; a value is shown by its text."""
    with MemoryStore(file) as store:
        for day in ("Monday", "Tuesday"):
            store.put(TEAM, "bins", {"text": f"Bins on {day}", "speaker": "mia"})
    heads, *rows = run(file, "pages", "history", "--key", "bins").stdout.splitlines()
    assert heads.split() == ["seq", "at", "action", "before", "after"]
    assert [row.split()[-3:] for row in rows] == [
        ["Bins", "on", "Monday"],
        ["Bins", "on", "Tuesday"],
    ]
    assert "speaker" not in "".join(rows)


def test_pages_name_the_next(file: str) -> None:
    """What follows a page is told on stderr, with the cursor."""
    first = run(file, "pages", "runs", "--limit", "1", "--json")
    assert json.loads(first.stdout)["next"] is None
    run(file, "swarm", "add-task", "--title", "Test")
    more = run(file, "pages", "runs", "--limit", "1")
    cursor = more.stderr.split("--cursor ")[1].strip()
    assert "Ship" not in run(file, "pages", "runs", "--limit", "1", "--cursor", cursor).stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("swarm", "tasks", "--limit", "0"), "--limit"),
        (("swarm", "tasks", "--status", "late"), "--status"),
        (("swarm", "task", "--task", "nothing"), "There is no task 'nothing'"),
        (("changes", "run", "--run-id", "nothing"), "There is no such run"),
        (("changes", "undo", "--run-id", "r", "--viewer", "mia"), "everybody's memory"),
        (("swarm", "fly"), "fly"),
        (("nothing",), "nothing"),
        (("swarm", "add-task"), "--title"),
    ],
)
def test_what_is_wrong_is_said(file: str, words: tuple[str, ...], says: str) -> None:
    """A wrong call ends with a line that names the value, and changes nothing."""
    done = run(file, *words)
    assert done.exit_code in (1, 2)
    assert says in done.stderr


def test_a_viewer_and_an_agent_are_kept_apart(file: str) -> None:
    """``--viewer`` is on whose behalf, ``--as`` as which agent."""
    sent = ("--summary", "secret", "--privacy", "private")
    run(file, "bus", "share", *sent, "--viewer", "mia", "--as", "a")
    assert "secret" not in run(file, "bus", "inbox", "--as", "b", "--viewer", "ben").stdout
    assert "secret" in run(file, "bus", "inbox", "--as", "b", "--viewer", "mia").stdout


def test_what_is_needed_takes_no_name_of_an_option(file: str) -> None:
    """An agent that is needed, and arguments without a default, may stand by themselves in their order;
    a word too many is refused."""
    run(file, "bus", "share", "planner", "We open in May")
    assert "We open in May" in run(file, "bus", "inbox", "anna").stdout
    run(file, "bus", "share", "We close in June", "--as", "planner")
    assert "We close in June" in run(file, "bus", "inbox", "anna").stdout
    assert "Ship" in run(file, "swarm", "task", "Ship").stdout
    refused = run(file, "swarm", "task", "Ship", "twice")
    assert refused.exit_code == 2
    assert "twice" in refused.stderr


def test_the_rooms_of_a_store_are_listed(file: str) -> None:
    """Help lists each room with what it is, and each operation with its arguments."""
    assert "swarm" in run(file, "--help").stdout
    shown = run(file, "swarm", "add-task", "--help").stdout
    assert "What is to be done" in " ".join(shown.split())
