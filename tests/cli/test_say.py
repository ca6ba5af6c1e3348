"""Every line of the command line goes through the function that removes controls."""

from __future__ import annotations

from pathlib import Path

import pytest

import langmemory.cli
from langmemory.cli.terminal import say


def test_a_printed_line_holds_no_terminal_control(capsys: pytest.CaptureFixture[str]) -> None:
    """C0, C1 and bidirectional controls are left out of what is printed."""
    say("a\x1b[2J\u009b\u202eb")
    assert capsys.readouterr().out == "a[2Jb\n"


def test_every_command_prints_through_it() -> None:
    """No command prints by `typer.echo` itself, but for `graph`, which writes the bytes of a picture,
    and `vault`, which writes a secret as it is."""
    package = Path(langmemory.cli.__file__).parents[1]
    texts = {
        path.relative_to(package).as_posix(): path.read_text(encoding="utf-8")
        for path in package.rglob("*.py")
        if path.name != "terminal.py"
    }
    assert {name for name, text in texts.items() if "typer.echo(" in text} == {
        "cli/graph.py",
        "parts/vault/command.py",
    }
