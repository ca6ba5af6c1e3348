"""Swarm tools: agents tell each other what they know, ask, take back, hand work on, and keep tasks and
decisions.

The model chooses recipient and text. Its name, the namespace and the viewer come from the application
and the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore
from pydantic import BaseModel, BeforeValidator, Field

from langmemory.errors import ConfigError, InvalidValueError
from langmemory.nodes.namespaces import NamespaceTemplate, RunScope, fill, viewer_of
from langmemory.nodes.node import run_of
from langmemory.parts.team.inbox_nodes import bus_of
from langmemory.parts.team.mail import mail
from langmemory.parts.team.session_nodes import swarm_of
from langmemory.pluralize import counted
from langmemory.swarm import CLOSED, RecordedDecision, Task, TaskStatus
from langmemory.tools.answering import memory_tool, refuse
from langmemory.tools.memories import find
from langmemory.twins import Steps, call, threaded
from langmemory.types import BusMessage, MessagePriority, Page, Privacy, SharedType

SWARM_TOOLS: Final = (
    "context_share", "context_request", "context_subscribe", "context_invalidate", "handoff",
    "update_task", "record_decision", "context_inbox",
)  # fmt: skip
"""The names of the swarm tools."""
SHOWN: Final = 20
"""Messages that an inbox shows at a time."""
SUBSCRIBED: Final = "Subscribed. Of what goes to all you now get only what you subscribed to."


def _left_out(given: Any) -> Any:
    """Return None for an empty text: some models fill in every argument there is."""
    return None if isinstance(given, str) and not given.strip() else given


OrNone = BeforeValidator(_left_out)
Short = Annotated[str, Field(min_length=1, max_length=2_000)]
Name = Annotated[str | None, Field(max_length=200), OrNone]
To = Annotated[str | None, Field(description="Name of an agent. Leave out to tell all."), OrNone]
Several = Annotated[list[Short], Field(max_length=100)]
Memories = Annotated[list[str], Field(max_length=100)]
_BELONG: Final = "Ids of memories that belong to it, as R:1a2b3c4d."
MessageId = Annotated[str, Field(min_length=1, max_length=200)]


class ContextShare(BaseModel):
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


class ContextRequest(BaseModel):
    question: Short = Field(description="Understandable by itself.")
    to: To = None
    topic: Name = None
    priority: MessagePriority = "normal"
    details: str = ""


class ContextSubscribe(BaseModel):
    topic: Name = None
    sender: Annotated[str | None, OrNone] = Field(None, description="Name of an agent.")
    query: Annotated[Short | None, OrNone] = Field(
        None, description="What it is to be about, in words."
    )


class ContextInvalidate(BaseModel):
    id: MessageId = Field(description="Of a message you sent.")
    reason: Short = Field(description="Why it does not hold.")
    memories: Memories = Field([], description="Ids of memories that may rest on it.")


class Handoff(BaseModel):
    to: Annotated[str, Field(min_length=1)] = Field(description="Name of an agent.")
    done: Short = Field(description="What was done so far.")
    next_steps: Several = Field([], description="What is left to do, in order.")
    task: Name = Field(None, description="Id or title of the task that they work on from now on.")
    memories: Memories = Field([], description=_BELONG)
    details: str = ""
    artifacts: Several = Field([], description="Paths, addresses, names.")
    priority: MessagePriority = "normal"


class UpdateTask(BaseModel):
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


class RecordDecision(BaseModel):
    what: Short = Field(description="What was decided, understandable by itself.")
    why: Short = Field(description="The reason.")
    alternatives: Several = Field([], description="What was not chosen.")
    affects: Several = Field([], description="What it changes: paths, titles of tasks, names.")
    task: Name = Field(None, description="Id or title of the task it is about.")
    supersedes: Annotated[Short | None, OrNone] = Field(
        None, description="Id of the decision, or what it said, that this one replaces."
    )


class ContextInbox(BaseModel):
    acknowledge: list[MessageId] = Field([], description="Ids of messages that you are done with.")
    read: Annotated[MessageId | None, OrNone] = Field(
        None, description="Id of one message to read in full."
    )
    min_priority: MessagePriority = "low"


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
        agents: the other agents by name, with their purposes. The model sees them, and a message to any
            other name is refused; None allows every name.
        tools: names of the tools, of `SWARM_TOOLS`.
        viewer: template of the person on whose behalf the agent acts; None is the application.
        privacy: of what it sends; ``private`` is for the agents of this person.
        store: a `MemoryStore` or `RemoteMemoryStore`, used instead of the graph's.
    """
    swarm = _Swarm(NamespaceTemplate(namespace), agent, agents, viewer, privacy, store)
    unknown = [one for one in tools if one not in SWARM_TOOLS]
    if unknown or isinstance(tools, str):
        raise ConfigError(f"tools is {tools!r:.80}; pass names of these: {', '.join(SWARM_TOOLS)}.")
    return [swarm.tool(name) for name in dict.fromkeys(tools)]


