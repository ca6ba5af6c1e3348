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
from pydantic import BaseModel, BeforeValidator, TypeAdapter, WithJsonSchema, create_model
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from langmemory.citing import FOLLOWED
from langmemory.context.notes import notes_of, text_of
from langmemory.nodes.access import GROWTH, StoreAccess, changes_of, delete_steps
from langmemory.nodes.lookup import find, is_short_id
from langmemory.nodes.namespaces import NamespaceTemplate, fill, viewer_of
from langmemory.nodes.node import run_of
from langmemory.schemas import as_pydantic
from langmemory.steps import Steps, call, thread_call
from langmemory.tools.answering import State, lines, memory_tool, refuse, trust_of_words
from langmemory.types import Namespace, Priority

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
        "id": (MemoryId, None),
        "priority": (shown if shows_priority else Annotated[shown, SkipJsonSchema()], None),  # type: ignore[type-arg]
    }
    arguments = create_model(name, **fields)

    def manage_memory(
        config: RunnableConfig,
        content: Any = None,
        action: Action = default,
        id: uuid.UUID | str | None = None,
        priority: Priority | None = None,
        state: State = None,
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
        if isinstance(id, str):  # as a search and the memory block show it
            key = yield thread_call(_managed, target, where, id, viewer_of(viewer, scope))
        if action == "delete":
            yield from delete_steps(target, where, key, reason=reason)
            return f"Deleted memory {key}"
        plain = content.model_dump(mode="json") if isinstance(content, BaseModel) else content
        value: dict[str, Any] = {"content": plain}
        if speaker := fill(agent, scope):
            value["speaker"] = speaker
        trust = trust_of_words(text_of(plain), state)
        changes = changes_of(target)
        if (
            speaker or trust not in FOLLOWED or changes is not None
        ):  # else a store that LangMem's values are for
            value["trust"] = trust
        if priority is not None:
            value["priority"] = "guardrail" if priority == "mandate" else priority
        yield call(target, "put", where, key, value)
        if priority == "mandate" and changes is not None:
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


LINE_TOKENS = 32
"""Of a memory in a short answer, approximately; get_memory shows all of it."""

OF_OTHERS = (
    "Input should be a valid UUID, or a short id such as R:1a2b3c4d, of a memory made with this tool, as a "
    "search shows it. Others, such as turns and facts, are for reading, and for memory_archive where you "
    "have it; what is so now is a new memory"
)


def _as_id(id: Any) -> Any:
    """A model knows memories by the short ids of searches and of the memory block; those of turns and facts
    stand beside those of memories made here."""
    if id is None or isinstance(id, uuid.UUID) or (isinstance(id, str) and is_short_id(id)):
        return id
    try:
        return uuid.UUID(id)
    except (ValueError, TypeError, AttributeError):
        raise PydanticCustomError("memory_id", OF_OTHERS) from None


MemoryId = Annotated[
    Any, BeforeValidator(_as_id), WithJsonSchema(TypeAdapter(uuid.UUID | None).json_schema())
]
"""What LangMem's schema has."""


def _managed(store: BaseStore, namespace: Namespace, id: str, viewer: str | None) -> str:
    """Return the key of a memory made with this tool, by its short id."""
    key = find(store, namespace, id, viewer, None).key
    try:
        return str(uuid.UUID(key))
    except ValueError:
        raise refuse(
            f"The arguments are not valid: id: {OF_OTHERS}. Correct it and call again."
        ) from None


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
    short: bool = False,
    name: str = "search_memory",
) -> StructuredTool:
    """Return a tool that lets the model search memories, with LangMem's signature and answers.

    It answers with the found items as JSON, or with a line for each.

    Args:
        namespace: template of the prefix to search; its variables come from the run, see
            `langmemory.nodes.NamespaceTemplate`.
        instructions: tells the model when to use it.
        viewer: template of the person whose private memories may be shown; None shows all.
        store: used instead of the graph's store, or outside a graph.
        short: answer with a line for each memory, its id and what it says, as `create_memory_tools` has it;
            ten take less than 400 tokens.
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
        head = ""
        while True:
            with _filter_explained(filter):
                found = yield call(source, "search", where, query=query, limit=asked, filter=filter)
            shown: list[SearchItem] = yield thread_call(in_force, found, who)
            if short and filter and not found:  # small models invent fields
                head, filter = f"Nothing has {json.dumps(filter, ensure_ascii=False)}.", None
            elif len(shown) >= limit + offset or len(found) < asked:
                break
            else:
                asked *= GROWTH
        shown = shown[offset : offset + limit]
        if short:
            found_lines = lines(notes_of(shown), query, LINE_TOKENS)
            head = f"{head} Without this filter:\n" if head and found_lines else head
            text = f"{head}{found_lines}" or "Nothing was found."
        else:
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
