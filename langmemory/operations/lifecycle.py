"""`store.lifecycle`: how far memories have faded, what maintenance did, and taking it back."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime

import numpy as np

from langmemory.arguments import whole_number
from langmemory.changes import Change, ChangeSet, Facets, SetStatus, UpdateMemory
from langmemory.errors import ChangeError
from langmemory.ledger import items, runs
from langmemory.ledger.ageing import AgeingView, ageing_of
from langmemory.ledger.transfer import moving
from langmemory.ledger.values import to_us
from langmemory.lifecycle.policies import PolicyOptions
from langmemory.lifecycle.retention import ageing, salience
from langmemory.namespaces import check_namespace
from langmemory.operations.changes import Changes
from langmemory.operations.core import Core
from langmemory.operations.cursors import Cursors
from langmemory.search.searching import now_us
from langmemory.steps import twin
from langmemory.types import Ageing, Applied, Memory, Namespace, Page, Run
from langmemory.values import without_archived_marks


@dataclass(frozen=True, kw_only=True, slots=True)
class Retained(Ageing):
    """A derived memory, and how far it has faded."""

    memory: Memory


@dataclass(frozen=True, kw_only=True, slots=True)
class MaintenanceNight:
    """One night of maintenance."""

    id: str
    at: datetime
    """When its first run was applied."""
    runs: tuple[Run, ...]
    """In the order in which they were applied."""

    @property
    def changes(self) -> int:
        """How many memories it changed."""
        return sum(len(run.note.get("keys", ())) for run in self.runs)

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
        return [
            Retained(memory=found[item], **{one.name: getattr(of, one.name) for one in fields(of)})
            for item, of in zip(aged.ids.tolist(), ageing(aged, at, options), strict=True)
        ]

    aretention = twin(retention)

    def ageing(
        self, places: Sequence[tuple[Namespace, str]], *, now: datetime | None = None
    ) -> list[Ageing | None]:
        """Return how far each of some memories has faded; None for what does not age, such as a turn, or is
        not there.

        Args:
            places: Namespace and key of each.
            now: By which time; None is now.
        """
        self._core.write_pending()
        at = now_us() if now is None else to_us(now)
        options = PolicyOptions.of(self._core.config.lifecycle).retention
        with self._core.engine.read() as snapshot:
            ids = [items.find(snapshot.connection, *place) for place in places]
            return ageing_of(snapshot, ids, at, options)

    aageing = twin(ageing)

    def restore(self, namespace: Namespace, key: str, *, reason: str = "restored") -> Applied:
        """Make an archived memory active again, be it in the memory file or in the archive file, in a run
        that can be undone. No night archives it again.

        Args:
            namespace: Exactly this one.
            key: Of the memory.
            reason: Why, for the record.

        Raises:
            ChangeError: There is no such memory, or it is not archived.
            DatabaseError: It moved to an archive file that is not there.
        """
        namespace = check_namespace(namespace)
        core = self._core
        core.archive.return_all(lambda one: moving.moved_named(one, [(namespace, key)]))
        with core.engine.read() as snapshot:
            item = items.find(snapshot.connection, namespace, key)
            found = [] if item is None else items.memories(snapshot.connection, np.array([item]))
        if not found:
            raise ChangeError(
                f"There is no memory {key!r} in {'/'.join(namespace)}. `langmemory search --archive` finds "
                "archived ones."
            )
        memory = found[0]
        if memory.status != "archived":
            raise ChangeError(
                f"{key} is {memory.status}, not archived: there is nothing to restore."
            )
        value = without_archived_marks(memory.value)
        change: Change = SetStatus(key=key, status="active")
        if value != memory.value:
            change = UpdateMemory(key=key, value=value, facets=Facets(status="active"))
        return Changes(core, None).apply(
            ChangeSet(
                namespace=namespace,
                run_id=f"{runs.RESTORE}{secrets.token_hex(8)}",
                kind="correction",
                reason=reason,
                changes=(change,),
                note={"keys": [key]},
            )
        )

    arestore = twin(restore)

    def nights(self, namespace: Namespace = (), *, limit: int = 20) -> list[MaintenanceNight]:
        """Return nights that changed memory in a namespace or below it, the newest first."""
        namespace = check_namespace(namespace, may_be_empty=True)
        with self._core.engine.read() as snapshot:
            found = runs.nights(snapshot.connection, namespace, whole_number("limit", limit))
        return [
            MaintenanceNight(id=night.id, at=of_night[0].at, runs=tuple(of_night))
            for night, of_night in found.items()
        ]

    anights = twin(nights)

    def some_nights(
        self, namespace: Namespace = (), *, cursor: str | None = None, limit: int = 50
    ) -> Page[MaintenanceNight]:
        """Return a page of `nights`; ``cursor`` is `Page.next` of the page before.

        Raises:
            ConfigError: The cursor is none of this list.
        """
        namespace = check_namespace(namespace, may_be_empty=True)
        sealer = Cursors(self._core.engine).sealer("nights")
        start = None
        if cursor is not None:
            last_us, night = sealer.opened(cursor)
            start = runs.Night(int(last_us), str(night))
        with self._core.engine.read() as snapshot:
            found = runs.nights(snapshot.connection, namespace, limit + 1, after=start)
        places = list(found)
        items = tuple(
            MaintenanceNight(id=one.id, at=found[one][0].at, runs=tuple(found[one]))
            for one in places[:limit]
        )
        more = len(places) > limit
        return Page(items=items, next=sealer.sealed(places[limit - 1]) if more else None)

    def night(self, night: str) -> MaintenanceNight | None:
        """Return one night; None where there is none."""
        with self._core.engine.read() as snapshot:
            found = runs.of_night(snapshot.connection, night)
        if not found:
            return None
        return MaintenanceNight(id=night, at=found[0].at, runs=tuple(found))

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
