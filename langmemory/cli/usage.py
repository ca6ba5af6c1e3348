"""`langmemory usage`: which memories were shown to the model, and which of them helped."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from langmemory.cli.target import DbOption, JsonOption, NamespaceOption, Target, ViewerOption


def usage(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="Memories to show.")] = 20,
    viewer: ViewerOption = None,
    db: DbOption = None,
    namespace: NamespaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which memories were shown to the model, cited, and right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    target = Target.of(context, db, namespace)
    with target.open(vectors=False) as store:
        found = store.usage(target.namespace(), viewer=viewer, limit=limit)
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in found]))
        return
    console = Console()
    if not found:
        console.print("No memory was shown to a model yet.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("memory", no_wrap=True)
    columns = ("shown", "cited", "right", "tokens read", "tokens to find")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    room = max(console.width - sum(len(column) + 2 for column in columns) - 2, 24)
    for one in found:
        counts = one.loaded, one.referenced, one.succeeded, one.read_tokens, one.discovery_tokens
        text = Text(" ".join(one.text.split()))
        text.truncate(room, overflow="ellipsis")
        table.add_row(text, *(f"{count:,}" for count in counts))
    console.print(table)
