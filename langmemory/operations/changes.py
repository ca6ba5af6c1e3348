"""`store.changes`: change sets, runs, history, undo, reviews."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
from pydantic import ValidationError

from langmemory.arguments import whole_number
from langmemory.changes import (
    Change,
    ChangeSet,
    DecideReview,
    Facets,
    LinkEntities,
    Option,
    ReadAgain,
    RemoveMemory,
    SetStatus,
    UnlinkEntities,
    UpdateMemory,
)
from langmemory.declaring import operation, room
from langmemory.declaring.fields import Id, Key, Reason
from langmemory.errors import ChangedMeanwhileError, ChangeError, OwnershipError
from langmemory.formation.contradiction.comparable import ComparableFact
from langmemory.formation.planning.catch_up import catch_up
from langmemory.formation.planning.consequences import consequences, mandate_question
from langmemory.formation.planning.reinstate import changes_of_decision, drop_unfounded
from langmemory.ledger import (
    applying,
    follow_ups,
    graph_writing,
    history,
    items,
    journal,
    namespaces,
    reviews,
    runs,
    standing,
)
from langmemory.ledger.applying import Prepared, open_reviews
from langmemory.ledger.connection import Connection
from langmemory.ledger.knowledge import came_after
from langmemory.ledger.transfer import moving
from langmemory.ledger.undoing import Undoing
from langmemory.namespaces import check_namespace
from langmemory.operations.conversing import shown
from langmemory.operations.core import CLAIMING, Core, apply_run, existing, mark_pages
from langmemory.operations.events import APPLY, REMOVE, UNDO
from langmemory.operations.following import (
    NOTHING,
    OutdatedPlanError,
    Reinstatement,
    follow_up,
    linked,
    planned,
    planned_again,
)
from langmemory.ports.facts import EXTRACTION_FAILED, Knowledge
from langmemory.steps import twin
from langmemory.types import Applied, HistoryEntry, Memory, Namespace, Review, Run

logger = logging.getLogger("langmemory.store")


PARTING: Final = (UnlinkEntities, LinkEntities)
"""Changes that may take a link back."""


class ViewerChanges:
    """The history and the reviews of what a viewer may read, and what they may take out."""

    __slots__ = ("_core", "_viewer")

    def __init__(self, core: Core, viewer: str | None) -> None:
        """``viewer`` None is the application, which sees everything."""
        self._core, self._viewer = core, viewer

    def history(self, namespace: Namespace, key: str) -> list[HistoryEntry]:
        """Return every recorded change of an item, oldest first, also of items deleted since.

        A viewer is not told of what is, or once was, a private memory of somebody else.
        """
        namespace = check_namespace(namespace)
        key = str(key)  # one of another type was made a string by `put`, too
        with self._core.archive.in_place(namespace, key, self._viewer) as connection:
            return history.of_item(connection, namespace, key, self._viewer)

    ahistory = twin(history)

    def evidence(self, namespace: Namespace, key: str) -> list[Memory]:
        """Return what a memory was derived from and the viewer may read, oldest first."""
        namespace = check_namespace(namespace)
        with self._core.archive.in_place(namespace, key, None) as connection:
            ids = standing.evidence(connection, namespace, key, viewer=self._viewer)
            return shown(connection, ids, self._viewer)

    def reviews(self, namespace: Namespace = (), *, open_only: bool = True) -> list[Review]:
        """Return questions for a person or a deep model, oldest first. A viewer gets only questions
        about memories they may read.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            open_only: Leave out those that are decided, and those that nothing is left to decide of:
                what they ask about was deleted, or a core block says by now what they would add.
        """
        namespace = check_namespace(namespace, may_be_empty=True)
        with self._core.engine.read() as snapshot:
            connection = snapshot.connection
            found = reviews.list_reviews(
                connection, namespace, open_only=open_only, viewer=self._viewer
            )
            return open_reviews(connection, found) if open_only else found

    areviews = twin(reviews)

    @operation("read", "GET /reviews/{review_id:path}")
    def review(self, review_id: Id) -> Review | None:
        """Return one question, open or not; None where there is none, or it is about what the viewer may
        not read."""
        with self._core.engine.read() as snapshot:
            found = reviews.find(snapshot.connection, review_id)
        if found is None or self._viewer is None:
            return found
        known = self.reviews(found.namespace, open_only=False)
        return next((one for one in known if one.id == review_id), None)

    areview = twin(review)

    @REMOVE
    def remove(
        self, namespace: Namespace, key: str, *, reason: str, updated_at: datetime | None = None
    ) -> Applied:
        """Delete a memory in a run of its own, for whoever decides in a person's stead: unlike what
        `delete` took out, it is there again, with all that stood beside it, when the run is undone.

        Args:
            namespace: Exactly this one.
            key: Of the memory; where there is none, nothing happens and no run is recorded.
            reason: Why, for the record.
            updated_at: `Memory.updated_at` as it was read; None removes whatever is there by now.

        Raises:
            ChangedMeanwhileError: It was changed since it was read.
        """

        def going(memory: Memory) -> Change:
            if updated_at not in (None, memory.updated_at):
                raise ChangedMeanwhileError(f"{key!r} in {namespace} was changed. Read it again.")
            return RemoveMemory(key=key)

        return self._correct("remove", namespace, key, reason, going)

    aremove = twin(remove)

    def archive(self, namespace: Namespace, key: str, *, reason: str) -> Applied:
        """Put a memory away in a run of its own, as `remove`: it keeps its TTL and is not recalled any
        more; its value says so, since when and why, for those who read values."""

        def away(memory: Memory) -> Change:
            value = archived(memory.value, reason)
            return UpdateMemory(key=key, value=value, facets=Facets(status="archived"))

        return self._correct("archive", namespace, key, reason, away)

    aarchive = twin(archive)

    def correct(
        self,
        namespace: Namespace,
        key: str,
        *,
        value: Mapping[str, Any] | None = None,
        facets: Facets = Facets(),  # noqa: B008 - it is frozen
        reason: str,
        updated_at: datetime | None = None,
    ) -> Applied:
        """Change what a memory says, or its facets, in a run of its own, as `remove`. A viewer changes only
        what is theirs or nobody's.

        Args:
            namespace: Exactly this one.
            key: Of the memory.
            value: What takes the place of its value; None leaves it.
            facets: Those that are set.
            reason: Why, for the record.
            updated_at: `Memory.updated_at` as it was read; None changes whatever is there by now.

        Raises:
            ChangedMeanwhileError: It was changed since it was read.
            OwnershipError: It is another's.
        """

        def corrected(memory: Memory) -> Change:
            if updated_at not in (None, memory.updated_at):
                raise ChangedMeanwhileError(f"{key!r} in {namespace} was changed. Read it again.")
            if self._viewer is not None and memory.owner not in (None, self._viewer):
                raise OwnershipError(
                    f"{key!r} in {namespace} is another's. Ask them, or use the application's store."
                )
            said = dict(memory.value if value is None else value)
            given = facets.given()
            said |= {name: given[name] for name in given if name in said}
            changed = None if said == memory.value else said
            return UpdateMemory(key=key, value=changed, facets=facets)

        return self._correct("correct", namespace, key, reason, corrected)

    acorrect = twin(correct)

    @operation("write", "POST /mandates")
    def propose_mandate(
        self, namespace: Namespace, key: Key, *, reason: Reason = "proposed as a mandate"
    ) -> Applied:
        """Ask a person whether a memory is to stand in every prompt, in a run of its own. Until somebody
        decides, its priority stays as it is. The same words of a memory are asked about once.

        Args:
            namespace: Exactly this one.
            key: Of the memory; where there is none, nothing is asked.
            reason: Why, for the record.
        """

        return self._correct("propose", namespace, key, reason, mandate_question)

    apropose_mandate = twin(propose_mandate)

    def _correct(
        self,
        action: str,
        namespace: Namespace,
        key: str,
        reason: str,
        change: Callable[[Memory], Change],
    ) -> Applied:
        """Apply a change of one memory that the viewer may know of."""
        namespace = check_namespace(namespace)
        run_id = f"{action}/{secrets.token_hex(8)}"
        with self._core.engine.read() as snapshot:
            item = items.find(snapshot.connection, namespace, key, viewer=self._viewer)
            found = [] if item is None else items.memories(snapshot.connection, np.array([item]))
            seen = history.newest(snapshot.connection)
        if not found:
            return Applied(run_id=run_id, lines=(f"there is no {key}",))
        change_set = ChangeSet(
            namespace=namespace,
            run_id=run_id,
            kind="correction",
            reason=reason,
            changes=(change(found[0]),),
            planned_at=seen,
        )
        return Changes(self._core, None).apply(change_set)


@room("changes", tag="Changes")
class Changes(ViewerChanges):
    """Everything that changes memory on its own: change sets in, runs and reviews out, undo."""

    __slots__ = ()

    @APPLY
    def apply(self, change_set: ChangeSet, *, dry_run: bool = False) -> Applied:
        """Write a change set in one transaction: rows, vectors, keywords, graph, reviews, history.

        Applying the same run again does nothing. What was deleted since it was planned is not
        changed, and what a person deleted is not added again; the lines of the result say so. The
        pages of the journal follow.

        Args:
            change_set: What to change.
            dry_run: Say what would happen, and change nothing.

        Raises:
            StalePlanError: A memory it touches changed after it was planned.
            ChangeError: It names something there never was, or contradicts itself.
            EmbeddingError: The embedder failed. In every case nothing was written.
        """
        applied = planned_again(lambda: self._apply_once(change_set, dry_run))
        return applied if dry_run else self._with_files(applied, change_set.namespace)

    aapply = twin(apply)

    def _with_files(self, applied: Applied, namespace: Namespace) -> Applied:
        """Let files follow that core blocks of a namespace are bound to; say what became of them."""
        lines = self._core.follow_blocks(self._core, namespace)
        return replace(applied, lines=(*applied.lines, *lines)) if lines else applied

    def _apply_once(self, change_set: ChangeSet, dry_run: bool) -> Applied:
        core = self._core
        follow_up(core)
        check_namespace(change_set.namespace, written=True)
        with core.engine.read() as snapshot:
            moved = _moved(snapshot.connection, change_set)
        if moved and dry_run:
            return self._rehearsed(lambda copy: self._apply_in(copy, change_set, moved))
        if moved:
            core.archive.return_all(lambda connection: _moved(connection, change_set))
        with core.engine.read() as snapshot:
            drafted, write = self._drafted(snapshot.connection, change_set)
        if dry_run:
            if any(isinstance(one, PARTING) for one in change_set.changes):
                return self._rehearsed(write)
            with core.engine.write() as connection, dry_run_savepoint(connection):
                return replace(write(connection), dry_run=True)
        core.complete(list(drafted.writes.values()))
        return _together(core.write(write), follow_up(core))

    def _apply_in(self, copy: Connection, change_set: ChangeSet, moved: Sequence[int]) -> Applied:
        """Apply a change set that names moved memories in a copy of the file."""
        self._core.archive.bring_back(copy, moved)
        _, write = self._drafted(copy, change_set)
        return write(copy)

    def _drafted(
        self, connection: Connection, change_set: ChangeSet
    ) -> tuple[applying.Drafted, Callable[[Connection], Applied]]:
        """Return the items that a change set writes, and what writes all of it in a transaction."""
        core = self._core
        drafted = applying.draft(core.indexing, connection, change_set)
        going = _going(connection, change_set)
        back = Reinstatement.of(core, connection, going) if going else NOTHING

        def write(connection: Connection) -> Applied:
            follows: tuple[Change, ...] = ()
            if runs.find(connection, change_set.run_id) is None:
                follows = _following(connection, change_set, back)
            if drafted.writes:
                connection.ahead(CLAIMING)
                core.claim_model(connection, list(drafted.writes.values()))
            links = _Links.before(connection, change_set)
            applied = apply_run(
                core,
                connection,
                change_set,
                drafted.prepared,
                writes={n: replace(one) for n, one in drafted.writes.items()},  # they are filled in
                follows=follows,
            )
            if links is not None and not applied.repeated:
                links.note(connection, applied.run_id, runs.FOLLOWS + applied.run_id)
            return applied

        return drafted, write

    @UNDO
    @operation("admin", "POST /undo", whole="namespace", about="changes.run", missing=ChangeError)
    def undo(self, run_id: Id, *, dry_run: bool = False) -> Applied:
        """Bring back what was before a run, in one transaction that is a run of its own.

        Values, facets, times, evidence, entities, edges and reviews are as they were; what the run
        added is deleted, what it removed is there again. What was deleted since stays so. The
        history keeps both, and which turns were read is not forgotten, so that what was undone does
        not come back by itself. The pages of the journal follow.

        Args:
            run_id: See `runs`.
            dry_run: Say what would happen, and change nothing.

        Raises:
            UndoRefusedError: Later changes stand on the run; the message names them, and what to
                undo first.
            ChangeError: There is no such run.
            EmbeddingError: The embedder failed. In every case nothing was written.
        """
        applied = planned_again(lambda: self._undo_once(run_id, dry_run))
        run = None if dry_run else self.run(run_id)
        return applied if run is None else self._with_files(applied, run.namespace)

    aundo = twin(undo)

    def _undo_once(self, run_id: str, dry_run: bool) -> Applied:
        core = self._core
        follow_up(core)
        if dry_run:
            return self._rehearsed(lambda connection: self._undo_in(connection, run_id))
        with core.engine.read() as snapshot:
            every = (*runs.following(snapshot.connection, run_id), run_id)
        returned = core.archive.return_touched(every)
        with core.engine.read() as snapshot:
            undoing = self._undoing(snapshot.connection, run_id)
        core.complete([write for one in undoing for write in one.drafts.values()])
        applied = core.write(lambda there: self._undo(there, [one.fresh() for one in undoing]))
        applied = replace(applied, lines=(*_returned(returned), *applied.lines))
        return _together(applied, follow_up(core))

    def _undo_in(self, copy: Connection, run_id: str) -> Applied:
        """Undo a run in a copy of the file."""
        archive = self._core.archive
        every = (*runs.following(copy, run_id), run_id)
        moved = sorted({item for one in every for item in archive.touched_by(one)})
        returned = archive.keys(copy, moved)
        archive.bring_back(copy, moved)
        applied = self._undo(copy, self._undoing(copy, run_id))
        return replace(applied, lines=(*_returned(returned), *applied.lines))

    def _undoing(self, connection: Connection, run_id: str) -> list[Undoing]:
        """Return the undo of the runs that follow from a run, newest first, and of itself."""
        following = runs.following(connection, run_id)
        return [
            Undoing.of(self._core.indexing, connection, one, without=following)
            for one in (*following, run_id)
        ]

    def _undo(self, connection: Connection, undoing: Sequence[Undoing]) -> Applied:
        *following, first = undoing
        if runs.following(connection, first.run.id) != [one.run.id for one in following]:
            raise OutdatedPlanError(f"{first.run.id} changed while its undo began. Do it again.")
        self._core.claim_model(
            connection, [draft for one in undoing for draft in one.drafts.values()]
        )
        now = self._core.now_us()
        links = _Links.of_run(connection, first.run)
        for one in undoing:
            mark_pages(connection, journal.items_of_run(connection, one.run.id))
        lines: list[str] = []
        changed: list[str] = []
        back: dict[str, int] = {}
        for one in undoing:
            applied, since = one.write(connection, now)
            lines += applied.lines
            changed += applied.changed
            back |= {key: min(seq, back.get(key, seq)) for key, seq in since.items()}
            mark_pages(connection, journal.items_of_run(connection, applied.run_id))
        if back and not came_after(connection, min(back.values()), applied.run_id):
            back = {}
        if not applied.repeated and (back or links.keys):
            links.note(connection, applied.run_id, f"since/{first.run.id}", back)
        return replace(applied, lines=tuple(lines), changed=tuple(dict.fromkeys(changed)))

    def _rehearsed(self, write: Callable[[Connection], Applied]) -> Applied:
        """Return what a change would do, with what follows from it: done to a copy of the file."""
        with self._core.engine.copy() as connection:
            applied = write(connection)
            found = []
            for one in follow_ups.pending(connection):
                change_set = planned(self._core, connection, one)
                if change_set is not None and follow_ups.take(connection, one):
                    prepared = Prepared.of(connection, change_set)
                    found.append(
                        (change_set, apply_run(self._core, connection, change_set, prepared))
                    )
        return replace(_together(applied, found), dry_run=True)

    def runs(self, namespace: Namespace = (), *, limit: int = 50) -> list[Run]:
        """Runs that changed memory in a namespace and below it, newest first."""
        namespace = check_namespace(namespace, may_be_empty=True)
        with self._core.engine.read() as snapshot:
            return runs.newest(snapshot.connection, namespace, whole_number("limit", limit))

    aruns = twin(runs)

    @operation("read", "GET /runs/{run_id:path}", whole="namespace")
    def run(self, run_id: Id) -> Run | None:
        """Return one run; None where there is none."""
        with self._core.engine.read() as snapshot:
            return runs.find(snapshot.connection, run_id)

    arun = twin(run)

    def changed_by(self, run_id: str, *, limit: int = 200) -> list[HistoryEntry]:
        """Return what a run changed, in the order in which it did, with what each memory said before and
        after.

        Args:
            run_id: Of the run; where there is none, the list is empty.
            limit: Changes at most.
        """
        limit = whole_number("limit", limit)
        with self._core.engine.read() as snapshot:
            return [one for _, one in history.of_run(snapshot.connection, run_id, limit)]

    achanged_by = twin(changed_by)

    def read_again(
        self, namespace: Namespace = (), *, thread_id: str | None = None, run_id: str | None = None
    ) -> list[Run]:
        """Let turns be reflected once more: those whose extraction failed, or those of one run.

        They are unread afterwards; the next reflection reads them, in a run of its own. What the
        first one made of them stays. That they were let go is in the record, once for each run:
        repeating it changes nothing.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            thread_id: Only this conversation.
            run_id: This reflection instead, whatever came of it, and also if it was undone.

        Returns:
            The reflections that read them before, oldest first.

        Raises:
            ChangeError: There is no such reflection.
        """
        namespace = check_namespace(namespace, may_be_empty=True)
        with self._core.engine.read() as snapshot:
            if run_id is None:
                found = runs.failed_reflections(
                    snapshot.connection, namespace, EXTRACTION_FAILED, thread_id
                )
            else:
                run = runs.find(snapshot.connection, run_id)
                if run is None or run.kind != "reflection":
                    raise ChangeError(
                        f"There is no reflection {run_id!r}; `runs()`, or `langmemory runs`, lists them."
                    )
                found = [run]
        for run in found:
            self.apply(
                ChangeSet(
                    namespace=run.namespace,
                    run_id=runs.AGAIN + run.id,
                    kind="correction",
                    reason=f"to be read again: {run.reason}",
                    changes=(ReadAgain(run=run.id),),
                )
            )
        return found

    aread_again = twin(read_again)

    @operation(
        "write",
        "POST /reviews/{review_id:path}",
        whole="namespace",
        about="changes.review",
        missing=ChangeError,
    )
    def decide(self, review_id: Id, option: Id, *, by: Id | None = None) -> Applied:
        """Answer a review: the changes of the option are applied, as a run of kind ``review``, and
        the pages of the journal follow. What was derived by now from what they end is asked about,
        and what an application wrote in the words of a fact that gives way ends with it.

        Args:
            review_id: See `reviews`.
            option: One of the review's options.
            by: Who decided, for the record.

        Raises:
            ChangeError: No such review or option, it was decided already, or what the option would
                write over changed since it was asked.
        """
        return self.apply(self._decision(review_id, option, by))

    adecide = twin(decide)

    def _decision(self, review_id: str, option: str, by: str | None) -> ChangeSet:
        for name, given in (("review_id", review_id), ("option", option), ("by", by or "")):
            if not isinstance(given, str):
                raise ChangeError(
                    f"{name} is {given!r:.80}; it must be a string. `reviews()` lists the ids and "
                    "options. Nothing was decided."
                )
        with self._core.engine.read() as snapshot:
            review = reviews.find(snapshot.connection, review_id)
        if review is not None:  # a file that a person edited meanwhile is read first
            self._core.follow_blocks(self._core, review.namespace)
        with self._core.engine.read() as snapshot:
            review = reviews.find(snapshot.connection, review_id)
            if review is None:
                raise ChangeError(
                    f"There is no review {review_id!r}; `reviews()`, or `langmemory reviews`, "
                    "lists them."
                )
            options = reviews.options(snapshot.connection, review_id)
        if option not in options:
            raise ChangeError(
                f"Review {review_id!r} cannot be decided as {option!r}. Its options: "
                f"{', '.join(map(repr, options))}."
            )
        try:
            changes = Option.validate_python(options[option])
        except ValidationError as error:
            raise reviews.damage_error(review_id) from error
        with self._core.knowledge(review.namespace) as known:
            changes = tuple(drop_unfounded(changes, known))
            asked_at = known.last_of(review.run_id)
            derived = (
                *changes_of_decision(changes, known),
                *consequences(
                    known, review.namespace, changes, _approved(changes, known), datetime.now(UTC)
                ),
                *catch_up(
                    [*_approved(changes, known)],
                    lambda _, other: known.learned_after(other, asked_at),
                    known,
                    datetime.now(UTC),
                ),
            )
        return ChangeSet(
            namespace=review.namespace,
            run_id=f"review/{secrets.token_hex(8)}",
            kind="review",
            reason=f"{review.about} decided: {option}",
            changes=(*changes, *derived, DecideReview(id=review_id, option=option)),
            note={"review": review_id, "option": option, **({"by": by} if by else {})},
        )


@dataclass(frozen=True, slots=True)
class _Links:
    """Links between entities that are about to be taken back."""

    namespace: Namespace
    keys: Collection[str]
    """Of the entities that are linked."""
    was: Mapping[str, str]
    """As `Knowledge.links`, of these and of those linked with them."""
    since: datetime
    """When the first of them was made."""

    def note(
        self, connection: Connection, run_id: str, id: str, back: Mapping[str, int] | None = None
    ) -> None:
        """Note that it is to be planned what follows from a run, now that these are taken back, or
        facts hold again: (key, and the place in the history since which they were away)."""
        reason = f"follows from {run_id}"
        if back is not None:
            reason = f"learned while {run_id.removeprefix(runs.UNDO)} stood"
        detail = {
            "run": run_id,
            "id": id,
            "reason": reason,
            "back": dict(back or {}),
            "keys": list(self.keys),
            "was": dict(self.was),
            "since": self.since.isoformat(),
        }
        follow_ups.note(connection, self.namespace, "restored", detail)

    @classmethod
    def of_run(cls, connection: Connection, run: Run) -> _Links:
        """Return those that a run made, for its undo."""
        keys = runs.links(connection, run.id)
        return cls(run.namespace, keys, linked(connection, run.namespace, keys), run.at)

    @classmethod
    def before(cls, connection: Connection, change_set: ChangeSet) -> _Links | None:
        """Return those that a change set takes back, or leads elsewhere; None where it does
        neither."""
        keys = {one.key for one in change_set.changes if isinstance(one, PARTING)}
        namespace = namespaces.find(connection, change_set.namespace) if keys else None
        if namespace is None:
            return None
        made = {graph_writing.linked_by(connection, namespace, key) for key in keys}
        found = [run for one in made if one and (run := runs.find(connection, one)) is not None]
        if not found:
            return None
        was = linked(connection, change_set.namespace, keys)
        return cls(change_set.namespace, keys, was, min(run.at for run in found))


def _going(connection: Connection, change_set: ChangeSet) -> list[int]:
    """Return the items that a change set removes or puts away."""
    keys = {
        one.key
        for one in change_set.changes
        if isinstance(one, RemoveMemory)
        or (isinstance(one, SetStatus) and one.status == "archived")
        or (isinstance(one, UpdateMemory) and one.facets.status == "archived")
    }
    return existing(connection, change_set.namespace, sorted(keys))


def _moved(connection: Connection, change_set: ChangeSet) -> list[int]:
    """Return the items that a change set names and that are in the archive file."""
    if not moving.any_moved(connection) or runs.find(connection, change_set.run_id) is not None:
        return []
    keys = applying.affected_keys(connection, change_set)
    return moving.moved_named(connection, [(change_set.namespace, key) for key in keys])


def _returned(keys: Sequence[str]) -> list[str]:
    return [f"bring back {key} from the archive file" for key in keys]


def _following(
    connection: Connection, change_set: ChangeSet, back: Reinstatement
) -> tuple[Change, ...]:
    """Return what holds again without what a change set takes away, as it was planned."""
    back.check(connection, _going(connection, change_set))
    touched = {getattr(one, "key", None) for one in change_set.changes}
    found = back.changes.get(change_set.namespace, ())
    return tuple(one for one in found if getattr(one, "key", None) not in touched)


def _together(applied: Applied, found: Iterable[tuple[ChangeSet, Applied]]) -> Applied:
    """Return the result of a run with what the runs did that follow from it."""
    for change_set, one in found:
        if change_set.note.get("follows") == applied.run_id:
            applied = replace(
                applied,
                lines=(*applied.lines, *one.lines),
                changed=tuple(dict.fromkeys((*applied.changed, *one.changed))),
            )
    return applied


def _approved(changes: Iterable[Change], known: Knowledge) -> Iterator[ComparableFact]:
    """Yield facts that a decision makes hold, which nothing new was compared with while they
    waited."""
    for change in changes:
        if isinstance(change, SetStatus) and change.status == "active":
            fact = known.by_key(change.key)
            if fact is not None and fact.memory.status in ("pending", "approved"):
                yield replace(ComparableFact.of_known(fact), waiting=False)


@contextmanager
def dry_run_savepoint(connection: Connection) -> Iterator[None]:
    """Take back at the end what is written within."""
    connection.execute("SAVEPOINT dry_run")
    try:
        yield
    finally:
        if connection.in_transaction:  # unless SQLite gave it up
            connection.execute("ROLLBACK TO dry_run; RELEASE dry_run")


def archived(value: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """Return the value of a memory that is put away: it says so itself, since when and why."""
    since = datetime.now(UTC).isoformat()
    return {**value, "status": "archived", "archived_at": since, "archived_because": reason}
