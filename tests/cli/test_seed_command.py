"""`langmemory seed`: shows what would come from where, asks, fills, and says how to take it back."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.place import Run


def test_a_workspace_is_shown_asked_about_and_taken_in(run: Run, tmp_path: Path) -> None:
    """A dry run and a refusal write nothing; --yes writes, and the run it names is undone as one."""
    work = tmp_path / "work"
    (work / "notes").mkdir(parents=True)
    (work / "notes" / "me.md").write_text("My sister Ana lives in Graz.\n", "utf-8")
    (work / "bad.mbox").write_bytes(b"From a\nFrom: a@x\n\nhello\n")
    (work / "chat.txt").write_text("31.02.26, 10:00 - Ana: hi\n", "utf-8")
    shown = json.loads(run("seed", str(work), "--dry-run", "--json").stdout)
    assert [(one["kind"], one["count"]) for one in shown["sources"]] == [
        ("conversations", 1),
        ("notes", 1),
    ]
    assert "line 1: the time is" in shown["failed"]["chat.txt"]
    assert not (tmp_path / "memory.db").exists()
    assert "--yes goes on" in run("seed", str(work)).stderr
    assert not (tmp_path / "memory.db").exists()
    done = run("seed", str(work), "--yes")
    assert done.exit_code == 1  # for the damaged file
    assert "Added 0 documents, 2 messages and 2 facts to memories/me" in done.stdout
    assert "chat.txt" in done.stderr
    assert "Ana lives in Graz" in run("search", "Where does Ana live?").stdout
    undo = done.stdout.split("`langmemory undo ")[1].split("`")[0].split()[0]
    assert "remove" in run("undo", undo).stdout
    assert "Graz" not in run("search", "Where does Ana live?").stdout
    assert "no folder" in run("seed", str(work / "nowhere")).stderr
