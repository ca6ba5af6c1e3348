"""`langmemory maintain`, `health`, `stats`, `usage` and `reembed`: upkeep of a memory file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from langmemory.addresses import is_server
from langmemory.cli.target import (
    JsonOption,
    LimitOption,
    OnFile,
    Target,
    ViewerOption,
)
from langmemory.cli.terminal import json_text, plain, say
from langmemory.pluralize import count_noun, memories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from langmemory.cli.screen import Screen
    from langmemory.operations.lifecycle import MaintenanceNight
    from langmemory.stores import MemoryStore

LINES = 12
"""Changes of one task that are shown; ``--verbose`` shows all."""
VERBS = {
    "promoted": "green",
    "brought back": "green",
    "active": "green",
    "approved": "green",
    "learned": "green",
    "summarised": "green",
    "put away": "yellow",
    "archived": "yellow",
    "moved": "yellow",
    "superseded": "yellow",
    "deleted": "red",
}
"""Colours of the words that begin a sentence of a night."""
NIGHTS = 30
"""Nights that `health` shows."""
BARS = "▁▂▃▄▅▆▇█"


def maintain(
    target: Target,
    *,
    task: list[str] | None = None,
    dry_run: bool = False,
    undo: str | None = None,
    nights: bool = False,
    verbose: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Let memory age: promote, put away, merge and summarise, each change with its reason.

    The exit code is 1 if a task failed. Every night can be taken back with --undo.

    Args:
        task: Only this task; may be repeated.
        dry_run: Show what would change, and change nothing.
        undo (NIGHT): Take back all that a night changed.
        nights (--list): List the last nights.
        verbose (--verbose, -v): Show every change.
    """
    with target.open() as store:
        if undo is not None:
            _undo(store, undo, dry_run, as_json)
            return
        if nights:
            _list(store, as_json)
            return
        from langmemory.graphs.maintenance import build_maintenance_graph

        prefix = list((target.labels and target.namespace()) or ())
        target.note_unknown(store, tuple(prefix))
        graph = build_maintenance_graph(store, tasks=task)
        found: dict[str, Any] = graph.invoke({"namespace": prefix, "dry_run": dry_run})
    if as_json:
        say(json_text(found))
    else:
        _print(found, dry_run, verbose)
    if any(report["error"] for report in found["reports"]):
        raise typer.Exit(1)


def show_night(
    console: Screen, found: dict[str, Any], *, verbose: bool = False, only: Sequence[str] = ()
) -> None:
    """Print what the tasks of a night did, each with its sentences; with ``only`` those tasks alone."""
    from rich.text import Text

    from langmemory.cli.screen import FOLD, WHOLE, facts_table
    from langmemory.graphs.maintenance import DONE_EARLIER

    table, quiet, earlier = facts_table(WHOLE, FOLD), list[str](), list[str]()
    for report in found["reports"]:
        if only and report["task"] not in only:
            continue
        if report["refused"] == [DONE_EARLIER]:
            earlier.append(report["task"])
            continue
        said = [sentence(one) for one in report["told"][: None if verbose else LINES]]
        if left := len(report["told"]) - len(said):
            said.append(Text(f"… and {left:,} more (--verbose)", "dim"))
        if verbose:
            said += [Text(line, "dim") for line in report["lines"]]
        figures = [figure(name, count) for name, count in report["figures"].items() if count]
        if figures:
            said.append(Text(" · ".join(figures), "dim"))
        said += [Text.assemble(("advice  ", "yellow"), one) for one in report["advice"]]
        said += [Text.assemble(("not done  ", "yellow"), one) for one in report["refused"]]
        if report["model_calls"]:
            calls = count_noun(report["model_calls"], "call")
            said.append(Text(f"{calls} of the model, {report['tokens']:,} tokens", "dim"))
        if report["error"]:
            said.append(Text.assemble(("failed  ", "bold red"), report["error"]))
        if not said:
            quiet.append(report["task"])
            continue
        style = "bold red" if report["error"] else "bold"
        table.add_row(Text(report["task"], style), Text("\n").join(said))
    if table.row_count:
        console.print(table)
    if earlier:
        console.print(Text(f"{DONE_EARLIER}: {', '.join(earlier)}", "dim"))
    if quiet and not only:
        console.print(Text(f"nothing to do: {', '.join(quiet)}", "dim"))


