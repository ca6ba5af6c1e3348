"""`langmemory projects …`, as it is typed."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.cli.place import Run

NEW = 2_000_000_000


def test_projects_are_kept_by_commands(run: Run, tmp_path: Path) -> None:
    """Found, registered, read, asked, changed, queued for a worker, and taken out again."""
    root = tmp_path / "work" / "heron"
    (root / "src").mkdir(parents=True)
    (root / "package.json").write_text('{"name": "heron", "description": "Tells birds apart."}')
    (root / "guide.md").write_text("# Guide\n\nThe server is `src/server.py`.\n")
    (root / "src" / "server.py").write_text("def serve():\n    pass\n")
    found = run("projects", "discover", tmp_path / "work")
    assert f"heron ({root}): Tells birds apart." in found.stdout
    added = run("projects", "add", root, "--owner", "Lena")
    assert added.exit_code == 0, added.output
    assert "heron: Tells birds apart." in added.stdout
    assert "3 added" in added.stdout
    assert run("projects", "discover", tmp_path / "work", "--json").stdout.strip() == "[]"
    os.utime(root / "src" / "server.py", (NEW, NEW))
    run("projects", "refresh")
    told = run("projects", "stale", "heron").stdout
    assert "guide.md" in told
    assert "src/server.py" in told
    assert "Does it still hold?" in run("reviews").stdout
    [listed] = json.loads(run("projects", "list", "--json").stdout)
    assert (listed["name"], listed["owner"], listed["root"]) == ("heron", "Lena", str(root))
    assert "Lena" in run("projects", "list").stdout
    assert "guide.md" in run("documents", "list", "--project", "heron").stdout
    assert run("documents", "list", "--project", "heron", "-n", "a").exit_code == 1
    run("projects", "update", "heron", "--pattern", "*.md")
    assert "1 job" in run("projects", "refresh", "heron", "--later").stdout
    assert run("worker", "--once").exit_code == 0
    paths = [
        one["path"]
        for one in json.loads(run("documents", "list", "--project", "heron", "--json").stdout)
    ]
    assert paths == ["guide.md"]
    auk = tmp_path / "auk"
    auk.mkdir()
    (auk / "auk.md").write_text("# Auk\n")
    run("projects", "add", auk)
    auk.rename(tmp_path / "elsewhere")
    (root / "new.md").write_text("# New\n")
    both = run("projects", "refresh")
    assert both.exit_code == 1
    assert "+ new.md" in both.stdout
    assert "langmemory projects update auk --root FOLDER" in both.stderr
    assert "1 removed" in run("projects", "remove", "auk").stdout
    assert "2 removed" in run("projects", "remove", "heron", "--dry-run").stdout
    assert run("projects", "remove", "heron").exit_code == 0
    assert "no project 'heron'" in run("projects", "refresh", "heron").stderr
    assert "0 projects" in run("projects", "list").stdout
