"""Concurrent clients see a store as if each of their calls were done at one moment between its beginning and
its end; and the search that says so finds stores of which that is not true."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from langmemory.stores import MemoryStore
from tests import postgres_server
from tests.children import process_context
from tests.linearizable import Call, broken, client, in_a_process, in_threads, linearizable
from tests.seeds import examples, seeds

CALLS = examples(150, first=60)


@pytest.mark.parametrize("seed", seeds(range(8), first=1))
def test_clients_of_one_file(tmp_path: Path, seed: int) -> None:
    """Threads that share a store, threads with stores of their own, and processes, all at once."""
    path = tmp_path / "m.db"
    place = postgres_server.place(path)
    with MemoryStore(path, index=False) as store, MemoryStore(path, index=False) as other:
        children = []
        for number in (10, 11):
            ours, theirs = process_context().Pipe()
            arguments = (place, number, CALLS, seed, theirs)
            child = process_context().Process(target=in_a_process, args=arguments, daemon=True)
            child.start()
            theirs.close()
            children.append((child, ours))
        for _, pipe in children:
            assert pipe.recv() == "ready"
        for _, pipe in children:
            pipe.send("begin")
        histories = in_threads([store, store, other], CALLS, 0, seed)
        histories += [pipe.recv() for _, pipe in children]
        for child, _ in children:
            child.join(30)
        [end] = in_threads([store], CALLS, 20, seed)
        assert broken([*histories, end]) == []
        overlapping = sum(
            a.begun < b.ended and b.begun < a.ended
            for one, two in itertools.combinations(histories, 2)
            for a, b in itertools.product(one, two)
            if a.key == b.key
        )
        assert overlapping > CALLS, "the clients did not meet"


def possible(calls: tuple[Call, ...]) -> bool:
    """Say by trying every order what `linearizable` says by a search."""
    for order in itertools.permutations(calls):
        value = None
        for place, call in enumerate(order):
            if any(later.ended < call.begun for later in order[place + 1 :]):
                break
            if not call.writes and call.value != value:
                break
            value = call.value
        else:
            return True
    return False


def test_the_search_says_what_all_orders_say() -> None:
    """Of short histories made at random, of which some are possible and some not."""
    rng, answers = random.Random(5), []
    for _ in range(examples(2_000, first=500)):
        calls = []
        for _ in range(rng.randint(1, 6)):
            begun = rng.randrange(20)
            value = rng.choice((None, 1, 2))
            calls.append(Call("k", begun, begun + rng.randint(1, 8), rng.random() < 0.5, value))
        answers.append(linearizable(calls))
        assert answers[-1] == possible(tuple(calls)), calls
    assert 0.2 < sum(answers) / len(answers) < 0.8


class Wrong:
    """A store with one fault."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


class Stale(Wrong):
    """Answers once more what it answered before."""

    last: Any = None

    def get(self, namespace: Any, key: str) -> Any:
        before, self.last = self.last, self.store.get(namespace, key)
        return before if before and before.key == key else self.last


class Forgetful(Wrong):
    """Acknowledges a deletion that it does not do."""

    def delete(self, namespace: Any, key: str) -> None:
        return None


class Late(Wrong):
    """Acknowledges a put before the one before it is written."""

    before: Any = None

    def put(self, *put: Any) -> None:
        if self.before:
            self.store.put(*self.before)
        self.before = put


class Torn(Wrong):
    """Answers what nobody put."""

    def get(self, namespace: Any, key: str) -> Any:
        item = self.store.get(namespace, key)
        if item is not None:
            item.value["n"] += 1_000_000
        return item


@pytest.mark.parametrize("fault", [Stale, Forgetful, Late, Torn])
def test_a_fault_is_found(tmp_path: Path, fault: type[Wrong]) -> None:
    """Stores that do one thing wrong, be it that only one of their clients meets it."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        assert broken([client(store, 9, 50)]) == []
        histories = in_threads([fault(store), store], 200, 0)
        assert broken([client(store, 9, 50), *histories])


def test_how_they_are_told_apart() -> None:
    """A read during a put may see it or not; after one that saw it, none may see what was before."""
    put, early = Call("k", 0, 10, True, 1), Call("k", 1, 2, False, 1)
    assert linearizable([put, early, Call("k", 3, 4, False, 1)])
    assert linearizable([put, Call("k", 1, 2, False, None), Call("k", 3, 4, False, 1)])
    assert not linearizable([put, early, Call("k", 3, 4, False, None)])
    assert not linearizable([put, Call("k", 11, 12, False, None)])
    assert not linearizable([Call("k", 0, 1, False, 1), Call("k", 2, 3, True, 1)])