def figure(name: str, count: float) -> str:
    """Return a figure of a task with its name, such as ``file 1.2 MB``."""
    if name.endswith("_bytes"):
        return f"{name.removesuffix('_bytes')} {count / 1e6:,.1f} MB"
    return f"{name.replace('_', ' ')} {count:,.10g}"


def sentence(told: str) -> Text:
    """Return a sentence of a night with its verb in colour, and its figures dim."""
    from rich.text import Text

    verb, _, rest = told.partition(": ")
    style = next((one for word, one in VERBS.items() if verb.startswith(word)), "cyan")
    text, opened, why = rest.rpartition(" (")
    if not opened:
        text, why = rest, ""
    return Text.assemble((verb, style), "  ", text, (f" ({why}" if opened else "", "dim"))


def _print(found: dict[str, Any], dry_run: bool, verbose: bool) -> None:
    from langmemory.cli.screen import Screen

    console = Screen()
    show_night(console, found, verbose=verbose)
    changed = sum(len(report["lines"]) for report in found["reports"])
    if dry_run:
        say(f"{count_noun(changed, 'change')} planned; nothing was changed.")
    elif changed:
        undo = f"langmemory maintain --undo {found['night']}"
        say(f"{count_noun(changed, 'change')}. Take them back with: {undo}")
    else:
        say("Nothing to change.")


def _undo(store: MemoryStore, night: str, dry_run: bool, as_json: bool) -> None:
    done = store.lifecycle.undo(night, dry_run=dry_run)
    if as_json:
        say(json_text(plain(done)))
        return
    for applied in done.applied:
        for line in applied.lines:
            say(f"  {line}")
    say("Nothing was changed." if dry_run else f"Took back {len(done.applied)} runs of {night}.")


def _list(store: MemoryStore, as_json: bool) -> None:
    found = store.lifecycle.nights()
    if as_json:
        say(json_text(plain(found)))
        return
    for night in found:
        tasks = ", ".join(dict.fromkeys(str(run.note.get("task")) for run in night.runs))
        undone = "  (undone)" if night.undone else ""
        say(f"{night.id}  {night.at.astimezone():%Y-%m-%d %H:%M}  {tasks}{undone}")
    if not found:
        say("No night of maintenance has changed this memory yet.")


def health(
    target: Target,
    as_json: JsonOption = False,
) -> None:
    """Show how well memory is kept: what waits, what repeats, what nobody uses, and what to do.

    The exit code is 1 if something is broken, not where there is advice.
    """
    from rich.text import Text

    from langmemory.cli.screen import FOLD, WHOLE, Screen, facts_table
    from langmemory.lifecycle.health import as_json as figures

    with target.open(vectors=False) as store:
        prefix = (target.labels and target.namespace()) or ()
        target.note_unknown(store, prefix)
        found = store.admin.health(prefix)
        nights = store.lifecycle.nights(prefix, limit=NIGHTS)
    findings = found.findings()
    if as_json:
        say(json_text(figures(found)))
    else:
        console, table = Screen(), facts_table(WHOLE, FOLD)
        for name, shown in (
            ("turns", f"{found.turns:,}, of which {found.unread_turns:,} wait for reflection"),
            ("facts", f"{found.facts:,} that hold, {found.stale:,} of them faded and never cited"),
            ("never shown", f"{found.never_shown:,} of them"),
            (
                "shown to models",
                f"{found.read_tokens:,} tokens, which saved {found.saved_tokens:,} of finding out again",
            ),
            ("without source", f"{found.without_evidence:,}"),
            ("duplicates", f"{found.duplicates:,}"),
            ("open reviews", f"{found.reviews:,}, {found.contradictions:,} on contradictions"),
            (
                "people and things",
                f"{found.entities:,}, {found.entities_without_facts:,} without a fact",
            ),
            ("without vector", f"{found.without_vector:,}"),
            ("archived", f"{found.archived:,} here, {found.moved:,} in the archive file"),
            (
                "file",
                f"{found.file_bytes / 1e6:,.1f} MB, archive {found.archive_bytes / 1e6:,.1f} MB",
            ),
            ("added by week", f"{sparkline(found.growth)}  {found.growth[-1]:,} in the last"),
            ("changed by night", _by_night(nights)),
        ):
            table.add_row(Text(name, "dim"), Text(shown))
        console.print(table)
        advised = facts_table(WHOLE, FOLD)
        for finding in findings:
            advised.add_row(
                Text(finding.state, "bold red" if finding.state == "fail" else "yellow"),
                Text.assemble(f"{finding.what}.\n", (f"→ {finding.advice}", "dim")),
            )
        console.print(advised)
        if not findings:
            say("All is well.")
    if any(finding.state == "fail" for finding in findings):
        raise typer.Exit(1)


