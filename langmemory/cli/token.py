"""`langmemory token …`: who reaches the memory file through the server, and how far."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from langmemory.cli.oneline import Command, CommandLine
from langmemory.cli.target import JsonOption, OnFile, Target, with_target
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.cli.values import expiry
from langmemory.errors import ConfigError

token = typer.Typer(
    cls=CommandLine,
    no_args_is_help=True,
    help="Make, list and revoke tokens for `langmemory serve`.",
)


@token.command(cls=Command)
@with_target
def create(
    target: OnFile,
    viewer: Annotated[
        str | None,
        typer.Option(
            "--viewer",
            metavar="NAME",
            help="On whose behalf; else the application's, which sees everything.",
            show_default=False,
        ),
    ] = None,
    namespaces: Annotated[
        list[str] | None,
        typer.Option(
            "--namespace",
            "-n",
            metavar="A/B",
            help="What it reaches, with all below it; may be repeated. Else the whole file.",
            show_default=False,
        ),
    ] = None,
    scope: Annotated[
        str, typer.Option("--scope", metavar="SCOPE", help="read, write, or admin.")
    ] = "read",
    expires: Annotated[
        Any,
        typer.Option(
            "--expires",
            metavar="WHEN",
            parser=expiry,
            help="A day (UTC), or a span: 12h, 30d.",
            show_default=False,
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="As which agent it sends and receives on the bus.",
            show_default=False,
        ),
    ] = None,
    unlocks: Annotated[
        bool, typer.Option("--vault", help="It may unlock secrets of the vault.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a token, and show it this once."""
    with target.open(create=True, vectors=False) as store:
        made, text = store.tokens.create(
            viewer=viewer,
            namespaces=[Target(labels=[one]).namespace() for one in namespaces or ()],
            scope=scope,  # type: ignore[arg-type]
            expires_at=expires,
            agent=agent,
            unlocks=unlocks,
        )
    if as_json:
        say(json_text({**plain(made), "token": text}))
        return
    say(text)
    say(f"It is not shown again. `langmemory token revoke {made.id}` ends it.", err=True)


@token.command("list", cls=Command)
@with_target
def list_tokens(target: OnFile, as_json: JsonOption = False) -> None:
    """List the tokens: for whom, how far, until when. The tokens themselves are stored nowhere."""
    from rich.text import Text

    from langmemory.cli.screen import FOLD, WHOLE, Screen

    with target.open(vectors=False) as store:
        found = store.tokens.listed()
    if as_json:
        say(json_text(plain(found)))
        return
    if not found:
        say("There is no token. `langmemory token create` makes one.")
        return
    now, rows = datetime.now(UTC), []
    for one in found:
        ends = (
            "never" if one.expires_at is None else f"{one.expires_at.astimezone():%Y-%m-%d %H:%M}"
        )
        expired = one.expires_at is not None and one.expires_at <= now
        where = ", ".join("/".join(labels) for labels in one.namespaces) or "the whole file"
        whose = one.viewer or "the application"
        if one.agent is not None:
            whose += f", agent {one.agent}"
        cells = one.id, whose, where, one.scope + (", vault" if one.unlocks else ""), ends
        style = "dim strike" if expired else ""
        narrow = [Text(f"{one.id}\n  {' · '.join(cells[1:])}\n", style)]
        rows.append((tuple(map(Text, cells)), style, narrow))
    columns = {"token": WHOLE, "for": FOLD, "where": FOLD, "scope": WHOLE, "expires": WHOLE}
    Screen().print_rows(columns, rows)


@token.command(cls=Command)
@with_target
def revoke(
    target: OnFile,
    id: Annotated[
        str, typer.Argument(metavar="ID", help="See `langmemory token list`.", show_default=False)
    ],
) -> None:
    """Revoke a token: it is refused from now on."""
    with target.open(vectors=False) as store:
        if not store.tokens.revoke(id):
            raise ConfigError(f"There is no token {id!r}. `langmemory token list` lists them.")
    say(printable(f"Token {id} revoked"))
