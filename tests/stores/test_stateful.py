"""A store beside a dictionary: whatever is put, deleted, searched and listed, in any order and by anybody,
both say the same. Hypothesis chooses the steps and shortens what differs."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from langgraph.store.base import GetOp, PutOp

from langmemory.addresses import is_server
from langmemory.errors import OwnershipError
from langmemory.stores import MemoryStore
from tests import postgres_server
from tests.seeds import examples

STEPS = int(os.environ.get("LANGMEMORY_STATEFUL_STEPS", examples(1_500, first=200)))
A_WALK = 100
"""Steps, or fewer where Hypothesis ends it before."""
NAMESPACES = [("a",), ("a", "b"), ("a", "b", "ç"), ("d",)]
KEYS = ["k", "l", "ключ"]
PLACES = [(namespace, key) for namespace in NAMESPACES for key in KEYS]
NUMBERS = [0, 1, 2.5, -3]
APPLICATION = ""
"""Who sees everything; the others are viewers."""

namespaces = st.sampled_from(NAMESPACES)
keys = st.sampled_from(KEYS)
people = st.sampled_from([APPLICATION, "ana", "bo"])
values = st.fixed_dictionaries(
    {"text": st.sampled_from(["green tea", "black coffee", "grüner Tee", ""])},
    optional={
        "n": st.sampled_from(NUMBERS),
        "more": st.lists(st.integers(0, 3), max_size=2),
        "privacy": st.sampled_from(["private", "shared"]),
    },
)


class Kept(NamedTuple):
    """What the dictionary has under a key."""

    value: Mapping[str, Any]
    private: bool
    owner: str | None

    def is_seen_by(self, person: str) -> bool:
        return person in (APPLICATION, self.owner) or not self.private


class StoreAndDictionary(RuleBasedStateMachine):
    steps = 0
    """Of all walks."""
    opened_at = 0
    """The step at which the store was opened last."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
        self.kept: dict[tuple[tuple[str, ...], str], Kept] = {}
        self.open()

    def open(self) -> None:
        self.path = Path(self.folder.name) / "memory.db"
        self.store = MemoryStore(self.path)
        self.opened_at = StoreAndDictionary.steps
        self.views: dict[str, Any] = {
            APPLICATION: self.store,
            **{one: self.store.for_viewer(one) for one in ("ana", "bo")},
        }

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()
            place = postgres_server.place(self.path)
            if is_server(place):  # whose catalog a thousand schemas would slow down
                postgres_server.drop(place)

    def after(
        self, person: str, namespace: tuple[str, ...], key: str, value: dict[str, Any]
    ) -> Kept | None:
        """Return what a put leaves under its key; None where the store must refuse it."""
        before = self.kept.get((namespace, key))
        if before and not before.is_seen_by(person):
            return None
        owner = (before and before.owner) or person or None
        if value.get("privacy") == "private":
            if person == APPLICATION:
                owner = "ana"
            elif owner != person:
                return None
            value = {**value, "owner": owner}
        private = before.private if before and "privacy" not in value else False
        return Kept(value, private or value.get("privacy") == "private", owner)

    def put_value(self, person: str, value: dict[str, Any]) -> dict[str, Any]:
        """Return a value as a person puts it: the application says whose a private one is."""
        is_private = value.get("privacy") == "private"
        return {**value, "owner": "ana"} if is_private and person == APPLICATION else value

    @rule(person=people, namespace=namespaces, key=keys, value=values)
    def put(self, person: str, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> None:
        after = self.after(person, namespace, key, value)
        try:
            self.views[person].put(namespace, key, self.put_value(person, value))
        except OwnershipError:
            assert after is None
        else:
            assert after is not None
            self.kept[namespace, key] = after

    @rule(person=people, namespace=namespaces, key=keys)
    def get(self, person: str, namespace: tuple[str, ...], key: str) -> None:
        one = self.kept.get((namespace, key))
        item = self.views[person].get(namespace, key)
        assert (item and item.value) == (one.value if one and one.is_seen_by(person) else None)

    @rule(person=people, namespace=namespaces, key=keys)
    def delete(self, person: str, namespace: tuple[str, ...], key: str) -> None:
        self.views[person].delete(namespace, key)
        before = self.kept.get((namespace, key))
        if before and before.is_seen_by(person):
            del self.kept[namespace, key]

    @rule(person=people, puts=st.lists(st.tuples(namespaces, keys, values), min_size=2, max_size=4))
    def put_several(
        self, person: str, puts: list[tuple[tuple[str, ...], str, dict[str, Any]]]
    ) -> None:
        """All of a batch is written, the last of a key, or nothing."""
        last = {(namespace, key): value for namespace, key, value in puts}
        after = {place: self.after(person, *place, value) for place, value in last.items()}
        ops = [PutOp(n, key, self.put_value(person, value)) for n, key, value in puts]
        try:
            self.views[person].batch(ops)
        except OwnershipError:
            assert None in after.values()
        else:
            self.kept |= {place: one for place, one in after.items() if one is not None}
            assert None not in after.values()

    @rule(person=people, namespace=namespaces, number=st.sampled_from(NUMBERS), query=st.booleans())
    def search(self, person: str, namespace: tuple[str, ...], number: float, query: bool) -> None:
        found = self.views[person].search(
            namespace, query="tea" if query else None, filter={"n": {"$gte": number}}, limit=100
        )
        assert {(item.namespace, item.key) for item in found} == {
            (place, key)
            for (place, key), one in self.kept.items()
            if place[: len(namespace)] == namespace
            and one.is_seen_by(person)
            and one.value.get("n", -9) >= number
        }

    @rule(person=people, depth=st.integers(1, 3))
    def list_namespaces(self, person: str, depth: int) -> None:
        found = self.views[person].list_namespaces(max_depth=depth)
        seen = {place[:depth] for (place, _), one in self.kept.items() if one.is_seen_by(person)}
        assert found == sorted(seen)

    @precondition(lambda self: StoreAndDictionary.steps > self.opened_at + 30)
    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.open()

    @invariant()
    def everybody_gets_what_they_may_see(self) -> None:
        StoreAndDictionary.steps += 1
        for person, view in getattr(self, "views", {}).items():
            items = view.batch([GetOp(*place) for place in PLACES])
            found = {place: item.value for place, item in zip(PLACES, items, strict=True) if item}
            assert found == {
                place: one.value for place, one in self.kept.items() if one.is_seen_by(person)
            }


def test_store_and_dictionary() -> None:
    """After each of so many random steps, the store and the dictionary say the same."""
    walks = settings(
        max_examples=min(10, -(-STEPS // A_WALK)),
        stateful_step_count=A_WALK,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    for number in itertools.count():
        if StoreAndDictionary.steps >= STEPS:
            break
        run_state_machine_as_test(seed(number)(StoreAndDictionary), settings=walks)
        print(f"seeds 0 to {number}: {StoreAndDictionary.steps:,} steps alike", flush=True)
