"""`langmemory copy SOURCE TARGET`: a memory moves between a file and a server."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from langmemory.cli.target import JsonOption
from langmemory.cli.terminal import json_text, say
from langmemory.pluralize import counted, memories


def copy(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A memory file, postgresql://…?schema=name, or a store of LangGraph's own.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="A new file, or an empty schema of a server.", show_default=False
        ),
    ],
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="PATH",
            help="A field of the application's index config, if it has any; may be repeated.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Copy a whole memory into an empty place; repeat it to go on after an interruption."""
    from langmemory.cli.screen import counting_bars
    from langmemory.stores import copy as copy_all

    with counting_bars() as bars:
        task = bars.add_task("Copying", total=None)
        copied = copy_all(
            source,
            target,
            fields=field,
            progress=lambda done, total: bars.update(task, completed=done, total=total),
        )
    if as_json:
        say(json_text(asdict(copied)))
        return
    say(f"Copied {memories(copied.memories)} of {copied.source} to {copied.target}")
    say(f"Both hold the same {counted(copied.rows, 'row')} and {counted(copied.vectors, 'vector')}")
    if copied.recalls:
        say(f"{counted(copied.recalls, 'sample recall')} found the same in both")
