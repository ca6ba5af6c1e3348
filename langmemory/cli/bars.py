"""How far a long command has come: bars on stderr, at a terminal only, gone when it is done."""

from __future__ import annotations

from rich.progress import MofNCompleteColumn, Progress, ProgressColumn, TimeRemainingColumn

from langmemory.cli.screen import Screen


def bars_on_stderr(*columns: str | ProgressColumn) -> Progress:
    """Bars with these columns, or with how much is done and how long the rest takes."""
    screen = Screen(stderr=True)
    return Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)


def counting_bars() -> Progress:
    """Bars of what is counted: how many of how many."""
    shown = Progress.get_default_columns()[:2]
    return bars_on_stderr(*shown, MofNCompleteColumn(), TimeRemainingColumn())
