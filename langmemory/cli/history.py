"""`langmemory history KEY`: what became of one memory, when and why."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmemory.cli.target import (
    DEFAULT_NAMESPACE,
    DbOption,
    JsonOption,
    NamespaceOption,
    Target,
    ViewerOption,
)
from langmemory.cli.terminal import json_text, say
from langmemory.errors import ConfigError

if TYPE_CHECKING:
    from langmemory.cli.screen import Screen
    from langmemory.types import HistoryEntry


def history(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Of a memory.", show_default=False)],
    viewer: ViewerOption = None,
    db: DbOption = None,
    namespace: NamespaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show every change of a memory, also of one that is gone."""
    from langmemory.cli.screen import Screen
    from langmemory.stores.face import bound

    target = Target.of(context, db, namespace)
    where = target.namespace(DEFAULT_NAMESPACE)
    with target.open(vectors=False) as store:
        entries = bound(store, viewer).changes.history(where, key)
        hint = "" if entries else target.elsewhere(store)
    if not entries:
        raise ConfigError(
            f"There never was a memory {key!r} in {'/'.join(where)}.{hint} "
            "`langmemory list` shows the keys of what is there."
        )
    if as_json:
        say(json_text([_row(entry) for entry in entries]))
        return
    _show(Screen(), entries)


def _show(console: Screen, entries: list[HistoryEntry]) -> None:
    """One row a change: when, what, how it read then, why; in a narrow terminal under each other."""
    from rich.text import Text

    from langmemory.cli.screen import plain_table

    table = plain_table()
    table.add_column("when", no_wrap=True)
    table.add_column("what", no_wrap=True)
    table.add_column("it said", overflow="fold")
    table.add_column("why", overflow="fold")
    for entry in entries:
        value = entry.after if entry.after is not None else entry.before
        text = "" if value is None else str(value.get("text", value.get("content", value)))
        why = " ".join(filter(None, (entry.reason, entry.run_id and f"({entry.run_id})")))
        when, text = f"{entry.at.astimezone():%Y-%m-%d %H:%M}", " ".join(text.split())
        if console.narrow:
            console.print(Text(f"{when}  {entry.action}  {why}", "dim"))
            console.print(Text(f"{text}\n"))
        else:
            table.add_row(when, *map(Text, (entry.action, text, why)))
    if not console.narrow:
        console.print(table)


def _row(entry: HistoryEntry) -> dict[str, Any]:
    return {**asdict(entry), "facets": dict(entry.facets)}
