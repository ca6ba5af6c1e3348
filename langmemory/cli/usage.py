"""`langmemory usage`: which memories were shown to the model, and which of them helped."""

from __future__ import annotations

from langmemory.cli.target import (
    JsonOption,
    LimitOption,
    Target,
    ViewerOption,
)
from langmemory.cli.terminal import json_text, plain, say

LEAST_ROOM = 24
"""Columns for the text of a memory. Where there are fewer beside the figures, these stand below."""


def usage(
    target: Target,
    limit: LimitOption = 20,
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which memories were shown to the model, cited, and right."""
    from rich.text import Text

    from langmemory.cli.screen import RIGHT, WHOLE, Screen, plain_table
    from langmemory.stores.face import bound

    with target.open(vectors=False) as store:
        found = bound(store, viewer).admin.usage(place := target.namespace(), limit=limit)
        if not found:
            target.note_unknown(store, place)
    if as_json:
        say(json_text(plain(found)))
        return
    console = Screen()
    if not found:
        console.print("No memory was shown to a model yet.")
        return
    columns = ("shown", "cited", "right", "tokens read", "tokens to find")
    table = plain_table({"memory": WHOLE} | dict.fromkeys(columns, RIGHT))
    room = console.width - sum(len(column) + 2 for column in columns) - 2
    narrow = room < LEAST_ROOM
    for one in found:
        figures = one.loaded, one.referenced, one.succeeded, one.read_tokens, one.discovery_tokens
        text = Text(" ".join(one.text.split()))
        text.truncate(console.width if narrow else room, overflow="ellipsis")
        if narrow:
            counts = zip(columns, figures, strict=True)
            said = " · ".join(f"{column} {figure:,}" for column, figure in counts)
            console.print(text, Text(f"{said}\n", "dim"), sep="\n")
        else:
            table.add_row(text, *(f"{figure:,}" for figure in figures))
    if not narrow:
        console.print(table)
