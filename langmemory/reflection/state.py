"""The state of a reflection between its steps: JSON throughout, so that any checkpointer can hold it,
Studio can show it, and a killed run goes on where it was."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from langchain_core.messages import AnyMessage
from pydantic import TypeAdapter
from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.formation.batch import Batch
from langmemory.formation.duplicates import Division
from langmemory.formation.entities.identity import Identities
from langmemory.formation.entities.resolution import Resolution
from langmemory.formation.judging import Verdicts
from langmemory.ports.facts import Extraction

T = TypeVar("T")


class ReflectionInput(TypedDict, total=False):
    """The input of a reflection. An empty one means whatever is new in the run's namespace."""

    namespace: list[str]
    """Whose memory; without it, the graph's template is filled in from the run."""
    thread_id: str
    """One conversation; without it, all of the namespace."""
    turns: list[str]
    """Keys of the only turns to be read, with their ``thread_id``; without them, all that are unread."""
    messages: list[AnyMessage]
    """A conversation that is not remembered yet: it is, first."""


class ReflectionOutput(TypedDict, total=False):
    """The output of a reflection."""

    runs: list[str]
    """Ids of the runs, one a batch; `Changes.undo` takes them back."""
    added: list[str]
    """Keys of the memories that are new."""
    changed: list[str]
    """Keys of the memories that are otherwise than before."""
    superseded: list[str]
    """Keys of those among them that no longer hold."""
    reviews: list[str]
    """Ids of the questions for a person."""
    model_calls: int
    failures: list[str]
    """The steps that failed and were done without, such as ``extraction failed``."""


class ReflectionState(ReflectionInput, ReflectionOutput, total=False):
    """One batch on its way, and what came of those before it."""

    batch: dict[str, Any] | None
    """Turns under way; None when everything has been read."""
    extraction: dict[str, Any]
    problem: str | None
    """Why nothing could be extracted from the batch."""
    resolution: dict[str, Any]
    division: dict[str, Any]
    identities: dict[str, Any] | None
    """A model's decisions on names that may mean somebody known; None before it was asked."""
    verdicts: list[dict[str, Any]]
    usage: dict[str, dict[str, float]]
    """The tokens of this batch so far, see `langmemory.reflection.tokens`."""
    begun_at: float
    """When the batch was gathered, in seconds since the epoch."""
    plan: dict[str, Any]
    planned_at: int
    """See `ChangeSet.planned_at`: of the first look at what was known."""
    plans: int
    """How often this batch was planned; each time memory had changed meanwhile."""
    applied: dict[str, Any] | None
    """The result of the plan; None when it was out of date."""


_ADAPTERS: Final[dict[type, TypeAdapter[Any]]] = {
    kind: TypeAdapter(kind)
    for kind in (Batch, Extraction, Resolution, Identities, Division, Verdicts)
}


def packed(
    value: Batch | Extraction | Resolution | Identities | Division | Verdicts,
) -> dict[str, Any]:
    """A value of formation as JSON."""
    found: dict[str, Any] = _ADAPTERS[type(value)].dump_python(value, mode="json")
    return found


def unpacked(kind: type[T], value: Any) -> T:
    """The value again. Offsets of times are kept, names of timezones are not."""
    found: T = _ADAPTERS[kind].validate_python(value)
    return found
