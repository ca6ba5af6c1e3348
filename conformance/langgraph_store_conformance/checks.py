"""The checks. The first line of each docstring is its line in the report."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from langgraph_store_conformance.bench import MINUTES, Bench, Difference, near, refused, same

Capability = Literal["base", "operators", "namespaces", "vectors", "ttl", "persistence", "no ttl"]

NS = ("users", "maria")
OTHER = ("users", "ben")


@dataclass(frozen=True, kw_only=True)
class Check:
    """One statement about stores, and how it is tested."""

    name: str
    about: str
    """The statement."""
    needs: frozenset[Capability]
    documented: bool
    """Whether LangGraph's documentation says so; otherwise users expect it."""
    ttl: dict[str, Any] | None
    run: Callable[[Bench], Awaitable[None]]

    @property
    def group(self) -> Capability:
        """The capability that it is listed under."""
        order: tuple[Capability, ...] = (
            "persistence",
            "ttl",
            "no ttl",
            "vectors",
            "operators",
            "namespaces",
        )
        return next((one for one in order if one in self.needs), "base")


CHECKS: list[Check] = []


def check(
    *needs: Capability, documented: bool = True, ttl: dict[str, Any] | None = None
) -> Callable[[Callable[[Bench], Awaitable[None]]], Callable[[Bench], Awaitable[None]]]:
    """Add a function to the checks of stores that have some capabilities."""

    def add(run: Callable[[Bench], Awaitable[None]]) -> Callable[[Bench], Awaitable[None]]:
        about = (run.__doc__ or "").partition("\n")[0].rstrip(".")
        CHECKS.append(
            Check(
                name=run.__name__, about=about, needs=frozenset(needs), documented=documented,
                ttl=ttl, run=run,
            )
        )  # fmt: skip
        return run

    return add


# Items


@check()
async def values(store: Bench) -> None:
    """A value comes back as it was put: nested, with numbers, text, true, false and null."""
    value = {"int": 3, "float": 0.1, "none": None, "yes": True, "empty": {}, "text": "é\U0001f600\n",
             "nest": {"list": [1, [2, {"b": []}]]}, "a.b": 1, "$odd": 2, "it's": "\"quoted\""}  # fmt: skip
    await store.put(NS, "k", value)
    item = await store.get(NS, "k")
    same((item.value, item.key, item.namespace), (value, "k", NS), "the item")


@check(documented=False)
async def big_integers(store: Bench) -> None:
    """Integers of any size come back exactly."""
    value = {"big": 2**53 + 1, "bigger": 10**30}
    await store.put(NS, "k", value)
    same(await store.value(NS, "k"), value, "the value")


@check(documented=False)
async def nul(store: Bench) -> None:
    """A text may have the character NUL in it."""
    await store.put(NS, "k", {"text": "a\0b"})
    same(await store.value(NS, "k"), {"text": "a\0b"}, "the value")


@check(documented=False)
async def any_key(store: Bench) -> None:
    """A key may be any text."""
    for key in ("a/b c", "ключ", "line\nbreak", "%_*?", "it's", "a.b", ""):
        await store.put(NS, key, {"key": key})
        same(await store.value(NS, key), {"key": key}, f"the value of {key!r}")


@check()
async def missing(store: Bench) -> None:
    """What is not there is None, and deleting it is no error."""
    same(await store.get(NS, "nobody"), None, "the item")
    await store.delete(NS, "nobody")


@check()
async def replaced(store: Bench) -> None:
    """A put replaces the whole value."""
    await store.put(NS, "k", {"a": 1})
    await store.put(NS, "k", {"b": 2})
    same(await store.value(NS, "k"), {"b": 2}, "the value")


@check()
async def deleted(store: Bench) -> None:
    """A deleted item is gone from get and search, and its neighbours stay."""
    for key in ("a", "b"):
        await store.put(NS, key, {"key": key})
    await store.delete(NS, "a")
    same(await store.get(NS, "a"), None, "the deleted item")
    same(await store.keys(NS), ["b"], "what is left")


