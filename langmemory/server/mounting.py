"""Mounting: what the application has to know of the LangGraph server that it runs in (``http.app``)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from langmemory.errors import ConfigError
from langmemory.server.oauth.settings import is_loopback
from langmemory.stores import MemoryStore


@asynccontextmanager
async def surrounding_store() -> AsyncIterator[MemoryStore]:
    """Yield the store of the LangGraph server around; where it names none, the configured memory file.

    Raises:
        ConfigError: The server's store is of another kind.
    """
    loaded = sys.modules.get("langgraph_api.store")
    if loaded is None or loaded.CUSTOM_STORE is None:
        from langmemory.graphs.server import open_store

        async with open_store() as opened:
            yield opened
        return
    store = await loaded.get_store()  # the server closes it
    if not isinstance(store, MemoryStore):
        raise ConfigError(
            f"The store of this LangGraph server is a {type(store).__name__}, and the memory API needs a "
            'MemoryStore. Name one in langgraph.json: "store": {"path": "./store.py:open_store"}.'
        )
    yield store


def unprotected() -> str | None:
    """Return why the LangGraph server around lets everybody reach the application; None where it does not,
    or where there is none.

    It does unless ``enable_custom_route_auth`` stands beside ``app`` in langgraph.json, and is open to
    others unless it listens on loopback. Where it listens it says in ``LANGGRAPH_API_URL``.
    """
    http = os.environ.get("LANGGRAPH_HTTP")
    if not http or json.loads(http).get("enable_custom_route_auth"):
        return None
    host = urlsplit(os.environ.get("LANGGRAPH_API_URL", "")).hostname
    if host is not None and is_loopback(host):
        return None
    return (
        f"This LangGraph server listens on {host or 'an unknown address'}, and lets everybody reach the app "
        'of "http" in langgraph.json. So memory is closed there. Set "enable_custom_route_auth": true beside '
        '"app", or let the server listen on 127.0.0.1.'
    )
