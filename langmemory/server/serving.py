"""Serving: uvicorn around the application, from start to graceful stop."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.applications import Starlette

from langmemory.errors import ConfigError
from langmemory.server.service import Service
from langmemory.server.settings import ServerSettings

CONNECTIONS: Final = 4_096
"""While there are more, requests are answered with 503: each open event stream is one."""
HEAD_BYTES: Final = 64 * 1024
"""Of a request, where uvicorn reads it by h11."""
GRACE_SECONDS: Final = 10
"""What is under way may take so long when the server stops."""
SOCKET_BYTES: Final = 64 * 1024
"""Of a message that a client sends over a WebSocket, where nothing is expected."""


class _Server(uvicorn.Server):
    """uvicorn's server, which tells those who follow events that it stops: it would wait for them."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        service: Service = self.config.app.state.service  # type: ignore[union-attr]
        if service.followers is not None:
            service.followers.close()
        await super().shutdown(sockets)


def listen(settings: ServerSettings) -> socket.socket:
    """Return a socket that listens where the settings say.

    Raises:
        ConfigError: The address is taken, or none of this machine.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen(CONNECTIONS)  # who reads the address in the log may come at once
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror or error}. Pass another "
            "--port, or stop what listens there."
        ) from error
    return listening


def address_of(listening: socket.socket) -> str:
    """Return where a socket is reached, as a browser takes it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # its lines hold paths, and so keys; `service.REQUEST` has ours
        log_level=logging.WARNING,
        lifespan="on",
        proxy_headers=False,  # nobody is taken for somebody else
        server_header=False,
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ws_max_size=SOCKET_BYTES,
    )


def _allow_files() -> None:
    """Let this process have as many connections as it serves; systems begin with 256 or 1,024 files."""
    try:
        import resource
    except ImportError:  # not on Windows, where there is no such limit
        return
    wanted = 2 * CONNECTIONS
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY:
        wanted = min(wanted, most)
    if least != resource.RLIM_INFINITY and least < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def serve(app: Starlette, listening: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM; what is under way is finished first."""
    _allow_files()
    server = _Server(_config(app))

    def stop(*_: object) -> None:
        server.should_exit = True

    # It may come before uvicorn listens for it. uvicorn sends itself the signal once more when it has
    # stopped; the store is still to be closed.
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def serving(app: Starlette, settings: ServerSettings | None = None) -> Iterator[str]:
    """Serve in a thread of this process while the block runs; yields the address."""
    listening = listen(settings or ServerSettings(port=0))
    server = _Server(_config(app))
    thread = threading.Thread(
        target=server.run, args=([listening],), name="langmemory-server", daemon=True
    )
    thread.start()
    try:
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
