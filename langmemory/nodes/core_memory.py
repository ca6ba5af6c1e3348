"""Core memory: the few short texts that are always in context, edited by the model and the person.

A block is an item of kind ``core`` under the memories' namespace plus ``"core"``. It is not
indexed, so it is never recalled a second time. A store that keeps history (MemoryStore) has every
earlier version in ``store.history(namespace, label)``; the version number counts in any store.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from langgraph.store.base import BaseStore, Item

from langmemory.context.escape import quoted_lines
from langmemory.errors import LangMemoryError
from langmemory.types import Namespace

LIMIT_CHARACTERS = 2000
"""Largest block, in characters (about 500 tokens)."""

NEARLY_FULL = 0.9
"""Share of the limit from which a block wants to be rewritten shorter."""

BLOCKS: Mapping[str, str] = MappingProxyType(
    {
        "persona": "Who the assistant is: its name, tone and manner.",
        "human": "Lasting facts about the person: name, family, work, preferences.",
        "task": "What is being worked on over several conversations, and where it stands.",
    }
)
"""The blocks everybody has: label → what belongs in it."""

_editing = threading.Lock()
"""A model may edit one block twice in parallel; each edit reads and then writes."""


class CoreMemoryError(LangMemoryError, ValueError):
    """An edit was refused; the message is written for the model that tried it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CoreBlock:
    """One block as it stands."""

    label: str
    content: str = ""
    version: int = 0
    """Grows by one with every edit; 0 is a block nobody wrote yet."""
    limit: int = LIMIT_CHARACTERS
    """Characters."""

    @property
    def fill(self) -> float:
        """Share of the limit that is used, 0..1."""
        return len(self.content) / self.limit

    @property
    def nearly_full(self) -> bool:
        return self.fill >= NEARLY_FULL


class CoreMemory:
    """The blocks of one person.

    Args:
        store: any store.
        namespace: the memories' namespace, without variables.
        labels: which blocks there are and what belongs in each.
        limits: characters by label where `LIMIT_CHARACTERS` is not right.
    """

    def __init__(
        self,
        store: BaseStore,
        namespace: Namespace,
        *,
        labels: Mapping[str, str] = BLOCKS,
        limits: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.store = store
        self.namespace = (*namespace, "core")
        self.labels = labels
        self.limits = limits

    def blocks(self) -> list[CoreBlock]:
        """Every block in the order of the labels, empty ones included."""
        return self._blocks(self.store.search(self.namespace, limit=len(self.labels) + 50))

    async def ablocks(self) -> list[CoreBlock]:
        return self._blocks(await self.store.asearch(self.namespace, limit=len(self.labels) + 50))

    def append(self, label: str, text: str) -> CoreBlock:
        """Add a line to a block.

        Raises:
            CoreMemoryError: no such block, nothing to add, or no room for it.
        """
        if not text.strip():
            raise CoreMemoryError("There is nothing to append: content is empty.")
        return self._edit(label, lambda old: f"{old}\n{text.strip()}".strip())

    def replace(self, label: str, old: str, new: str) -> CoreBlock:
        """Replace one passage of a block; an empty `new` deletes it.

        Raises:
            CoreMemoryError: no such block, `old` is not in it exactly once, or no room.
        """

        def edit(content: str) -> str:
            count = content.count(old) if old else 0
            if count != 1:
                raise CoreMemoryError(
                    f"old_content must be in block {label!r} exactly once, it is there {count} "
                    f"times. The block reads:\n{content or '(empty)'}"
                )
            return content.replace(old, new).strip()

        return self._edit(label, edit)

    def rethink(self, label: str, content: str) -> CoreBlock:
        """Write a block anew.

        Raises:
            CoreMemoryError: no such block, or no room.
        """
        return self._edit(label, lambda _: content.strip())

    def _edit(self, label: str, edit: Callable[[str], str]) -> CoreBlock:
        if label not in self.labels:
            raise CoreMemoryError(
                f"There is no block {label!r}. Blocks: {', '.join(sorted(self.labels))}."
            )
        with _editing:
            item = self.store.get(self.namespace, label)
            before = self._block(label, item)
            content = edit(before.content)
            if len(content) > before.limit:
                raise CoreMemoryError(
                    f"Block {label!r} holds {before.limit} characters; it would have "
                    f"{len(content)}. Rewrite it shorter with core_memory_rethink, keeping what "
                    f"matters. It reads:\n{before.content}"
                )
            after = CoreBlock(
                label=label, content=content, version=before.version + 1, limit=before.limit
            )
            value = {"kind": "core", "content": after.content, "version": after.version}
            self.store.put(self.namespace, label, value, index=False)
        return after

    def _blocks(self, items: list[Any]) -> list[CoreBlock]:
        found = {item.key: item for item in items if item.namespace == self.namespace}
        return [self._block(label, found.get(label)) for label in self.labels]

    def _block(self, label: str, item: Item | None) -> CoreBlock:
        value = item.value if item is not None else {}
        return CoreBlock(
            label=label,
            content=str(value.get("content", "")),
            version=int(value.get("version", 0)),
            limit=self.limits.get(label, LIMIT_CHARACTERS),
        )


def render_core(blocks: list[CoreBlock], labels: Mapping[str, str] = BLOCKS) -> str:
    """The blocks that say something, as the model sees them; empty when none does."""
    lines = []
    for block in blocks:
        if block.content:
            used = f"{len(block.content)} of {block.limit} characters"
            lines.append(f"{block.label} ({used}): {labels.get(block.label, '')}")
            lines.extend(quoted_lines(block.content))
    return "\n".join(["<core_memory>", *lines, "</core_memory>"]) if lines else ""
