"""`langmemory mcp`: the memory file over MCP on stdio, for Claude Code, Cursor and other clients."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from langmemory.arguments import check_agent
from langmemory.cli.serve import log_to_stderr
from langmemory.cli.target import DEFAULT_NAMESPACE, Target
from langmemory.errors import ConfigError, DatabaseError, with_extra

OWN_FILE: Final = "~/.langmemory/memory.db"
"""Where memory lies that no option and no configuration names."""


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
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="As which agent it shares context with others; without it, no tools for that.",
            show_default=False,
        ),
    ] = None,
    project: Annotated[
        list[str] | None,
        typer.Option(
            "--project",
            metavar="NAME",
            help="A project at hand: its documents are searched, too; may be repeated.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve the memory file over MCP on stdin and stdout; a client starts it.

    Without --db, and where no path is configured, the file is ~/.langmemory/memory.db. Without --namespace it
    is memories/me. Over HTTP, `langmemory serve` does it on /memory/mcp.
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
    grant = Grant(
        id=LOCAL.id,
        viewer=viewer,
        namespaces=(),
        scope=LOCAL.scope,
        agent=None if agent is None else check_agent("--agent", agent),
    ).at(place, tuple(project or ()))
    log_to_stderr(quiet=True)
    with _of_this_person(target).open(create=True) as store:
        for name in grant.projects:
            if store.projects.get(name) is None:
                raise ConfigError(
                    f"There is no project {name!r}; `langmemory projects list` shows them, and "
                    "`langmemory projects add FOLDER` registers one."
                )
        access = Access(application=store, grant=grant)
        answer = answering(lambda _: access, lambda: None)
        server = sdk.server(answer, version=__version__, instructions=INSTRUCTIONS)
        anyio.run(sdk.over_stdio, server)


def _of_this_person(target: Target) -> Target:
    """Return the target with a file in the home directory, where none is named: clients start the command in
    whatever directory they are in, and are to share one memory.

    Raises:
        DatabaseError: The directory cannot be made.
    """
    if target.db is not None or "path" in target.config().database.model_fields_set:
        return target
    file = Path(OWN_FILE).expanduser()
    try:
        file.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise DatabaseError(
            f"Cannot make {file.parent} ({error.strerror}). Name a file: langmemory --db FILE mcp"
        ) from error
    return replace(target, db=str(file))
