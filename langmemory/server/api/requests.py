"""Requests: what the models of many routes share, and pages with cursors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, get_type_hints

from pydantic import Field, create_model

from langmemory.declaring.fields import Fields, Key, Limit, QueryLabels
from langmemory.recall_options import DEFAULTS
from langmemory.resources import opens_folder
from langmemory.server.problems import Problem
from langmemory.types import Namespace


def with_options(base: type[Fields], options: type, left_out: Collection[str] = ()) -> type[Fields]:
    """Return a request that has a field for each option of a recall, described as the option is.

    What a client may not set is left out. A request made from this one declares anew what it limits.
    """
    fields = {
        name: (hint, DEFAULTS.get(name))
        for name, hint in get_type_hints(options).items()
        if name not in left_out
    }
    name, module = options.__name__, options.__module__  # where the docstrings of its fields are
    made: type[Fields] = create_model(name, __base__=base, __module__=module, **fields)  # type: ignore[call-overload]
    return made


class Place(Fields):
    """Where."""

    namespace: QueryLabels | None = None
    """`a/b`, with `%2F` for a slash and `%25` for a percent sign in a label (before all of it is encoded as
    a parameter); or one parameter for each of several labels, as they are. Without it, what the token is
    bound to."""


class Paging(Fields):
    """Which page."""

    limit: Limit = 50
    cursor: str | None = Field(default=None, max_length=4_000)
    """`next` of the page before."""


class Listing(Place, Paging):
    """Where, and which page."""


class KeyPath(Fields):
    """Which memory."""

    key: Key


def not_found(key: str, namespace: Namespace) -> Problem:
    """Return the refusal where there is no memory of a key, or none that the asker may know of."""
    return Problem("not-found", f"There is no memory {key!r} in {'/'.join(namespace)}.")


def check_folders(value: Mapping[str, Any] | None) -> None:
    """Let no client name a folder that the server would read.

    Raises:
        Problem: The value is one of a document, a folder of documents, or a project of the server's machine.
    """
    if value is not None and opens_folder(value):
        raise Problem(
            "folder",
            "body/value names a folder of the server's machine. Send documents to /documents; who runs the "
            "server registers its folders.",
        )
