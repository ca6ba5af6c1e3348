"""Options of commands come from their signatures and docstrings."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.testing import CliRunner

from langmemory.cli.app import app
from langmemory.cli.target import with_target
from langmemory.cli.values import Count


def test_a_signature_and_a_docstring_make_arguments_and_options() -> None:
    """What stands before ``*`` is an argument, what stands behind it an option; the type says how a value is
    read, and the docstring what it is called and by which other flags."""
    taken: dict[str, Any] = {}

    def restore(
        key: str,
        *,
        limit: Count = 20,
        every: bool = False,
        kinds: list[str] | None = None,
        old: Annotated[int, typer.Option("--old", help="As typer has it.")] = 0,
    ) -> None:
        """Restore memories.

        Args:
            key: As `list`
                shows it.
            limit: At most so many.
            every (--all, -a): All.
            kinds (--kind, KIND): Of these.
        """
        taken.update(key=key, limit=limit, every=every, kinds=kinds, old=old)

    alone = typer.Typer(rich_markup_mode=None)
    alone.command()(with_target(restore))
    words = ["k", "--limit", "3", "-a", "--kind", "core", "--kind", "working", "--old", "2"]
    assert CliRunner().invoke(alone, words).exit_code == 0
    kinds = ["core", "working"]
    assert taken == {"key": "k", "limit": 3, "every": True, "kinds": kinds, "old": 2}
    assert "no whole number" in CliRunner().invoke(alone, ["k", "--limit", "few"]).output
    shown = " ".join(CliRunner().invoke(alone, ["--help"]).output.split())
    assert "Args" not in shown
    for said in ("Restore memories.", "As `list` shows it.", "--limit N At most so many."):
        assert said in shown
    assert "--kind KIND Of these." in shown


def test_every_option_is_described() -> None:
    """No argument and no option of any command is without its help."""

    def walk(command: Any, path: str) -> list[str]:
        found = [f"{path} {one.name}" for one in command.params if not getattr(one, "help", "")]
        for name in list(getattr(command, "commands", ())):
            found += walk(command.commands.get(name), f"{path} {name}")
        return found

    assert walk(typer.main.get_command(app), "langmemory") == []
