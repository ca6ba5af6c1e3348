"""Requests: what the models of many routes share, and pages with cursors."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field

from langmemory.server.problems import Problem
from langmemory.types import Namespace
from langmemory.wire import Deferred

T = TypeVar("T")

Label = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^.\x00]+$")]
"""A label of a namespace."""
Labels = Annotated[tuple[Label, ...], Field(min_length=1, max_length=40)]
"""A namespace in a body: its labels."""
Key = Annotated[str, Field(min_length=1, max_length=1_000, pattern=r"^[^\x00]+$")]
"""The key of a memory."""
Text = Annotated[str, Field(max_length=200_000)]
Id = Annotated[str, Field(min_length=1, max_length=400)]
Limit = Annotated[int, Field(ge=1, le=200)]


def _split(given: Any) -> Any:
    """Return the labels of a namespace in a query: one value is ``a/b``, of several each is a label."""
    if isinstance(given, list | tuple) and len(given) == 1 and isinstance(given[0], str):
        return given[0].strip("/").split("/") if given[0] else []
    return given


QueryLabels = Annotated[tuple[Label, ...], BeforeValidator(_split), Field(max_length=40)]


class Fields(Deferred):
    """The base of everything a request is made of: nothing unknown is let through."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Place(Fields):
    """Where."""

    namespace: QueryLabels | None = None
    """`a/b`, or one parameter for each label. Without it, what the token is bound to."""


class Listing(Place):
    """Where, and which page."""

    limit: Limit = 50
    cursor: str | None = Field(default=None, max_length=2_000)
    """`next` of the page before."""


class KeyPath(Fields):
    """Which memory."""

    key: Key


class Page(Deferred, Generic[T]):
    """Some of a list."""

    items: list[T]
    next: str | None = None
    """The cursor of the page after this one; null on the last."""


LOOKED_AT: Final = 100_000
"""Rows behind which a list ends."""

Order = tuple[Any, ...]
"""By what a row stands where it stands: JSON values, the last of them its own."""


def page(
    listing: Listing,
    fetch: Callable[[int], Sequence[T]],
    order: Callable[[T], Order],
    *,
    falling: bool = False,
) -> Page[T]:
    """Return one page of a list, which may change between two pages: none is given twice, and none that
    was there is left out.

    Args:
        listing: The request.
        fetch: Returns the first so many rows.
        order: By what the rows are in order.
        falling: Whether the greatest comes first.
    """
    after = None if listing.cursor is None else _order_in(listing.cursor)
    wanted = listing.limit + 1
    size = wanted
    while True:
        rows = fetch(size)
        rest = rows
        if after is not None:
            try:
                rest = [
                    one for one in rows if (order(one) < after if falling else order(one) > after)
                ]
            except TypeError:
                raise _bad_cursor() from None
        if len(rest) >= wanted or len(rows) < size or size >= LOOKED_AT:
            break
        size = min(size * 4, LOOKED_AT)
    shown = list(rest[: listing.limit])
    more = len(rest) > len(shown) and bool(shown)
    return Page(items=shown, next=cursor_of(order(shown[-1])) if more else None)


def with_ties(
    fetch: Callable[[int], Sequence[T]], at: Callable[[T], object], order: Callable[[T], Order]
) -> Callable[[int], Sequence[T]]:
    """Return what fetches the first so many rows in falling order, where ``fetch`` knows the order of
    times alone: of rows of one time it may leave out any."""

    def fetching(size: int) -> Sequence[T]:
        wanted = size
        while True:
            found = fetch(wanted)
            whole = len(found) < wanted or wanted >= LOOKED_AT
            if whole or at(found[size - 1]) != at(found[-1]):
                return sorted(found, key=order, reverse=True)[:size]
            wanted = min(wanted * 4, LOOKED_AT)

    return fetching


def cursor_of(order: Order) -> str:
    """Return the cursor of the row a page ends with."""
    return base64.urlsafe_b64encode(json.dumps(order).encode()).decode().rstrip("=")


def _order_in(cursor: str) -> Order:
    try:
        found = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        raise _bad_cursor() from None
    if not isinstance(found, list):
        raise _bad_cursor()
    return tuple(found)


def _bad_cursor() -> Problem:
    return Problem(422, "invalid", "query/cursor: it is none that a page gave as `next`.")


def not_found(key: str, namespace: Namespace) -> Problem:
    """Return the refusal where there is no memory of a key, or none that the asker may know of."""
    return Problem(404, "not-found", f"There is no memory {key!r} in {'/'.join(namespace)}.")
