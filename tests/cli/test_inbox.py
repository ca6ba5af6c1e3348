"""`langmemory inbox`: what agents tell each other, for a person at a terminal."""

from __future__ import annotations

import json
from pathlib import Path

from langmemory import MemoryStore
from tests.cli.place import Run

TEAM = ("team", "shop")


def test_an_inbox_is_read_and_acknowledged(run: Run, tmp_path: Path) -> None:
    """It shows from whom, to whom, what and how pressing; acknowledged, a message waits no more."""
    with MemoryStore(tmp_path / "memory.db") as store:
        bus = store.bus(TEAM, agent="planner")
        sent = bus.handoff("writer", "The prices are [red]collected", next_steps=["Write the page"],
                           priority="high", topic="prices")  # fmt: skip
    shown = run("inbox", "--agent", "writer", "-n", "team/shop").stdout
    for words in ("planner → writer", "handoff, prices, high priority", "The prices are [red]collected",
                  "1. Write the page", sent.id):  # fmt: skip
        assert words in shown
    done = run("inbox", "--agent", "writer", "-n", "team/shop", "--acknowledge", sent.id)
    assert "No message waits." in done.stdout
    assert "acknowledged" in run("inbox").stdout
    [row] = json.loads(run("inbox", "--json").stdout)
    assert (row["id"], row["state"]) == (sent.id, "acknowledged")


def test_mistakes_name_the_next_step(run: Run, tmp_path: Path) -> None:
    """A namespace or an agent that is missing, and a message that is not there, are said."""
    with MemoryStore(tmp_path / "memory.db"):
        pass
    for arguments, told in (
        (("--agent", "a"), "--namespace A/B"),
        (("--acknowledge", "x"), "--agent NAME"),
        (("--agent", "a", "-n", "t", "--acknowledge", "x"), "No message 'x' waits for a"),
    ):
        refused = run("inbox", *arguments)
        assert refused.exit_code == 1
        assert told in " ".join(refused.stderr.split())
