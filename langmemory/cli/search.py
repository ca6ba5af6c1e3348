"""`langmemory search QUERY`: what memory knows about something, and why it thinks so."""

from __future__ import annotations

from typing import Annotated

import typer

from langmemory.cli.target import (
    AsOfOption,
    JsonOption,
    KindOption,
    KnownAtOption,
    LimitOption,
    SinceOption,
    Target,
    UntilOption,
    ViewerOption,
    check_span,
)
from langmemory.cli.terminal import json_text, plain, say
from langmemory.pluralize import counted
from langmemory.resources import NAMESPACE


def search(
    target: Target,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="A question or some words.", show_default=False)
    ],
    limit: LimitOption = 5,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the recall went, stage by stage.")
    ] = False,
    kind: KindOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    archive: Annotated[
        bool, typer.Option("--archive", help="Search what is archived, too.")
    ] = False,
    documents: Annotated[
        bool, typer.Option("--documents", help="Search the documents that were added, too.")
    ] = False,
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search: what was said, when, by whom, and why it was found."""
    from langmemory.cli.results import results
    from langmemory.cli.screen import Screen
    from langmemory.recall.explain import render
    from langmemory.stores.face import bound

    check_span(since, until)
    place = target.namespace()
    with target.open() as store:
        recall = bound(store, viewer).recall(
            query,
            place,
            limit=limit,
            kinds=kind,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            include_archive=archive,
            documents=(NAMESPACE,) if documents else None,
            explain=True,
        )
        if not recall.results:
            target.note_unknown(store, place)
    if as_json:
        say(json_text(plain(recall)))
        return
    console = Screen()
    if explain:
        console.print(render(recall))
        return
    if not recall.results:
        named = f" in {'/'.join(place)}" if place else ""
        console.print(f"Nothing found{named}.")
        return
    console.print(results(recall, console.width))
    total = recall.trace.milliseconds.get("total")
    notes = [counted(len(recall), "result"), *([f"{total:.1f} ms"] if total else [])]
    console.print(" · ".join([*notes, *recall.trace.degraded]), style="dim")
