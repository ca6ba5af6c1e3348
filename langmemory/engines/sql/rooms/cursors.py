"""Cursors: places in a file, sealed so that nobody without its secret can read or make one."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import struct
from typing import Final

from langmemory.engines.sql.engine import Engine
from langmemory.engines.sql.tables.settings import feed_secret, note_feed_secret
from langmemory.errors import ConfigError

NONCE_BYTES: Final = 8
TAG_BYTES: Final = 8
NUMBERS: Final = struct.Struct(">QQ")


class Cursors:
    """The seal of one file. Gaps between the numbers of rows would tell a viewer how much others do in
    private."""

    __slots__ = ("_key",)

    def __init__(self, engine: Engine) -> None:
        with engine.glance() as snapshot:
            found = feed_secret(snapshot.connection)
        if found is None:
            with engine.write() as connection:
                note_feed_secret(connection, secrets.token_hex(32))
                found = feed_secret(connection)
        self._key = bytes.fromhex(found or "")

    def sealed(self, first: int, second: int = 0) -> str:
        """Return the cursor of a place that two numbers say."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        hidden = self._masked(nonce, NUMBERS.pack(first, second))
        raw = nonce + hidden + self._tag(nonce + hidden)
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def opened(self, cursor: str) -> tuple[int, int]:
        """Return the numbers in a cursor.

        Raises:
            ConfigError: It is none of this file.
        """
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (ValueError, TypeError):
            raw = b""
        sealed, tag = raw[:-TAG_BYTES], raw[-TAG_BYTES:]
        whole = len(raw) == NONCE_BYTES + NUMBERS.size + TAG_BYTES
        if not whole or not hmac.compare_digest(tag, self._tag(sealed)):
            raise ConfigError(
                f"The cursor {cursor!r:.60} is none of this file. Start without one, and read afresh what "
                "you keep of it."
            )
        first, second = NUMBERS.unpack(self._masked(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]))
        return first, second

    def _masked(self, nonce: bytes, text: bytes) -> bytes:
        mask = hashlib.blake2b(nonce, key=self._key, digest_size=NUMBERS.size, person=b"mask")
        return bytes(a ^ b for a, b in zip(text, mask.digest(), strict=True))

    def _tag(self, text: bytes) -> bytes:
        return hashlib.blake2b(text, key=self._key, digest_size=TAG_BYTES, person=b"tag").digest()
