"""Tools of a team: agents tell each other what they know, ask, take back, hand work on, and keep tasks and
decisions.

Each tool is a class: its fields are the arguments, its docstring is the description, and `steps` does the
work, for LangChain here and over MCP in `mcp_tools`. The model chooses to whom it speaks and what it says.
Who it is, the namespace and the viewer come from the application and the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore
from pydantic import BaseModel, BeforeValidator, Field

from langmemory.errors import ConfigError, InvalidValueError
from langmemory.nodes.lookup import find
from langmemory.nodes.namespaces import NamespaceTemplate, RunScope, fill, viewer_of
from langmemory.nodes.node import run_of
from langmemory.parts.team.inbox_nodes import room_of
from langmemory.parts.team.mail import mail
from langmemory.pluralize import count_noun
from langmemory.steps import Steps, call, thread_call
from langmemory.swarm import CLOSED, RecordedDecision, Task, TaskStatus
from langmemory.tools.answering import memory_tool, refuse
from langmemory.types import BusMessage, MessagePriority, Page, Privacy, SharedType

SHOWN: Final = 20
"""Messages that an inbox shows at a time."""


def _left_out(given: Any) -> Any:
    """Return None for an empty text: some models fill in every argument there is."""
    return None if isinstance(given, str) and not given.strip() else given


OrNone = BeforeValidator(_left_out)
Short = Annotated[str, Field(min_length=1, max_length=2_000)]
Name = Annotated[str | None, Field(max_length=200), OrNone]
To = Annotated[str | None, Field(description="Name of an agent. Leave out to tell all."), OrNone]
Several = Annotated[list[Short], Field(max_length=100)]
Memories = Annotated[list[str], Field(max_length=100)]
MessageId = Annotated[str, Field(min_length=1, max_length=200)]
_BELONG: Final = "Ids of memories that belong to it, as R:1a2b3c4d."


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What the tools of one agent work with."""

    agent: str
    bus: Any
    """Of a file or of a server, as the agent has it."""
    swarm: Any
    keys_of: Callable[[Sequence[str]], Steps[tuple[str, ...]]]
    """Returns the keys of memories that a model names by their ids."""
    privacy: Privacy = "shared"
    """Of what the agent sends."""
    agents: Mapping[str, str] | None = None
    """The other agents; None allows every name."""

    def check(self, to: str | None) -> None:
        """Refuse an agent that there is not."""
        if to not in (None, self.agent) and self.agents is not None and to not in self.agents:
            raise refuse(f"There is no agent {to!r}; there are {', '.join(self.agents)}.")


class TeamTool(BaseModel):
    """The base of the tools."""

    name: ClassVar[str]
    heading: ClassVar[str]
    names_agents: ClassVar[bool] = False
    """Whether the model names other agents, and is told of them."""

    def steps(self, desk: Desk) -> Steps[tuple[str, Any]]:
        """Do it, and return what the model is told, and what came of it."""
        raise NotImplementedError

    def _options(self, desk: Desk, *left_out: str) -> dict[str, Any]:
        """Return the fields that are options of a message."""
        return {**self.model_dump(exclude=set(left_out)), "privacy": desk.privacy}


class ContextShare(TeamTool):
    """Tell another agent, or all, what you found, decided or noticed; or answer a message."""

    name = "context_share"
    heading = "Share context"
    names_agents = True
    summary: Short = Field(description="What there is to know, understandable by itself.")
    to: To = None
    type: SharedType = "finding"
    topic: Name = None
    priority: MessagePriority = "normal"
    details: str = ""
    artifacts: Several = Field([], description="Paths, addresses, names.")
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    memories: Memories = Field([], description=_BELONG)
    reply_to: Annotated[MessageId | None, OrNone] = Field(
        None, description="Id of a message that this answers."
    )

    def steps(self, desk: Desk) -> Steps[tuple[str, Any]]:
        options = self._options(desk, "summary", "to", "type", "reply_to")
        options["memories"] = yield from desk.keys_of(self.memories)
        if self.reply_to is not None:
            message = yield call(desk.bus, "reply", self.reply_to, self.summary, **options)
        else:
            desk.check(self.to)
            message = yield call(
                desk.bus, "share", self.summary, to=self.to, type=self.type, **options
            )
        return _sent(message), message


