"""Applying a change set: every change as rows, all of them in one transaction, each in the history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    ChangeSet,
    DecideReview,
    Invalidate,
    LinkEntities,
    MarkReflected,
    Merge,
    OpenReview,
    ReadAgain,
    RemoveMemory,
    SetStatus,
    Supersede,
    UnlinkEntities,
    UpdateMemory,
    WithdrawReview,
)
from langmemory.errors import ChangeError, StalePlanError
from langmemory.formation.contradiction.grouping import meant_together
from langmemory.ledger.changes import graph, memories, reviews
from langmemory.ledger.changes.run import ChangeRun, Unchanged
from langmemory.ledger.graph import graph as graph_reads
from langmemory.ledger.graph import graph_rows
from langmemory.ledger.records import history, runs
from langmemory.ledger.records.items import Write, find
from langmemory.ledger.records.reviews import find as find_review
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.namespaces import find as find_namespace
from langmemory.ledger.writing import verbatim
from langmemory.ledger.writing.indexing import Indexing, redrafted
from langmemory.types import Applied, Run

Writes = Mapping[int, Write]
"""The items a change set writes, by the position of the change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """The meaning of the words of a change set, found before the transaction that applies it."""

    said: frozenset[str] = frozenset()
    """Ids of reviews that suggest what the core block says already."""
    meant: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Relations that are compared with those of the edges it adds."""

    @classmethod
    def of(cls, connection: Connection, change_set: ChangeSet) -> Prepared:
        """Read a snapshot."""
        changes = change_set.changes
        return cls(
            said=reviews.said_already(connection, change_set.namespace, changes),
            meant={
                one.relation: frozenset(meant_together(one.relation))
                for one in changes
                if isinstance(one, AddEdge)
            },
        )


@dataclass(kw_only=True, slots=True)
class Drafted:
    """The items a change set writes. They are complete once they are embedded (`Indexing.embed`)."""

    writes: dict[int, Write] = field(default_factory=dict)
    prepared: Prepared = field(default_factory=Prepared)


def draft(indexing: Indexing, connection: Connection, change_set: ChangeSet) -> Drafted:
    """Check the values of a change set and find their texts.

    Raises:
        InvalidValueError: A value has no JSON form.
    """
    found = Drafted()
    if runs.find(connection, change_set.run_id) is not None:  # nothing will be written
        return found
    found.prepared = Prepared.of(connection, change_set)
    for position, change in enumerate(change_set.changes):
        if isinstance(change, AddMemory | UpdateMemory) and change.value is not None:
            item = find(connection, change_set.namespace, change.key)
            # A core block is in every prompt, so it is not to be found a second time.
            index: Literal[False] | None = False if change.facets.kind == "core" else None
            found.writes[position] = (
                indexing.draft(change_set.namespace, change.key, change.value, index=index)
                if item is None
                else redrafted(indexing, connection, item, change.value)
            )
    return found


def apply(
    connection: Connection,
    change_set: ChangeSet,
    writes: Writes,
    now_us: int,
    *,
    prepared: Prepared,
    follows: tuple[Change, ...] = (),
) -> Applied:
    """Write everything, within a transaction.

    Args:
        prepared: What its words mean.
        follows: What was planned to follow from it: changes of the same run, without items.

    Raises:
        StalePlanError: A memory changed after the plan was made.
        ChangeError: A change names something that there never was, or contradicts itself.
    """
    run_id = change_set.run_id
    if change_set.kind == "undo" or run_id.startswith(runs.UNDO):
        raise ChangeError(f"Run {run_id!r} is named like an undo; call `undo` for one.")
    known = runs.find(connection, run_id)
    if known is not None:
        return _repeated(change_set, known)
    _check_plan(connection, change_set, prepared)
    reviews.check_answers(connection, change_set)
    run = ChangeRun(connection, change_set, now_us, prepared.said)
    runs.insert(
        connection, run_id, kind=change_set.kind, namespace=run.namespace, at_us=now_us,
        reason=change_set.reason, note=change_set.note,
    )  # fmt: skip
    lines = _write_all(run, change_set, writes)
    runs.keep_links(connection, run_id, run.links)
    if follows:
        lines += _write_all(run, change_set.model_copy(update={"changes": follows}), {})
    verbatim.refresh_around(connection, list(run.changed.values()))
    return Applied(
        run_id=run_id, lines=tuple(lines), added=tuple(run.added), changed=tuple(run.changed),
        removed=tuple(run.removed),
    )  # fmt: skip


def _write_all(run: ChangeRun, change_set: ChangeSet, writes: Writes) -> list[str]:
    """Return the changes that were made, one line each."""
    lines = change_set.describe()
    for position, change in enumerate(change_set.changes):
        run.write = writes.get(position)
        try:
            _WRITE[type(change)](run, change)
        except Unchanged as why:
            lines[position] += f": {why}"
    return lines


def concerned(connection: Connection, change_set: ChangeSet) -> set[str]:
    """Return the keys of the memories that a change set changes, or asks or decides about."""
    keys: set[str] = set()
    for change in change_set.changes:
        keys.update(_touched(change))
        if isinstance(change, AddMemory):
            keys.add(change.key)
        elif isinstance(change, DecideReview):
            review = find_review(connection, change.id)
            keys.update(review.memories if review is not None else ())
    return keys


_WRITE: Final[Mapping[type[Change], Callable[[ChangeRun, Any], None]]] = {
    AddMemory: memories.add,
    UpdateMemory: memories.update,
    Supersede: memories.supersede,
    Invalidate: memories.invalidate,
    SetStatus: memories.set_status,
    RemoveMemory: memories.remove,
    Merge: memories.merge,
    MarkReflected: memories.mark_reflected,
    ReadAgain: memories.read_again,
    AddEntity: graph.add_entity,
    LinkEntities: graph.link,
    UnlinkEntities: graph.unlink,
    AddEdge: graph.add_edge,
    OpenReview: reviews.open_review,
    DecideReview: reviews.decide,
    WithdrawReview: reviews.withdraw,
}


def _repeated(change_set: ChangeSet, known: Run) -> Applied:
    if known.namespace != change_set.namespace:
        raise ChangeError(
            f"Run {known.id!r} was applied in {known.namespace}, not in {change_set.namespace}. "
            "Give every run an id of its own."
        )
    line = f"run {known.id} was applied before, at {known.at.isoformat()}"
    if known.undone_by is not None:
        line += f", and undone by {known.undone_by}: what was undone does not come back"
    return Applied(run_id=known.id, lines=(line,), repeated=True)


def _check_plan(connection: Connection, change_set: ChangeSet, prepared: Prepared) -> None:
    if change_set.planned_at is None:
        return
    stale = []
    touched = [*dict.fromkeys(key for change in change_set.changes for key in _touched(change))]
    for key in history.maybe_changed(
        connection, change_set.namespace, touched, change_set.planned_at
    ):
        seq, action, run = history.latest(connection, change_set.namespace, key)
        if seq > change_set.planned_at:
            stale.append(f"{key} ({action}{f' by run {run}' if run else ''})")
    stale += [
        f"{key} (add by {run})" for key, run in _learned_meanwhile(connection, change_set, prepared)
    ]
    if stale:
        raise StalePlanError(
            f"Run {change_set.run_id!r} was planned before these memories changed: {some(stale)}. "
            "Plan again; nothing was written."
        )


def _learned_meanwhile(
    connection: Connection, change_set: ChangeSet, prepared: Prepared
) -> Iterator[tuple[str, str | None]]:
    """(key, run) of facts that came since the plan was made and claim of somebody what the new ones
    would have been compared with."""
    namespace = find_namespace(connection, change_set.namespace)
    if namespace is None or change_set.planned_at is None:
        return
    asked: dict[str, set[str]] = {}
    for change in change_set.changes:
        if isinstance(change, AddEdge):
            for end in {change.subject, change.object or change.subject}:
                asked.setdefault(end, set()).update(prepared.meant[change.relation])
    for key, relations in asked.items():
        entity = graph_rows.find_entity(connection, namespace, key)
        if entity is not None:
            linked = graph_reads.roots(connection, [entity])
            yield from graph_rows.learned_since(
                connection, linked, relations, change_set.planned_at
            )


def _touched(change: Change) -> tuple[str, ...]:
    """Return the keys of the memories a change builds on."""
    match change:
        case AddMemory():
            return change.evidence
        case UpdateMemory():
            return (change.key, *change.evidence)
        case Supersede():
            return (change.key, change.by)
        case Invalidate() | SetStatus() | RemoveMemory():
            return (change.key,)
        case Merge():
            return (change.key, *change.others)
        case AddEdge():
            return (change.fact,)
        case OpenReview():
            return change.memories
    return ()


def some(parts: Sequence[str]) -> str:
    """Return the first five of a list, and how many more there are."""
    more = len(parts) - 5
    return ", ".join(parts[:5]) + (f" and {more} more" if more > 0 else "")
