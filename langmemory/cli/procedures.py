"""`langmemory procedures …`: how things are done, step by step, and how it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from langmemory.cli.oneline import Command, CommandLine
from langmemory.cli.target import DEFAULT_NAMESPACE, JsonOption, Target, with_target
from langmemory.cli.terminal import json_text, plain, printable, say

if TYPE_CHECKING:
    from langmemory.procedures import Procedure

procedures = typer.Typer(
    cls=CommandLine,
    no_args_is_help=True,
    help="Keep how things are done, step by step, and how it went.",
)

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="As `procedures list` shows it.")]


@procedures.command("list", cls=Command)
@with_target
def list_procedures(
    target: Target,
    past: Annotated[bool, typer.Option("--past", help="Also superseded ones.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the procedures: what for, how many steps, how it went."""
    from langmemory.cli.screen import FOLD, RIGHT, WHOLE, Screen, plain_table

    with target.open(vectors=False) as store:
        found = store.procedures.list(target.namespace(DEFAULT_NAMESPACE), past=past)
    if as_json:
        say(json_text(plain(found)))
        return
    if not found:
        say('No procedures; `langmemory procedures add "TASK" "STEP" "STEP"` adds one.')
        return
    table = plain_table({"task": FOLD, "steps": RIGHT, "outcomes": FOLD, "key": WHOLE})
    for one in found:
        task = one.task if one.status == "active" else f"{one.task} ({one.status})"
        table.add_row(task, str(len(one.steps)), one.outcomes.words or "never followed", one.key)
    Screen().print(table)


@procedures.command(cls=Command)
@with_target
def show(target: Target, key: KeyArgument, as_json: JsonOption = False) -> None:
    """Print a procedure with its steps, how it went, and its earlier versions."""
    with target.open(vectors=False) as store:
        found = store.procedures.versions(target.namespace(DEFAULT_NAMESPACE), key)
    one = next((each for each in found if each.key == key), None)
    if one is None:
        raise typer.BadParameter(f"There is no procedure {key!r}; `procedures list` shows them.")
    if as_json:
        say(json_text(plain(found)))
        return
    _print(one)
    for other in found:
        if other.key != key:
            say(printable(f"\nVersion {other.version} ({other.status}, {other.key}):"))
            _print(other)


@procedures.command("for", cls=Command)
@with_target
def for_task(
    target: Target,
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done, in quotes.")],
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="At most so many.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Find the procedures that fit a task."""
    with target.open() as store:
        found = store.procedures.recall(task, target.namespace(DEFAULT_NAMESPACE), limit=limit)
    if as_json:
        say(json_text(plain(found)))
        return
    if not found:
        say("No procedure fits.")
    for one in found:
        say(printable(f"{one.score:.2f} {one.procedure.key}: {one.why}"))
        _print(one.procedure)


@procedures.command(cls=Command)
@with_target
def add(
    target: Target,
    task: Annotated[str, typer.Argument(metavar="TASK", help="The thing that is done, in quotes.")],
    steps: Annotated[list[str], typer.Argument(metavar="STEP…", help="Each step, in quotes.")],
    needs: Annotated[
        list[str] | None, typer.Option("--needs", help="What must hold before; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Keep how something is done; other steps of a known task supersede those before."""
    with target.open(create=True) as store:
        place = target.namespace(DEFAULT_NAMESPACE)
        kept = store.procedures.add(place, task, steps, preconditions=needs or ())
    say(json_text(plain(kept)) if as_json else printable(f"{kept.key}, version {kept.version}"))


@procedures.command(cls=Command)
@with_target
def outcome(
    target: Target,
    key: KeyArgument,
    result: Annotated[str, typer.Argument(metavar="succeeded|failed", help="How it went.")],
    why: Annotated[str, typer.Option("--why", help="Why it failed, in a few words.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Record what came of following a procedure."""
    with target.open(vectors=False) as store:
        place = target.namespace(DEFAULT_NAMESPACE)
        after = store.procedures.record_outcome(place, key, result, why=why)  # type: ignore[arg-type]
    words = f"{key} {after.outcomes.words}; shown as {after.priority}: {after.standing[1]}"
    say(json_text(plain(after)) if as_json else printable(words))


def _print(one: Procedure) -> None:
    say(printable(f"{one.task} (version {one.version}, {one.outcomes.words or 'never followed'})"))
    for need in one.preconditions:
        say(printable(f"  needs: {need}"))
    for number, step in enumerate(one.steps, 1):
        say(printable(f"  {number}. {step.text}{f'  [{step.tool}]' if step.tool else ''}"))