@check()
async def apart(store: Bench) -> None:
    """The same key in two namespaces names two items."""
    for namespace in (NS, OTHER, NS[:1]):
        await store.put(namespace, "k", {"of": list(namespace)})
    await store.delete(OTHER, "k")
    values = [await store.value(one, "k") for one in (NS, OTHER, NS[:1])]
    same(values, [{"of": list(NS)}, None, {"of": list(NS[:1])}], "the values")


@check()
async def times(store: Bench) -> None:
    """`created_at` stays and `updated_at` moves when an item is put again."""
    await store.put(NS, "k", {"n": 1})
    first = await store.get(NS, "k")
    for seconds in (0.01, 1.1):  # some databases count seconds
        await asyncio.sleep(seconds)
        await store.put(NS, "k", {"n": 2})
        second = await store.get(NS, "k")
        if second.updated_at > first.updated_at:
            break
    same(second.created_at == first.created_at, True, "whether created_at stayed")
    same(second.updated_at > first.updated_at, True, "whether updated_at moved")


@check(documented=False)
async def zones(store: Bench) -> None:
    """Times have a time zone, which is UTC."""
    await store.put(NS, "k", {})
    item = await store.get(NS, "k")
    same(item.created_at.utcoffset(), timedelta(0), "the offset of created_at")
    same(item.updated_at.utcoffset(), timedelta(0), "the offset of updated_at")


@check(documented=False)
async def copies(store: Bench) -> None:
    """Who changes a value after a put or a get changes nothing in the store."""
    value = {"tags": ["tea"]}
    await store.put(NS, "k", value)
    value["tags"].append("put")
    (await store.get(NS, "k")).value["tags"].append("get")
    (await store.search(NS))[0].value["tags"].append("search")
    same(await store.value(NS, "k"), {"tags": ["tea"]}, "the value")


@check()
async def bad_namespaces(store: Bench) -> None:
    """A namespace is refused that is empty, has an empty label or a dot, or begins with "langgraph"."""
    for namespace in ((), ("",), ("a", ""), ("a.b",), (5,), ("langgraph", "x")):
        await refused(f"put in {namespace}", InvalidNamespaceError, store.put(namespace, "k", {}))


@check()
async def bad_labels(store: Bench) -> None:
    """A label that is empty, has a dot or is no text is refused by get, delete and search, too."""
    for namespace in (("",), ("a.b",), (5,)):
        for method in (store.get, store.delete):
            what = f"{method.__name__} in {namespace}"
            await refused(what, InvalidNamespaceError, method(namespace, "k"))
        await refused(f"search in {namespace}", InvalidNamespaceError, store.search(namespace))


@check()
async def batches(store: Bench) -> None:
    """The results of a batch, which is any iterable, stand in the order of its operations."""
    ops = [PutOp(NS, "a", {"n": 1}), PutOp(NS, "b", {"n": 2})]
    same(await store.batch(one for one in ops), [None, None], "the results of two puts")
    reads = [GetOp(NS, "b"), SearchOp(NS), GetOp(NS, "nobody"), GetOp(NS, "a")]
    second, both, nobody, first = await store.batch(one for one in reads)
    keys = (second.key, sorted(item.key for item in both), nobody, first.key)
    same(keys, ("b", ["a", "b"], None, "a"), "the results of four reads")
    await store.batch([PutOp(NS, "a", None)])
    same(await store.keys(NS), ["b"], "what is left after a put of None")
    same(await store.batch([]), [], "the results of no operation")


@check()
async def searches_of_a_batch(store: Bench) -> None:
    """Searches of one batch each keep to their own namespace, filter and page."""
    puts = [PutOp(NS, f"k{n:02}", {"group": n % 5}) for n in range(50)]
    await store.batch([*puts, PutOp(OTHER, "other", {"group": 1})])
    asked = [
        (NS, 1, 20, 0),
        (NS, 2, 20, 0),
        (OTHER, 1, 20, 0),
        (NS, 1, 4, 8),
        (("users", "no"), 1, 20, 0),
    ]
    searches = [
        SearchOp(place, {"group": group}, limit, offset) for place, group, limit, offset in asked
    ]
    groups = [[item.value["group"] for item in items] for items in await store.batch(searches)]
    same(groups, [[1] * 10, [2] * 10, [1], [1, 1], []], "the groups")


