"""`langmemory hooks` and `langmemory context`: memory for coding agents."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langmemory.cli.serve import log_to_stderr, of_this_person
from langmemory.cli.target import DEFAULT_NAMESPACE, Group, Target
from langmemory.cli.terminal import printable, say
from langmemory.errors import ConfigError
from langmemory.parts.coding import client
from langmemory.pluralize import count_noun

if TYPE_CHECKING:
    from langmemory.parts.coding.answering import SessionMemory

hooks = Group(
    help="Let coding agents remember by themselves: claude-code, codex, cursor, gemini, openclaw."
)

ProgramArgument = Annotated[
    str, typer.Argument(metavar="PROGRAM", help="claude-code, codex, cursor, gemini or openclaw.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")
]


@hooks.command()
def install(target: Target, program: ProgramArgument, dry_run: DryRunOption = False) -> None:
    """Put memory's hooks into the settings of a program; those of others stay as they are."""
    from langmemory.parts.coding.events import apply
    from langmemory.parts.coding.programs import program as adapter

    one = adapter(program)
    if not hasattr(socket, "AF_UNIX"):
        raise ConfigError(
            "Hooks need Unix sockets, which Python does not have here. On Windows use WSL."
        )
    changes = one.install(_options(target))
    for change in changes:
        say(printable(f"{'Would write' if dry_run else 'Wrote'} {change.path}"))
        if dry_run:
            say(printable(change.after or ""))
        else:
            apply(change)
    if not one.detect():
        say(f"{one.title} was not used on this machine yet.", err=True)
    for problem in one.problems():
        say(printable(f"! {problem}"), err=True)
    if one.next_step:
        say(one.next_step)
    say(f"`langmemory hooks uninstall {one.name}` puts all of it back.")


@hooks.command()
def uninstall(program: ProgramArgument, dry_run: DryRunOption = False) -> None:
    """Take memory's hooks out of the settings of a program, which are then as they were."""
    from langmemory.parts.coding.events import apply
    from langmemory.parts.coding.programs import program as adapter

    changes = [one for one in adapter(program).uninstall() if one.before != one.after]
    for change in changes:
        done = "Removed" if change.after is None else "Put back"
        say(printable(f"{'Would change' if dry_run else done} {change.path}"))
        if not dry_run:
            apply(change)
    if not changes:
        say(f"There are no hooks of memory in {program}.")


@hooks.command()
def verify(target: Target, program: ProgramArgument) -> None:
    """Say whether the hooks of a program are there, and whether memory answers them."""
    from langmemory.parts.coding.events import MODULE
    from langmemory.parts.coding.programs import program as adapter
    from langmemory.parts.coding.resident import VERIFY

    one = adapter(program)
    missing = one.events.keys() - one.installed().keys()
    problems = list(one.problems())
    if missing:
        problems.insert(
            0, f"No hooks for {', '.join(sorted(missing))}: `langmemory hooks install {program}`."
        )
    asked = [sys.executable, "-P", "-m", MODULE, client.WAIT, program, VERIFY]
    done = subprocess.run(
        [*asked, *_options(target)], input=b"{}", capture_output=True, check=False
    )
    if done.stdout != VERIFY.encode():
        problems.append(done.stderr.decode(errors="replace").strip() or "Memory did not answer.")
    for problem in problems:
        say(printable(f"! {problem}"), err=True)
    if problems:
        raise typer.Exit(1)
    say(f"{one.title}: {count_noun(len(one.events), 'hook')}, and memory answers.")


@hooks.command(hidden=True)
def serve(target: Target) -> None:
    """Keep the memory file open for hooks; the first hook starts it."""
    from langmemory.parts.coding import resident

    place = target.namespace(DEFAULT_NAMESPACE)
    log_to_stderr(quiet=True)
    with ExitStack() as stack:

        def opened() -> SessionMemory:
            from langmemory.parts.coding.answering import SessionMemory

            store = stack.enter_context(of_this_person(target).open(create=True))
            return SessionMemory(store=store, namespace=place)

        resident.serve(client.socket_path(_options(target)), opened)


def context(target: Target, prompt: str = "") -> None:
    """Print what memory puts into a prompt, for any other tool; nothing where nothing answers it.

    Args:
        prompt ([PROMPT]): Without it, what a session begins with.
    """
    from langmemory.parts.coding.answering import SessionMemory
    from langmemory.parts.coding.events import Event

    here = str(Path.cwd())
    with of_this_person(target).open() as store:
        memory = SessionMemory(store=store, namespace=target.namespace(DEFAULT_NAMESPACE))
        event = Event(kind="prompt" if prompt else "start", session="", folder=here, prompt=prompt)
        if block := memory.block(event, "", here):
            say(printable(block))


def _options(target: Target) -> list[str]:
    """Return the options that name the same file and namespace, wherever a hook runs."""
    if target.db is not None and not target.db.startswith("postgres"):
        db = ["--db", os.path.abspath(os.path.expanduser(target.db))]
    else:
        db = [] if target.db is None else ["--db", target.db]
    return [*db, *(part for label in target.labels or () for part in ("-n", label))]
