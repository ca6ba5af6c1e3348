"""`langmemory core bind|unbind|sync`: core blocks that are bound to Markdown files."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from langmemory.cli.core import NameArgument, core
from langmemory.cli.target import DEFAULT_NAMESPACE, JsonOption, Target
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.cli.values import Count
from langmemory.core_files.conventions import Convention
from langmemory.pluralize import count_noun

__all__ = ["core"]

if TYPE_CHECKING:
    from langmemory.core_files import BoundFile, FilesSynced


@core.command()
def bind(
    target: Target,
    paths: list[Path],
    *,
    block: str | None = None,
    convention: Convention = "workspace",
    limit: Count | None = None,
    create: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Bind blocks to files such as AGENTS.md: edits of either reach the other.

    Args:
        paths (PATH…): Markdown files, or folders that have some.
        block (NAME): Of one file; else by its name.
        convention (--as): Whose files of a folder: see the documentation.
        limit: Characters of each block.
        create: Write the file from the block where there is none.
    """
    from langmemory.core_files import CoreFileError, files_for

    namespace = target.namespace(DEFAULT_NAMESPACE)
    wanted: list[tuple[Path, str | None]] = []
    notes: list[str] = []
    for path in paths:
        if path.expanduser().is_dir():
            found = files_for(path, convention)
            wanted += [(one.path, one.label) for one in found.files]
            notes += found.notes or ([] if found.files else [f"{path}: none of its files is bound"])
        else:
            wanted.append((path, block))
    if block is not None and len(wanted) != 1:
        raise typer.BadParameter("--block names the block of one file; bind the files one by one.")
    bound: list[BoundFile] = []
    with target.open(create=True, vectors=False) as store:
        for path, label in wanted:
            try:
                bound.append(
                    store.core_files.bind(path, namespace, label=label, limit=limit, create=create)
                )
            except CoreFileError as error:
                notes.append(str(error))
    if as_json:
        say(json_text(plain({"bound": bound, "problems": notes})))
    else:
        for one in bound:
            say(printable(f"{one.label}: {one.path}"))
            if one.state == "asked":
                say("  differs from the block; `langmemory reviews` shows both", err=True)
            elif one.problem:
                say(printable(f"  {one.problem}"), err=True)
        for note in notes:
            say(printable(f"! {note}"), err=True)
    if not bound or notes:
        raise typer.Exit(1)


@core.command()
def unbind(target: Target, name: NameArgument) -> None:
    """Let a block and its file go their own ways; both keep what they say."""
    with target.open(vectors=False) as store:
        store.core_files.unbind(name, target.namespace(DEFAULT_NAMESPACE))
    say(f"Block {name} is bound to no file.")


@core.command()
def sync(target: Target, *, watch: bool = False, as_json: JsonOption = False) -> None:
    """Bring bound blocks and their files together.

    Args:
        watch: And again whenever a file changes; Ctrl-C stops.
    """
    namespace = target.namespace()
    with target.open(vectors=False) as store:
        if not watch:
            done = store.core_files.refresh(namespace)
            if as_json:
                say(json_text(plain(done)))
            else:
                _print(done)
            if done.problems:
                raise typer.Exit(1)
            return
        stop = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        for number, done in enumerate(store.core_files.watch(namespace, stop=stop)):
            _print(done)
            if not number:
                say("Watching; Ctrl-C stops", err=True)


def _print(done: FilesSynced) -> None:
    for path, run in done.taken.items():
        say(printable(f"{path}: taken into memory; to take it back: langmemory undo {run}"))
    for path in done.written:
        say(printable(f"{path}: written"))
    for path, why in done.problems.items():
        say(printable(f"! {path}: {why}"), err=True)
    if done.asked:
        asks = "asks" if len(done.asked) == 1 else "ask"
        say(f"{count_noun(len(done.asked), 'review')} {asks}: langmemory reviews")
    if not done:
        say(f"{count_noun(done.unchanged, 'file')}, nothing to do")
