"""InboxNode and AcknowledgeNode: read the messages of other agents at the start, acknowledge them at
the end."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any, ClassVar, Final, Literal, Required, TypeAlias, TypedDict, Unpack

from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.store.base import BaseStore

from langmemory.context.marking import injected_details, mark_injected
from langmemory.errors import ConfigError
from langmemory.nodes.namespaces import NamespaceTemplate, RunScope, fill
from langmemory.nodes.node import MemoryNode
from langmemory.nodes.state import value_of
from langmemory.parts.team.mail import mail
from langmemory.steps import Steps, call
from langmemory.types import BusMessage, MessageType, Namespace, Page

INBOX: Final = "inbox"
"""Source of the messages that an `InboxNode` puts among the others."""
SESSION: Final = "session"
"""Source of the message that a `SessionStartNode` puts there; it has what waits in the inbox, too."""
MOST: Final = 100
"""Most messages that are acknowledged: of a long thread, the last ones."""


def room_of(
    store: BaseStore, name: Literal["bus", "swarm"], namespace: Namespace, agent: str
) -> Any:
    """Return the bus, or the tasks and decisions, of a store as one agent has them, be its file here or
    elsewhere.

    Raises:
        ConfigError: The store has none.
    """
    room = getattr(store, name, None)
    if room is None:
        there = "The bus is" if name == "bus" else "Tasks and decisions are"
        raise ConfigError(
            f"{there} in a memory file, and the store is a {type(store).__name__}. Use a MemoryStore or a "
            "RemoteMemoryStore."
        )
    return room(namespace, agent=agent)


Template: TypeAlias = str | tuple[str, ...] | NamespaceTemplate


class AgentOptions(TypedDict, total=False):
    """What every node of an agent takes, see `AgentNode`."""

    agent: Required[str]
    store: BaseStore | None
    viewer: str | None
    messages_key: str
    name: str | None


class AgentNode(MemoryNode):
    """The base of the nodes that act for one agent on the bus.

    Args:
        namespace: template of the namespace whose agents work together and share a bus.
        agent: name of this agent, or a template of it, as the namespace's labels.
        store: the store; None takes the graph's.
        viewer: template of the person on whose behalf the agent acts; None is the application.
        messages_key: state key of the messages.
        name: node name in traces.
    """

    default_name: ClassVar[str]

    def __init__(
        self,
        namespace: Template,
        *,
        agent: str,
        store: BaseStore | None = None,
        viewer: str | None = "{user_id|}",
        messages_key: str = "messages",
        name: str | None = None,
    ) -> None:
        super().__init__(namespace, store=store, name=name or self.default_name)
        self.agent, self.viewer, self.messages_key = agent, viewer, messages_key

    def _bus(self, store: BaseStore, scope: RunScope) -> Any:
        return room_of(store, "bus", self.namespace.resolve(scope), fill(self.agent, scope))


class InboxNode(AgentNode):
    """Read the messages of other agents: handoffs, requests, findings. Place it at the start of a
    graph.

    It adds one message with the inbox, marked so that it is never stored as a turn. It acknowledges
    nothing, so a run after a failure reads the inbox again. An `AcknowledgeNode` at the end
    acknowledges it, or the model does (`create_swarm_tools`).

    Args:
        types: only messages of these types, ``["handoff"]``; None is all.
        limit: most messages at a time.
        options: see `AgentNode`.
    """

    default_name = "inbox"

    def __init__(
        self,
        namespace: Template,
        *,
        types: Sequence[MessageType] | None = None,
        limit: int = 20,
        **options: Unpack[AgentOptions],
    ) -> None:
        super().__init__(namespace, **options)
        self.types, self.limit = types, limit

    def _steps(self, state: Any, store: BaseStore, scope: RunScope) -> Steps[dict[str, Any]]:
        bus = self._bus(store, scope)
        known = taken_up(value_of(state, self.messages_key, ()))
        fresh = yield from fresh_mail(bus, known, limit=self.limit, types=self.types)
        if not fresh:
            return {}
        ids = [one.id for one in fresh]
        return {self.messages_key: [mark_injected(HumanMessage(mail(fresh)), INBOX, ids=ids)]}


class AcknowledgeNode(AgentNode):
    """Acknowledge the messages that an `InboxNode` read. Place it at the end of a graph, after the
    work. Its arguments are those of `AgentNode`."""

    default_name = "acknowledge"

    def _steps(self, state: Any, store: BaseStore, scope: RunScope) -> Steps[dict[str, Any]]:
        ids = taken_up(value_of(state, self.messages_key, ()))
        if ids:
            yield call(self._bus(store, scope), "acknowledge", list(ids)[-MOST:])
        return {}


def fresh_mail(
    bus: Any,
    known: Container[str],
    *,
    limit: int,
    types: Sequence[MessageType] | None = None,
) -> Steps[Sequence[BusMessage]]:
    """Return what waits in an inbox and was not taken up yet; what nobody acknowledged does not stand in the
    way of later messages."""
    after: str | None = None
    while True:
        page: Page[BusMessage] = yield call(bus, "inbox", limit=limit, types=types, cursor=after)
        fresh = [one for one in page.items if one.id not in known]
        if fresh or page.next is None:
            return fresh
        after = page.next


def taken_up(messages: Iterable[BaseMessage]) -> dict[str, None]:
    """Return the ids of what an `InboxNode` or `SessionStartNode` put among messages, in order."""
    found: dict[str, None] = {}
    for one in messages:
        details = injected_details(one) if isinstance(one, BaseMessage) else {}
        if details.get("injected") in (INBOX, SESSION):
            found |= dict.fromkeys(details.get("ids", ()))
    return found
