"""The verifier: whether an access token was signed by the issuer, for this server, and counts now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import jwt
from starlette.concurrency import run_in_threadpool

from langmemory.server.access import Grant
from langmemory.server.oauth.claims import InvalidTokenError, grant_of
from langmemory.server.oauth.keys import ALGORITHMS, IssuerKeys
from langmemory.server.oauth.settings import OAuthSettings

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
