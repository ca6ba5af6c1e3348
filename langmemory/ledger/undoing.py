"""Undoing a run: what it added goes, what it changed is as before; later rows that rest on the run refuse
it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, NamedTuple

from langmemory.errors import ChangeError, StalePlanError, UndoRefusedError
from langmemory.ledger import (
    evidence,
    graph_writing,
    history,
    items,
    removal,
    reviews,
    runs,
    verbatim,
)
from langmemory.ledger.applying import shorten_list
from langmemory.ledger.connection import Connection
from langmemory.ledger.history import WITHDRAWN
from langmemory.ledger.indexing import Indexing, redraft_item
from langmemory.ledger.items import Write
from langmemory.ledger.namespaces import intern, to_path
from langmemory.ledger.removal import RESTORABLE, revise
from langmemory.ledger.values import IS_NODE, from_us
from langmemory.pluralize import count_noun
from langmemory.types import Applied, Run
from langmemory.values import from_json


class Dependant(NamedTuple):
    """Something of a later run, and what it builds on."""

    run: str
    what: str


_ON_ENTITY: Final = (
    ("SELECT run FROM alias WHERE entity = ?", "names the entity {}"),
    ("SELECT run FROM mention WHERE entity = ?", "mentions the entity {}"),
    ("SELECT run FROM edge WHERE subject = ?", "claims something of the entity {}"),
    ("SELECT run FROM edge WHERE object = ?", "claims something of the entity {}"),
    ("SELECT link_run FROM entity WHERE same_as = ?", "links another entity to {}"),
    ("SELECT link_run FROM entity WHERE id = ? AND link_run IS NOT NULL", "links the entity {}"),
)


def on_items(connection: Connection, run: str, added: Mapping[int, str]) -> Iterator[Dependant]:
    """Yield the rows of other runs that rest on the items a run added: {id: key}, of one namespace."""
    for item, key in added.items():
        # A summary of the tree is made anew without what is taken out.
        for (other,) in connection.execute(
            "SELECT v.run FROM evidence v LEFT JOIN item i ON i.id = v.item "
            f"WHERE v.source = ? AND NOT {IS_NODE.format('i')}",  # true where there is no item
            (item,),
        ):
            if other != run:
                yield Dependant(other, f"takes {key} as evidence")
    here = "(SELECT namespace FROM run WHERE id = ?1)"
    keys = json.dumps(list(added.values()))
    for key, other in connection.execute(
        "SELECT i.superseded_by, (SELECT h.run FROM history h JOIN run r ON r.id = h.run "
        "WHERE h.item = i.id AND h.action IN ('supersede', 'merge') AND r.undone_by IS NULL "
        f"ORDER BY h.seq DESC LIMIT 1) FROM item i WHERE i.status <> 'active' "
        f"AND i.namespace = {here} AND i.superseded_by IN (SELECT value FROM json_each(?2))",
        (run, keys),
    ):
        if other not in (None, run):
            yield Dependant(other, f"lets {key} take a memory's place")
    for key, other in connection.execute(
        "SELECT heir, run FROM (SELECT h.facets ->> '$.superseded_by' AS heir, h.run FROM history h "
        f"JOIN run r ON r.id = h.run WHERE h.namespace = {here} AND {RESTORABLE} "
        "AND h.facets ->> '$.status' <> 'active' "
        "AND r.undone_by IS NULL AND h.run <> ?1) removed WHERE heir IN (SELECT value FROM json_each(?2))",
        (run, keys),
    ):
        yield Dependant(other, f"removed a memory whose place {key} had taken")
    for review, other, key in connection.execute(
        f"SELECT v.id, v.run, j.value FROM review v, json_each(v.items) j WHERE v.namespace = {here} "
        "AND v.decision IS NULL AND v.run <> ?1 AND j.value IN (SELECT value FROM json_each(?2))",
        (run, keys),
    ):
        yield Dependant(other, f"asks about {key} (decide review {review}, or undo the run)")


def on_graph(connection: Connection, run: str) -> Iterator[Dependant]:
    """Yield the rows of other runs that rest on the entities, links and reviews of a run."""
    entities = connection.execute("SELECT id, key FROM entity WHERE run = ?", (run,)).fetchall()
    for entity, key in entities:
        for query, what in _ON_ENTITY:
            for (other,) in connection.execute(query, (entity,)):
                if other not in (None, run):
                    yield Dependant(other, what.format(key))
    for key, other in connection.execute(
        "SELECT e.key, e.link_run FROM run r CROSS JOIN json_each(r.links) j "
        "CROSS JOIN entity e ON e.namespace = r.namespace AND e.key = j.key "
        "WHERE r.id = ?1 AND e.link_run <> ?1",
        (run,),
    ):
        yield Dependant(other, f"links the entity {key}")
    yield from _circles(connection, run)
    for review, other in connection.execute(
        "SELECT id, decided_run FROM review WHERE run = ?1 AND decided_run <> ?1", (run,)
    ):
        yield Dependant(other, f"decided review {review}")


def _circles(connection: Connection, run: str) -> Iterator[Dependant]:
    """Links of other runs that would lead an entity back to itself, once the links of a run are as
    they were before it."""
    restored: dict[int, int | None] = {}
    keys: dict[int, str] = {}
    (namespace,) = connection.execute("SELECT namespace FROM run WHERE id = ?", (run,)).fetchone()
    for key, (same_as, _) in runs.links(connection, run).items():
        entity = graph_writing.find_entity(connection, namespace, key)
        if entity is not None:
            target = same_as and graph_writing.find_entity(connection, namespace, same_as)
            restored[entity], keys[entity] = target or None, key
    for entity, target in restored.items():
        later: list[str | None] = []
        passed: set[int] = set()
        at = target
        while at is not None and at != entity and at not in passed:
            passed.add(at)
            if at in restored:
                at = restored[at]
                continue
            at, by = connection.execute(
                "SELECT same_as, link_run FROM entity WHERE id = ?", (at,)
            ).fetchone()
            later.append(by)
        if at == entity:
            for other in later:
                if other is not None:
                    yield Dependant(other, f"links to {keys[entity]} what it was linked to")


@dataclass(kw_only=True, slots=True)
class Trail:
    """The step of a run on one item."""

    item: int
    key: str
    gone: bool
    added: bool
    removed: bool
    last_seq: int
    value: str | None
    """JSON, before the run."""
    columns: dict[str, Any] = field(default_factory=dict)
    """Those it set, as they were, ``updated_at`` included; all of what it removed."""
    later: list[runs.Later] = field(default_factory=list)
    """The state of it since; where the run removed it, what came under its key."""
    replaced: bool = False
    """The run removed it, and another memory has its key now."""
    is_back: bool = False
    """The run removed it, and it is there all the same: so it came with an import."""

    @property
    def stays_gone(self) -> bool:
        """Whether somebody deleted it since, or the run itself what it had added. What another run
        removed is not meant: that can be undone."""
        if not self.gone or (self.removed and self.added):
            return self.gone
        last = self.later[-1] if self.later else None
        if self.removed and (last is None or self.replaced):
            return False
        return last is None or last.action != "delete" or last.run is None

    @property
    def may_hold_again(self) -> bool:
        """Whether the run changed if, for what time or for whom it holds."""
        if self.gone or self.added:
            return self.comes_back
        return not self.columns.keys().isdisjoint(
            ("status", "valid_at", "invalid_at", *history.WHOSE)
        )

    @property
    def comes_back(self) -> bool:
        """Whether it was there before the run, which removed it."""
        return self.removed and not (self.is_back or self.stays_gone)


@dataclass(frozen=True, kw_only=True, slots=True)
class Undoing:
    """A run about to be undone, with the values to bring back, by item, which are not embedded yet."""

    run: Run
    drafts: dict[int, Write]

    def fresh(self) -> Undoing:
        """Return the same with drafts of its own: writing fills them in."""
        drafts = {item: replace(draft) for item, draft in self.drafts.items()}
        return Undoing(run=self.run, drafts=drafts)

    @classmethod
    def of(
        cls,
        indexing: Indexing,
        connection: Connection,
        run_id: str,
        *,
        without: Collection[str] = (),
    ) -> Undoing:
        """Look at what is to be brought back once the runs ``without`` are undone.

        Raises:
            ChangeError, UndoRefusedError: See `Changes.undo`.
        """
        run = _find(connection, run_id)
        found = cls(run=run, drafts={})
        if run.undone_by is not None:
            return found
        trails = _trails(connection, run, without)
        _check(connection, run_id, trails, without)
        for trail in trails:
            if trail.comes_back:
                value = from_json(_value_of_trail(run.id, trail))
                draft = indexing.redraft(run.namespace, trail.key, value, trail.columns)
            elif not (trail.gone or trail.added or trail.is_back) and _differs(connection, trail):
                value = from_json(_value_of_trail(run_id, trail))
                draft = redraft_item(indexing, connection, trail.item, value)
            else:
                continue
            found.drafts[trail.item] = draft
        return found

    def write(self, connection: Connection, now_us: int) -> tuple[Applied, Mapping[str, int]]:
        """Bring everything back, in a transaction, once the drafts are finished. Also returns the
        keys of what may be believed, or hold for a time or somebody, as it was not while the run stood;
        each with the place of the run in the history.

        Raises:
            ChangeError, UndoRefusedError: See `Changes.undo`.
        """
        run = _find(connection, self.run.id)
        undo = runs.UNDO + run.id
        if run.undone_by is not None:
            line = f"run {run.id} was undone before, by {run.undone_by}"
            return Applied(run_id=undo, lines=(line,), repeated=True), {}
        trails = _trails(connection, run)
        _check(connection, run.id, trails)
        reason = f"undo of {run.id}"
        runs.insert(
            connection, undo, kind="undo", namespace=intern(connection, run.namespace),
            at_us=now_us, reason=reason, note={"undoes": run.id},
        )  # fmt: skip
        lines = [*dict.fromkeys(self._bring_back(connection, trails, undo, reason, now_us))]
        lines += _take_back(connection, run)
        runs.mark_undone(connection, run.id, undo)
        verbatim.refresh_around(connection, [trail.item for trail in trails])
        changed = tuple(one.key for one in trails if not (one.stays_gone or one.is_back))
        back = {trail.key: trail.last_seq for trail in trails if trail.may_hold_again}
        return Applied(run_id=undo, lines=tuple(lines), changed=changed), back

    def _bring_back(
        self, connection: Connection, trails: list[Trail], undo: str, reason: str, now_us: int
    ) -> Iterator[str]:
        for trail in trails:
            draft = self.drafts.get(trail.item)
            if trail.comes_back:
                if draft is None:
                    raise _stale(trail, undo)
                removal.bring_back(
                    connection, trail.item, draft, trail.columns, now_us, run=undo,
                    reason=reason,
                )  # fmt: skip
                yield f"bring back {trail.key}"
            elif trail.is_back:
                yield f"leave {trail.key}: is there again"
            elif trail.stays_gone:
                yield f"leave {trail.key}: was deleted since, and stays so"
            elif trail.added:
                removal.delete(connection, trail.item, now_us, run=undo, reason=reason)
                yield f"remove {trail.key}"
            else:
                if draft is None and _differs(connection, trail):
                    raise _stale(trail, undo)
                columns = dict(trail.columns)
                updated_us = columns.pop("updated_at", None)
                evidence.give_back(connection, trail.item, columns.pop(WITHDRAWN, ()))
                revise(
                    connection, trail.item, now_us, action="restore", run=undo, reason=reason,
                    columns=columns, write=draft,
                    touched=True, updated_us=updated_us,
                )  # fmt: skip
                what = sorted(columns) if draft is None else ["value", *sorted(columns)]
                yield f"restore {trail.key}: {', '.join(what) or 'what it was linked with'}"


def _stale(trail: Trail, undo: str) -> StalePlanError:
    return StalePlanError(f"{trail.key} changed while {undo} began. Do it again.")


def _find(connection: Connection, run_id: str) -> Run:
    run = runs.find(connection, run_id)
    if run is None:
        raise ChangeError(
            f"There is no run {run_id!r} to undo; `runs()`, or `langmemory runs`, lists them."
        )
    if run.kind == "undo":
        raise UndoRefusedError(
            f"{run_id} is an undo and cannot be undone. To have back what it took away, apply the "
            "changes again as a new run, or put the values yourself: `history` shows them."
        )
    if run_id.startswith(runs.AGAIN):
        raise UndoRefusedError(
            f"{run_id} only let turns be read again. What was made of them since is undone by the "
            "run that read them."
        )
    if run.kind == "forget":
        raise UndoRefusedError(f"{run_id} forgot what it deleted: nothing is left to bring back.")
    return run


def _trails(connection: Connection, run: Run, without: Collection[str] = ()) -> list[Trail]:
    trails: dict[int, Trail] = {}
    for step in runs.steps(connection, run.id):
        trail = trails.get(step.item)
        if trail is None:
            key, gone = history.name_of(connection, step.item)
            trail = trails[step.item] = Trail(
                item=step.item, key=key, gone=gone, added=step.action == "add", removed=False,
                last_seq=step.seq, value=step.before,
            )  # fmt: skip
        trail.last_seq = step.seq
        trail.removed = step.action == "delete"
        trail.columns = {**step.facets, **trail.columns}  # the earliest is what was before the run
    for trail in trails.values():
        trail.later = runs.later(connection, trail.item, trail.last_seq)
        trail.is_back = trail.removed and not trail.gone
        if trail.gone and trail.removed and not trail.later:
            trail.later = runs.later_in(connection, run.namespace, trail.key, trail.last_seq)
            there = connection.execute(
                f"SELECT i.created_at FROM item i WHERE {items.NAMED}",
                (to_path(run.namespace), trail.key),
            ).fetchone()
            trail.is_back = there == (trail.columns.get("created_at"),)
            trail.replaced = there is not None and not trail.is_back
        trail.later = [one for one in trail.later if one.run not in without]
    return list(trails.values())


def _differs(connection: Connection, trail: Trail) -> bool:
    row = connection.execute("SELECT value FROM item WHERE id = ?", (trail.item,)).fetchone()
    return bool(row[0] != trail.value)


def _value_of_trail(run_id: str, trail: Trail) -> str:
    if trail.value is None:
        raise UndoRefusedError(
            f"Run {run_id} cannot be undone: what {trail.key} said before it was forgotten."
        )
    return trail.value


def _check(
    connection: Connection, run_id: str, trails: list[Trail], without: Collection[str] = ()
) -> None:
    """Refuse if anything later stands on the run, or if not all that it did is known."""
    if foreign := runs.keys_without_record(connection, run_id):
        raise UndoRefusedError(
            f"Run {run_id} cannot be undone: it came with an import, which does not tell what "
            f"{shorten_list(foreign)} said before it. Nothing was changed."
        )
    by_run: dict[str, set[str]] = {}
    by_hand: list[str] = []
    for trail in trails:
        for later in trail.later:
            if later.action == "forget":
                raise UndoRefusedError(
                    f"Run {run_id} cannot be undone: what it changed was forgotten since, by "
                    f"{later.run}, and with it what could be brought back. Nothing was changed."
                )
            if trail.stays_gone or trail.is_back:
                continue
            if later.run is None:
                at = from_us(later.at_us).isoformat()
                by_hand.append(f"{trail.key} was written by the application at {at}")
            else:
                did = "removed" if later.action == "delete" else "changed"
                by_run.setdefault(later.run, set()).add(f"{did} {trail.key}")
        if trail.replaced and not trail.later:
            by_hand.append(f"another {trail.key} is there")
        if trail.comes_back and not trail.columns.keys() >= {*removal.KEPT, "thread_id"}:
            raise UndoRefusedError(
                f"Run {run_id} cannot be undone: it came with an import, which does not tell all "
                f"that {trail.key} was. Nothing was changed."
            )
    added = {trail.item: trail.key for trail in trails if trail.added and not trail.gone}
    for found in chain(on_items(connection, run_id, added), on_graph(connection, run_id)):
        if found.run not in without:
            by_run.setdefault(found.run, set()).add(found.what)
    if not by_run and not by_hand:
        return
    found_runs = (runs.find(connection, one) for one in by_run)
    when = {one.id: one.at.timestamp() for one in found_runs if one is not None}
    order = sorted(by_run, key=lambda one: (when.get(one, 0.0), one), reverse=True)
    parts = [f"run {run} {shorten_list(sorted(by_run[run]))}" for run in order]
    steps = [f"undo {', then '.join(order)}"] if order else []
    if by_hand:
        parts.append(shorten_list(by_hand))
        steps.append("delete what was written by hand, if it is to go")
    raise UndoRefusedError(
        f"Run {run_id} cannot be undone, later changes stand on it: {'; '.join(parts)}. First "
        f"{' and '.join(steps)}. Nothing was changed."
    )


def _take_back(connection: Connection, run: Run) -> Iterator[str]:
    """Yield the rows of a run beside the items."""
    namespace = intern(connection, run.namespace)
    before: runs.Links = {}
    for key, (same_as, link_run) in runs.links(connection, run.id).items():
        entity = graph_writing.find_entity(connection, namespace, key)
        if entity is not None:
            before[key] = graph_writing.link_of(connection, entity)
            target = same_as and graph_writing.find_entity(connection, namespace, same_as)
            graph_writing.link(connection, entity, target or None, link_run)
            yield f"link {key} to {same_as}" if same_as else f"unlink {key}"
    runs.keep_links(connection, runs.UNDO + run.id, before)
    for noun, count in graph_writing.delete_of_run(connection, run.id).items():
        if count:
            yield f"take back {count_noun(count, noun)}"
    opened, reopened = reviews.take_back(connection, run.id)
    yield from (f"take back review {one}" for one in opened)
    yield from (f"reopen review {one}" for one in reopened)
