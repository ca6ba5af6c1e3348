"""`langmemory init`: a small working application that remembers, ready for `langgraph dev`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from langmemory.cli.terminal import say


def init(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Where to write it; no file there is overwritten."),
    ],
) -> None:
    """Write a new chatbot project: graph, store, configuration, README."""
    from langmemory.templates import init_project

    written = init_project(folder)
    for file in written:
        say(f"  {file}")
    there = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    say(f"\nGo on:  {there}pip install -r requirements.txt && langgraph dev")
