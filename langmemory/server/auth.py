"""Auth: who may come in. Tokens in the Authorization header; without one only whoever sits here.

A page of another site can make a browser send requests to this machine, also under a name of its own that
it lets point here (DNS rebinding). So names in ``Host`` are checked, and what a browser says of where a
request comes from (``Origin``, ``Sec-Fetch-Site``). No cookie is ever read, and CORS is off.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from langmemory.server.access import LOCAL, Grant
from langmemory.server.oauth.settings import is_loopback
from langmemory.server.problems import Problem
from langmemory.server.settings import ServerSettings
from langmemory.stores import MemoryStore

if TYPE_CHECKING:
    from langmemory.server.oauth.resource import ProtectedResource

LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
OURS: Final = "lmt_"
"""How tokens begin that `store.tokens` made."""
FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers of proxies: what they pass on comes from somewhere else."""
_NAME_AND_PORT: Final = re.compile(
    r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^\s:@/\\\[\],]+))(?::[0-9]{1,5})?"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Doorkeeper:
    """Who is let in, and as whom."""

    local: Grant | None
    """What somebody at this machine gets without a token; None: nothing."""
    hosts: frozenset[str] | None
    """Names by which the server is reached; None: any, since something before it checks them."""
    closed: str | None = None
    """Why nobody is let in at all; None where somebody may be."""

    @classmethod
    def of(cls, settings: ServerSettings, *, local: Grant | None = LOCAL) -> Doorkeeper:
        """Return the doorkeeper of a server that listens by itself."""
        through_proxy = bool(settings.allowed_hosts) or settings.oauth is not None
        names = LOCAL_NAMES | {name.lower() for name in settings.allowed_hosts}
        if not settings.host.startswith(("0.0.0.0", "::")):
            names |= {settings.host.lower()}
        if settings.oauth is not None:
            names |= {urlsplit(settings.oauth.resource).hostname or ""}
        needed = settings.require_token or through_proxy or not is_loopback(settings.host)
        return cls(local=None if needed else local, hosts=names)

    def check_origin(self, connection: HTTPConnection) -> None:
        """Refuse what is addressed to another name, or sent by another site's page; and everything where
        nobody is let in.

        Raises:
            Problem: It is.
        """
        if self.closed is not None:
            raise Problem("unprotected", self.closed)
        host = _host(connection)
        if self.hosts is not None and host not in self.hosts:
            raise Problem(
                "host",
                f"This server is not called {host!r:.80}. If it is, name it: `langmemory serve --allow-host "
                "NAME`.",
            )
        headers = connection.headers
        origin = headers.get("origin")
        if origin is not None:
            name = headers.get("host", "")
            if origin.lower() not in (f"http://{name}".lower(), f"https://{name}".lower()):
                raise Problem("origin", "Pages of other sites may not use this server.")
        followed_link = (
            connection.scope.get("method") == "GET" and headers.get("sec-fetch-mode") == "navigate"
        )
        elsewhere = headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
        if elsewhere and not followed_link:
            raise Problem("origin", "Pages of other sites may not use this server.")

    async def grant(
        self,
        connection: HTTPConnection,
        store: MemoryStore,
        oauth: ProtectedResource | None = None,
    ) -> Grant:
        """Return what the sender of a request may do; ``oauth`` takes access tokens, too.

        Raises:
            Problem: There is no token, or none that counts.
        """
        given = connection.headers.getlist("authorization")
        if not given:
            if self.local is not None and _from_here(connection):
                return self.local
            if oauth is not None:
                raise oauth.unauthorized("Send a token: `Authorization: Bearer …`.")
            raise _refused(
                "Send a token: `Authorization: Bearer lmt_…`. `langmemory token create` makes one."
            )
        scheme, _, text = given[0].partition(" ")
        if len(given) > 1 or scheme.lower() != "bearer":
            raise _refused("The Authorization header is to be `Bearer`, a space and a token.")
        if oauth is not None and not text.strip().startswith(OURS):
            return await oauth.grant(text.strip())
        token = await run_in_threadpool(store.tokens.verified, text.strip())
        if token is None:
            raise _refused(
                "This token was never given out, was revoked, or has expired.", failed=True
            )
        return Grant.of(token)


def _refused(detail: str, *, failed: bool = False) -> Problem:
    reason = ', error="invalid_token"' if failed else ""
    return Problem(
        "unauthorized", detail, headers={"WWW-Authenticate": f'Bearer realm="langmemory"{reason}'}
    )


def _from_here(connection: HTTPConnection) -> bool:
    """Return whether a request was sent on this machine and is addressed to it; what a proxy passes on
    is from elsewhere."""
    client = connection.client
    return (
        client is not None
        and is_loopback(client.host)
        and connection.scope.get("http_version") != "1.0"
        and _host(connection) in LOCAL_NAMES
        and not any(name in connection.headers for name in FORWARDED)
    )


def _host(connection: HTTPConnection) -> str:
    """Return the name in the Host header, lower case, without the port; as it is where it is malformed, or
    there are several, so that it is no name of this server."""
    text = ", ".join(connection.headers.getlist("host")).lower()
    found = _NAME_AND_PORT.fullmatch(text)
    return text if found is None else found["name"] or found["address"]