class _Swarm:
    """What the tools of one agent share."""

    def __init__(
        self,
        namespace: NamespaceTemplate,
        agent: str,
        agents: Mapping[str, str] | None,
        viewer: str | None,
        privacy: Privacy,
        store: BaseStore | None,
    ) -> None:
        self._namespace, self._agent, self._agents = namespace, agent, agents
        self._viewer, self._privacy, self._store = viewer, privacy, store

    def tool(self, name: str) -> BaseTool:
        """Return one of the tools."""
        arguments, description = _TOOLS[name]
        if name in ("context_share", "context_request", "handoff", "update_task") and self._agents:
            others = "; ".join(f"{one}: {what}" for one, what in self._agents.items())
            description += f"\nThe other agents are {others}."
        bound: Callable[..., Any] = getattr(self, name)
        return memory_tool(name=name, description=description, arguments=arguments, work=bound)

    def _run(self, config: RunnableConfig, name: str) -> tuple[Any, BaseStore, RunScope]:
        source, scope = run_of(config, self._store, name, self._viewer)
        bus = bus_of(source, self._namespace.resolve(scope), fill(self._agent, scope))
        return bus, source, scope

    def _check(self, to: str | None) -> None:
        if to is not None and self._agents is not None and to not in self._agents:
            raise refuse(f"There is no agent {to!r}; there are {', '.join(self._agents)}.")

    def _keys(
        self, source: BaseStore, scope: RunScope, ids: Sequence[str]
    ) -> Steps[tuple[str, ...]]:
        """Return the keys of memories that a model names by their ids."""
        if not ids:
            return ()
        where, who = self._namespace.resolve(scope), viewer_of(self._viewer, scope)

        def looked_up() -> tuple[str, ...]:
            found = [find(source, where, one, who, None) for one in ids]
            outside = [one.key for one in found if tuple(one.namespace) != where]
            if outside:
                raise refuse(f"The memory {outside[0]!r} is not in this namespace; leave it out.")
            return tuple(one.key for one in found)

        keys: tuple[str, ...] = yield threaded(looked_up)
        return keys

    def context_share(
        self,
        config: RunnableConfig,
        summary: str,
        to: str | None = None,
        type: SharedType = "finding",
        topic: str | None = None,
        priority: MessagePriority = "normal",
        details: str = "",
        artifacts: Sequence[str] = (),
        confidence: float | None = None,
        memories: Sequence[str] = (),
        reply_to: str | None = None,
    ) -> Steps[str]:
        """Share, or answer."""
        bus, source, scope = self._run(config, "context_share")
        options: dict[str, Any] = {
            "topic": topic, "priority": priority, "details": details, "artifacts": artifacts,
            "confidence": confidence, "privacy": self._privacy,
            "memories": (yield from self._keys(source, scope, memories)),
        }  # fmt: skip
        if reply_to is not None:
            return sent((yield call(bus, "reply", reply_to, summary, **options)))
        self._check(to)
        return sent((yield call(bus, "share", summary, to=to, type=type, **options)))

    def context_request(
        self,
        config: RunnableConfig,
        question: str,
        to: str | None = None,
        topic: str | None = None,
        priority: MessagePriority = "normal",
        details: str = "",
    ) -> Steps[str]:
        """Ask."""
        self._check(to)
        bus, _, _ = self._run(config, "context_request")
        asked = yield call(
            bus, "request", question, to=to, topic=topic, priority=priority, details=details,
            privacy=self._privacy,
        )  # fmt: skip
        return f"{sent(asked)} Answers come to context_inbox."

    def context_subscribe(
        self,
        config: RunnableConfig,
        topic: str | None = None,
        sender: str | None = None,
        query: str | None = None,
    ) -> Steps[str]:
        """Subscribe."""
        bus, _, _ = self._run(config, "context_subscribe")
        yield call(bus, "subscribe", topic=topic, sender=sender, query=query)
        return SUBSCRIBED

    def context_invalidate(
        self, config: RunnableConfig, id: str, reason: str, memories: Sequence[str] = ()
    ) -> Steps[str]:
        """Take back."""
        bus, source, scope = self._run(config, "context_invalidate")
        keys = yield from self._keys(source, scope, memories)
        done: BusMessage = yield call(bus, "invalidate", id, reason=reason, memories=keys)
        return taken_back(done, len(keys))

    def handoff(
        self,
        config: RunnableConfig,
        to: str,
        done: str,
        next_steps: Sequence[str] = (),
        task: str | None = None,
        memories: Sequence[str] = (),
        details: str = "",
        artifacts: Sequence[str] = (),
        priority: MessagePriority = "normal",
    ) -> Steps[str]:
        """Hand on: the task first, so that what is sent is true."""
        self._check(to)
        bus, source, scope = self._run(config, "handoff")
        keys = yield from self._keys(source, scope, memories)
        if task is not None:
            given = yield call(self._team(source, scope), "update_task", task, agent=to)
            topic = {"topic": given.title}
        else:
            topic = {}
        handed = yield call(
            bus, "handoff", to, done, next_steps=next_steps, memories=keys, details=details,
            artifacts=artifacts, priority=priority, privacy=self._privacy, **topic,
        )  # fmt: skip
        return f"{sent(handed)} {to} takes it up when it starts next."

    def update_task(
        self,
        config: RunnableConfig,
        task: str | None = None,
        title: str | None = None,
        status: TaskStatus | None = None,
        blockers: Sequence[str] | None = None,
        assign_to: str | None = None,
        details: str | None = None,
        note: str = "",
    ) -> Steps[str]:
        """Set a task, or say where it stands."""
        _, source, scope = self._run(config, "update_task")
        self._check(assign_to if assign_to != fill(self._agent, scope) else None)
        done = yield from set_task(
            self._team(source, scope), task, title=title, status=status, blockers=blockers,
            assign_to=assign_to, details=details, note=note, privacy=self._privacy,
        )  # fmt: skip
        return stands(done)

    def record_decision(
        self,
        config: RunnableConfig,
        what: str,
        why: str,
        alternatives: Sequence[str] = (),
        affects: Sequence[str] = (),
        task: str | None = None,
        supersedes: str | None = None,
    ) -> Steps[str]:
        """Record."""
        _, source, scope = self._run(config, "record_decision")
        found: RecordedDecision = yield call(
            self._team(source, scope), "record_decision", what, why=why, alternatives=alternatives,
            affects=affects, regarding=task, supersedes=supersedes, privacy=self._privacy,
        )  # fmt: skip
        return f"Recorded as {found.key}."

    def _team(self, source: BaseStore, scope: RunScope) -> Any:
        return swarm_of(source, self._namespace.resolve(scope), fill(self._agent, scope))

    def context_inbox(
        self,
        config: RunnableConfig,
        acknowledge: Sequence[str] = (),
        read: str | None = None,
        min_priority: MessagePriority = "low",
    ) -> Steps[str]:
        """Receive."""
        bus, _, _ = self._run(config, "context_inbox")
        parts: list[str] = []
        if acknowledge:
            parts = acknowledged(acknowledge, (yield call(bus, "acknowledge", list(acknowledge))))
        if read is not None:
            message = yield call(bus, "message", read)
            return "\n".join([*parts, mail([message], whole=True)])
        page = yield call(bus, "inbox", limit=SHOWN, min_priority=min_priority)
        return "\n".join([*parts, waiting(page)])


