"""`langmemory list`: what memory holds, the latest first, with the keys that other commands take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from langmemory.cli.target import (
    JsonOption,
    KindOption,
    LimitOption,
    SinceOption,
    Target,
    UntilOption,
    ViewerOption,
    check_span,
)
from langmemory.cli.terminal import json_text, plain, say
from langmemory.pluralize import memories

if TYPE_CHECKING:
    from rich.text import Text

    from langmemory.types import Memory

EXCERPT_CHARACTERS = 280


def list_memories(
    target: Target,
    kind: KindOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    past: Annotated[
        bool, typer.Option("--all", help="Also what no longer holds, and what is not sure yet.")
    ] = False,
    retention: Annotated[
        bool, typer.Option("--retention", help="Also how far each has faded.")
    ] = False,
    limit: LimitOption = 20,
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List memories, the latest first, with their keys."""
    from langmemory.cli.screen import Screen
    from langmemory.recall.explain import faded
    from langmemory.stores.face import bound

    check_span(since, until)
    place = target.namespace()
    with target.open(vectors=False) as store:
        found = bound(store, viewer).admin.memories(
            place, kinds=kind, since=since, until=until, past=past, limit=limit + 1
        )
        nothing = "" if found else target.unknown(store, place) or "No memory is there."
        found, more = found[:limit], len(found) > limit
        ageing = (
            store.lifecycle.ageing([(one.namespace, one.key) for one in found])
            if retention
            else [None] * len(found)
        )
    if as_json:
        rows = zip(found, ageing, strict=True)
        say(
            json_text(
                [
                    plain(memory) | ({"ageing": one and plain(one)} if retention else {})
                    for memory, one in rows
                ]
            )
        )
        return
    console = Screen()
    if nothing:
        console.print(nothing, soft_wrap=True)
        return
    several = len({memory.namespace for memory in found}) > 1
    for memory, one in zip(found, ageing, strict=True):
        console.print(
            *lines(memory, several, faded(one) if one else None), sep="\n", soft_wrap=False
        )
    more_by = "; --limit shows more" if more else ""
    console.print(f"{memories(len(found))}{more_by}", style="dim")


def lines(memory: Memory, several: bool, ageing: str | None = None) -> list[Text]:
    """Return a memory as its text, its key, and an empty line; what no longer holds is struck out."""
    from rich.text import Text

    text = " ".join(memory.text.split())
    if len(text) > EXCERPT_CHARACTERS:
        text = text[:EXCERPT_CHARACTERS].rsplit(" ", 1)[0] + " …"
    at = memory.at
    status = [] if memory.status == "active" else [memory.status]
    where = ["/".join(memory.namespace)] if several else []
    facets = [f"{at.day} {at:%b %Y}", *filter(None, [memory.speaker]), memory.kind, *status, *where]
    return [
        Text(text, "dim strike" if memory.status in ("superseded", "archived") else ""),
        Text(" · ".join(facets), "dim"),
        *([Text(ageing, "dim")] if ageing else []),
        Text(memory.key, "cyan dim"),
        Text(),
    ]
