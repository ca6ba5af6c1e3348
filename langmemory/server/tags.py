"""Entity tags: the version of what is answered, so that no write replaces what its writer has not seen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from langgraph.store.base import Item

from langmemory.server.problems import Problem
from langmemory.timestamps import EPOCH
from langmemory.types import Memory

_MICROSECOND: Final = timedelta(microseconds=1)
_TAG: Final = re.compile(r'(W/)?"([\x21\x23-\x7e]*)"')


def tag_of(value: Any) -> str | None:
    """Return the entity tag of an answer, with its quotes; None for what has no version.

    That of a memory says when it was stored and when it was changed last, so what only counts its uses is no
    new version.
    """
    if isinstance(value, Memory | Item):
        return f'"{_us(value.created_at):x}-{_us(value.updated_at):x}"'
    version = getattr(value, "etag", None)
    return None if version is None else f'"{version}"'


def tags_in(header: str | None, *, weak: bool = False) -> tuple[str, ...] | None:
    """Return the entity tags of an If-Match or If-None-Match header, with their quotes, or ``*``; None
    without one. ``weak`` ones count for If-None-Match alone (RFC 9110, 13.1).

    Raises:
        Problem: It is malformed.
    """
    if header is None:
        return None
    if header.strip() == "*":
        return ("*",)
    found = []
    for part in header.split(","):
        match = _TAG.fullmatch(part.strip())
        if match is None:
            raise Problem(400, "malformed", 'Entity tags are to stand in quotes, as in `"6a-6a"`.')
        if match[1] is None or weak:
            found.append(f'"{match[2]}"')
    return tuple(found)


def is_known(tag: str | None, header: str | None) -> bool:
    """Return whether an If-None-Match header names this version: the answer needs no body."""
    if tag is None or header is None:
        return False
    return header.strip() == "*" or tag in (
        part.strip().removeprefix("W/") for part in header.split(",")
    )


def check_tag(wanted: Sequence[str] | None, tag: str | None) -> None:
    """Refuse a write that has not seen the last version.

    Raises:
        Problem: ``tag`` is none of those that an If-Match header names.
    """
    if wanted is None or (tag is not None and ("*" in wanted or tag in wanted)):
        return
    raise Problem(
        412, "changed-meanwhile", "It was changed meanwhile, or is gone. Read it again, then write."
    )


def check_none(unwanted: Sequence[str] | None, tag: str | None) -> None:
    """Refuse a write over a version that is not to be there.

    Raises:
        Problem: There is something, and an If-None-Match header says ``*``, or names its version.
    """
    if unwanted is None or tag is None or not ("*" in unwanted or tag in unwanted):
        return
    raise Problem(
        412, "exists", "There is one already. Read it, and write with its ETag as If-Match."
    )


def _us(at: datetime) -> int:
    return (at - EPOCH) // _MICROSECOND
