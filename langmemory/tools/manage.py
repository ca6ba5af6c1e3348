"""manage_memory and search_memory: the model writes, deletes and searches memories. LangMem's signatures."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, get_args

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langgraph.store.base import BaseStore, SearchItem
from pydantic import BaseModel, BeforeValidator, create_model
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from langmemory.nodes.access import GROWTH, StoreAccess, changes_of, delete_steps
from langmemory.nodes.namespaces import NamespaceTemplate, fill, viewer_of
from langmemory.nodes.node import run_of
from langmemory.schemas import as_pydantic
from langmemory.steps import Steps, call, thread_call
from langmemory.tools.answering import memory_tool, refuse
from langmemory.types import Priority

Action = Literal["create", "update", "delete"]

INSTRUCTIONS = """\
Proactively call this tool when you:

1. Identify a new USER preference.
2. Receive an explicit USER request to remember something or otherwise alter your behavior.
3. Are working and want to record important context.
4. Identify that an existing MEMORY is incorrect or outdated.
"""


def create_manage_memory_tool(
    namespace: tuple[str, ...] | str,
    *,
    instructions: str = INSTRUCTIONS,
    schema: Any = str,
    actions_permitted: tuple[Action, ...] | None = ("create", "update", "delete"),
    viewer: str | None = "{user_id|}",
    agent: str = "{agent|}",
    shows_priority: bool = False,
    store: BaseStore | None = None,
    name: str = "manage_memory",
) -> StructuredTool:
    """Return a tool that lets the model write memories, with LangMem's signature and answers.

    Memories are items ``{"content": …}`` under a UUID, with ``priority`` where the model gives one. What
    the model would have in every prompt, a mandate, becomes a guardrail, and a review asks a person. In a
    `MemoryStore` an undo of the run restores deleted ones.

    Args:
        namespace: template of their namespace; its variables come from the run, see
            `langmemory.nodes.NamespaceTemplate`.
        instructions: tells the model when to use it.
        schema: type of a memory's content: ``str``, a pydantic model, a TypedDict, a JSON schema with
            a title, or any JSON type.
        actions_permitted: the permitted actions.
        viewer: template of the person on whose behalf it acts, and who owns the memories; None is the
            application. If the store supports viewers, others' private memories are hidden.
        agent: template of the name of the agent that says what it writes; empty names none.
        shows_priority: whether the model is told that it may give a priority; LangMem's schema has none.
        store: used instead of the graph's store, or outside a graph.

    Raises:
        ValueError: no action is permitted, or an unknown one.
        ConfigError: the JSON schema has no title or no fields.
    """
    if not actions_permitted:
        raise ValueError("actions_permitted cannot be empty")
    template = NamespaceTemplate(namespace)
    permitted = (
        (actions_permitted,) if isinstance(actions_permitted, str) else tuple(actions_permitted)
    )
    if unknown := set(permitted).difference(get_args(Action)):
        raise ValueError(
            f"actions_permitted has {', '.join(map(repr, sorted(unknown)))}; possible are "
            f"{', '.join(map(repr, get_args(Action)))}"
        )
    reason = f"deleted by the tool {name}"
    default: Action = "create" if "create" in permitted else permitted[0]
    shown: Any = Priority | None
    fields: dict[str, Any] = {
        "content": (as_pydantic(schema) | None, None),
        "action": (Literal[permitted], default),
        "id": (Annotated[uuid.UUID | None, BeforeValidator(_as_uuid)], None),
        "priority": (shown if shows_priority else Annotated[shown, SkipJsonSchema()], None),  # type: ignore[type-arg]
    }
    arguments = create_model(name, **fields)

    def manage_memory(
        config: RunnableConfig,
        content: Any = None,
        action: Action = default,
        id: uuid.UUID | None = None,
        priority: Priority | None = None,
    ) -> Steps[str]:
        if action not in permitted:
            raise refuse(f"Invalid action {action}. Must be one of {permitted}.")
        if action == "create" and id is not None:
            raise refuse(
                "You cannot provide a MEMORY ID when creating a MEMORY. Please try again, "
                "omitting the id argument."
            )
        if action in ("delete", "update") and not id:
            raise refuse("You must provide a MEMORY ID when deleting or updating a MEMORY.")
        target, scope = run_of(config, store, name, viewer)
        where, key = template.resolve(scope), str(id or uuid.uuid4())
        if action == "delete":
            yield from delete_steps(target, where, key, reason=reason)
            return f"Deleted memory {key}"
        plain = content.model_dump(mode="json") if isinstance(content, BaseModel) else content
        value: dict[str, Any] = {"content": plain}
        if speaker := fill(agent, scope):
            value["speaker"] = speaker
        if priority is not None:
            value["priority"] = "guardrail" if priority == "mandate" else priority
        yield call(target, "put", where, key, value)
        if priority == "mandate" and (changes := changes_of(target)) is not None:
            yield call(changes, "propose_mandate", where, key, reason=f"asked by the tool {name}")
            return f"{action}d memory {key}; a person is asked whether it may stand in every prompt"
        return f"{action}d memory {key}"

    return memory_tool(
        name=name,
        description=(
            f"{_verbs(permitted)} a memory to persist across conversations.\n"
            "Include the MEMORY ID when updating or deleting a MEMORY. Omit when creating a new "
            f"MEMORY - it will be created for you.\n{instructions}"
        ),
        arguments=arguments,
        work=manage_memory,
    )


def _as_uuid(id: Any) -> Any:
    """A model that was shown a memory block knows memories by the ids there, which are no UUIDs; nor
    are the keys of turns and facts, which a search shows beside those of memories made here."""
    if isinstance(id, str):
        try:
            return uuid.UUID(id)
        except ValueError:
            raise PydanticCustomError(
                "memory_id",
                "Input should be a valid UUID, the key of a memory made with this tool, as a search shows "
                "it. Others, with keys like fact/1a2b or ids like R:1a2b3c4d, are for reading, and for "
                "memory_archive where you have it; what is so now is a new memory",
            ) from None
    return id


def _verbs(permitted: tuple[str, ...]) -> str:
    """``Create, update, or delete``."""
    if len(permitted) == 1:
        return permitted[0]
    comma = "," if len(permitted) > 2 else ""
    return f"{', '.join(permitted[:-1])}{comma} or {permitted[-1]}".capitalize()


def create_search_memory_tool(
    namespace: tuple[str, ...] | str,
    *,
    instructions: str = "",
    viewer: str | None = "{user_id|}",
    store: BaseStore | None = None,
    response_format: Literal["content", "content_and_artifact"] = "content",
    name: str = "search_memory",
) -> StructuredTool:
    """Return a tool that lets the model search memories, with LangMem's signature and answers.

    It answers with the found items as JSON.

    Args:
        namespace: template of the prefix to search; its variables come from the run, see
            `langmemory.nodes.NamespaceTemplate`.
        instructions: tells the model when to use it.
        viewer: template of the person whose private memories may be shown; None shows all.
        store: used instead of the graph's store, or outside a graph.
        response_format: ``content_and_artifact`` also hands the items themselves to the program.
    """
    template = NamespaceTemplate(namespace)
    fields: dict[str, Any] = {
        "query": (str, ...),
        "limit": (int, 10),
        "offset": (int, 0),
        "filter": (dict | None, None),
    }
    arguments = create_model(name, **fields)

    # What is not in force any more must not take the places of what is: more is searched for then.
    def search_memory(
        config: RunnableConfig, query: str, limit: int = 10, offset: int = 0, filter: Any = None
    ) -> Steps[Any]:
        if limit < 0 or offset < 0:
            raise refuse(f"limit is {limit} and offset {offset}. Use 0 or more.")
        source, scope = run_of(config, store, name, viewer)
        where, asked = template.resolve(scope), limit + offset
        in_force, who = StoreAccess(source).in_force, viewer_of(viewer, scope)
        while True:
            with _filter_explained(filter):
                found = yield call(source, "search", where, query=query, limit=asked, filter=filter)
            shown: list[SearchItem] = yield thread_call(in_force, found, who)
            if len(shown) >= limit + offset or len(found) < asked:
                break
            asked *= GROWTH
        shown = shown[offset : offset + limit]
        items = [item.dict() for item in shown]
        text = json.dumps(items, ensure_ascii=False, separators=(",", ":"))
        return (text, shown) if response_format == "content_and_artifact" else text

    return memory_tool(
        name=name,
        description=(
            "Search your long-term memories for information relevant to your current context. "
            f"{instructions}"
        ),
        arguments=arguments,
        work=search_memory,
        response_format=response_format,
    )


@contextmanager
def _filter_explained(filter: Any) -> Iterator[None]:
    """A filter the store cannot do anything with is the model's to correct."""
    try:
        yield
    except (TypeError, ValueError) as error:  # what LangGraph's stores raise for one
        if not filter:
            raise
        raise refuse(
            f"filter is {filter!r:.200}, which cannot be used: {error} Name fields with the value "
            f"they must have, as in {{'kind': 'fact'}}, or leave it out."
        ) from error
