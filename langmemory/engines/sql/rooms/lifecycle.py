"""`store.lifecycle`: how far memories have faded, what maintenance did, and taking it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from langmemory.arguments import whole_number
from langmemory.engines.sql.reading.ageing import AgeingView
from langmemory.engines.sql.reading.searching import now_us
from langmemory.engines.sql.records import runs
from langmemory.engines.sql.rooms.changes import Changes
from langmemory.engines.sql.rooms.core import Core
from langmemory.engines.sql.tables.times import to_us
from langmemory.errors import ChangeError
from langmemory.lifecycle.policies import PolicyOptions
from langmemory.lifecycle.retention import (
    TemporalClass,
    age_days,
    classes,
    half_life_days,
    retention,
    salience,
    salience_parts,
)
from langmemory.namespaces import check_namespace
from langmemory.twins import twin
from langmemory.types import Applied, Memory, Namespace, Run


@dataclass(frozen=True, kw_only=True, slots=True)
class Retained:
    """How much is left of one derived memory."""

    memory: Memory
    temporal_class: TemporalClass
    retention: float
    """0..1: `lifecycle.retention.retention`."""
    salience: float
    """0..1: `lifecycle.retention.salience`."""
    parts: Mapping[str, float]
    """The parts of salience by name, 0..1 each."""
    age_days: float
    """Since it was last said, confirmed or cited."""
    half_life_days: float
    """Infinite for what does not fade."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MaintenanceNight:
    """One night of maintenance."""

    id: str
    at: datetime
    """When its first run was applied."""
    runs: tuple[Run, ...]
    """In the order in which they were applied."""

    @property
    def undone(self) -> bool:
        """Whether all of it was taken back."""
        return all(run.undone_by for run in self.runs)


@dataclass(frozen=True, kw_only=True, slots=True)
class UndoneNight:
    """The result of taking back a night."""

    id: str
    applied: tuple[Applied, ...] = field(default=())
    """Of each run, the last one first."""


class Lifecycle:
    """How memories age, and what maintenance did to them."""

    __slots__ = ("_core",)

    def __init__(self, core: Core) -> None:
        self._core = core

    def retention(
        self, namespace: Namespace, *, now: datetime | None = None, limit: int = 100
    ) -> list[Retained]:
        """Return how far the memories of a namespace that hold have faded, the least salient first.

        Args:
            namespace: Exactly this one.
            now: By which time; None is now.
            limit: At most so many.
        """
        namespace, limit = check_namespace(namespace), whole_number("limit", limit)
        self._core.write_pending()
        at = now_us() if now is None else to_us(now)
        options = PolicyOptions.of(self._core.config.lifecycle).retention
        with self._core.engine.read() as snapshot:
            view = AgeingView(snapshot, namespace)
            aged = view.aged()
            aged = aged.take(aged.one_of(aged.status, "active"))
            scores = salience(aged, at, options)
            order = np.argsort(scores, kind="stable")[:limit]
            aged, scores = aged.take(order), scores[order]
            found = {one.id: one for one in view.memories(aged.ids)}
        parts = salience_parts(aged, at, options)
        left, ages = retention(aged, at, options), age_days(aged, at)
        days, kinds = half_life_days(aged, options), classes(aged)
        return [
            Retained(
                memory=found[item],
                temporal_class=kinds[place],
                retention=round(float(left[place]), 4),
                salience=round(float(scores[place]), 4),
                parts={name: round(float(part[place]), 4) for name, part in parts.items()},
                age_days=round(float(ages[place]), 2),
                half_life_days=float(days[place]),
            )
            for place, item in enumerate(aged.ids.tolist())
        ]

    aretention = twin(retention)

    def nights(self, namespace: Namespace = (), *, limit: int = 20) -> list[MaintenanceNight]:
        """Return nights that changed memory in a namespace or below it, the newest first."""
        namespace = check_namespace(namespace, may_be_empty=True)
        with self._core.engine.read() as snapshot:
            found = runs.nights(snapshot.connection, namespace, whole_number("limit", limit))
        return [
            MaintenanceNight(id=night, at=of_night[0].at, runs=tuple(of_night))
            for night, of_night in found.items()
        ]

    def undo(self, night: str, *, dry_run: bool = False) -> UndoneNight:
        """Take back all that a night changed, its last run first, each in a run of its own.

        Raises:
            ChangeError: There is no such night.
            UndoRefusedError: Later changes stand on one of its runs; those after it are taken back.
        """
        with self._core.engine.read() as snapshot:
            found = runs.of_night(snapshot.connection, night)
        if not found:
            raise ChangeError(
                f"There is no night {night!r}. `langmemory maintain --list` names them."
            )
        changes = Changes(self._core, None)
        return UndoneNight(
            id=night,
            applied=tuple(
                changes.undo(run.id, dry_run=dry_run)
                for run in reversed(found)
                if not run.undone_by
            ),
        )

    aundo = twin(undo)
