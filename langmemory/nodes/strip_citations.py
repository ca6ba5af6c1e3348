"""StripCitations: a chat model whose answers come without the ids of memories, streamed or whole.

A graph streams tokens through callbacks of the chat model, before any node has the answer. So each
callback handler of a call gets a stand-in that hides the ids (`unheard_ids`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.utils import convert_to_messages
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.base import BaseTracer

from langmemory.context.citations import (
    CitationFilter,
    block_text,
    cleaned,
    ids_in,
    mark_of,
    with_text,
    without_citations,
    without_ids,
)
from langmemory.context.turns import is_human


def hiding_ids(config: RunnableConfig | None, ids: AbstractSet[str]) -> RunnableConfig:
    """Return the config for a call to a model whose answer is heard without citation ids.

    Args:
        config: of the run; None takes that of the run under way.
        ids: those in the prompt, see `CitationFilter`.
    """
    config = ensure_config(config)
    callbacks = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        hiding = callbacks.copy()
        twins = {
            id(one): _twin(one, ids) for one in [*hiding.handlers, *hiding.inheritable_handlers]
        }
        hiding.handlers = [twins[id(one)] for one in hiding.handlers]
        hiding.inheritable_handlers = [twins[id(one)] for one in hiding.inheritable_handlers]
        return {**config, "callbacks": hiding}
    if callbacks:
        return {**config, "callbacks": [_twin(one, ids) for one in callbacks]}
    return config


@contextmanager
def unheard_ids(config: RunnableConfig | None, ids: AbstractSet[str]) -> Iterator[RunnableConfig]:
    """Yield `hiding_ids` for a call, which is that of the run under way meanwhile: a model with tools bound
    to it joins the callbacks of both, and would be heard twice."""
    hiding = hiding_ids(config, ids)
    token = var_child_runnable_config.set(hiding)
    try:
        yield hiding
    finally:
        var_child_runnable_config.reset(token)


ChunkT = TypeVar("ChunkT", bound=BaseMessage)


class MessageFilter:
    """Takes citation ids out of the chunks of one message, each text block by itself."""

    def __init__(self, ids: AbstractSet[str]) -> None:
        self._ids = ids
        self._blocks: dict[Any, CitationFilter] = {}
        self.id: str | None = None
        """Of the message."""

    def feed(self, chunk: ChunkT) -> ChunkT:
        """Return the chunk with what of its text can be shown; of the last one, with what was held back."""
        self.id = chunk.id or self.id
        content: Any = chunk.content
        if isinstance(content, str):
            content = self.text(None, content)
        else:
            content = [
                with_text(one, self.text(_place(one, at), block_text(one)))
                for at, one in enumerate(content)
            ]
        if getattr(chunk, "chunk_position", None) == "last":
            content = _joined(content, self._rest())
        return chunk.model_copy(update={"content": content})

    def last(self) -> AIMessageChunk | None:
        """Return what was held back as a chunk of its own; None where nothing was."""
        rest = self._rest()
        return AIMessageChunk(content=_joined("", rest), id=self.id) if rest else None

    def text(self, place: Any, piece: str) -> str:
        """Return what can be shown of the block at a place, now that this piece of it arrived."""
        if place not in self._blocks:
            self._blocks[place] = CitationFilter(self._ids)
        return self._blocks[place].feed(piece) if piece else piece

    def rest_of(self, place: Any) -> str:
        """Return what was held back of the block at a place, which is complete."""
        block = self._blocks.pop(place, None)
        return "" if block is None else block.rest()

    def _rest(self) -> dict[Any, str]:
        rest = {place: self.rest_of(place) for place in list(self._blocks)}
        return {place: text for place, text in rest.items() if text}


def _place(block: Any, at: int) -> Any:
    return block.get("index", at) if isinstance(block, dict) else at


def _joined(content: Any, rest: dict[Any, str]) -> Any:
    """Return the content with what was held back, by block, behind it."""
    if isinstance(content, str) and rest.keys() <= {None}:
        return content + rest.get(None, "")
    blocks = [{"type": "text", "text": content}] if content and isinstance(content, str) else []
    blocks += content if isinstance(content, list) else []
    for place, text in rest.items():
        index = {} if place is None else {"index": place}
        blocks.append({"type": "text", "text": text, **index})
    return blocks


class _Hiding:
    """Take citation ids out of all that one handler hears."""

    def __init__(self, ids: AbstractSet[str]) -> None:
        self._ids = ids
        self._runs: dict[UUID, MessageFilter] = {}
        self._tokens: dict[UUID, CitationFilter] = {}
        """Of tokens without their chunk: some models tell of each token so, and again with its chunk."""

    def token(self, run_id: UUID, token: Any, chunk: Any) -> tuple[Any, Any]:
        if not isinstance(chunk, ChatGenerationChunk):
            tokens = self._tokens.setdefault(run_id, CitationFilter(self._ids))
            return (tokens.feed(token) if isinstance(token, str) else token), chunk
        run = self._run(run_id)
        message = run.feed(chunk.message)
        shown = ChatGenerationChunk(message=message, generation_info=chunk.generation_info)
        return message.content, shown

    def last(self, run_id: UUID) -> tuple[Any, ChatGenerationChunk | None] | None:
        """Return the token, and the chunk, with what was held back; None where nothing was."""
        run, tokens = self._runs.pop(run_id, None), self._tokens.pop(run_id, None)
        if run is not None:
            message = run.last()
            return (
                None if message is None else (message.content, ChatGenerationChunk(message=message))
            )
        rest = "" if tokens is None else tokens.rest()
        return (rest, None) if rest else None

    def result(self, result: LLMResult) -> LLMResult:
        generations: list[Any] = [
            [
                one.model_copy(update={"message": message, "text": message.text})
                if isinstance(one, ChatGeneration)
                and (message := cleaned(one.message, self._ids)) is not one.message
                else one
                for one in candidates
            ]
            for candidates in result.generations
        ]
        return result.model_copy(update={"generations": generations})

    def events(self, run_id: UUID, event: Any) -> list[Any]:
        """Return what of an event of LangChain's streaming protocol is passed on."""
        kind, place = event.get("event"), event.get("index")
        if kind == "content-block-delta" and event["delta"].get("type") == "text-delta":
            text = self._run(run_id).text(place, event["delta"]["text"])
            return [{**event, "delta": {**event["delta"], "text": text}}] if text else []
        if kind != "content-block-finish" or not block_text(event["content"]):
            return [event]
        block = event["content"]
        finish = {
            **event,
            "content": with_text(block, without_citations(block_text(block), self._ids)),
        }
        text = self._run(run_id).rest_of(place)
        delta = {"type": "text-delta", "text": text}
        before = {"event": "content-block-delta", "index": place, "delta": delta}
        return [before, finish] if text else [finish]

    def _run(self, run_id: UUID) -> MessageFilter:
        return self._runs.setdefault(run_id, MessageFilter(self._ids))


