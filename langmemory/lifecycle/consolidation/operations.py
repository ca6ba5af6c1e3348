"""Operations that a model may answer with, as data: schema and reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from langmemory.formation.asking.json_answers import BadAnswerError, json_object

MAX_OPERATIONS: Final = 40
"""An answer with more of them is not read."""


class _Operation(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    reason: str = ""


class Insight(_Operation):
    """A new memory that follows from several."""

    op: Literal["insight"]
    text: str
    sources: list[str]
    kind: Literal["habit", "insight", "rule"]


class MergeSame(_Operation):
    """Memories that say the same are one."""

    op: Literal["merge"]
    keep: str
    others: list[str]


class Outdate(_Operation):
    """A memory gave way to a newer one."""

    op: Literal["supersede"]
    old: str
    by: str


class CoreText(_Operation):
    """Another text of a core block."""

    op: Literal["core"]
    block: str
    text: str
    sources: list[str]


AnyOperation = Insight | MergeSame | Outdate | CoreText
Operation = Annotated[AnyOperation, Field(discriminator="op")]


class Operations(BaseModel):
    """Operations over listed memories."""

    operations: list[Operation]


SCHEMA: Final = Operations.model_json_schema()

_ONE: TypeAdapter[AnyOperation] = TypeAdapter(Operation)


def entries_in(answer: str) -> tuple[Sequence[Any], bool]:
    """Return the operations in a model's answer, as it wrote them, and whether it broke off.

    Raises:
        BadAnswerError: There is no list of operations in it, or a far too long one.
    """
    answered = json_object(answer, field="operations", entry="op")
    found: Sequence[Any] = answered.value["operations"]
    if len(found) > MAX_OPERATIONS:
        raise BadAnswerError(f"it has {len(found)} operations, of at most {MAX_OPERATIONS}")
    if not found and answered.cut is None and "[" not in answer:
        raise BadAnswerError("its operations are no list; without any, write []")
    return found, answered.cut is not None


def parsed(entries: Sequence[Any]) -> tuple[list[AnyOperation], list[str]]:
    """Return the operations that have the form that was asked for, and why each other one has not."""
    found, refused = [], []
    for entry in entries:
        try:
            found.append(_ONE.validate_python(entry))
        except ValidationError as error:
            [first, *_] = error.errors(include_input=False, include_url=False)
            where = ".".join(map(str, first["loc"])) or "operation"
            refused.append(f"not an operation: {where}: {first['type']}")
    return found, refused
