"""The base of the memory tools: how one is built, and how it answers a bad call.

The model chooses the arguments in the tool's schema and nothing else. Store, namespace and viewer
come from the run. Whatever is wrong with a call is answered with a message the model can act on.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, Literal, TypeVar

from langchain_core.messages import HumanMessage, ToolMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool, ToolException
from langchain_core.tools.base import ArgsSchema
from langgraph.prebuilt import InjectedState
from pydantic import BaseModel, ConfigDict, ValidationError

from langmemory.context.disclosure import as_much, line_head, note_line
from langmemory.context.marking import is_injected
from langmemory.context.notes import Note
from langmemory.context.tokens import count_text
from langmemory.context.turns import is_human
from langmemory.declaring.fields import without_nulls
from langmemory.errors import (
    EntityNameError,
    InvalidFilterError,
    InvalidValueError,
    MessageNotFoundError,
    OwnershipError,
)
from langmemory.formation.extraction.requests import plainly
from langmemory.formation.procedures.runs import is_copied
from langmemory.languages import split_words
from langmemory.recall.excerpt import Excerpts
from langmemory.steps import Steps, awaiting, blocking, thread_call
from langmemory.trust import MARKED, least
from langmemory.types import Trust

R = TypeVar("R")

State = Annotated[Any, InjectedState]
"""The graph's state; None when the tool is called outside a graph."""

ARGUMENTS_FAULT = (
    EntityNameError, InvalidFilterError, InvalidValueError, MessageNotFoundError, OwnershipError,
)  # fmt: skip
"""The errors of a store about the model's arguments: the model is told, and the run goes on."""


class _MemoryTool(StructuredTool):
    """A tool whose schema says ``required`` even when nothing is, as some providers insist, and that
    may be called with text: a JSON object of its arguments, as a provider's API hands them over, else
    the first of them."""

    def run(self, tool_input: str | dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        return super().run(self._arguments(tool_input), *args, **kwargs)

    async def arun(self, tool_input: str | dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        return await super().arun(self._arguments(tool_input), *args, **kwargs)

    def _arguments(self, given: str | dict[str, Any]) -> dict[str, Any]:
        schema, found = self.args_schema, self._read(given)
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            return dict(without_nulls(schema, found))
        return found

    def _read(self, given: str | dict[str, Any]) -> dict[str, Any]:
        if not isinstance(given, str):
            return given
        try:
            read = json.loads(given)
        except ValueError:
            read = None
        if isinstance(read, dict) and read.keys() <= self.args.keys():
            return read
        return {next(iter(self.args)): given}

    @functools.cached_property
    def tool_call_schema(self) -> ArgsSchema:
        schema = super().tool_call_schema
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            schema.model_config = ConfigDict(
                **{**schema.model_config, "json_schema_extra": _say_required}
            )
        return schema


def memory_tool(
    *,
    name: str,
    description: str,
    arguments: type[BaseModel],
    work: Callable[..., Any],
    response_format: Literal["content", "content_and_artifact"] = "content",
) -> StructuredTool:
    """Return a tool over steps, or over a function, which runs in a thread beside an event loop.

    It gets the arguments by keyword and the run's ``config``, and raises `ToolException` with a message
    for the model, or one of `ARGUMENTS_FAULT`.
    """
    steps = _telling(work)
    _OWN.add(name)
    return _MemoryTool.from_function(
        _with_types(blocking(steps), work),
        _with_types(awaiting(steps), work),
        name=name,
        description=description,
        args_schema=arguments,
        infer_schema=False,
        response_format=response_format,
        handle_tool_error=True,
        handle_validation_error=_explain,
    )


SHORTEST_PASTE: Final = 3
"""Words from which a text can be recognised as copied from what a person pasted or quoted: a name or a word
behind a colon ("I like: tea, books") is read as theirs."""
_OWN: Final[set[str]] = set()
"""Names of the tools of memory: what they answer is memory, of which each line tells where it comes from."""


def trust_of_words(text: str, state: Any) -> Trust:
    """Return where the words that a model writes come from: itself, or the least trusted of what it copies
    and the person did not say (outputs of tools, an inbox, recalled memories, what was pasted).

    Args:
        text: What the model writes.
        state: Of the graph, with its ``messages``; None outside a graph.
    """
    messages = convert_to_messages(state.get("messages") or ()) if isinstance(state, dict) else []
    typed = [str(one.text) for one in messages if is_human(one)]
    said = [sentence for text in typed for sentence in plainly(text)]
    long = len(split_words(text)) >= SHORTEST_PASTE
    outputs: dict[Trust, list[str]] = {"tool": [], "document": typed if long else []}
    for one in messages:
        arrives = isinstance(one, HumanMessage) and is_injected(one)
        if arrives or (isinstance(one, ToolMessage) and one.name not in _OWN):
            outputs["tool"].append(str(one.text))
        for trust, mark in MARKED.items() if isinstance(one, ToolMessage) else ():
            lines = str(one.text).splitlines() if one.name in _OWN else []
            outputs.setdefault(trust, []).extend(line for line in lines if f"({mark}) " in line)
    for entry in state.get("recalled") or () if messages else ():
        if entry.get("trust") in MARKED:
            outputs.setdefault(entry["trust"], []).append(entry["text"])
    copied = [trust for trust, texts in outputs.items() if is_copied(text, texts, said)]
    return least(["agent", *copied])


def refuse(message: str) -> ToolException:
    """The answer to a call that cannot be carried out."""
    return ToolException(message)


def _telling(work: Callable[..., Any]) -> Callable[..., Steps[Any]]:
    """Return the work as steps, with `ARGUMENTS_FAULT` as an answer.

    Other frameworks (CrewAI, AutoGen) call this function of a tool themselves, without a config.
    """

    @functools.wraps(work)
    def telling(*args: Any, **kwargs: Any) -> Steps[Any]:
        kwargs.setdefault("config", RunnableConfig())
        try:
            if inspect.isgeneratorfunction(work):
                return (yield from work(*args, **kwargs))
            return (yield thread_call(work, *args, **kwargs))
        except ARGUMENTS_FAULT as error:
            raise refuse(str(error)) from error

    return telling


def _with_types(telling: Callable[..., R], work: Callable[..., Any]) -> Callable[..., R]:
    """`telling` with the types of `work` themselves instead of their names: langchain-core 1.2 hands
    over the graph's state only to an argument whose type says so."""
    telling.__signature__ = inspect.signature(work, eval_str=True)  # type: ignore[attr-defined]
    return telling


def _explain(error: Any) -> str:
    if not isinstance(error, ValidationError):
        return f"The arguments are not valid: {error}. Correct them and call again."
    wrong = [
        f"{'.'.join(str(part) for part in detail['loc']) or 'arguments'}: {detail['msg']}"
        for detail in error.errors(include_url=False, include_input=False)
    ]
    return f"The arguments are not valid: {'; '.join(wrong)}. Correct them and call again."


def _say_required(schema: dict[str, Any]) -> None:
    schema.setdefault("required", [])


def lines(notes: Iterable[Note], query: str, most_tokens: int) -> str:
    """Return a line for each note: its id and what it says, of a longer one the part that fits the query.

    Args:
        notes: What was found.
        query: What it was found by.
        most_tokens: Of a line.
    """
    excerpts = Excerpts(query)
    return "\n".join(_line(note, excerpts, most_tokens) for note in notes)


def _line(note: Note, excerpts: Excerpts, most_tokens: int) -> str:
    head = line_head(note)
    text = as_much(note, lambda part: count_text(head + part) <= most_tokens, excerpts)
    return note_line(note) if text is None else head + text
