"""What a check works with: one store, behind its sync or its async methods."""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore

Way = Literal["sync", "async"]

Factory = Callable[..., Any]
"""Returns a store, or a context manager of one, sync or async. It is passed those of ``folder`` (where a
store keeps its data; the same folder is the same data), ``index`` and ``ttl`` that it has parameters for."""

DIMS = 16
SECONDS = 60
"""A check that takes longer fails."""


class WordEmbeddings(Embeddings):
    """Each word is a direction of its own, so that texts with words in common are near each other."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        """What was embedded, but for queries."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        sums = [1e-3] * DIMS
        for word in text.lower().split():
            chosen = random.Random(word)
            sums = [one + chosen.gauss() for one in sums]
        return sums


def accepted(factory: Factory) -> set[str]:
    """Return which of the options a factory has parameters for."""
    parameters = inspect.signature(factory).parameters
    of_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    return {one for one in ("folder", "index", "ttl") if of_any or one in parameters}


@asynccontextmanager
async def opened(factory: Factory, **options: Any) -> AsyncIterator[BaseStore]:
    """Open the store of a factory, and close it at the end."""
    names = accepted(factory)
    made = factory(**{name: one for name, one in options.items() if name in names})
    async with AsyncExitStack() as stack:
        if isinstance(made, BaseStore):
            yield made
        elif hasattr(made, "__aenter__"):
            yield await stack.enter_async_context(made)
        else:
            yield stack.enter_context(made)


class Bench:
    """One store of a factory, for one check, which runs in a thread beside the loop of the store."""

    def __init__(self, factory: Factory, folder: Path, way: Way, indexed: bool, ttl: Any) -> None:
        index = {"dims": DIMS, "embed": WordEmbeddings(), "fields": ["text", "tags[*]"]}
        self.embeddings: Any = index["embed"]
        self.indexed = indexed
        self._way = way
        self._open = partial(
            opened, factory, folder=folder, ttl=ttl, **({"index": index} if indexed else {})
        )
        self._stack = AsyncExitStack()
        self.store: BaseStore

    async def __aenter__(self) -> Bench:
        self._loop = asyncio.get_running_loop()
        self.store = await self._stack.enter_async_context(self._open())
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    def _wait(self, answer: Awaitable[Any]) -> Any:
        async def within() -> Any:
            return await answer

        return asyncio.run_coroutine_threadsafe(within(), self._loop).result(SECONDS)

    def reopen(self) -> None:
        """Close the store, and open it again in the same folder."""
        self._wait(self.__aexit__())
        self._wait(self.__aenter__())

    def call(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of the store, or its async twin."""
        if self._way == "async":
            return self._wait(getattr(self.store, f"a{method}")(*arguments, **options))
        return getattr(self.store, method)(*arguments, **options)

    def sweep(self) -> None:
        """Remove what has expired, where the store has a method for it."""
        swept = getattr(self.store, "sweep_ttl", lambda: None)()
        if inspect.isawaitable(swept):
            self._wait(swept)
