"""Tasks, decisions and sessions of a team of agents as plain values, and as the values of memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args

from langmemory.timestamps import moment
from langmemory.types import Memory, Privacy

TaskStatus = Literal["open", "in_progress", "blocked", "done", "cancelled"]
"""Where a task stands."""
STATUSES: Final[tuple[TaskStatus, ...]] = get_args(TaskStatus)
CLOSED: Final = ("done", "cancelled")
"""Of these nothing is left to do."""
TASK, DECISION, SESSION = "task", "decision", "session"
"""Records, which also begin the keys of their memories."""
KEYS: Final = (f"{TASK}/", f"{DECISION}/", f"{SESSION}/")
"""Begin the keys of tasks, decisions and sessions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """Something to do."""

    key: str
    """Of its memory."""
    title: str
    status: TaskStatus
    details: str
    blockers: tuple[str, ...]
    """What it waits for."""
    agent: str | None
    """Who works on it."""
    made_by: str | None
    """The agent that set it."""
    note: str
    """What the last update said."""
    created_at: datetime
    updated_at: datetime
    privacy: Privacy


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedDecision:
    """Something that was decided, and why."""

    key: str
    what: str
    why: str
    alternatives: tuple[str, ...]
    """What was not chosen."""
    made_by: str | None
    created_at: datetime
    holds: bool
    """False where another took its place."""
    privacy: Privacy


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One stretch of an agent's work, as it ended."""

    key: str
    agent: str | None
    started_at: datetime
    ended_at: datetime
    work_done: tuple[str, ...]
    decisions: tuple[str, ...]
    blockers: tuple[str, ...]
    next_steps: tuple[str, ...]
    privacy: Privacy


AgentStatus = Literal["working", "blocked", "pending", "idle"]
"""What an agent is doing: it works on a task, its tasks wait for something, it has yet to act, or nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingAction:
    """Something that an agent has yet to do."""

    agent: str
    kind: Literal["request", "handoff", "escalation", "task"]
    """A question to answer, work to take up, a problem to decide on, or a task to begin."""
    id: str
    """Of the message, or the key of the task."""
    what: str
    sender: str | None
    """The agent that sent the message, or set the task."""
    since: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentState:
    """One agent on the board."""

    name: str
    status: AgentStatus
    tasks: tuple[str, ...]
    """Titles of the open tasks that it works on."""
    inbox: int
    """Messages that it has yet to acknowledge; 100 at most are counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Board:
    """What a team is doing."""

    tasks: tuple[Task, ...]
    """The open ones first, those that changed last first; 200 of each status at most."""
    counts: Mapping[TaskStatus, int]
    """All tasks by where they stand."""
    decisions: tuple[RecordedDecision, ...]
    """That hold, the newest first."""
    sessions: tuple[Session, ...]
    """The newest first."""
    agents: tuple[AgentState, ...]
    """By name: who works on something, decided, ended a session, or was sent a message."""
    pending: tuple[PendingAction, ...] = ()
    """The oldest first."""


def task_value(
    title: str,
    status: str,
    *,
    details: str = "",
    blockers: Sequence[str] = (),
    agent: str | None = None,
    made_by: str | None = None,
    note: str = "",
) -> dict[str, Any]:
    """Return the value of a task, with the text that it is found by."""
    said = [f"Task: {title} ({status.replace('_', ' ')})"]
    if agent:
        said.append(f"{agent} {'worked' if status in CLOSED else 'works'} on it")
    if blockers:
        said.append(f"it waits for {'; '.join(blockers)}")
    text = "\n".join(filter(None, ("; ".join(said), details, note)))
    return {
        "kind": "semantic", "record": TASK, "text": text, "title": title, "status": status,
        "details": details, "blockers": list(blockers), "agent": agent, "made_by": made_by, "note": note,
    }  # fmt: skip


def decision_value(
    what: str, why: str, alternatives: Sequence[str], made_by: str | None
) -> dict[str, Any]:
    """Return the value of a decision, with the text that it is found by."""
    said = [f"Decision: {what}", f"Why: {why}"]
    if alternatives:
        said.append(f"Instead of: {'; '.join(alternatives)}")
    return {
        "kind": "semantic", "record": DECISION, "text": "\n".join(said), "what": what, "why": why,
        "alternatives": list(alternatives), "made_by": made_by,
    }  # fmt: skip


def session_value(
    agent: str | None,
    started_at: datetime,
    ended_at: datetime,
    parts: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the value of a session, with the text that it is found by. ``parts``: by `SESSION_PARTS`."""
    said = [f"Session of {agent or 'an agent'}, {ended_at:%Y-%m-%d}"]
    said += [
        f"{SESSION_PARTS[name]}: {'; '.join(parts[name])}" for name in SESSION_PARTS if parts[name]
    ]
    return {
        "kind": "semantic", "record": SESSION, "text": "\n".join(said), "title": said[0],
        "agent": agent,
        "started_at": started_at.isoformat(), "ended_at": ended_at.isoformat(),
        **{name: list(parts[name]) for name in SESSION_PARTS},
    }  # fmt: skip


SESSION_PARTS: Final[Mapping[str, str]] = {
    "work_done": "Done", "decisions": "Decided", "blockers": "Blocked by", "next_steps": "Next",
}  # fmt: skip


def task_of(memory: Memory) -> Task:
    """Return the task that a memory is."""
    value = memory.value
    status = value.get("status")
    return Task(
        key=memory.key, title=str(value.get("title", "")),
        status=next((one for one in STATUSES if one == status), "open"),
        details=str(value.get("details") or ""), blockers=_texts(value, "blockers"),
        agent=_name(value, "agent"), made_by=_name(value, "made_by"),
        note=str(value.get("note") or ""), created_at=memory.created_at,
        updated_at=memory.updated_at, privacy=memory.privacy,
    )  # fmt: skip


def decision_of(memory: Memory) -> RecordedDecision:
    """Return the decision that a memory is."""
    value = memory.value
    return RecordedDecision(
        key=memory.key, what=str(value.get("what", "")), why=str(value.get("why") or ""),
        alternatives=_texts(value, "alternatives"), made_by=_name(value, "made_by"),
        created_at=memory.created_at, holds=memory.status == "active", privacy=memory.privacy,
    )  # fmt: skip


def session_of(memory: Memory) -> Session:
    """Return the session that a memory is."""
    value = memory.value
    return Session(
        key=memory.key, agent=_name(value, "agent"),
        started_at=moment(value.get("started_at")) or memory.created_at,
        ended_at=moment(value.get("ended_at")) or memory.created_at,
        work_done=_texts(value, "work_done"), decisions=_texts(value, "decisions"),
        blockers=_texts(value, "blockers"), next_steps=_texts(value, "next_steps"),
        privacy=memory.privacy,
    )  # fmt: skip


def _texts(value: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = value.get(name)
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _name(value: Mapping[str, Any], name: str) -> str | None:
    found = value.get(name)
    return found if isinstance(found, str) and found else None
