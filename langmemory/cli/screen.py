"""Screen: a rich console for what people and models said, which may hold anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.progress import MofNCompleteColumn, Progress, ProgressColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from langmemory.cli.terminal import printable


class Screen(Console):
    """Prints every text as it is: ``[red]`` is no colour, ``:smile:`` no picture, and an escape
    sequence no order to the terminal."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    @property
    def narrow(self) -> bool:
        """Whether results stand under each other instead of in a table."""
        from langmemory.recall.explain import NARROW

        return self.width < NARROW

    def print_rows(
        self,
        columns: Mapping[str, Mapping[str, Any]],
        rows: Iterable[tuple[Sequence[RenderableType], str, Sequence[RenderableType]]],
    ) -> None:
        """Print rows as a table; in a narrow terminal, what stands for each of them below each other.

        Each row is its cells, their style, and the lines for a narrow terminal.
        """
        table = plain_table(columns)
        for cells, style, lines in rows:
            if self.narrow:
                self.print(*lines, sep="\n", crop=False)
            else:
                table.add_row(*cells, style=style)
        if not self.narrow:
            self.print(table)

    def print_indented(self, *texts: Text) -> None:
        """Print texts below the line that they belong to, all of their lines indented by two columns."""
        for text in texts:
            text.overflow = "fold"
            self.print(Padding(text, (0, 0, 0, 2), expand=False))

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments of something, cells of tables included."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else printable(segment.text)
            yield segment if text == segment.text else Segment(text, segment.style)


def unbroken(text: str, style: str = "") -> Text:
    """Return text on one line, however long, so that an id can be copied from it."""
    return Text(text, style, no_wrap=True, overflow="ignore")


WHOLE: Mapping[str, Any] = {"no_wrap": True}
RIGHT: Mapping[str, Any] = {"no_wrap": True, "justify": "right"}
FOLD: Mapping[str, Any] = {"overflow": "fold"}


def plain_table(columns: Mapping[str, Mapping[str, Any]], **options: Any) -> Table:
    """Return a table without lines, with these headings."""
    found = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", **options)
    for heading, column in columns.items():
        found.add_column(heading, **column)
    return found


def facts_table(*columns: Mapping[str, Any]) -> Table:
    """Return a table without headings, such as of names and values."""
    found = Table.grid(padding=(0, 2))
    for column in columns:
        found.add_column(**column)
    return found


def bars_on_stderr(*columns: str | ProgressColumn) -> Progress:
    """Return bars of how far a long command is, at a terminal only, gone when it is done.

    Without columns they show how much is done and how long the rest takes.
    """
    screen = Screen(stderr=True)
    return Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)


def counting_bars() -> Progress:
    """Return bars of what is counted: how many of how many."""
    shown = Progress.get_default_columns()[:2]
    return bars_on_stderr(*shown, MofNCompleteColumn(), TimeRemainingColumn())