class ContextRequest(TeamTool):
    """Ask another agent, or all, something you need to know. Answers come to context_inbox."""

    name = "context_request"
    heading = "Ask another agent"
    names_agents = True
    question: Short = Field(description="Understandable by itself.")
    to: To = None
    topic: Name = None
    priority: MessagePriority = "normal"
    details: str = ""

    def steps(self, desk: Desk) -> Steps[tuple[str, Any]]:
        desk.check(self.to)
        options = self._options(desk, "question")
        message = yield call(desk.bus, "request", self.question, **options)
        return f"{_sent(message)} Answers come to context_inbox.", message


class ContextSubscribe(TeamTool):
    """Of what other agents tell all, get only some: by exactly one of topic, sender and query."""

    name = "context_subscribe"
    heading = "Subscribe to context"
    topic: Name = None
    sender: Annotated[str | None, OrNone] = Field(None, description="Name of an agent.")
    query: Annotated[Short | None, OrNone] = Field(
        None, description="What it is to be about, in words."
    )

    def steps(self, desk: Desk) -> Steps[tuple[str, Any]]:
        yield call(desk.bus, "subscribe", **self.model_dump())
        subscriptions = yield call(desk.bus, "subscriptions")
        text = "Subscribed. Of what goes to all you now get only what you subscribed to."
        return text, subscriptions


class ContextInvalidate(TeamTool):
    """Take back a message you sent that turned out wrong. Who saw it is told; memories that you name are put
    to review."""

    name = "context_invalidate"
    heading = "Take back what you shared"
    id: MessageId = Field(description="Of a message you sent.")
    reason: Short = Field(description="Why it does not hold.")
    memories: Memories = Field([], description="Ids of memories that may rest on it.")

    def steps(self, desk: Desk) -> Steps[tuple[str, Any]]:
        keys = yield from desk.keys_of(self.memories)
        message: BusMessage = yield call(
            desk.bus, "invalidate", self.id, reason=self.reason, memories=keys
        )
        seen_by = count_noun(len(message.receipts), "agent")
        reviews = f" {count_noun(len(keys), 'memory')} put to review." if keys else ""
        text = f"Took back message {message.id}; {seen_by} who saw it are told.{reviews}"
        return text, message


class Handoff(TeamTool):
    """Hand your work on to another agent: what is done, and what is left."""

    name = "handoff"
    heading = "Hand work on"
    names_agents = True
    to: Annotated[str, Field(min_length=1)] = Field(description="Name of an agent.")
    done: Short = Field(description="What was done so far.")
    next_steps: Several = Field([], description="What is left to do, in order.")
    task: Name = Field(None, description="Id or title of the task that they work on from now on.")
    memories: Memories = Field([], description=_BELONG)
    details: str = ""
    artifacts: Several = Field([], description="Paths, addresses, names.")
    priority: MessagePriority = "normal"

    def steps(self, desk: Desk) -> Steps[tuple[str, Any]]:
        desk.check(self.to)
        options = self._options(desk, "to", "done", "task")
        options["memories"] = yield from desk.keys_of(self.memories)
        if self.task is not None:  # first, so that what is sent is true
            task = yield call(desk.swarm, "update_task", self.task, agent=self.to)
            options["topic"] = task.title
        message = yield call(desk.bus, "handoff", self.to, self.done, **options)
        return f"{_sent(message)} {self.to} takes it up when it starts next.", message


