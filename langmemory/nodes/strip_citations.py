"""StripCitations: a chat model whose answers come without the ids of memories, streamed or whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.utils import convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableConfig

from langmemory.context.citations import mark_of, without_ids
from langmemory.context.listeners import MessageFilter, unheard_ids
from langmemory.context.stripping import ids_in
from langmemory.context.turns import is_human


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
