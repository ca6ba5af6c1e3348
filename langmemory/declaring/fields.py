"""Types of arguments with their bounds, as operations declare them and clients are held to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from langmemory.labels import split
from langmemory.wire import Deferred


def without_nulls(model: type[BaseModel], given: Any) -> Any:
    """Return arguments without the optional ones that are null and may not be: many a client writes so what
    it leaves out."""
    if not isinstance(given, Mapping):
        return given
    return {
        name: value
        for name, value in given.items()
        if value is not None or name not in not_null(model)
    }


@cache
def not_null(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of optional arguments that may not be null."""
    return frozenset(
        one.alias or name
        for name, one in model.model_fields.items()
        if not one.is_required() and not _takes_null(one.annotation)
    )


def _takes_null(kind: Any) -> bool:
    return kind in (Any, None, type(None)) or any(
        _takes_null(one)
        for one in get_args(kind)
        if get_origin(kind) in (Union, UnionType, Annotated)
    )


class Fields(Deferred):
    """The base of everything a request is made of: nothing unknown is let through."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absence(cls, given: Any) -> Any:
        return without_nulls(cls, given)


Label = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^.\x00]+$")]
"""A label of a namespace."""
Labels = Annotated[tuple[Label, ...], Field(min_length=1, max_length=40)]
"""A namespace in a body: its labels."""
Places = Annotated[tuple[Labels, ...], Field(min_length=1, max_length=20)]
"""Several namespaces in a body."""


def _split(given: Any) -> Any:
    """Return the labels of a namespace in a query: one value is ``a/b``, of several each is a label."""
    if isinstance(given, list | tuple) and len(given) == 1 and isinstance(given[0], str):
        return split(given[0]) if given[0] else []
    return given


QueryLabels = Annotated[tuple[Label, ...], BeforeValidator(_split), Field(max_length=40)]
"""A namespace in a query."""

Key = Annotated[str, Field(min_length=1, max_length=1_000, pattern=r"^[^\x00]+$")]
"""The key of a memory."""
Text = Annotated[str, Field(max_length=200_000)]
Id = Annotated[str, Field(min_length=1, max_length=400)]
Name = Annotated[str, Field(min_length=1, max_length=400)]
Reason = Annotated[str, Field(max_length=1_000)]
LARGEST_PAGE: Final = 200
"""Rows of a list that a client gets at a time."""
Limit = Annotated[int, Field(ge=1, le=LARGEST_PAGE)]
Most = Annotated[int, Field(ge=1, le=1_000)]
Cursor = Annotated[str | None, Field(max_length=4_000)]
"""`next` of the page before."""
Agent = Annotated[str, Field(min_length=1, max_length=200)]
Title = Annotated[str, Field(min_length=1, max_length=200)]
Line = Annotated[str, Field(min_length=1, max_length=400, pattern=r"\S")]
Summary = Annotated[str, Field(min_length=1, max_length=2_000)]
Details = Annotated[str, Field(max_length=100_000)]
Summaries = Annotated[Sequence[Summary], Field(max_length=100)]
Topic = Annotated[str, Field(min_length=1, max_length=200)]
Keys = Annotated[Sequence[Key], Field(max_length=100)]
Ids = Annotated[Iterable[Id], Field(max_length=200)]
Similarity = Annotated[float, Field(ge=-1, le=1)]
"""The cosine of two vectors."""
Share = Annotated[float, Field(ge=0, le=1)]
Number = Annotated[int, Field(ge=0, le=2**53)]
"""A whole number that JavaScript has, too."""
Positive = Annotated[int, Field(ge=1, le=2**53)]
"""Such a number from 1 on."""
Minutes = Annotated[float, Field(gt=0, le=525_600_000)]
"""A time to live: at most a thousand years."""
Tokens = Annotated[int, Field(ge=1, le=100_000)]