class _Hears:
    """A handler's twin; its base class, the handler's own, comes behind this one."""

    hiding: _Hiding

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **more: Any) -> Any:
        token, chunk = self.hiding.token(run_id, token, chunk)
        return _base(self).on_llm_new_token(token, chunk=chunk, run_id=run_id, **more)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **more: Any) -> Any:
        if (last := self.hiding.last(run_id)) is not None:
            _base(self).on_llm_new_token(last[0], chunk=last[1], run_id=run_id, **more)
        return _base(self).on_llm_end(self.hiding.result(response), run_id=run_id, **more)

    def on_stream_event(self, event: Any, *, run_id: UUID, **more: Any) -> Any:
        for each in self.hiding.events(run_id, event):
            _base(self).on_stream_event(each, run_id=run_id, **more)


class _HearsAsync:
    """`_Hears` for a handler that is awaited."""

    hiding: _Hiding

    async def on_llm_new_token(
        self, token: Any, *, chunk: Any = None, run_id: UUID, **more: Any
    ) -> Any:
        token, chunk = self.hiding.token(run_id, token, chunk)
        return await _base(self).on_llm_new_token(token, chunk=chunk, run_id=run_id, **more)

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **more: Any) -> Any:
        if (last := self.hiding.last(run_id)) is not None:
            await _base(self).on_llm_new_token(last[0], chunk=last[1], run_id=run_id, **more)
        return await _base(self).on_llm_end(self.hiding.result(response), run_id=run_id, **more)

    async def on_stream_event(self, event: Any, *, run_id: UUID, **more: Any) -> Any:
        for each in self.hiding.events(run_id, event):
            await _base(self).on_stream_event(each, run_id=run_id, **more)


