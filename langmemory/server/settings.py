"""Settings of one server: where it listens, whom it lets in, how much it takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from langmemory.errors import ConfigError
from langmemory.resources import MOST_BYTES
from langmemory.server.oauth.settings import OAuthSettings

MIB = 1024 * 1024
NOT_IN_A_NAME = re.compile(r"[\s/@?#*]|^[^:]*:[^:]*$")
"""One colon begins a port; several are of an IPv6 address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """See `langmemory serve --help`; what has no option there is for programs."""

    host: str = "127.0.0.1"
    """The address it listens on."""
    port: int = 8765
    """0 takes any that is free."""
    allowed_hosts: tuple[str, ...] = ()
    """Names by which clients reach it, besides those of this machine itself, as they stand in the ``Host``
    header, without the port. With one, everybody needs a token: others come in through a proxy."""
    require_token: bool = False
    """Refuse requests without a token also from this machine itself."""
    requests_per_second: float = 1_000
    """Of one token, on average over some seconds."""
    body_limit_bytes: int = MIB
    import_limit_bytes: int = 1_024 * MIB
    """Of a file that is imported."""
    document_limit_bytes: int = MOST_BYTES
    """Of a document that is sent."""
    body_timeout_seconds: float = 30
    """A client may take so long to send 64 KiB of a body."""
    event_heartbeat_seconds: float = 15
    """An event stream on which nothing happens says so as often."""
    event_send_seconds: float = 20
    """A reader of events that takes longer to accept some is dropped."""
    audit: Path | None = None
    """A file to which a line of JSON is added for each request: when, who, what, and what came of it."""
    oauth: OAuthSettings | None = None
    """Whose access tokens ``/memory/mcp`` takes, besides those of langmemory."""

    def __post_init__(self) -> None:
        for name in self.allowed_hosts:
            if not name or NOT_IN_A_NAME.search(name):
                raise ConfigError(
                    f"No client can reach the server by the name {name!r:.80}. Pass it without scheme, port "
                    "and path, such as memory.example.com."
                )