@check(documented=False)
async def reads_first(store: Bench) -> None:
    """Reads of a batch see the store before it; of several puts of a key the last one counts."""
    await store.put(NS, "k", {"n": 1})
    ops = [PutOp(NS, "k", {"n": 2}), GetOp(NS, "k"), PutOp(NS, "k", None), PutOp(NS, "k", {"n": 3})]
    results = await store.batch(ops)
    same(results[1].value, {"n": 1}, "the value within the batch")
    same(await store.value(NS, "k"), {"n": 3}, "the value after it")


@check()
async def at_once(store: Bench) -> None:
    """Many calls at once, by tasks or threads, lose nothing."""
    await asyncio.gather(*(store.put(NS, f"k{n}", {"n": n}) for n in range(40)))
    items = await asyncio.gather(*(store.get(NS, f"k{n}") for n in range(40)))
    same([item and item.value for item in items], [{"n": n} for n in range(40)], "the values")


@check()
async def prefixes(store: Bench) -> None:
    """A search covers the namespaces below its prefix, by whole labels; an empty prefix covers all."""
    for namespace in (("users",), NS, (*NS, "x"), ("users2",), ("user",), ("x", "users")):
        await store.put(namespace, "/".join(namespace), {})
    inside = ["users", "users/maria", "users/maria/x"]
    same(sorted(await store.keys(("users",))), inside, "the keys below users")
    same(sorted(await store.keys(NS)), inside[1:], "the keys below users, maria")
    same(len(await store.keys(())), 6, "the number of all")


@check(documented=False)
async def literal_labels(store: Bench) -> None:
    """Characters that mean something to a database are plain ones in labels."""
    for label in ("a%", "a_", "a?", "[ab]", "a\\", "it's"):
        await store.put((label,), label, {})
    for label in ("ab", "ax", "a", "b", "A%"):
        await store.put((label,), label, {})
    for label in ("a%", "a_", "a?", "[ab]", "a\\", "it's"):
        same(await store.keys((label,)), [label], f"the keys below {label!r}")


@check()
async def limits(store: Bench) -> None:
    """A search gives ten items unless `limit` says otherwise; pages by `offset` hold each item once."""
    await store.batch([PutOp(NS, f"k{n}", {"n": n}) for n in range(25)])
    same(len(await store.keys(NS)), 10, "the number without a limit")
    pages = [await store.keys(NS, limit=7, offset=offset) for offset in range(0, 28, 7)]
    same([len(page) for page in pages], [7, 7, 7, 4], "the sizes of the pages")
    same(len({key for page in pages for key in page}), 25, "the number of different items")


@check(documented=False)
async def edges(store: Bench) -> None:
    """A limit of zero, a huge one, and an offset beyond the end are answered."""
    await store.put(NS, "k", {})
    same(await store.keys(NS, limit=0), [], "the keys with limit=0")
    same(await store.keys(NS, limit=2**31), ["k"], "the keys with a huge limit")
    same(await store.keys(NS, offset=5), [], "the keys beyond the end")


@check()
async def filters(store: Bench) -> None:
    """A filter gives the items whose fields all are as it says."""
    for n, (colour, size) in enumerate([("red", 1), ("red", 2), ("blue", 1)]):
        await store.put(NS, f"k{n}", {"colour": colour, "size": size, "even": n % 2 == 0})
    await store.put(NS, "none", {"colour": None})
    same(sorted(await store.keys(NS, filter={"colour": "red"})), ["k0", "k1"], "red ones")
    same(await store.keys(NS, filter={"colour": "red", "size": 2}), ["k1"], "red ones of size 2")
    same(sorted(await store.keys(NS, filter={"even": True})), ["k0", "k2"], "even ones")
    same(await store.keys(NS, filter={"colour": "green"}), [], "green ones")
    same(await store.keys(NS, filter={"nothing": 1}), [], "those with a field that none has")
    same(len(await store.keys(NS, filter={})), 4, "the number that an empty filter gives")


