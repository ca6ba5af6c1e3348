"""`langmemory core …`: the short texts that are always in context, as the person edits them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmemory.cli.target import (
    DEFAULT_NAMESPACE,
    Group,
    JsonOption,
    Target,
)
from langmemory.cli.terminal import json_text, plain, printable, say

if TYPE_CHECKING:
    from langmemory.core_files.bindings import BoundFile
    from langmemory.nodes.core_memory import CoreBlock, CoreMemory

core = Group(help="Show and edit core memory, and bind it to files.")

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="The block: persona, human, task …")
]
TextArgument = Annotated[
    str, typer.Argument(metavar="TEXT", help="The text, in quotes.", show_default=False)
]


@core.command("list")
def list_blocks(
    target: Target,
    as_json: JsonOption = False,
) -> None:
    """List the blocks: how full, which version, how they begin."""
    from langmemory.cli.screen import RIGHT, WHOLE, Screen, plain_table
    from langmemory.nodes.access import core_files_of

    with _core_memory(target) as memory:
        blocks, files = memory.blocks(), core_files_of(memory.store)
        bound = {one.label: one for one in files.bound(memory.namespace[:-1])} if files else {}
    if as_json:
        say(json_text([{**plain(one), **_told(bound.get(one.label))} for one in blocks]))
        return
    columns = {
        "block": {**WHOLE, "min_width": 7},
        "full": {**RIGHT, "min_width": 4},
        "version": {**RIGHT, "min_width": 7},
        **({"file": {"no_wrap": True}} if bound else {}),
        "text": {"no_wrap": True, "overflow": "ellipsis", "ratio": 1},
    }
    table = plain_table(columns, expand=True)
    for block in blocks:
        text = " ".join(block.content.split()) or memory.labels[block.label]
        cells = [block.label, f"{block.fill:.0%}", str(block.version)]
        if bound:
            file = bound.get(block.label)
            state = "" if file is None or file.state == "agrees" else f" ({file.state})"
            cells.append("" if file is None else file.name + state)
        table.add_row(*cells, text, style=None if block.content else "dim")
    Screen().print(table)
    for file in bound.values():
        if file.problem:
            say(printable(f"! {file.problem}"), err=True)


@core.command()
def show(
    target: Target,
    name: NameArgument,
    as_json: JsonOption = False,
) -> None:
    """Print a block as it stands."""
    with _core_memory(target) as memory:
        block = memory.block(name)
    if not block.content and not as_json:
        again = f'`langmemory core set {name} "…"` writes it'
        say(printable(f"Block {name} is empty; {again}"), err=True)
    say(json_text(plain(block)) if as_json else printable(block.content))


@core.command("set")
def set_text(
    target: Target,
    name: NameArgument,
    text: TextArgument,
    as_json: JsonOption = False,
) -> None:
    """Write a block anew; an empty text empties it."""
    with _core_memory(target, create=True) as memory:
        _say(memory.rethink(name, text), as_json)


@core.command()
def append(
    target: Target,
    name: NameArgument,
    text: TextArgument,
    as_json: JsonOption = False,
) -> None:
    """Add a line to a block."""
    with _core_memory(target, create=True) as memory:
        _say(memory.append(name, text), as_json)


@core.command()
def undo(
    target: Target,
    name: NameArgument,
    as_json: JsonOption = False,
) -> None:
    """Take the last edit back; a second undo takes the first one back."""
    with _core_memory(target) as memory:
        _say(memory.undo(name), as_json)


@core.command()
def history(
    target: Target,
    name: NameArgument,
    as_json: JsonOption = False,
) -> None:
    """Every version of a block: when, by whom, and what it said."""
    from langmemory.cli.screen import FOLD, RIGHT, WHOLE, Screen, plain_table

    with _core_memory(target) as memory:
        versions = memory.versions(name)
    if as_json:
        say(json_text(plain(versions)))
        return
    if not versions:
        say(f"Block {name} was never edited.")
        return
    table = plain_table({"version": RIGHT, "when": WHOLE, "who": WHOLE, "text": FOLD})
    for version in versions:
        when, who = f"{version.at.astimezone():%Y-%m-%d %H:%M}", version.editor or "–"
        table.add_row(str(version.version), when, who, version.content or "(empty)")
    Screen().print(table)


@contextmanager
def _core_memory(target: Target, *, create: bool = False) -> Iterator[CoreMemory]:
    """The blocks of the namespace, the application's own ones included, edited by the person."""
    from langmemory.nodes.core_memory import CoreMemory, labels_in

    place = target.namespace(DEFAULT_NAMESPACE)
    with target.open(create=create, vectors=False) as store:
        yield CoreMemory(store, place, labels=labels_in(store, place), editor="person")


def _told(file: BoundFile | None) -> dict[str, Any]:
    """Return what the server tells of a block's file."""
    if file is None:
        return {"file": None, "file_state": None, "file_problem": None}
    return {"file": file.path, "file_state": file.state, "file_problem": file.problem}


def _say(block: CoreBlock, as_json: bool) -> None:
    say(
        json_text(plain(block))
        if as_json
        else f"Block {block.label}: version {block.version}, {len(block.content)} of {block.limit} "
        f"characters"
    )
