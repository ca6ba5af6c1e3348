"""`langmemory journal`: what was learned, day by day, on the screen or as files."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from langmemory.cli.target import JsonOption, Target
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.cli.values import Day
from langmemory.errors import ConfigError
from langmemory.pluralize import count_noun

if TYPE_CHECKING:
    from langmemory.stores import MemoryStore


def journal(
    target: Target,
    of_day: Day | None = None,
    *,
    day: Day | None = None,
    rebuild: bool = False,
    edits: bool = False,
    path: Path | None = None,
    as_json: JsonOption = False,
) -> None:
    """Show the journal of a day, or write its files anew.

    The files follow the memory: what is undone, deleted or forgotten leaves them. A month that is over is one
    page, with its days in archive/ (see lifecycle.journal).

    Args:
        of_day ([DAY]): A day; else the last of each.
        day: The same.
        rebuild: Write all files anew from the memory file.
        edits (--take-edits): Take up what was changed in MEMORY.md, and write it anew.
        path (FOLDER): With --rebuild or --take-edits: folder of the files; else the configured one.
    """
    from rich.markdown import Markdown

    from langmemory.cli.screen import Screen
    from langmemory.projections.journal import JournalFiles, Page, distilled_through, render

    if path is not None and not (rebuild or edits):
        raise typer.BadParameter("--path goes with --rebuild or --take-edits.")
    with target.open(vectors=False) as store:
        if rebuild or edits:
            folder = path or store.config.journal.path
            if folder is None:
                raise ConfigError(
                    "Where to? Set journal.path in config/memory.json, or pass --path FOLDER."
                )
            if edits:
                _take_edits(store, folder, as_json)
                return
            now = datetime.now(UTC)
            through = distilled_through(store.config.lifecycle.journal, now)
            store.journal.distil(through=through)
            different = JournalFiles(folder).rebuild(store.journal)
            store.journal.follow()  # in other folders
            changed, edited = store.journal.memory_files(folder).write(
                budget_tokens=store.config.lifecycle.memory_page_tokens,
                now_us=int(now.timestamp() * 1_000_000),
            )
            different += changed + store.journal.state_files(folder).write()
            for file in edited:
                say(
                    f"{file} was edited and is left as it is: --take-edits takes that up.", err=True
                )
            if as_json:
                say(json_text({"folder": str(folder), "changed": different}))
            else:
                say(f"Changed {count_noun(different, 'file')} of {folder}")
            return
        place, day = target.namespace(), of_day or day
        pages = store.journal.pages(place, days=None if day is None else {day})
        if not pages:
            target.note_unknown(store, place)
    last: dict[tuple[object, ...], Page] = {(page.namespace, page.owner): page for page in pages}
    if as_json:
        say(json_text(plain(list(last.values()))))
        return
    if not last:
        say("Nothing was learned" + (f" on {day:%Y-%m-%d}." if day else " yet."))
    console = Screen()
    for page in last.values():
        where = "/".join(page.namespace) + (f", private to {page.owner}" if page.owner else "")
        if sys.stdout.isatty() or len(last) > 1:
            console.print(where, style="dim", soft_wrap=True)
        if sys.stdout.isatty():
            console.print(Markdown(render(page)))
        else:
            say(printable(render(page)))


def _take_edits(store: MemoryStore, folder: Path | str, as_json: bool) -> None:
    from langmemory.maintenance.edits import take_edits

    taken = take_edits(store, folder, now=datetime.now(UTC))
    if as_json:
        say(json_text(plain(taken)))
    else:
        for line in (*taken.lines, *taken.refused):
            say(printable(line))
        say(f"Took up {count_noun(len(taken.files), 'edited page')} of {folder}")
    if taken.refused:
        raise typer.Exit(1)
