"""Keys of an issuer: PyJWT's client reads and caches them, from where the issuer's metadata says."""

from __future__ import annotations

import logging
from threading import Lock
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

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
PAUSE_SECONDS: Final = 10.0
"""Between two readings, whatever keys tokens claim to be signed with."""
TIMEOUT_SECONDS: Final = 10.0
"""Of one request to the issuer."""

logger = logging.getLogger("langmemory.server")


class IssuerKeys:
    """The public keys of an issuer. Any thread may ask; one at a time reads."""

    def __init__(
        self,
        settings: OAuthSettings,
        *,
        fresh_seconds: float = FRESH_SECONDS,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self._settings, self._fresh, self._pause = settings, fresh_seconds, pause_seconds
        self._client: jwt.PyJWKClient | None = None
        self._failed_at, self._failure = float("-inf"), ""
        self._reading = Lock()

    def find(self, kid: str) -> jwt.PyJWK | None:
        """Return the key of an id; None where the issuer has none that can sign.

        Raises:
            Problem: The issuer cannot be reached, and the key is not among those read last.
        """
        with self._reading:
            found = self._cached(kid) or self._read(kid)
        usable = found is not None and found.public_key_use in (None, "sig")
        return found if found and usable and found.algorithm_name in ALGORITHMS else None

    def _cached(self, kid: str) -> jwt.PyJWK | None:
        cache = None if self._client is None else self._client.jwk_set_cache
        keys = None if cache is None else cache.get()
        return None if keys is None else jwt.PyJWKClient.match_kid(keys.keys, kid)

    def _read(self, kid: str) -> jwt.PyJWK | None:
        if monotonic() - self._failed_at < self._pause:
            raise self._unreachable()
        try:
            if self._client is None:
                self._client = jwt.PyJWKClient(
                    self._settings.jwks_url or jwks_url_of(self._settings.issuer),
                    lifespan=self._fresh,
                    timeout=TIMEOUT_SECONDS,
                    cooldown_duration=self._pause,
                )
            return self._client.get_signing_key(kid)
        except (jwt.PyJWKClientConnectionError, httpx.HTTPError, ValueError) as error:
            self._failed_at = monotonic()
            self._failure = str(error) if isinstance(error, ConfigError) else type(error).__name__
            logger.warning(
                "oauth_keys_failed issuer=%s reason=%s", self._settings.issuer, self._failure
            )
            raise self._unreachable() from None
        except jwt.PyJWTError:  # it has no such key
            return None

    def _unreachable(self) -> Problem:
        return Problem(
            503,
            "issuer-unreachable",
            f"The keys of {self._settings.issuer} cannot be read now ({self._failure}), so that its tokens "
            "cannot be checked. Try again later.",
            headers={"Retry-After": f"{PAUSE_SECONDS:.0f}"},
        )


def jwks_url_of(issuer: str) -> str:
    """Return where an issuer's metadata says that its keys are: RFC 8414, then OpenID Connect.

    Raises:
        ConfigError: There is no metadata, or it is of somebody else or names no keys.
        httpx.HTTPError: The issuer cannot be reached.
        ValueError: The metadata is no JSON.
    """
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    urls = [
        f"{root}/.well-known/oauth-authorization-server{path}",
        f"{root}/.well-known/openid-configuration{path}",
        f"{root}{path}/.well-known/openid-configuration",
    ]
    for url in dict.fromkeys(urls):
        answer = httpx.get(url, headers={"Accept": "application/json"}, timeout=TIMEOUT_SECONDS)
        if 300 <= answer.status_code < 500:
            continue
        document: Any = answer.raise_for_status().json()
        metadata = document if isinstance(document, dict) else {}
        if metadata.get("issuer") != issuer:
            raise ConfigError(f"{url} is of the issuer {metadata.get('issuer')!r:.200}")
        found = metadata.get("jwks_uri")
        if not isinstance(found, str):
            raise ConfigError(f"{url} names no jwks_uri")
        check_url(found, "jwks_uri")
        return found
    raise ConfigError("no metadata at " + " or ".join(dict.fromkeys(urls)))
