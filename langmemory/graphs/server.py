"""The store that LangGraph's server (``langgraph dev``, Studio, deployments) loads beside a graph.

"store": { "path": "./store.py:open_store" }
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from langmemory.errors import ConfigError
from langmemory.stores import MemoryStore


@asynccontextmanager
async def open_store() -> AsyncIterator[MemoryStore]:
    """Open the configured memory file (``MEMORY_DB_PATH``, else ``config/memory.json``).

    The server calls this once per thread, all on one file, passes no configuration and never
    expires anything. So ``index`` and ``ttl`` of the ``store`` entry in langgraph.json are read from
    ``LANGGRAPH_STORE``, where the server puts them, and the store expires its items itself. As
    LangGraph documents, ``embed`` may name a file and an object in it, ``"./embeddings.py:embed"``, and
    reading an item prolongs its life unless ``refresh_on_read`` of ``ttl`` is false.

    Raises:
        ConfigError: a setting is wrong.
    """
    settings = json.loads(os.environ.get("LANGGRAPH_STORE") or "{}")
    # Opening touches the file system, which the server forbids on its event loop.
    store = await asyncio.to_thread(
        lambda: MemoryStore(index=_index(settings.get("index")), ttl=_ttl(settings.get("ttl")))
    )
    try:
        if store.ttl_config:
            store.start_ttl_sweeper()
        yield store
    finally:
        await store.aclose()


def _ttl(ttl: Any) -> Any:
    """The TTL config with the default that langgraph.json documents, where `MemoryStore` has that of
    SqliteStore."""
    return {"refresh_on_read": True, **ttl} if isinstance(ttl, dict) else ttl


def _index(index: Any) -> Any:
    """The index config, with the embedder itself where it names the file that has it."""
    embed = index.get("embed") if isinstance(index, dict) else None
    if not isinstance(embed, str) or ".py:" not in embed:
        return index
    return {**index, "embed": _embedder(embed)}


@functools.cache  # the server opens a store in each of its threads
def _embedder(name: str) -> Any:
    file, _, attribute = name.rpartition(":")
    try:
        return getattr(_module(file), attribute)
    except (OSError, ImportError, AttributeError) as error:
        raise ConfigError(
            f'"embed" of the store\'s index in langgraph.json is {name!r}, which cannot be loaded '
            f"({type(error).__name__}: {error}). Name a file, from the folder the server starts in, "
            f'and a function or Embeddings object in it, as in "./embeddings.py:embed".'
        ) from error


def _module(file: str) -> ModuleType:
    name = f"langmemory_embedder__{Path(file).stem}"  # hides no module of that name
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
