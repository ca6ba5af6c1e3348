"""`store.tokens`: who reaches the file through the server, on whose behalf, and how far."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, get_args

from langmemory.arguments import check_agent
from langmemory.errors import ConfigError
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine, run_in_write
from langmemory.ledger.values import from_us, maybe_datetime, to_us
from langmemory.namespaces import check_namespace
from langmemory.types import AccessToken, Namespace, TokenScope
from langmemory.values import from_json

_COLUMNS = "id, viewer, namespaces, scope, created_at, expires_at, agent, unlocks"


def insert(connection: Connection, token: AccessToken, namespaces: str, digest: bytes) -> None:
    """Add a token; ``namespaces`` is those of it as JSON, ``digest`` the SHA-256 of its secret."""
    expires = None if token.expires_at is None else to_us(token.expires_at)
    connection.execute(
        "INSERT INTO token (id, hash, viewer, namespaces, scope, created_at, expires_at, agent, unlocks) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            token.id, digest, token.viewer, namespaces, token.scope, to_us(token.created_at),
            expires, token.agent, int(token.unlocks),
        ),
    )  # fmt: skip


FIND = f"SELECT {_COLUMNS}, hash FROM token WHERE id = ?"
"""A single statement, so that no transaction is needed for it."""


def token_of(row: Sequence[Any]) -> AccessToken:
    """Return the token of a row of `FIND` or `listed`."""
    return AccessToken(
        id=row[0],
        viewer=row[1],
        namespaces=tuple(tuple(labels) for labels in from_json(row[2])),
        scope=row[3],
        created_at=from_us(row[4]),
        expires_at=maybe_datetime(row[5]),
        agent=row[6],
        unlocks=bool(row[7]),
    )


def listed(connection: Connection) -> list[AccessToken]:
    """Return every token, the oldest first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM token ORDER BY created_at, id")
    return [token_of(row) for row in rows]


def delete(connection: Connection, id: str) -> bool:
    """Delete a token; return whether it was there."""
    row = connection.execute("DELETE FROM token WHERE id = ? RETURNING id", (id,)).fetchone()
    return row is not None


PREFIX: Final = "lmt"
"""Begins every token, so that scanners for leaked credentials can know one."""
_TOKEN: Final = re.compile(rf"{PREFIX}_([0-9a-f]{{12}})_([A-Za-z0-9_-]{{43}})")


class Tokens:
    """The tokens of one file. Of a secret only its SHA-256 is stored: it has 256 random bits, so nobody
    finds it by trying."""

    __slots__ = ("_engine", "clock")

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def create(
        self,
        *,
        viewer: str | None = None,
        namespaces: Iterable[Namespace] = (),
        scope: TokenScope = "read",
        expires_at: datetime | None = None,
        agent: str | None = None,
        unlocks: bool = False,
    ) -> tuple[AccessToken, str]:
        """Make a token; return what is stored of it, and the token itself, which nobody can read again.

        Args:
            viewer: On whose behalf it reads and writes; None is the application, which sees everything.
            namespaces: What it reaches, each a prefix by whole labels; none is the whole file.
            scope: ``read``, ``write`` (which includes it), or ``admin`` (which includes both).
            expires_at: From when on it is refused; None is never.
            agent: As which agent it sends and receives on the bus; None is none. A token of the
                application may name one with each request.
            unlocks: Whether it may also unlock secrets of the vault, with a reason, into the audit log.

        Raises:
            ConfigError: An argument is wrong.
        """
        if viewer is not None and not viewer.strip():
            raise ConfigError(
                "viewer is empty; pass the id of a person, or None for the application."
            )
        if scope not in get_args(TokenScope):
            raise ConfigError(f"scope is {scope!r}; pass {', '.join(get_args(TokenScope))}.")
        now = self.clock()
        if expires_at is not None and expires_at <= now:
            raise ConfigError(f"The token would have expired at {expires_at:%Y-%m-%d %H:%M %Z}.")
        token = AccessToken(
            id=secrets.token_hex(6),
            viewer=viewer,
            namespaces=tuple(check_namespace(one) for one in namespaces),
            scope=scope,
            created_at=now,
            expires_at=expires_at,
            agent=None if agent is None else check_agent("agent", agent),
            unlocks=unlocks,
        )
        secret = secrets.token_urlsafe(32)
        spaces, digest = json.dumps(token.namespaces), _digest(secret)
        run_in_write(self._engine, lambda there: insert(there, token, spaces, digest))
        return token, f"{PREFIX}_{token.id}_{secret}"

    def listed(self) -> list[AccessToken]:
        """Return every token, the oldest first, expired ones included."""
        with self._engine.glance() as snapshot:
            return listed(snapshot.connection)

    def revoke(self, id: str) -> bool:
        """Delete a token: it is refused from now on. Return whether it was there."""
        return run_in_write(self._engine, lambda connection: delete(connection, id))

    def verified(self, text: str) -> AccessToken | None:
        """Return the token that a text is; None for what is none, revoked, forged or expired.

        The secrets are compared in constant time, also where there is no such token.
        """
        found = _TOKEN.fullmatch(text)
        if found is None:
            return None
        row = self._engine.first(FIND, (found[1],))
        digest = bytes(32) if row is None else row[8]
        if not hmac.compare_digest(digest, _digest(found[2])) or row is None:
            return None
        token = token_of(row)
        expired = token.expires_at is not None and token.expires_at <= self.clock()
        return None if expired else token


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
