"""`langmemory graph` with links, `langmemory tasks` and `langmemory decisions`."""

from __future__ import annotations

import json
from pathlib import Path

from langmemory.stores import MemoryStore
from tests.cli.place import Run

TEAM = ("team", "shop")


def test_links_at_a_terminal(run: Run, tmp_path: Path) -> None:
    """`langmemory graph` links, ends links and shows a context; doctor names a circle."""
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        store.put(TEAM, "ship", {"record": "task", "title": "Ship it", "text": "Ship it"})
        store.put(TEAM, "vat", {"text": "VAT is 21 percent"})
    place = ("-n", "team/shop", "graph")
    assert run(*place, "Ship it", "--link", "requires", "--to", "vat").stdout == (
        "item:ship -requires-> item:vat\n"
    )
    assert "| VAT is 21 percent" in run(*place, "ship", "--context").stdout
    found = json.loads(run(*place, "ship", "--context", "--budget", "1", "--json").stdout)
    assert [one["why"] for one in found["left_out"]] == ["budget"]
    run(*place, "vat", "--link", "requires", "--to", "ship")
    assert "item:ship requires item:vat requires item:ship" in run("doctor").stdout
    assert "until" in run(*place, "vat", "--unlink", "requires", "--to", "ship").stdout
    assert "in a circle" not in run("doctor").stdout
    assert run(*place, "ship", "--link", "requires").exit_code == 2
    assert run(*place, "ship", "--to", "vat").exit_code == 2


def test_tasks_and_decisions_at_a_terminal(run: Run, tmp_path: Path) -> None:
    """Tasks are set, changed and listed; decisions stand with their reasons; STATE.md is there, too."""
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        store.swarm(TEAM, agent="planner").record_decision(
            "In euros", why="customers", alternatives=["gold"]
        )
    place = ("-n", "team/shop")
    assert "open  Ship" in run(*place, "tasks", "--add", "Ship").stdout
    assert "waits for legal" in run(*place, "tasks", "Ship", "--blocker", "legal").stdout
    assert "Ship" not in run(*place, "tasks", "--status", "done").stdout
    [task] = json.loads(run(*place, "tasks", "--json").stdout)
    assert (task["title"], task["status"], task["blockers"]) == ("Ship", "blocked", ["legal"])
    shown = run(*place, "decisions").stdout
    assert "In euros" in shown
    assert "because customers" in shown
    assert "instead of gold" in shown
    assert "- ( ) Ship: blocked; waits for legal" in run(*place, "tasks", "--state").stdout
    run("journal", "--rebuild", "--path", tmp_path / "pages")
    assert "In euros" in (tmp_path / "pages" / "team" / "shop" / "STATE.md").read_text()
    assert run("tasks").exit_code == 1
    assert run(*place, "tasks", "Ship", "--status", "late").exit_code == 1
