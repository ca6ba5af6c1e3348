"""Keys of a vault: 256 random bits, or derived from a passphrase."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn, TypeAlias

from langmemory.errors import VaultKeyError

PREFIX: Final = "lmk_"
"""Begins every key that `VaultKey.generate` made, so that scanners for leaked credentials can know one."""
PASSPHRASE: Final = "passphrase:"
"""Begins a line that is a passphrase."""
KEY_BYTES: Final = 32
SHORTEST_PASSPHRASE: Final = 12

SCRYPT: Final[Mapping[str, int]] = {"n": 2**17, "r": 8, "p": 1}
"""Costs of a passphrase: 128 MiB and about half a second for each try (OWASP Password Storage Cheat
Sheet)."""
SALT_BYTES: Final = 16
_SCRYPT_MOST_BYTES: Final = 1 << 30
"""A larger cost in a damaged file is refused before memory is taken for it."""

_KEY: Final = re.compile(rf"{PREFIX}([A-Za-z0-9_-]{{43}})")
_FINGERPRINT: Final = b"langmemory vault key"


class VaultKey:
    """A key for AES-256-GCM. Its repr is its id, a fingerprint that does not lead back to it."""

    __slots__ = ("_bytes", "id")

    def __init__(self, material: bytes) -> None:
        """Take 32 bytes."""
        if len(material) != KEY_BYTES:
            size = len(material)
            material = b""
            raise VaultKeyError(f"A key of the vault has {KEY_BYTES} bytes; this one has {size}.")
        self._bytes = material
        self.id = hmac.new(material, _FINGERPRINT, hashlib.sha256).hexdigest()[:16]

    @classmethod
    def generate(cls) -> VaultKey:
        """Return a new random key."""
        return cls(secrets.token_bytes(KEY_BYTES))

    def reveal(self) -> bytes:
        """Return the key itself."""
        return self._bytes

    def text(self) -> str:
        """Return the key as a file or a variable holds it."""
        return PREFIX + base64.urlsafe_b64encode(self._bytes).decode().rstrip("=")

    def __repr__(self) -> str:
        return f"<VaultKey {self.id}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A key of the vault cannot be pickled. Read it where it is used.")


class Passphrase:
    """Words from which a key is derived, with a salt that the database keeps beside the key's id."""

    __slots__ = ("_derived", "_text")

    def __init__(self, text: str) -> None:
        """Take the words as they are.

        Raises:
            VaultKeyError: They are too short.
        """
        if fault := _too_short(text):
            del text
            raise fault
        self._text = text
        self._derived: dict[str, VaultKey] = {}

    def derive(self, kdf: str) -> VaultKey:
        """Return the key for a salt and costs, as `new_kdf` made them; it takes half a second the first time.

        Raises:
            VaultKeyError: They are none, or cost more than 1 GiB.
        """
        if kdf in self._derived:
            return self._derived[kdf]
        try:
            found = json.loads(kdf)
            salt = base64.b64decode(found["salt"])
            costs = {name: int(found[name]) for name in SCRYPT}
            too_much = 128 * costs["n"] * costs["r"] * costs["p"] > _SCRYPT_MOST_BYTES
            material = b"" if too_much else hashlib.scrypt(
                self._text.encode("utf-8", "surrogatepass"), salt=salt, dklen=KEY_BYTES,
                maxmem=2 * _SCRYPT_MOST_BYTES - 1, **costs,
            )  # fmt: skip
        except (KeyError, TypeError, ValueError):
            raise VaultKeyError(
                f"The vault has an unknown way to derive a key: {kdf!r:.120}."
            ) from None
        if too_much:
            raise VaultKeyError(f"The vault asks for too much to derive a key: {kdf!r:.120}.")
        return self._derived.setdefault(kdf, VaultKey(material))

    def __repr__(self) -> str:
        return "<Passphrase>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A passphrase of the vault cannot be pickled. Read it where it is used.")


GivenKey: TypeAlias = VaultKey | Passphrase


def new_kdf(costs: Mapping[str, int] = SCRYPT) -> str:
    """Return a new salt with the costs, as JSON."""
    salt = base64.b64encode(secrets.token_bytes(SALT_BYTES)).decode()
    fields: dict[str, Any] = {"name": "scrypt", "salt": salt, **costs}
    return json.dumps(fields)


def parse(text: str, source: str) -> tuple[GivenKey, ...] | VaultKeyError:
    """Return the keys of a text, one a line; the first is the newest. Empty lines and those that begin with
    ``#`` are left out. Where a line is none, return the error, which does not quote it: whoever asked raises
    it once no variable holds the text any more, since reports of errors show variables.

    Args:
        text: ``lmk_…``, 32 bytes in base64 or hexadecimal, or ``passphrase:`` and words.
        source: Where it is from, as an error names it.
    """
    found: list[GivenKey] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        key = _parsed(line)
        if key is None:
            return VaultKeyError(
                f"Line {number} of {source} is no key of a vault: it has to be lmk_…, 32 bytes in base64 or "
                "hexadecimal, or passphrase: and some words. `langmemory vault key` makes one."
            )
        if isinstance(key, VaultKeyError):
            return key
        found.append(key)
    return tuple(found)


def _too_short(passphrase: str) -> VaultKeyError | None:
    if len(passphrase) >= SHORTEST_PASSPHRASE:
        return None
    return VaultKeyError(
        f"The passphrase of the vault has {len(passphrase)} characters; use {SHORTEST_PASSPHRASE} or more. "
        "Five random words are good ones."
    )


def _parsed(line: str) -> GivenKey | VaultKeyError | None:
    if line.startswith(PASSPHRASE):
        words = line.removeprefix(PASSPHRASE).strip()
        return _too_short(words) or Passphrase(words)
    ours = _KEY.fullmatch(line)
    try:
        if ours is not None:
            material = base64.urlsafe_b64decode(ours[1] + "=")
        elif len(line) == 2 * KEY_BYTES:
            material = bytes.fromhex(line)
        else:
            material = base64.b64decode(line, validate=True)
    except ValueError:
        return None
    return VaultKey(material) if len(material) == KEY_BYTES else None


def ids_of(keys: Iterable[GivenKey]) -> str:
    """Return the keys as a message names them."""
    return ", ".join("a passphrase" if isinstance(key, Passphrase) else key.id for key in keys)
