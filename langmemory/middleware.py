"""MemoryMiddleware: long-term memory for `langchain.agents.create_agent`, in one argument.

Needs the extra ``agents`` (``pip install ".[agents]"`` in a checkout); nothing else in langmemory
imports this module.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from itertools import takewhile
from types import MappingProxyType
from typing import Annotated, Any, Final, NotRequired, Unpack

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, SystemMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from pydantic import BaseModel

from langmemory.arguments import one_of
from langmemory.chat_models import as_chat_model, unheard
from langmemory.context.citations import Citations, Usage, cleaned, without_citations, without_ids
from langmemory.context.disclosure import BlockState, DisclosureBudget
from langmemory.context.marking import MARK
from langmemory.context.turns import Placement, is_human, with_block
from langmemory.errors import with_extra
from langmemory.nodes.conversation import place_after
from langmemory.nodes.core_memory import BLOCKS, CondenseNode
from langmemory.nodes.recall import NodeOptions, RecallNode
from langmemory.nodes.remember import ReflectionQueue, RememberNode
from langmemory.nodes.state import (
    INTERNAL,
    InternalState,
    RecalledMemory,
    RecallTrace,
    internal_of,
    latest_usage,
    with_internal,
)
from langmemory.nodes.strip_citations import ids_in_messages, unheard_ids
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


NAME: Final = "LangMemory"
"""The default name in an agent's list of middleware and in the names of its nodes."""

SHOWN: Final = "shown"
"""Where `RecallNode` is told what of the messages the model sees."""

SHOWN_FROM: Final = "shown_from"
"""Key in the mark of an answer: the id of the first message that the model saw for it."""


