"""Filters: the SQL, the Python that says what they mean, and LangGraph's own, agree."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from langgraph.store.base import PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from langmemory.errors import InvalidFilterError
from langmemory.ledger.filters import matches
from langmemory.ledger.values import LONG_STRING
from langmemory.stores import MemoryStore
from langmemory.values import from_json, to_json
from tests.seeds import examples

NAMESPACE = ("n",)

LONG = "x" * LONG_STRING
KEYS = ("a", "b", "a.b", "a.", "", 'it\'s "q"', "ключ", "a[]", "tags", "$tag", "NULL", "a/b%_*")
NUMBERS = (
    0, 1, -1, True, False, 0.0, -0.0, 1.0, 1.5, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, 2**63,
    2**63 + 1, float(2**63), -(2**63), -(2**63) - 1, 10**30, 1e30, 10**400, math.inf, -math.inf,
    math.nan,
)  # fmt: skip
TEXTS = (
    "", "a", "B", "é", "z\0z", "\U0001f600", "{}", "nan", LONG, LONG + "1", LONG + "2",
    LONG[:-1] + "y" + "1", "a\0" + LONG + "needle", "needle",
)  # fmt: skip


def is_storable(number: float) -> bool:
    """Whether JSON has a word for a number; filters may have others."""
    return isinstance(number, int) or math.isfinite(number)


scalars = st.sampled_from((None, *NUMBERS, *TEXTS))
storable = st.sampled_from((None, *filter(is_storable, NUMBERS), *TEXTS))
places = st.sampled_from(KEYS)


def nested(leaves: Any) -> Any:
    """Values of these leaves."""
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(places, inner, max_size=3),
        max_leaves=6,
    )


values = nested(scalars)
objects = st.dictionaries(places, nested(storable), max_size=4)

names = st.sampled_from([key for key in KEYS if all(key.split(".")) and key[0] != "$"])
orderable = st.sampled_from((*NUMBERS, *TEXTS))
operators = st.one_of(
    st.fixed_dictionaries({}, optional={"$eq": values, "$ne": values}).filter(bool),
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("$gt", "$gte", "$lt", "$lte"), orderable)
    ).filter(bool),
    st.fixed_dictionaries({"$in": st.lists(values, max_size=3)}),
    st.fixed_dictionaries({"$contains": values}),
)


def addressable(operand: Any) -> bool:
    """Whether every key of a value can stand in a filter."""
    if isinstance(operand, dict):
        return all(
            all(key.split(".")) and key[0] != "$" and addressable(inner)
            for key, inner in operand.items()
        )
    return not isinstance(operand, list) or all(map(addressable, operand))


conditions = st.dictionaries(
    names,
    operators
    | values.filter(addressable)
    | st.dictionaries(names, operators | scalars, min_size=1, max_size=2),
    min_size=1,
    max_size=2,
)
filters = st.recursive(
    conditions,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"$and": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"$or": st.lists(inner, min_size=1, max_size=2)}),
        st.tuples(inner, conditions).map(lambda both: {"$or": [both[0]], **both[1]}),
    ),
    max_leaves=3,
)


@given(stored=st.lists(objects, min_size=1, max_size=4), filter=filters)
@example(stored=[{"n": 2**63 + 1}], filter={"n": 2.0**63})
@example(stored=[{"tags[]": 1}], filter={"tags": {"$contains": 1}})
@example(stored=[{"": {"a": 1}}], filter={"a": 1})
@example(stored=[{"a": {}, "a.b": 1}], filter={"a": {"b": 1}})
@example(stored=[{"a": ["x"]}], filter={"a": {"$eq": ("x",)}})
@example(stored=[{"a": "a\0" + LONG + "needle"}], filter={"a": {"$contains": "needle"}})
@settings(
    max_examples=examples(250, first=62),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
def test_sql_is_what_a_filter_means(stored: list[dict[str, Any]], filter: dict[str, Any]) -> None:
    """For any values and any filter, search finds exactly the items that `matches` lets pass, with
    a query and without."""
    store = shared_store()
    keys = [str(n) for n in range(len(stored))]
    store.batch([PutOp(NAMESPACE, key, one) for key, one in zip(keys, stored, strict=True)])
    expected = {
        key
        for key, one in zip(keys, stored, strict=True)
        if matches(from_json(to_json(one)), filter)
    }
    found = store.search(NAMESPACE, filter=filter, limit=99)
    ranked = store.search(NAMESPACE, filter=filter, query="needle", limit=99)
    store.batch([PutOp(NAMESPACE, key, None) for key in keys])
    assert {item.key for item in found} == expected
    assert {item.key for item in ranked} == expected


_store: list[MemoryStore] = []


def shared_store() -> MemoryStore:
    """One empty store for all examples: opening costs more than an example."""
    if not _store:
        _store.append(MemoryStore(":memory:"))
    return _store[0]


plain_keys = st.sampled_from(["a", "b", "it's", "ключ"])
plain_scalars = st.sampled_from([None, True, False, 0, 1, 2, 1.5, 2**53 + 1, "", "x", "10"])
plain_values = st.recursive(
    plain_scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(plain_keys, inner, max_size=2),
    max_leaves=4,
)
plain_filters = st.dictionaries(
    plain_keys,
    plain_values
    | st.fixed_dictionaries({}, optional={"$eq": plain_values, "$ne": plain_values}).filter(bool),
    max_size=2,
)


@given(
    stored=st.dictionaries(plain_keys, plain_values, max_size=3),
    number=st.dictionaries(st.just("n"), st.sampled_from([-1, 0, 1, 2.5, 2**53]), min_size=1),
    filter=plain_filters,
    bound=st.dictionaries(
        st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), st.sampled_from([-1, 0, 1.0, 2**53]),
        max_size=2,
    ),
)  # fmt: skip
@settings(max_examples=examples(300, first=75), deadline=None)
def test_filters_mean_what_langgraph_means(
    stored: dict[str, Any], number: dict[str, Any], filter: dict[str, Any], bound: dict[str, Any]
) -> None:
    """Wherever InMemoryStore has an answer, ours is the same: equality, $eq, $ne, order of numbers,
    nested objects, lists, missing fields."""
    value = {**stored, **number}
    wanted = {**filter, **({"n": bound} if bound else {})}
    theirs = InMemoryStore()
    theirs.put(NAMESPACE, "k", value)
    assert matches(value, wanted) == bool(theirs.search(NAMESPACE, filter=wanted))


@pytest.mark.parametrize("query", [None, "x"])
def test_operands_are_read_as_values_are_written(query: str | None) -> None:
    """A filter finds values by the JSON form that put wrote: datetimes, UUIDs, enums."""
    at, id = datetime(2025, 3, 1, tzinfo=UTC), UUID(int=7)
    with MemoryStore(":memory:", index=False) as store:
        store.put(NAMESPACE, "k", {"text": "x", "at": at, "id": id, "all": [id]})
        for filter in (
            {"at": at},
            {"at": {"$gte": at, "$lt": at + timedelta(1)}},
            {"id": {"$in": [UUID(int=8), id]}},
            {"all": {"$contains": id}},
            {"all": [id]},
        ):
            assert store.search(NAMESPACE, query=query, filter=filter), filter
        assert not store.search(NAMESPACE, query=query, filter={"at": {"$ne": at}})


@pytest.mark.parametrize("query", [None, "x"])
def test_one_of_thousands(query: str | None) -> None:
    """$in takes as many values as anybody lists, of every type, also none and missing ones."""
    with MemoryStore(":memory:", index=False) as store:
        for n, value in enumerate((5, "5", None, 2**70, [1], "y" * 80, 2.5)):
            store.put(NAMESPACE, f"k{n}", {"text": "x", "n": value})

        def found(*options: Any) -> list[str]:
            filter = {"n": {"$in": [*range(100, 9000), *options]}}
            return sorted(item.key for item in store.search(NAMESPACE, query=query, filter=filter))

        assert found() == []
        assert found(5.0) == ["k0"]
        assert found("5", None) == ["k1", "k2"]
        assert found(2**70, [True], "y" * 80) == ["k3", "k4", "k5"]
        assert found(2**70 + 1, math.nan, "y" * 81, 2.5) == ["k6"]


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        ({"a": {"$regex": "x"}}, r"'\$regex' on 'a'.*Use one of \$eq"),
        ({"a": {"$eq": 1, "b": 2}}, "'b' on 'a'"),
        ({"$not": [{"a": 1}]}, r"\$not.*only \$and, \$or"),
        ({"$gt": 1}, r"\$gt"),
        ({"$or": []}, "non-empty list"),
        ({"$and": {"a": 1}}, "non-empty list"),
        ({"$or": [1]}, "must be a dict, not 1"),
        ({"a": {"$gt": None}}, "takes a number or a string, not None"),
        ({"a": {"$in": "abc"}}, "takes a list, not 'abc'"),
        ({"a": {"$in": list(range(20_000))}}, "'a' has 20000 values; 10000 is the most"),
        ({"a": b"x"}, "'a' cannot be asked. A bytes"),
        ({"a..b": 1}, "'a..b'"),
        ({"": 1}, "''"),
        ({1: 1}, "1: keys are names"),
        ({"a": {"b": {"$near": 1}}}, r"\$near"),
    ],
)
def test_wrong_filters_are_errors(filter: Any, message: str) -> None:
    """A filter nobody can mean is refused, naming key, operator and what is allowed; never ignored."""
    store = shared_store()
    with pytest.raises(InvalidFilterError, match=message):
        store.search(NAMESPACE, filter=filter)
    with pytest.raises(InvalidFilterError, match=message):
        store.search(NAMESPACE, filter=filter, query="x")


def deep(kind: str, levels: int) -> dict[str, Any]:
    """A filter or operand of so many levels."""
    found: Any = {"a": 1}
    for _ in range(levels):
        match kind:
            case "list":
                found = [found]
            case "object":
                found = {"a": found}
            case _:
                found = {kind: [found, {"b": 2}]}
    return {"a": found} if kind == "list" else found  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["$and", "$or", "object", "list"])
async def test_a_filter_nested_too_deep_is_an_error_that_says_so(tmp_path: Path, kind: str) -> None:
    """Wherever a filter is read, one too deep for Python's stack is refused, naming the limit and the
    place; a batch with it writes nothing. As deep as a value may be, it is answered."""
    moment = datetime(2027, 1, 1, tzinfo=UTC)
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        store.put(NAMESPACE, "k", {"text": "hello"})
        circle: dict[str, Any] = {}
        circle["$or"] = [circle, circle]
        for filter in (deep(kind, 3_000), {"a": {"$eq": deep(kind, 3_000)}}, circle):
            with pytest.raises(InvalidFilterError, match="deeper than 200 levels, at ") as refused:
                store.search(NAMESPACE, filter=filter)
            assert len(str(refused.value)) < 300
            with pytest.raises(InvalidFilterError, match="deeper than 200 levels"):
                await store.asearch(NAMESPACE, filter=filter, query="hello")
            with pytest.raises(InvalidFilterError, match="deeper than 200 levels"):
                store.recall("hello", NAMESPACE, filter=filter, known_at=moment)
            with pytest.raises(InvalidFilterError, match="deeper than 200 levels"):
                store.batch([PutOp(NAMESPACE, "new", {"a": 1}), SearchOp(NAMESPACE, filter=filter)])
        assert store.get(NAMESPACE, "new") is None
        assert store.search(NAMESPACE, filter=deep(kind, 99)) == []
