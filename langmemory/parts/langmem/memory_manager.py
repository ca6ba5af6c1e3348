"""create_memory_manager: memories of an application's schemas, brought up to date by one model call.

LangMem's shape. For facts with evidence, time and contradiction there is the reflection graph; this
is for applications that keep profiles and collections of their own pydantic models.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel

from langmemory.chat_models import as_chat_model
from langmemory.errors import ConfigError
from langmemory.formation.asking.asker import Asker
from langmemory.formation.batch import Turn
from langmemory.formation.extraction.transcript import transcript
from langmemory.formation.prompts import prompt
from langmemory.messages import Message, turns_of
from langmemory.parts.langmem.proposals import Permits, Proposals
from langmemory.parts.langmem.schemas import (
    ExistingMemory,
    ExtractedMemory,
    Given,
    Memory,
    RemoveDoc,
    checked_schemas,
)
from langmemory.steps import Steps, arun_steps, run_steps

INSTRUCTIONS = prompt("memories")
"""The default instructions: which things are worth a memory."""


class MemoryManager(Runnable[Any, list[ExtractedMemory]]):
    """Reads a conversation and existing memories, and returns the memories as they are then.

    ``invoke({"messages": […], "existing": […], "max_steps": 1})``. Existing memories are strings,
    ``(id, content)`` or ``(id, kind, content)``. Changed ones come first, in the order of the
    change, then those that stay. See `create_memory_manager`.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        schemas: Sequence[Given],
        instructions: str,
        permits: Permits,
    ) -> None:
        self.model = model
        self.schemas = checked_schemas(schemas)
        self.instructions = instructions
        self.enable_inserts = permits.insert
        self.enable_updates = permits.update
        self.enable_deletes = permits.delete
        self._proposals = Proposals(
            {schema.__name__: schema for schema in self.schemas},
            instructions=instructions,
            permits=permits,
        )

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[ExtractedMemory]:
        """The memories after the conversation.

        Raises:
            ConfigError: The input is no dict, or an existing memory is none.
            ModelUnavailableError: The model could not be asked.
            ExtractionError: Its answers could not be used.
        """
        return run_steps(self._steps(input, config))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[ExtractedMemory]:
        """`invoke` without blocking the loop."""
        return await arun_steps(self._steps(input, config))

    async def __call__(
        self, messages: Sequence[Message], existing: Sequence[Any] | None = None
    ) -> list[ExtractedMemory]:
        """LangMem's short form."""
        return await self.ainvoke({"messages": messages, "existing": existing})

    def _steps(
        self, input: Mapping[str, Any], config: RunnableConfig | None
    ) -> Steps[list[ExtractedMemory]]:
        check_input(input)
        known: dict[str, ExistingMemory] = {}
        for one in self._known(input.get("existing") or ()):
            known.setdefault(one.id, one)  # two searches may have found it
        given = list(known.values())
        talk = conversation(input.get("messages") or ())
        written: dict[str, BaseModel] = {}
        removed: dict[str, None] = {}
        for _ in range(max(input.get("max_steps") or 1, 1)):
            now = list(known.values())
            question = self._proposals.question(talk, now)
            if question is None:
                break
            asker = Asker(self.model, self._proposals.schema(now))
            changes = (yield from asker.asked(question, config)).value
            for id, content in changes.written.items():
                known[id] = ExistingMemory(id=id, kind=type(content).__name__, content=content)
                written.pop(id, None)
                written[id] = content
            for id in changes.removed:
                del known[id]
                written.pop(id, None)
                removed[id] = None
            if not (changes.written or changes.removed):
                break
        outside = [one.id for one in given if one.id in removed]
        untouched = [one for one in given if one.id in known and one.id not in written]
        return [
            *(ExtractedMemory(id, content) for id, content in written.items()),
            *(ExtractedMemory(id, RemoveDoc(json_doc_id=id)) for id in outside),
            *(ExtractedMemory(one.id, one.content) for one in untouched),
        ]

    def _known(self, existing: Sequence[Any]) -> list[ExistingMemory]:
        if isinstance(existing, str):
            raise ConfigError("existing is a string; pass a list of memories.")
        schema = self.schemas[0]
        first = schema.__name__
        found = []
        for one in existing:
            if isinstance(one, str):
                found.append(
                    ExistingMemory(id=str(uuid.uuid4()), kind=first, content=schema(content=one))
                )
            elif isinstance(one, Sequence) and len(one) in (2, 3):
                content = one[-1]
                if isinstance(content, RemoveDoc):  # handed back by the run that removed it
                    continue
                kind = type(content).__name__ if isinstance(content, BaseModel) else first
                found.append(
                    ExistingMemory(
                        id=str(one[0]), kind=one[1] if len(one) == 3 else kind, content=content
                    )
                )
            else:
                raise ConfigError(
                    f"An existing memory is a {type(one).__name__}; pass a string, (id, content) or "
                    "(id, kind, content)."
                )
        return found


def create_memory_manager(
    model: str | BaseChatModel,
    /,
    *,
    schemas: Sequence[Given] = (Memory,),
    instructions: str = INSTRUCTIONS,
    enable_inserts: bool = True,
    enable_updates: bool = True,
    enable_deletes: bool = False,
) -> MemoryManager:
    """A runnable that turns a conversation into memories and keeps none; LangMem's signature.

    Args:
        model: A chat model, or its name as ``langchain`` knows it ("ollama:qwen3:8b").
        schemas: Pydantic classes, TypedDicts or JSON schemas with a title; each memory is an instance
            of one, of the class made of it where it is none. Their docstrings and field
            descriptions tell the model what they are for.
        instructions: What is worth a memory.
        enable_inserts: False: existing memories are updated, and only the first is new (a profile).
        enable_updates: False: existing memories stay as they are.
        enable_deletes: True: memories that became wrong are returned as `RemoveDoc`.

    Raises:
        ConfigError: A schema is none of these, two have one name, or the model's package is
            missing.
    """
    return MemoryManager(
        as_chat_model(model),
        schemas=schemas,
        instructions=instructions,
        permits=Permits(insert=enable_inserts, update=enable_updates, delete=enable_deletes),
    )


def check_input(input: Any) -> None:
    """Raises ConfigError for what is no dict, such as the messages alone."""
    if not isinstance(input, Mapping):
        raise ConfigError(
            f'The input is a {type(input).__name__}; pass {{"messages": […]}}, or await the manager '
            "with the messages alone."
        )


def conversation(messages: Sequence[Message]) -> str:
    """Messages as a model reads them, without system prompts and memories that were injected."""
    now = datetime.now(UTC)
    return transcript(
        Turn(key=turn.key, text=turn.text, role=turn.role, speaker=turn.speaker, said_at=turn.at)
        for turn in turns_of(messages, thread_id="-", at=None, now=now)
    )
