"""The verifier: whether an access token was signed by the issuer, for this server, and counts now; what its
claims give; and the issuer's keys, which PyJWT's client reads from where the issuer's metadata says."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from threading import Lock
from time import monotonic
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import httpx
import jwt
from starlette.concurrency import run_in_threadpool

from langmemory.errors import ConfigError
from langmemory.labels import label_of
from langmemory.server.access import RANK, Grant
from langmemory.server.oauth.settings import CLAIM, OAuthSettings, check_url
from langmemory.server.problems import Problem
from langmemory.types import Namespace, TokenScope

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


SCOPES: Final[dict[TokenScope, str]] = {one: f"memory:{one}" for one in RANK}
"""Names of the scopes in a token."""
CLAIM_CHARS: Final = 400


class InvalidTokenError(Exception):
    """An access token does not count; the message says why, and holds nothing of it."""


class MissingScopeError(Exception):
    """An access token counts, and allows nothing here."""


def grant_of(claims: Mapping[str, Any], settings: OAuthSettings) -> Grant:
    """Return what a token gives, by its verified claims.

    Raises:
        InvalidTokenError: A claim that is needed is missing, or not what it should be.
        MissingScopeError: No scope of ours is among its scopes.
    """
    viewer = _text(claims, settings.viewer_claim)
    namespaces = tuple(_namespace(one, claims) for one in settings.templates)
    scope = settings.scope or _scope(claims)
    if scope is None:
        raise MissingScopeError
    who = hashlib.sha256(f"{settings.issuer}\0{viewer}".encode()).hexdigest()
    return Grant(
        id=f"oauth-{who[:16]}",
        viewer=viewer,
        namespaces=namespaces,
        scope=scope,
        from_issuer=True,
    )


def _scope(claims: Mapping[str, Any]) -> TokenScope | None:
    """Return the highest scope; issuers write them into ``scope`` (RFC 9068) or ``scp``."""
    token_scopes: set[str] = set()
    for name in ("scope", "scp"):
        given = claims.get(name, ())
        token_scopes |= {one for one in given.split() if one} if isinstance(given, str) else set()
        token_scopes |= (
            {one for one in given if isinstance(one, str)} if isinstance(given, list) else set()
        )
    known = [one for one, name in SCOPES.items() if name in token_scopes]
    return max(known, key=lambda one: RANK[one], default=None)


def _namespace(template: str, claims: Mapping[str, Any]) -> Namespace:
    """Return a template with its claims. A slash in a claim begins no new label."""
    return tuple(
        CLAIM.sub(lambda found: label_of(_text(claims, found[1])), label)
        for label in template.split("/")
    )


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= CLAIM_CHARS or not value.isprintable():
        raise InvalidTokenError(f"Its claim {name!r} is missing, or no line of text.")
    return value


TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""Of access tokens; an issuer signs others with the same keys, such as logout tokens."""

TokenVerifier: TypeAlias = Callable[[str], Awaitable[Grant]]
"""Takes an access token and returns what it gives. It raises `InvalidTokenError` or `MissingScopeError`."""


def jwt_verifier(settings: OAuthSettings, keys: IssuerKeys | None = None) -> TokenVerifier:
    """Return what verifies JWTs that the issuer signed."""
    known = keys or IssuerKeys(settings)
    audience = settings.audience or settings.resource

    async def verified(token: str) -> Grant:
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise InvalidTokenError("It is no well-formed JWT.") from None
        if header.get("alg") not in ALGORITHMS:
            raise InvalidTokenError("Its algorithm is none of those that are taken.")
        if str(header.get("typ", "jwt")).lower() not in TYPES:
            raise InvalidTokenError("It is no access token.")
        kid = header.get("kid")
        key = await run_in_threadpool(known.find, kid) if isinstance(kid, str) else None
        if key is None:
            raise InvalidTokenError("It is signed with a key that the issuer does not have.")
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=audience,
                issuer=settings.issuer,
                leeway=settings.leeway_seconds,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            raise InvalidTokenError(_said(error, settings, audience)) from None
        return grant_of(claims, settings)

    return verified


def _said(error: jwt.PyJWTError, settings: OAuthSettings, audience: str) -> str:
    """Return what is wrong with a token, and nothing that it holds."""
    if isinstance(error, jwt.ExpiredSignatureError):
        return "It has expired."
    if isinstance(error, jwt.ImmatureSignatureError):
        return "It is not valid yet; the clocks of issuer and server may differ."
    if isinstance(error, jwt.MissingRequiredClaimError):
        return f"Its claim {error.claim!r} is missing."
    if isinstance(error, jwt.InvalidAudienceError):
        return f"It is for another server: its audience is not {audience}."
    if isinstance(error, jwt.InvalidIssuerError):
        return f"It is of another issuer than {settings.issuer}."
    return "Its signature is not the issuer's, or it is malformed."
