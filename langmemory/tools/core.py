"""core_memory_append, core_memory_replace, core_memory_rethink: the model edits its core blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langgraph.store.base import BaseStore
from pydantic import BaseModel, create_model

from langmemory.context.escape import quoted_lines
from langmemory.nodes.core_memory import (
    BLOCKS,
    CoreBlock,
    CoreMemory,
    CoreMemoryError,
    check_labels,
)
from langmemory.nodes.namespaces import NamespaceTemplate
from langmemory.nodes.node import run_of
from langmemory.tools.answering import memory_tool, refuse


def create_core_memory_tools(
    namespace: tuple[str, ...] | str,
    *,
    labels: Mapping[str, str] = BLOCKS,
    limits: Mapping[str, int] = MappingProxyType({}),
    viewer: str | None = "{user_id|}",
    store: BaseStore | None = None,
) -> list[StructuredTool]:
    """Return the three tools that edit core blocks.

    Args:
        namespace: template of the memories' namespace, see `langmemory.nodes.NamespaceTemplate`.
        labels: the blocks by label, with their purposes.
        limits: characters by label; a block keeps the limit of its last version.
        viewer: template of the person on whose behalf the model edits; None is the application.
        store: used instead of the graph's store, or outside a graph.

    Raises:
        ConfigError: a label has no purpose.
    """
    template = NamespaceTemplate(namespace)
    what = " ".join(f"{label}: {purpose}" for label, purpose in check_labels(labels).items())

    def edit(config: RunnableConfig, name: str, change: Callable[[CoreMemory], CoreBlock]) -> str:
        target, scope = run_of(config, store, name, viewer)
        core = CoreMemory(
            target, template.resolve(scope), labels=labels, limits=limits, editor="assistant"
        )
        try:
            block = change(core)
        except CoreMemoryError as error:
            raise refuse(_refusal(error)) from error
        return _standing(block)

    def core_memory_append(config: RunnableConfig, block: str, content: str) -> str:
        return edit(config, "core_memory_append", lambda core: core.append(block, content))

    def core_memory_replace(
        config: RunnableConfig, block: str, old_content: str, new_content: str
    ) -> str:
        return edit(
            config,
            "core_memory_replace",
            lambda core: core.replace(block, old_content, new_content),
        )

    def core_memory_rethink(config: RunnableConfig, block: str, new_content: str) -> str:
        return edit(config, "core_memory_rethink", lambda core: core.rethink(block, new_content))

    def tool(call: Callable[..., str], description: str, **arguments: Any) -> StructuredTool:
        fields: dict[str, Any] = {"block": (Literal[tuple(labels)], ...), **arguments}
        model: type[BaseModel] = create_model(call.__name__, **fields)
        return memory_tool(name=call.__name__, description=description, arguments=model, work=call)

    return [
        tool(
            core_memory_append,
            f"Add one short line to a block of core memory, which is always in your prompt. {what}",
            content=(str, ...),
        ),
        tool(
            core_memory_replace,
            "Replace a passage of a core memory block: old_content must be in it exactly once; an "
            "empty new_content deletes it.",
            old_content=(str, ...),
            new_content=(str, ...),
        ),
        tool(
            core_memory_rethink,
            "Write a core memory block anew, for example shorter when it is nearly full, with all that "
            "is worth keeping.",
            new_content=(str, ...),
        ),
    ]


def _standing(block: CoreBlock) -> str:
    if block.proposed is not None:
        return (
            f"Block {block.label!r} is bound to a file, so a person decides on the change (review "
            f"{block.proposed}). Until then it still reads:\n{_quoted(block)}"
        )
    text = (
        f"Block {block.label!r} is saved (version {block.version}, {len(block.content)} of "
        f"{block.limit} characters)."
    )
    if block.nearly_full:
        text += " It is nearly full: rewrite it shorter with core_memory_rethink."
    return f"{text} It now reads:\n{_quoted(block)}"


def _refusal(error: CoreMemoryError) -> str:
    """The error, and what stands in the block, which the model needs to do better."""
    if error.block is None:
        return str(error)
    return f"{error} The block reads:\n{_quoted(error.block)}"


def _quoted(block: CoreBlock) -> str:
    """Return what a block holds as quoted data, as it stands in the prompt."""
    return "\n".join(quoted_lines(block.content)) if block.content else "(empty)"
