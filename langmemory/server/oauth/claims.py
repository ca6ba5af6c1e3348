"""Claims: what a verified access token says, and what it gives."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from langmemory.labels import label_of
from langmemory.server.access import RANK, Grant
from langmemory.server.oauth.settings import CLAIM, OAuthSettings
from langmemory.types import Namespace, TokenScope

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
