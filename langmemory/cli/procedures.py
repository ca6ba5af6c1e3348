"""`langmemory procedures …`: how things are done, step by step, and how it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from langmemory.cli.target import DEFAULT_NAMESPACE, Group, JsonOption, Target
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.cli.values import Count

if TYPE_CHECKING:
    from langmemory.procedures import Procedure

procedures = Group(help="Keep how things are done, step by step, and how it went.")

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="As `procedures list` shows it.")]


@procedures.command("list")
def list_procedures(target: Target, *, past: bool = False, as_json: JsonOption = False) -> None:
    """List the procedures: what for, how many steps, how it went.

    Args:
        past: Also superseded ones.
    """
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


@procedures.command()
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


@procedures.command("for")
def for_task(target: Target, task: str, *, limit: Count = 5, as_json: JsonOption = False) -> None:
    """Find the procedures that fit a task.

    Args:
        task: What is to be done, in quotes.
        limit (--limit, -k, N): At most so many.
    """
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


@procedures.command()
def add(
    target: Target,
    task: str,
    steps: list[str],
    *,
    needs: list[str] | None = None,
    as_json: JsonOption = False,
) -> None:
    """Keep how something is done; other steps of a known task supersede those before.

    Args:
        task: The thing that is done, in quotes.
        steps (STEP…): Each step, in quotes.
        needs (TEXT): What must hold before; may be repeated.
    """
    with target.open(create=True) as store:
        place = target.namespace(DEFAULT_NAMESPACE)
        kept = store.procedures.add(place, task, steps, preconditions=needs or ())
    say(json_text(plain(kept)) if as_json else printable(f"{kept.key}, version {kept.version}"))


@procedures.command()
def outcome(
    target: Target, key: KeyArgument, result: str, *, why: str = "", as_json: JsonOption = False
) -> None:
    """Record what came of following a procedure.

    Args:
        result (succeeded|failed): How it went.
        why (TEXT): Why it failed, in a few words.
    """
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
