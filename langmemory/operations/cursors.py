"""Cursors: places in lists that whoever reads takes along, sealed by a secret of the file.

Numbers of rows would tell a viewer how much others do in private, so a cursor shows nothing, and one that
was made up is refused.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from typing import Final

from langmemory.errors import ConfigError
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine, run_in_write
from langmemory.ledger.settings import cursor_secret, note_cursor_secret

NONCE_BYTES: Final = 8
TAG_BYTES: Final = 8
STEP_BYTES: Final = 32
"""Cursors have some lengths only: how many digits a number has would tell something, too."""

Part = str | int
"""What a place is made of: what the list is ordered by, the last of it the row's own."""


class Cursors:
    """Seals places in the lists of one file, and opens them again, also in another process."""

    __slots__ = ("_engine",)

    def __init__(self, engine: Engine) -> None:
        """``engine`` has the file."""
        self._engine = engine

    def sealer(self, name: str) -> Sealer:
        """Return what seals places in the list of this name."""
        with self._engine.glance() as snapshot:
            found = cursor_secret(snapshot.connection)
        if found is None:
            found = run_in_write(self._engine, _made)
        return Sealer(name, bytes.fromhex(found or ""))


def _made(connection: Connection) -> str | None:
    """Return the secret, made unless another process was faster."""
    note_cursor_secret(connection, secrets.token_hex(32))
    return cursor_secret(connection)


class Sealer:
    """Seals and opens places in one list."""

    __slots__ = ("_key", "_name")

    def __init__(self, name: str, key: bytes) -> None:
        """``key`` is the secret of the file; a cursor of a list of another name is refused."""
        self._name, self._key = name, key

    def sealed(self, place: Sequence[Part]) -> str:
        """Return the cursor of a place."""
        text = json.dumps([self._name, *place], separators=(",", ":")).encode()
        text = text.ljust(-(-len(text) // STEP_BYTES) * STEP_BYTES)
        nonce = secrets.token_bytes(NONCE_BYTES)
        hidden = _masked(self._key, nonce, text)
        whole = nonce + hidden + _tag(self._key, nonce + hidden)
        return base64.urlsafe_b64encode(whole).decode().rstrip("=")

    def opened(self, cursor: str) -> list[Part]:
        """Return the place of a cursor.

        Raises:
            ConfigError: It is none of this list and file.
        """
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (ValueError, TypeError):
            raw = b""
        sealed, tag = raw[:-TAG_BYTES], raw[-TAG_BYTES:]
        if len(sealed) > NONCE_BYTES and hmac.compare_digest(tag, _tag(self._key, sealed)):
            text = _masked(self._key, sealed[:NONCE_BYTES], sealed[NONCE_BYTES:])
            place: list[Part]
            name, *place = json.loads(text)
            if name == self._name:
                return place
        raise ConfigError(
            f"The cursor {cursor!r:.60} is none of this file, or of another list in it. Start without one, "
            "and read afresh what you keep of its memories."
        )


def _masked(key: bytes, nonce: bytes, text: bytes) -> bytes:
    mask = hashlib.shake_256(b"mask" + key + nonce).digest(len(text))
    return bytes(a ^ b for a, b in zip(text, mask, strict=True))


def _tag(key: bytes, text: bytes) -> bytes:
    return hashlib.blake2b(text, key=key, digest_size=TAG_BYTES, person=b"tag").digest()
