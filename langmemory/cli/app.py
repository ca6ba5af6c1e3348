"""The typer application and its list of commands.

A command is imported when it runs, or its own help is asked for: `langmemory --help` reads the summaries of
all from their source, and takes a tenth of a second.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from langmemory import __version__
from langmemory.cli.oneline import Command, CommandLine
from langmemory.cli.options import DbOption, NamespaceOption
from langmemory.cli.terminal import say
from langmemory.hooks import load_object, parts

COMMANDS: Final[dict[str, dict[str, str]]] = {
    "Try it": {"init": "chat:init", "chat": "chat:chat"},
    "What was said": {
        "search": "search:search", "list": "search:list_memories", "get": "search:get",
        "export": "export:export", "copy": "export:copy", "forget": "forget:forget",
    },
    "What follows from it": {
        "reflect": "reflect:reflect", "graph": "graph:graph", "journal": "journal:journal",
        "reviews": "runs:reviews", "history": "runs:history", "runs": "runs:runs", "undo": "runs:undo",
        "restore": "runs:restore", "worker": "worker:worker", "jobs": "worker:jobs",
        "maintain": "maintain:maintain",
    },
    "What else agents need": {
        "documents": "documents:documents", "projects": "projects:projects",
        "core": "core_files:core", "procedures": "procedures:procedures",
    },
    "Serve it": {"serve": "serve:serve", "mcp": "serve:mcp", "token": "token:token"},
    "Check and measure": {
        "doctor": "doctor:doctor", "health": "maintain:health", "stats": "maintain:stats",
        "usage": "maintain:usage", "reembed": "maintain:reembed", "call": "call:call",
    },
}  # fmt: skip
"""By what they are for, as `langmemory --help` shows them: the place of each, in this package or as a part
names it."""

for _part in parts():
    for _name, (_panel, _place) in _part.commands.items():
        COMMANDS[_panel] = {_name: _place, **COMMANDS.get(_panel, {})}

_PLACES: Final = {
    name: place if "." in place else f"{__package__}.{place}"
    for several in COMMANDS.values()
    for name, place in several.items()
}


class _Commands(dict[str, Any]):
    """The commands by name. One is made when it is asked for."""

    def get(self, name: str, default: Any = None) -> Any:
        if name in self and self[name] is None:
            self[name] = _made(name, load_object(_PLACES[name]))
        return super().get(name, default)


def _made(name: str, found: Any) -> Any:
    from langmemory.cli.target import with_target

    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    if not isinstance(found, typer.Typer):
        alone.command(name, cls=Command)(with_target(found))
        return typer.main.get_command(alone)
    alone.callback()(lambda: None)
    alone.add_typer(found, name=name)
    return typer.main.get_command(alone).commands[name]  # type: ignore[attr-defined]


class _AllCommands(CommandLine):
    """The outermost group."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Commands(dict.fromkeys(_PLACES))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            say(self.get_help(ctx))
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        for panel, several in COMMANDS.items():
            with formatter.section(panel):
                formatter.write_dl([(name, _summary(_PLACES[name])) for name in several])
        options = [one.get_help_record(ctx) for one in self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([one for one in options if one is not None])


def _summary(place: str) -> str:
    """Return the first line of what a command says of itself, read from its source."""
    module, _, name = place.partition(":")
    package, *way = module.split(".")  # no package on the way is imported
    spec = find_spec(package)
    file = Path(str(spec and spec.origin)).parent.joinpath(*way).with_suffix(".py")
    source = file.read_text(encoding="utf-8") if file.is_file() else ""
    found = re.search(
        rf'^def {name}\(.*?^    """(.+?)(?:\n|""")|^{name} = (?:Group|typer.Typer)\(.*?\bhelp="(.+?)"',
        source,
        re.MULTILINE | re.DOTALL,
    )
    if found:
        return found[1] or found[2]
    home = re.search(rf"^from ([\w.]+) import (?:\([^)]*|[^\n(]*)\b{name}\b", source, re.MULTILINE)
    return "" if home is None else _summary(f"{home[1]}:{name}")


app = typer.Typer(
    name="langmemory",
    cls=_AllCommands,
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
    from langmemory.cli.target import Target

    context.obj = Target(db=db, labels=namespace)