class AgentMemoryState(AgentState[Any]):
    """The keys that memory adds to an agent's state. Studio shows them; input and output do not have
    them."""

    # LangGraph takes a reducer for one only where it stands last.
    memory_block: NotRequired[Annotated[BlockState, PrivateStateAttr]]
    core_memory: NotRequired[Annotated[str, PrivateStateAttr]]
    recalled: NotRequired[Annotated[list[RecalledMemory], PrivateStateAttr]]
    recall_trace: NotRequired[Annotated[RecallTrace, PrivateStateAttr]]
    memory_usage: NotRequired[Annotated[list[Usage], PrivateStateAttr, latest_usage]]
    redacted: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]
    memory_internal: NotRequired[Annotated[InternalState, PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[AgentMemoryState, Any, Any]):
    """Recall before the agent starts, put memories into its prompt, add memory tools, and remember at
    the end.

        agent = create_agent(model, middleware=[MemoryMiddleware(store)])

    Middleware that replaces the system prompt, as ``@dynamic_prompt`` does, must come before it in the
    list; otherwise it overwrites the memories.

    Args:
        store: the store; None takes that of `create_agent` or of the server.
        namespace: template of this person's memories, see `langmemory.nodes.NamespaceTemplate`.
        viewer: whose private memories may be shown, see `langmemory.nodes.RecallNode`.
        privacy: who may recall the messages if several people share a namespace: with ``private`` only
            the person whom `viewer` names.
        budget: tokens of the memory block, in all or by tier; None is 400 in all.
        core: labels of the core blocks and what belongs in each; empty for none.
        limits: characters by label of a core block, if not the default.
        summary_model: a model that shortens core blocks that are nearly full; None leaves them as they
            are.
        tools: names of the memory tools the agent gets, see `langmemory.tools.TOOLS`; True is those of
            `langmemory.tools.DEFAULT_TOOLS`, False is none.
        citations: whether the ids of memories are removed from answers, stay in them, or are left out
            of the prompt, see `langmemory.context.Citations`.
        placement: the position of the memory block: at the end of the ``system`` prompt, or in a
            ``message`` of its own before the person's last one, outside of privileged instructions.
        reflection: the queue for new turns: a `ReflectionExecutor` or `TurnQueue`.
        redact: replaces credentials before a turn is stored, see `langmemory.nodes.RememberNode`.
        name: distinguishes it from other middleware of the agent; None is ``LangMemory``, or the name of
            a class made of this one.
        options: ``documents`` and the others of `langmemory.nodes.RecallNode`, see `BlockOptions`.
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
        tools: bool | Sequence[str] = True,
        citations: Citations = "strip",
        placement: Placement = "system",
        reflection: ReflectionQueue | None = None,
        redact: Redactor | bool = True,
        name: str | None = None,
        **options: Unpack[NodeOptions],
    ) -> None:
        super().__init__()
        # Not the name of the class: deepagents has a middleware of that name, and a list of middleware
        # keeps one of each.
        own_class = type(self) is not MemoryMiddleware
        self._name = name or (type(self).__name__ if own_class else NAME)
        self.citations = one_of("citations", citations, Citations)
        self.placement = one_of("placement", placement, Placement)
        self.recall = RecallNode(
            namespace,
            store=store,
            viewer=viewer,
            budget=budget,
            core=core,
            visible_key=SHOWN,
            citations=citations,
            **options,
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
            create_memory_tools(
                namespace,
                tools=None if tools is True else tools,
                viewer=viewer,
                core=core,
                limits=limits,
                store=store,
            )
            if tools
            else []
        )

    @property
    def name(self) -> str:
        return self._name

    def before_agent(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        everything = _as_shown(_with_all_messages(_own(state)))
        return self._recalled(self.recall.invoke(everything, get_config()), state)

    async def abefore_agent(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        everything = _as_shown(_with_all_messages(_own(state)))
        return self._recalled(await self.recall.ainvoke(everything, get_config()), state)

    def _recalled(self, update: dict[str, Any], state: AgentMemoryState) -> dict[str, Any]:
        after = {**state, **update}
        before = internal_of(after)
        kept: dict[str, Any] = {
            "texts": {**before.get("texts", {}), self.name: update["memory_block"]["text"]},
            "core_texts": {**before.get("core_texts", {}), self.name: update["core_memory"]},
        }
        humans = (at for at, message in enumerate(state["messages"]) if is_human(message))
        said = _pending_messages(after, max(humans, default=0))
        if said is not None:
            kept["said"] = said
        return {**update, **with_internal(after, **kept)}

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        prompt = self._with_memory(request)
        with self._hiding_ids(prompt) as ids:
            response = handler(prompt)
        return _mark_response(request, response if ids is None else _without_ids(response, ids))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        prompt = self._with_memory(request)
        with self._hiding_ids(prompt) as ids:
            response = await handler(prompt)
        return _mark_response(request, response if ids is None else _without_ids(response, ids))

    def _with_memory(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        core, block = _texts(request.state, self.name)
        if self.placement == "system":
            return with_memory(request, "\n\n".join(filter(None, (core, block))))
        request = with_memory(request, core)
        return request.override(messages=with_block(request.messages, block)) if block else request

    @contextmanager
    def _hiding_ids(self, request: ModelRequest[Any]) -> Iterator[frozenset[str] | None]:
        """Let whoever listens to the model hear no ids of memories; yields those in the prompt. The
        agent asks the model with the config of the run under way."""
        if self.citations == "keep":
            yield None
            return
        system = request.system_message
        ids = ids_in_messages([*([system] if system else []), *request.messages])
        with unheard_ids(None, ids):
            yield ids

    def after_model(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        own = _own(state)
        said = _pending_messages(own)
        return None if said is None else with_internal(own, said=said)

    async def aafter_model(
        self, state: AgentMemoryState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        return self.after_model(state, runtime)

    def after_agent(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        own = _own(state)
        update = self.remember.invoke(_with_all_messages(own), get_config())
        update |= _still_said(own, update)
        if self.condense is not None:
            update |= self.condense.invoke({**own, **update}, get_config())
        return update

    async def aafter_agent(self, state: AgentMemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        own = _own(state)
        update = await self.remember.ainvoke(_with_all_messages(own), get_config())
        update |= _still_said(own, update)
        if self.condense is not None:
            update |= await self.condense.ainvoke({**own, **update}, get_config())
        return update


def _own(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state of an agent, whose other keys are the application's, whatever their names."""
    return {**state, INTERNAL: state.get(INTERNAL) or {}}


def _texts(state: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Return core memory and memory block of the middleware of this name."""
    internal: InternalState = state.get(INTERNAL) or InternalState()
    return internal.get("core_texts", {}).get(name, ""), internal.get("texts", {}).get(name, "")


def _pending_messages(state: Mapping[str, Any], end: int | None = None) -> list[AnyMessage] | None:
    """Return the messages of people that are kept for the end of the run; None when there is nothing new.

    Before a run it is what earlier ones left pending_messages, because they failed. The person's last
    message is not among it: other middleware may yet take out of it what the model is not to see.
    """
    messages, internal = state["messages"], internal_of(state)
    start = place_after(messages, internal.get("remembered_id"))
    kept = list(internal.get("said") or ())
    there, known = {message.id: message for message in messages}, {message.id for message in kept}
    new = [m for m in messages[start:end] if is_human(m) and m.id not in known]
    # Middleware that writes the messages anew gives them other ids, and may do so at every step.
    again = {message.text for message in new}
    said = [there.get(m.id, m) for m in kept if m.id in there or m.text not in again] + new
    return None if said == kept else said


def _with_all_messages(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state with what was said and is among the messages no more, after what is remembered."""
    messages, internal = state["messages"], internal_of(state)
    there = {one.id for one in messages}
    start = place_after(messages, internal.get("remembered_id"))
    gone = [one for one in internal.get("said") or () if one.id not in there]
    return {**state, "messages": [*messages[:start], *gone, *messages[start:]]}


def _without_ids(response: ModelResponse[Any], ids: frozenset[str]) -> ModelResponse[Any]:
    """The response as a person may see it, a structure included; answers are marked with what they cite."""
    return replace(
        response,
        result=[
            without_ids(one, ids) if isinstance(one, AIMessage) else cleaned(one, ids)
            for one in response.result
        ],
        structured_response=_structure(response.structured_response, ids),
    )


def _structure(value: Any, ids: frozenset[str]) -> Any:
    if isinstance(value, str):
        return without_citations(value, ids)
    if isinstance(value, list):
        return [_structure(one, ids) for one in value]
    if isinstance(value, dict):
        return {name: _structure(one, ids) for name, one in value.items()}
    if isinstance(value, BaseModel):
        inside = {name: _structure(getattr(value, name), ids) for name in type(value).model_fields}
        return value.model_copy(update=inside)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{f.name: _structure(getattr(value, f.name), ids) for f in fields(value) if f.init},
        )
    return value


def _mark_response(request: ModelRequest[Any], response: ModelResponse[Any]) -> ModelResponse[Any]:
    """The response; where other middleware left old messages out of the request, and not of the thread,
    its answer says from which on the model was shown them. (A state key would be another update of the
    model's node, and make lists of its ``updates``.)"""
    known = request.state["messages"]
    ids = {message.id for message in request.messages}
    shown = list(takewhile(lambda message: message.id in ids, reversed(known)))
    if not shown or len(shown) == len(known):
        return response
    marked = [
        _with_mark(one, SHOWN_FROM, shown[-1].id) if isinstance(one, AIMessage) else one
        for one in response.result
    ]
    return replace(response, result=marked)


def _with_mark(message: AIMessage, name: str, value: Any) -> AIMessage:
    mark = {**message.additional_kwargs.get(MARK, {}), name: value}
    return message.model_copy(
        update={"additional_kwargs": {**message.additional_kwargs, MARK: mark}}
    )


def _as_shown(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state with what the model was shown of its messages for the last answer, and what came since."""
    messages: list[AnyMessage] = state["messages"]
    answers = (one for one in reversed(messages) if isinstance(one, AIMessage))
    mark: Mapping[str, Any] = next((one.additional_kwargs.get(MARK, {}) for one in answers), {})
    first = next((at for at, m in enumerate(messages) if m.id == mark.get(SHOWN_FROM)), 0)
    return {**state, SHOWN: messages[first:]}


def _still_said(state: Mapping[str, Any], remembered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kept messages that wait for a run of somebody else."""
    said = internal_of(state).get("said")
    kept = internal_of(remembered)
    if not said or "remembered_id" not in kept:
        return {}
    waiting = [one for one in said if one.id in kept.get("pending_messages", ())]
    return with_internal(remembered, said=waiting)


def with_memory(request: ModelRequest[Any], memory: str) -> ModelRequest[Any]:
    """Return the request with the memories at the end of its system message.

    Content blocks before it, with a provider's cache marks, stay as they are. If the messages contain a
    system message, it is used: many models accept only one.
    """
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
