"""`langmemory call ROOM OPERATION`: every declared operation as a command, derived from its declaration."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer

from langmemory.cli.oneline import Command, CommandLine
from langmemory.cli.signatures import KEYWORD
from langmemory.cli.target import (
    DEFAULT_NAMESPACE,
    JsonOption,
    Target,
    ViewerOption,
    with_target,
)
from langmemory.cli.terminal import json_text, plain, say
from langmemory.errors import ConfigError

if TYPE_CHECKING:
    from langmemory.declaring import Argument, Operation, Room
    from langmemory.types import Namespace

AsOption = Annotated[
    str | None, typer.Option("--as", metavar="AGENT", help="As which agent.", show_default=False)
]
NEEDED_AGENT = "as_needed_agent"
"""The option of a room that every operation needs an agent for."""
OWN = "argument_"
"""Begins the names of arguments of the operation, some of which are called as those of every command."""
SHOWN_COLUMNS = 6
"""Columns of a table; the rest of a row is in ``--json``."""


class Called(Command):
    """A command that also takes what it needs without the names of options: `call bus inbox anna`."""

    def make_parser(self, ctx: Any) -> Any:
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            options, rest, order = parse(args)
            needed = [one for one in self.params if one.required or one.name == NEEDED_AGENT]
            needed.sort(key=lambda one: one.name != NEEDED_AGENT)
            missing = [one for one in needed if one.name not in options]
            for param, word in zip(missing, list(rest), strict=False):
                options[param.name] = [word] if param.multiple else word
                rest.remove(word)
                order.append(param)
            return options, rest, order

        parser.parse_args = parse_args
        return parser


class Rooms(CommandLine):
    """A command for each room of a store, made when it is asked for: the store takes a second to import."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [one.name for one in _rooms()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        room = next((one for one in _rooms() if one.name == cmd_name), None)
        return None if room is None else typer.main.get_command(_commands_of(room))


def _rooms() -> list[Room]:
    import langmemory.documents.projects
    import langmemory.stores  # noqa: F401 - importing declares the rooms
    from langmemory.declaring import rooms

    return [one for one in rooms() if one.operations]


call = typer.Typer(
    cls=Rooms,
    help="Call any operation of the store: those that REST and a remote store have, too. What one needs may "
    "stand without the name of its option: `call bus inbox anna`.",
    no_args_is_help=True,
)


def _commands_of(room: Room) -> typer.Typer:
    summary = (room.cls.__doc__ or "").partition("\n\n")[0]
    app = typer.Typer(
        name=room.name,
        help=" ".join(summary.split()),
        no_args_is_help=True,
        cls=CommandLine,
        add_completion=False,
    )
    for one in room.operations:
        app.command(one.name.replace("_", "-"), cls=Called)(with_target(_command_of(one)))
    app.callback()(lambda: None)  # with a single command it is a group, too
    return app


def _command_of(operation: Operation) -> Callable[..., None]:
    """Return an operation as a command: a function whose signature says what its options are."""

    def run(
        target: Target,
        *,
        viewer: str | None,
        as_json: bool,
        as_agent: str | None = None,
        as_needed_agent: str | None = None,
        **given: Any,
    ) -> None:
        arguments = {
            name.removeprefix(OWN): one for name, one in given.items() if one not in (None, [])
        }
        checked = _checked(operation, arguments)
        show(_answer(operation, target, viewer, as_agent or as_needed_agent, checked), as_json)

    options = [_option(one) for one in operation.arguments if not one.is_namespace]
    options.append(_keyword("viewer", ViewerOption, None))
    options.append(_keyword("as_json", JsonOption, False))
    if operation.room.agent is not None:
        name = NEEDED_AGENT if operation.room.agent == "needed" else "as_agent"
        options.append(_keyword(name, AsOption, None))
    options.sort(key=lambda one: one.default is not one.empty)
    target = inspect.Parameter("target", KEYWORD, annotation=Target)
    run.__signature__ = inspect.Signature([target, *options])  # type: ignore[attr-defined]
    run.__doc__ = " ".join(operation.description.split())
    return run


def _keyword(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, KEYWORD, annotation=kind, default=default)


def _option(argument: Argument) -> inspect.Parameter:
    flag, kind = f"--{argument.name.replace('_', '-')}", _inner(argument.kind)
    names = [f"{flag}/--no-{flag[2:]}" if kind is bool else flag]
    option = typer.Option(
        *names, help=argument.description, metavar=_metavar(kind), show_default=False
    )
    several = get_origin(kind) in (tuple, list)
    of = bool if kind is bool else list[str] if several else str
    default = inspect.Parameter.empty if argument.is_required else None
    hint = of if argument.is_required else of | None
    return _keyword(OWN + argument.name, Annotated[hint, option], default)


