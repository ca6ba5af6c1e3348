"""The checks: statements about stores, and beside each the steps that test it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from langgraph_store_conformance.bench import Bench

Step = Callable[[Bench], object]

NS = ("users", "maria")
OTHER = ("users", "ben")
MINUTES = 0.01
"""The TTL of items that are to expire."""
PATIENCE = 6.0
"""Seconds after which an item that expires after `MINUTES` has to be gone."""


class Difference(AssertionError):
    """What a store did is not what the contract says."""


@dataclass(frozen=True)
class Check:
    """One statement about stores, and how it is tested."""

    name: str
    about: str
    """The statement."""
    steps: list[Step]
    """Each raises `Difference` where the store does otherwise."""
    needs: tuple[str, ...] = ("base",)
    """Capabilities of a store. The first is the one that it is listed under."""
    ttl: Mapping[str, Any] | None = None
    documented: bool = True
    """Whether LangGraph's documentation says so; otherwise users expect it."""


# Steps, made of what is asked and what is wanted


def same(got: Any, wanted: Any, what: str) -> None:
    if got != wanted:
        raise Difference(f"{what}: got {got!r}, not {wanted!r}")


def named(method: str, arguments: Iterable[Any], options: Mapping[str, Any]) -> str:
    given = [*map(repr, arguments), *(f"{name}={one!r}" for name, one in options.items())]
    return f"{method}({', '.join(given)})"


def itself(answer: Any) -> Any:
    return answer


def gives(wanted: Any, method: str, *arguments: Any, of: Any = itself, **options: Any) -> Step:
    what = named(method, arguments, options)
    return lambda store: same(of(store.call(method, *arguments, **options)), wanted, what)


def refuses(error: type[Exception], method: str, *arguments: Any, **options: Any) -> Step:
    def step(store: Bench) -> None:
        what = f"{named(method, arguments, options)}: {error.__name__} was not raised"
        try:
            answer = store.call(method, *arguments, **options)
        except error:
            return
        except Exception as other:
            raise Difference(f"{what}, but {other!r}") from other
        raise Difference(f"{what}, the answer is {answer!r}")

    return step


def put(items: Mapping[str, Any], *, at: Any = NS, **options: Any) -> Step:
    return lambda store: [store.call("put", at, *one, **options) for one in items.items()]


def delete(*names: str, at: Any = NS) -> Step:
    return lambda store: [store.call("delete", at, key) for key in names]


def value(key: str, wanted: Any, *, at: Any = NS) -> Step:
    return gives(wanted, "get", at, key, of=lambda item: item and item.value)


def returned(items: Mapping[str, Any]) -> list[Step]:
    return [step for one in items.items() for step in (put(dict([one])), value(*one))]


def key_list(items: Iterable[Any]) -> list[str]:
    return [item.key for item in items]


def key_set(items: Iterable[Any]) -> list[str]:
    return sorted(key_list(items))


def keys(wanted: list[str], *, at: Any = NS, **options: Any) -> Step:
    """A search gives these keys, with a query in this order."""
    return gives(wanted, "search", at, of=key_list if "query" in options else key_set, **options)


def namespaces(wanted: list[Any], **options: Any) -> Step:
    return gives(wanted, "list_namespaces", of=sorted, **options)


def batch(ops: list[Any], wanted: list[Any], *, of: Any = itself) -> Step:
    return lambda store: same([*map(of, store.call("batch", iter(ops)))], wanted, f"batch({ops!r})")


def pages(sizes: list[int], wanted: list[Any], method: str, *at: Any, **options: Any) -> Step:
    """Pages as long as the first have these sizes, and together what is wanted, each once."""

    def step(store: Bench) -> None:
        of, limit = key_list if method == "search" else list, sizes[0]
        offsets = range(0, limit * len(sizes), limit)
        found = [of(store.call(method, *at, **options, limit=limit, offset=n)) for n in offsets]
        together = sorted(one for page in found for one in page)
        what = f"pages of {named(method, at, options)}"
        same([*map(len, found)], sizes, f"the sizes of {what}")
        same(together, wanted, f"all {what}")

    return step