def set_task(
    team: Any,
    task: str | None,
    *,
    title: str | None,
    status: TaskStatus | None,
    blockers: Sequence[str] | None,
    assign_to: str | None,
    details: str | None,
    note: str,
    privacy: Privacy = "shared",
) -> Steps[Task]:
    """Set a task where ``task`` names none, or say where that one stands.

    Raises:
        InvalidValueError: A new task has no title.
    """
    if task is None:
        if not title:
            raise InvalidValueError("Give a new task a title, or name the task by its id or title.")
        made: Task = yield call(
            team, "add_task", title, details=details or "", agent=assign_to, privacy=privacy
        )
        if status is None and not blockers and not note:
            return made
        task, title = made.key, None
    done: Task = yield call(
        team, "update_task", task, title=title, status=status, blockers=blockers, agent=assign_to,
        details=details, note=note,
    )  # fmt: skip
    return done


def stands(task: Task) -> str:
    """Return where a task stands, as a model is told it."""
    said = [f"Task {task.key}, {task.title}: {task.status.replace('_', ' ')}"]
    if task.agent:
        said.append(
            f"{task.agent} works on it" if task.status not in CLOSED else f"by {task.agent}"
        )
    if task.blockers:
        said.append(f"waits for {'; '.join(task.blockers)}")
    return f"{', '.join(said)}."


