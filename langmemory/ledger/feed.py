"""The feed as rows: what happened to memories, from the history, and to runs, reviews, jobs and messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from langmemory.ledger.connection import Connection
from langmemory.ledger.filters import TRUE, Condition
from langmemory.ledger.namespaces import Bindings, from_path, inside
from langmemory.ledger.reviews import open_to as review_open_to
from langmemory.ledger.scopes import visible_to
from langmemory.ledger.values import from_us
from langmemory.types import FeedEvent, FeedType, Kind, Namespace


class Place(NamedTuple):
    """A place in the feed: everything up to it was read."""

    history: int
    activity: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Which events."""

    viewer: str | None
    namespaces: tuple[Namespace, ...]
    """Prefixes by whole labels; ``()`` among them is the whole file."""
    types: tuple[FeedType, ...]
    kinds: tuple[Kind, ...] | None
    """Of memories, and those gone whose kind is not known any more; None is all."""

    @property
    def everywhere(self) -> bool:
        """Whether it reaches the whole file."""
        return () in self.namespaces


def end(connection: Connection) -> Place:
    """Return the place behind everything that has happened. A single statement."""
    row = connection.execute(
        "SELECT (SELECT coalesce(max(seq), 0) FROM history), "
        "(SELECT coalesce(max(seq), 0) FROM activity)"
    ).fetchone()
    return Place(*row)


_NAMED: Final = "coalesce(i.namespace, g.namespace)"
_GONE: Final = (
    "LEFT JOIN history g ON i.id IS NULL AND g.seq = (SELECT max(x.seq) FROM history x "
    "WHERE x.item = h.item AND x.key IS NOT NULL)"
)
"""The row by which an item that is gone is known."""


def memory_events(
    connection: Connection, selection: Selection, after: int, until: int, limit: int
) -> list[tuple[int, FeedEvent]]:
    """Return what happened to memories between two places of the history, oldest first, each with its
    place.

    A viewer is told of a memory they may read now, and only of changes since it was last the private
    memory of somebody else.
    """
    where, bindings = _within_namespaces(selection, _NAMED)
    if selection.kinds is not None:
        marks = ", ".join("?" * len(selection.kinds))
        kind = "coalesce(i.kind, g.facets ->> '$.kind')"
        where += (
            f" AND ({kind} IS NULL OR {kind} IN ({marks}))"  # of many a deletion nobody knows it
        )
        bindings = (*bindings, *selection.kinds)
    open_ = _open_to(selection.viewer)
    rows = connection.execute(
        "SELECT h.seq, h.at, h.action, n.path, coalesce(i.key, g.key), "
        "coalesce(i.kind, g.facets ->> '$.kind'), h.run "
        f"FROM history h LEFT JOIN item i ON i.id = h.item {_GONE} "
        f"JOIN namespace n ON n.id = {_NAMED} "
        f"WHERE h.seq > ? AND h.seq <= ? AND {where} AND {open_.sql} ORDER BY h.seq LIMIT ?",
        (after, until, *bindings, *open_.bindings, limit),
    )
    return [
        (seq, FeedEvent(type="memory", action=action, at=from_us(at), namespace=from_path(path),
                        id=key, kind=kind, run_id=run))
        for seq, at, action, path, key, kind, run in rows
    ]  # fmt: skip


def _open_to(viewer: str | None) -> Condition:
    """Return whether a viewer may be told of a row ``h`` of the history."""
    if viewer is None:
        return TRUE
    visible = visible_to(viewer)
    # What a row keeps is what was until then: a row that made a memory public is told, one that
    # deleted it in private is not. Of what was forgotten nobody can say whose it was.
    secret = (
        "EXISTS (SELECT 1 FROM history p WHERE p.item = h.item "
        "AND (p.seq > h.seq OR (i.id IS NULL AND p.seq = h.seq)) "
        "AND (p.action = 'forget' OR "
        "('private' IN (p.before ->> '$.privacy', p.facets ->> '$.privacy') AND NOT coalesce("
        "coalesce(p.facets ->> '$.owner', p.before ->> '$.owner', i.owner) = nullif(?, ''), FALSE))))"
    )
    return Condition(
        f"(i.id IS NULL OR {visible.sql}) AND NOT {secret} AND h.action <> 'forget'",
        (*visible.bindings, viewer),
    )


