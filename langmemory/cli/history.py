"""`langmemory history KEY`: what became of one memory, when and why."""

from __future__ import annotations

from typing import Annotated

import typer

from langmemory.cli.target import (
    DEFAULT_NAMESPACE,
    JsonOption,
    Target,
    ViewerOption,
)
from langmemory.cli.terminal import json_text, plain, say
from langmemory.errors import ConfigError


def history(
    target: Target,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Of a memory.", show_default=False)],
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show every change of a memory, also of one that is gone."""
    from rich.text import Text

    from langmemory.cli.screen import FOLD, WHOLE, Screen
    from langmemory.recall.explain import faded
    from langmemory.stores.face import bound

    where = target.namespace(DEFAULT_NAMESPACE)
    with target.open(vectors=False) as store:
        entries = bound(store, viewer).changes.history(where, key)
        hint = "" if entries else target.elsewhere(store)
        [ageing] = store.lifecycle.ageing([(where, key)])
    if not entries:
        raise ConfigError(
            f"There never was a memory {key!r} in {'/'.join(where)}.{hint} "
            "`langmemory list` shows the keys of what is there."
        )
    if as_json:
        say(json_text(plain(entries)))
        return
    rows = []
    for entry in entries:
        value = entry.after if entry.after is not None else entry.before
        said = "" if value is None else str(value.get("text", value.get("content", value)))
        why = " ".join(filter(None, (entry.reason, entry.run_id and f"({entry.run_id})")))
        when, said = f"{entry.at.astimezone():%Y-%m-%d %H:%M}", " ".join(said.split())
        narrow = Text(f"{when}  {entry.action}  {why}", "dim"), Text(f"{said}\n")
        cells = [Text(cell) for cell in (when, entry.action, said, why)]
        rows.append((cells, "", narrow))
    Screen().print_rows({"when": WHOLE, "what": WHOLE, "it said": FOLD, "why": FOLD}, rows)
    if ageing is not None:
        Screen().print(Text(f"Now: {faded(ageing)}", "dim"))
