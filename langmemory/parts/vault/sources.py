"""Where the keys of a vault come from: the environment, a file, the system's keyring, or the application."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from langmemory.errors import VaultKeyError, with_extra
from langmemory.files import FILE_MODE
from langmemory.parts.vault.keys import GivenKey, Passphrase, VaultKey, parse

VARIABLE: Final = "LANGMEMORY_VAULT_KEY"
"""The environment variable with the keys themselves."""
FILE_VARIABLE: Final = "LANGMEMORY_VAULT_KEY_FILE"
"""The one with the path of a file of keys."""
KEYRING_VARIABLE: Final = "LANGMEMORY_VAULT_KEYRING"
"""The one with the name of an entry of the system's keyring."""
SERVICE: Final = "langmemory"
"""The name of the service in the system's keyring."""


class VaultKeys:
    """The keys that a process has. They are read when one is needed, and again when one is missing: so a key
    that was added for a rotation is found without a restart."""

    __slots__ = ("_given", "_passed", "_text")

    def __init__(self, passed: Iterable[GivenKey] | GivenKey | None = None) -> None:
        """``passed`` are those of the application, which then are all."""
        if isinstance(passed, VaultKey | Passphrase):
            passed = (passed,)
        self._passed = None if passed is None else tuple(passed)
        if any(not isinstance(one, VaultKey | Passphrase) for one in self._passed or ()):
            self._passed = None
            raise VaultKeyError("vault_key has to be a VaultKey, a Passphrase, or a list of these.")
        self._given: tuple[GivenKey, ...] | None = self._passed
        self._text = ""

    @property
    def source(self) -> str:
        """Where the keys are from, as an error names it."""
        if self._passed is not None:
            return "the argument vault_key"
        if os.environ.get(VARIABLE):
            return f"the environment variable {VARIABLE}"
        if path := os.environ.get(FILE_VARIABLE):
            return f"the file {path}"
        return f"the entry {os.environ.get(KEYRING_VARIABLE)!r} of the system's keyring"

    def given(self, *, anew: bool = False) -> tuple[GivenKey, ...]:
        """Return the keys, the newest first. ``anew`` reads them again.

        Raises:
            VaultKeyError: There is none, or the source cannot be read.
        """
        if self._passed is None and (self._given is None or anew):
            text = self._read()
            if self._given is None or text != self._text:
                found = parse(text, self.source)
                if isinstance(found, VaultKeyError):
                    del text
                    raise found
                self._given, self._text = found, text
        if not self._given:
            raise VaultKeyError(f"{self.source} holds no key. `langmemory vault key` makes one.")
        return self._given

    def find(self, id: str, kdf: str | None) -> VaultKey | None:
        """Return the key of this id; ``kdf`` says how it is derived, where it is from a passphrase."""
        return self._find(id, kdf, anew=False) or self._find(id, kdf, anew=True)

    def _find(self, id: str, kdf: str | None, *, anew: bool) -> VaultKey | None:
        for given in self.given(anew=anew):
            if isinstance(given, Passphrase):
                if kdf is None:
                    continue
                given = given.derive(kdf)
            if given.id == id:
                return given
        return None

    def _read(self) -> str:
        if text := os.environ.get(VARIABLE):
            return text
        if path := os.environ.get(FILE_VARIABLE):
            return read_key_file(Path(path).expanduser())
        if name := os.environ.get(KEYRING_VARIABLE):
            return _in_keyring(name)
        raise VaultKeyError(
            f"The vault has no key. Set {VARIABLE}, {FILE_VARIABLE} or {KEYRING_VARIABLE}; "
            "`langmemory vault key` makes one."
        )


def read_key_file(path: Path) -> str:
    """Return what a file of keys says.

    Raises:
        VaultKeyError: It is not there, is no text, or others may read it.
    """
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if os.name == "posix" and mode & 0o077:
                raise VaultKeyError(
                    f"Others may read the key of the vault in {path} (mode {mode:o}). Run: chmod 600 {path}"
                )
            return _decoded(file.read(1 << 16), path)
    except OSError as error:
        why = error.strerror
    raise VaultKeyError(f"The key of the vault cannot be read from {path}: {why}.")


def _decoded(raw: bytes, path: Path) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raw = b""
    raise VaultKeyError(f"{path} is no text, so it holds no key of a vault.")


def write_key_file(path: Path, key: str) -> None:
    """Write a key as the first line of a file that only its owner may read; keys that it has stay below.

    Raises:
        VaultKeyError: The file has no keys but something else, or cannot be written.
    """
    older = read_key_file(path) if path.exists() else ""
    found = parse(older, f"the file {path}")
    if isinstance(found, VaultKeyError):
        del older, key
        raise found
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{key}\n{older}")
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        return
    except OSError as error:
        why = error.strerror
    raise VaultKeyError(f"The key of the vault cannot be written to {path}: {why}.")


def write_keyring(name: str, key: str) -> None:
    """Put a key before those that an entry of the system's keyring has.

    Raises:
        VaultKeyError: There is no keyring, or it refuses.
    """
    text, ring, refused = f"{key}\n{_in_keyring(name)}".strip(), keyring(), None
    try:
        ring.set_password(SERVICE, name, text)
    except ring.errors.KeyringError as error:
        refused = _refused(error)
    if refused is not None:
        del key, text
        raise refused


def _in_keyring(name: str) -> str:
    """Return what an entry of the system's keyring says; nothing where there is none."""
    ring = keyring()
    try:
        return ring.get_password(SERVICE, name) or ""
    except ring.errors.KeyringError as error:
        raise _refused(error) from error


def _refused(error: Exception) -> VaultKeyError:
    why = str(error) or type(error).__name__
    return VaultKeyError(
        f"The system's keyring refused: {why}. Unlock it, or set {FILE_VARIABLE} instead."
    )


def keyring() -> Any:
    """Return the package for the system's keyring.

    Raises:
        VaultKeyError: It is not installed, or the system has no keyring.
    """
    try:
        import keyring
    except ImportError as error:
        raise VaultKeyError(
            f"The system's keyring needs the package keyring: {with_extra('vault')} ({error})."
        ) from error
    if keyring.get_keyring().priority <= 0:
        raise VaultKeyError(
            f"This system has no keyring, or it is locked to this process. Set {FILE_VARIABLE} "
            "instead."
        )
    return keyring
