"""What a store of ours promises beyond the contract of LangGraph's stores, by the sync and by the async
methods. That contract is tested in ``tests/contract/test_conformance.py``."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    PutOp,
)

from langmemory.changes import AddMemory, ChangeSet
from langmemory.errors import ConfigError, InvalidValueError
from langmemory.stores import MemoryStore
from tests.stores.embedders import WordEmbeddings


class Store:
    """A store behind either its sync or its async methods."""

    def __init__(self, store: BaseStore, asynchronous: bool) -> None:
        self.store = store
        self.asynchronous = asynchronous

    async def __call__(self, method: str, *arguments: Any, **options: Any) -> Any:
        if self.asynchronous:
            room, _, name = method.rpartition(".")
            place = getattr(self.store, room) if room else self.store
            return await getattr(place, f"a{name}")(*arguments, **options)
        return attrgetter(method)(self.store)(*arguments, **options)


@pytest.fixture(params=["sync", "async"])
def asynchronous(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "async")


@pytest.fixture(params=["file", "memory"])
def call(request: pytest.FixtureRequest, asynchronous: bool, tmp_path: Path) -> Iterator[Store]:
    """Either store, with an index over ``text`` and ``tags[*]``."""
    index: Any = {"dims": 16, "embed": WordEmbeddings(), "fields": ["text", "tags[*]"]}
    path = tmp_path / "m.db" if request.param == "file" else ":memory:"
    with MemoryStore(path, index={**index, "search": "semantic"}) as store:
        yield Store(store, asynchronous)


NS = ("users", "maria")


@pytest.mark.parametrize(
    "number", [math.inf, -math.inf, math.nan, 10.0**308 * 10, np.float32("inf")]
)
async def test_a_number_without_an_end_is_refused(call: Store, number: float) -> None:
    """JSON has no word for it, so that not every door would read it back; a text that names it is kept."""
    for value in ({"n": number}, {"nest": [{"a": [1, number]}]}):
        with pytest.raises(InvalidValueError, match=r"NaN|Infinity"):
            await call("put", NS, "k", value)
    assert await call("get", NS, "k") is None
    await call("put", NS, "k", {"text": "NaN, Infinity and 1e999"})
    assert (await call("get", NS, "k")).value == {"text": "NaN, Infinity and 1e999"}


@pytest.mark.parametrize("search", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize("size", [7, 60])
def test_pages_of_any_depth_join(tmp_path: Path, search: str, size: int) -> None:
    """Page after page shows every item once, also where a search for more would rank the first ones
    otherwise than a search for few did, and where copies in memory are ready half-way."""
    with MemoryStore(tmp_path / "m.db", index={"search": search}) as store:  # type: ignore[arg-type]
        colours = ["red", "white"]
        store.batch(
            [PutOp(NS, f"k{n}", {"text": f"{colours[n % 2]} wine number {n}"}) for n in range(1000)]
        )
        shown = [
            item.key
            for offset in range(0, 1000 + size, size)
            for item in store.search(NS, query="alice red wine", limit=size, offset=offset)
        ]
    assert len(shown) == len(set(shown)) == 1000


def test_pages_join_where_a_filter_goes_against_the_query() -> None:
    """Nor do pages overlap where most of what ranks well is filtered out, so that each search learns
    how many candidates the next one had better look at."""
    chosen = random.Random(5)
    barks = (
        "my dog number %d barks",
        "walk the dog at %d",
        "the dog ate bowl %d",
        "a dog called %d",
    )
    plays = (
        "the violin lesson number %d",
        "she bought violin %d",
        "violin strings, set %d, are here",
    )
    with MemoryStore(":memory:") as store:
        store.batch(
            [
                PutOp(NS, f"k{n}", {"text": chosen.choice(barks if n % 10 else plays) % n})
                for n in range(4000)
            ]
        )
        for size in (10, 20, 50):
            shown = [
                item.key
                for offset in range(0, 3 * size, size)
                for item in store.search(
                    NS, query="dog", filter={"text": {"$contains": "violin"}},
                    limit=size, offset=offset,
                )
            ]  # fmt: skip
            assert len(shown) == len(set(shown)) == 3 * size


async def test_limits_at_the_edges(call: Store) -> None:
    """limit=0, offsets beyond the end, huge limits and blank queries answer instead of raising."""
    for query in (None, "", "apple"):
        assert await call("search", NS, query=query) == []
    assert await call("list_namespaces") == []
    await call("put", NS, "k", {"text": "apple"})
    for query in (None, "", "   ", "apple"):
        assert await call("search", NS, query=query, limit=0) == []
        assert await call("search", NS, query=query, offset=5) == []
        assert len(await call("search", NS, query=query, limit=2**63)) == 1
        assert (
            len(await call("search", (), query=query, filter={"text": "apple"}, limit=2**70)) == 1
        )
        assert await call("search", NS, query=query, offset=2**70) == []


async def test_a_string_is_no_namespace(call: Store) -> None:
    """A string where a tuple belongs is an error that shows the tuple: nothing is written under, read
    or deleted from a label of each letter."""
    await call("put", ("a", "b", "c"), "k", {"text": "apple"})
    for method, arguments in {
        "put": ("abc", "k", {}), "get": ("abc", "k"), "delete": ("abc", "k"), "search": ("ab",),
    }.items():  # fmt: skip
        with pytest.raises(InvalidNamespaceError, match="is a string; pass a tuple"):
            await call(method, *arguments)
    with pytest.raises(InvalidNamespaceError, match=r"pass a tuple: \('ab',\)"):
        await call("list_namespaces", prefix="ab")
    [item] = await call("search", ())
    assert (item.namespace, item.value) == (("a", "b", "c"), {"text": "apple"})


async def test_what_is_no_text_is_named(call: Store) -> None:
    """A query or a key of a batch that is no string is an error that shows it, not one from within;
    `put` and `get` make a string of a key."""
    for query in (5, b"tea", ["tea"]):
        with pytest.raises(
            ConfigError, match=re.escape(f"query is {query!r}; it must be a string")
        ):
            await call("search", ("a",), query=query)
        with pytest.raises(
            ConfigError, match=re.escape(f"query is {query!r}; it must be a string")
        ):
            await call("recall", query, ("a",))
    for op in (PutOp(("a",), 5, {}), PutOp(("a",), None, {}), GetOp(("a",), 5)):  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match=r"key of an operation is (5|None); it must be"):
            await call("batch", [op])
    await call("put", ("a",), 5, {"text": "tea"})
    assert (await call("get", ("a",), 5)).key == (await call("get", ("a",), "5")).key == "5"
    assert [entry.action for entry in await call("changes.history", ("a",), 5)] == ["add"]


async def test_the_root_that_put_refuses_is_refused_everywhere(call: Store) -> None:
    """LangGraph keeps the first label "langgraph" for itself: what cannot be put there cannot be
    remembered or applied there either; it is only the first label."""
    own = ("langgraph", "x")
    added = AddMemory(key="k", value={"text": "tea"})
    change_set = ChangeSet(
        namespace=own, run_id="r", kind="correction", reason="", changes=(added,)
    )
    with pytest.raises(InvalidNamespaceError, match='"langgraph"'):
        await call("put", own, "k", {})
    with pytest.raises(InvalidNamespaceError, match=r"keeps for itself\. Choose another"):
        await call("remember", own, [("user", "tea")], thread_id="t")
    with pytest.raises(InvalidNamespaceError, match=r"keeps for itself\. Choose another"):
        await call("changes.apply", change_set)
    assert await call("search", ()) == []
    await call("remember", ("x", "langgraph"), [("user", "tea")], thread_id="t")
