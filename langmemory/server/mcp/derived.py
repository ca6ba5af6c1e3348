"""MCP tools that derive from the declared operations: those that say that models may call them."""

from __future__ import annotations

from functools import cache
from typing import Any

from starlette.concurrency import run_in_threadpool

from langmemory.context.escape import one_line, quoted_lines
from langmemory.declaring import Operation, operations_of
from langmemory.server.derived import perform
from langmemory.server.mcp.answers import Answer
from langmemory.server.mcp.tools import READS, Reply, Tool, Turn
from langmemory.wire import plain


class OperationAnswer(Answer):
    """What an operation returned, with all texts escaped."""

    answer: Any


def derived_tools() -> dict[str, Tool]:
    """Return the tools by name."""
    return {one.id: _tool(one) for one in operations_of() if one.declared.for_models}


@cache
def _tool(operation: Operation) -> Tool:
    model = operation.parameters_model

    async def work(turn: Turn, given: Any) -> Reply:
        arguments = {name: getattr(given, name) for name in given.model_fields_set}
        found = await run_in_threadpool(
            perform, turn.access, operation.room.name, operation.name, **arguments
        )
        value = _escaped(plain(list(found) if isinstance(found, tuple) else found))
        text = "\n".join(quoted_lines(_lines(value)))
        return text, OperationAnswer(answer=value)

    work.__name__, work.__doc__ = operation.id, operation.description
    reads = operation.declared.scope == "read"
    return Tool(
        work=work, arguments=model, answer=OperationAnswer, title=operation.description.partition(".")[0],
        scope=operation.declared.scope, for_agents=operation.room.agent == "needed", for_projects=False,
        hints=READS if reads else {"readOnlyHint": False, "destructiveHint": False},
    )  # fmt: skip


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, list):
        return [_escaped(one) for one in value]
    return (
        {name: _escaped(one) for name, one in value.items()} if isinstance(value, dict) else value
    )


def _lines(value: Any) -> str:
    """Return a value as lines of names and values, one line for each item of a list."""
    if isinstance(value, dict):
        return "; ".join(
            f"{name}: {_lines(one)}" for name, one in value.items() if one not in (None, "", [])
        )
    if isinstance(value, list):
        return "\n".join(map(_lines, value)) or "nothing"
    return str(value)