class UpdateTask(TeamTool):
    """Say where a task stands: status, what it waits for, who works on it. Or set a new one."""

    name = "update_task"
    heading = "Set or update a task"
    names_agents = True
    task: Name = Field(
        None, description="Id or title. Leave out to set a new task; then give it a title."
    )
    title: Name = None
    status: Annotated[TaskStatus | None, OrNone] = None
    blockers: Several | None = Field(None, description="What it waits for; [] is nothing.")
    assign_to: Annotated[str | None, OrNone] = Field(
        None, description="Name of who works on it from now on."
    )
    details: Annotated[str | None, OrNone] = None
    note: str = Field("", description="What happened.")

    def steps(self, desk: Desk) -> Steps[tuple[str, Any]]:
        desk.check(self.assign_to)
        key, title = self.task, self.title
        task: Task
        if key is None:
            if not title:
                raise InvalidValueError(
                    "Give a new task a title, or name the task by its id or title."
                )
            task = yield call(
                desk.swarm, "add_task", title, details=self.details or "", agent=self.assign_to,
                privacy=desk.privacy,
            )  # fmt: skip
            if self.status is None and not self.blockers and not self.note:
                return _standing(task), task
            key, title = task.key, None
        task = yield call(
            desk.swarm, "update_task", key, title=title, status=self.status, blockers=self.blockers,
            agent=self.assign_to, details=self.details, note=self.note,
        )  # fmt: skip
        return _standing(task), task


class RecordDecision(TeamTool):
    """Record a decision that others have to know of later: what, why, what was not chosen, and what it
    changes."""

    name = "record_decision"
    heading = "Record a decision"
    what: Short = Field(description="What was decided, understandable by itself.")
    why: Short = Field(description="The reason.")
    alternatives: Several = Field([], description="What was not chosen.")
    affects: Several = Field([], description="What it changes: paths, titles of tasks, names.")
    task: Name = Field(None, description="Id or title of the task it is about.")
    supersedes: Annotated[Short | None, OrNone] = Field(
        None, description="Id of the decision, or what it said, that this one replaces."
    )

    def steps(self, desk: Desk) -> Steps[tuple[str, Any]]:
        options = self._options(desk, "what", "task")
        decision: RecordedDecision = yield call(
            desk.swarm, "record_decision", self.what, regarding=self.task, **options
        )
        return f"Recorded as {decision.key}.", decision


class ContextInbox(TeamTool):
    """Read what other agents sent you, and acknowledge what you are done with. What is not acknowledged comes
    again."""

    name = "context_inbox"
    heading = "Read your inbox"
    acknowledge: list[MessageId] = Field([], description="Ids of messages that you are done with.")
    read: Annotated[MessageId | None, OrNone] = Field(
        None, description="Id of one message to read in full."
    )
    min_priority: MessagePriority = "low"

    def steps(self, desk: Desk) -> Steps[tuple[str, Any]]:
        acknowledged: Sequence[str] = ()
        lines: list[str] = []
        if self.acknowledge:
            acknowledged = yield call(desk.bus, "acknowledge", list(self.acknowledge))
            lines.append(f"Acknowledged: {', '.join(acknowledged) or 'none'}.")
            missing = [one for one in self.acknowledge if one not in acknowledged]
            if missing:
                lines.append(f"Not for you, or expired: {', '.join(missing)}.")
        page: Page[BusMessage]
        if self.read is not None:
            message = yield call(desk.bus, "message", self.read)
            page = Page(items=(message,), next=None)
            lines.append(mail([message], whole=True))
        else:
            page = yield call(desk.bus, "inbox", limit=SHOWN, min_priority=self.min_priority)
            lines.append(_waiting(page))
        return "\n".join(lines), (page, acknowledged)


TEAM_TOOLS: Final[Mapping[str, type[TeamTool]]] = {
    one.name: one
    for one in (
        ContextShare, ContextRequest, ContextSubscribe, ContextInvalidate, Handoff, UpdateTask,
        RecordDecision, ContextInbox,
    )
}  # fmt: skip
SWARM_TOOLS: Final = tuple(TEAM_TOOLS)
"""The names of the swarm tools."""


