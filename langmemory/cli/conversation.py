"""Conversation: the chat graph on the memory file, one turn after another, for `langmemory chat`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from langmemory.context.notes import note_of
from langmemory.graphs import build_chat_graph, chat_model
from langmemory.nodes.access import StoreAccess

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.store.base import SearchItem

    from langmemory.cli.target import Target
    from langmemory.types import Namespace

EARLIER_MESSAGES = 100
"""So many of a conversation that goes on are before the model; recall finds the older ones."""


class Conversation:
    """A thread with the configured model. Importing this module takes a second.

    Args:
        target: which file.
        namespace: where it remembers; the last label is the person.
        thread_id: name of the conversation.
        goes_on: whether what was said in it before is before the model, too.
    """

    def __init__(
        self, target: Target, namespace: Namespace, thread_id: str, *, goes_on: bool
    ) -> None:
        self._namespace = namespace
        self._owner = namespace[-1]
        self._thread_id = thread_id
        with ExitStack() as opening:
            self._store = opening.enter_context(target.open(create=True))
            self._graph = build_chat_graph(
                chat_model(self._store.config.models),
                namespace=namespace,
                store=self._store,
                checkpointer=InMemorySaver(),
            )
            viewed = StoreAccess(self._store.for_viewer(self._owner))
            self._unsent = _messages(viewed.thread(namespace, thread_id)) if goes_on else []
            self.said_before = len(self._unsent)
            """Messages of this thread that are before the model from its first turn on."""
            self.redacted: tuple[str, ...] = ()
            """Kinds of credentials that were not stored of the last turn, such as "password"."""
            self._runner = asyncio.Runner()
            self._opened = opening.pop_all()

    def close(self) -> None:
        self._runner.close()
        self._opened.close()

    @property
    def block(self) -> str:
        """The memory block of the last answer."""
        values = self._graph.get_state(self._config).values
        return str((values.get("memory_block") or {}).get("text", ""))

    def answer(self, line: str, show: Callable[[str], None]) -> None:
        """Show the answer piece by piece. Whatever ends it early, Ctrl-C as well, ends the model's
        work, too: what the person said is remembered then, and nothing of the answer.

        Raises:
            KeyboardInterrupt: The person stopped it.
        """
        said = HumanMessage(line, id=str(uuid4()))
        turn, self._unsent = [*self._unsent, said], []
        try:
            # In a loop of its own the run can be cancelled; a thread could not.
            self._runner.run(self._stream(turn, show))
        except BaseException:
            self._keep(said)
            raise
        self.redacted = tuple(
            sorted(self._graph.get_state(self._config).values.get("redacted", ()))
        )

    def keep(self, line: str) -> None:
        """Remember what the person said without asking the model."""
        self._keep(HumanMessage(line, id=str(uuid4())))

    def _keep(self, said: HumanMessage) -> None:
        stored = self._store.remember(
            self._namespace, [said], thread_id=self._thread_id, owner=self._owner
        )
        self.redacted = tuple(sorted(stored.redacted))

    @property
    def _config(self) -> RunnableConfig:
        return {"configurable": {"thread_id": self._thread_id, "user_id": self._owner}}

    async def _stream(self, turn: list[BaseMessage], show: Callable[[str], None]) -> None:
        async for piece in _answer(self._graph, turn, self._config):
            show(piece)


async def _answer(
    graph: Any, turn: list[BaseMessage], config: RunnableConfig
) -> AsyncIterator[str]:
    """Yield the model's answer in the pieces it arrives in."""
    stream = graph.astream({"messages": turn}, config, stream_mode="messages")
    async for chunk, metadata in stream:
        # Other nodes have models, too: a configured reranker answers within "recall".
        if metadata["langgraph_node"] == "model" and chunk.type in ("ai", "AIMessageChunk"):
            yield chunk.text


def _messages(stored: Iterable[SearchItem]) -> list[BaseMessage]:
    """Return the newest turns of a thread as messages, oldest first.

    Stores list the newest first, and messages of one turn share a time.
    """
    turns = [item for item in stored if item.value.get("role") in ("user", "assistant")]
    turns.reverse()
    turns.sort(key=lambda item: note_of(item).at or item.created_at)
    messages: list[BaseMessage] = []
    for value in (item.value for item in turns[-EARLIER_MESSAGES:]):
        make = HumanMessage if value["role"] == "user" else AIMessage
        id = value.get("message_id") or str(uuid4())
        messages.append(make(str(value["content"]), id=str(id)))
    return messages
