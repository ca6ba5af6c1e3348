"""The contract of every LangGraph store, for ours and for LangGraph's InMemoryStore alike, by the
sync and by the async methods. Each test guards against a mistake of an official store."""

from __future__ import annotations

import asyncio
import math
import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from langmemory.changes import AddMemory, ChangeSet
from langmemory.errors import ConfigError, InvalidValueError
from langmemory.stores import MemoryStore
from tests.stores.embedders import WordEmbeddings

Flavour = Literal["file", "memory", "langgraph"]


OURS = pytest.mark.parametrize("flavour", ["file", "memory"], indirect=True)
"""The documented contract, which InMemoryStore itself does not keep."""


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


@pytest.fixture(params=["file", "memory", "langgraph"])
def flavour(request: pytest.FixtureRequest) -> Flavour:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def embeddings() -> WordEmbeddings:
    return WordEmbeddings()


@pytest.fixture
def call(
    flavour: Flavour, asynchronous: bool, tmp_path: Path, embeddings: WordEmbeddings
) -> Iterator[Store]:
    """Any of the three stores, with an index over ``text`` and ``tags[*]``."""
    index: Any = {"dims": 16, "embed": embeddings, "fields": ["text", "tags[*]"]}
    if flavour == "langgraph":
        yield Store(InMemoryStore(index=index), asynchronous)
        return
    path = tmp_path / "m.db" if flavour == "file" else ":memory:"
    with MemoryStore(path, index={**index, "search": "semantic"}) as store:
        yield Store(store, asynchronous)


NS = ("users", "maria")


async def test_values_come_back_as_they_went_in(call: Store) -> None:
    """Nested values, big integers, floats, unicode and odd keys are read as they were written."""
    value = {
        "big": 2**53 + 1, "bigger": 10**30, "float": 0.1, "none": None,
        "yes": True, "empty": {}, "nest": {"a": [1, [2, {"b": "é\U0001f600"}]]},
        "it's a \"key\"": "\n\t\0", "$odd": 1, "a.b": 2, "": 3,
    }  # fmt: skip
    for key in ("k", "a/b c", "ключ", "line\nbreak", "", "%_*?"):
        await call("put", NS, key, value)
        item = await call("get", NS, key)
        assert (item.value, item.key, item.namespace) == (value, key, NS)
    assert await call("get", NS, "nobody") is None
    assert await call("get", ("nobody",), "k") is None


@OURS
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


async def test_searches_of_one_batch_keep_to_their_own(call: Store) -> None:
    """Each of them finds what is in its namespace and passes its filter, whatever the one before it
    was asked, few or many as these may be."""
    groups, other = 40, ("users", "ben")
    puts = [PutOp(NS, f"k{n}", {"text": f"tea {n}", "group": n % groups}) for n in range(200)]
    await call("batch", [*puts, PutOp(other, "k", {"text": "tea", "group": 7})])
    searches = [SearchOp(NS, {"group": group}, 10, 0, "tea") for group in (7, 8, 7)]
    searches += [SearchOp(other, None, 10, 0, "tea"), SearchOp(("users", "no"), None, 10, 0, "tea")]
    found = await call("batch", searches)
    asked = [(NS, 7), (NS, 8), (NS, 7), (other, 7)]
    for (namespace, group), items, size in zip(asked, found, (5, 5, 5, 1), strict=False):
        assert [(item.namespace, item.value["group"]) for item in items] == (
            [(namespace, group)] * size
        )
    assert found[4] == []


@OURS
async def test_times(call: Store) -> None:
    """Times are aware UTC with sub-second parts; replacing keeps created_at and moves updated_at."""
    start = datetime.now(UTC)
    await call("put", NS, "k", {"text": "one"})
    first = await call("get", NS, "k")
    await asyncio.sleep(0.002)
    await call("put", NS, "k", {"text": "two"})
    second = await call("get", NS, "k")
    assert start <= first.created_at == first.updated_at
    assert second.created_at == first.created_at < second.updated_at <= datetime.now(UTC)
    assert second.created_at.utcoffset() is not None


