"""What LangGraph's server (``langgraph dev``, Studio, deployments) loads besides a graph: the store.

"store": { "path": "./store.py:open_store" }
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langmemory.stores import MemoryStore


@asynccontextmanager
async def open_store() -> AsyncIterator[MemoryStore]:
    """Open the configured memory file (``MEMORY_DB_PATH``, else ``config/memory.json``).

    The server calls this once per thread, all on one file, passes no configuration and never
    expires anything. So ``index`` and ``ttl`` of the ``store`` entry in langgraph.json are read
    from where the server puts them, ``LANGGRAPH_STORE``, and the store expires its items itself.
    """
    settings = json.loads(os.environ.get("LANGGRAPH_STORE") or "{}")
    # Opening touches the file system, which the server forbids on its event loop.
    store = await asyncio.to_thread(
        lambda: MemoryStore(index=settings.get("index"), ttl=settings.get("ttl"))
    )
    try:
        if store.ttl_config:
            store.start_ttl_sweeper()
        yield store
    finally:
        await store.aclose()