def _inner(kind: Any) -> Any:
    """Return a type without its bounds and without None."""
    while True:
        if hasattr(kind, "__metadata__"):
            kind = get_args(kind)[0]
        elif type(None) in get_args(kind):
            kind = next(one for one in get_args(kind) if one is not type(None))
        else:
            return kind


def _metavar(kind: Any) -> str | None:
    if kind is bool:
        return None
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    return {int: "N", float: "X"}.get(kind, "TEXT")


def _checked(operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of the command line as the operation takes them.

    Raises:
        typer.BadParameter: One is wrong.
    """
    from pydantic import ValidationError

    from langmemory.wire import adapter

    texts = {name: _read(one) for name, one in given.items()}
    try:
        checked = adapter(operation.parameters_model).validate_python(texts)
    except ValidationError as error:
        first = error.errors()[0]
        where = "--" + str(first["loc"][0]).replace("_", "-")
        raise typer.BadParameter(f"{where}: {first['msg']}") from None
    return {name: getattr(checked, name) for name in checked.model_fields_set}


def _read(given: Any) -> Any:
    """Return a value; what is JSON of an object or a list is read as that."""
    if isinstance(given, list):
        return [_read(one) for one in given]
    if isinstance(given, str) and given[:1] in ("{", "["):
        try:
            return json.loads(given)
        except ValueError:
            return given
    return given


def _answer(
    operation: Operation,
    target: Target,
    viewer: str | None,
    agent: str | None,
    given: Mapping[str, Any],
) -> Any:
    from langmemory.stores.face import bound

    if viewer is not None and operation.declared.whole is not None:
        raise ConfigError("This acts on everybody's memory: leave out --viewer.")

    def place(_: Namespace | None, exact: bool) -> Namespace:
        return target.namespace(DEFAULT_NAMESPACE if exact else "")

    with target.open() as store:
        answer = operation.call(bound(store, viewer), given, place, agent)
    if answer is None and operation.may_be_missing:
        raise ConfigError(f"There is no such {operation.noun}.")
    return answer


def show(answer: Any, as_json: bool) -> None:
    """Print what an operation returned: as a table, as names and values, or as JSON."""
    from langmemory.types import Page

    if isinstance(answer, tuple):
        answer = list(answer)
    rows = plain(answer)
    if as_json:
        say(json_text(rows))
    elif rows is None:
        say("Done.")
    elif isinstance(answer, Page):
        _show_rows(rows["items"])
        if rows["next"] is not None:
            say(f"More follows: --cursor {rows['next']}", err=True)
    elif isinstance(rows, list):
        _show_rows(rows)
    elif isinstance(rows, dict):
        _show_one(rows)
    else:
        say(str(rows))


def _show_rows(rows: list[Any]) -> None:
    from langmemory.cli.screen import FOLD, Screen, plain_table

    if not rows:
        say("There is nothing.")
        return
    if not isinstance(rows[0], dict):
        for one in rows:
            say(_cell(one))
        return
    names = _columns(rows)
    table = plain_table({one.replace("_", " "): FOLD for one in names})
    for row in rows:
        table.add_row(*(_cell(_text(row.get(one)), one) for one in names))
    Screen().print(table)


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    """Return the names of a table's columns. Where there are too many, those give way first that are
    the same in every row, such as the namespace of a memory's history."""
    names = [one for one in rows[0] if any(row.get(one) not in EMPTY for row in rows)]
    if len(names) > SHOWN_COLUMNS:
        names = [one for one in names if any(row.get(one) != rows[0][one] for row in rows)] or names
    return names[:SHOWN_COLUMNS]


def _text(value: Any) -> Any:
    """Return the text of a memory's value, and any other value as it is."""
    text = value.get("text") if isinstance(value, dict) else None
    return text if isinstance(text, str) else value


def _show_one(row: Mapping[str, Any]) -> None:
    from langmemory.cli.screen import FOLD, Screen, facts_table

    table = facts_table({"no_wrap": True, "style": "dim"}, FOLD)
    for name, value in row.items():
        if value not in EMPTY:
            table.add_row(name.replace("_", " "), _cell(value, name))
    Screen().print(table)


EMPTY: tuple[Any, ...] = (None, [], {}, "")


def _cell(value: Any, name: str = "") -> str:
    """Return a value as a person reads it: times in minutes and in the time zone of this machine."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ("/" if name == "namespace" else "; ").join(value)
    if (isinstance(value, str) and name.endswith("_at")) or name == "at":
        return f"{datetime.fromisoformat(str(value)).astimezone():%Y-%m-%d %H:%M}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