def create_swarm_tools(
    namespace: tuple[str, ...] | str,
    *,
    agent: str,
    agents: Mapping[str, str] | None = None,
    tools: Sequence[str] = SWARM_TOOLS,
    viewer: str | None = "{user_id|}",
    privacy: Privacy = "shared",
    store: BaseStore | None = None,
) -> list[BaseTool]:
    """Return tools with which an agent shares context with others of its namespace.

    Args:
        namespace: template of the namespace whose agents share a bus, see
            `langmemory.nodes.NamespaceTemplate`.
        agent: name of the agent that gets the tools, or a template of it; the model cannot choose it.
        agents: the other agents by name, and what each is for. Then the model is told of them, and a message
            to any other name is refused; None allows every name.
        tools: names of the tools, of `SWARM_TOOLS`.
        viewer: template of the person on whose behalf the agent acts; None is the application.
        privacy: of what it sends; ``private`` is for the agents of this person.
        store: a `MemoryStore` or `RemoteMemoryStore`, used instead of the graph's.

    Raises:
        ConfigError: A name is none of `SWARM_TOOLS`.
    """
    template = NamespaceTemplate(namespace)
    unknown = [one for one in tools if one not in SWARM_TOOLS]
    if unknown or isinstance(tools, str):
        raise ConfigError(f"tools is {tools!r:.80}; pass names of these: {', '.join(SWARM_TOOLS)}.")

    def desk_of(config: RunnableConfig, name: str) -> Desk:
        source, scope = run_of(config, store, name, viewer)
        place, who = template.resolve(scope), fill(agent, scope)
        return Desk(
            agent=who, bus=room_of(source, "bus", place, who), swarm=room_of(source, "swarm", place, who),
            keys_of=lambda ids: _keys(source, place, viewer, scope, ids), privacy=privacy, agents=agents,
        )  # fmt: skip

    return [_tool(TEAM_TOOLS[name], desk_of, agents) for name in dict.fromkeys(tools)]


def _tool(
    tool: type[TeamTool],
    desk_of: Callable[[RunnableConfig, str], Desk],
    agents: Mapping[str, str] | None,
) -> BaseTool:
    description = " ".join((tool.__doc__ or "").split())
    if tool.names_agents and agents:
        others = "; ".join(f"{one}: {purpose}" for one, purpose in agents.items())
        description += f"\nThe other agents are {others}."

    def work(config: RunnableConfig, **given: Any) -> Steps[str]:
        text, _ = yield from tool.model_validate(given).steps(desk_of(config, tool.name))
        return text

    return memory_tool(name=tool.name, description=description, arguments=tool, work=work)


def _keys(
    source: BaseStore,
    place: tuple[str, ...],
    viewer: str | None,
    scope: RunScope,
    ids: Sequence[str],
) -> Steps[tuple[str, ...]]:
    """Return the keys of memories of the namespace that a model names by their ids."""
    if not ids:
        return ()
    who = viewer_of(viewer, scope)

    def look_up() -> tuple[str, ...]:
        memories = [find(source, place, one, who, None) for one in ids]
        outside = [one.key for one in memories if tuple(one.namespace) != place]
        if outside:
            raise refuse(f"The memory {outside[0]!r} is not in this namespace; leave it out.")
        return tuple(one.key for one in memories)

    keys: tuple[str, ...] = yield thread_call(look_up)
    return keys


def _standing(task: Task) -> str:
    """Return where a task stands, as a model is told it."""
    parts = [f"Task {task.key}, {task.title}: {task.status.replace('_', ' ')}"]
    if task.agent:
        is_over = task.status in CLOSED
        parts.append(f"by {task.agent}" if is_over else f"{task.agent} works on it")
    if task.blockers:
        parts.append(f"waits for {'; '.join(task.blockers)}")
    return f"{', '.join(parts)}."


def _sent(message: BusMessage) -> str:
    return f"Sent to {message.recipient or 'all agents'} as message {message.id}."


def _waiting(page: Page[BusMessage]) -> str:
    """Return what waits in an inbox."""
    if not page.items:
        return "No message waits."
    more = "" if page.next is None else " More wait behind them."
    return f"{count_noun(len(page.items), 'message')}, oldest first.{more}\n{mail(page.items)}"
