"""`langmemory mcp`: the memory file over MCP on stdio, for Claude Code, Cursor and other clients."""

from __future__ import annotations

from typing import Annotated

import typer

from langmemory.cli.serve import log_to_stderr
from langmemory.cli.target import DEFAULT_NAMESPACE, Target
from langmemory.errors import ConfigError, with_extra


def mcp(
    target: Target,
    viewer: Annotated[
        str | None,
        typer.Option(
            "--viewer",
            metavar="NAME",
            help="On whose behalf; else the application's, which sees everything.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve the memory file over MCP on stdin and stdout; a client starts it.

    Without --namespace it is memories/me. Over HTTP, `langmemory serve` does it on /memory/mcp.
    """
    try:
        import anyio

        from langmemory.server.mcp import sdk
        from langmemory.server.mcp.answering import INSTRUCTIONS, answering
    except ImportError as error:
        raise ConfigError(f"MCP needs {error.name}: {with_extra('server')}") from error
    from langmemory import __version__
    from langmemory.server.access import LOCAL, Access, Grant

    place = target.namespace(DEFAULT_NAMESPACE)
    grant = Grant(id=LOCAL.id, viewer=viewer, namespaces=(place,), scope=LOCAL.scope)
    log_to_stderr(quiet=True)
    with target.open(create=True) as store:
        access = Access(application=store, grant=grant)
        answer = answering(lambda _: access, lambda: None)
        server = sdk.server(answer, version=__version__, instructions=INSTRUCTIONS)
        anyio.run(sdk.over_stdio, server)
