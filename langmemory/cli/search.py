"""`langmemory search QUERY`: what memory knows about something, and why it thinks so."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from langmemory.cli.recalling import with_recall_options
from langmemory.cli.target import JsonOption, Target, ViewerOption
from langmemory.cli.terminal import json_text, plain, say
from langmemory.pluralize import counted
from langmemory.recall_options import RecallOptions
from langmemory.resources import NAMESPACE

DEFAULTS: Final[RecallOptions] = {"limit": 5}


@with_recall_options
def search(
    target: Target,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="A question or some words.", show_default=False)
    ],
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the recall went, stage by stage.")
    ] = False,
    documents: Annotated[
        bool, typer.Option("--documents", help="Search the documents that were added, too.")
    ] = False,
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
    options: RecallOptions = DEFAULTS,
) -> None:
    """Search: what was said, when, by whom, and why it was found."""
    from langmemory.cli.results import results
    from langmemory.cli.screen import Screen
    from langmemory.recall.explain import render
    from langmemory.stores.face import bound

    place = target.namespace()
    options["explain"] = True
    if documents:
        options["documents"] = (NAMESPACE,)
    with target.open() as store:
        recall = bound(store, viewer).recall(query, place, **options)
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