def scores(items: Any) -> list[Any]:
    return [item.score for item in items]


def is_one(item: Any) -> bool:
    """Return whether an item's score is 1, as far as databases count."""
    return bool(abs((item.score or 0) - 1) < 1e-3)


def high_scores(items: Any) -> list[float]:
    return [score for score in scores(items) if score is not None and score > 0.9]


def none_near(query: str) -> Step:
    return gives([], "search", NS, query=query, of=high_scores)


def embedded(wanted: str, query: str = "") -> Step:
    """These texts, of a word each, were embedded, beside a query."""
    return lambda store: same(
        sorted(one for one in store.embeddings.texts if one != query), wanted.split(), "the texts"
    )  # fmt: skip


def gone(key: str, *, meanwhile: str | None = None, sweeps: bool = True) -> Step:
    """An item expires, sweeping where the store can. The item ``meanwhile`` is read again and again."""

    def step(store: Bench) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if meanwhile is not None:
                store.call("get", NS, meanwhile)
            if sweeps:
                store.sweep()
            if store.call("get", NS, key, refresh_ttl=False) is None:
                return
            time.sleep(0.1)
        raise Difference(f"{key!r} is there after {PATIENCE} s")

    return step


def times(store: Bench) -> None:
    store.call("put", NS, "k", {"n": 1})
    first = store.call("get", NS, "k")
    for seconds in (0.01, 1.1):  # some databases count seconds
        time.sleep(seconds)
        store.call("put", NS, "k", {"n": 2})
        second = store.call("get", NS, "k")
        if second.updated_at > first.updated_at:
            break
    same(second.created_at == first.created_at, True, "whether created_at stayed")
    same(second.updated_at > first.updated_at, True, "whether updated_at moved")


def change_copies(store: Bench) -> None:
    mine = {"tags": ["tea"]}
    store.call("put", NS, "k", mine)
    mine["tags"].append("put")
    store.call("get", NS, "k").value["tags"].append("get")
    store.call("search", NS)[0].value["tags"].append("search")


def at_once(store: Bench) -> None:
    with ThreadPoolExecutor(40) as pool:
        list(pool.map(lambda n: store.call("put", NS, f"k{n}", {"n": n}), range(40)))
        items = list(pool.map(lambda n: store.call("get", NS, f"k{n}"), range(40)))
    same([item and item.value for item in items], [{"n": n} for n in range(40)], "the values")


def reopen(store: Bench) -> None:
    before = store.call("get", NS, "k")
    store.embeddings.texts.clear()
    store.reopen()
    after = store.call("get", NS, "k")
    for name in ("value", "created_at", "updated_at"):
        same(getattr(after, name, None), getattr(before, name), name)


def by_key(names: Iterable[str], field: str) -> dict[str, dict[str, str]]:
    """Return items to put, each with its key in a field."""
    return {name: {field: name} for name in names}


def numbered(count: int) -> dict[str, dict[str, int]]:
    return {f"k{n}": {"n": n, "even": n % 2 == 0} for n in range(count)}


def expected(*columns: Any, **options: Any) -> Check:
    """Return the check of something that users expect though no documentation says so."""
    return replace(Check(*columns, **options), documented=False)


# fmt: off
OPERATORS, NAMESPACES, VECTORS, TTL = (("operators",), ("namespaces",), ("vectors",), ("ttl",))
LABELS: Final = ("a%", "a_", "a?", "[ab]", "a\\", "it's")
ODD: Final = ("a-b", "with space", "it's", 'a"b', "ключ")
TEXTS: Final = {"far": {"text": "grey rain"}, "near": {"text": "red apple"}, "half": {"text": "red car"}}
NESTED: Final = {"int": 3, "float": 0.1, "none": None, "yes": True, "empty": {}, "text": "é\U0001f600\n",
                 "nest": {"list": [1, [2, {"b": []}]]}, "a.b": 1, "$odd": 2, "it's": '"quoted"'}
