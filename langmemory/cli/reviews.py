"""`langmemory reviews`: questions that reflection leaves to a person, and their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from langmemory.cli.reflect import text_of
from langmemory.cli.target import JsonOption, Target
from langmemory.cli.terminal import json_text, plain, say

if TYPE_CHECKING:
    from rich.console import Console

    from langmemory.stores import MemoryStore
    from langmemory.types import Review


_STYLES = {"+": "green", "-": "red", "@": "cyan"}
"""Of the lines of a difference, by how they begin."""


def reviews(
    target: Target,
    decide: Annotated[
        tuple[str, str] | None,
        typer.Option("--decide", metavar="ID OPTION", help="Answer one.", show_default=False),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", metavar="NAME", help="Who decides, for the record.", show_default=False
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show also those that are decided.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what reflection is not sure of, and decide it."""
    from langmemory.cli.screen import Screen

    console = Screen()
    with target.open() as store:
        if decide is not None:
            done = store.changes.decide(*decide, by=by)
            if as_json:
                say(json_text(plain(done)))
                return
            for line in done.lines:
                console.print(f"  {line}", soft_wrap=True)
            console.print(
                f"Decided; to take it back: langmemory undo {done.run_id}", soft_wrap=True
            )
            return
        found = store.changes.reviews(place := target.namespace(), open_only=not everything)
        if not found:
            target.note_unknown(store, place)
        if as_json:
            say(json_text(plain(found)))
            return
        for review in found:
            _show(console, store, review)
        if not found:
            console.print("Nothing is to be decided.")


def _show(console: Console, store: MemoryStore, review: Review) -> None:
    from rich.text import Text

    shows = "\n--- " in review.question
    asked, *difference = review.question.split("\n") if shows else [review.question]
    console.print(Text.assemble((asked, "bold"), (f"  {review.about}", "dim")))
    for line in difference:
        console.print(Text(f"    {line}", _STYLES.get(line[:1], "")), soft_wrap=True)
    for key in () if difference else review.memories:
        console.print(Text.assemble("  · ", text_of(store, review.namespace, key)))
    if review.decision is not None:
        console.print(f"  decided: {review.decision}\n", style="dim")
        return
    options = "|".join(review.options)
    console.print(
        Text.assemble("  langmemory reviews --decide ", review.id, " ", (options, "cyan"), "\n"),
        soft_wrap=True,
    )
