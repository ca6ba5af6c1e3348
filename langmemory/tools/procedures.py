"""find_procedures, save_procedure, record_outcome: a model reads and writes procedures."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore
from pydantic import BaseModel, Field

from langmemory.context.escape import one_line
from langmemory.errors import ConfigError, OwnershipError
from langmemory.nodes.namespaces import NamespaceTemplate
from langmemory.nodes.node import run_of
from langmemory.procedures import Procedure, as_steps, same_steps
from langmemory.tools.answering import memory_tool, refuse
from langmemory.types import Namespace

PROCEDURE_TOOLS: Final = ("find_procedures", "save_procedure", "record_outcome")
"""Their names."""
MOST_FOUND: Final = 3


class FindProcedures(BaseModel):
    task: str


class SaveProcedure(BaseModel):
    task: str = Field(description="Such as: deploy the website.")
    steps: list[str]
    preconditions: list[str] = []


class RecordOutcome(BaseModel):
    key: str = Field(description="As find_procedures shows it.")
    outcome: Literal["succeeded", "failed"]
    why: Annotated[str, Field(description="Why it failed, in a few words.")] = ""


def create_procedure_tools(
    namespace: tuple[str, ...] | str,
    *,
    viewer: str | None = "{user_id|}",
    store: BaseStore | None = None,
) -> list[BaseTool]:
    """Return the three tools for procedures.

    A procedure that a model saves is background until it has worked once; it never replaces a person's.

    Args:
        namespace: template of the memories' namespace, see `langmemory.nodes.NamespaceTemplate`.
        viewer: template of the person on whose behalf the model works; None is the application.
        store: used instead of the graph's store, or outside a graph.
    """
    template = NamespaceTemplate(namespace)

    def room(config: RunnableConfig, name: str) -> tuple[Any, Namespace]:
        target, scope = run_of(config, store, name, viewer)
        found = getattr(target, "procedures", None)
        if found is None:
            raise refuse(
                f"{type(target).__name__} keeps no procedures; use langmemory's MemoryStore."
            )
        return found, template.resolve(scope)

    def find_procedures(config: RunnableConfig, task: str) -> str:
        procedures, place = room(config, "find_procedures")
        found = procedures.recall(task, place, limit=MOST_FOUND)
        lines = [f"{one_line(_shown(one.procedure))} ({one.why})" for one in found]
        return "\n".join(lines) or "No procedure is known for this."

    def save_procedure(
        config: RunnableConfig,
        task: str,
        steps: list[str],
        preconditions: list[str] = [],  # noqa: B006
    ) -> str:
        procedures, place = room(config, "save_procedure")
        try:
            kept = procedures.add(place, task, steps, preconditions=preconditions, source="agent")
        except (ConfigError, OwnershipError) as error:
            raise refuse(str(error)) from error
        if not same_steps(kept.steps, as_steps(steps)):
            return f"A person said how this is done, and that stays: {one_line(_shown(kept))}"
        return f"Saved: {one_line(_shown(kept))} ({kept.standing[1]})"

    def record_outcome(
        config: RunnableConfig, key: str, outcome: Literal["succeeded", "failed"], why: str = ""
    ) -> str:
        procedures, place = room(config, "record_outcome")
        try:
            after = procedures.record_outcome(place, key, outcome, why=why)
        except ConfigError as error:
            raise refuse(str(error)) from error
        return f"Recorded: {key} {after.outcomes.words}."

    return [
        memory_tool(
            name="find_procedures",
            description="Look up how a task is done, step by step, before you do it.",
            arguments=FindProcedures,
            work=find_procedures,
        ),
        memory_tool(
            name="save_procedure",
            description="Note how a task was done, once it worked, with its steps in order.",
            arguments=SaveProcedure,
            work=save_procedure,
        ),
        memory_tool(
            name="record_outcome",
            description="Say whether following a procedure worked.",
            arguments=RecordOutcome,
            work=record_outcome,
        ),
    ]


def _shown(one: Procedure) -> str:
    return f"[{one.key}] {one.text}"
