"""Bus tools: agents over MCP share context, ask, take back, and hand work on.

They are there only for a client that is an agent: by its token, by ``agent`` in the address of the server, or
by ``langmemory mcp --agent``. Whoever works alone has no use for them in every prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from langmemory.citing import note_id
from langmemory.context.marking import one_line, quoted_lines
from langmemory.parts.team.tools import TEAM_TOOLS, Desk, TeamTool
from langmemory.server.access import Access
from langmemory.server.mcp.answers import Answer
from langmemory.server.mcp.tools import TOOLS, Arguments, Reply, Tool, Turn, found
from langmemory.steps import Steps, arun_steps, thread_call
from langmemory.swarm import Task, TaskStatus
from langmemory.types import BusMessage, MessagePriority, MessageType, Page


class SeenMessage(Answer):
    """One message of another agent."""

    id: str
    sender: str
    recipient: str | None
    """Null: all agents."""
    type: MessageType
    priority: MessagePriority
    summary: str
    details: str
    artifacts: list[str]
    memories: list[str]
    """Ids of memories that belong to it."""
    next_steps: list[str]
    reply_to: str | None
    sent_at: str

    @classmethod
    def of(cls, message: BusMessage) -> SeenMessage:
        """Return a message as a program may have it, its text escaped."""
        return cls(
            id=message.id,
            sender=one_line(message.sender),
            recipient=None if message.recipient is None else one_line(message.recipient),
            type=message.type,
            priority=message.priority,
            summary=_escaped(message.summary),
            details=_escaped(message.details),
            artifacts=list(map(one_line, message.artifacts)),
            memories=[f"R:{note_id(message.namespace, key)}" for key in message.memories],
            next_steps=list(map(one_line, message.next_steps)),
            reply_to=message.reply_to,
            sent_at=message.created_at.isoformat(),
        )


class Sent(Answer):
    """What was sent."""

    id: str
    """By which it is answered or taken back."""
    to: str | None
    """Null: all agents."""


class TaskStands(Answer):
    """Where a task stands."""

    id: str
    title: str
    status: TaskStatus
    agent: str | None
    """Who works on it."""
    blockers: list[str]


class Recorded(Answer):
    """A decision that was recorded."""

    id: str


class TakenBack(Answer):
    """What does not hold any more."""

    id: str
    told: list[str]
    """Agents who had seen it."""


class Subscribed(Answer):
    """What of the messages to all comes now."""

    subscriptions: int


class Inbox(Answer):
    """What waits, in the order of sending."""

    messages: list[SeenMessage]
    acknowledged: list[str]
    more: bool
    """Whether more wait behind these."""


def _escaped(text: str) -> str:
    if not text:
        return ""
    return "\n".join(line.removeprefix("|").removeprefix(" ") for line in quoted_lines(text))


def _desk(access: Access) -> Desk:
    """Return the desk of the agent of a request.

    Raises:
        Problem: The namespace has to be named, or the agent has to be.
    """

    def keys_of(ids: Sequence[str]) -> Steps[tuple[str, ...]]:
        keys: tuple[str, ...] = yield thread_call(
            lambda: tuple(found(access, one).key for one in ids)
        )
        return keys

    access.grant.check_agent()
    agent, place = access.grant.agent, access.place(exact=True)
    return Desk(
        agent=agent or "", bus=access.store.bus(place, agent=agent), keys_of=keys_of,
        swarm=access.store.swarm(place, agent=agent),
    )  # fmt: skip


def _sent(message: BusMessage) -> Sent:
    return Sent(id=message.id, to=message.recipient)


def _inbox(came: tuple[Page[BusMessage], Sequence[str]]) -> Inbox:
    page, acknowledged = came
    return Inbox(
        messages=list(map(SeenMessage.of, page.items)), acknowledged=list(acknowledged),
        more=page.next is not None,
    )  # fmt: skip


def _stands(task: Task) -> TaskStands:
    return TaskStands(
        id=task.key,
        title=one_line(task.title),
        status=task.status,
        agent=None if task.agent is None else one_line(task.agent),
        blockers=list(map(one_line, task.blockers)),
    )


def _taken_back(message: BusMessage) -> TakenBack:
    return TakenBack(id=message.id, told=[one_line(one.agent) for one in message.receipts])


ANSWERS: Final[Mapping[str, tuple[type[Answer], Callable[[Any], Answer], bool]]] = {
    "context_share": (Sent, _sent, False),
    "context_request": (Sent, _sent, False),
    "context_subscribe": (Subscribed, lambda came: Subscribed(subscriptions=len(came)), True),
    "context_invalidate": (TakenBack, _taken_back, True),
    "handoff": (Sent, _sent, False),
    "update_task": (TaskStands, _stands, False),
    "record_decision": (Recorded, lambda decision: Recorded(id=decision.key), False),
    "context_inbox": (Inbox, _inbox, True),
}
"""By tool: the type of its answer for programs, what makes it, and whether calling it twice is as calling it
once."""


def _declare(name: str, tool: type[TeamTool]) -> None:
    kind, answer_of, idempotent = ANSWERS[name]

    async def work(turn: Turn, given: TeamTool) -> Reply:
        text, came = await arun_steps(given.steps(_desk(turn.access)))
        return text, answer_of(came)

    work.__name__, work.__doc__ = name, tool.__doc__
    TOOLS[name] = Tool(
        work=work, arguments=type(tool.__name__, (tool, Arguments), {}), answer=kind, title=tool.heading,
        scope="write", for_agents=True, for_projects=False,
        hints={"readOnlyHint": False, "destructiveHint": False}
        | ({"idempotentHint": True} if idempotent else {}),
    )  # fmt: skip


for _name, _tool in TEAM_TOOLS.items():
    _declare(_name, _tool)