def _base(twin: Any) -> Any:
    """The twin as the handler it is one of."""
    return super(type(twin).__mro__[1], twin)


def _twin(handler: BaseCallbackHandler, ids: AbstractSet[str]) -> BaseCallbackHandler:
    """Return a handler that shares all that this one has, and hears no ids. A tracer that streams
    nothing, such as LangSmith's, is returned itself: it is there to tell what the model said."""
    if isinstance(handler, BaseTracer) and not hasattr(handler, "tap_output_iter"):
        return handler
    of: Any = type(handler)
    twin: Any = object.__new__(_class_of_twin(of))
    twin.__dict__ = handler.__dict__
    twin.hiding = _Hiding(ids)  # in a slot, so not the handler's
    return twin  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=64)
def _class_of_twin(of: Any) -> type[Any]:
    awaited = inspect.iscoroutinefunction(of.on_llm_new_token)
    hears = _HearsAsync if awaited else _Hears
    return type(of.__name__, (hears, of), {"__slots__": ("hiding",)})


class StripCitations(Runnable[Any, BaseMessage]):
    """Call a chat model, and hide the ids that it cites from everything but `RememberNode`, which
    counts them.

    Ids are removed from the answer, from its stream, and from the stream of a graph
    (``stream_mode="messages"``, events). A tracer such as LangSmith's still shows the model's own
    words.

        model = StripCitations(init_chat_model("openai:gpt-5-mini").bind_tools(tools))

    Args:
        model: any chat model, also with tools bound to it. Callbacks of the model itself see the ids:
            pass callbacks to the run instead.
    """

    def __init__(self, model: Runnable[Any, BaseMessage], *, name: str | None = None) -> None:
        self.model = model
        self.name = name

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> BaseMessage:
        ids = ids_of(input)
        with unheard_ids(config, ids) as hiding:
            return without_ids(self.model.invoke(input, hiding, **kwargs), ids)

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> BaseMessage:
        ids = ids_of(input)
        with unheard_ids(config, ids) as hiding:
            return without_ids(await self.model.ainvoke(input, hiding, **kwargs), ids)

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> Iterator[BaseMessage]:
        ids = ids_of(input)
        shown, said = MessageFilter(ids), ""
        with unheard_ids(config, ids) as hiding:  # a generator must not leave it set for its caller
            chunks = self.model.stream(input, hiding, **kwargs)
            chunk = next(chunks, None)
        while chunk is not None:
            said += chunk.text
            yield shown.feed(chunk)
            chunk = next(chunks, None)
        yield from _ending(shown, said)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> AsyncIterator[BaseMessage]:
        ids = ids_of(input)
        shown, said = MessageFilter(ids), ""
        with unheard_ids(config, ids) as hiding:
            chunks = self.model.astream(input, hiding, **kwargs)
            chunk = await anext(chunks, None)
        while chunk is not None:
            said += chunk.text
            yield shown.feed(chunk)
            chunk = await anext(chunks, None)
        for last in _ending(shown, said):
            yield last


def _ending(shown: MessageFilter, said: str) -> Iterator[BaseMessage]:
    """Yield what was held back, and which ids are missing, where there is either."""
    last, mark = shown.last(), mark_of(said)
    if last is not None or mark:
        chunk = last or AIMessageChunk(content="", id=shown.id)
        yield chunk.model_copy(update={"additional_kwargs": mark})


def ids_of(prompt: Any) -> frozenset[str]:
    """Return the ids of the memories in a prompt."""
    messages = prompt.to_messages() if isinstance(prompt, PromptValue) else prompt
    if isinstance(messages, str):
        return ids_in(messages)
    return ids_in_messages(convert_to_messages(messages))


def ids_in_messages(messages: Iterable[BaseMessage]) -> frozenset[str]:
    """Return the ids of the memories in messages; what a person said has none."""
    return frozenset().union(*(ids_in(one.text) for one in messages if not is_human(one)))
