"""Sealing: a secret is encrypted with AES-256-GCM and bound to its row.

The associated data are the namespace, the owner, the label, the version and the id of the key. A ciphertext
that stands in another row, or in a row that was changed, does not open.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from langmemory.errors import ConfigError, SecretDamagedError, with_extra
from langmemory.parts.vault.keys import VaultKey
from langmemory.parts.vault.secret import Secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

FORMAT: Final = "langmemory vault 1"
NONCE_BYTES: Final = 12
"""NIST SP 800-38D: with random nonces at most 2**32 encryptions by one key."""
BLOCK_BYTES: Final = 64
"""Secrets are padded to a multiple of it, so that a ciphertext does not tell how long one is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """The row that a ciphertext belongs to."""

    path: str
    """Of the namespace."""
    owner: str
    label: str
    version: int

    def bound(self, key: str) -> bytes:
        """Return the associated data, for the key of this id."""
        fields = [FORMAT, self.path, self.owner, self.label, self.version, key]
        return json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode()


@dataclass(frozen=True, kw_only=True, slots=True)
class Sealed:
    """A ciphertext."""

    key: str
    """Id of the key."""
    nonce: bytes
    data: bytes
    """Ciphertext and tag."""


def seal(key: VaultKey, secret: Secret, place: Place) -> Sealed:
    """Encrypt a secret for a row, with a new nonce.

    Raises:
        ConfigError: cryptography is not installed.
    """
    nonce = os.urandom(NONCE_BYTES)
    data = _cipher(key).encrypt(nonce, _padded(secret), place.bound(key.id))
    return Sealed(key=key.id, nonce=nonce, data=data)


def unseal(key: VaultKey, sealed: Sealed, place: Place) -> Secret:
    """Decrypt a secret.

    Raises:
        SecretDamagedError: The row is not as it was written: it was changed, or moved to another place.
        ConfigError: cryptography is not installed.
    """
    text = _opened(key, sealed, place)
    if text is None:
        raise SecretDamagedError(
            f"The secret {place.label!r:.120} (version {place.version}) does not open: its row was changed, "
            "or is not the one that it was written to. Restore an older version, or the row from a backup."
        )
    return Secret(text)


def _opened(key: VaultKey, sealed: Sealed, place: Place) -> str | None:
    cipher = _cipher(key)
    from cryptography.exceptions import InvalidTag

    try:
        padded = cipher.decrypt(sealed.nonce, sealed.data, place.bound(sealed.key))
    except (InvalidTag, ValueError):  # the latter: a nonce of a wrong length
        return None
    return padded[: padded.rindex(b"\x80")].decode()


def _padded(secret: Secret) -> bytes:
    """Return the bytes with a padding of ISO/IEC 7816-4."""
    marked = secret.reveal().encode() + b"\x80"
    return marked + bytes(-len(marked) % BLOCK_BYTES)


def _cipher(key: VaultKey) -> AESGCM:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise ConfigError(
            f"The vault needs cryptography: {with_extra('vault')} ({error})."
        ) from error
    return AESGCM(key.reveal())
