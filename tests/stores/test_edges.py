"""Odd, huge and hostile input: an answer or a clear error, never a crash and never a leak."""

from __future__ import annotations

import dataclasses
import enum
import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import pytest
from pydantic import BaseModel

from langmemory.errors import ConfigError, InvalidValueError
from langmemory.sqlite.consistency import check
from langmemory.stores import MemoryStore

NS = ("a",)


@pytest.fixture(params=["embedded model", "words only"])
def store(request: pytest.FixtureRequest) -> MemoryStore:
    return MemoryStore(":memory:", index=None if request.param == "embedded model" else False)


def test_an_empty_database_answers(store: MemoryStore) -> None:
    """Every read of an empty file has an answer."""
    assert store.get(NS, "k") is None
    assert store.search((), query="anything", filter={"a": {"$gt": 1}}) == []
    assert store.list_namespaces() == []
    assert len(store.recall("anything", NS)) == 0
    assert store.history(NS, "k") == []
    assert store.delete_namespace(NS) == 0
    assert store.sweep_ttl() == 0
    assert (store.stats().items, store.stats().vectors) == (0, 0)
    assert [row["type"] for row in store.iter_export()] == ["meta"]


def test_long_texts(store: MemoryStore) -> None:
    """50,000 characters, of words or without a single space, are stored, filtered and found, and
    as long a query finds them."""
    words = " ".join(f"word{n}" for n in range(7000))[:50_000]
    store.put(NS, "words", {"text": words})
    store.put(NS, "solid", {"text": "x" * 50_000})
    store.put(NS, "cjk", {"text": "水果" * 25_000})
    assert store.search(NS, query="word99", limit=1)[0].key == "words"
    assert store.search(NS, query=words, limit=1)[0].key == "words"
    assert store.search(NS, query="水", limit=1)[0].key == "cjk"
    assert store.search(NS, query="x" * 50_000, limit=1)[0].key == "solid"
    for text in (words, "x" * 50_000):
        assert len(store.search(NS, filter={"text": text})) == 1
        assert len(store.search(NS, filter={"text": text[:-1]})) == 0


def test_many_leaves(store: MemoryStore) -> None:
    """A value with 5,000 fields, and one with a list of 5,000, can be filtered by any of them."""
    store.put(NS, "wide", {f"field{n}": n for n in range(5000)})
    store.put(NS, "list", {"numbers": list(range(5000))})
    assert [i.key for i in store.search(NS, filter={"field4999": {"$gte": 4999}})] == ["wide"]
    assert [i.key for i in store.search(NS, filter={"numbers": {"$contains": 4321}})] == ["list"]
    store.put(NS, "wide", {"field0": 0})
    assert store.search(NS, filter={"field4999": 4999}) == []
    with store._engine.read() as snapshot:
        assert check(snapshot.connection) == []


@pytest.mark.parametrize(
    "query",
    [
        '"', "'", "a AND", "NEAR(a b)", "body:secret", "* OR *", "ns:n1", "{ns}: n1", "-a", "^a",
        "a\0b", "(((", "\\", "%", "SELECT", "\N{PILE OF POO}", "\u202e", "the of and", "?!", "\n",
    ],
)  # fmt: skip
def test_no_query_is_syntax(store: MemoryStore, query: str) -> None:
    """Whatever stands in a query is text: it neither fails nor reaches another namespace."""
    store.put(NS, "k", {"text": "secret words a b"})
    store.put(("b",), "other", {"text": "secret words a b"})
    for found in (store.search(NS, query=query), store.search(NS, query=query, filter={"x": None})):
        assert {item.namespace for item in found} <= {NS}
    assert {result.memory.namespace for result in store.recall(query, NS)} <= {NS}


async def test_half_a_surrogate_pair(store: MemoryStore) -> None:
    """Text that is not Unicode is refused by name wherever it stands, and nothing is written."""
    bad = "\ud800"
    refused = [
        lambda: store.put(NS, bad, {}),
        lambda: store.put((bad,), "k", {}),
        lambda: store.put(NS, "k", {"text": bad}),
        lambda: store.put(NS, "k", {bad: 1}),
        lambda: store.get(NS, bad),
        lambda: store.search((bad,)),
        lambda: store.search(NS, filter={"a": bad}),
        lambda: store.search(NS, filter={bad: 1}),
        lambda: store.remember(NS, [("user", bad)], thread_id="t"),
        lambda: store.remember(NS, [("user", "x")], thread_id=bad),
    ]
    for call in refused:
        with pytest.raises(InvalidValueError, match=r"surrogate"):
            call()
    with pytest.raises(InvalidValueError, match="surrogate"):
        await store.aput(NS, bad, {})
    store.put(NS, "k", {"text": "x"})
    assert len(store.search(())) == 1
    store.search(NS, query=f"half {bad}")


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int


class Person(BaseModel):
    name: str
    born: date


def test_values_beyond_json() -> None:
    """Dates, UUIDs, enums, paths, decimals, dataclasses and models are stored as text and objects."""
    store = MemoryStore(":memory:", index=False)
    number = uuid.uuid4()
    store.put(
        NS, "k",
        {
            "at": datetime(2026, 1, 2, tzinfo=UTC), "id": number, "colour": Colour.RED,
            "path": PurePosixPath("/x"), "price": Decimal("1.10"), "point": Point(1),
            "person": Person(name="Maria", born=date(2000, 1, 1)), "pair": (1, 2),
        },
    )  # fmt: skip
    assert store.get(NS, "k").value == {  # type: ignore[union-attr]
        "at": "2026-01-02T00:00:00+00:00", "id": str(number), "colour": "red", "path": "/x",
        "price": "1.10", "point": {"x": 1}, "person": {"name": "Maria", "born": "2000-01-01"},
        "pair": [1, 2],
    }  # fmt: skip


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": [value]}
    return value


def test_values_without_a_form() -> None:
    """What JSON would lose or choke on is refused with the place and the way out."""
    store = MemoryStore(":memory:", index=False)
    circle: dict[str, Any] = {}
    circle["self"] = circle
    for value, message in (
        ({"a": {1: 2}}, r"key 1 in value\.a is a int"),
        ({"a": {1, 2}}, "set .* Store a list"),
        ({"a": b"bytes"}, "bytes"),
        ({"a": object()}, "object"),
        (nested(50_000), "deeper than 200 levels"),
        (circle, "deeper than 200 levels"),
        ({"a": 10**5000}, "JSON"),
    ):
        with pytest.raises(InvalidValueError, match=message):
            store.put(NS, "k", value)
    store.put(NS, "k", nested(90))
    assert store.get(NS, "k").value == nested(90)  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match="list; pass a dict"):
        store.put(NS, "k", ["no", "dict"])  # type: ignore[arg-type]