async def test_a_batch_reads_before_it_writes(call: Store) -> None:
    """Reads in a batch see the store before it, the last put of a key wins, results are positional."""
    await call("put", NS, "k", {"text": "before"})
    results = await call(
        "batch",
        [
            PutOp(NS, "k", {"text": "first"}),
            GetOp(NS, "k"),
            PutOp(NS, "k", None),
            SearchOp(NS),
            PutOp(NS, "k", {"text": "last"}),
            ListNamespacesOp(),
            GetOp(NS, "nobody"),
        ],
    )
    assert results[0] is results[2] is results[4] is results[6] is None
    assert results[1].value == {"text": "before"}
    assert [item.value for item in results[3]] == [{"text": "before"}]
    assert results[5] == [NS]
    assert (await call("get", NS, "k")).value == {"text": "last"}
    assert await call("batch", []) == []


async def test_only_the_configured_fields_are_searched(
    call: Store, embeddings: WordEmbeddings
) -> None:
    """``fields`` says what is embedded, each element on its own; ``index`` of a put says otherwise."""
    await call("put", NS, "a", {"text": "red", "tags": ["green", "blue"], "secret": "black"})
    await call("put", NS, "b", {"text": "red", "secret": "white"}, index=["secret"])
    await call("put", NS, "c", {"text": "yellow"}, index=False)
    assert sorted(embeddings.asked) == ["blue", "green", "red", "white"]
    best = (await call("search", NS, query="white", limit=1))[0]
    assert (best.key, best.score) == ("b", pytest.approx(1, abs=1e-3))


@OURS
async def test_pages_count_items_after_pooling_and_filter(call: Store) -> None:
    """Limit and offset count items, not vectors, and only those the filter lets pass; an item
    scores by its best vector; pages join without overlap."""
    for n in range(12):
        await call(
            "put", NS, f"k{n}",
            {"text": "noise", "tags": ["apple"] * (n % 3) + ["pear"] * 3, "even": n % 2 == 0},
        )  # fmt: skip
    whole = await call("search", NS, query="apple", filter={"even": True}, limit=50)
    assert len(whole) == len({item.key for item in whole}) == 6
    assert [item.score for item in whole] == sorted((i.score for i in whole), reverse=True)
    assert [item.score for item in whole[:4]] == pytest.approx([1.0] * 4, abs=1e-3)
    pages = [
        item.key
        for offset in (0, 2, 4, 6)
        for item in await call(
            "search", NS, query="apple", filter={"even": True}, limit=2, offset=offset
        )
    ]
    assert pages == [item.key for item in whole]


@OURS
async def test_replaced_and_deleted_text_is_forgotten(call: Store) -> None:
    """After a re-put, a re-put without index and a delete, the old text finds nothing any more."""

    async def closeness(query: str) -> list[tuple[str, bool]]:
        found = await call("search", NS, query=query)
        return [(item.key, (item.score or 0) > 0.9) for item in found]

    await call("put", NS, "k", {"text": "old", "tags": ["older"]})
    await call("put", NS, "k", {"text": "new"})
    assert await closeness("old") == await closeness("older") == [("k", False)]
    assert await closeness("new") == [("k", True)]
    await call("put", NS, "k", {"text": "new"}, index=False)
    assert await closeness("new") == [("k", False)]
    await call("put", NS, "k", {"text": "new"})
    await call("delete", NS, "k")
    assert await closeness("new") == []
    await call("delete", NS, "k")  # and again: nothing happens


async def test_shown_scores_are_cosines(call: Store) -> None:
    """``score`` is the cosine similarity, so that thresholds in user code keep their meaning; items
    without a vector come last and have none, and so has everything in a search without query."""
    await call("put", NS, "same", {"text": "red apple"})
    await call("put", NS, "half", {"text": "red car"})
    await call("put", NS, "none", {"text": "red apple"}, index=False)
    found = await call("search", NS, query="red apple")
    assert [item.key for item in found] == ["same", "half", "none"]
    assert found[0].score == pytest.approx(1, abs=1e-3)
    assert 0.1 < found[1].score < 0.9
    assert found[2].score is None
    assert {item.score for item in await call("search", NS)} == {None}


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


@OURS
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


@OURS
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


@OURS
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


async def test_an_empty_store_is_true(call: Store) -> None:
    """``if store:`` holds for an empty store; langgraph asks so."""
    assert call.store
