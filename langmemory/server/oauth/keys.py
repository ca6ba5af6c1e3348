"""Keys of an issuer: found by its metadata, kept for a while, read again when it signs with a new one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import httpx
import jwt

from langmemory.errors import ConfigError
from langmemory.server.oauth.settings import OAuthSettings, check_url
from langmemory.server.problems import Problem

ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
"""Those with a private key. With HS256 anybody could sign by the public one."""

FRESH_SECONDS: Final = 600.0
"""Keys are read again after it, so that one the issuer has withdrawn ends."""
USABLE_SECONDS: Final = 3_600.0
"""So old they may be where the issuer cannot be reached."""
PAUSE_SECONDS: Final = 10.0
"""Between two readings, whatever keys tokens claim to be signed with."""
TIMEOUT_SECONDS: Final = 10.0
"""Of one reading, its metadata included."""
DOCUMENT_BYTES: Final = 1024 * 1024

logger = logging.getLogger("langmemory.server")


class IssuerKeys:
    """The public keys of an issuer. One event loop uses them."""

    def __init__(self, settings: OAuthSettings, *, clock: Callable[[], float] = monotonic) -> None:
        self._settings, self._clock = settings, clock
        self._keys: list[jwt.PyJWK] = []
        self._read_at = self._tried_at = float("-inf")
        self._failed = ""
        self._reading = anyio.Lock()

    async def find(self, kid: str | None) -> jwt.PyJWK | None:
        """Return the key of an id, or of a token without one the only key; None where there is none.

        Raises:
            Problem: The issuer cannot be reached, and what is known of its keys is too old.
        """
        if self._age() >= FRESH_SECONDS or self._known(kid) is None:
            async with self._reading:
                # Another request may have read them meanwhile.
                if self._age() >= FRESH_SECONDS or self._known(kid) is None:
                    await self._read_again()
        found = self._known(kid)
        if self._age() >= USABLE_SECONDS or (found is None and self._failed):
            raise Problem(
                503,
                "issuer-unreachable",
                f"The keys of {self._settings.issuer} cannot be read now ({self._failed}), so that its "
                "tokens cannot be checked. Try again later.",
                headers={"Retry-After": f"{PAUSE_SECONDS:.0f}"},
            )
        return found

    def _age(self) -> float:
        return self._clock() - self._read_at

    def _known(self, kid: str | None) -> jwt.PyJWK | None:
        if kid is None:
            return self._keys[0] if len(self._keys) == 1 else None
        return next((one for one in self._keys if one.key_id == kid), None)

    async def _read_again(self) -> None:
        if self._clock() - self._tried_at < PAUSE_SECONDS:
            return
        self._tried_at = self._clock()
        try:
            with anyio.fail_after(TIMEOUT_SECONDS):
                async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS) as client:
                    self._keys = await self._read(client)
            self._read_at, self._failed = self._clock(), ""
        except (httpx.HTTPError, TimeoutError, ValueError, jwt.PyJWTError) as error:
            said = str(error) if isinstance(error, ConfigError) else ""
            self._failed = said or type(error).__name__
            logger.warning(
                "oauth_keys_failed issuer=%s reason=%s", self._settings.issuer, self._failed
            )

    async def _read(self, client: httpx.AsyncClient) -> list[jwt.PyJWK]:
        url = self._settings.jwks_url or await self._discovered(client)
        document = await _document(client, url)
        if document is None:
            raise ConfigError(f"there is nothing at {url}")
        found = jwt.PyJWKSet.from_dict(document)
        return [
            one
            for one in found.keys
            if one.algorithm_name in ALGORITHMS and one.public_key_use in (None, "sig")
        ]

    async def _discovered(self, client: httpx.AsyncClient) -> str:
        issuer = self._settings.issuer
        for url in metadata_urls(issuer):
            document = await _document(client, url)
            if document is None:
                continue
            if document.get("issuer") != issuer:
                raise ConfigError(f"{url} is of the issuer {document.get('issuer')!r:.200}")
            found = document.get("jwks_uri")
            if not isinstance(found, str):
                raise ConfigError(f"{url} names no jwks_uri")
            check_url(found, "jwks_uri")
            return found
        raise ConfigError("no metadata at " + " or ".join(metadata_urls(issuer)))


def metadata_urls(issuer: str) -> list[str]:
    """Return where an issuer may describe itself: RFC 8414, then OpenID Connect."""
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}/.well-known", parts.path.rstrip("/")
    found = [f"{root}/oauth-authorization-server{path}", f"{root}/openid-configuration{path}"]
    if path:
        found.append(f"{parts.scheme}://{parts.netloc}{path}/.well-known/openid-configuration")
    return found


async def _document(client: httpx.AsyncClient, url: str) -> dict[str, Any] | None:
    """Return a JSON object; None where there is none."""
    async with client.stream("GET", url, headers={"Accept": "application/json"}) as response:
        if 300 <= response.status_code < 500:
            return None
        response.raise_for_status()
        body = b""
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > DOCUMENT_BYTES:
                raise ConfigError(f"{url} is larger than {DOCUMENT_BYTES:,} bytes")
    found = httpx.Response(200, content=body).json()
    if not isinstance(found, dict):
        raise ConfigError(f"{url} is no JSON object")
    return found
