"""`langmemory runs` and `langmemory undo`: what changed memory on its own, and taking it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmemory.cli.target import JsonOption, LimitOption, OnFile, Target
from langmemory.cli.terminal import json_text, plain, printable, say

if TYPE_CHECKING:
    from langmemory.types import Run


def runs(
    target: Target,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """List what changed memory on its own, the newest first."""
    from rich.text import Text

    from langmemory.cli.screen import FOLD, WHOLE, Screen, unbroken

    with target.open(vectors=False) as store:
        found = store.changes.runs(place := target.namespace(), limit=limit)
        if not found:
            target.note_unknown(store, place)
    if as_json:
        say(json_text(plain(found)))
        return
    console = Screen()
    if not found:
        console.print("Nothing has changed this memory on its own yet.")
        return
    several = len({run.namespace for run in found}) > 1
    rows = []
    for run in found:
        what = run.reason.removeprefix("reflection of ")
        where = f" in {'/'.join(run.namespace)}" if several else ""
        cells = run.id, f"{run.at.astimezone():%Y-%m-%d %H:%M}", what + where, _outcome(run)
        style = "dim" if run.undone_by else ""
        narrow = [unbroken(f"{cells[0]}\n  {' · '.join(cells[1:])}\n", style)]
        rows.append((tuple(map(Text, cells)), style, narrow))
    console.print_rows({"run": WHOLE, "when": WHOLE, "what": FOLD, "came to": FOLD}, rows)


def undo(
    target: OnFile,
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="See `langmemory runs`.", show_default=False)
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be as before, and change nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring back what was before a run.

    What was read stays read, so it does not come back.
    """
    with target.open() as store:
        done = store.changes.undo(run, dry_run=dry_run)
    if as_json:
        say(json_text(plain(done)))
        return
    for line in done.lines:
        say(printable(f"  {line}"))
    say("Nothing was changed." if dry_run or done.repeated else f"Undone, as {done.run_id}")


def _outcome(run: Run) -> str:
    note = run.note
    parts = [
        f"{len(note[name])} {shown}"
        for name, shown in (
            ("learned", "learned"),
            ("superseded", "superseded"),
            ("reviews", "asked"),
        )
        if note.get(name)
    ]
    parts += note.get("failures", ())
    parts += _took(note)
    if run.undone_by:
        parts.append("undone")
    return ", ".join(parts) or "–"


def _took(note: Mapping[str, Any]) -> list[str]:
    """Return the tokens a run took, in and out, and dollars where they are known."""
    usage = list((note.get("usage") or {}).values())
    if not usage:
        return []
    tokens = (
        sum(round(counts.get(name, 0)) for counts in usage)
        for name in ("input_tokens", "output_tokens")
    )
    took = "{:,} tokens in, {:,} out".format(*tokens)
    return [took, f"${note['cost_usd']:.4f}"] if "cost_usd" in note else [took]
