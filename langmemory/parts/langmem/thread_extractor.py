"""create_thread_extractor: a conversation as one object of an application's schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel, ValidationError, create_model

from langmemory.chat_models import as_chat_model
from langmemory.formation.asking.asker import Asker, Question
from langmemory.formation.asking.json_answers import BadAnswerError, decode_nested, json_object
from langmemory.formation.prompts import prompt
from langmemory.parts.langmem.memory_manager import check_input, conversation
from langmemory.parts.langmem.proposals import problems
from langmemory.parts.langmem.schemas import Given, Schema, checked_schemas

SUMMARIZE = "You are tasked with summarizing the following conversation."


class SummarizeThread(BaseModel):
    """The title and summary of a conversation."""

    title: str
    summary: str


class ThreadExtractor(Runnable[Any, BaseModel]):
    """``invoke({"messages": […]})`` returns an instance of the schema. See `create_thread_extractor`."""

    def __init__(self, model: BaseChatModel, schema: Schema, instructions: str) -> None:
        self.schema = schema
        thread: Any = create_model("Thread", thread=(schema, ...))
        self._asker = Asker(model, thread.model_json_schema())
        self._system = ChatPromptTemplate.from_messages([("system", instructions)])

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> BaseModel:
        """Return the object that the model made of the conversation.

        Raises:
            ConfigError: The input is no dict.
            ModelUnavailableError: The model could not be asked.
            ExtractionError: Its answers could not be used.
        """
        return self._asker.ask(self._question(input), config).value

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> BaseModel:
        """`invoke` without blocking the loop."""
        return (await self._asker.aask(self._question(input), config)).value

    def _question(self, input: Mapping[str, Any]) -> Question[BaseModel]:
        check_input(input)
        variables = {name: value for name, value in input.items() if name != "messages"}
        (system,) = self._system.format_messages(**variables)
        schema = json.dumps(self.schema.model_json_schema(), ensure_ascii=False)
        talk = conversation(input.get("messages") or ())
        return Question(
            messages=(
                SystemMessage(f"{system.text}\n\n{prompt('thread')}\n\n{schema}"),
                HumanMessage(talk or "(none)"),
            ),
            read=self._read,
        )

    def _read(self, raw: str) -> BaseModel:
        """Raises `BadAnswerError` where there is no object of the schema."""
        first = next(iter(self.schema.model_fields), None)
        found = json_object(raw, field="thread", entry=first)
        if found.cut or not found.value["thread"]:
            raise BadAnswerError("it breaks off" if found.cut else "it is empty")
        try:
            return self.schema.model_validate(decode_nested(found.value["thread"][0]))
        except ValidationError as error:
            raise BadAnswerError(problems(error)) from error


def create_thread_extractor(
    model: str | BaseChatModel,
    /,
    schema: Given | None = None,
    instructions: str = SUMMARIZE,
) -> ThreadExtractor:
    """A runnable that makes one object of a conversation; LangMem's signature.

    Args:
        model: A chat model, or its name as ``langchain`` knows it ("ollama:qwen3:8b").
        schema: A pydantic class, a TypedDict or a JSON schema with a title; None: a title and a summary.
        instructions: What to do. Variables in braces are filled in from the input.

    Raises:
        ConfigError: The schema is none of these, or the model's package is missing.
    """
    (checked,) = checked_schemas([schema or SummarizeThread])
    return ThreadExtractor(as_chat_model(model), checked, instructions)