def other_events(
    connection: Connection, selection: Selection, after: int, until: int, limit: int
) -> list[tuple[int, FeedEvent]]:
    """Return what happened to runs, reviews, jobs and messages, as `memory_events`. Runs and jobs concern
    everybody's memory, so a viewer is not told of them; a job is of no namespace."""
    viewer = selection.viewer
    options: list[tuple[str, Bindings]] = []
    if "run" in selection.types and viewer is None:
        where, bindings = _within_namespaces(selection, "r.namespace")
        options.append((f"(r.id IS NOT NULL AND {where})", bindings))
    if "review" in selection.types:
        where, bindings = _within_namespaces(selection, "v.namespace")
        told = review_open_to(viewer)
        options.append(
            (f"(v.id IS NOT NULL AND {where} AND {told.sql})", (*bindings, *told.bindings))
        )
    if "job" in selection.types and viewer is None and selection.everywhere:
        options.append(("j.id IS NOT NULL", ()))
    if "message" in selection.types:
        where, bindings = _within_namespaces(selection, "m.namespace")
        open_ = visible_to(viewer, "m")
        options.append(
            (f"(m.id IS NOT NULL AND {where} AND {open_.sql})", (*bindings, *open_.bindings))
        )
    if not options:
        return []
    rows = connection.execute(
        "SELECT a.seq, a.at, a.type, a.subject, a.action, n.path, coalesce(r.kind, v.about, j.kind, m.type), "
        "CASE a.type WHEN 'run' THEN r.id WHEN 'review' THEN v.run END FROM activity a "
        "LEFT JOIN run r ON a.type = 'run' AND r.id = a.subject "
        "LEFT JOIN review v ON a.type = 'review' AND v.id = a.subject "
        "LEFT JOIN job j ON j.id = CASE a.type WHEN 'job' THEN CAST(a.subject AS INTEGER) END "
        "LEFT JOIN message m ON a.type = 'message' AND m.id = a.subject "
        "LEFT JOIN namespace n ON n.id = coalesce(r.namespace, v.namespace, m.namespace) "
        f"WHERE a.seq > ? AND a.seq <= ? AND ({' OR '.join(sql for sql, _ in options)}) "
        "ORDER BY a.seq LIMIT ?",
        (after, until, *(one for _, bound in options for one in bound), limit),
    )
    return [
        (seq, FeedEvent(type=type_, action=action, at=from_us(at), id=str(subject), kind=kind,
                        namespace=None if path is None else from_path(path), run_id=run))
        for seq, at, type_, subject, action, path, kind, run in rows
    ]  # fmt: skip


def _within_namespaces(selection: Selection, column: str) -> tuple[str, Bindings]:
    """Return whether a namespace, given by its id, is one of those asked for."""
    found = [inside(column, one) for one in selection.namespaces]
    sql = " OR ".join(f"({one})" for one, _ in found)
    return f"({sql})", tuple(binding for _, bindings in found for binding in bindings)


def merge_by_time(
    memories: Sequence[tuple[int, FeedEvent]], others: Sequence[tuple[int, FeedEvent]], start: Place
) -> Iterator[tuple[Place, FeedEvent]]:
    """Yield the events of both lists by time, each with the place behind it. Within a list their order
    stays."""
    place, left, right = start, list(memories), list(others)
    while left or right:
        if left and (not right or left[0][1].at <= right[0][1].at):
            seq, event = left.pop(0)
            place = place._replace(history=seq)
        else:
            seq, event = right.pop(0)
            place = place._replace(activity=seq)
        yield place, event


def read(
    connection: Connection, selection: Selection, after: Place, until: Place, limit: int
) -> tuple[list[tuple[Place, FeedEvent]], bool]:
    """Return the first events between two places, each with the place behind it, and whether there are
    more."""
    memories: list[Any] = []
    if "memory" in selection.types:
        memories = memory_events(connection, selection, after.history, until.history, limit + 1)
    others = other_events(connection, selection, after.activity, until.activity, limit + 1)
    found = list(merge_by_time(memories, others, after))
    return found[:limit], len(found) > limit
