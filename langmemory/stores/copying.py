"""Copying a memory between a file and a server, and out of LangGraph's own stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from langmemory.addresses import display_address
from langmemory.config import Config, load_config
from langmemory.engines.opening import contents_of, foreign_items, open_engine
from langmemory.errors import DatabaseError
from langmemory.operations.copying import Copied, copy_items, copy_memory
from langmemory.operations.core import Core
from langmemory.operations.journal import journal_of


def copy(
    source: str,
    target: str,
    *,
    fields: Sequence[str] | None = None,
    config: Config | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Copied:
    """Copy all memories of one place into an empty one, and prove that both hold the same.

    A memory comes with everything: facets, history, runs that can be undone, reviews, the graph, jobs,
    messages, tokens, settings and vectors. Ids of rows (`Memory.id`) are new, as after an import; keys and
    short ids stay. Of LangGraph's SqliteStore and
    PostgresStore come the items with their times and TTLs; vectors are made anew with the configured
    model. A copy that was killed goes on when it is called again, unless the source changed; `MemoryStore`
    does not open the target before it is whole.

    Args:
        source: A file, or ``postgresql://user@host/database?schema=name``; it is not changed.
        target: Likewise; it is created, and has to be empty.
        fields: ``fields`` of the index config with which the application opens its store.
        config: Settings; None reads them as `MemoryStore` does.
        progress: Called with (memories done, memories in all).

    Raises:
        DatabaseError: There is nothing to copy, the target is not empty or cannot take it, or the two
            differ in the end.
    """
    config = config or load_config()
    found = contents_of(source)
    if found == "nothing":
        raise DatabaseError(
            f"{display_address(source)} holds no memory of langmemory and no store of LangGraph's. "
            "Name another source."
        )
    if found == "items":
        core = Core(
            target, open_engine, journal_of, index={"fields": list(fields)} if fields else None,
            ttl=None, config=config, expander=None, reranker=None, redactor=None,
        )  # fmt: skip
        try:
            return copy_items(
                core, display_address(source), partial(foreign_items, source), progress
            )
        finally:
            core.close()
    one = open_engine(source, config.database)
    try:
        other = open_engine(target, config.database)
        try:
            return copy_memory(
                one, other, lambda file: open_engine(file, config.database),
                fields=fields, config=config, progress=progress,
            )  # fmt: skip
        finally:
            other.close()
    finally:
        one.close()
