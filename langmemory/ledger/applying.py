"""Applying a change set: every change of memories, graph and reviews as rows, in one transaction, each in
the history."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from typing import Any, Final, Literal

import numpy as np

from langmemory.changes import (
    WITHDRAWN,
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    ChangeSet,
    DecideReview,
    Facets,
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
from langmemory.errors import ChangeError, StalePlanError, TurnsReadError
from langmemory.formation.contradiction.grouping import meant_together
from langmemory.formation.wording import wording
from langmemory.languages import detect_language
from langmemory.languages.spelling import name_key
from langmemory.ledger import (
    anchors,
    evidence,
    graph_writing,
    history,
    items,
    removal,
    reviews,
    runs,
    verbatim,
)
from langmemory.ledger import graph_rows as graph_reads
from langmemory.ledger.connection import Connection
from langmemory.ledger.evidence import Withdrawn
from langmemory.ledger.indexing import Indexing, redraft_item
from langmemory.ledger.items import ENDED, Write, find, following, put
from langmemory.ledger.namespaces import find as find_namespace
from langmemory.ledger.namespaces import intern
from langmemory.ledger.removal import column, revise, was_deleted
from langmemory.ledger.reviews import find as find_review
from langmemory.ledger.tables.facets import AT_FIRST
from langmemory.ledger.values import from_us, to_us
from langmemory.links import is_anchor, memory_of
from langmemory.trust import capped, least, may_become
from langmemory.types import Applied, HistoryAction, Namespace, Review, Run, RunKind, Trust


class Unchanged(Exception):
    """A change that has nothing to do, and why."""


@dataclass(slots=True)
class ChangeRun:
    """A run within its transaction. The functions that write its changes are in `memories`, `graph`
    and `reviews`; those that find nothing to do raise `Unchanged`."""

    connection: Connection
    change_set: ChangeSet
    now_us: int
    said: frozenset[str] = frozenset()
    """Ids of reviews that suggest what the core block says already."""
    write: Write | None = None
    """The item that the change writes, if it writes one."""
    added: dict[str, int] = field(default_factory=dict)
    """Id of each memory that is new, by key."""
    changed: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    not_added: set[str] = field(default_factory=set)
    """Keys that were to be added, and are not, because somebody deleted them."""
    links: runs.Links = field(default_factory=dict)
    """How entity links stood before."""
    id: str = field(init=False)
    namespace: int = field(init=False)

    def __post_init__(self) -> None:
        self.id = self.change_set.run_id
        self.namespace = intern(self.connection, self.change_set.namespace)

    def find(self, key: str) -> int | None:
        """Return the id of a memory; None if it was deleted.

        Raises:
            ChangeError: There never was one.
        """
        namespace = self.change_set.namespace
        item = find(self.connection, namespace, key)
        if item is not None:
            return item
        if key in self.not_added or history.is_gone(self.connection, namespace, key):
            return None
        raise ChangeError(
            f"Run {self.id!r} names the memory {key!r}, which {namespace} never "
            "held. Add it in an earlier change of the set, or correct the key; nothing was written."
        )

    def item(self, key: str) -> int:
        """Return the id of a memory that is to be changed."""
        item = self.find(key)
        if item is None:
            raise Unchanged(f"{key} was deleted, and stays so")
        return item

    def items(self, keys: Sequence[str]) -> list[int]:
        """Return the ids of those memories that are still there."""
        rows = self.connection.execute(
            "SELECT key, id FROM item WHERE namespace = ? AND key IN (SELECT value FROM json_each(?))",
            (self.namespace, json.dumps(keys)),
        )
        there = dict(rows.fetchall())
        return [item for key in keys if (item := there.get(key) or self.find(key)) is not None]

    def entity(self, key: str) -> int:
        entity = graph_writing.find_entity(self.connection, self.namespace, key)
        if entity is None:
            raise ChangeError(
                f"Run {self.id!r} names the entity {key!r}, which {self.change_set.namespace} does "
                "not know. Add it in an earlier change of the set; nothing was written."
            )
        return entity

    def revise(
        self,
        key: str,
        item: int,
        change: Change,
        action: HistoryAction,
        columns: Mapping[str, Any] | None = None,
        *,
        write: Write | None = None,
        touched: bool = False,
        withdrawn: Sequence[Withdrawn] = (),
    ) -> bool:
        """Set columns and value of a memory; return whether anything is otherwise than before.

        ``touched``: rows beside it are new, which counts as a change of the memory, as does evidence
        that was ``withdrawn``.
        """
        columns = dict(columns or {})
        if (status := columns.get("status")) is not None:
            was = {name: column(self.connection, item, name) for name in ("status", "expired_at")}
            columns = {**following(status, was, self.now_us), **columns}
        revised = revise(
            self.connection, item, self.now_us, action=action, run=self.id,
            reason=change.reason or self.change_set.reason,
            columns=columns, write=write,
            touched=touched and key not in self.added and key not in self.changed,
            withdrawn=withdrawn,
        )  # fmt: skip
        if revised and key not in self.added:
            self.changed[key] = item
        return revised or touched

    def change(
        self, key: str, change: Change, action: HistoryAction, columns: Mapping[str, Any]
    ) -> None:
        """Set columns of a memory that is to be changed, and is not so already."""
        if not self.revise(key, self.item(key), change, action, columns):
            raise Unchanged("is so already")


Options = Mapping[str, Sequence[Mapping[str, Any]]]
"""The changes behind each option, as JSON."""


Lines = Callable[[Namespace, str], Sequence[str]]
"""The lines of a core block, by its name."""


def open_reviews(connection: Connection, asked: Iterable[Review]) -> list[Review]:
    """Return those of the open questions that need an answer: what they ask about is there, and no core
    block says by now what they would add."""
    lines = cache(partial(_lines, connection))  # hundreds may suggest something for one block
    return [one for one in asked if not _is_moot(connection, one, lines)]


def _is_moot(connection: Connection, review: Review, lines: Lines) -> bool:
    gone = (items.find(connection, review.namespace, key) is None for key in review.memories)
    match review.about:
        case "contradiction" | "duplicate":
            return any(gone)
        case "approval" | "dependant" | "entity" | "core file":
            return next(gone, False)
        case "run" | "core" if review.memories and all(gone):
            return True
        case "core":
            options = reviews.options(connection, review.id)
            return _is_said(review.namespace, options, lines)
    return False


def _lines(connection: Connection, namespace: Namespace, block: str) -> list[str]:
    item = items.find(connection, (*namespace, "core"), block)
    if item is None:
        return []
    [memory] = items.memories(connection, np.array([item]))
    return str(memory.value.get("content", "")).splitlines()


def _is_said(namespace: Namespace, options: Options, lines: Lines) -> bool:
    """Return whether the core block has a line that says what was suggested for it."""
    value = next((dict(one["value"]) for one in options.get("add", ()) if one.get("value")), {})
    there = lines(namespace, str(value.get("block")))
    if not there:
        return False
    text = str(value.get("text", ""))
    language = detect_language(text).code
    wanted = wording(text, language)
    said = (wording(line, language) for line in there)
    return any(
        wanted.words <= line.words
        and wanted.agrees(line)
        # One alone cannot change places with another.
        and (len(wanted.names) < 2 or wanted.follows(line))
        for line in said
    )


def said_already(
    connection: Connection, namespace: Namespace, changes: Iterable[Change]
) -> frozenset[str]:
    """Return the ids of reviews to be opened that suggest what the core block says already."""
    lines = cache(partial(_lines, connection))
    return frozenset(
        one.id
        for one in changes
        if isinstance(one, OpenReview)
        and one.about == "core"
        and _is_said(namespace, _as_json(one), lines)
    )


def _as_json(change: OpenReview) -> dict[str, list[dict[str, Any]]]:
    return {
        option: [one.model_dump(mode="json") for one in changes]
        for option, changes in change.options.items()
    }


def open_review(run: ChangeRun, change: OpenReview) -> None:
    namespace = run.change_set.namespace
    known = reviews.find(run.connection, change.id)
    if known is not None and known.namespace != namespace:
        raise ChangeError(
            f"Run {run.id!r} opens the review {change.id!r}, which is one of {known.namespace}. "
            "Give every review an id of its own; nothing was written."
        )
    id = change.id
    while known is not None and known.decision == WITHDRAWN:
        id += "+"  # by itself, so that an undo of either run leaves the other's as it was
        known = reviews.find(run.connection, id)
    if known is not None:
        raise Unchanged("was asked before")
    if any(run.find(key) is None for key in change.memories):
        raise Unchanged("a memory it is about was deleted")
    if change.id in run.said:
        raise Unchanged("the block says so already")
    review = Review(
        id=id, namespace=namespace, about=change.about, question=change.question,
        memories=change.memories, options=tuple(change.options), run_id=run.id,
        opened_at=from_us(run.now_us),
    )  # fmt: skip
    reviews.insert(run.connection, review, run.namespace, _as_json(change), run.now_us)


def decide(run: ChangeRun, change: DecideReview) -> None:
    known = _review_in_namespace(run, change.id, "decides")
    if change.option not in known.options:
        raise ChangeError(
            f"Review {change.id!r} cannot be decided as {change.option!r}. Its options: "
            f"{', '.join(map(repr, known.options))}."
        )
    if known.decision == WITHDRAWN:
        raise ChangeError(
            f"Review {change.id!r} was withdrawn: what it is about changed since. `changes.reviews()`, or "
            "`langmemory reviews`, lists what is asked by now; nothing was written."
        )
    if known.decision is not None:
        raise ChangeError(
            f"Review {change.id!r} was decided as {known.decision!r} already. Undo that run to "
            "decide it anew; nothing was written."
        )
    reviews.decide(run.connection, change.id, change.option, run.id)


def check_answers(connection: Connection, change_set: ChangeSet) -> None:
    """Check that an answer writes over nothing that changed since the question was asked.

    Raises:
        ChangeError: It would.
    """
    namespace = change_set.namespace
    for answer in change_set.changes:
        asked = reviews.find(connection, answer.id) if isinstance(answer, DecideReview) else None
        if asked is None or asked.decision is not None:  # as `decide` says
            continue
        for change in change_set.changes:
            match change:
                case UpdateMemory() if change.value is not None:
                    item = items.find(connection, namespace, change.key)
                case AddMemory() if change.facets.kind == "core":
                    item = items.find(connection, namespace, change.key)
                case _:
                    item = None
            if item is None:
                continue
            [memory] = items.memories(connection, np.array([item]))
            if memory.updated_at > asked.opened_at:
                raise ChangeError(
                    f"Review {asked.id!r} was asked before {memory.key!r} changed, at "
                    f"{memory.updated_at.isoformat(timespec='seconds')}; its answer would write over "
                    "that. Decide it otherwise, and make the change by hand; nothing was written."
                )


def withdraw(run: ChangeRun, change: WithdrawReview) -> None:
    known = _review_in_namespace(run, change.id, "withdraws")
    if known.decision is not None:
        raise Unchanged(f"was decided as {known.decision!r} already")
    reviews.decide(run.connection, change.id, WITHDRAWN, run.id)


def _review_in_namespace(run: ChangeRun, review_id: str, does: str) -> Review:
    known = reviews.find(run.connection, review_id)
    if known is None or known.namespace != run.change_set.namespace:
        raise ChangeError(
            f"Run {run.id!r} {does} the review {review_id!r}, which there is not in "
            f"{run.change_set.namespace}; nothing was written."
        )
    return known


def add_entity(run: ChangeRun, change: AddEntity) -> None:
    if is_anchor(change.key):
        raise ChangeError(
            f"Run {run.id!r} adds the entity {change.key!r}, which is an anchor: an edge may name it as it "
            "is. Leave the entity out, or give it another key."
        )
    entity = graph_writing.find_entity(run.connection, run.namespace, change.key)
    known = entity is not None
    if entity is None:
        entity = graph_writing.add_entity(
            run.connection, run.namespace, change.key, change.name, change.kind, run.id
        )
    names = [(norm, name) for name in (change.name, *change.aliases) if (norm := name_key(name))]
    new = graph_writing.add_aliases(run.connection, run.namespace, entity, names, run.id)
    if known and not new:
        raise Unchanged("is known already")


def link(run: ChangeRun, change: LinkEntities) -> None:
    entity, same_as = run.entity(change.key), run.entity(change.same_as)
    if graph_writing.leads_to(run.connection, same_as, entity):
        raise ChangeError(
            f"Run {run.id!r} links {change.key!r} to {change.same_as!r}, which is itself, or linked "
            "to it. Unlink that one first; nothing was written."
        )
    _set_link(run, entity, change.key, same_as, change.same_as)


def unlink(run: ChangeRun, change: UnlinkEntities) -> None:
    _set_link(run, run.entity(change.key), change.key, None, None)


def _set_link(
    run: ChangeRun, entity: int, key: str, same_as: int | None, same_as_key: str | None
) -> None:
    before = graph_writing.link_of(run.connection, entity)
    if before[0] == same_as_key:
        raise Unchanged("is so already")
    run.links.setdefault(key, before)
    graph_writing.link(run.connection, entity, same_as, run.id)


def add_edge(run: ChangeRun, change: AddEdge) -> None:
    """An edge's memory mentions what it is about, so that who may read it may know of both ends. Anchors
    are there by what they stand for, and are not mentioned."""
    if (change.object is None) == (change.literal is None):
        raise ChangeError(
            f"Run {run.id!r}: the edge {change.relation!r} of {change.fact!r} needs an object or a "
            "literal, and not both."
        )
    fact, subject = run.item(change.fact), _end(run, change.subject)
    object = None if change.object is None else _end(run, change.object)
    new = graph_writing.add_edge(
        run.connection, fact, subject, change.relation, object, change.literal, run.id
    )
    if not new:
        raise Unchanged("is known already")
    ends = [(change.subject, subject), (change.object or "", object)]
    spoken = [one for key, one in ends if one is not None and not is_anchor(key)]
    graph_writing.mention(run.connection, fact, spoken, run.id)
    run.revise(change.fact, fact, change, "update", touched=True)


def _end(run: ChangeRun, key: str) -> int:
    """Return the entity at an end of an edge. An anchor is there as soon as it is asked for."""
    if not is_anchor(key):
        return run.entity(key)
    if (memory := memory_of(key)) is not None:
        run.item(memory)
    return anchors.anchor(run.connection, run.namespace, key)


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
            said=said_already(connection, change_set.namespace, changes),
            meant={
                one.relation: frozenset(meant_together(one.relation))
                for one in changes
                if isinstance(one, AddEdge)
            },
        )


@dataclass(kw_only=True, slots=True)
class Drafted:
    """The items a change set writes. They are complete once they are embedded (`Indexing.embed_writes`)."""

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
                else redraft_item(indexing, connection, item, change.value)
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
        return _already_applied(change_set, known)
    _check_plan(connection, change_set, prepared)
    check_answers(connection, change_set)
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


def affected_keys(connection: Connection, change_set: ChangeSet) -> set[str]:
    """Return the keys of the memories that a change set changes, or asks or decides about."""
    keys: set[str] = set()
    for change in change_set.changes:
        keys.update(_keys_of_change(change))
        if isinstance(change, AddMemory):
            keys.add(change.key)
        elif isinstance(change, DecideReview):
            review = find_review(connection, change.id)
            keys.update(review.memories if review is not None else ())
    return keys


def _already_applied(change_set: ChangeSet, known: Run) -> Applied:
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
    touched = [
        *dict.fromkeys(key for change in change_set.changes for key in _keys_of_change(change))
    ]
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
            f"Run {change_set.run_id!r} was planned before these memories changed: {shorten_list(stale)}. "
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
        entity = graph_writing.find_entity(connection, namespace, key)
        if entity is not None:
            linked = graph_reads.roots(connection, [entity])
            yield from graph_writing.learned_since(
                connection, linked, relations, change_set.planned_at
            )


def _keys_of_change(change: Change) -> tuple[str, ...]:
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


def shorten_list(parts: Sequence[str]) -> str:
    """Return the first five of a list, and how many more there are."""
    more = len(parts) - 5
    return ", ".join(parts[:5]) + (f" and {more} more" if more > 0 else "")


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
    facets["trust"] = least([facets.get("trust", "person"), *_trusts(run, sources)])
    _check_rise(run, facets, facets["trust"])
    if facets.get("status") in ENDED:
        facets["expired_at"] = run.now_us
    write.facets = {name: found for name, found in facets.items() if found is not None}
    reason = change.reason or run.change_set.reason
    [item] = put(run.connection, [write], run.now_us, run=run.id, reason=reason).ids
    evidence.add(run.connection, item, sources, run.id)
    graph_writing.mention(run.connection, item, entities, run.id)
    run.added[change.key] = item


def update(run: ChangeRun, change: UpdateMemory) -> None:
    item, write = run.item(change.key), run.write
    facets = {**(write.facets if write else {}), **columns_of(change.facets)}
    sources = run.items(change.evidence)
    if change.facets.trust is None:
        said = facets.get("trust", "person")
        facets["trust"] = least([said, *_trusts(run, [item, *sources])])
    _check_rise(run, facets, facets["trust"])
    new = evidence.add(run.connection, item, sources, run.id)
    entities = [run.entity(key) for key in change.mentions]
    new += graph_writing.mention(run.connection, item, entities, run.id)
    lost = evidence.withdraw(run.connection, item, run.items(change.withdrawn))
    action: HistoryAction = "archive" if change.facets.status == "archived" else "update"
    if not run.revise(
        change.key, item, change, action, facets, write=write, touched=bool(new), withdrawn=lost
    ):
        raise Unchanged("is so already")


def _trusts(run: ChangeRun, of: Iterable[int]) -> list[Trust]:
    """Return how far memories are trusted, each degree once."""
    rows = run.connection.execute(
        "SELECT DISTINCT trust FROM item WHERE id IN (SELECT value FROM carray(?))",
        (run.connection.array(of),),
    )
    return [trust for (trust,) in rows]


BY_ITSELF: Final[frozenset[RunKind]] = frozenset({"reflection", "maintenance"})
"""Runs in which nobody decides."""


def _check_rise(run: ChangeRun, facets: Mapping[str, Any], trust: Trust) -> None:
    """Refuse a priority that what comes from such a source gets from a person alone. Who plans such a rise
    plans a question instead, as `langmemory.lifecycle.policies.ask_about_mandates` does.

    Raises:
        Unchanged: It is one, and no person decides in this run.
    """
    priority = facets.get("priority")
    if run.change_set.kind not in BY_ITSELF or priority is None or may_become(trust, priority):
        return
    raise Unchanged(f"rests on {trust} sources, so only a person makes it a {priority}")


def supersede(run: ChangeRun, change: Supersede) -> None:
    if change.by == change.key:
        raise ChangeError(f"Run {run.id!r} lets {change.key!r} supersede itself.")
    run.item(change.key)
    if run.find(change.by) is None:
        raise Unchanged(f"{change.by}, which was to take its place, was deleted")
    _end_validity(run, change, "supersede", change.by, change.invalid_at)


def invalidate(run: ChangeRun, change: Invalidate) -> None:
    _end_validity(run, change, "invalidate", None, change.invalid_at)


def _end_validity(
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
        entities = graph_writing.entities_of_item(run.connection, other)
        new += graph_writing.mention(run.connection, item, entities, run.id)
    trust = least(_trusts(run, [item, *(other for _, other in others)]))
    columns = {"trust": trust, "priority": capped(trust, column(run.connection, item, "priority"))}
    done = [run.revise(change.key, item, change, "merge", columns, touched=bool(new))]
    archived = {"status": "archived", "superseded_by": change.key}
    done += [run.revise(key, other, change, "merge", archived) for key, other in others]
    if not any(done):
        raise Unchanged("nothing is left to merge")


def mark_reflected(run: ChangeRun, change: MarkReflected) -> None:
    turns = run.items(change.keys)
    planned_at = run.change_set.planned_at
    read = 0 if planned_at is None else _read_since(run, turns, planned_at)
    if read:
        raise TurnsReadError(
            f"Run {run.id!r} reflected {len(turns)} turns, and another run has learned from "
            f"{read} of them meanwhile. Gather again; nothing was written."
        )
    at = change.read_at
    edited = 0 if at is None else verbatim.edited_after(run.connection, turns, at)
    if edited:
        raise TurnsReadError(
            f"Run {run.id!r} reflected {len(turns)} turns, and {edited} of them were edited "
            "meanwhile. Gather again; nothing was written."
        )
    verbatim.forget_edited(run.connection, turns)
    if not evidence.mark_reflected(run.connection, turns, run.id):
        raise Unchanged("all of them were read before, or are gone")


def _read_since(run: ChangeRun, turns: Sequence[int], seq: int) -> int:
    """Return how many turns another run has read that changed something after this place in the history."""
    row = run.connection.execute(
        "SELECT count(*) FROM carray(?) c WHERE EXISTS (SELECT 1 FROM reflected r "
        "JOIN history h ON h.run = r.run WHERE r.item = c.value AND r.run <> ? AND h.seq > ?)",
        (run.connection.array(turns), run.id, seq),
    ).fetchone()
    return int(row[0])


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


_WRITE: Final[Mapping[type[Change], Callable[[ChangeRun, Any], None]]] = {
    AddMemory: add,
    UpdateMemory: update,
    Supersede: supersede,
    Invalidate: invalidate,
    SetStatus: set_status,
    RemoveMemory: remove,
    Merge: merge,
    MarkReflected: mark_reflected,
    ReadAgain: read_again,
    AddEntity: add_entity,
    LinkEntities: link,
    UnlinkEntities: unlink,
    AddEdge: add_edge,
    OpenReview: open_review,
    DecideReview: decide,
    WithdrawReview: withdraw,
}
