"""MemoryMiddleware: long-term memory for `langchain.agents.create_agent`, in one argument.

Needs the extra ``agents`` (``pip install ".[agents]"`` in a checkout); nothing else in langmemory
imports this module.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, NotRequired

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, SystemMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from langmemory.chat_models import as_chat_model, unheard
from langmemory.context.citations import Usage
from langmemory.context.disclosure import BlockState, DisclosureBudget
from langmemory.context.turns import is_human
from langmemory.errors import with_extra
from langmemory.nodes.condense import CondenseNode
from langmemory.nodes.core_memory import BLOCKS
from langmemory.nodes.messages import place_after
from langmemory.nodes.recall import RecallNode
from langmemory.nodes.remember import ReflectionQueue, RememberNode
from langmemory.nodes.state import Condensing, RecalledMemory, RecallTrace, latest_usage
from langmemory.nodes.voices import Voice
from langmemory.tools import create_memory_tools
from langmemory.types import Privacy

try:
    from langchain.agents.middleware.types import (
        AgentMiddleware,
        AgentState,
        ModelRequest,
        ModelResponse,
        PrivateStateAttr,
    )
except ImportError as error:
    raise ImportError(f"MemoryMiddleware needs langchain: {with_extra('agents')}") from error


class AgentMemoryState(AgentState[Any]):
    """What memory adds to an agent's state; shown in Studio, neither asked for nor returned."""

    memory_block: NotRequired[Annotated[BlockState, PrivateStateAttr]]
    core_memory: NotRequired[Annotated[str, PrivateStateAttr]]
    recalled: NotRequired[Annotated[list[RecalledMemory], PrivateStateAttr]]
    recall_trace: NotRequired[Annotated[RecallTrace, PrivateStateAttr]]
    topic: NotRequired[Annotated[str, PrivateStateAttr]]
    voices: NotRequired[Annotated[list[Voice], PrivateStateAttr]]
    abandoned: NotRequired[Annotated[list[str], PrivateStateAttr]]
    remembered_id: NotRequired[Annotated[str, PrivateStateAttr]]
    remembered_words: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]
    unremembered: NotRequired[Annotated[list[str], PrivateStateAttr]]
    remembered_in: NotRequired[Annotated[str, PrivateStateAttr]]
    # LangGraph takes a reducer for one only where it stands last.
    memory_usage: NotRequired[Annotated[list[Usage], PrivateStateAttr, latest_usage]]
    cited: NotRequired[Annotated[list[Usage], PrivateStateAttr]]
    said: NotRequired[Annotated[list[AnyMessage], PrivateStateAttr]]
    """What people said and nobody remembered yet, as the model was shown it. Other middleware may
    take it out of the messages, in a run of many steps before its end, or after one that failed."""
    condensed: NotRequired[Annotated[dict[str, Condensing], PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[AgentMemoryState, Any, Any]):
    """Recall before the agent starts, memory in its system prompt, tools, remember at the end.

        agent = create_agent(model, middleware=[MemoryMiddleware(store)])

    Middleware that writes the system prompt anew, as ``@dynamic_prompt`` does, must stand before it
    in the list: behind it, it overwrites the memories there.

    Args:
        store: where memory is; None takes the store `create_agent` or the server has.
        namespace: template of this person's memories, see `langmemory.nodes.NamespaceTemplate`.
        viewer: whose private memories may be shown, see `langmemory.nodes.RecallNode`.
        privacy: who may recall what is said, where several people share a namespace: with
            ``private`` the person alone whom `viewer` names.
        budget: tokens of the memory block, in all or by tier; None is 400 in all.
        core: labels of the core blocks and what belongs in each; empty for none.
        limits: characters by label of a core block, where the default is not right.
        summary_model: rewrites core blocks that are nearly full; None leaves them as they are.
        tools: whether the agent gets the memory tools.
        reflection: gets new turns, to be reflected later: a `ReflectionExecutor` or `TurnQueue`.
    """

    state_schema = AgentMemoryState

    def __init__(
        self,
        store: BaseStore | None = None,
        *,
        namespace: str | tuple[str, ...] = ("memories", "{user_id}"),
        viewer: str | None = "{user_id|}",
        privacy: Privacy = "shared",
        budget: DisclosureBudget | int | None = None,
        core: Mapping[str, str] = BLOCKS,
        limits: Mapping[str, int] = MappingProxyType({}),
        summary_model: str | BaseChatModel | None = None,
        tools: bool = True,
        reflection: ReflectionQueue | None = None,
    ) -> None:
        super().__init__()
        self.recall = RecallNode(namespace, store=store, viewer=viewer, budget=budget, core=core)
        self.remember = RememberNode(
            namespace, store=store, owner=viewer, privacy=privacy, reflection=reflection
        )
        self.condense = (
            CondenseNode(unheard(as_chat_model(summary_model)), namespace, store=store, core=core)
            if core and summary_model is not None
            else None
        )
        self.tools = (
            create_memory_tools(namespace, viewer=viewer, core=core, limits=limits, store=store)
            if tools
            else []
        )

    def before_agent(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        everything = _with_all_messages(state)
        return self.recall.invoke(everything, get_config()) | _said_before(state)

    async def abefore_agent(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        everything = _with_all_messages(state)
        return await self.recall.ainvoke(everything, get_config()) | _said_before(state)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        return handler(with_memory(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return await handler(with_memory(request))

    def after_model(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        return _said(state)

    async def aafter_model(
        self, state: AgentMemoryState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        return _said(state)

    def after_agent(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        update = self.remember.invoke(_with_all_messages(state), get_config())
        update |= _still_said(state, update)
        if self.condense is not None:
            update |= self.condense.invoke(state, get_config())
        return update

    async def aafter_agent(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        update = await self.remember.ainvoke(_with_all_messages(state), get_config())
        update |= _still_said(state, update)
        if self.condense is not None:
            update |= await self.condense.ainvoke(state, get_config())
        return update


def _said_before(state: Mapping[str, Any]) -> dict[str, Any]:
    """What runs before this one left unremembered, because they failed. The person's last message
    is not among it: other middleware may yet take out of it what the model is not to see."""
    at = (at for at, message in enumerate(state["messages"]) if is_human(message))
    return _said(state, max(at, default=0)) or {}


def _said(state: Mapping[str, Any], end: int | None = None) -> dict[str, Any] | None:
    """Keep what a person said for the end of the run; None when there is nothing new."""
    messages = state["messages"]
    start = place_after(messages, state.get("remembered_id"))
    kept: list[AnyMessage] = list(state.get("said") or ())
    there, known = {message.id: message for message in messages}, {message.id for message in kept}
    new = [m for m in messages[start:end] if is_human(m) and m.id not in known]
    # Middleware that writes the messages anew gives them other ids, and may do so at every step.
    again = {message.text for message in new}
    said = [there.get(m.id, m) for m in kept if m.id in there or m.text not in again] + new
    return None if said == kept else {"said": said}


def _with_all_messages(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state with what was said and is among the messages no more, after what is remembered."""
    messages = state["messages"]
    there, start = {one.id for one in messages}, place_after(messages, state.get("remembered_id"))
    gone = [one for one in state.get("said") or () if one.id not in there]
    return {**state, "messages": [*messages[:start], *gone, *messages[start:]]}


def _still_said(state: Mapping[str, Any], remembered: Mapping[str, Any]) -> dict[str, Any]:
    """What of it waits for a run of somebody else."""
    said = state.get("said")
    if not said or "remembered_id" not in remembered:
        return {}
    return {"said": [m for m in said if m.id in remembered.get("unremembered", ())]}


def with_memory(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """The request with core memory and memory block at the end of its system message.

    Content blocks before them, with a provider's cache marks, stay as they are.
    """
    state: Mapping[str, Any] = request.state
    block = state.get("memory_block") or {}
    memory = "\n\n".join(filter(None, (state.get("core_memory"), block.get("text"))))
    if not memory:
        return request
    before = request.system_message
    if before is None:
        after = SystemMessage(memory)
    elif isinstance(before.content, str):
        after = SystemMessage(f"{before.content}\n\n{memory}")
    else:
        after = SystemMessage([*before.content, {"type": "text", "text": memory}])
    return request.override(system_message=after)
