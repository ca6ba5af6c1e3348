"""`langmemory maintain`, `search --archive`, `restore`, `stats` and `doctor` on what has moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langmemory.stores import MemoryStore
from tests.cli.place import Run

ME = ("memories", "me")


@pytest.mark.sqlite("moves memories into an archive file; a server keeps them")
def test_a_moved_memory_is_found_and_restored(run: Run, tmp_path: Path) -> None:
    """A night moves what was archived; a search with `--archive` shows it, `restore` brings it back, and
    `undo` takes that back."""
    with MemoryStore(tmp_path / "memory.db") as store:
        for key, said in (("tea", "I like green tea"), ("cello", "I play the cello")):
            store.put(ME, key, {"text": said})
        store.changes.archive(ME, "tea", reason="long ago")
    settings = Path("config/memory.json")
    settings.parent.mkdir()
    settings.write_text(json.dumps({"lifecycle": {"archive_after_days": 0}}))
    result = run("maintain", "--task", "archive")
    assert result.exit_code == 0, result.output
    assert "moved to the archive file" in result.output
    assert "green tea" not in run("search", "green tea").output
    assert "green tea" in run("search", "--archive", "green tea").output
    assert "1 memory" in run("stats").output
    checks = {one["what"]: one for one in json.loads(run("doctor", "--json").output)}
    assert checks["archive"]["state"] == "ok"
    assert [one["action"] for one in json.loads(run("history", "tea", "--json").output)] == [
        "add",
        "archive",
    ]
    done = json.loads(run("restore", "tea", "--json").output)
    assert "green tea" in run("search", "green tea").output
    assert run("restore", "tea").exit_code == 1
    assert run("undo", done["run_id"]).exit_code == 0
    assert "green tea" not in run("search", "green tea").output
