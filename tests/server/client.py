"""The server as tests call it: in this process, without a network, as a client at some address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("starlette", reason='the extra "server" is not installed')
pytest.importorskip("uvicorn", reason='the extra "server" is not installed')

import httpx

from langmemory.server.app import create_app
from langmemory.server.settings import ServerSettings
from langmemory.stores import MemoryStore
from langmemory.types import Namespace, TokenScope

API = "/api/v1/memory"
HERE, ELSEWHERE = "127.0.0.1", "203.0.113.7"


@asynccontextmanager
async def serving(
    store: MemoryStore,
    *,
    settings: ServerSettings | None = None,
    address: str = HERE,
    token: str | None = None,
    **options: Any,
) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the application over a store."""
    app = create_app(store, settings=settings, **options)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app, client=(address, 4711))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers
        ) as client:
            yield client


def token_of(
    store: MemoryStore,
    viewer: str | None,
    *namespaces: Namespace,
    scope: TokenScope = "write",
    agent: str | None = None,
) -> str:
    """Return a new token."""
    return store.tokens.create(viewer=viewer, namespaces=namespaces, scope=scope, agent=agent)[1]


def problem(response: httpx.Response) -> str:
    """Return the word for programs of a refusal, after checking its form."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    said = response.json()
    assert said["status"] == response.status_code
    assert said["title"]
    assert said["detail"]
    return str(said["type"].removeprefix("urn:langmemory:problem:"))
