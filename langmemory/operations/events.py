"""The events of a store: what it does, with counts, ids and milliseconds."""

from __future__ import annotations

import logging
from typing import Any, Final

from langmemory.events import Contents, Event, Fields
from langmemory.types import Applied, Forgotten, Recall

_LOGGER: Final = logging.getLogger("langmemory.store")


def _recalled(found: Recall) -> Fields:
    fields: dict[str, Any] = {"results": len(found), "preset": found.trace.preset}
    if found.trace.degraded:
        fields["degraded"] = len(found.trace.degraded)
    return fields


def _applied(done: Applied) -> Fields:
    fields: dict[str, Any] = {
        "run": done.run_id, "changes": len(done.lines), "added": len(done.added),
        "changed": len(done.changed), "removed": len(done.removed),
    }  # fmt: skip
    flags = {name: True for name in ("dry_run", "repeated") if getattr(done, name)}
    return fields | flags


def _forgotten(done: Forgotten) -> Fields:
    fields: dict[str, Any] = {
        "run": done.run_id, "memories": done.memories, "history": done.history,
        "facts_kept": done.facts_kept, "edges": done.edges, "entities": done.entities,
    }  # fmt: skip
    return fields | ({"dry_run": True} if done.dry_run else {})


def _documents(found: Recall) -> Fields:
    """Return the results as LangSmith shows those of a retriever."""
    return {
        "documents": [
            {
                "type": "Document",
                "page_content": one.text,
                "metadata": {"key": one.memory.key, "score": one.score},
            }
            for one in found
        ]
    }


RECALL: Final = Event(
    name="recall",
    counts=_recalled,
    logger=_LOGGER,
    run_type="retriever",
    contents=Contents(
        wanted=lambda store, *_, **__: bool(store.config.tracing.texts),
        inputs=lambda _, query="", *__, **___: {"query": query},
        outputs=_documents,
    ),
)
REMEMBER: Final = Event(name="remember", counts=lambda keys: {"added": len(keys)}, logger=_LOGGER)
APPLY: Final = Event(name="apply", counts=_applied, logger=_LOGGER)
UNDO: Final = Event(name="undo", counts=_applied, logger=_LOGGER)
REMOVE: Final = Event(name="remove", counts=_applied, logger=_LOGGER)
FORGET: Final = Event(name="forget", counts=_forgotten, logger=_LOGGER)
