"""`langmemory token …`: who reaches the memory file through the server, and how far."""

from __future__ import annotations

from datetime import UTC, datetime

from langmemory.cli.target import Group, JsonOption, OnFile, Target
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.cli.values import Expiry
from langmemory.errors import ConfigError

token = Group(help="Make, list and revoke tokens for `langmemory serve`.")


@token.command()
def create(
    target: OnFile,
    *,
    viewer: str | None = None,
    namespaces: list[str] | None = None,
    scope: str = "read",
    expires: Expiry | None = None,
    agent: str | None = None,
    unlocks: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Make a token, and show it this once.

    Args:
        viewer (NAME): On whose behalf; else the application's, which sees everything.
        namespaces (--namespace, -n, A/B): What it reaches, with all below it; may be repeated. Else the whole
            file.
        scope: read, write, or admin.
        expires: A day (UTC), or a span: 12h, 30d.
        agent (NAME): As which agent it sends and receives on the bus.
        unlocks (--vault): It may unlock secrets of the vault.
    """
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


@token.command("list")
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


@token.command()
def revoke(target: OnFile, id: str) -> None:
    """Revoke a token: it is refused from now on.

    Args:
        id: See `langmemory token list`.
    """
    with target.open(vectors=False) as store:
        if not store.tokens.revoke(id):
            raise ConfigError(f"There is no token {id!r}. `langmemory token list` lists them.")
    say(printable(f"Token {id} revoked"))
