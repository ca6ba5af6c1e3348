"""Screen: a rich console for what people and models said, which may hold anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

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

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments of something, cells of tables included."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else printable(segment.text)
            yield segment if text == segment.text else Segment(text, segment.style)


def plain_table(*headings: str, **options: Any) -> Table:
    """A table without lines; its columns, if any are named, fold what is too long."""
    found = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", **options)
    for heading in headings:
        found.add_column(heading, overflow="fold")
    return found