def sent(message: BusMessage) -> str:
    """Return the answer to a call that sent something."""
    return f"Sent to {message.recipient or 'all agents'} as message {message.id}."


def taken_back(message: BusMessage, reviews: int) -> str:
    """Return the answer to a call that took a message back."""
    told = counted(len(message.receipts), "agent")
    reviewed = f" {counted(reviews, 'memory')} put to review." if reviews else ""
    return f"Took back message {message.id}; {told} who saw it are told.{reviewed}"


def acknowledged(asked: Sequence[str], done: Sequence[str]) -> list[str]:
    """Return what there is to say of messages that were acknowledged."""
    if not asked:
        return []
    said = [f"Acknowledged: {', '.join(done) or 'none'}."]
    missing = [one for one in asked if one not in done]
    return [*said, f"Not for you, or expired: {', '.join(missing)}."] if missing else said


def waiting(page: Page[BusMessage]) -> str:
    """Return what waits in an inbox."""
    if not page.items:
        return "No message waits."
    more = "" if page.next is None else " More wait behind them."
    return f"{counted(len(page.items), 'message')}, oldest first.{more}\n{mail(page.items)}"


_TOOLS: Final[Mapping[str, tuple[type[BaseModel], str]]] = {
    "context_share": (
        ContextShare,
        "Tell another agent, or all, what you found, decided or noticed; or answer a message.",
    ),
    "context_request": (
        ContextRequest,
        "Ask another agent, or all, something you need to know.",
    ),
    "context_subscribe": (
        ContextSubscribe,
        "Of what other agents tell all, get only some: by exactly one of topic, sender and query.",
    ),
    "context_invalidate": (
        ContextInvalidate,
        "Take back a message you sent that turned out wrong. Who saw it is told.",
    ),
    "handoff": (
        Handoff,
        "Hand your work on to another agent: what is done, and what is left.",
    ),
    "update_task": (
        UpdateTask,
        "Say where a task stands: status, what it waits for, who works on it. Or set a new one.",
    ),
    "record_decision": (
        RecordDecision,
        "Record a decision that others have to know of later: what, why, and what was not chosen.",
    ),
    "context_inbox": (
        ContextInbox,
        "Read what other agents sent you, and acknowledge what you are done with. What is not acknowledged "
        "comes again.",
    ),
}
