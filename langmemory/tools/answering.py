"""What the memory tools have in common: how one is built, and how it answers a bad call.

The model chooses the arguments in the tool's schema and nothing else. Store, namespace and viewer
come from the run. Whatever is wrong with a call is answered with a message the model can act on.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool, ToolException
from langchain_core.tools.base import ArgsSchema
from pydantic import BaseModel, ConfigDict, ValidationError

from langmemory.errors import InvalidFilterError, InvalidValueError, OwnershipError

R = TypeVar("R")

ARGUMENTS_FAULT = (InvalidFilterError, InvalidValueError, OwnershipError)
"""What a store raises because of what the model passed: it is told, and the run goes on."""


class _MemoryTool(StructuredTool):
    """A tool whose schema says ``required`` even when nothing is, as some providers insist, and that
    may be called with text: a JSON object of its arguments, as a provider's API hands them over, else
    the first of them."""

    def run(self, tool_input: str | dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        return super().run(self._arguments(tool_input), *args, **kwargs)

    async def arun(self, tool_input: str | dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        return await super().arun(self._arguments(tool_input), *args, **kwargs)

    def _arguments(self, given: str | dict[str, Any]) -> dict[str, Any]:
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
    call: Callable[..., Any],
    acall: Callable[..., Awaitable[Any]] | None = None,
    response_format: Literal["content", "content_and_artifact"] = "content",
) -> StructuredTool:
    """A tool over a sync body and, where it is one store call, an async one.

    Without an async body the sync one runs in a thread. Both get the arguments by keyword and the
    run's ``config``, and raise `ToolException` with a message for the model, or one of
    `ARGUMENTS_FAULT`.
    """
    return _MemoryTool.from_function(
        _telling(call),
        None if acall is None else _atelling(acall),
        name=name,
        description=description,
        args_schema=arguments,
        infer_schema=False,
        response_format=response_format,
        handle_tool_error=True,
        handle_validation_error=_explain,
    )


def refuse(message: str) -> ToolException:
    """The answer to a call that cannot be carried out."""
    return ToolException(message)


def _telling(call: Callable[..., Any]) -> Callable[..., Any]:
    """`call`, with `ARGUMENTS_FAULT` as an answer.

    Other frameworks (CrewAI, AutoGen) call this function of a tool themselves, without a config.
    """

    @functools.wraps(call)
    def telling(*args: Any, **kwargs: Any) -> Any:
        kwargs.setdefault("config", RunnableConfig())
        try:
            return call(*args, **kwargs)
        except ARGUMENTS_FAULT as error:
            raise refuse(str(error)) from error

    return _with_types(telling, call)


def _atelling(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(call)
    async def telling(*args: Any, **kwargs: Any) -> Any:
        kwargs.setdefault("config", RunnableConfig())
        try:
            return await call(*args, **kwargs)
        except ARGUMENTS_FAULT as error:
            raise refuse(str(error)) from error

    return _with_types(telling, call)


def _with_types(telling: Callable[..., R], call: Callable[..., R]) -> Callable[..., R]:
    """`telling` with the types of `call` themselves instead of their names: langchain-core 1.2 hands
    over the graph's state only to an argument whose type says so."""
    telling.__signature__ = inspect.signature(call, eval_str=True)  # type: ignore[attr-defined]
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
