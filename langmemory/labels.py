"""Ids as labels of a namespace: LangGraph allows no period there, and an e-mail address has one.

``.`` is written ``~2E``; where an id itself says ``~2E`` or ``~7E``, its ``~`` is written ``~7E``. Every
other id is its own label, so that nothing moves in a file that was there before.

A namespace as one text is ``a/b``. A slash in a label is percent-encoded there.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

_TO_ESCAPE: Final = re.compile(r"\.|~(?=2E|7E)")
_ESCAPED: Final = re.compile(r"~(2E|7E)")


def label_of(id: str) -> str:
    """Return the label that stands for an id: ``ann@example~2Ecom`` for ``ann@example.com``."""
    return _TO_ESCAPE.sub(lambda found: f"~{ord(found[0]):02X}", id)


def id_of(label: str) -> str:
    """Return the id that a label stands for: the inverse of `label_of`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), label)


def join_labels(namespace: tuple[str, ...]) -> str:
    """Return a namespace as one text, with ``%2F`` for a slash and ``%25`` for a percent sign in a label."""
    return "/".join(label.replace("%", "%25").replace("/", "%2F") for label in namespace)


def split(text: str) -> tuple[str, ...]:
    """Return the labels of a namespace that is one text: the inverse of `join_labels`."""
    return tuple(unquote(label) for label in text.strip("/").split("/"))
