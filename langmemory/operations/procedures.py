"""`store.procedures`: how things are done, step by step, and how it went."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import Field

from langmemory.arguments import one_of, whole_number
from langmemory.changes import AddMemory, Change, ChangeSet
from langmemory.declaring import LOCAL, operation, room
from langmemory.declaring.fields import Key, Limit, Line, Reason, Text
from langmemory.errors import ConfigError, OwnershipError, StalePlanError
from langmemory.formation.procedures import planning
from langmemory.ledger import history, items, removal
from langmemory.ledger.connection import Connection
from langmemory.ledger.values import from_us
from langmemory.namespaces import check_namespace
from langmemory.operations import recalling
from langmemory.operations.changes import Changes
from langmemory.operations.conversing import shown
from langmemory.operations.core import Core
from langmemory.procedures import (
    AFTER_KEYS,
    KEYS,
    MOST_CHARACTERS,
    Draft,
    Named,
    Outcome,
    Procedure,
    Source,
    Step,
    as_steps,
    is_procedure,
)
from langmemory.recall_options import RecallOptions
from langmemory.redaction import redact_and_log
from langmemory.steps import run_steps, twin
from langmemory.types import Memory, Namespace, Privacy, RunKind

ATTEMPTS: Final = 50
"""Times that a change is planned while others write."""
SEARCHED: Final = 4
"""Times the limit that are recalled: rules in a sentence are procedural, too."""
LEAST_SCORE: Final = 0.01
"""What fits a task only by chance is below it; see decision 056."""

T = TypeVar("T")
_Plan: TypeAlias = tuple[T, Sequence[Change]]
"""What is to be returned, and what is to be changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundProcedure:
    """A procedure that fits a task."""

    procedure: Procedure
    score: float
    why: str
    """Why it is shown as it is: "it worked 3 of 4 times"."""


