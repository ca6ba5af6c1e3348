"""Bus tools: agents over MCP share context, ask, take back, and hand work on.

They are there only for a client that is an agent: by its token, by ``agent`` in the address of the server, or
by ``langmemory mcp --agent``. Whoever works alone has no use for them in every prompt.
"""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from langmemory.context.escape import one_line, quoted_lines
from langmemory.context.notes import note_id
from langmemory.parts.team import tools as swarm
from langmemory.parts.team.bus import Bus
from langmemory.parts.team.mail import mail
from langmemory.parts.team.swarm import Swarm
from langmemory.server.access import AGENT_NEEDED, Access
from langmemory.server.mcp.answers import Answer
from langmemory.server.mcp.tools import Arguments, Reply, Turn, found, tool
from langmemory.server.problems import Problem
from langmemory.swarm import Task, TaskStatus
from langmemory.twins import aled
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


class ShareArguments(swarm.ContextShare, Arguments):
    pass


class RequestArguments(swarm.ContextRequest, Arguments):
    pass


class SubscribeArguments(swarm.ContextSubscribe, Arguments):
    pass


class InvalidateArguments(swarm.ContextInvalidate, Arguments):
    pass


class HandoffArguments(swarm.Handoff, Arguments):
    pass


class TaskArguments(swarm.UpdateTask, Arguments):
    pass


class DecisionArguments(swarm.RecordDecision, Arguments):
    pass


class InboxArguments(swarm.ContextInbox, Arguments):
    pass


def bus_of(access: Access) -> Bus:
    """Return the bus, as the agent of the request.

    Raises:
        Problem: The namespace has to be named, or the agent has to be.
    """
    if access.grant.agent is None:
        raise Problem(422, "agent-needed", AGENT_NEEDED)
    bus: Bus = access.store.bus(access.place(exact=True), agent=access.grant.agent)
    return bus


def _escaped(text: str) -> str:
    return (
        "\n".join(line.removeprefix("|").removeprefix(" ") for line in quoted_lines(text))
        if text
        else ""
    )


async def _keys(access: Access, ids: list[str]) -> list[str]:
    """Return the keys of memories that a model names by their ids."""
    return await run_in_threadpool(lambda: [found(access, one).key for one in ids])


def _sent(message: BusMessage) -> Reply:
    return swarm.sent(message), Sent(id=message.id, to=message.recipient)


@tool("Share context", Sent, scope="write", for_agents=True, destructiveHint=False)
async def context_share(turn: Turn, given: ShareArguments) -> Reply:
    """Tell another agent, or all, what you found, decided or noticed; or answer a message."""
    bus, options = (
        bus_of(turn.access),
        given.model_dump(exclude={"summary", "to", "type", "reply_to"}),
    )
    options["memories"] = await _keys(turn.access, given.memories)
    if given.reply_to is not None:
        return _sent(await bus.areply(given.reply_to, given.summary, **options))
    return _sent(await bus.ashare(given.summary, to=given.to, type=given.type, **options))


@tool("Ask another agent", Sent, scope="write", for_agents=True, destructiveHint=False)
async def context_request(turn: Turn, given: RequestArguments) -> Reply:
    """Ask another agent, or all, something you need to know. Answers come to context_inbox."""
    options = given.model_dump(exclude={"question", "to"})
    return _sent(await bus_of(turn.access).arequest(given.question, to=given.to, **options))


@tool("Subscribe to context", Subscribed, scope="write", for_agents=True, destructiveHint=False,
      idempotentHint=True)  # fmt: skip
async def context_subscribe(turn: Turn, given: SubscribeArguments) -> Reply:
    """Of what other agents tell all, get only some: by exactly one of topic, sender and query."""
    bus = bus_of(turn.access)
    await bus.asubscribe(**given.model_dump())
    count = len(await bus.asubscriptions())
    return swarm.SUBSCRIBED, Subscribed(subscriptions=count)


@tool("Take back what you shared", TakenBack, scope="write", for_agents=True, destructiveHint=False,
      idempotentHint=True)  # fmt: skip
async def context_invalidate(turn: Turn, given: InvalidateArguments) -> Reply:
    """Take back a message you sent that turned out wrong. Who saw it is told; memories that you name are put
    to review."""
    keys = await _keys(turn.access, given.memories)
    done = await bus_of(turn.access).ainvalidate(given.id, reason=given.reason, memories=keys)
    told = [one_line(one.agent) for one in done.receipts]
    return swarm.taken_back(done, len(keys)), TakenBack(id=done.id, told=told)


@tool("Hand work on", Sent, scope="write", for_agents=True, destructiveHint=False)
async def handoff(turn: Turn, given: HandoffArguments) -> Reply:
    """Hand your work on to another agent: what is done, and what is left."""
    options = given.model_dump(exclude={"to", "done", "task"})
    options["memories"] = await _keys(turn.access, given.memories)
    if given.task is not None:  # first, so that what is sent is true
        options["topic"] = (await _team(turn).aupdate_task(given.task, agent=given.to)).title
    return _sent(await bus_of(turn.access).ahandoff(given.to, given.done, **options))


@tool("Set or update a task", TaskStands, scope="write", for_agents=True, destructiveHint=False)
async def update_task(turn: Turn, given: TaskArguments) -> Reply:
    """Set a task, or say where one stands: its status, what it waits for, who works on it."""
    return _stands(await aled(swarm.set_task(_team(turn), **given.model_dump())))


@tool("Record a decision", Recorded, scope="write", for_agents=True, destructiveHint=False)
async def record_decision(turn: Turn, given: DecisionArguments) -> Reply:
    """Record what was decided, why, what was not chosen, and what it changes."""
    options = given.model_dump(exclude={"what", "task"})
    made = await _team(turn).arecord_decision(given.what, regarding=given.task, **options)
    return f"Recorded as {made.key}.", Recorded(id=made.key)


def _team(turn: Turn) -> Swarm:
    access = turn.access
    bus_of(access)  # refuses who is no agent
    swarm: Swarm = access.store.swarm(access.place(exact=True), agent=access.grant.agent)
    return swarm


def _stands(task: Task) -> Reply:
    return swarm.stands(task), TaskStands(
        id=task.key,
        title=one_line(task.title),
        status=task.status,
        agent=None if task.agent is None else one_line(task.agent),
        blockers=list(map(one_line, task.blockers)),
    )


@tool("Read your inbox", Inbox, scope="write", for_agents=True, destructiveHint=False,
      idempotentHint=True)  # fmt: skip
async def context_inbox(turn: Turn, given: InboxArguments) -> Reply:
    """Read what other agents sent you, and acknowledge what you are done with. What is not acknowledged comes
    again."""
    bus = bus_of(turn.access)
    done = await bus.aacknowledge(given.acknowledge) if given.acknowledge else ()
    said = swarm.acknowledged(given.acknowledge, done)
    if given.read is None:
        page = await bus.ainbox(limit=swarm.SHOWN, min_priority=given.min_priority)
        said.append(swarm.waiting(page))
    else:
        page = Page(items=(await bus.amessage(given.read),), next=None)
        said.append(mail(page.items, whole=True))
    seen, more = list(map(SeenMessage.of, page.items)), page.next is not None
    return "\n".join(said), Inbox(messages=seen, acknowledged=list(done), more=more)