@check(documented=False)
async def filter_types(store: Bench) -> None:
    """A filter tells a number from a text, and compares null, lists and objects."""
    values = {"int": 1, "text": "1", "null": None, "list": [1, 2], "map": {"b": {"c": 1}}}
    for key, value in values.items():
        await store.put(NS, key, {"v": value})
    for key, value in values.items():
        same(await store.keys(NS, filter={"v": value}), [key], f"the keys with {value!r}")


@check(documented=False)
async def filter_true(store: Bench) -> None:
    """A filter tells 1 from true, as JSON does; in Python both are equal."""
    for key, value in {"one": 1, "yes": True}.items():
        await store.put(NS, key, {"v": value})
    for key, value in {"one": 1, "yes": True}.items():
        same(await store.keys(NS, filter={"v": value}), [key], f"the keys with {value!r}")


@check()
async def unranked(store: Bench) -> None:
    """Without a query no item has a score."""
    await store.put(NS, "k", {"text": "tea"})
    same([item.score for item in await store.search(NS)], [None], "the scores")


@check(documented=False)
async def true_when_empty(store: Bench) -> None:
    """An empty store is true, for who asks `if store`."""
    same(bool(store.store), True, "the truth of the store")


# Operators


@check("operators")
async def operators(store: Bench) -> None:
    """`$eq`, `$ne`, `$gt`, `$gte`, `$lt` and `$lte` compare numbers as numbers."""
    for n in (-5, 2, 10, 10.5):
        await store.put(NS, str(n), {"n": n})
    for operator, operand, wanted in (
        ("$eq", 10, ["10"]), ("$ne", 10, ["-5", "10.5", "2"]), ("$gt", 9, ["10", "10.5"]),
        ("$gte", 10, ["10", "10.5"]), ("$lt", 2, ["-5"]), ("$lte", 2.0, ["-5", "2"]),
    ):  # fmt: skip
        keys = sorted(await store.keys(NS, filter={"n": {operator: operand}}))
        same(keys, wanted, f"the keys with {operator} {operand}")


@check("operators")
async def ranges(store: Bench) -> None:
    """Several operators on one field, and conditions on several fields, hold together."""
    for n in range(6):
        await store.put(NS, f"k{n}", {"n": n, "even": n % 2 == 0})
    wanted = {"n": {"$gt": 0, "$lte": 4}, "even": True}
    same(sorted(await store.keys(NS, filter=wanted)), ["k2", "k4"], "the keys of the range")


@check("operators", documented=False)
async def text_order(store: Bench) -> None:
    """Operators compare texts as texts, such as dates."""
    for day in ("2026-01-31", "2026-02-01", "2026-11-05"):
        await store.put(NS, day, {"day": day})
    keys = await store.keys(NS, filter={"day": {"$gte": "2026-02-01"}})
    same(sorted(keys), ["2026-02-01", "2026-11-05"], "the days from February on")


@check("operators", documented=False)
async def unknown_operators(store: Bench) -> None:
    """An operator that a store does not know is an error."""
    await store.put(NS, "k", {"n": 1})
    await refused(
        "a filter with $between", Exception, store.search(NS, filter={"n": {"$between": 1}})
    )


@check("operators", documented=False)
async def odd_fields(store: Bench) -> None:
    """A filter may ask for a field with any name."""
    for field in ("a-b", "with space", "it's", 'a"b', "ключ"):
        await store.put((field,), field, {field: 1})
        for wanted in (1, {"$gt": 0}):
            keys = await store.keys((field,), filter={field: wanted})
            same(keys, [field], f"the keys with {wanted!r} in {field!r}")