def _by_night(nights: Sequence[MaintenanceNight]) -> str:
    """Return a bar for each of the last nights that changed memory, the oldest first."""
    if not nights:
        return "no night has changed it yet"
    last = nights[0]
    bars = sparkline([one.changes for one in reversed(nights)])
    undone = ", undone" if last.undone else ""
    return f"{bars}  {last.changes:,} in the last, {last.at.astimezone():%Y-%m-%d %H:%M}{undone}"


def sparkline(counts: Sequence[int]) -> str:
    """Return one bar for each count, of eight heights."""
    most = max(counts, default=0) or 1
    return "".join(BARS[round(count / most * (len(BARS) - 1))] for count in counts)


def stats(target: OnFile, as_json: JsonOption = False) -> None:
    """Count what is in the file."""
    from langmemory.cli.screen import FOLD, Screen, facts_table

    with target.open(vectors=False) as store:
        found, jobs, reviews = store.stats(), store.jobs.counts(), len(store.changes.reviews())
        path = store.path
    if as_json:
        say(json_text(plain(found) | {"jobs": jobs, "reviews": reviews}))
        return
    table = facts_table({"style": "dim"}, FOLD)
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(found.by_kind.items()))
    model = f"{found.model}, {found.dims} dimensions" if found.model else "none: keywords only"
    waiting, dead = jobs.get("pending", 0), jobs.get("dead", 0)
    for name, value in {
        "server" if is_server(path) else "file": f"{path}, {found.file_bytes / 1e6:,.1f} MB",
        "memories": f"{found.items:,}" + (f" ({kinds})" if kinds else ""),
        "archive file": (
            f"{memories(found.archived)}, {found.archive_bytes / 1e6:,.1f} MB"
            if found.archive_bytes
            else ""
        ),
        "namespaces": f"{found.namespaces:,}",
        "vectors": f"{found.vectors:,}",
        "model": model,
        "keyword rows": f"{found.keywords:,}",
        "history": count_noun(found.history, "change"),
        "reflection": f"{waiting:,} waiting, {dead:,} given up" if waiting or dead else "",
        "reviews": f"{reviews:,} open" if reviews else "",
    }.items():
        if value:
            table.add_row(name, value)
    Screen().print(table)


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
    columns = ("shown", "cited", "right", "tokens read", "tokens to find", "tokens saved")
    table = plain_table({"memory": WHOLE} | dict.fromkeys(columns, RIGHT))
    room = console.width - sum(len(column) + 2 for column in columns) - 2
    narrow = room < LEAST_ROOM
    for one in found:
        figures = (
            one.loaded,
            one.referenced,
            one.succeeded,
            one.read_tokens,
            one.discovery_tokens,
            one.saved_tokens,
        )
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
    saved = sum(one.saved_tokens for one in found)
    console.print(f"Saved by these: {saved:,} tokens of finding out again, less those of showing.")


def reembed(target: OnFile) -> None:
    """Embed everything again with the configured model.

    The old index serves until it is done.
    """
    from langmemory.cli.screen import counting_bars
    from langmemory.stores import reembed as reembed_file

    config = target.existing()
    with counting_bars() as bars:
        task = bars.add_task("Embedding", total=None)
        model = reembed_file(
            config.database.path,
            config=config,
            progress=lambda done, total: bars.update(task, completed=done, total=total),
        )
    if model.model is None:
        say("There are no vectors to move: no memory has one")
        return
    say(f"The vectors now come from {model.model} ({model.dims} dimensions)")
