"""The script that makes a release, in a checkout of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.release import release

CHANGES = "# Changelog\n\n## Unreleased\n\n### Added\n- Tea\n"
PASSES = [(sys.executable, "-c", "")]
FAILS = [(sys.executable, "-c", "raise SystemExit(1)")]


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b.c")
    (tmp_path / "langmemory").mkdir()
    (tmp_path / "langmemory" / "__init__.py").write_text('"""Memory."""\n__version__ = "0.1.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "First")
    return tmp_path


def test_a_release(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Version and changelog are committed and tagged, and the upload is left to a person."""
    release("0.2.0", root=root, checks=PASSES)
    assert '__version__ = "0.2.0"' in git(root, "show", "v0.2.0:langmemory/__init__.py")
    head, notes = git(root, "show", "v0.2.0:CHANGELOG.md").split("## 0.2.0 - ")
    assert head.endswith("## Unreleased\n\n")
    assert notes.endswith("### Added\n- Tea")
    assert "twine upload dist/langgraph_langmemory-0.2.0*" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"0\.1\.0 is before 0\.2\.0"):
        release("0.1.0", root=root, checks=PASSES)
    with pytest.raises(SystemExit, match="nothing under"):
        release("0.3.0", root=root, checks=PASSES)


def test_a_check_that_fails_leaves_everything_as_it_was(root: Path) -> None:
    """No commit, no tag, no change; nor is a checkout taken that has changes of its own."""
    before = git(root, "rev-parse", "HEAD")
    with pytest.raises(SystemExit, match="as it was before"):
        release("0.2.0", root=root, checks=FAILS)
    assert (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")) == (before, "")
    assert git(root, "tag") == ""
    (root / "new").write_text("")
    with pytest.raises(SystemExit, match="Commit or remove first"):
        release("0.2.0", root=root, checks=PASSES)
