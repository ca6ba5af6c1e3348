"""The one door in: what a run wants to change, as plain values that can be shown, stored and undone.

Planning makes a `ChangeSet` and never writes; `Changes.apply` writes it in one transaction.
Memories are named by their key in the change set's namespace, entities by their entity key there.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    model_serializer,
)

from langmemory.pluralize import count_noun
from langmemory.types import Kind, Namespace, Priority, Privacy, RunKind, Status, Trust


class _Plain(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Facets(_Plain):
    """Facets of a memory that a change sets; those that are not given stay as they are."""

    kind: Kind | None = None
    speaker: str | None = None
    owner: str | None = None
    privacy: Privacy | None = None
    status: Status | None = None
    priority: Priority | None = None
    trust: Trust | None = None
    """A person's review may raise it. A memory that rests on others is trusted no more than they are."""
    importance: Annotated[float, Field(ge=0, le=1)] | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    pinned: bool | None = None
    verified: bool | None = None
    valid_at: AwareDatetime | None = None
    invalid_at: AwareDatetime | None = None

    def given(self) -> dict[str, Any]:
        """The facets set, by name; None takes a facet's value away."""
        set_here = self.model_fields_set
        return {name: getattr(self, name) for name in type(self).model_fields if name in set_here}

    @model_serializer(mode="wrap")
    def _only_given(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        whole: dict[str, Any] = serialise(self)
        return {name: whole[name] for name in whole if name in self.model_fields_set}


class _Change(_Plain):
    reason: str = ""
    """Why, for the history; the change set's reason stands in for an empty one."""


class AddMemory(_Change):
    """A new memory. One with this key that is there already is left as it is."""

    op: Literal["add"] = "add"
    key: str
    value: dict[str, Any]
    """Its text under ``text``."""
    facets: Facets = Facets()
    evidence: tuple[str, ...] = ()
    """Keys of the memories it was derived from."""
    mentions: tuple[str, ...] = ()
    """Keys of the entities it speaks of."""


class UpdateMemory(_Change):
    """Another value, other facets, further evidence or mentions of a memory, or less evidence."""

    op: Literal["update"] = "update"
    key: str
    value: dict[str, Any] | None = None
    """None leaves it."""
    facets: Facets = Facets()
    evidence: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    """Keys of memories that are not evidence for it any more."""
    mentions: tuple[str, ...] = ()


class Supersede(_Change):
    """A memory gives way to a newer one: no longer true from ``invalid_at``, no longer believed
    to hold from now on, but kept, and answered from for earlier times."""

    op: Literal["supersede"] = "supersede"
    key: str
    by: str
    """Key of the memory that replaces it."""
    invalid_at: AwareDatetime
    """When it stopped being true; its own ``valid_at`` for what never was."""


class Invalidate(_Change):
    """A memory is no longer true, and nothing takes its place."""

    op: Literal["invalidate"] = "invalidate"
    key: str
    invalid_at: AwareDatetime


class SetStatus(_Change):
    """Archive a memory, approve it, make it active again."""

    op: Literal["status"] = "status"
    key: str
    status: Status


class RemoveMemory(_Change):
    """A memory goes, as by `BaseStore.delete`; to undo the run brings it back with all that stood
    beside it. Nothing that is true is to be removed for being old: supersede or archive it."""

    op: Literal["remove"] = "remove"
    key: str


class Merge(_Change):
    """Memories that say the same: the first keeps, the others are archived and point to it, and
    their evidence and mentions become its own."""

    op: Literal["merge"] = "merge"
    key: str
    others: tuple[str, ...]


class AddEntity(_Change):
    """A person or thing. One with this key that is there already only gets the new aliases."""

    op: Literal["entity"] = "entity"
    key: str
    name: str
    kind: str = "thing"
    """``person``, ``place``, ``organisation``, ``animal``, ``event``, ``thing``."""
    aliases: tuple[str, ...] = ()
    """Other names; its name is one by itself."""


class LinkEntities(_Change):
    """Two entities are one: reads of ``key`` answer for ``same_as``. Nothing is rewritten."""

    op: Literal["link"] = "link"
    key: str
    same_as: str


class UnlinkEntities(_Change):
    """An entity stands for itself again."""

    op: Literal["unlink"] = "unlink"
    key: str


class AddEdge(_Change):
    """A claim of a memory: subject -relation-> object, or a literal. Exactly one of the two.

    An end may be an anchor, which needs no `AddEntity`: ``item:KEY`` stands for the memory of this key,
    ``agent:NAME``, ``swarm:NAME`` and ``artifact:NAME`` for what is called so."""

    op: Literal["edge"] = "edge"
    fact: str
    """Key of the memory that says so."""
    subject: str
    relation: str
    object: str | None = None
    literal: str | None = None


class OpenReview(_Change):
    """An open question. Each option is a list of changes that answers it; one without changes
    leaves everything as it is."""

    op: Literal["review"] = "review"
    id: str
    about: str
    """``contradiction``, ``duplicate``, ``dependant``, ``approval``, ``core``, ``entity`` …"""
    question: str
    memories: tuple[str, ...]
    options: dict[str, tuple[Change, ...]]


class DecideReview(_Change):
    """The answer to a review; its changes are to be in the same change set."""

    op: Literal["decide"] = "decide"
    id: str
    option: str


class WithdrawReview(_Change):
    """A question that nothing is left of, because what it asks about never was said. Closed with the
    decision `WITHDRAWN` unless somebody answered it; opened anew if it is asked again."""

    op: Literal["withdraw"] = "withdraw"
    id: str


WITHDRAWN: Final = "withdrawn"
"""`Review.decision` of a review that nobody needs to answer."""


class MarkReflected(_Change):
    """Turns that were read, whatever came of them."""

    op: Literal["reflected"] = "reflected"
    keys: tuple[str, ...]
    read_at: int | None = None
    """`HistoryEntry.seq` of the newest change when they were read. Applying it is refused when one
    of them says something else since; None does not check."""


class ReadAgain(_Change):
    """The turns that a reflection read count as unread, so that they are reflected once more."""

    op: Literal["unread"] = "unread"
    run: str
    """Id of the reflection."""


Change = Annotated[
    AddMemory
    | UpdateMemory
    | Supersede
    | Invalidate
    | SetStatus
    | RemoveMemory
    | Merge
    | AddEntity
    | LinkEntities
    | UnlinkEntities
    | AddEdge
    | OpenReview
    | DecideReview
    | WithdrawReview
    | MarkReflected
    | ReadAgain,
    Field(discriminator="op"),
]

OpenReview.model_rebuild()

Option: TypeAdapter[tuple[Change, ...]] = TypeAdapter(tuple[Change, ...])
"""Reads the changes behind an option of a review from JSON."""


class ChangeSet(_Plain):
    """Everything one run changes in one namespace, in order."""

    namespace: Namespace
    run_id: str = Field(min_length=1)
    """Applying the same run twice changes nothing the second time."""
    kind: RunKind
    reason: str
    changes: tuple[Change, ...]
    note: dict[str, Any] = Field(default_factory=dict)
    """The note of the run: counts, model calls, what the journal tells."""
    planned_at: int | None = None
    """`HistoryEntry.seq` of the newest change the planning saw. Applying it is refused when a
    memory it touches changed after that; None does not check."""

    def describe(self) -> list[str]:
        """One line a change, as a dry run prints it."""
        return [_line(change) for change in self.changes]


def _line(change: Change) -> str:
    shown = change.model_dump(
        exclude_defaults=True, exclude={"op", "reason", "facets", "options", "read_at"}
    )
    name = shown.pop("key", None) or shown.pop("id", None) or shown.pop("fact", None)
    parts = [change.op, name] if name else [change.op]
    # Of turns that were read a person wants to know how many, not one key after another.
    if turns := shown.pop("keys", ()):
        parts.append(count_noun(len(turns), "turn"))
    value = shown.pop("value", None)
    if isinstance(value, dict):
        parts.append(repr(value.get("text", value)))
    for label, found in shown.items():
        text = found.isoformat() if isinstance(found, datetime) else found
        parts.append(f"{label}={', '.join(text) if isinstance(text, tuple) else text}")
    facets = getattr(change, "facets", None)
    if facets is not None:
        new = isinstance(change, AddMemory)  # nothing to take away
        parts.extend(
            f"{label}={found}"
            for label, found in facets.given().items()
            if not (new and found is None)
        )
    if change.reason:
        parts.append(f"({change.reason})")
    return " ".join(parts)
