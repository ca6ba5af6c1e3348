"""Async calls of a store do their work outside the event loop's thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from langmemory import MemoryStore
from langmemory.embeddings.local import LocalEmbedder, Vectors
from langmemory.operations.workers import READ_THREADS

NAMESPACE = ("users", "maria")


class WatchedEmbedder(LocalEmbedder):
    """Records the thread of each call, and waits for `open` with a query that says "wait"."""

    model_id = "watched"
    dims = 4

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.open = threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.threads.add(threading.get_ident())
        if any("wait" in text for text in texts):
            self.open.wait(60)
        return np.full((len(texts), self.dims), 0.5, dtype=np.float32)


@pytest.mark.parametrize("call", ["aput", "asearch", "arecall", "aremember", "abatch"])
async def test_no_async_call_prepares_text_on_the_loop(tmp_path: Path, call: str) -> None:
    """Whatever the size of a text, it is normalised, split and embedded in another thread."""
    embedder = WatchedEmbedder()
    async with MemoryStore(tmp_path / "m.db", index={"embed": embedder, "dims": 4}) as store:
        calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "aput": lambda: store.aput(NAMESPACE, "food", {"text": "peanuts"}),
            "asearch": lambda: store.asearch(NAMESPACE, query="peanuts"),
            "arecall": lambda: store.arecall("What does Maria eat?", NAMESPACE),
            "aremember": lambda: store.aremember(
                NAMESPACE, [{"role": "user", "content": "I eat peanuts."}], thread_id="t"
            ),
            "abatch": lambda: store.for_viewer("maria").aput(NAMESPACE, "food", {"text": "nuts"}),
        }
        await calls[call]()
    assert embedder.threads
    assert threading.get_ident() not in embedder.threads


async def test_a_get_does_not_wait_for_searches(tmp_path: Path) -> None:
    """While more searches run than there are threads for them, an item is read and written."""
    embedder = WatchedEmbedder()
    async with MemoryStore(tmp_path / "m.db", index={"embed": embedder, "dims": 4}) as store:
        await store.aput(NAMESPACE, "food", {"text": "peanuts"})
        searches = [
            asyncio.create_task(store.asearch(NAMESPACE, query=f"wait {n}"))
            for n in range(READ_THREADS * 2)
        ]
        try:
            await asyncio.sleep(0)
            async with asyncio.timeout(30):
                found = await store.aget(NAMESPACE, "food")
                await store.aput(NAMESPACE, "drink", {"text": "tea"})
            assert found is not None
            assert not any(search.done() for search in searches)
        finally:
            embedder.open.set()
        answers = await asyncio.gather(*searches)
        assert all(len(found) == 2 for found in answers)


async def test_concurrent_puts_are_written_in_the_order_of_their_calls(tmp_path: Path) -> None:
    """The last of many puts under one key stands, also where the first one is much longer."""
    async with MemoryStore(tmp_path / "m.db") as store:
        texts = ["Maria eats peanuts. " * 2_000, *(f"Maria eats {n} nuts." for n in range(20))]
        await asyncio.gather(*(store.aput(NAMESPACE, "food", {"text": text}) for text in texts))
        found = await store.aget(NAMESPACE, "food")
    assert found is not None
    assert found.value["text"] == texts[-1]