TYPES: Final = {"int": {"v": 1}, "text": {"v": "1"}, "null": {"v": None}, "list": {"v": [1, 2]},
               "map": {"v": {"b": {"c": 1}}}}
ONES: Final = {"one": {"v": 1}, "yes": {"v": True}}
PATHS: Final = [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("a", "c", "f")]
FILLED: Final = batch([PutOp(one, "k", {}) for one in (*PATHS, ("ab", "c"))], [None] * 6)

CHECKS: Final = (
    Check("values", "A value comes back as it was put: nested, with numbers, text, true, false and null", [
        put({"k": NESTED}),
        gives((NESTED, "k", NS), "get", NS, "k", of=lambda item: (item.value, item.key, item.namespace))]),
    expected("big_integers", "Integers of any size come back exactly",
        returned({"k": {"big": 2**53 + 1, "bigger": 10**30}})),
    expected("nul", "A text may have the character NUL in it", returned({"k": {"text": "a\0b"}})),
    expected("any_key", "A key may be any text",
        returned(by_key(("a/b c", "ключ", "line\nbreak", "%_*?", "it's", "a.b", ""), "key"))),
    Check("missing", "What is not there is None, and deleting it is no error",
        [gives(None, "get", NS, "nobody"), delete("nobody")]),
    Check("replaced", "A put replaces the whole value", [put({"k": {"a": 1}}), *returned({"k": {"b": 2}})]),
    Check("deleted", "A deleted item is gone from get and search, and its neighbours stay",
        [put({"a": {}, "b": {}}), delete("a"), value("a", None), keys(["b"])]),
    Check("apart", "The same key in two namespaces names two items", [
        put({"k": {"n": 1}}), put({"k": {"n": 2}}, at=OTHER), put({"k": {"n": 3}}, at=NS[:1]),
        delete("k", at=OTHER), value("k", {"n": 1}), value("k", None, at=OTHER),
        value("k", {"n": 3}, at=NS[:1])]),
    Check("times", "`created_at` stays and `updated_at` moves when an item is put again", [times]),
    expected("zones", "Times have a time zone, which is UTC", [
        put({"k": {}}), gives((timedelta(0),) * 2, "get", NS, "k",
                              of=lambda item: (item.created_at.utcoffset(), item.updated_at.utcoffset()))]),
    expected("copies", "Who changes a value after a put or a get changes nothing in the store",
        [change_copies, value("k", {"tags": ["tea"]})]),
    Check("bad_namespaces",
        'A namespace is refused that is empty, has an empty label or a dot, or begins with "langgraph"',
        [refuses(InvalidNamespaceError, "put", at, "k", {})
         for at in ((), ("",), ("a", ""), ("a.b",), (5,), ("langgraph", "x"))]),
    Check("bad_labels",
        "A label that is empty, has a dot or is no text is refused by get, delete and search, too",
        [refuses(InvalidNamespaceError, method, at, *key)
         for at in (("",), ("a.b",), (5,)) for method, *key in (("get", "k"), ("delete", "k"), ("search",))]),
    Check("batches", "The results of a batch, which is any iterable, stand in the order of its operations", [
        batch([PutOp(NS, "a", {"n": 1}), PutOp(NS, "b", {"n": 2})], [None, None]),
        batch([GetOp(NS, "b"), SearchOp(NS), GetOp(NS, "nobody"), GetOp(NS, "a")],
              ["b", ["a", "b"], None, "a"],
              of=lambda one: key_set(one) if isinstance(one, list) else one and one.key),
        batch([PutOp(NS, "a", None)], [None]), keys(["b"]), batch([], [])]),
    Check("searches_of_a_batch", "Searches of one batch each keep to their own namespace, filter and page", [
        put({f"k{n:02}": {"group": n % 5} for n in range(50)}), put({"other": {"group": 1}}, at=OTHER),
        batch([SearchOp(at, {"group": group}, limit, offset) for at, group, limit, offset in (
                   (NS, 1, 20, 0), (NS, 2, 20, 0), (OTHER, 1, 20, 0), (NS, 1, 4, 8),
                   (("users", "no"), 1, 20, 0))],
              [[1] * 10, [2] * 10, [1], [1, 1], []],
              of=lambda items: [one.value["group"] for one in items])]),
    expected("reads_first",
        "Reads of a batch see the store before it; of several puts of a key the last one counts", [
        put({"k": {"n": 1}}),
        batch([PutOp(NS, "k", {"n": 2}), GetOp(NS, "k"), PutOp(NS, "k", None), PutOp(NS, "k", {"n": 3})],
              [None, {"n": 1}, None, None], of=lambda one: one and one.value),
        value("k", {"n": 3})]),
    Check("at_once", "Many calls at once, by tasks or threads, lose nothing", [at_once]),
    Check("prefixes",
        "A search covers the namespaces below its prefix, by whole labels; an empty prefix covers all", [
        *(put({"/".join(at): {}}, at=at)
          for at in (("users",), NS, (*NS, "x"), ("users2",), ("user",), ("x", "users"))),
        keys(["users/maria", "users/maria/x"]),
        keys(["users", "users/maria", "users/maria/x"], at=("users",)),
        keys(["user", "users", "users/maria", "users/maria/x", "users2", "x/users"], at=())]),
    expected("literal_labels", "Characters that mean something to a database are plain ones in labels", [
        *(put({label: {}}, at=(label,)) for label in (*LABELS, "ab", "ax", "a", "b", "A%")),
        *(keys([label], at=(label,)) for label in LABELS)]),
    Check("limits",
        "A search gives ten items unless `limit` says otherwise; pages by `offset` hold each item once", [
        put(numbered(25)), gives(10, "search", NS, of=len),
        pages([7, 7, 7, 4], sorted(numbered(25)), "search", NS)]),
    expected("edges", "A limit of zero, a huge one, and an offset beyond the end are answered",
        [put({"k": {}}), keys([], limit=0), keys(["k"], limit=2**31), keys([], offset=5)]),
    Check("filters", "A filter gives the items whose fields all are as it says", [
        put({f"k{n}": {"colour": colour, "size": size, "even": n % 2 == 0}
             for n, (colour, size) in enumerate([("red", 1), ("red", 2), ("blue", 1)])}),
        put({"none": {"colour": None}}),
        keys(["k0", "k1"], filter={"colour": "red"}), keys(["k1"], filter={"colour": "red", "size": 2}),
        keys(["k0", "k2"], filter={"even": True}), keys([], filter={"colour": "green"}),
        keys([], filter={"nothing": 1}), keys(["k0", "k1", "k2", "none"], filter={})]),
    expected("filter_types", "A filter tells a number from a text, and compares null, lists and objects",
        [put(TYPES), *(keys([key], filter=one) for key, one in TYPES.items())]),
    expected("filter_true", "A filter tells 1 from true, as JSON does; in Python both are equal",
        [put(ONES), *(keys([key], filter=one) for key, one in ONES.items())]),
    Check("unranked", "Without a query no item has a score",
        [put({"k": {"text": "tea"}}), gives([None], "search", NS, of=scores)]),
    expected("true_when_empty", "An empty store is true, for who asks `if store`",
        [lambda bench: same(bool(bench.store), True, "the truth of the store")]),

    Check("operators", "`$eq`, `$ne`, `$gt`, `$gte`, `$lt` and `$lte` compare numbers as numbers", [
        put({str(n): {"n": n} for n in (-5, 2, 10, 10.5)}),
        *(keys(wanted, filter={"n": {operator: operand}}) for operator, operand, wanted in (
            ("$eq", 10, ["10"]), ("$ne", 10, ["-5", "10.5", "2"]), ("$gt", 9, ["10", "10.5"]),
            ("$gte", 10, ["10", "10.5"]), ("$lt", 2, ["-5"]), ("$lte", 2.0, ["-5", "2"])))], OPERATORS),
    Check("ranges", "Several operators on one field, and conditions on several fields, hold together",
        [put(numbered(6)), keys(["k2", "k4"], filter={"n": {"$gt": 0, "$lte": 4}, "even": True})], OPERATORS),
    expected("text_order", "Operators compare texts as texts, such as dates", [
        put(by_key(("2026-01-31", "2026-02-01", "2026-11-05"), "day")),
        keys(["2026-02-01", "2026-11-05"], filter={"day": {"$gte": "2026-02-01"}})], OPERATORS),
    expected("unknown_operators", "An operator that a store does not know is an error",
        [put({"k": {"n": 1}}), refuses(Exception, "search", NS, filter={"n": {"$between": 1}})], OPERATORS),
    expected("odd_fields", "A filter may ask for a field with any name", [
        *(put({field: {field: 1}}, at=(field,)) for field in ODD),
        *(keys([field], at=(field,), filter={field: one}) for field in ODD for one in (1, {"$gt": 0}))],
        OPERATORS),
    expected("absent_fields", "An order holds for no item that lacks the field",
        [put({"with": {"n": 1}, "without": {}}), keys(["with"], filter={"n": {"$gt": 0}})], OPERATORS),

    Check("depth", "`max_depth` cuts namespaces, and each is listed once", [
        FILLED,
        namespaces([("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")], prefix=("a", "b"), max_depth=3)],
        NAMESPACES),
    Check("conditions",
        "Prefix, suffix and the wildcard `*` choose namespaces by whole labels, also several at once", [
        FILLED, namespaces(PATHS, prefix=("a",)), namespaces(PATHS[3:], suffix=("f",)),
        namespaces([("a", "b", "f")], prefix=("a", "b"), suffix=("f",)),
        namespaces(PATHS[1:3], prefix=("a", "*", "d")),
        namespaces([("a", "b", "c"), ("a", "b", "f")], suffix=("b", "*")),
        batch([ListNamespacesOp((MatchCondition("prefix", ("a",)), MatchCondition("prefix", ("a", "c"))))],
              [[("a", "c", "f")]])], NAMESPACES),
    Check("namespace_pages", "`limit` and `offset` count namespaces after they are cut", [
        FILLED, pages([2, 1, 0], [("a", "b"), ("a", "c"), ("ab", "c")], "list_namespaces", max_depth=2)],
        NAMESPACES),
    Check("emptied",
        "A namespace is listed once however many items it has, and not after its last one was deleted",
        [put({"a": {}, "b": {}}), namespaces([NS]), delete("a", "b"), namespaces([])], NAMESPACES),

    Check("ranked", "A query ranks the items below the prefix, the nearest first, with scores", [
        put(TEXTS), put({"other": TEXTS["near"]}, at=OTHER),
        keys(["near", "half"], query="red apple", limit=2),
        gives(True, "search", NS, query="red apple",
              of=lambda items: scores(items) == sorted(scores(items), reverse=True)),
        gives(["near", "other"], "search", (), query="red apple", limit=2, of=key_set)], VECTORS),
    Check("fields",
        "Only the configured fields are embedded, each element of `[*]` alone; a missing one is skipped", [
        put({"a": {"text": "red", "tags": ["green", "blue"], "secret": "black"}, "b": {"other": "white"}}),
        embedded("blue green red")], VECTORS),
    Check("index_argument",
        "`index` of a put names the fields of this item; with False it has no vector, and is still there", [
        put({"a": {"text": "red", "secret": "white"}}, index=["secret"]),
        put({"b": {"text": "yellow"}}, index=False), embedded("white"), keys(["a"], query="white", limit=1),
        value("b", {"text": "yellow"}), keys(["a", "b"])], VECTORS),
    Check("paths", "`index` takes nested fields, `[0]`, `[-1]` and `[*]` within a path", [
        put({"k": {"a": {"b": "1"}, "list": ["2", "no", "3"], "parts": [{"t": "4"}, {"t": "5"}]}},
            index=["a.b", "list[0]", "list[-1]", "parts[*].t"]), embedded("1 2 3 4 5")], VECTORS),
    Check("ranked_and_filtered", "With a query and a filter, `limit` counts what passes the filter", [
        put({f"k{n:02}": {"text": "red apple" if n < 20 else f"car {n}", "n": n} for n in range(30)}),
        keys(["k25"], query="red apple", filter={"n": 25}, limit=3)], VECTORS),
    expected("pooled", "`limit` counts items, not vectors, and an item is given once, by its best vector", [
        put({f"k{n}": {"text": "noise", "tags": ["apple", "apple", "pear"] * (n % 3), "even": n % 2 == 0}
             for n in range(8)}),
        pages([2, 2, 0], ["k0", "k2", "k4", "k6"], "search", NS, query="apple", filter={"even": True}),
        gives(["k2", "k4"], "search", NS, query="apple", filter={"even": True}, limit=2, 
              of=lambda items: key_set(filter(is_one, items)))], VECTORS),
    expected("forgotten", "The text of an item that was replaced or deleted is near no query any more", [
        put({"k": {"text": "old", "tags": ["older"]}}), put({"k": {"text": "new"}}), none_near("old"),
        none_near("older"), put({"k": {"text": "new"}}, index=False), none_near("new"),
        put({"k": {"text": "new"}}), delete("k"), keys([], query="new")], VECTORS),
    expected("cosines",
        "The score is the cosine similarity, and an item without a vector has none and comes last", [
        put({"none": TEXTS["near"]}, index=False), put({"same": TEXTS["near"], "half": TEXTS["half"]}),
        keys(["same", "half", "none"], query="red apple"),
        gives((True, True, None), "search", NS, query="red apple",
              of=lambda items: (is_one(items[0]), 0 < items[1].score < 0.9, items[2].score))], VECTORS),
    expected("ranked_pages", "Pages of a ranked search hold each item once", [
        put({f"k{n:02}": {"text": f"{('red', 'white', 'pale')[n % 3]} wine {n}"} for n in range(60)}),
        pages([7] * 8 + [4], [f"k{n:02}" for n in range(60)], "search", NS, query="red wine")], VECTORS),

    Check("expires", "An item expires after its `ttl` in minutes, and one without stays", [
        put({"long": {}}), put({"never": {}}, ttl=None), put({"short": {"n": 1}}, ttl=MINUTES),
        value("short", {"n": 1}), gone("short"), keys(["long", "never"])], TTL),
    Check("refreshed", "Reading an item prolongs its life, but for reading with `refresh_ttl=False`", [
        put(by_key(("read", "unread"), "key"), ttl=2 * MINUTES), gone("unread", meanwhile="read"),
        value("read", {"key": "read"})], TTL, ttl={"refresh_on_read": True}),
    Check("default_ttl", "`default_ttl` is the TTL of a put that names none, and `ttl=None` means none",
        [put({"short": {}}), put({"never": {}}, ttl=None), gone("short"), keys(["never"])],
        TTL, ttl={"default_ttl": MINUTES, "refresh_on_read": False}),
    expected("omitted", "With `omit_expired` no read gives an expired item, also before it is swept",
        [put({"short": {}}, ttl=MINUTES), gone("short", sweeps=False), keys([]), namespaces([])],
        TTL, ttl={"omit_expired": True, "refresh_on_read": False}),
    Check("ttl_refused", "A store without TTL refuses a put with one",
        [refuses(NotImplementedError, "put", NS, "k", {}, ttl=1)], ("no ttl",)),

    expected("kept", "Items, times and namespaces are there after the store was closed and opened again",
        [put({"k": {"n": 1}}), put({"k": {"n": 2}}, at=OTHER), delete("k", at=OTHER), reopen,
         namespaces([NS])], ("persistence",)),
    expected("kept_vectors", "Vectors are kept, too: after opening again nothing is embedded anew",
        [put({**TEXTS, "k": {}}), reopen, keys(["near"], query="apple red", limit=1),
         embedded("", "apple red")],
        ("persistence", "vectors")),
)
