"""The tasks and decisions of a remote store: what `store.swarm` does, over the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from langmemory.namespaces import check_namespace
from langmemory.remote.connection import Connection
from langmemory.remote.rooms import AgentRoom
from langmemory.swarm import Board, RecordedDecision, Session, Task, TaskStatus
from langmemory.twins import Steps, awaiting, blocking
from langmemory.types import Namespace, Privacy


class RemoteSwarm(AgentRoom):
    """What a team of agents is doing, as one of them sees and changes it; see the swarm of `MemoryStore`."""

    __slots__ = ()

    def __init__(
        self, connection: Connection, viewer: str | None, namespace: Namespace, agent: str | None
    ) -> None:
        super().__init__(connection, viewer, check_namespace(namespace), agent)

    def _board(self) -> Steps[Board]:
        """Return what the team is doing."""
        return self._get("/swarm/board", Board)

    board, aboard = blocking(_board), awaiting(_board)

    def _tasks(
        self,
        *,
        status: TaskStatus | None = None,
        agent: str | None = None,
        closed: bool = True,
        limit: int = 1_000,
    ) -> Steps[tuple[Task, ...]]:
        """Return tasks: the open ones first, those that changed last first."""
        return self._items(
            "/swarm/tasks", Task, status=status, agent=agent, closed=closed, limit=limit
        )

    tasks, atasks = blocking(_tasks), awaiting(_tasks)

    def _add_task(
        self,
        title: str,
        *,
        details: str = "",
        agent: str | None = None,
        part_of: str | None = None,
        requires: Sequence[str] = (),
        privacy: Privacy = "shared",
    ) -> Steps[Task]:
        """Set a task."""
        return self._post(
            "/swarm/tasks", Task, title=title, details=details, agent=agent, part_of=part_of,
            requires=tuple(requires), privacy=privacy,
        )  # fmt: skip

    add_task, aadd_task = blocking(_add_task), awaiting(_add_task)

    def _update_task(
        self,
        task: str,
        *,
        status: TaskStatus | None = None,
        blockers: Sequence[str] | None = None,
        agent: str | None = None,
        title: str | None = None,
        details: str | None = None,
        note: str = "",
    ) -> Steps[Task]:
        """Say where a task stands; what is not named stays."""
        return self._post(
            "/swarm/tasks/update", Task, task=task, status=status, agent=agent, title=title, details=details,
            note=note, blockers=None if blockers is None else tuple(blockers),
        )  # fmt: skip

    update_task, aupdate_task = blocking(_update_task), awaiting(_update_task)

    def _decisions(
        self, *, holding: bool = True, limit: int = 1_000
    ) -> Steps[tuple[RecordedDecision, ...]]:
        """Return decisions, the newest first."""
        return self._items("/swarm/decisions", RecordedDecision, holding=holding, limit=limit)

    decisions, adecisions = blocking(_decisions), awaiting(_decisions)

    def _record_decision(
        self,
        what: str,
        *,
        why: str,
        alternatives: Sequence[str] = (),
        affects: Sequence[str] = (),
        regarding: str | None = None,
        supersedes: str | None = None,
        privacy: Privacy = "shared",
    ) -> Steps[RecordedDecision]:
        """Record what was decided."""
        return self._post(
            "/swarm/decisions", RecordedDecision, what=what, why=why, alternatives=tuple(alternatives),
            affects=tuple(affects), regarding=regarding, supersedes=supersedes, privacy=privacy,
        )  # fmt: skip

    record_decision, arecord_decision = blocking(_record_decision), awaiting(_record_decision)

    def _sessions(
        self, *, agent: str | None = None, limit: int = 1_000
    ) -> Steps[tuple[Session, ...]]:
        """Return sessions, the newest first; of one agent, or all."""
        return self._items("/swarm/sessions", Session, agent=agent, limit=limit)

    sessions, asessions = blocking(_sessions), awaiting(_sessions)

    def _end_session(
        self,
        session_id: str,
        *,
        started_at: datetime,
        work_done: Sequence[str] = (),
        decisions: Sequence[str] = (),
        blockers: Sequence[str] = (),
        next_steps: Sequence[str] = (),
        tasks: Sequence[str] = (),
        artifacts: Sequence[str] = (),
        privacy: Privacy = "shared",
    ) -> Steps[Session]:
        """Record what a session came to."""
        return self._post(
            "/swarm/sessions", Session, session_id=session_id, started_at=started_at,
            work_done=tuple(work_done), decisions=tuple(decisions), blockers=tuple(blockers),
            next_steps=tuple(next_steps), tasks=tuple(tasks), artifacts=tuple(artifacts), privacy=privacy,
        )  # fmt: skip

    end_session, aend_session = blocking(_end_session), awaiting(_end_session)
