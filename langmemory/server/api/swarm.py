"""What a team of agents is doing over REST: tasks, decisions, sessions, and all of it on a board.

Who writes is the agent of the token, or the one that a token of the application names in ``Memory-Agent``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from langmemory.server.access import Access
from langmemory.server.api.bus import Agent, Several, Summary
from langmemory.server.api.requests import Fields, Labels, QueryLabels
from langmemory.server.routes import Routes
from langmemory.stores.rooms import Swarm
from langmemory.swarm import Board, RecordedDecision, Session, Task, TaskStatus
from langmemory.types import Namespace, Privacy
from langmemory.wire import Deferred

routes = Routes("Swarm")

Title = Annotated[str, Field(min_length=1, max_length=200)]
Details = Annotated[str, Field(max_length=100_000)]
Most = Annotated[int, Field(ge=1, le=1_000)]


class Team(Fields):
    """Which team."""

    namespace: QueryLabels | None = None
    """Whose agents. Without it, what the token is bound to."""


def _swarm(access: Access, namespace: Namespace | None) -> Swarm:
    return access.store.swarm(access.place(namespace, exact=True), agent=access.grant.agent)


@routes("GET", "/swarm/board", scope="read")
def get_board(access: Access, *, query: Team) -> Board:
    """Return what a team is doing: tasks, decisions that hold, sessions, and for whom messages wait."""
    return _swarm(access, query.namespace).board()


class TaskListing(Team):
    """Which tasks."""

    status: TaskStatus | None = None
    agent: Agent | None = None
    closed: bool = True
    """Also those that are done or cancelled."""
    limit: Most = 100


class Tasks(Deferred):
    """Tasks, the open ones first."""

    items: list[Task]


@routes("GET", "/swarm/tasks", scope="read")
def list_tasks(access: Access, *, query: TaskListing) -> Tasks:
    """List tasks: the open ones first, those that changed last first."""
    found = _swarm(access, query.namespace).tasks(
        status=query.status, agent=query.agent, closed=query.closed, limit=query.limit
    )
    return Tasks(items=list(found))


class NewTask(Fields):
    """What is to be done."""

    namespace: Labels | None = None
    title: Title
    details: Details = ""
    agent: Agent | None = None
    """Who works on it."""
    part_of: Title | None = None
    """The task that contains it, by key or title."""
    requires: Several = ()
    """What it requires: keys, titles, paths, or names as `artifact:NAME`."""
    privacy: Privacy = "shared"


@routes("POST", "/swarm/tasks", scope="write")
def add_task(access: Access, *, body: NewTask) -> Task:
    """Set a task, in a run that can be undone."""
    given = body.model_dump(exclude={"namespace", "title"})
    return _swarm(access, body.namespace).add_task(body.title, **given)


class TaskUpdate(Fields):
    """Where a task stands; what is not named stays."""

    namespace: Labels | None = None
    task: Title
    """By key or title."""
    status: TaskStatus | None = None
    blockers: Several | None = None
    """What it waits for; `[]` is nothing."""
    agent: Annotated[str, Field(max_length=200)] | None = None
    """Who works on it from now on; an empty name is nobody."""
    title: Title | None = None
    details: Details | None = None
    note: Details = ""


@routes("POST", "/swarm/tasks/update", scope="write")
def update_task(access: Access, *, body: TaskUpdate) -> Task:
    """Say where a task stands, in a run that can be undone."""
    given = body.model_dump(exclude={"namespace", "task"})
    return _swarm(access, body.namespace).update_task(body.task, **given)


class DecisionListing(Team):
    """Which decisions."""

    holding: bool = True
    """Only those that no later one has replaced."""
    limit: Most = 100


class Decisions(Deferred):
    """Decisions, the newest first."""

    items: list[RecordedDecision]


@routes("GET", "/swarm/decisions", scope="read")
def list_decisions(access: Access, *, query: DecisionListing) -> Decisions:
    """List decisions, the newest first."""
    team = _swarm(access, query.namespace)
    return Decisions(items=list(team.decisions(holding=query.holding, limit=query.limit)))


class NewDecision(Fields):
    """What was decided."""

    namespace: Labels | None = None
    what: Summary
    why: Summary
    alternatives: Several = ()
    """What was not chosen."""
    affects: Several = ()
    """What it changes, by key, title or path; a name that nothing known has is taken for an artifact."""
    regarding: Title | None = None
    """The task it is about, by key or title."""
    supersedes: Summary | None = None
    """The earlier decision that it replaces, by key or by what it says."""
    privacy: Privacy = "shared"


@routes("POST", "/swarm/decisions", scope="write")
def record_decision(access: Access, *, body: NewDecision) -> RecordedDecision:
    """Record what was decided, in a run that can be undone."""
    given = body.model_dump(exclude={"namespace", "what"})
    return _swarm(access, body.namespace).record_decision(body.what, **given)


class SessionListing(Team):
    """Which sessions."""

    agent: Agent | None = None
    limit: Most = 100


class Sessions(Deferred):
    """Sessions, the newest first."""

    items: list[Session]


@routes("GET", "/swarm/sessions", scope="read")
def list_sessions(access: Access, *, query: SessionListing) -> Sessions:
    """List what sessions came to, the newest first."""
    team = _swarm(access, query.namespace)
    return Sessions(items=list(team.sessions(agent=query.agent, limit=query.limit)))


class EndedSession(Fields):
    """What a session came to."""

    namespace: Labels | None = None
    session_id: Title
    started_at: datetime
    work_done: Several = ()
    decisions: Several = ()
    blockers: Several = ()
    next_steps: Several = ()
    tasks: Several = ()
    """What it worked on, by key or title."""
    artifacts: Several = ()
    """What it produced, by name."""
    privacy: Privacy = "shared"


@routes("POST", "/swarm/sessions", scope="write")
def end_session(access: Access, *, body: EndedSession) -> Session:
    """Record what a session came to. Under an id that is there already nothing is written."""
    given = body.model_dump(exclude={"namespace", "session_id"})
    return _swarm(access, body.namespace).end_session(body.session_id, **given)
