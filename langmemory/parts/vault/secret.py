"""A secret as a value that nothing prints, pickles or compares by accident."""

from __future__ import annotations

import hmac
from typing import Any, Final, NoReturn

from langmemory.errors import VaultError

MASK: Final = "[secret]"
"""How a secret is printed."""
MOST_BYTES: Final = 256 * 1024
"""A long secret is a chain of certificates; more is a file."""


class Secret:
    """A text that only `reveal` returns. Its repr, str and format are a mask; it cannot be pickled, so no
    checkpoint holds one."""

    __slots__ = ("_text",)
    _text: str

    def __init__(self, text: str) -> None:
        """Wrap a text.

        Raises:
            VaultError: It is none, is empty, is too long, or is no valid Unicode. The message does not quote
                it.
        """
        fault = _fault(text)
        if fault is not None:
            text = MASK  # a report of the error may show the variables of this frame
            raise VaultError(fault)
        self._text = text

    def reveal(self) -> str:
        """Return the text. From here on it is yours to keep out of logs and prompts."""
        return self._text

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    __hash__ = None  # type: ignore[assignment]  # a table of hashes would tell which secrets are the same

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Secret:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "A secret cannot be pickled: it would stand in clear in a checkpoint or on the wire. Keep its "
            "label, and get it from the vault where it is used."
        )


def wrapped(given: str | Secret) -> Secret | VaultError:
    """Return a secret as it is, a text as a secret, and for what can be none the error: whoever asked raises
    it once no variable holds the text any more, since reports of errors show variables."""
    if isinstance(given, Secret):
        return given
    fault = _fault(given)
    return Secret(given) if fault is None else VaultError(fault)


def _fault(text: object) -> str | None:
    """Return why a text can be no secret; None where it can."""
    if not isinstance(text, str):
        return f"A secret is text; this is of the type {type(text).__name__}."
    if not text:
        return "The secret is empty; nothing was stored."
    try:
        size = len(text.encode())
    except UnicodeEncodeError:  # the error holds the text
        return "The secret holds a lone surrogate, which is no valid Unicode; nothing was stored."
    if size > MOST_BYTES:
        return f"The secret has {size:,} bytes; a vault takes up to {MOST_BYTES:,}. Nothing was stored."
    return None
