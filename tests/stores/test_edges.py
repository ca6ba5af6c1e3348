"""Odd, huge and hostile input: an answer or a clear error, never a crash and never a leak."""

from __future__ import annotations

import dataclasses
import enum
import re
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest
from langgraph.store.base import PutOp
from pydantic import BaseModel

from langmemory.errors import ChangeError, ConfigError, DatabaseError, InvalidValueError
from langmemory.stores import MemoryStore
from tests.places import POSTGRES

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
    assert store.changes.history(NS, "k") == []
    assert store.admin.delete_namespace(NS) == 0
    assert store.sweep_ttl() == 0
    assert (store.stats().items, store.stats().vectors) == (0, 0)
    assert [row["type"] for row in store.admin.export()] == ["meta"]


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
    assert store.admin.check() == []


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
    """A value that JSON would lose or reject is refused with its place and the way out."""
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


@pytest.mark.parametrize("depth", [150, 3_000])
async def test_what_an_object_holds_may_not_nest_deeper_either(depth: int) -> None:
    """A dataclass is no way round the limit of depth, by any door: nothing is written that could not
    be read."""

    @dataclasses.dataclass
    class Holder:
        held: Any

    store = MemoryStore(":memory:", index=False)
    value = {"a": Holder(nested(depth))}
    with pytest.raises(InvalidValueError, match="deeper than 200 levels"):
        store.put(NS, "k", value)
    with pytest.raises(InvalidValueError, match="deeper than 200 levels"):
        await store.aput(NS, "k", value)
    with pytest.raises(InvalidValueError, match="deeper than 200 levels"):
        store.batch([PutOp(NS, "other", {"a": 1}), PutOp(NS, "k", value)])
    assert store.search(NS) == []


def test_numbers_of_numpy_are_stored_as_numbers(store: MemoryStore) -> None:
    """Scores and counts come from embedders as such."""
    store.put(NS, "k", {"score": np.float32(0.5), "count": np.int64(3), "seen": np.bool_(True)})
    item = store.get(NS, "k")
    assert item is not None
    assert item.value == {"score": 0.5, "count": 3, "seen": True}
    assert [one.key for one in store.search(NS, filter={"count": {"$gt": 2}})] == ["k"]


def test_a_value_with_half_a_character_says_how_to_mend_it(store: MemoryStore) -> None:
    """Half of a surrogate pair is named with the words before it, and the way out."""
    with pytest.raises(InvalidValueError, match=r"I like tea.*Repair it, for example"):
        store.put(NS, "k", {"text": "I like tea \ud83d"})
    assert store.search(NS) == []


def test_a_store_that_is_not_opened_yet_says_so(tmp_path: Path) -> None:
    """Calling what `from_conn_string` returns names the two ways to open it."""
    with pytest.raises(AttributeError, match=r"not open yet, and has no 'put'. Write `with Memory"):
        MemoryStore.from_conn_string(str(tmp_path / "m.db")).put(NS, "k", {})  # type: ignore[attr-defined]


@pytest.mark.parametrize("wrong", ["5", b"5", True, -1, 2.0, 2.5, float("nan"), None, []])
async def test_a_limit_is_a_whole_number(store: MemoryStore, wrong: Any) -> None:
    """A limit that is no whole number from 0 on is refused by name and value; large numbers and
    numpy's are accepted."""
    store.put(NS, "k", {"text": "tea"})
    calls: dict[str, list[Callable[..., object]]] = {
        "limit": [
            lambda it: store.search(NS, query="tea", limit=it),
            lambda it: store.search(NS, limit=it),
            lambda it: store.list_namespaces(limit=it),
            lambda it: store.recall("tea", NS, limit=it),
            lambda it: store._conversing.mandates(NS, limit=it),
            lambda it: store.admin.usage(NS, limit=it),
            lambda it: store.changes.runs(NS, limit=it),
        ],
        "offset": [
            lambda it: store.search(NS, query="tea", offset=it),
            lambda it: store.search(NS, offset=it),
        ],
        "max_depth": [lambda it: store.list_namespaces(max_depth=it)],
        "budget_tokens": [lambda it: store.recall("tea", NS, budget_tokens=it)],
    }
    for name, ways in calls.items():
        for call in ways:
            if wrong is not None or name in ("limit", "offset"):
                with pytest.raises(ConfigError, match=re.escape(f"{name} is {wrong!r}; it must")):
                    call(wrong)
            call(10**30)
            call(np.int64(2))
    with pytest.raises(ConfigError, match=re.escape(f"limit is {wrong!r}; it must be a whole")):
        await store.asearch(NS, query="tea", limit=wrong)