@check("operators", documented=False)
async def absent_fields(store: Bench) -> None:
    """An order holds for no item that lacks the field."""
    await store.put(NS, "with", {"n": 1})
    await store.put(NS, "without", {})
    same(await store.keys(NS, filter={"n": {"$gt": 0}}), ["with"], "the keys above 0")


# Namespaces

DOCUMENTED = [
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "b", "f"),
    ("a", "c", "f"),
]


async def _fill(store: Bench) -> None:
    await store.batch([PutOp(namespace, "k", {}) for namespace in (*DOCUMENTED, ("ab", "c"))])


@check("namespaces")
async def depth(store: Bench) -> None:
    """`max_depth` cuts namespaces, and each is listed once."""
    await _fill(store)
    names = await store.namespaces(prefix=("a", "b"), max_depth=3)
    same(sorted(names), [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")], "the namespaces")


@check("namespaces")
async def conditions(store: Bench) -> None:
    """Prefix, suffix and the wildcard `*` choose namespaces by whole labels, also several at once."""
    await _fill(store)
    same(sorted(await store.namespaces(prefix=("a",))), DOCUMENTED, "those below a")
    same(sorted(await store.namespaces(suffix=("f",))), DOCUMENTED[3:], "those that end with f")
    both = await store.namespaces(prefix=("a", "b"), suffix=("f",))
    same(both, [("a", "b", "f")], "those below a, b that end with f")
    wild = await store.namespaces(prefix=("a", "*", "d"))
    same(sorted(wild), DOCUMENTED[1:3], "those below a, any, d")
    wild = await store.namespaces(suffix=("b", "*"))
    same(sorted(wild), [("a", "b", "c"), ("a", "b", "f")], "those that end with b, any")
    twice = (MatchCondition("prefix", ("a",)), MatchCondition("prefix", ("a", "c")))
    [answer] = await store.batch([ListNamespacesOp(match_conditions=twice)])
    same(answer, [("a", "c", "f")], "those of two prefixes")


@check("namespaces")
async def namespace_pages(store: Bench) -> None:
    """`limit` and `offset` count namespaces after they are cut."""
    await _fill(store)
    pages = [await store.namespaces(max_depth=2, limit=2, offset=offset) for offset in (0, 2, 4)]
    same([len(page) for page in pages], [2, 1, 0], "the sizes of the pages")
    same(
        {one for page in pages for one in page},
        {("a", "b"), ("a", "c"), ("ab", "c")},
        "all of them",
    )


@check("namespaces")
async def emptied(store: Bench) -> None:
    """A namespace is listed once however many items it has, and not after its last one was deleted."""
    for key in ("a", "b"):
        await store.put(NS, key, {})
    same(await store.namespaces(), [NS], "the namespaces of two items")
    for key in ("a", "b"):
        await store.delete(NS, key)
    same(await store.namespaces(), [], "the namespaces after all was deleted")


# Vectors


@check("vectors")
async def ranked(store: Bench) -> None:
    """A query ranks the items below the prefix, the nearest first, with scores."""
    for key, text in (("far", "grey rain"), ("near", "red apple"), ("half", "red car")):
        await store.put(NS, key, {"text": text})
    await store.put(OTHER, "other", {"text": "red apple"})
    items = await store.search(NS, query="red apple")
    same([item.key for item in items[:2]], ["near", "half"], "the first two")
    scores = [item.score for item in items]
    if None in scores or scores != sorted(scores, reverse=True):
        raise Difference(f"the scores are not in order: {scores}")
    same(
        sorted(await store.keys((), query="red apple"))[-2:],
        ["near", "other"],
        "those of everybody",
    )


@check("vectors")
async def fields(store: Bench) -> None:
    """Only the configured fields are embedded, each element of `[*]` alone; a missing one is skipped."""
    await store.put(NS, "a", {"text": "red", "tags": ["green", "blue"], "secret": "black"})
    await store.put(NS, "b", {"other": "white"})
    same(sorted(store.embeddings.texts), ["blue", "green", "red"], "the embedded texts")


@check("vectors")
async def index_argument(store: Bench) -> None:
    """`index` of a put names the fields of this item; with False it has no vector, and is still there."""
    await store.put(NS, "a", {"text": "red", "secret": "white"}, ["secret"])
    await store.put(NS, "b", {"text": "yellow"}, False)
    same(store.embeddings.texts, ["white"], "the embedded texts")
    [best] = await store.search(NS, query="white", limit=1)
    same(best.key, "a", "the nearest")
    same(
        (await store.value(NS, "b"), len(await store.keys(NS))),
        ({"text": "yellow"}, 2),
        "the other",
    )


@check("vectors")
async def paths(store: Bench) -> None:
    """`index` takes nested fields, `[0]`, `[-1]` and `[*]` within a path."""
    value = {
        "a": {"b": "one"},
        "list": ["two", "no", "three"],
        "parts": [{"t": "four"}, {"t": "five"}],
    }
    await store.put(NS, "k", value, ["a.b", "list[0]", "list[-1]", "parts[*].t"])
    same(
        sorted(store.embeddings.texts), sorted(["one", "two", "three", "four", "five"]), "the texts"
    )


@check("vectors")
async def ranked_and_filtered(store: Bench) -> None:
    """With a query and a filter, `limit` counts what passes the filter."""
    for n in range(30):
        await store.put(NS, f"k{n:02}", {"text": "red apple" if n < 20 else f"car {n}", "n": n})
    keys = await store.keys(NS, query="red apple", filter={"n": 25}, limit=3)
    same(keys, ["k25"], "the one that the filter gives")


@check("vectors", documented=False)
async def pooled(store: Bench) -> None:
    """`limit` counts items, not vectors, and an item is given once, by its best vector."""
    for n in range(8):
        tags = ["apple", "apple", "pear"] * (n % 3)
        await store.put(NS, f"k{n}", {"text": "noise", "tags": tags, "even": n % 2 == 0})
    pages = [
        await store.search(NS, query="apple", filter={"even": True}, limit=2, offset=offset)
        for offset in (0, 2, 4)
    ]
    same([len(page) for page in pages], [2, 2, 0], "the sizes of the pages")
    items = [item for page in pages for item in page]
    same(sorted(item.key for item in items), ["k0", "k2", "k4", "k6"], "the items")
    same({item.key for item in items[:2]}, {"k2", "k4"}, "the items with an apple")
    for item in items[:2]:
        near(item.score, 1, f"the score of {item.key}")


@check("vectors", documented=False)
async def forgotten(store: Bench) -> None:
    """The text of an item that was replaced or deleted is near no query any more."""
    await store.put(NS, "k", {"text": "old", "tags": ["older"]})
    await store.put(NS, "k", {"text": "new"})
    for query in ("old", "older"):
        scores = [item.score for item in await store.search(NS, query=query)]
        same([score for score in scores if (score or 0) > 0.9], [], f"scores of {query!r}")
    await store.put(NS, "k", {"text": "new"}, False)
    scores = [item.score for item in await store.search(NS, query="new")]
    same([score for score in scores if (score or 0) > 0.9], [], "scores after a put without index")
    await store.put(NS, "k", {"text": "new"})
    await store.delete(NS, "k")
    same(await store.keys(NS, query="new"), [], "what is there after delete")


@check("vectors", documented=False)
async def cosines(store: Bench) -> None:
    """The score is the cosine similarity, and an item without a vector has none and comes last."""
    await store.put(NS, "none", {"text": "red apple"}, False)
    await store.put(NS, "same", {"text": "red apple"})
    await store.put(NS, "half", {"text": "red car"})
    items = await store.search(NS, query="red apple")
    same([item.key for item in items], ["same", "half", "none"], "the order")
    near(items[0].score, 1, "the score of the same text")
    same(0 < items[1].score < 0.9, True, "whether the other score is between")
    same(items[2].score, None, "the score of the item without a vector")


@check("vectors", documented=False)
async def ranked_pages(store: Bench) -> None:
    """Pages of a ranked search hold each item once."""
    colours = ("red", "white", "pale")
    await store.batch(
        [PutOp(NS, f"k{n}", {"text": f"{colours[n % 3]} wine {n}"}) for n in range(60)]
    )
    pages = [await store.keys(NS, query="red wine", limit=7, offset=n) for n in range(0, 63, 7)]
    keys = [key for page in pages for key in page]
    same((len(keys), len(set(keys))), (60, 60), "the number of keys, and of different ones")


# TTL


@check("ttl")
async def expires(store: Bench) -> None:
    """An item expires after its `ttl` in minutes, and one without stays."""
    await store.put(NS, "long", {})
    await store.put(NS, "never", {}, ttl=None)
    await store.put(NS, "short", {"n": 1}, ttl=MINUTES)
    same(await store.value(NS, "short"), {"n": 1}, "the value at once")
    same(await store.gone(NS, "short"), True, "whether it is gone")
    same(sorted(await store.keys(NS)), ["long", "never"], "what is left")


@check("ttl", ttl={"refresh_on_read": True})
async def refreshed(store: Bench) -> None:
    """Reading an item prolongs its life, but for reading with `refresh_ttl=False`."""
    for key in ("read", "unread"):
        await store.put(NS, key, {"key": key}, ttl=2 * MINUTES)
    same(await store.gone(NS, "unread", meanwhile="read"), True, "whether the unread one is gone")
    same(await store.value(NS, "read"), {"key": "read"}, "the value of the one that was read")


@check("ttl", ttl={"default_ttl": MINUTES, "refresh_on_read": False})
async def default_ttl(store: Bench) -> None:
    """`default_ttl` is the TTL of a put that names none, and `ttl=None` means none."""
    await store.put(NS, "short", {})
    await store.put(NS, "never", {}, ttl=None)
    same(await store.gone(NS, "short"), True, "whether the default one is gone")
    same(await store.keys(NS), ["never"], "what is left")


@check("ttl", documented=False, ttl={"omit_expired": True, "refresh_on_read": False})
async def omitted(store: Bench) -> None:
    """With `omit_expired` no read gives an expired item, also before it is swept."""
    await store.put(NS, "short", {}, ttl=MINUTES)
    same(await store.gone(NS, "short", sweeps=False), True, "whether it is gone")
    same((await store.keys(NS), await store.namespaces()), ([], []), "keys and namespaces")


@check("no ttl")
async def ttl_refused(store: Bench) -> None:
    """A store without TTL refuses a put with one."""
    await refused("a put with ttl", NotImplementedError, store.put(NS, "k", {}, ttl=1))


# Persistence


@check("persistence", documented=False)
async def kept(store: Bench) -> None:
    """Items, times and namespaces are there after the store was closed and opened again."""
    await store.put(NS, "k", {"n": 1})
    await store.put(OTHER, "k", {"n": 2})
    await store.delete(OTHER, "k")
    before = await store.get(NS, "k")
    await store.reopen()
    after = await store.get(NS, "k")
    same(after and (after.value, after.created_at, after.updated_at),
         (before.value, before.created_at, before.updated_at), "the item")  # fmt: skip
    same(await store.namespaces(), [NS], "the namespaces")


@check("persistence", "vectors", documented=False)
async def kept_vectors(store: Bench) -> None:
    """Vectors are kept, too: after opening again nothing is embedded anew."""
    await store.put(NS, "far", {"text": "grey rain"})
    await store.put(NS, "near", {"text": "red apple"})
    store.embeddings.texts.clear()
    await store.reopen()
    [best] = await store.search(NS, query="apple red", limit=1)
    same(best.key, "near", "the nearest")
    again = [text for text in store.embeddings.texts if text != "apple red"]
    same(again, [], "the texts that were embedded again")
