"""Consequences of a change: planned from a snapshot, checked again where it is applied, and applied
as a change set of its own."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

import numpy as np

from langmemory.changes import Change, ChangeSet, Facets, UpdateMemory
from langmemory.errors import DatabaseError, StalePlanError
from langmemory.formation.contradiction.comparable import ComparableFact
from langmemory.formation.planning.catch_up import catch_up
from langmemory.formation.planning.edited_text import still_claimed
from langmemory.formation.planning.reinstate import (
    UNLINKED,
    facts_after_unlinking,
    holding,
    reinstate_facts,
)
from langmemory.ledger import follow_ups, history, items
from langmemory.ledger.applying import Prepared
from langmemory.ledger.connection import Connection
from langmemory.ledger.follow_ups import FollowUp
from langmemory.ledger.graph_view import GraphView
from langmemory.ledger.knowledge import StoreKnowledge
from langmemory.ledger.scopes import compile_scope
from langmemory.ledger.values import from_us
from langmemory.operations.core import Core, apply_run
from langmemory.ports.facts import Claim
from langmemory.search.searching import now_us
from langmemory.types import Applied, Namespace, Scope

logger = logging.getLogger("langmemory.store")

T = TypeVar("T")
ATTEMPTS: Final = 20
"""How often what follows from a change is planned while others change the same namespace."""


class OutdatedPlanError(StalePlanError):
    """The namespace changed after it was planned what follows from a change; the store plans again."""


def planned_again(attempt: Callable[[], T]) -> T:
    """Plan and write, again where somebody else wrote between the two."""
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except OutdatedPlanError:
            continue
    return attempt()


@dataclass(frozen=True, kw_only=True, slots=True)
class Reinstatement:
    """Facts that hold again without some items that are about to go."""

    changes: Mapping[Namespace, tuple[Change, ...]]
    keys: Mapping[Namespace, list[str]]
    """Of those that took the place of others."""
    planned_at: int

    @classmethod
    def of(cls, core: Core, connection: Connection, ids: Collection[int]) -> Reinstatement:
        """Plan it from a snapshot."""
        keys = items.replacing(connection, ids) if ids else {}
        return cls(
            changes={
                namespace: tuple(reinstate_facts(gone, core.knowledge(namespace, connection)))
                for namespace, gone in keys.items()
            },
            keys=keys,
            planned_at=history.newest(connection),
        )

    def check(self, connection: Connection, ids: Collection[int]) -> None:
        """Check within the transaction, before anything is written, that the plan still fits.

        Raises:
            OutdatedPlanError: It does not.
        """
        keys = items.replacing(connection, ids) if ids else {}
        if keys != self.keys or any(
            follow_ups.changed_since(connection, namespace, self.planned_at) for namespace in keys
        ):
            raise OutdatedPlanError(
                "Others changed the namespace while this change was planned. Do it again; nothing "
                "was written."
            )

    def change_sets(self) -> Iterable[ChangeSet]:
        """Return the plan as runs of their own."""
        for namespace, changes in self.changes.items():
            if changes:
                yield ChangeSet(
                    namespace=namespace,
                    run_id=f"reinstated/{secrets.token_hex(8)}",
                    kind="correction",
                    reason="what had taken the place of memories is gone",
                    changes=changes,
                )


NOTHING: Final = Reinstatement(changes={}, keys={}, planned_at=0)
"""The plan of a removal after which nothing holds again, which is most of them."""


def planned(core: Core, connection: Connection, follow_up: FollowUp) -> ChangeSet | None:
    """Plan a follow-up from a snapshot; None where nothing follows."""
    detail, namespace = follow_up.detail, follow_up.namespace
    known = core.knowledge(namespace, connection)
    if follow_up.kind == "reworded":
        changes = _claimed_anew(connection, namespace, detail, known)
        note = {}
    else:
        changes = _learned_since(connection, namespace, detail, known)
        note = {"follows": detail["run"]}
    if not changes:
        return None
    return ChangeSet(
        namespace=namespace,
        run_id=detail["id"],
        kind="correction",
        reason=detail["reason"],
        changes=changes,
        note=note,
    )


def _claimed_anew(
    connection: Connection,
    namespace: Namespace,
    detail: Mapping[str, object],
    known: StoreKnowledge,
) -> tuple[Change, ...]:
    """Return what a memory claims by its other words."""
    item = items.find(connection, namespace, str(detail["key"]))
    found = [] if item is None else items.memories(connection, np.array([item], np.int64))
    if not found:
        return ()
    entities: dict[str, list[str]] = detail["entities"]  # type: ignore[assignment]
    edges: list[list[str]] = detail["edges"]  # type: ignore[assignment]
    return tuple(
        still_claimed(
            found[0],
            before=str(detail["before"]),
            claims=[Claim.of_edge(*edge) for edge in edges],
            entities={key: (name, kind) for key, (name, kind) in entities.items()},
            knowledge=known,
            now=datetime.fromisoformat(str(detail["at"])),
        )
    )


def _learned_since(
    connection: Connection,
    namespace: Namespace,
    detail: Mapping[str, object],
    known: StoreKnowledge,
) -> tuple[Change, ...]:
    """Return what becomes of facts that are back, by what was learned while they were away, and of
    those that only gave way because of links that were taken back."""
    back: dict[str, int] = detail["back"]  # type: ignore[assignment]
    keys: list[str] = detail["keys"]  # type: ignore[assignment]
    was: dict[str, str] = detail["was"]  # type: ignore[assignment]
    made = datetime.fromisoformat(str(detail["since"]))
    apart = {
        one.memory.key: one
        for one in facts_after_unlinking(was, linked(connection, namespace, keys), made, known)
    }
    found = [fact for key in back if (fact := known.by_key(key)) is not None]
    facts = [ComparableFact.of_known(one) for one in found if one.memory.status != "archived"]
    facts += [holding(one) for one in apart.values()]
    since = {key: history.latest(connection, namespace, key)[0] for key in apart} | back
    return (
        *(UpdateMemory(key=key, facets=Facets(status="active"), reason=UNLINKED) for key in apart),
        *catch_up(
            facts,
            lambda mine, other: other not in back and known.learned_after(other, since[mine]),
            known,
            from_us(now_us()),
        ),
    )


def linked(
    connection: Connection, namespace: Namespace, keys: Collection[str]
) -> Mapping[str, str]:
    """Return `Knowledge.links` of these entities, and of those linked with them."""
    if not keys:
        return {}
    every = compile_scope(Scope(namespace=namespace))
    return GraphView(connection, namespace, narrow=every, wide=every).links(keys)


def follow_up(core: Core) -> list[tuple[ChangeSet, Applied]]:
    """Plan and apply what changes have left to be planned, each as a run of its own.

    What cannot be written now stays pending; the next change, or the store that opens the file
    next, does it.
    """
    found: list[tuple[ChangeSet, Applied]] = []
    try:
        with core.engine.read() as snapshot:
            pending = follow_ups.pending(snapshot.connection)
        for one in pending:
            done = planned_again(lambda one=one: _follow_once(core, one))  # type: ignore[misc]
            found += [] if done is None else [done]
    except (DatabaseError, StalePlanError) as error:
        why = type(error.__cause__ or error).__name__
        logger.warning("follow_up_pending path=%s error=%s", core.path, why)
    return found


def _follow_once(core: Core, follow_up: FollowUp) -> tuple[ChangeSet, Applied] | None:
    with core.engine.read() as snapshot:
        seq = history.newest(snapshot.connection)
        change_set = planned(core, snapshot.connection, follow_up)
        prepared = Prepared()
        if change_set is not None:
            prepared = Prepared.of(snapshot.connection, change_set)

    def write(connection: Connection) -> Applied | None:
        if follow_ups.changed_since(connection, follow_up.namespace, seq):
            raise OutdatedPlanError(
                f"{follow_up.namespace} changed while it was planned what follows from a change."
            )
        if not follow_ups.take(connection, follow_up) or change_set is None:
            return None
        return apply_run(core, connection, change_set, prepared)

    applied = core.write(write)
    return None if applied is None or change_set is None else (change_set, applied)


def reinstate(core: Core, connection: Connection, planned: Reinstatement) -> None:
    """Write within the transaction what holds again."""
    for one in planned.change_sets():
        apply_run(core, connection, one, Prepared())


def note_reworded(connection: Connection, reworded: Sequence[items.Reworded], now: int) -> None:
    """Note within the transaction that items were given other words."""
    memories = items.memories(connection, np.array([one.item for one in reworded], np.int64))
    for one, memory in zip(reworded, memories, strict=True):
        detail = {
            "id": f"reworded/{secrets.token_hex(8)}",
            "reason": "a memory was given other words",
            "key": memory.key,
            "before": one.before,
            "edges": [edge for *edge, _ in one.claims["edges"]],
            "entities": {key: told[:2] for key, told in one.claims["entities"].items()},
            "at": from_us(now).isoformat(),
        }
        follow_ups.note(connection, memory.namespace, "reworded", detail)
