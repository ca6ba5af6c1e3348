"""What a check works with: one store, behind its sync or its async methods."""

from __future__ import annotations

import asyncio
import inspect
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore

Way = Literal["sync", "async"]

Factory = Callable[..., Any]
"""Returns a store, or a context manager of one, sync or async. It is passed those of ``folder`` (where a
store keeps its data; the same folder is the same data), ``index`` and ``ttl`` that it has parameters for."""

DIMS = 16
FIELDS = ["text", "tags[*]"]
NS_PROBE = ("probe",)
MINUTES = 0.01
"""The TTL of items that are to expire."""
PATIENCE = 6.0
"""Seconds after which an item that expires after `MINUTES` has to be gone."""


class Difference(AssertionError):
    """What a store did is not what the contract says."""


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
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return {"folder", "index", "ttl"}
    return {"folder", "index", "ttl"} & set(parameters)


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
    """One store of a factory, for one check."""

    def __init__(self, factory: Factory, folder: Path, way: Way, indexed: bool, ttl: Any) -> None:
        self.embeddings = WordEmbeddings()
        self.way = way
        self._factory = factory
        self._options: dict[str, Any] = {"folder": folder, "ttl": ttl}
        if indexed:
            self._options["index"] = {"dims": DIMS, "embed": self.embeddings, "fields": FIELDS}
        self._stack = AsyncExitStack()
        self.store: BaseStore

    async def __aenter__(self) -> Bench:
        self.store = await self._stack.enter_async_context(opened(self._factory, **self._options))
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def reopen(self) -> None:
        """Close the store, and open it again in the same folder."""
        await self._stack.aclose()
        await self.__aenter__()

    async def call(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of the store: its async twin, or the sync one in a thread, as graphs do."""
        if self.way == "async":
            return await getattr(self.store, f"a{method}")(*arguments, **options)
        return await asyncio.to_thread(getattr(self.store, method), *arguments, **options)

    async def put(self, namespace: Any, key: str, value: Any, *index: Any, **options: Any) -> None:
        await self.call("put", namespace, key, value, *index, **options)

    async def get(self, namespace: Any, key: str, **options: Any) -> Any:
        return await self.call("get", namespace, key, **options)

    async def value(self, namespace: Any, key: str, **options: Any) -> Any:
        """Return the value of an item; None where there is none."""
        item = await self.get(namespace, key, **options)
        return None if item is None else item.value

    async def delete(self, namespace: Any, key: str) -> None:
        await self.call("delete", namespace, key)

    async def search(self, namespace: Any, **options: Any) -> Any:
        return await self.call("search", namespace, **options)

    async def keys(self, namespace: Any, **options: Any) -> list[str]:
        """Return the keys that a search gives, in its order."""
        return [item.key for item in await self.search(namespace, **options)]

    async def namespaces(self, **options: Any) -> Any:
        return await self.call("list_namespaces", **options)

    async def batch(self, ops: Any) -> Any:
        return await self.call("batch", ops)

    async def gone(
        self, namespace: Any, key: str, *, meanwhile: str | None = None, sweeps: bool = True
    ) -> bool:
        """Wait until an item has expired, sweeping where the store has a method for it. The item
        ``meanwhile`` is read again and again."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if meanwhile is not None:
                await self.get(namespace, meanwhile)
            if sweeps and (sweep := getattr(self.store, "sweep_ttl", None)):
                swept = await asyncio.to_thread(sweep)
                if inspect.isawaitable(swept):
                    await swept
            if await self.get(namespace, key, refresh_ttl=False) is None:
                return True
            await asyncio.sleep(0.1)
        return False


def same(got: Any, wanted: Any, what: str) -> None:
    """Raise `Difference` unless both are equal."""
    if got != wanted:
        raise Difference(f"{what}: got {got!r}, not {wanted!r}")


def near(got: float | None, wanted: float, what: str) -> None:
    """Raise `Difference` unless a score is as good as another."""
    if got is None or abs(got - wanted) > 1e-3:
        raise Difference(f"{what}: got {got!r}, not {wanted!r}")


async def refused(what: str, error: type[Exception], call: Any) -> None:
    """Raise `Difference` unless a call raises an error."""
    try:
        answer = await call
    except error:
        return
    except Exception as other:
        raise Difference(f"{what}: {other!r} was raised, not {error.__name__}") from other
    raise Difference(f"{what}: {error.__name__} was not raised, the answer is {answer!r}")
