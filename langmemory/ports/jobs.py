"""Jobs for a queue, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langmemory.types import Namespace


def lock_of(kind: str, namespace: Namespace | None, who: str = "") -> str:
    """Return the path of the namespace that a job is about; of one that does not say, its kind and
    who it is for. What is forgotten with a person goes by it."""
    return ".".join(namespace or tuple(filter(None, (kind, who))))


@dataclass(frozen=True, kw_only=True, slots=True)
class NewJob:
    """Work for later."""

    kind: str
    """Which workers take it."""
    lock: str
    """Jobs of one lock, see `lock_of`, run one after the other, whatever their kind."""
    thread: str | None
    """It replaces a pending job of this kind, lock and thread; None replaces nothing."""
    payload: dict[str, Any]
    config: dict[str, Any]
    wait_seconds: float = 0
    """How long it is to wait."""
    max_debounce_seconds: float | None = None
    """How long the jobs it replaces and itself may have waited together; None has no limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Enqueued:
    """Where a new job stands."""

    id: int
    replaced: tuple[int, ...]
    """Jobs whose place it takes."""
