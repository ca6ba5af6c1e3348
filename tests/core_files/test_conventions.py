"""Which files of a folder agents read, by the conventions of several programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from langmemory.core_files import files_for
from langmemory.core_files.conventions import imports_of
from langmemory.errors import ConfigError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def project(home: Path) -> Path:
    """A repository with files of all conventions, and a folder within it."""
    texts = {
        ".claude/CLAUDE.md": "mine",
        ".codex/AGENTS.md": "mine",
        ".deepagents/AGENTS.md": "mine",
        "shop/.git/HEAD": "",
        "shop/AGENTS.md": "rules",
        "shop/CLAUDE.md": "See @AGENTS.md, @docs/style.md and `@docs/not.md`. Ask @maria. @~/private.md",
        "shop/CLAUDE.local.md": "local",
        "shop/docs/style.md": "style, @../CLAUDE.md",
        "shop/docs/not.md": "no",
        "shop/pay/AGENTS.md": "",
        "shop/pay/AGENTS.override.md": "instead",
        "shop/SOUL.md": "soul",
        "shop/USER.md": "user",
        "shop/HEARTBEAT.md": "look at the mail",
        "private.md": "private",
    }
    for name, text in texts.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return home / "shop"


def told(folder: Path, convention: str, home: Path) -> dict[str, str]:
    found = files_for(folder, convention, home=home)  # type: ignore[arg-type]
    return {one.label: one.path.relative_to(home).as_posix() for one in found.files}


def test_the_files_of_a_workspace(project: Path, home: Path) -> None:
    """Those of the folder itself; SOUL.md and USER.md are the blocks that everybody has."""
    assert told(project, "workspace", home) == {
        "agents": "shop/AGENTS.md",
        "claude": "shop/CLAUDE.md",
        "persona": "shop/SOUL.md",
        "human": "shop/USER.md",
        "heartbeat": "shop/HEARTBEAT.md",
    }


def test_claude_code_reads_upwards_and_follows_imports(project: Path, home: Path) -> None:
    """The home's, then from above down to the folder, each followed by its imports, once; none in code, none
    out of the project, which is noted."""
    assert told(project / "pay", "claude", home) == {
        "claude-user": ".claude/CLAUDE.md",
        "claude": "shop/CLAUDE.md",
        "agents": "shop/AGENTS.md",
        "style": "shop/docs/style.md",
        "claude-local": "shop/CLAUDE.local.md",
    }
    [note] = files_for(project / "pay", "claude", home=home).notes
    assert "~/private.md, which is outside" in note


def test_codex_reads_one_file_a_folder_down_from_the_root(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The override goes first; what does not fit into 32 KiB is noted."""
    monkeypatch.delenv("CODEX_HOME", raising=False)
    assert told(project / "pay", "codex", home) == {
        "agents-user": ".codex/AGENTS.md",
        "agents": "shop/AGENTS.md",
        "agents-pay": "shop/pay/AGENTS.override.md",
    }
    (project / "AGENTS.md").write_text("x" * 40_000, "utf-8")
    [note] = files_for(project / "pay", "codex", home=home).notes
    assert "32,768" in note


def test_deepagents_reads_home_and_folder(project: Path, home: Path) -> None:
    """Its default sources."""
    assert told(project, "deepagents", home) == {"agents-user": ".deepagents/AGENTS.md"}


def test_imports_are_paths_outside_of_code() -> None:
    """An address of mail is none, nor what stands in a span or a fence of code."""
    text = "@a.md and (@docs/b.md), `@c.md`, me@d.md\n```\n@e.md\n```\n@~/f.md."
    assert imports_of(text) == ["a.md", "docs/b.md", "~/f.md"]


def test_no_folder_is_told(tmp_path: Path) -> None:
    """The error names what was given."""
    with pytest.raises(ConfigError, match="no folder"):
        files_for(tmp_path / "nowhere")
