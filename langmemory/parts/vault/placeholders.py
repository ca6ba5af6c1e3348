"""Placeholders such as ``{{vault:GitHub token}}``: filled in arguments of a tool, put back into answers."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

from langmemory.parts.vault.secret import Secret

_PLACEHOLDER: Final = re.compile(r"\{\{\s*vault:\s*([^{}]+?)\s*\}\}")
_PLAIN: Final = (int, float, complex, bool, type(None))


def placeholder(label: str) -> str:
    """Return what a model writes where a secret is needed."""
    return f"{{{{vault:{label}}}}}"


def labels_in(value: Any) -> set[str]:
    """Return the labels of all placeholders in a value."""
    found: set[str] = set()

    def look(text: str) -> str:
        found.update(_PLACEHOLDER.findall(text))
        return text

    _mapped(value, look)
    return found


def filled(value: Any, secrets: Mapping[str, Secret]) -> Any:
    """Return a value with the secrets in place of their placeholders. Keep it in no variable of a frame that
    an error may leave through."""
    return _mapped(
        value, lambda text: _PLACEHOLDER.sub(lambda found: secrets[found[1]].reveal(), text)
    )


class HiddenSecretError(Exception):
    """An answer holds a secret where it cannot be replaced; the message does not quote it."""


def scrubbed(value: Any, secrets: Mapping[str, Secret]) -> Any:
    """Return a value with placeholders in place of secrets, also of those that are escaped, or encoded as
    base64, hexadecimal or for an address, alone or within a longer text.

    Raises:
        HiddenSecretError: An object that is neither text, nor made of texts, holds one.
    """
    forms = {form: placeholder(label) for label, one in secrets.items() for form in _forms(one)}
    pattern = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))))

    def replace(text: str) -> str:
        return pattern.sub(lambda found: forms[found[0]], text)

    def other(value: Any) -> Any:
        shown = [str(value), repr(value)]
        if isinstance(value, bytes | bytearray):
            shown = [
                bytes(value).decode(errors="replace"),
                bytes(value).decode("utf-16-le", "replace"),
            ]
        if any(pattern.search(text) for text in shown):
            raise HiddenSecretError(
                f"The tool answered with a {type(value).__name__} that holds a secret. Let it answer with "
                "text."
            )
        return value

    return _mapped(value, replace, other)


def _forms(secret: Secret) -> Iterator[str]:
    """Yield how a secret may be written."""
    text = secret.reveal()
    raw = text.encode()
    yield text
    yield from (quote(text, safe=""), quote(text), quote_plus(text))
    yield from (
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        repr(text)[1:-1],
    )
    if len(raw) < 4:  # of fewer bytes the encodings are found in any text
        return
    yield from (raw.hex(), raw.hex().upper())
    for before in range(3):  # within a longer text its base64 begins at one of three bits
        padded = base64.b64encode(bytes(before) + raw).decode()
        first, last = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        yield padded[first:last]
        yield padded[first:last].translate(str.maketrans("+/", "-_"))


def _mapped(
    value: Any, text: Callable[[str], str], other: Callable[[Any], Any] = lambda one: one
) -> Any:
    """Return a value with all of its texts changed, at whatever depth; ``other`` gets what is no text and
    holds none that can be reached."""

    def go(one: Any) -> Any:
        if isinstance(one, str):
            return text(one)
        if isinstance(one, _PLAIN):
            return one
        if isinstance(one, Mapping):
            return {go(key): go(found) for key, found in one.items()}
        if isinstance(one, list | set | frozenset):
            return type(one)(map(go, one))
        if isinstance(one, tuple):
            found = [go(part) for part in one]
            return type(one)(*found) if hasattr(one, "_fields") else tuple(found)
        if isinstance(one, BaseModel):
            fields = {name: go(getattr(one, name)) for name in type(one).model_fields}
            return one.model_copy(update={**fields, **go(one.model_extra or {})})
        if dataclasses.is_dataclass(one) and not isinstance(one, type):
            own = [part for part in dataclasses.fields(one) if part.init]
            return dataclasses.replace(
                one, **{part.name: go(getattr(one, part.name)) for part in own}
            )
        return other(one)

    return go(value)