def test_what_is_no_name_or_time(store: MemoryStore) -> None:
    """A viewer, an owner and a thread are strings, `at` and `as_of` datetimes, and a score a number:
    anything else is refused by name and value."""
    said = [("user", "I like tea")]
    calls: dict[str, Callable[[], object]] = {
        "viewer is 1;": lambda: store.for_viewer(1),  # type: ignore[arg-type]
        "viewer is b'x';": lambda: store.for_viewer(b"x"),  # type: ignore[arg-type]
        "thread_id is 1;": lambda: store.remember(NS, said, thread_id=1),  # type: ignore[arg-type]
        "owner is 1;": lambda: store.remember(NS, said, thread_id="t", owner=1),  # type: ignore[arg-type]
        "at is '2024';": lambda: store.remember(NS, said, thread_id="t", at="2024"),  # type: ignore[arg-type]
        "as_of is 5;": lambda: store.graph(NS, as_of=5),  # type: ignore[arg-type]
        "min_score is nan;": lambda: store.recall("tea", NS, min_score=float("nan")),
        "min_score is True;": lambda: store.recall("tea", NS, min_score=True),
    }
    for message, call in calls.items():
        with pytest.raises(ConfigError, match=re.escape(message)):
            call()
    assert store.stats().items == 0


@pytest.mark.parametrize(
    "at",
    ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59.999999-05:00", "9999-12-31T23:59:59+02:00"],
)
def test_times_at_the_ends_of_the_calendar(store: MemoryStore, at: str) -> None:
    """A message whose time is none in UTC, as other languages write one that is not set, is kept at
    the end of the calendar: it is recalled and exported, and the thread goes on."""
    store.remember(NS, [{"role": "user", "content": "I like tea", "at": at}], thread_id="t")
    store.remember(NS, [("user", "And cake")], thread_id="t")
    assert store.recall("tea", NS, explain=True).results[0].text == "I like tea"
    copy = MemoryStore(":memory:", index=False)
    copy.admin.import_rows(list(store.admin.export()))
    assert copy.recall("tea last year", NS).results[0].text == "I like tea"


def test_times_before_1970(store: MemoryStore) -> None:
    """Seconds before 1970 and after 2038 are times like any other."""
    said = [{"role": "user", "content": f"said {at}", "at": at} for at in (-1e9, 4e9)]
    store.remember(NS, said, thread_id="t")
    found = {one.text: one.memory.valid_at for one in store.recall("said", NS).results}
    assert found == {
        "said -1000000000.0": datetime(1938, 4, 24, 22, 13, 20, tzinfo=UTC),
        "said 4000000000.0": datetime(2096, 10, 2, 7, 6, 40, tzinfo=UTC),
    }


@pytest.mark.parametrize("scheme", ["mysql", "postgresql+psycopg", "sqlite"])
def test_the_address_of_a_database_is_no_path(scheme: str) -> None:
    """It is refused as what it is, without the password that may stand in it."""
    with pytest.raises(DatabaseError, match="address of a database") as error:
        MemoryStore(f"{scheme}://user:hunter2@host/db")
    assert "hunter2" not in str(error.value)


@pytest.mark.sqlite("names a file")
def test_a_nul_in_the_path_is_named(tmp_path: Path) -> None:
    """A path with a NUL character is refused with its value, and no file is made."""
    with pytest.raises(DatabaseError, match=r"a\\x00b.*NUL"):
        MemoryStore(f"{tmp_path}/a\0b.db")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", [None, 5, ["a"], {"a": 1}])
def test_a_review_is_decided_by_text_alone(tmp_path: Path, given: Any) -> None:
    """A review id or an option that is no text is refused with its value."""
    with MemoryStore(tmp_path / "m.db") as store:
        with pytest.raises(ChangeError, match=r"review_id is .*must be a string"):
            store.changes.decide(given, "yes")
        with pytest.raises(ChangeError, match=r"option is .*must be a string"):
            store.changes.decide("r", given)


def test_the_character_nul_stays_in_texts(tmp_path: Path) -> None:
    """A value and a message keep it, a filter finds it, and what was forgotten is gone, though rows that stay
    hold it; in a key or the name of a field it is kept as well, or refused by name."""
    with MemoryStore(tmp_path / "memory.db") as store:
        store.put(NS, "k", {"text": "tea\0time", "deep": [{"n": "\0"}]})
        store.put((*NS, "core"), "human", {"content": "a\0b"})
        store.remember(NS, [{"role": "user", "content": "hi\0there", "id": "m"}], thread_id="t")
        assert store.get(NS, "k").value == {"text": "tea\0time", "deep": [{"n": "\0"}]}
        assert [one.key for one in store.search(NS, filter={"text": "tea\0time"})] == ["k"]
        for key, value in (("k\0", {"text": "x"}), ("field", {"a\0b": 1})):
            if POSTGRES:
                with pytest.raises(InvalidValueError, match="NUL"):
                    store.put(NS, key, value)
            else:
                store.put(NS, key, value)
                assert store.get(NS, key).value == value
        assert store.forget(NS, keys=["k"]).purged
        assert store.get((*NS, "core"), "human").value == {"content": "a\0b"}
