"""One pass of the memory manager: what was there, and what becomes of it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langgraph.store.base import BaseStore, Item, SearchItem
from pydantic import BaseModel

from langmemory.changes import AddMemory, Change, ChangeSet, RemoveMemory, UpdateMemory
from langmemory.operations.gathering import Gathering
from langmemory.parts.langmem.schemas import ExtractedMemory, RemoveDoc, Schema, kind_of
from langmemory.reflection.tokens import Usage, noted
from langmemory.stores import MemoryStore
from langmemory.types import Namespace

REASON: Final = "memory manager"
"""Of its runs."""


@dataclass(kw_only=True, slots=True)
class Pass:
    """One run of the manager on its way: where, what is there, what becomes of it."""

    store: BaseStore
    namespace: Namespace
    schemas: Sequence[Schema]
    found: dict[str, Item] = field(default_factory=dict)
    """Stored memories, by the id the model's changes come back with."""
    current: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """Kind and content of each memory as it is to be."""
    before: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """The same as it was found."""
    removed: dict[str, None] = field(default_factory=dict)
    seen: int | None = None
    """`ChangeSet.planned_at` of what becomes of it."""

    def look(self) -> None:
        """Note the newest change there is: later ones the model will not have seen."""
        if isinstance(self.store, MemoryStore):
            with Gathering(self.store).knowledge(self.namespace) as knowledge:
                self.seen = knowledge.seq

    def take(self, results: Iterable[Sequence[SearchItem]], limit: int) -> None:
        """The best of what was found; the same item once, as the earlier search found it."""
        items: dict[tuple[Namespace, str], SearchItem] = {}
        for item in (item for each in results for item in each):
            if kind_of(item.value, self.schemas):  # others call what they keep by such kinds, too
                items.setdefault((tuple(item.namespace), item.key), item)

        def score(item: SearchItem) -> float:
            return -1.0 if item.score is None else item.score

        for item in sorted(items.values(), key=score, reverse=True)[:limit]:
            self.add(item)

    def add(self, item: Item) -> None:
        id = "/".join((*item.namespace, item.key))
        self.found[id] = item
        kind = kind_of(item.value, self.schemas) or self.schemas[0].__name__
        self.current[id] = self.before[id] = (kind, item.value["content"])

    def existing(self) -> list[tuple[str, str, Any]]:
        return [(id, kind, content) for id, (kind, content) in self.current.items()]

    def change(self, memories: Sequence[ExtractedMemory]) -> None:
        for id, content in memories:
            if isinstance(content, RemoveDoc):
                self.current.pop(id, None)
                self.removed[id] = None
            elif isinstance(content, BaseModel):
                self.current[id] = (type(content).__name__, content.model_dump(mode="json"))

    def puts(self) -> list[dict[str, Any]]:
        """Memories that are new or otherwise than before, in LangMem's form."""
        puts = []
        for id, (kind, content) in self.current.items():
            if self.before.get(id) == (kind, content):
                continue
            value = {"kind": kind, "content": content}
            old = self.found.get(id)
            if old is not None:
                value = {**old.value, **value}  # what the application keeps beside them stays
            if old is None:
                puts.append({"namespace": self.namespace, "key": id, "value": value})
            else:
                puts.append({"namespace": tuple(old.namespace), "key": old.key, "value": value})
        return puts

    def deletes(self) -> list[tuple[Namespace, str]]:
        gone = [self.found[id] for id in self.removed if id in self.found]
        return [(tuple(item.namespace), item.key) for item in gone]

    def change_sets(self, puts: Sequence[Mapping[str, Any]], usage: Usage) -> list[ChangeSet]:
        """The puts and deletions as change sets, one a namespace, each a run that can be undone. What
        the models took for all of them stands with the first."""
        prices = self.store.config.models.prices if isinstance(self.store, MemoryStore) else {}
        tokens = noted(usage, prices)
        stored = {(tuple(item.namespace), item.key) for item in self.found.values()}
        changes: dict[Namespace, list[Change]] = {}
        for put in puts:
            there = (put["namespace"], put["key"]) in stored
            change = UpdateMemory if there else AddMemory
            changes.setdefault(put["namespace"], []).append(
                change(key=put["key"], value=put["value"])
            )
        for namespace, key in self.deletes():
            changes.setdefault(namespace, []).append(RemoveMemory(key=key))
        return [
            ChangeSet(
                namespace=namespace,
                run_id=f"memories/{uuid.uuid4().hex}",
                kind="reflection",
                reason=REASON,
                changes=tuple(each),
                note={"changes": len(each), **({} if place else tokens)},
                planned_at=self.seen,
            )
            for place, (namespace, each) in enumerate(changes.items())
        ]
