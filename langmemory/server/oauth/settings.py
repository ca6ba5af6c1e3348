"""Settings of OAuth: whose access tokens the MCP endpoint takes, and what they give."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final, get_args
from urllib.parse import urlsplit

from langmemory.errors import ConfigError
from langmemory.types import TokenScope

CLAIM: Final = re.compile(r"\{([^{}]*)\}")
"""A claim in a template of a namespace."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OAuthSettings:
    """See `langmemory serve --help`, where each is an option ``--oauth-…``."""

    issuer: str
    """The authorization server, as its tokens and its metadata name it."""
    resource: str
    """The address of the MCP endpoint as clients know it, ``https://memory.example.com/memory/mcp``."""
    audience: str | None = None
    """What the claim ``aud`` of a token must hold; None: the resource (RFC 8707)."""
    jwks_url: str | None = None
    """Where the issuer's keys are; None: where its metadata says."""
    viewer_claim: str = "sub"
    """The claim that says on whose behalf a token acts. It must be one that people cannot choose."""
    namespaces: tuple[str, ...] = ()
    """What a token reaches, with claims in braces: ``memories/{sub}``. None: ``memories/`` and the claim of
    the viewer."""
    scope: TokenScope | None = None
    """What every token may do, where the issuer knows no scopes ``memory:read``, ``memory:write`` and
    ``memory:admin``; None: what its scopes say."""
    leeway_seconds: float = 60
    """Clocks may differ by so much."""

    def __post_init__(self) -> None:
        for name in ("issuer", "resource", "jwks_url"):
            if (value := getattr(self, name)) is not None:
                check_url(value, name)
        if self.scope not in (None, *get_args(TokenScope)):
            raise ConfigError(
                f"OAuth knows the scopes read, write and admin, and not {self.scope!r:.80}."
            )
        for template in self.templates:
            rest = CLAIM.sub("x", template)
            if "{" in rest or "}" in rest or "." in rest or not all(rest.split("/")):
                raise ConfigError(
                    f"OAuth cannot make a namespace of {template!r}. Write labels between slashes and claims "
                    "in braces, such as memories/{sub}."
                )

    @property
    def templates(self) -> tuple[str, ...]:
        """Of namespaces, at least one."""
        return self.namespaces or (f"memories/{{{self.viewer_claim}}}",)


def check_url(value: str, name: str) -> None:
    """Refuse an address that others could answer for.

    Raises:
        ConfigError: It is no https address, nor one of this machine.
    """
    parts = urlsplit(value)
    local = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if not parts.hostname or not (parts.scheme == "https" or local) or parts.fragment:
        raise ConfigError(
            f"OAuth needs an https address as {name}, and {value!r:.200} is none. Without TLS only addresses "
            "of this machine are taken."
        )


def is_loopback(host: str) -> bool:
    """Return whether a name or address is one of this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
