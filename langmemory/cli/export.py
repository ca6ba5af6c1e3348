"""`langmemory export`: everything the file knows as JSONL, which `import` takes back."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from langmemory.cli.target import DbOption, NamespaceOption, Target


def export(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="Where to write; stdout if left out.", show_default=False)
    ] = None,
    db: DbOption = None,
    namespace: NamespaceOption = None,
) -> None:
    """Write memories with all facets, times to live and history as JSONL."""
    target = Target.of(context, db, namespace)
    prefix = target.namespace()
    with target.open() as store:
        sink = file.open("w", encoding="utf-8") if file else nullcontext(sys.stdout)
        with sink as lines:
            rows = 0
            for row in store.iter_export(prefix):
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
                rows += 1
    if file:
        typer.echo(f"Wrote {rows} rows to {file}; `langmemory import {file}` takes them back")
