"""What a consolidation looks at: the memories that changed, numbered in listings of one owner and privacy,
and the operations on them that a model may answer with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from langmemory import swarm
from langmemory.context.marking import quoted_lines
from langmemory.formation.asking.json_answers import BadAnswerError, json_object
from langmemory.formation.asking.limits import ShortText, at_most
from langmemory.formation.wording import Wording, wording
from langmemory.languages import detect_language
from langmemory.ports.candidates import Ids
from langmemory.ports.lifecycle import Aged, LifecycleView
from langmemory.procedures import KEYS
from langmemory.types import Memory

SaidBy = Literal["person", "assistant", "tool", "application"]

MAX_CHARACTERS: Final = 400
"""Of a memory, shown to a model."""


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One memory of a listing."""

    id: str
    """``m1``, ``m2`` and so on: all that a model sees of its identity."""
    memory: Memory
    said_by: SaidBy = "person"
    sessions: frozenset[str] = frozenset()
    """Conversations it was stated in, each a thread and a day."""
    entities: tuple[str, ...] = ()
    """Keys of the people and things that it speaks of."""

    @cached_property
    def language(self) -> str:
        """BCP 47, as the memory says, else as its words do."""
        return str(self.memory.value.get("language") or detect_language(self.memory.text).code)

    @cached_property
    def wording(self) -> Wording:
        return wording(self.memory.text, self.language)

    @property
    def circle(self) -> tuple[str | None, str]:
        """Whose it is and who may read it: what is not the same is never put together."""
        return self.memory.owner, self.memory.privacy

    @property
    def statement(self) -> str:
        """The kind of statement: ``preference``, ``event`` and others; ``""`` where nobody said."""
        return str(self.memory.value.get("fact_kind", ""))

    @property
    def relation(self) -> str:
        return str(self.memory.value.get("relation", ""))


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Memories in the order of their numbers, and what is concluded from such already."""

    memories: tuple[Listed, ...]
    concluded: tuple[str, ...] = ()
    """Texts of earlier insights of the same circle."""
    blocks: Mapping[str, str] = field(default_factory=dict)
    """Core blocks by label, ``""`` for one that nobody wrote; none where they are not to be changed."""
    limit: int = 2_000
    """Characters of a core block."""

    @cached_property
    def by_id(self) -> Mapping[str, Listed]:
        return {one.id: one for one in self.memories}

    def shown(self) -> str:
        """Return the listing as a model reads it; texts are quoted and cannot pose as anything else."""
        return "\n".join(_lines(self))


def _lines(listing: Listing) -> Iterator[str]:
    yield "# Memories"
    for one in listing.memories:
        kind = one.statement or one.memory.kind
        sessions = f", {len(one.sessions)} conversations" if len(one.sessions) > 1 else ""
        yield f"{one.id} ({one.memory.at:%Y-%m-%d}, {kind}, said_by {one.said_by}{sessions})"
        yield from quoted_lines(one.memory.text[:MAX_CHARACTERS])
    if listing.concluded:
        yield "# Concluded already"
        for text in listing.concluded:
            yield from quoted_lines(text[:MAX_CHARACTERS])
    if listing.blocks:
        yield "# Core blocks"
        for label, text in listing.blocks.items():
            yield f"{label}:"
            yield from quoted_lines(text)


TASK: Final = "consolidate"
"""The name under which progress is kept."""
MOST: Final = 2_000
"""Changed memories of a namespace that one night looks at, the corrected and newest of them."""
CONCLUDED: Final = "insight/"
"""Begins the keys of what consolidation concluded itself, which nothing further is concluded from."""
LINES: Final = "core/"
"""Begins the keys of lines that a person accepted for a core block."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """What one night consolidates of a namespace."""

    aged: Aged
    """Memories that hold and may be consolidated."""
    changed: Ids
    """Rows of ``aged`` that changed: corrected ones first, then the newest."""
    left: int = 0
    """How many more changed."""
    concluded: Aged
    """Earlier conclusions that hold or wait."""


def gather(view: LifecycleView, aged: Aged) -> Gathered:
    """Return what changed in a namespace since its last consolidation, and what is beside it."""
    ours = aged.begins(CONCLUDED)
    eligible = (
        aged.one_of(aged.status, "active")
        & aged.one_of(aged.kind, "semantic", "procedural")
        & ~ours
        & ~aged.begins(LINES, KEYS, *swarm.KEYS)  # steps, tasks and the like are no statements
    )
    kept = aged.take(eligible)
    rows = np.flatnonzero(np.isin(kept.ids, view.changed(view.progress(TASK))))
    corrected = kept.corrects | kept.verified
    order = np.lexsort((-kept.ids[rows], -kept.told_at[rows], ~corrected[rows]))
    return Gathered(
        aged=kept,
        changed=rows[order][:MOST],
        left=max(0, len(rows) - MOST),
        concluded=aged.take(ours & ~aged.one_of(aged.status, "archived", "superseded")),
    )


MAX_OPERATIONS: Final = 40
"""An answer with more of them is not read."""


_Id = Annotated[str, at_most(maxLength=40)]
_Ids = Annotated[list[_Id], at_most(maxItems=40)]
_Statement = Annotated[str, at_most(maxLength=MAX_CHARACTERS)]
_BlockText = Annotated[str, at_most(maxLength=8_000)]


class _Operation(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    reason: ShortText = ""


class Insight(_Operation):
    """A new memory that follows from several."""

    op: Literal["insight"]
    text: _Statement
    sources: _Ids
    kind: Literal["habit", "insight", "rule"]


class MergeSame(_Operation):
    """Memories that say the same are one."""

    op: Literal["merge"]
    keep: _Id
    others: _Ids


class Outdate(_Operation):
    """A memory gave way to a newer one."""

    op: Literal["supersede"]
    old: _Id
    by: _Id


class CoreText(_Operation):
    """Another text of a core block."""

    op: Literal["core"]
    block: ShortText
    text: _BlockText
    sources: _Ids


AnyOperation = Insight | MergeSame | Outdate | CoreText
Operation = Annotated[AnyOperation, Field(discriminator="op")]


class Operations(BaseModel):
    """Operations over listed memories."""

    operations: Annotated[list[Operation], at_most(maxItems=40)]


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


def parse_operations(entries: Sequence[Any]) -> tuple[list[AnyOperation], list[str]]:
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
