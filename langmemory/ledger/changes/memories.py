"""Changes of memories as rows: added, updated, given up, merged."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from langmemory.changes import (
    AddMemory,
    Facets,
    Invalidate,
    MarkReflected,
    Merge,
    ReadAgain,
    RemoveMemory,
    SetStatus,
    Supersede,
    UpdateMemory,
)
from langmemory.errors import ChangeError, TurnsReadError
from langmemory.ledger.background import reflected
from langmemory.ledger.changes.run import ChangeRun, Unchanged
from langmemory.ledger.graph import graph_rows
from langmemory.ledger.records import evidence, removal
from langmemory.ledger.records.items import ENDED, find, put
from langmemory.ledger.records.removal import column, was_deleted
from langmemory.ledger.tables.facets import AT_FIRST
from langmemory.ledger.tables.times import to_us
from langmemory.ledger.writing import verbatim
from langmemory.types import HistoryAction


def add(run: ChangeRun, change: AddMemory) -> None:
    assert run.write is not None
    write = run.write
    if find(run.connection, run.change_set.namespace, change.key) is not None:
        raise Unchanged("is there already, and is left as it is")
    made_anew = write.index_fields is False and change.facets.kind in (
        "archival",
        "core",
    )  # a node of the tree, a block
    if not made_anew and was_deleted(run.connection, run.change_set.namespace, change.key):
        run.not_added.add(change.key)
        raise Unchanged("was deleted, and stays so")
    sources = run.items(change.evidence)
    if change.evidence and not sources:
        run.not_added.add(change.key)
        raise Unchanged("what it was derived from was deleted")
    entities = [run.entity(key) for key in change.mentions]
    facets = {**write.facets, **columns_of(change.facets)}
    if facets.get("status") in ENDED:
        facets["expired_at"] = run.now_us
    write.facets = {name: found for name, found in facets.items() if found is not None}
    reason = change.reason or run.change_set.reason
    [item] = put(run.connection, [write], run.now_us, run=run.id, reason=reason).ids
    evidence.add(run.connection, item, sources, run.id)
    graph_rows.mention(run.connection, item, entities, run.id)
    run.added[change.key] = item


def update(run: ChangeRun, change: UpdateMemory) -> None:
    item, write = run.item(change.key), run.write
    facets = {**(write.facets if write else {}), **columns_of(change.facets)}
    new = evidence.add(run.connection, item, run.items(change.evidence), run.id)
    entities = [run.entity(key) for key in change.mentions]
    new += graph_rows.mention(run.connection, item, entities, run.id)
    lost = evidence.withdraw(run.connection, item, run.items(change.withdrawn))
    action: HistoryAction = "archive" if change.facets.status == "archived" else "update"
    if not run.revise(
        change.key, item, change, action, facets, write=write, touched=bool(new), withdrawn=lost
    ):
        raise Unchanged("is so already")


def supersede(run: ChangeRun, change: Supersede) -> None:
    if change.by == change.key:
        raise ChangeError(f"Run {run.id!r} lets {change.key!r} supersede itself.")
    run.item(change.key)
    if run.find(change.by) is None:
        raise Unchanged(f"{change.by}, which was to take its place, was deleted")
    _end(run, change, "supersede", change.by, change.invalid_at)


def invalidate(run: ChangeRun, change: Invalidate) -> None:
    _end(run, change, "invalidate", None, change.invalid_at)


def _end(
    run: ChangeRun,
    change: Supersede | Invalidate,
    action: HistoryAction,
    by: str | None,
    at: datetime,
) -> None:
    columns = {"status": "superseded", "superseded_by": by, "invalid_at": to_us(at)}
    run.change(change.key, change, action, columns)


def set_status(run: ChangeRun, change: SetStatus) -> None:
    item = run.item(change.key)
    approves = run.change_set.kind == "review" and change.status == "active"
    if approves and (
        column(run.connection, item, "status") == "superseded"
        or column(run.connection, item, "superseded_by") is not None
    ):
        raise Unchanged("gave way to what was learned since it was asked about, and stays so")
    action: HistoryAction = "archive" if change.status == "archived" else "status"
    run.change(change.key, change, action, {"status": change.status})


def remove(run: ChangeRun, change: RemoveMemory) -> None:
    item = run.item(change.key)
    turns = verbatim.turns_around(run.connection, [item])
    reason = change.reason or run.change_set.reason
    removal.remove(run.connection, item, run.now_us, run=run.id, reason=reason)
    verbatim.refresh_contexts(run.connection, turns)
    run.added.pop(change.key, None)
    run.changed.pop(change.key, None)
    run.removed[change.key] = item


def merge(run: ChangeRun, change: Merge) -> None:
    if change.key in change.others:
        raise ChangeError(f"Run {run.id!r} merges {change.key!r} with itself.")
    item = run.item(change.key)
    others = [(key, other) for key in change.others if (other := run.find(key)) is not None]
    new = 0
    for _, other in others:
        sources = evidence.sources(run.connection, other)
        new += evidence.add(run.connection, item, sources, run.id)
        entities = graph_rows.mentioned(run.connection, other)
        new += graph_rows.mention(run.connection, item, entities, run.id)
    done = [run.revise(change.key, item, change, "merge", touched=bool(new))]
    archived = {"status": "archived", "superseded_by": change.key}
    done += [run.revise(key, other, change, "merge", archived) for key, other in others]
    if not any(done):
        raise Unchanged("nothing is left to merge")


def mark_reflected(run: ChangeRun, change: MarkReflected) -> None:
    turns = run.items(change.keys)
    planned_at = run.change_set.planned_at
    read = 0 if planned_at is None else sum(_read_since(run, one, planned_at) for one in turns)
    if read:
        raise TurnsReadError(
            f"Run {run.id!r} reflected {len(turns)} turns, and another run has learned from "
            f"{read} of them meanwhile. Gather again; nothing was written."
        )
    at = change.read_at
    edited = (
        0 if at is None else sum(reflected.edited_after(run.connection, one, at) for one in turns)
    )
    if edited:
        raise TurnsReadError(
            f"Run {run.id!r} reflected {len(turns)} turns, and {edited} of them were edited "
            "meanwhile. Gather again; nothing was written."
        )
    reflected.forget_edited(run.connection, turns)
    if not evidence.mark_reflected(run.connection, turns, run.id):
        raise Unchanged("all of them were read before, or are gone")


def _read_since(run: ChangeRun, turn: int, seq: int) -> bool:
    """Return whether another run has read a turn and changed something after this place in the history."""
    row = run.connection.execute(
        "SELECT EXISTS (SELECT 1 FROM reflected r JOIN history h ON h.run = r.run "
        "WHERE r.item = ? AND r.run <> ? AND h.seq > ?)",
        (turn, run.id, seq),
    ).fetchone()
    return bool(row[0])


def read_again(run: ChangeRun, change: ReadAgain) -> None:
    if not evidence.mark_unread(run.connection, change.run):
        raise Unchanged("none of its turns is there, or they are unread already")


def columns_of(facets: Facets) -> dict[str, Any]:
    """Return the facets that are set, as the file keeps them; one that is taken away is as at first."""
    columns: dict[str, Any] = {}
    for name, found in facets.given().items():
        if isinstance(found, datetime):
            found = to_us(found)
        columns[name] = AT_FIRST[name] if found is None else found
    return columns
