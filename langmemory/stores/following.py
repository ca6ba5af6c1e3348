"""Plans of what follows from a change, made from a snapshot and checked again where they are applied."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

import numpy as np

from langmemory.changes import Change, ChangeSet, Facets, UpdateMemory
from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.file.times import from_us
from langmemory.engines.sqlite.reading.graph_view import GraphView
from langmemory.engines.sqlite.reading.knowledge import StoreKnowledge
from langmemory.engines.sqlite.reading.searching import now_us
from langmemory.engines.sqlite.records import follow_ups, history, items
from langmemory.engines.sqlite.records.follow_ups import FollowUp
from langmemory.engines.sqlite.scope.scopes import compile_scope
from langmemory.errors import StalePlanError
from langmemory.formation.contradiction.statements import Statement
from langmemory.formation.planning.meanwhile import caught_up
from langmemory.formation.planning.parting import PARTED, again, parted
from langmemory.formation.planning.reinstating import reinstated
from langmemory.formation.planning.rewording import still_claimed
from langmemory.ports.facts import Claim
from langmemory.types import Namespace, Scope

T = TypeVar("T")
ATTEMPTS: Final = 20
"""How often what follows from a change is planned while others change the same namespace."""
Knowing = Callable[[Connection, Namespace], StoreKnowledge]


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


async def aplanned_again(attempt: Callable[[], Awaitable[T]]) -> T:
    """`planned_again` without blocking the loop."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await attempt()
        except OutdatedPlanError:
            continue
    return await attempt()


@dataclass(frozen=True, kw_only=True, slots=True)
class Reinstatement:
    """What holds again without some items that are about to go."""

    changes: Mapping[Namespace, tuple[Change, ...]]
    keys: Mapping[Namespace, list[str]]
    """Of those that took the place of others."""
    planned_at: int

    @classmethod
    def of(cls, connection: Connection, ids: Collection[int], knowing: Knowing) -> Reinstatement:
        """Plan it from a snapshot."""
        keys = items.replacing(connection, ids) if ids else {}
        return cls(
            changes={
                namespace: tuple(reinstated(gone, knowing(connection, namespace)))
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


def planned(connection: Connection, follow_up: FollowUp, knowing: Knowing) -> ChangeSet | None:
    """Plan a follow-up from a snapshot; None where nothing follows."""
    detail, namespace = follow_up.detail, follow_up.namespace
    known = knowing(connection, namespace)
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
        one.memory.key: one for one in parted(was, linked(connection, namespace, keys), made, known)
    }
    found = [fact for key in back if (fact := known.by_key(key)) is not None]
    facts = [Statement.of_known(one) for one in found if one.memory.status != "archived"]
    facts += [again(one) for one in apart.values()]
    since = {key: history.latest(connection, namespace, key)[0] for key in apart} | back
    return (
        *(UpdateMemory(key=key, facets=Facets(status="active"), reason=PARTED) for key in apart),
        *caught_up(
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
