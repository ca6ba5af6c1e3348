"""`langmemory seed WORKSPACE`: an empty memory is filled from files, chats and commits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from langmemory.cli.target import DEFAULT_NAMESPACE, IgnoreOption, JsonOption, Target
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.pluralize import count_noun

if TYPE_CHECKING:
    from langmemory.parts.importing.seeding import SeedPlan, SeedReport

FEW = 10
"""Files that are named, of each kind."""


def seed(
    target: Target,
    workspace: Path,
    *,
    yes: bool = False,
    dry_run: bool = False,
    ignore: IgnoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fill a memory from Markdown, chat exports and git history; a second time adds nothing.

    Args:
        workspace: A folder with Markdown, exports, repositories.
        yes: Do not ask before writing.
        dry_run: Show what would come from where, and write nothing.
    """
    from langmemory.cli.screen import bars_on_stderr
    from langmemory.parts.importing.seeding import plan_seed
    from langmemory.parts.importing.seeding import seed as fill

    where = target.namespace(DEFAULT_NAMESPACE)
    with bars_on_stderr() as bars:
        task = bars.add_task("Looking", total=None)
        plan = plan_seed(
            workspace,
            ignore=ignore or (),
            progress=lambda name: bars.update(task, description=name[-60:]),
        )
    if not as_json:
        _show(plan)
    if not plan.sources:
        say(f"Nothing of {plan.root} can fill a memory.", err=True)
        raise typer.Exit(1)
    if dry_run:
        if as_json:
            say(json_text(_told(plan)))
        return
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise typer.BadParameter("Nothing was written. --yes goes on without asking.")
        if not typer.confirm(f"Write this to {'/'.join(where)}?"):
            raise typer.Exit(1)
    with target.open(create=True) as store, bars_on_stderr() as bars:
        task = bars.add_task("Reading", total=None)
        report = fill(
            store, plan, where, progress=lambda name: bars.update(task, description=name[-60:])
        )
    if as_json:
        say(json_text(plain(report)))
    else:
        told = {path: why for path, why in report.failed.items() if path not in plan.failed}
        _summarise(report, told, "/".join(where), target)
    if report.failed:
        raise typer.Exit(1)


def _show(plan: SeedPlan) -> None:
    from langmemory.cli.screen import FOLD, RIGHT, WHOLE, Screen, plain_table

    table = plain_table({"from": FOLD, "what": WHOLE, "count": RIGHT, "": FOLD})
    shown: dict[str, int] = {}
    for one in plan.sources:
        shown[one.kind] = shown.get(one.kind, 0) + 1
        if shown[one.kind] > FEW:
            continue
        kind: str = one.format or one.kind
        table.add_row(one.path, kind, count_noun(one.count, one.unit), one.note)
    if plan.sources:
        Screen().print(table)
    for kind, number in shown.items():
        if number > FEW:
            say(f"and {number - FEW:,} more of {kind}")
    _name({"–": plan.left_out, "!": plan.failed})


def _name(problems: dict[str, dict[str, str]]) -> None:
    for sign, told in problems.items():
        for path, why in list(told.items())[:FEW]:
            say(printable(f"{sign} {path}: {why}"), err=True)
        if len(told) > FEW:
            say(f"{sign} and {len(told) - FEW:,} more", err=True)


def _told(plan: SeedPlan) -> dict[str, object]:
    fields = ("kind", "path", "format", "count", "unit", "note")
    sources = [{name: getattr(one, name) for name in fields} for one in plan.sources]
    return {
        "root": str(plan.root), "sources": sources, "left_out": plan.left_out, "failed": plan.failed,
    }  # fmt: skip


def _summarise(report: SeedReport, failed: dict[str, str], where: str, target: Target) -> None:
    known = f", {report.known:,} already there" if report.known else ""
    say(
        f"Added {count_noun(report.documents, 'document')}, {count_noun(report.messages, 'message')} and "
        f"{count_noun(report.facts, 'fact')} to {where}{known}"
    )
    _name({"!": failed})
    if report.added:
        search, undo = target.command('search "…"'), target.command(f"undo {report.run_id}")
        say(f"Next: `{search}` finds it, with --explain and its key, which is its source")
        say(f"`{undo}` takes all of it back")
