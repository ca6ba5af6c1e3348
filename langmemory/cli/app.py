"""The typer application and its list of commands.

A module has the commands of one subject and imports nothing heavy before one runs:
`langmemory --help` takes a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from langmemory import __version__
from langmemory.cli.call import call
from langmemory.cli.chat import chat, init
from langmemory.cli.core_files import core
from langmemory.cli.doctor import doctor
from langmemory.cli.documents import documents
from langmemory.cli.export import copy, export
from langmemory.cli.forget import forget
from langmemory.cli.graph import graph
from langmemory.cli.journal import journal
from langmemory.cli.maintain import health, maintain, reembed, stats, usage
from langmemory.cli.oneline import Command, CommandLine
from langmemory.cli.procedures import procedures
from langmemory.cli.projects import projects
from langmemory.cli.reflect import reflect
from langmemory.cli.runs import history, restore, reviews, runs, undo
from langmemory.cli.search import get, list_memories, search
from langmemory.cli.serve import mcp, serve
from langmemory.cli.target import DbOption, NamespaceOption, Target, with_target
from langmemory.cli.terminal import say
from langmemory.cli.token import token
from langmemory.cli.worker import jobs, worker
from langmemory.hooks import load_object, parts

app = typer.Typer(
    name="langmemory",
    cls=CommandLine,
    help="Long-term memory for LangGraph agents in one SQLite file.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(asked: bool) -> None:
    if asked:
        say(f"langmemory {__version__}")
        raise typer.Exit


@app.callback()
def start(
    context: typer.Context,
    db: DbOption = None,
    namespace: NamespaceOption = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options given before the command count for it, unless it is given its own."""
    context.obj = Target(db=db, labels=namespace)


COMMANDS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
    "Try it": {"init": init, "chat": chat},
    "What was said": {
        "search": search,
        "list": list_memories,
        "get": get,
        "export": export,
        "copy": copy,
        "forget": forget,
    },
    "What follows from it": {
        "reflect": reflect,
        "graph": graph,
        "journal": journal,
        "reviews": reviews,
        "history": history,
        "runs": runs,
        "undo": undo,
        "restore": restore,
        "worker": worker,
        "jobs": jobs,
        "maintain": maintain,
    },
    "What else agents need": {
        "documents": documents,
        "projects": projects,
        "core": core,
        "procedures": procedures,
    },
    "Serve it": {"serve": serve, "mcp": mcp, "token": token},
    "Check and measure": {
        "doctor": doctor,
        "health": health,
        "stats": stats,
        "usage": usage,
        "reembed": reembed,
        "call": call,
    },
}
"""By what they are for, as `langmemory --help` shows them."""

for _part in parts():
    for _name, (_panel, _place) in _part.commands.items():
        COMMANDS[_panel] = {_name: load_object(_place), **COMMANDS.get(_panel, {})}

for _panel, _commands in COMMANDS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_panel)
        else:
            app.command(_name, cls=Command, rich_help_panel=_panel)(with_target(_command))
