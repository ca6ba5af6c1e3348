"""The protected resource: how clients learn where to get a token, and why theirs is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from langmemory.server.access import Grant
from langmemory.server.oauth.settings import OAuthSettings
from langmemory.server.oauth.verifier import (
    SCOPES,
    InvalidTokenError,
    MissingScopeError,
    TokenVerifier,
    jwt_verifier,
)
from langmemory.server.problems import Problem
from langmemory.types import TokenScope

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
BASIC: Final[tuple[TokenScope, ...]] = ("read", "write")
"""Scopes that clients are told to ask for. Who wants ``admin`` asks for it by name."""


class ProtectedResource:
    """The MCP endpoint as OAuth sees it."""

    def __init__(
        self,
        settings: OAuthSettings,
        *,
        verifier: TokenVerifier | None = None,
        mounted: bool = False,
    ) -> None:
        """``mounted``: the routes at the root belong to another server."""
        self.settings = settings
        self._verify = verifier or jwt_verifier(settings)
        parts = urlsplit(settings.resource)
        self.path = WELL_KNOWN + parts.path.rstrip("/")
        origin = f"{parts.scheme}://{parts.netloc}"
        # Below the endpoint's own folder, whatever path a proxy puts before it.
        below = parts.path.rstrip("/").rpartition("/")[0]
        self.metadata_url = origin + (f"{below}{WELL_KNOWN}" if mounted else self.path)

    def metadata(self) -> dict[str, Any]:
        """Return the document of RFC 9728."""
        found: dict[str, Any] = {
            "resource": self.settings.resource,
            "authorization_servers": [self.settings.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "langmemory",
        }
        if self.settings.scope is None:
            found["scopes_supported"] = [SCOPES[one] for one in BASIC]
        return found

    def root_routes(self) -> list[Route]:
        """Return the places of RFC 9728, where the server has the root for itself."""
        return [Route(path, self._answer) for path in dict.fromkeys((self.path, WELL_KNOWN))]

    def own_route(self) -> Route:
        """Return the place below ``/memory``, which a challenge can name wherever that is mounted."""
        return Route(WELL_KNOWN, self._answer)

    async def _answer(self, _: Request) -> Response:
        return JSONResponse(self.metadata())

    async def grant(self, token: str) -> Grant:
        """Return what an access token gives.

        Raises:
            Problem: It does not count (401) or allows nothing (403), with the challenge of RFC 6750.
        """
        try:
            found = await self._verify(token)
        except InvalidTokenError as error:
            raise self.unauthorized(
                f"This access token is refused. {error} Sign in again.", failed=True
            ) from None
        except MissingScopeError:
            raise self.insufficient("read") from None
        return replace(found, from_issuer=True)

    def unauthorized(self, detail: str, *, failed: bool = False) -> Problem:
        """Return the refusal of a request without a token, or with one that does not count."""
        scopes = None if self.settings.scope else " ".join(SCOPES[one] for one in BASIC)
        challenge = self._challenge(error="invalid_token" if failed else None, scope=scopes)
        return Problem("unauthorized", detail, headers=challenge)

    def insufficient(self, needed: TokenScope) -> Problem:
        """Return the refusal of what a token's scopes do not allow."""
        name = SCOPES[needed]
        return Problem(
            "scope",
            f"This needs an access token with the scope {name}, and yours lacks it. Sign in again and "
            "allow it.",
            headers=self._challenge(error="insufficient_scope", scope=name),
        )

    def _challenge(self, **fields: str | None) -> dict[str, str]:
        parameters = {"realm": "langmemory", "resource_metadata": self.metadata_url, **fields}
        pairs = ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)
        return {"WWW-Authenticate": f"Bearer {pairs}"}
