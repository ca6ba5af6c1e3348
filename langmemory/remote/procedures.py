"""Procedures of a remote store, as `MemoryStore.procedures` has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from langmemory.namespaces import check_namespace
from langmemory.procedures import Outcome, Procedure, Source, Step, as_steps
from langmemory.remote.connection import part, place
from langmemory.remote.rooms import Room
from langmemory.stores.rooms import FoundProcedure
from langmemory.twins import Steps, awaiting, blocking
from langmemory.types import Namespace, Privacy
from langmemory.wire import adapter


class RemoteProcedures(Room):
    """How things are done, and what came of it. Whose they become says the token, or the viewer."""

    __slots__ = ()

    def _add(
        self,
        namespace: Namespace,
        task: str,
        steps: Iterable[str | Step],
        *,
        preconditions: Iterable[str] = (),
        source: Source = "person",
        privacy: Privacy = "shared",
        reason: str = "",
    ) -> Steps[Procedure]:
        """Keep how something is done; see `Procedures.add`."""
        return self._post(
            "/procedures", Procedure, namespace=check_namespace(namespace), task=task,
            steps=[one.value for one in as_steps(steps)], preconditions=list(preconditions),
            source=source, privacy=privacy, reason=reason,
        )  # fmt: skip

    add, aadd = blocking(_add), awaiting(_add)

    def _one(self, namespace: Namespace, key: str) -> Steps[Procedure | None]:
        """Return one procedure, whatever its status; None where there is none."""
        view = yield from self._view(namespace, key)
        return None if view is None else adapter(Procedure).validate_python(view["procedure"])

    get, aget = blocking(_one), awaiting(_one)

    def _versions(self, namespace: Namespace, key: str) -> Steps[Sequence[Procedure]]:
        """Return all versions of a procedure, the oldest first."""
        view = yield from self._view(namespace, key)
        found = () if view is None else view["versions"]
        return [adapter(Procedure).validate_python(one) for one in found]

    versions, aversions = blocking(_versions), awaiting(_versions)

    def _view(self, namespace: Namespace, key: str) -> Steps[dict[str, Any] | None]:
        where = place(check_namespace(namespace))
        return self._found(f"/procedures/{part(key)}", dict[str, Any], namespace=where)

    def _list(self, namespace: Namespace = (), *, past: bool = False) -> Steps[list[Procedure]]:
        """Return the procedures of a namespace and those below it, by task."""
        where = place(check_namespace(namespace, may_be_empty=True))
        return self._listed("/procedures", Procedure, namespace=where, past=past)

    list, alist = blocking(_list), awaiting(_list)

    def _recall(
        self, task: str, namespace: Namespace, *, limit: int = 5
    ) -> Steps[Sequence[FoundProcedure]]:
        """Return the procedures that fit a task, the best first."""
        where = place(check_namespace(namespace, may_be_empty=True))
        found = yield from self._items(
            "/procedures/for-task", FoundProcedure, namespace=where, task=task, limit=limit
        )
        return [*found]

    recall, arecall = blocking(_recall), awaiting(_recall)

    def _record_outcome(
        self,
        namespace: Namespace,
        key: str,
        outcome: Outcome,
        *,
        why: str = "",
        revises: Outcome | None = None,
        at: datetime | None = None,
    ) -> Steps[Procedure]:
        """Record what came of following a procedure; see `Procedures.record_outcome`.

        Raises:
            ConfigError: There is no such procedure.
        """
        return self._post(
            "/procedures/outcome", Procedure, namespace=check_namespace(namespace), key=key,
            outcome=outcome, why=why, revises=revises, at=at,
        )  # fmt: skip

    record_outcome, arecord_outcome = blocking(_record_outcome), awaiting(_record_outcome)
