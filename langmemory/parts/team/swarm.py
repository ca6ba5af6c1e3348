"""`store.swarm`: the tasks, decisions and sessions of the agents of one namespace."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import datetime
from typing import Annotated, Any, Final

import numpy as np
from pydantic import Field

from langmemory.arguments import check_agent, check_time, one_of, whole_number
from langmemory.changes import (
    AddEdge,
    Change,
    ChangeSet,
    Facets,
    Invalidate,
    Supersede,
    UpdateMemory,
)
from langmemory.declaring import operation, room
from langmemory.declaring.fields import Agent, Details, Most, Summaries, Summary, Title
from langmemory.errors import EntityNameError, InvalidValueError, OwnershipError, StalePlanError
from langmemory.ledger import anchors, history, items, namespaces
from langmemory.ledger.connection import Connection
from langmemory.ledger.filters import Condition
from langmemory.ledger.graph_view import GraphView
from langmemory.ledger.records import messages
from langmemory.ledger.scopes import visible_to
from langmemory.ledger.values import from_us
from langmemory.links import NAME_CHARACTERS, anchor_of
from langmemory.namespaces import check_namespace
from langmemory.operations.changes import Changes
from langmemory.operations.core import Core
from langmemory.operations.graph import Graph
from langmemory.operations.linking import End, Ends, link_changes, new_memory, whose
from langmemory.parts.team.drafts import DETAILS_CHARACTERS, text, texts
from langmemory.redaction import redact_and_log
from langmemory.steps import twin
from langmemory.swarm import (
    CLOSED,
    DECISION,
    SESSION,
    SESSION_PARTS,
    STATUSES,
    TASK,
    AgentState,
    AgentStatus,
    Board,
    PendingAction,
    RecordedDecision,
    Session,
    Task,
    TaskStatus,
    decision_of,
    decision_value,
    session_of,
    session_value,
    task_of,
    task_value,
)
from langmemory.types import BusMessage, Memory, Namespace, Privacy

ATTEMPTS: Final = 20
"""How often a change is planned anew where somebody else changes the same task at the same time."""
COUNTED: Final = 100
"""Messages of an inbox that a board counts."""
SHOWN: Final = 50
"""Decisions and sessions on a board."""
ON_BOARD: Final = 200
"""Tasks of one status on a board."""
NAMED_TASKS: Final = 5
"""Tasks that are named where one is not there."""
_IS_CLOSED: Final = f"coalesce(i.value ->> '$.status', '') IN {CLOSED!r}"
_LATEST: Final = "i.updated_at DESC, i.key"
_NEWEST: Final = "i.created_at DESC, i.key"

AgentOrNobody = Annotated[str, Field(max_length=200)]


@room("swarm", tag="Swarm", agent="optional")
class Swarm:
    """What a team of agents is doing, in memories with edges, as one agent sees and changes it.

    Tasks and decisions are memories that recall finds; who works on what, what a decision affects and what a
    task requires are edges of the graph. Each change is a run that can be undone.
    """

    __slots__ = ("_core", "_viewer", "agent", "namespace")

    def __init__(
        self, core: Core, viewer: str | None, namespace: Namespace, agent: str | None = None
    ) -> None:
        """See `StoreFace.swarm`."""
        self._core, self._viewer = core, viewer
        self.namespace = check_namespace(namespace)
        self.agent = None if agent is None else check_agent("agent", agent)

    # Tasks.

    @operation("write", "POST /swarm/tasks")
    def add_task(
        self,
        title: Title,
        *,
        details: Details = "",
        agent: Agent | None = None,
        part_of: Title | None = None,
        requires: Summaries = (),
        privacy: Privacy = "shared",
    ) -> Task:
        """Set a task.

        Args:
            title: What is to be done, in a few words.
            details: What there is to know for it.
            agent: Who works on it.
            part_of: The task that contains it, by key or title.
            requires: What it requires: ends of links, see `Graph.link`.
            privacy: Who may know of it; ``private`` is for the viewer alone.

        Raises:
            InvalidValueError: An argument is wrong.
            EntityNameError: Nothing has one of these names. Nothing was written.
        """
        title = self._kept(" ".join(text("title", title, NAME_CHARACTERS).split()))
        details = self._kept(text("details", details, DETAILS_CHARACTERS, empty=True))
        worker = None if agent is None else check_agent("The agent", agent)
        key = f"{TASK}/{secrets.token_hex(6)}"
        with self._core.engine.read() as snapshot:
            ends = Ends(snapshot.connection, self.namespace, self._viewer)
            above = None if part_of is None else ends.end(part_of)
            needed = [ends.end(one) for one in requires]
        status = "open" if worker is None else "in_progress"
        value = task_value(title, status, details=details, agent=worker, made_by=self.agent)
        near = [*needed, *([above] if above else [])]
        facets = self._facets(near, privacy, pinned=True)
        task = End(anchor_of(key), None)
        changes = self._added(key, value, facets)
        if worker is not None:
            changes += self._link(End(f"agent:{worker}", None), "works_on", task, facets)
        if above is not None:
            changes += self._link(above, "contains", task, facets)
        for one in needed:
            changes += self._link(task, "requires", one, facets)
        self._apply("task", f"task set: {status}", changes)
        return self.task(key)

    aadd_task = twin(add_task)

    @operation("write", "POST /swarm/tasks/update")
    def update_task(
        self,
        task: Title,
        *,
        status: TaskStatus | None = None,
        blockers: Summaries | None = None,
        agent: AgentOrNobody | None = None,
        title: Title | None = None,
        details: Details | None = None,
        note: Details = "",
    ) -> Task:
        """Say where a task stands; what is not named stays. Blockers without a status make it ``blocked``,
        none make a blocked one ``open`` again. Nobody works any more on one that is done or cancelled.

        Args:
            task: Its key or title.
            status: Where it stands.
            blockers: What it waits for; ``[]`` is nothing.
            agent: Who works on it from now on; ``""`` is nobody.
            title: What it is called.
            details: What there is to know for it.
            note: What happened, for those who look at it.

        Raises:
            EntityNameError: There is no such task.
            InvalidValueError: An argument is wrong.
            OwnershipError: It is another's.
        """
        if status is not None:
            one_of("status", status, TaskStatus)
        held_up = None if blockers is None else tuple(map(self._kept, texts("blockers", blockers)))
        note = self._kept(text("note", note, DETAILS_CHARACTERS, empty=True))
        if agent:
            agent = check_agent("The agent", agent)
        if title is not None:
            title = self._kept(" ".join(text("title", title, NAME_CHARACTERS).split()))
        if details is not None:
            details = self._kept(text("details", details, DETAILS_CHARACTERS, empty=True))

        def changed(view: GraphView, memory: Memory) -> list[Change]:
            old = task_of(memory)
            now_blocked = old.blockers if held_up is None else held_up
            new: str = status or old.status
            if status is None and held_up:
                new = "blocked"
            elif status is None and held_up == () and old.status == "blocked":
                new = "in_progress" if old.agent else "open"
            worker = old.agent if agent is None else agent or None
            if status is None and agent and new == "open":
                new = "in_progress"
            if new in CLOSED:
                now_blocked = ()
            said = task_value(
                old.title if title is None else title, new,
                details=old.details if details is None else details, blockers=now_blocked,
                agent=worker, made_by=old.made_by, note=note or old.note,
            )  # fmt: skip
            value = {**memory.value, **said}
            changes: list[Change] = [
                UpdateMemory(key=memory.key, value=value, facets=Facets(pinned=new not in CLOSED))
            ]
            works = None if new in CLOSED else worker
            changes += self._works_on(view, memory, works)
            return changes

        return self._update(task, f"task: {status or 'updated'}", changed)

    aupdate_task = twin(update_task)

    @operation("read", "GET /swarm/tasks/{task:path}")
    def task(self, task: Title) -> Task:
        """Return a task, by its key or title.

        Raises:
            EntityNameError: There is none, or more than one.
        """
        with self._core.engine.read() as snapshot:
            return task_of(self._named(snapshot.connection, task))

    atask = twin(task)

    @operation("read", "GET /swarm/tasks")
    def tasks(
        self,
        *,
        status: TaskStatus | None = None,
        agent: Agent | None = None,
        closed: bool = True,
        limit: Most = 1_000,
    ) -> tuple[Task, ...]:
        """Return tasks: those to be done before those that are closed, the latest changes first.

        Args:
            status: Only those that stand so.
            agent: Only those that this agent works on, or did.
            closed: Also those that are done or cancelled.
            limit: At most so many.
        """
        if status is not None:
            one_of("status", status, TaskStatus)
        wanted = {"status": status, "agent": agent}
        sql = "" if closed else f" AND NOT {_IS_CLOSED}"
        order = f"{_IS_CLOSED}, {_LATEST}"
        return tuple(map(task_of, self._records(TASK, wanted, sql, order, limit)))

    atasks = twin(tasks)

    # Decisions.

    @operation("write", "POST /swarm/decisions")
    def record_decision(
        self,
        what: Summary,
        *,
        why: Summary,
        alternatives: Summaries = (),
        affects: Summaries = (),
        regarding: Title | None = None,
        supersedes: Summary | None = None,
        privacy: Privacy = "shared",
    ) -> RecordedDecision:
        """Record what was decided.

        Args:
            what: It, in a sentence.
            why: The reason.
            alternatives: What was not chosen.
            affects: What it changes: ends of links, see `Graph.link`. A name that nothing has is that of an
                artifact; one that several have is refused.
            regarding: The task it is about, by key or title.
            supersedes: An earlier decision that it replaces, by key or by what it says.
            privacy: Who may know of it.

        Raises:
            InvalidValueError: An argument is wrong.
            EntityNameError: Nothing has one of these names. Nothing was written.
            OwnershipError: The earlier decision is another's.
        """
        what = self._kept(text("what", what, 2_000))
        why = self._kept(text("why", why, DETAILS_CHARACTERS))
        others = tuple(map(self._kept, texts("alternatives", alternatives)))
        key = f"{DECISION}/{secrets.token_hex(6)}"
        with self._core.engine.read() as snapshot:
            ends = Ends(snapshot.connection, self.namespace, self._viewer)
            changed = [
                ends.first((one, f"artifact:{one[:NAME_CHARACTERS]}"))
                for one in texts("affects", affects)
            ]
            about = None if regarding is None else ends.end(regarding)
            before = None if supersedes is None else ends.end(supersedes)
        near = [*changed, *(one for one in (about, before) if one is not None)]
        facets = self._facets(near, privacy, importance=0.7)
        value = decision_value(what, why, others, self.agent)
        here = anchor_of(key)
        changes = self._added(key, value, facets)
        for one in changed:
            changes.append(AddEdge(fact=key, subject=here, relation="affects", object=one.anchor))
        if about is not None:
            changes.append(
                AddEdge(fact=key, subject=here, relation="regarding", object=about.anchor)
            )
        if before is not None:
            if before.memory is None or before.memory.value.get("record") != DECISION:
                raise InvalidValueError(f"{supersedes!r} is no decision; name one by its key.")
            self._check_owner(before.memory)
            now = from_us(self._core.now_us())
            changes += [
                AddEdge(fact=key, subject=here, relation="supersedes", object=before.anchor),
                Supersede(key=before.memory.key, by=key, invalid_at=now),
            ]
        self._apply("decision", "decided", changes)
        with self._core.engine.read() as snapshot:
            return decision_of(self._named(snapshot.connection, key, DECISION))

    arecord_decision = twin(record_decision)

    @operation("read", "GET /swarm/decisions")
    def decisions(
        self, *, holding: bool = True, limit: Most = 1_000
    ) -> tuple[RecordedDecision, ...]:
        """Return decisions, the newest first.

        Args:
            holding: Only those that no later one replaced.
            limit: At most so many.
        """
        sql = " AND i.status = 'active'" if holding else ""
        return tuple(map(decision_of, self._records(DECISION, {}, sql, _NEWEST, limit)))

    adecisions = twin(decisions)

    # Sessions.

    @operation("write", "POST /swarm/sessions")
    def end_session(
        self,
        session_id: Title,
        *,
        started_at: datetime,
        work_done: Summaries = (),
        decisions: Summaries = (),
        blockers: Summaries = (),
        next_steps: Summaries = (),
        tasks: Summaries = (),
        artifacts: Summaries = (),
        privacy: Privacy = "shared",
    ) -> Session:
        """Record how a session ended. Where there is one of this id, nothing is written.

        Args:
            session_id: Its id.
            started_at: When it began.
            work_done: What was done.
            decisions: What was decided.
            blockers: What holds work up.
            next_steps: What is left to do.
            tasks: What it worked on, by key or title.
            artifacts: What it produced, by name.
            privacy: Who may know of it.

        Raises:
            InvalidValueError: An argument is wrong.
            EntityNameError: There is no such task.
        """
        check_time("started_at", started_at)
        given = {
            "work_done": work_done, "decisions": decisions, "blockers": blockers,
            "next_steps": next_steps,
        }  # fmt: skip
        parts = {name: tuple(map(self._kept, texts(name, given[name]))) for name in SESSION_PARTS}
        key = f"{SESSION}/{text('session_id', session_id, 200)}"
        with self._core.engine.read() as snapshot:
            ends = Ends(snapshot.connection, self.namespace, self._viewer)
            worked = [ends.end(one) for one in texts("tasks", tasks)]
            made = [ends.end(f"artifact:{one}") for one in texts("artifacts", artifacts)]
        now = from_us(self._core.now_us())
        facets = self._facets(worked, privacy)
        value = session_value(self.agent, started_at, now, parts)
        here = anchor_of(key)
        changes = self._added(key, value, facets)
        for relation, found in (("works_on", worked), ("produces", made)):
            for one in found:
                changes.append(
                    AddEdge(fact=key, subject=here, relation=relation, object=one.anchor)
                )
        self._apply("session", "session ended", changes)
        with self._core.engine.read() as snapshot:
            return session_of(self._named(snapshot.connection, key, SESSION))

    aend_session = twin(end_session)

    @operation("read", "GET /swarm/sessions")
    def sessions(self, *, agent: Agent | None = None, limit: Most = 1_000) -> tuple[Session, ...]:
        """Return sessions, the newest first.

        Args:
            agent: Only those of this agent.
            limit: At most so many.
        """
        found = map(session_of, self._records(SESSION, {"agent": agent}, "", _NEWEST, limit))
        return tuple(sorted(found, key=lambda one: one.ended_at, reverse=True))

    asessions = twin(sessions)

    @operation("read", "GET /swarm/board", for_models=True)
    def board(self) -> Board:
        """Return what the team is doing: the latest tasks of each status and how many there are, decisions
        that hold, sessions, each agent with its status and the number of messages that wait for it, and what
        each has yet to do."""
        tasks = [one for status in STATUSES for one in self.tasks(status=status, limit=ON_BOARD)]
        tasks.sort(key=lambda one: (one.status in CLOSED, -one.updated_at.timestamp(), one.key))
        decisions, sessions = self.decisions(limit=SHOWN), self.sessions(limit=SHOWN)
        counts, doing = dict.fromkeys(STATUSES, 0), dict[str, list[str]]()
        now, viewer, seen = self._core.now_us(), self._viewer, visible_to(self._viewer)
        with self._core.engine.read() as snapshot:
            connection = snapshot.connection
            place = namespaces.find(connection, self.namespace) or 0
            known: set[Any] = {*messages.agents(connection, place, viewer, now)}
            fields = ("status", "agent", "title", "made_by")
            for status, agent, title, maker in anchors.record_fields(
                connection, place, TASK, seen, fields
            ):
                if status in counts:
                    counts[status] += 1
                known |= {agent, maker}
                if agent is not None and status not in CLOSED:
                    doing.setdefault(agent, []).append(title)
            for record, field in ((DECISION, "made_by"), (SESSION, "agent")):
                known |= {
                    one
                    for (one,) in anchors.record_fields(connection, place, record, seen, (field,))
                }
            names = sorted(one for one in known if isinstance(one, str) and one)
            waiting: dict[str, list[BusMessage]] = {}
            for name in names:
                there = [messages.there(place), messages.waiting(place, name, viewer)]
                found = messages.list_messages(
                    connection, there, viewer=viewer, now_us=now, limit=COUNTED
                )
                waiting[name] = [message for _, message in found]
        pending = [
            PendingAction(
                agent=name, kind=one.type, id=one.id, what=one.summary, sender=one.sender,
                since=one.created_at,
            )
            for name, some in waiting.items()
            for one in some
            if one.type in ("request", "handoff", "escalation")
        ]  # fmt: skip
        pending += [
            PendingAction(
                agent=one.agent, kind="task", id=one.key, what=one.title, sender=one.made_by,
                since=one.updated_at,
            )
            for one in tasks
            if one.agent and one.status == "open"
        ]  # fmt: skip
        held = {(one.agent, one.status) for one in tasks}
        acting = {one.agent for one in pending}
        agents = (
            AgentState(
                name=name, status=_status_of(name, held, acting), tasks=tuple(doing.get(name, ())),
                inbox=len(waiting[name]),
            )
            for name in names
        )  # fmt: skip
        return Board(
            tasks=tuple(tasks), counts=counts, decisions=decisions, sessions=sessions,
            agents=tuple(agents), pending=tuple(sorted(pending, key=lambda one: one.since)),
        )  # fmt: skip

    aboard = twin(board)

    # How it is written.

    def _records(
        self, record: str, fields: Mapping[str, str | None], sql: str, order: str, limit: int
    ) -> list[Memory]:
        """Return records whose fields say this, where a value is given, in an order."""
        seen = visible_to(self._viewer)
        for name, value in fields.items():
            if value is not None:
                sql += " AND i.value ->> ? = ?"
                seen = Condition(seen.sql, (*seen.bindings, f"$.{name}", value))
        wanted = Condition(f"{seen.sql}{sql}", seen.bindings)
        limit = whole_number("limit", limit)
        with self._core.engine.read() as snapshot:
            place = namespaces.find(snapshot.connection, self.namespace) or 0
            found = anchors.records(
                snapshot.connection, place, record, wanted, order=order, limit=limit
            )
            return items.memories(
                snapshot.connection, np.array(found, np.int64), viewer=self._viewer
            )

    def _named(self, connection: Connection, name: str, record: str = TASK) -> Memory:
        end = Ends(connection, self.namespace, self._viewer).found(name)
        if end is None:
            raise EntityNameError(
                self._no_task(connection, name)
                if record == TASK
                else f"There is no {record} {name!r:.80} in {'/'.join(self.namespace)}."
            )
        found = end.memory
        if found is None or found.value.get("record") != record:
            raise InvalidValueError(f"{name!r:.80} is no {record}; name one by its key or title.")
        return found

    def _no_task(self, connection: Connection, name: str) -> str:
        """Return that there is no such task, with some that there are: a model has no other way to them."""
        place = namespaces.find(connection, self.namespace) or 0
        seen = visible_to(self._viewer)
        wanted = Condition(f"{seen.sql} AND NOT {_IS_CLOSED}", seen.bindings)
        ids = anchors.records(connection, place, TASK, wanted, order=_LATEST, limit=NAMED_TASKS)
        found = map(task_of, items.memories(connection, np.array(ids, np.int64)))
        some = "; ".join(f"{one.key} {one.title}" for one in found)
        return (
            f"There is no task {name!r:.80} in {'/'.join(self.namespace)}. "
            + (
                f"To be done are, the latest first: {some}. "
                if some
                else "Nothing is to be done there. "
            )
            + "Name one by its key or title."
        )

    def _check_owner(self, memory: Memory) -> None:
        if self._viewer is not None and memory.owner not in (None, self._viewer):
            raise OwnershipError(
                f"{memory.key!r} is another's. Ask them, or use the application's store."
            )

    def _facets(self, near: Iterable[End], privacy: Privacy, **more: Any) -> Facets:
        one_of("privacy", privacy, Privacy)
        found = whose(near, self._viewer, privacy)
        return Facets(kind="semantic", privacy=found.privacy, owner=found.owner, **more)

    def _added(self, key: str, value: dict[str, Any], facets: Facets) -> list[Change]:
        """Return what adds a memory, made by the agent."""
        memory = new_memory(key, value, facets)
        if self.agent is None:
            return [memory]
        here, maker = anchor_of(key), f"agent:{self.agent}"
        return [memory, AddEdge(fact=key, subject=here, relation="made_by", object=maker)]

    def _link(self, source: End, relation: str, target: End, facets: Facets) -> tuple[Change, ...]:
        own = Facets(kind="working", privacy=facets.privacy, owner=facets.owner)
        return link_changes(source, relation, target, own)

    def _works_on(self, view: GraphView, memory: Memory, agent: str | None) -> list[Change]:
        """Return what makes the agent the only one who works on a task."""
        anchor = anchor_of(memory.key)
        now = from_us(self._core.now_us())
        wanted = None if agent is None else f"agent:{agent}"
        there = False
        changes: list[Change] = []
        for edge in view.edges_at(anchor, "works_on"):
            if edge.object != anchor or not edge.subject.startswith("agent:"):
                continue
            if edge.subject == wanted:
                there = True
            else:
                changes.append(Invalidate(key=edge.fact, invalid_at=now))
        if wanted is not None and not there:
            facets = Facets(privacy=memory.privacy, owner=memory.owner)
            changes += self._link(End(wanted, None), "works_on", End(anchor, memory), facets)
        return changes

    def _update(
        self, task: str, reason: str, plan: Callable[[GraphView, Memory], list[Change]]
    ) -> Task:
        for attempt in range(ATTEMPTS):
            with Graph(self._core, self._viewer, self.namespace)._reading() as view:
                memory = self._named(view.connection, task)
                self._check_owner(memory)
                seen = history.newest(view.connection)
                changes = plan(view, memory)
            try:
                self._apply("task", reason, changes, planned_at=seen)
                break
            except StalePlanError:
                if attempt == ATTEMPTS - 1:
                    raise
        return self.task(memory.key)

    def _apply(
        self, what: str, reason: str, changes: Sequence[Change], planned_at: int | None = None
    ) -> None:
        by = f"{self.agent}: " if self.agent else ""
        change_set = ChangeSet(
            namespace=self.namespace, run_id=f"{what}/{secrets.token_hex(8)}", kind="correction",
            reason=f"{by}{reason}", changes=tuple(changes), planned_at=planned_at,
        )  # fmt: skip
        Changes(self._core, None).apply(change_set)

    def _kept(self, said: str) -> str:
        """Return what is said without credentials."""
        return redact_and_log(said, self._core.redactor)


def _status_of(name: str, held: Set[tuple[str | None, str]], acting: Set[str]) -> AgentStatus:
    """Return what an agent is doing, by the tasks that agents hold and who has yet to act."""
    if (name, "in_progress") in held:
        return "working"
    if (name, "blocked") in held:
        return "blocked"
    return "pending" if name in acting else "idle"
