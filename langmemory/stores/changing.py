"""The part of `MemoryStore` that changes memory on its own: change sets, runs, undo, reviews."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

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
from langmemory.engines.sqlite.background import journal
from langmemory.engines.sqlite.changes import applying
from langmemory.engines.sqlite.changes.applying import Drafted, Writes
from langmemory.engines.sqlite.changes.reviews import unanswered
from langmemory.engines.sqlite.changes.undoing import Undoing
from langmemory.engines.sqlite.file import namespaces
from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.file.times import from_us
from langmemory.engines.sqlite.graph import graph_rows
from langmemory.engines.sqlite.reading.graph_view import GraphView
from langmemory.engines.sqlite.reading.knowledge import StoreKnowledge, came_after, knowledge
from langmemory.engines.sqlite.reading.searching import now_us
from langmemory.engines.sqlite.records import history, items, reviews, runs
from langmemory.engines.sqlite.scope.scopes import compile_scope
from langmemory.errors import ChangeError
from langmemory.formation.contradiction.statements import Statement
from langmemory.formation.planning.consequences import consequences
from langmemory.formation.planning.dependants import dependants
from langmemory.formation.planning.meanwhile import caught_up
from langmemory.formation.planning.parting import PARTED, again, parted
from langmemory.formation.planning.reinstating import reinstated
from langmemory.formation.planning.restoring import decided, founded
from langmemory.formation.planning.rewording import still_claimed
from langmemory.ports.facts import EXTRACTION_FAILED, Claim, Knowledge
from langmemory.stores.base import Pages, pages_of
from langmemory.stores.events import APPLY, REMOVE, UNDO
from langmemory.stores.journal import Journaling
from langmemory.types import Applied, Namespace, Review, Run, Scope


class Changing(Journaling):
    """Change sets in, runs and reviews out."""

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
        drafted = self._draft(change_set)
        if not dry_run:
            self._complete(drafted.drafts)
        with self._engine.write() as connection:
            applied, pages = self._apply(connection, change_set, drafted.writes, dry_run)
        self._rewrite(pages)
        return applied

    @APPLY
    async def aapply(self, change_set: ChangeSet, *, dry_run: bool = False) -> Applied:
        """`apply` without blocking the loop."""
        workers = self._workers
        drafted = await workers.read(lambda: self._draft(change_set))
        if not dry_run:
            await self._acomplete(drafted.drafts)
        applied: Applied
        applied, pages = await workers.write(
            lambda connection: self._apply(connection, change_set, drafted.writes, dry_run)
        )
        if pages:
            await workers.read(lambda: self._rewrite(pages))
        return applied

    def _draft(self, change_set: ChangeSet) -> Drafted:
        self._check_namespace(change_set.namespace, written=True)
        with self._engine.read() as snapshot:
            return applying.draft(self._indexing, snapshot.connection, change_set)

    def _apply(
        self, connection: Connection, change_set: ChangeSet, writes: Writes, dry_run: bool
    ) -> tuple[Applied, Pages]:
        keys = applying.concerned(connection, change_set)
        found = [items.find(connection, change_set.namespace, key) for key in keys]
        with rehearsal(connection, dry_run):
            self._claim_model(connection, list(writes.values()))
            pages = pages_of(connection, [item for item in found if item is not None])
            links = _Links.before(connection, change_set)
            back = self._left_without(connection, change_set)

            def then() -> tuple[Change, ...]:
                apart = () if links is None else self._learned_since(connection, {}, links)
                return (*back, *apart)

            applied = applying.apply(connection, change_set, writes, now_us(), then=then)
            pages |= pages_of(connection, journal.concerned(connection, applied.run_id))
        return replace(applied, dry_run=dry_run), set() if dry_run else pages

    @REMOVE
    def remove(
        self, namespace: Namespace, key: str, *, reason: str, viewer: str | None = None
    ) -> Applied:
        """Delete a memory in a run of its own, for whoever decides in a person's stead: unlike what
        `delete` took out, it is there again, with all that stood beside it, when the run is undone.

        Args:
            namespace: Exactly this one.
            key: Of the memory; where there is none, nothing happens and no run is recorded.
            reason: Why, for the record.
            viewer: On whose behalf; what they may not know of stays. None is the application.
        """
        namespace = self._check_namespace(namespace)
        with self._engine.write() as connection:
            applied, pages = self._remove(connection, namespace, key, reason, viewer)
        self._rewrite(pages)
        return applied

    @REMOVE
    async def aremove(
        self, namespace: Namespace, key: str, *, reason: str, viewer: str | None = None
    ) -> Applied:
        """`remove` without blocking the loop."""
        namespace = self._check_namespace(namespace)
        workers = self._workers
        applied: Applied
        applied, pages = await workers.write(
            lambda connection: self._remove(connection, namespace, key, reason, viewer)
        )
        if pages:
            await workers.read(lambda: self._rewrite(pages))
        return applied

    def archive(
        self, namespace: Namespace, key: str, *, reason: str, viewer: str | None = None
    ) -> Applied:
        """Put a memory away in a run of its own, as `remove`: it keeps its TTL and is not recalled any
        more; its value says so, since when and why, for those who read values."""
        archiving = self._archiving(namespace, key, reason, viewer)
        return self.apply(archiving) if isinstance(archiving, ChangeSet) else archiving

    async def aarchive(
        self, namespace: Namespace, key: str, *, reason: str, viewer: str | None = None
    ) -> Applied:
        """`archive` without blocking the loop."""
        archiving = await self._workers.read(
            lambda: self._archiving(namespace, key, reason, viewer)
        )
        return await self.aapply(archiving) if isinstance(archiving, ChangeSet) else archiving

    def _archiving(
        self, namespace: Namespace, key: str, reason: str, viewer: str | None
    ) -> ChangeSet | Applied:
        namespace = self._check_namespace(namespace)
        run_id = f"archive/{secrets.token_hex(8)}"
        with self._engine.read() as snapshot:
            item = items.find(snapshot.connection, namespace, key, viewer=viewer)
            found = [] if item is None else items.memories(snapshot.connection, np.array([item]))
        if not found:
            return Applied(run_id=run_id, lines=(f"there is no {key}",))
        value = archived(found[0].value, reason)
        return ChangeSet(
            namespace=namespace,
            run_id=run_id,
            kind="correction",
            reason=reason,
            changes=(UpdateMemory(key=key, value=value, facets=Facets(status="archived")),),
        )

    def _remove(
        self,
        connection: Connection,
        namespace: Namespace,
        key: str,
        reason: str,
        viewer: str | None,
    ) -> tuple[Applied, Pages]:
        removal = ChangeSet(
            namespace=namespace,
            run_id=f"remove/{secrets.token_hex(8)}",
            kind="correction",
            reason=reason,
            changes=(RemoveMemory(key=key),),
        )
        if items.find(connection, namespace, key, viewer=viewer) is None:
            return Applied(run_id=removal.run_id, lines=(f"there is no {key}",)), set()
        return self._apply(connection, removal, {}, False)

    @UNDO
    def undo(self, run_id: str, *, dry_run: bool = False) -> Applied:
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
        undoing = self._undoing(run_id)
        if not dry_run:
            self._complete(undoing.drafts)
        with self._engine.write() as connection:
            applied, pages = self._undo(connection, undoing, dry_run)
        self._rewrite(pages)
        return applied

    @UNDO
    async def aundo(self, run_id: str, *, dry_run: bool = False) -> Applied:
        """`undo` without blocking the loop."""
        workers = self._workers
        undoing = await workers.read(lambda: self._undoing(run_id))
        if not dry_run:
            await self._acomplete(undoing.drafts)
        applied: Applied
        applied, pages = await workers.write(
            lambda connection: self._undo(connection, undoing, dry_run)
        )
        if pages:
            await workers.read(lambda: self._rewrite(pages))
        return applied

    def _undoing(self, run_id: str) -> Undoing:
        with self._engine.read() as snapshot:
            return Undoing.of(self._indexing, snapshot.connection, run_id)

    def _undo(
        self, connection: Connection, undoing: Undoing, dry_run: bool
    ) -> tuple[Applied, Pages]:
        with rehearsal(connection, dry_run):
            self._claim_model(connection, [draft.write for draft in undoing.drafts])
            now = now_us()
            links = _Links.of_run(connection, undoing.run)
            concerned = journal.concerned(connection, undoing.run.id)
            pages = pages_of(connection, concerned)
            applied, back = undoing.write(connection, now)
            if back and not came_after(connection, min(back.values()), applied.run_id):
                back = {}
            if learned := self._learned_since(connection, back, links):
                # A run of its own, which can be undone as an undo cannot.
                learning = ChangeSet(
                    namespace=undoing.run.namespace,
                    run_id=f"since/{undoing.run.id}",
                    kind="correction",
                    reason=f"learned while {undoing.run.id} stood",
                    changes=learned,
                )
                since = applying.apply(connection, learning, {}, now)
                concerned += journal.concerned(connection, since.run_id)
                applied = replace(
                    applied,
                    lines=(*applied.lines, *since.lines),
                    changed=tuple(dict.fromkeys((*applied.changed, *since.changed))),
                )
            pages |= pages_of(connection, concerned)
        return replace(applied, dry_run=dry_run), set() if dry_run else pages

    def _learned_since(
        self,
        connection: Connection,
        back: Mapping[str, int],
        links: _Links,
    ) -> tuple[Change, ...]:
        """What becomes of facts that an undo brings back (key, and the place in the history since which
        they were away), by what was learned meanwhile; and of those that only gave way because of
        links that are taken back."""
        namespace = links.namespace
        known = self._knowing(connection, namespace)
        left = _linked(connection, namespace, links.keys)
        apart = {one.memory.key: one for one in parted(links.was, left, links.since, known)}
        found = [fact for key in back if (fact := known.by_key(key)) is not None]
        facts = [Statement.of_known(one) for one in found if one.memory.status != "archived"]
        facts += [again(one) for one in apart.values()]
        since = {key: history.latest(connection, namespace, key)[0] for key in apart} | {**back}
        return (
            *(
                UpdateMemory(key=key, facets=Facets(status="active"), reason=PARTED)
                for key in apart
            ),
            *caught_up(
                facts,
                lambda mine, other: other not in back and known.learned_after(other, since[mine]),
                known,
                from_us(now_us()),
            ),
        )

    def _claim_anew(
        self, connection: Connection, reworded: Sequence[items.Reworded], now: int
    ) -> None:
        """What memories claim by their other words: a run of its own for each."""
        memories = items.memories(connection, np.array([one.item for one in reworded], np.int64))
        for one, memory in zip(reworded, memories, strict=True):
            changes = still_claimed(
                memory,
                before=one.before,
                claims=[Claim.of_edge(*edge) for *edge, _ in one.claims["edges"]],
                entities={k: (name, kind) for k, (name, kind, _) in one.claims["entities"].items()},
                knowledge=self._knowing(connection, memory.namespace),
                now=from_us(now),
            )
            if changes:
                again = ChangeSet(
                    namespace=memory.namespace,
                    run_id=f"reworded/{secrets.token_hex(8)}",
                    kind="correction",
                    reason="a memory was given other words",
                    changes=tuple(changes),
                )
                applying.apply(connection, again, {}, now)

    def _reinstating(self, connection: Connection, ids: Collection[int]) -> Callable[[], Pages]:
        found: list[ChangeSet] = []
        for namespace, keys in items.replacing(connection, ids).items():
            changes = tuple(reinstated(keys, self._knowing(connection, namespace)))
            if changes:
                found.append(
                    ChangeSet(
                        namespace=namespace,
                        run_id=f"reinstated/{secrets.token_hex(8)}",
                        kind="correction",
                        reason="what had taken the place of memories is gone",
                        changes=changes,
                    )
                )

        def reinstate() -> Pages:
            pages: Pages = set()
            for one in found:
                applied = applying.apply(connection, one, {}, now_us())
                pages |= pages_of(connection, journal.concerned(connection, applied.run_id))
            return pages

        return reinstate

    def _left_without(self, connection: Connection, change_set: ChangeSet) -> tuple[Change, ...]:
        """What holds again without the memories that a change set removes or puts away."""
        keys = {
            one.key
            for one in change_set.changes
            if isinstance(one, RemoveMemory)
            or (isinstance(one, SetStatus) and one.status == "archived")
            or (isinstance(one, UpdateMemory) and one.facets.status == "archived")
        }
        if not keys:
            return ()
        found = [items.find(connection, change_set.namespace, key) for key in keys]
        ids = [item for item in found if item is not None]
        gone = items.replacing(connection, ids).get(change_set.namespace, ())
        if not gone or runs.find(connection, change_set.run_id) is not None:
            return ()
        touched = {getattr(one, "key", None) for one in change_set.changes}
        back = reinstated(gone, self._knowing(connection, change_set.namespace))
        return tuple(one for one in back if one.key not in touched)

    def _knowing(self, connection: Connection, namespace: Namespace) -> StoreKnowledge:
        """What a namespace knows, within a transaction."""
        return StoreKnowledge(
            self._engine,
            self._indexing,
            namespace,
            alive_at_us=self._searching.alive_at_us(),
            within=connection,
        )

    def runs(self, namespace: Namespace = (), *, limit: int = 50) -> list[Run]:
        """What changed memory on its own in a namespace and below it, newest first."""
        namespace = self._check_namespace(namespace, may_be_empty=True)
        with self._engine.read() as snapshot:
            return runs.newest(snapshot.connection, namespace, whole_number("limit", limit))

    async def aruns(self, namespace: Namespace = (), *, limit: int = 50) -> list[Run]:
        """`runs` without blocking the loop."""
        return await asyncio.to_thread(self.runs, namespace, limit=limit)

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
        namespace = self._check_namespace(namespace, may_be_empty=True)
        with self._engine.read() as snapshot:
            if run_id is None:
                found = runs.failed(snapshot.connection, namespace, EXTRACTION_FAILED, thread_id)
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

    async def aread_again(
        self, namespace: Namespace = (), *, thread_id: str | None = None, run_id: str | None = None
    ) -> list[Run]:
        """`read_again` without blocking the loop."""
        return await asyncio.to_thread(
            self.read_again, namespace, thread_id=thread_id, run_id=run_id
        )

    def reviews(
        self, namespace: Namespace = (), *, open_only: bool = True, viewer: str | None = None
    ) -> list[Review]:
        """Questions for a person or a deep model, oldest first.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            open_only: Leave out those that are decided, and those that nothing is left to decide of:
                what they ask about was deleted, or a core block says by now what they would add.
            viewer: Who is asking; None is the application. A viewer gets only questions about
                memories they may read.
        """
        namespace = self._check_namespace(namespace, may_be_empty=True)
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            found = reviews.listed(connection, namespace, open_only=open_only, viewer=viewer)
            return unanswered(connection, found) if open_only else found

    async def areviews(
        self, namespace: Namespace = (), *, open_only: bool = True, viewer: str | None = None
    ) -> list[Review]:
        """`reviews` without blocking the loop."""
        return await asyncio.to_thread(self.reviews, namespace, open_only=open_only, viewer=viewer)

    def decide(self, review_id: str, option: str, *, by: str | None = None) -> Applied:
        """Answer a review: the changes of the option are applied, as a run of kind ``review``, and
        the pages of the journal follow. What was derived by now from what they end is asked about,
        and what an application wrote in the words of a fact that gives way ends with it.

        Args:
            review_id: See `reviews`.
            option: One of the review's options.
            by: Who decided, for the record.

        Raises:
            ChangeError: No such review or option, or it was decided already.
        """
        return self.apply(self._decision(review_id, option, by))

    async def adecide(self, review_id: str, option: str, *, by: str | None = None) -> Applied:
        """`decide` without blocking the loop."""
        decision = await self._workers.read(lambda: self._decision(review_id, option, by))
        return await self.aapply(decision)

    def _decision(self, review_id: str, option: str, by: str | None) -> ChangeSet:
        for name, given in (("review_id", review_id), ("option", option), ("by", by or "")):
            if not isinstance(given, str):
                raise ChangeError(
                    f"{name} is {given!r:.80}; it must be a string. `reviews()` lists the ids and "
                    "options. Nothing was decided."
                )
        with self._engine.read() as snapshot:
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
        changes = Option.validate_python(options[option])
        alive_at_us = self._searching.alive_at_us()
        with knowledge(
            self._engine, self._indexing, review.namespace, alive_at_us=alive_at_us
        ) as known:
            changes = tuple(founded(changes, known))
            asked_at = known.last_of(review.run_id)
            derived = (
                *decided(changes, known),
                *dependants(known, review.namespace, changes),
                *consequences(
                    known, review.namespace, changes, _approved(changes, known), datetime.now(UTC)
                ),
                *caught_up(
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

    @classmethod
    def of_run(cls, connection: Connection, run: Run) -> _Links:
        """Those that a run made, for its undo."""
        keys = runs.links(connection, run.id)
        return cls(run.namespace, keys, _linked(connection, run.namespace, keys), run.at)

    @classmethod
    def before(cls, connection: Connection, change_set: ChangeSet) -> _Links | None:
        """Those that a change set takes back, or leads elsewhere; None where it does neither."""
        parting = (UnlinkEntities, LinkEntities)
        keys = {one.key for one in change_set.changes if isinstance(one, parting)}
        namespace = namespaces.find(connection, change_set.namespace) if keys else None
        if namespace is None:
            return None
        made = {graph_rows.linked_by(connection, namespace, key) for key in keys}
        found = [run for one in made if one and (run := runs.find(connection, one)) is not None]
        if not found:
            return None
        was = _linked(connection, change_set.namespace, keys)
        return cls(change_set.namespace, keys, was, min(run.at for run in found))


def _linked(
    connection: Connection, namespace: Namespace, keys: Collection[str]
) -> Mapping[str, str]:
    """`Knowledge.links` of these entities, and of those linked with them."""
    if not keys:
        return {}
    every = compile_scope(Scope(namespace=namespace))
    return GraphView(connection, namespace, narrow=every, wide=every).links(keys)


def _approved(changes: Iterable[Change], known: Knowledge) -> Iterator[Statement]:
    """Facts that a decision makes hold, which nothing new was compared with while they waited."""
    for change in changes:
        if isinstance(change, SetStatus) and change.status == "active":
            fact = known.by_key(change.key)
            if fact is not None and fact.memory.status in ("pending", "approved"):
                yield replace(Statement.of_known(fact), waiting=False)


@contextmanager
def rehearsal(connection: Connection, dry_run: bool) -> Iterator[None]:
    """With ``dry_run``, what is written within is taken back at the end."""
    if not dry_run:
        yield
        return
    connection.execute("SAVEPOINT rehearsal")
    try:
        yield
    finally:
        if connection.in_transaction:  # unless SQLite gave it up
            connection.execute("ROLLBACK TO rehearsal; RELEASE rehearsal")


def archived(value: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """The value of a memory that is put away: it says so itself, since when and why."""
    since = datetime.now(UTC).isoformat()
    return {**value, "status": "archived", "archived_at": since, "archived_because": reason}