@room("procedures", tag="Procedures")
class Procedures:
    """How things are done: steps, preconditions, and what came of following them.

    A viewer sees what they may read, and changes what is theirs or nobody's; what they add is theirs.
    """

    __slots__ = ("_core", "_viewer")

    def __init__(self, core: Core, viewer: str | None) -> None:
        """``viewer`` None is the application, which sees everything."""
        self._core, self._viewer = core, viewer

    @operation("write", "POST /procedures")
    def add(
        self,
        namespace: Namespace,
        task: Line,
        steps: Annotated[Iterable[Line | Step], Field(min_length=1, max_length=30)],
        *,
        preconditions: Annotated[Iterable[Line], Field(max_length=30)] = (),
        source: Source = "person",
        owner: Annotated[str | None, LOCAL] = None,
        privacy: Privacy = "shared",
        evidence: Annotated[Iterable[str], LOCAL] = (),
        reason: Reason = "",
    ) -> Procedure:
        """Keep how something is done. The same task with the same steps is not kept twice; with other
        steps it is a new version, which supersedes the one before.

        Args:
            namespace: Where.
            task: The thing that is done: "deploy the website".
            steps: Texts, or `Step` where the tool is known, in their order.
            preconditions: What must be so before.
            source: Whom it is from. An agent's note is background until it has worked once, and neither
                a run nor an agent replaces what a person said.
            owner: Whose it is; of a store bound to a viewer, theirs.
            privacy: Who may recall it.
            evidence: Keys of the memories it was made from.
            reason: Why, for the record.

        Returns:
            The procedure that holds now.

        Raises:
            ConfigError: The task or a step is empty or too long, or there are no steps; or it is from a run,
                and somebody deleted it.
            OwnershipError: It is another's.
        """
        if self._viewer is not None and owner not in (None, self._viewer):
            raise OwnershipError(
                f"This store is bound to the viewer {self._viewer!r}; it keeps nothing for {owner!r}."
            )
        owner = owner if self._viewer is None else self._viewer or None
        if privacy == "private" and owner is None:
            raise ConfigError("A private procedure needs an owner; pass owner=….")
        needs = _texts("preconditions", preconditions)
        draft = Draft(
            task=" ".join(str(task).split()), steps=as_steps(steps), preconditions=needs,
            source=one_of("source", source, Source), owner=owner,
            privacy=one_of("privacy", privacy, Privacy), evidence=_texts("evidence", evidence),
        )  # fmt: skip
        reason = reason or f"how to: {draft.task}"
        kept = self.keep(namespace, [draft], reason=reason, lenient=False)
        if not kept:
            raise ConfigError(
                f"How to {draft.task!r} was deleted, and what a run did does not bring it back. Pass "
                "source='person' to keep it anew."
            )
        return kept[0]

    aadd = twin(add)

    def keep(
        self,
        namespace: Namespace,
        drafts: Sequence[Draft],
        *,
        reason: str,
        kind: RunKind = "correction",
        note: dict[str, Any] | None = None,
        lenient: bool = True,
    ) -> list[Procedure]:
        """Keep several procedures in one run; see `add`. Return those that hold now. Of a draft from a run of
        tools, what a person deleted does not come back; while it is ``lenient``, what is another's stays as
        it is.

        Raises:
            OwnershipError: Another draft is about what is another's.
        """
        namespace = check_namespace(namespace, written=True)
        waiting = [self._without_credentials(one) for one in drafts]
        keys: list[str] = []

        def planned(connection: Connection) -> _Plan[list[tuple[Draft, str]]]:
            known = self._known(connection, namespace, exact=True)
            is_free = partial(_is_free, connection, namespace)
            holds, changes = list[tuple[Draft, str]](), list[Change]()
            for draft in waiting:
                learned = draft.source == "run"
                made = planning.plan(
                    draft, known, namespace, self._now(), is_free=_any if learned else is_free
                )
                if self._is_anothers(made.replaced or made.procedure):
                    if learned and lenient:
                        continue
                    raise OwnershipError(
                        f"How to {draft.task!r} is another's to change. Ask them, or use the "
                        "application's store."
                    )
                holds.append((draft, made.procedure.key))
                changes += made.changes
                gone = {made.procedure.key, made.replaced.key if made.replaced else None}
                known = [made.procedure, *(one for one in known if one.key not in gone)]
            return holds, changes

        reason = redact_and_log(reason, self._core.redactor)
        while waiting:
            holds, refused = self._written(namespace, planned, reason, kind, note)
            keys += [key for _, key in holds if key not in refused]
            # What somebody else has added meanwhile is known by now; what a person deleted stays so.
            waiting = [
                draft
                for draft, key in holds
                if key in refused and self.get(namespace, key) is not None
            ]
        return [one for key in keys if (one := self.get(namespace, key)) is not None]

    akeep = twin(keep)

    @operation("read", "GET /procedures/{key:path}")
    def get(self, namespace: Namespace, key: Key) -> Procedure | None:
        """Return one procedure, whatever its status; None where there is none that the viewer may know of.

        Raises:
            ConfigError: What is under this key is no procedure with steps.
        """
        namespace = check_namespace(namespace)
        with self._core.engine.read() as snapshot:
            found = self._memory(snapshot.connection, namespace, key)
        return None if found is None else Procedure.of(found)

    aget = twin(get)

    @operation("read", "GET /procedures")
    def list(self, namespace: Namespace = (), *, past: bool = False) -> list[Procedure]:
        """Return the procedures of a namespace and those below it, by task.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            past: Also those that were superseded or put away.
        """
        namespace = check_namespace(namespace, may_be_empty=True)
        with self._core.engine.read() as snapshot:
            found = self._known(snapshot.connection, namespace)
        held = (one for one in found if past or one.status == "active")
        return sorted(held, key=lambda one: (one.namespace, one.task.casefold(), one.version))

    alist = twin(list)

    @operation("read", "GET /procedures/versions")
    def versions(self, namespace: Namespace, key: Key) -> Sequence[Procedure]:
        """Return all versions of a procedure, the oldest first, given the key of any."""
        root = planning.root_of(key)
        found = self.list(namespace, past=True)
        same = (one for one in found if one.namespace == tuple(namespace))
        ours = [one for one in same if planning.root_of(one.key) == root]
        return sorted(ours, key=lambda one: one.version)

    aversions = twin(versions)

    @operation("read", "GET /procedures/for-task")
    def recall(
        self, task: Text, namespace: Namespace = (), *, limit: Limit = 5
    ) -> Sequence[FoundProcedure]:
        """Return the procedures that fit a task, in words, the best first; none where none does. Those that
        failed more often than they succeeded come last, and say so.

        Args:
            task: What is to be done.
            namespace: Prefix by whole labels.
            limit: At most so many.
        """
        limit = whole_number("limit", limit, least=1)
        options: RecallOptions = {"kinds": ("procedural",), "limit": SEARCHED * limit}
        where = check_namespace(namespace, may_be_empty=True)
        found = run_steps(recalling.steps(self._core, self._viewer, task, where, options))
        named = Named(task)
        fitting = [
            FoundProcedure(procedure=one, score=result.score, why=one.standing[1])
            for result in found.results
            if is_procedure(result.memory.value)
            for one in [Procedure.of(result.memory)]
            if result.score >= LEAST_SCORE or one.task in named
        ]
        fitting.sort(key=lambda one: one.procedure.outcomes.fails_more)
        return fitting[:limit]

    arecall = twin(recall)

    @operation("write", "POST /procedures/outcome")
    def record_outcome(
        self,
        namespace: Namespace,
        key: Key,
        outcome: Outcome,
        *,
        why: Annotated[str, Field(max_length=400)] = "",
        revises: Outcome | None = None,
        at: datetime | None = None,
    ) -> Procedure:
        """Record what came of following a procedure. One that fails more often than it succeeds is shown as
        background from then on, and as a guardrail again when that has changed.

        Args:
            namespace: Exactly this one.
            key: Of the procedure.
            outcome: ``succeeded`` or ``failed``.
            why: Why it failed, in a few words of your own: it stands in the prompt.
            revises: The outcome that was recorded of the same use, and proved wrong.
            at: When it was followed; None is now.

        Raises:
            ConfigError: There is no such procedure.
        """
        namespace = check_namespace(namespace)
        came = one_of("outcome", outcome, Outcome)
        before = None if revises is None else one_of("revises", revises, Outcome)

        why = redact_and_log(why, self._core.redactor)

        def planned(connection: Connection) -> _Plan[Procedure]:
            memory = self._memory(connection, namespace, key)
            if memory is None:
                raise ConfigError(f"There is no procedure {key!r} in {'/'.join(namespace)}.")
            found = Procedure.of(memory)
            change = planning.outcome(found, came, now=at or self._now(), why=why, revises=before)
            return found, [change]

        self._written(namespace, planned, f"{key} {outcome}", "maintenance", None)
        after = self.get(namespace, key)
        if after is None:
            raise ConfigError(f"The procedure {key!r} was deleted meanwhile.")
        return after

    arecord_outcome = twin(record_outcome)

    # How.

    def _written(
        self,
        namespace: Namespace,
        planned: Callable[[Connection], _Plan[T]],
        reason: str,
        kind: RunKind,
        note: dict[str, Any] | None,
    ) -> tuple[T, set[str]]:
        """Plan on a snapshot and apply; again where somebody changed what is known meanwhile. Return the
        result, and the keys that were not added: something is there by now, or a person deleted it."""
        for attempt in range(ATTEMPTS):
            with self._core.engine.read() as snapshot:
                seen = history.newest(snapshot.connection)
                result, changes = planned(snapshot.connection)
            if not changes:
                break
            change_set = ChangeSet(
                namespace=namespace, run_id=f"procedure/{secrets.token_hex(8)}", kind=kind,
                reason=reason, changes=tuple(changes), note=note or {}, planned_at=seen,
            )  # fmt: skip
            try:
                applied = Changes(self._core, None).apply(change_set)
            except StalePlanError:
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                wanted = {one.key for one in changes if isinstance(one, AddMemory)}
                return result, wanted.difference(applied.added)
        return result, set()

    def _known(
        self, connection: Connection, namespace: Namespace, *, exact: bool = False
    ) -> Sequence[Procedure]:
        """Return all that the viewer may know of, whatever its status, the latest first."""
        where = items.under(namespace, viewer=self._viewer)
        condition = replace(
            where,
            sql=f"{where.sql} AND i.kind = 'procedural' AND i.key >= ? AND i.key < ?",
            bindings=(*where.bindings, KEYS, AFTER_KEYS),
        )
        found = shown(connection, items.those(connection, condition), self._viewer)
        kept = [
            Procedure.of(one)
            for one in found
            if is_procedure(one.value) and not (exact and one.namespace != namespace)
        ]
        return sorted(kept, key=lambda one: one.updated_at or datetime.min, reverse=True)

    def _memory(self, connection: Connection, namespace: Namespace, key: str) -> Memory | None:
        item = items.find(connection, namespace, key, viewer=self._viewer)
        return None if item is None else next(iter(shown(connection, [item], self._viewer)), None)

    def _without_credentials(self, draft: Draft) -> Draft:
        """Return a draft as it may be stored, as what people say and agents tell each other is."""
        redactor = self._core.redactor
        return replace(
            draft,
            task=redact_and_log(draft.task, redactor)[:MOST_CHARACTERS],
            steps=tuple(
                replace(one, text=redact_and_log(one.text, redactor)[:MOST_CHARACTERS])
                for one in draft.steps
            ),
            preconditions=tuple(
                redact_and_log(one, redactor)[:MOST_CHARACTERS] for one in draft.preconditions
            ),
        )

    def _is_anothers(self, known: Procedure) -> bool:
        return self._viewer is not None and known.owner not in (None, self._viewer)

    def _now(self) -> datetime:
        return from_us(self._core.now_us())


def _any(key: str) -> bool:
    return True


def _is_free(connection: Connection, namespace: Namespace, key: str) -> bool:
    """Return whether nothing is, or was, under a key."""
    taken = items.find(connection, namespace, key) is not None
    return not (taken or removal.was_deleted(connection, namespace, key))


def _texts(name: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise ConfigError(f"{name} is the text {given!r:.80}; pass a list.")
    return tuple(str(one) for one in given)
