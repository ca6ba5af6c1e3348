"""Memory for a program without a graph: five methods over a store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal
from uuid import uuid4

from langmemory.context.disclosure import disclose
from langmemory.errors import ConfigError
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.graphs.reflection import build_reflection_graph
from langmemory.messages import Message
from langmemory.operations.conversing import conversing_of
from langmemory.recall_options import OF_A_BLOCK
from langmemory.stores import MemoryStore
from langmemory.stores.face import bound
from langmemory.types import Namespace, Recall


class AgentMemory:
    """What an agent remembers in one namespace of a store, on behalf of a viewer."""

    def __init__(self, store: MemoryStore, namespace: Namespace, viewer: str | None = None) -> None:
        """``viewer`` None is the application, which may read everything."""
        self.store, self.namespace, self.viewer = store, tuple(namespace), viewer
        self._seen = bound(store, viewer)

    def manage(
        self,
        content: Any = None,
        *,
        action: Literal["create", "update", "delete"] = "create",
        key: str | None = None,
    ) -> str:
        """Create, update or delete a memory; return its key. A deletion can be undone."""
        if (action == "create") != (key is None):
            raise ConfigError(f"action is {action!r} and key {key!r}; all but create need a key.")
        key = key or str(uuid4())
        if action == "delete":
            self._seen.changes.remove(self.namespace, key, reason="deleted by the agent")
        else:
            self._seen.put(self.namespace, key, {"content": content})
        return key

    def search(self, query: str, limit: int = 10) -> Recall:
        """Return the memories that answer a query, best first."""
        return self._seen.recall(query, self.namespace, limit=limit)

    def flush(self, messages: Iterable[Message], thread_id: str) -> list[str]:
        """Store a conversation word for word, and derive facts from it; return the keys of what is new."""
        keys = self._seen.remember(self.namespace, messages, thread_id=thread_id)
        work = {"namespace": list(self.namespace), "thread_id": thread_id}
        build_reflection_graph(self.store).invoke(work)
        return keys

    def dream(self, *, dry_run: bool = False) -> dict[str, Any]:
        """Let memory age by one night; return its reports."""
        work = {"namespace": list(self.namespace), "dry_run": dry_run}
        found: dict[str, Any] = build_maintenance_graph(self.store).invoke(work)
        return found

    def format_for_injection(self, query: str, budget: int = 400) -> str:
        """Return the memory block for a prompt: what always holds, and what fits the query."""
        found = self._seen.recall(
            query,
            self.namespace,
            of_block=True,
            min_score=OF_A_BLOCK["min_score"],
            include_demoted=False,
        ).results
        conversing = conversing_of(self._seen)
        always = [] if conversing is None else conversing.mandates(self.namespace)
        return disclose([*always, *found], budget=budget, query=query).text
