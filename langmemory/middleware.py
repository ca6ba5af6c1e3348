"""MemoryMiddleware: long-term memory for `langchain.agents.create_agent`, in one argument.

Needs the extra ``agents`` (``pip install ".[agents]"`` in a checkout); nothing else in langmemory
imports this module.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from itertools import takewhile
from types import MappingProxyType
from typing import Annotated, Any, Final, NotRequired

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, SystemMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from langmemory.chat_models import as_chat_model, unheard
from langmemory.context.citations import Usage
from langmemory.context.disclosure import BlockState, DisclosureBudget
from langmemory.context.marking import MARK
from langmemory.context.turns import is_human
from langmemory.errors import with_extra
from langmemory.nodes.condense import CondenseNode
from langmemory.nodes.core_memory import BLOCKS
from langmemory.nodes.messages import place_after
from langmemory.nodes.recall import RecallNode
from langmemory.nodes.remember import ReflectionQueue, RememberNode
from langmemory.nodes.state import Condensing, RecalledMemory, RecallTrace, latest_usage
from langmemory.nodes.voices import Voice
from langmemory.redaction import Redactor
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


SHOWN: Final = "shown"
"""Where `RecallNode` is told what of the messages the model sees."""

SHOWN_FROM: Final = "shown_from"
"""In an answer's mark: id of the first message that the model was shown for it."""


def _merged(before: dict[str, str], new: dict[str, str]) -> dict[str, str]:
    return {**before, **new}


class AgentMemoryState(AgentState[Any]):
    """What memory adds to an agent's state; shown in Studio, neither asked for nor returned."""

    # LangGraph takes a reducer for one only where it stands last.
    memory_block: NotRequired[Annotated[BlockState, PrivateStateAttr]]
    core_memory: NotRequired[Annotated[str, PrivateStateAttr]]
    memory_texts: NotRequired[Annotated[dict[str, str], PrivateStateAttr, _merged]]
    """By name of the middleware, these two as it puts them into the prompt: there may be several."""
    recalled: NotRequired[Annotated[list[RecalledMemory], PrivateStateAttr]]
    recall_trace: NotRequired[Annotated[RecallTrace, PrivateStateAttr]]
    voices: NotRequired[Annotated[list[Voice], PrivateStateAttr]]
    abandoned: NotRequired[Annotated[list[str], PrivateStateAttr]]
    remembered_id: NotRequired[Annotated[str, PrivateStateAttr]]
    remembered_words: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]
    unremembered: NotRequired[Annotated[list[str], PrivateStateAttr]]
    remembered_in: NotRequired[Annotated[str, PrivateStateAttr]]
    memory_usage: NotRequired[Annotated[list[Usage], PrivateStateAttr, latest_usage]]
    cited: NotRequired[Annotated[list[Usage], PrivateStateAttr]]
    said: NotRequired[Annotated[list[AnyMessage], PrivateStateAttr]]
    """What people said and nobody remembered yet, as the model was shown it. Other middleware may
    take it out of the messages, in a run of many steps before its end, or after one that failed."""
    condensed: NotRequired[Annotated[dict[str, Condensing], PrivateStateAttr]]
    redacted: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]


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
        redact: what replaces credentials before a turn is stored, see `langmemory.nodes.RememberNode`.
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
        redact: Redactor | bool = True,
    ) -> None:
        super().__init__()
        self.recall = RecallNode(
            namespace,
            store=store,
            viewer=viewer,
            budget=budget,
            core=core,
            visible_key=SHOWN,
        )
        self.remember = RememberNode(
            namespace,
            store=store,
            owner=viewer,
            privacy=privacy,
            reflection=reflection,
            redact=redact,
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
        everything = _as_shown(_with_all_messages(state))
        return self._recalled(self.recall.invoke(everything, get_config()), state)

    async def abefore_agent(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        everything = _as_shown(_with_all_messages(state))
        return self._recalled(await self.recall.ainvoke(everything, get_config()), state)

    def _recalled(self, update: dict[str, Any], state: AgentMemoryState) -> dict[str, Any]:
        parts = (update["core_memory"], update["memory_block"]["text"])
        text = "\n\n".join(filter(None, parts))
        return {**update, "memory_texts": {self.name: text}, **_said_before(state)}

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        return _marked(request, handler(with_memory(request, self.name)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return _marked(request, await handler(with_memory(request, self.name)))

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


def _marked(request: ModelRequest[Any], response: ModelResponse[Any]) -> ModelResponse[Any]:
    """The response; where other middleware left old messages out of the request, and not of the thread,
    its answer says from which on the model was shown them. (A state key would be another update of the
    model's node, and make lists of its ``updates``.)"""
    known = request.state["messages"]
    ids = {message.id for message in request.messages}
    shown = list(takewhile(lambda message: message.id in ids, reversed(known)))
    if not shown or len(shown) == len(known):
        return response
    details = {SHOWN_FROM: shown[-1].id}
    marked = [
        one.model_copy(update={"additional_kwargs": {**one.additional_kwargs, MARK: details}})
        if isinstance(one, AIMessage)
        else one
        for one in response.result
    ]
    return replace(response, result=marked)


def _as_shown(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state with what the model was shown of its messages for the last answer, and what came since."""
    messages: list[AnyMessage] = state["messages"]
    answers = (one for one in reversed(messages) if isinstance(one, AIMessage))
    mark: Mapping[str, Any] = next((one.additional_kwargs.get(MARK, {}) for one in answers), {})
    first = next((at for at, m in enumerate(messages) if m.id == mark.get(SHOWN_FROM)), 0)
    return {**state, SHOWN: messages[first:]}


def _still_said(state: Mapping[str, Any], remembered: Mapping[str, Any]) -> dict[str, Any]:
    """What of it waits for a run of somebody else."""
    said = state.get("said")
    if not said or "remembered_id" not in remembered:
        return {}
    return {"said": [m for m in said if m.id in remembered.get("unremembered", ())]}


def with_memory(request: ModelRequest[Any], name: str) -> ModelRequest[Any]:
    """The request with core memory and memory block of this middleware at the end of its system message.

    Content blocks before them, with a provider's cache marks, stay as they are. A system message that
    stands among the messages is the one: many models accept none beside it.
    """
    state: Mapping[str, Any] = request.state
    memory = state.get("memory_texts", {}).get(name)
    if not memory:
        return request
    before, messages = request.system_message, request.messages
    if before is None and messages and isinstance(messages[0], SystemMessage):
        before, messages = messages[0], messages[1:]
    content: str | list[str | dict[str, Any]] = memory
    if before is None:
        before = SystemMessage("")
    elif isinstance(before.content, str):
        content = f"{before.content}\n\n{memory}"
    else:
        content = [*before.content, {"type": "text", "text": memory}]
    after = before.model_copy(update={"content": content})
    return request.override(system_message=after, messages=messages)
