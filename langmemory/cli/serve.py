"""`langmemory serve` and `langmemory mcp`: the memory file over HTTP, or over MCP on stdio."""

from __future__ import annotations

import logging
import os
import sys
import threading
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from langmemory.arguments import check_agent
from langmemory.cli.target import DEFAULT_NAMESPACE, Target
from langmemory.cli.terminal import printable, say
from langmemory.errors import ConfigError, DatabaseError, with_extra


def serve(
    target: Target,
    *,
    host: str = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Which port.")
    ] = 8765,
    allow_host: list[str] | None = None,
    viewer: str | None = None,
    require_token: bool = False,
    oauth_issuer: str | None = None,
    oauth_resource: str | None = None,
    oauth_audience: str | None = None,
    oauth_jwks: str | None = None,
    oauth_viewer_claim: str = "sub",
    oauth_namespace: list[str] | None = None,
    oauth_scope: str | None = None,
    unlock_vault: bool = False,
    audit: Path | None = None,
    quiet: bool = False,
    show: bool = False,
) -> None:
    """Serve the memory file over HTTP, until stopped.

    On this machine no token is needed. Elsewhere `langmemory token create` makes one.

    Args:
        host (ADDRESS): Where to listen.
        allow_host (NAME): A name by which clients reach this server, as of a proxy before it; everybody then
            needs a token. May be repeated.
        viewer (NAME): Who sits at this machine and needs no token; else the application, which sees
            everything.
        require_token: Ask for a token also on this machine.
        oauth_issuer (URL): An authorization server whose access tokens /memory/mcp takes.
        oauth_resource (URL): The address of /memory/mcp as clients know it.
        oauth_audience (TEXT): The audience of its tokens; else the resource.
        oauth_jwks (URL): Where its keys are; else where its metadata says.
        oauth_viewer_claim: The claim that says on whose behalf.
        oauth_namespace (A/{CLAIM}): What its tokens reach; may be repeated. Else memories/{sub}.
        oauth_scope: read, write, or admin: what all its tokens may do. Else what their scopes memory:read,
            memory:write and memory:admin say.
        unlock_vault: Let whoever needs no token unlock secrets of the vault.
        audit (FILE): Add a line of JSON to a file for each request: who, what, and what came of it.
        quiet: Log no requests.
        show (--open): Open the pages in a browser.
    """
    try:
        from langmemory.server.app import create_app
        from langmemory.server.serving import address_of, listen
        from langmemory.server.serving import serve as run
    except ImportError as error:
        raise ConfigError(f"The server needs {error.name}: {with_extra('server')}") from error
    from langmemory.server.access import LOCAL, Grant
    from langmemory.server.oauth.settings import OAuthSettings
    from langmemory.server.settings import ServerSettings

    oauth = None
    if oauth_issuer is not None and oauth_resource is not None:
        oauth = OAuthSettings(
            issuer=oauth_issuer,
            resource=oauth_resource,
            audience=oauth_audience,
            jwks_url=oauth_jwks,
            viewer_claim=oauth_viewer_claim,
            namespaces=tuple(oauth_namespace or ()),
            scope=oauth_scope,  # type: ignore[arg-type]
        )
    elif (
        oauth_issuer
        or oauth_resource
        or oauth_audience
        or oauth_jwks
        or oauth_namespace
        or oauth_scope
    ):
        raise ConfigError("OAuth needs both --oauth-issuer and --oauth-resource.")
    settings = ServerSettings(
        host=host,
        port=port,
        allowed_hosts=tuple(allow_host or ()),
        require_token=require_token,
        audit=audit,
        oauth=oauth,
    )
    place = target.namespace()
    local = Grant(
        id=LOCAL.id,
        viewer=viewer,
        namespaces=(place,) if place else (),
        scope=LOCAL.scope,
        unlocks=unlock_vault,
    )
    listening = listen(settings)
    log_to_stderr(quiet=quiet)
    with listening, target.open(create=True) as store:
        if store.ttl_config:
            store.start_ttl_sweeper()
        at = address_of(listening)
        say(printable(f"Serving {store.path} on {at}/api/v1/memory; Ctrl-C stops"), err=True)
        say(printable(f"Look at it: {at}/memory/"), err=True)
        if show:
            open_in_browser(f"{at}/memory/")
        run(create_app(store, settings=settings, local=local), listening)


def open_in_browser(address: str) -> None:
    """Open a page in the person's browser, where there is a screen: else a browser for terminals would."""
    screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if screen:  # in a thread: some browsers are waited for until they are closed
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def log_to_stderr(*, quiet: bool) -> None:
    """Log to stderr: requests and warnings, or with ``quiet`` warnings alone."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
    for name in ("langmemory", "uvicorn"):
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.WARNING if quiet or name == "uvicorn" else logging.INFO)


OWN_FILE: Final = "~/.langmemory/memory.db"
"""Where memory lies that no option and no configuration names."""


def mcp(
    target: Target,
    *,
    viewer: str | None = None,
    agent: str | None = None,
    project: list[str] | None = None,
) -> None:
    """Serve the memory file over MCP on stdin and stdout; a client starts it.

    Without --db, and where no path is configured, the file is ~/.langmemory/memory.db. Without --namespace it
    is memories/me. Over HTTP, `langmemory serve` does it on /memory/mcp.

    Args:
        viewer (NAME): On whose behalf; else the application's, which sees everything.
        agent (NAME): As which agent it shares context with others; without it, no tools for that.
        project (NAME): A project at hand: its documents are searched, too; may be repeated.
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
    with of_this_person(target).open(create=True) as store:
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


def of_this_person(target: Target) -> Target:
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
