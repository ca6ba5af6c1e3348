"""The plugin for Claude Code has what its hooks in settings have, and runs what the package installs."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from langmemory.parts.coding.programs import PROGRAMS
from scripts import plugin


def test_the_plugin_derives_from_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hooks are the adapter's events by a script of the package; a page without a description is
    refused."""
    monkeypatch.setenv("PATH", "")  # without Claude Code
    folder = plugin.build(tmp_path / "plugin")
    plugin.check(folder)
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    program = PROGRAMS["claude-code"]
    assert hooks.keys() == program.events.keys()
    scripts = tomllib.loads((plugin.ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "scripts"
    ]
    for event, [group] in hooks.items():
        [hook] = group["hooks"]
        assert program.is_ours(hook["command"])
        assert hook["command"].split()[0] in scripts
        assert hook["command"].split()[-1] == event
    (folder / "commands" / "recall.md").write_text("no front matter")
    with pytest.raises(SystemExit, match=r"recall\.md has no description"):
        plugin.check(folder)
