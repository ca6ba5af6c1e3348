"""Whether what concurrent clients saw of a store could have happened in one order, each call at a moment
between its beginning and its end (Herlihy and Wing 1990), and clients that record what they see.

Linearizability is local: it holds of the store where it holds of each key (their theorem 1). `linearizable`
searches for an order of the calls of one key (Wing and Gong 1993) and looks but once at a set of done calls
with a value (Lowe 2017).
"""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from langgraph.store.base import GetOp, PutOp

NAMESPACE = ("linear",)
KEYS = ("a", "b", "c")
"""Few, so that clients meet."""


class Call(NamedTuple):
    """A call as its client saw it; times of `time.monotonic_ns`, which processes share."""

    key: str
    begun: int
    ended: int
    writes: bool
    value: int | None
    """What was put or read; None: deleted, or not there."""


class Store(Protocol):
    """What of a store the clients use."""

    def put(self, namespace: Any, key: str, value: Any) -> Any: ...
    def get(self, namespace: Any, key: str) -> Any: ...
    def delete(self, namespace: Any, key: str) -> Any: ...
    def search(self, namespace: Any, /) -> Any: ...
    def batch(self, ops: Any) -> Any: ...


def linearizable(calls: Iterable[Call]) -> bool:
    """Return whether the calls of one key have such an order, beginning with a key that is not there."""
    left = sorted(calls, key=lambda call: call.begun)
    ended = [call.ended for call in left]
    seen: set[tuple[int, int | None]] = set()
    states: list[tuple[int, int | None]] = [(0, None)]
    while states:
        done, value = states.pop()
        if (done, value) in seen:
            continue
        seen.add((done, value))
        first_end = None
        number = _lowest_zero(done)
        if number == len(left):
            return True
        while number < len(
            left
        ):  # only calls that began before any of the others ended may be next
            if not done >> number & 1:
                call = left[number]
                if first_end is not None and call.begun > first_end:
                    break
                if call.writes or call.value == value:
                    states.append((done | 1 << number, call.value))
                first_end = ended[number] if first_end is None else min(first_end, ended[number])
            number += 1
    return False


def _lowest_zero(bits: int) -> int:
    return (~bits & (bits + 1)).bit_length() - 1


def broken(histories: Iterable[Sequence[Call]]) -> list[str]:
    """Return the keys whose calls by all clients have no such order."""
    by_key = defaultdict(list)
    for history in histories:
        for call in history:
            by_key[call.key].append(call)
    return [key for key, calls in by_key.items() if not linearizable(calls)]


def client(store: Store, number: int, calls: int, seed: int = 0) -> list[Call]:
    """Put, read and delete at random, and return what was seen. No client puts a value of another's, and a
    number not twice."""
    rng, history = random.Random(f"{seed}/{number}"), list[Call]()
    for count in range(calls):
        key, new = rng.choice(KEYS), number * calls + count
        others = [one for one in KEYS if one != key]
        begun = time.monotonic_ns()
        wrote: dict[str, int | None] = {}
        read: dict[str, int | None] = {}
        match rng.choice(("put", "put", "get", "get", "get", "delete", "search", "batch")):
            case "put":
                store.put(NAMESPACE, key, {"n": new})
                wrote = {key: new}
            case "delete":
                store.delete(NAMESPACE, key)
                wrote = {key: None}
            case "get":
                read = {key: _number(store.get(NAMESPACE, key))}
            case "search":
                found = {item.key: item.value["n"] for item in store.search(NAMESPACE)}
                read = {one: found.get(one) for one in KEYS}
            case "batch":
                puts = [PutOp(NAMESPACE, key, {"n": new}), *(GetOp(NAMESPACE, k) for k in others)]
                answers = store.batch(puts)
                wrote = {key: new}
                read = {one: _number(item) for one, item in zip(others, answers[1:], strict=True)}
        ended = time.monotonic_ns()
        for values, writes in ((wrote, True), (read, False)):
            history += [Call(one, begun, ended, writes, n) for one, n in values.items()]
    return history


def _number(item: Any) -> int | None:
    return None if item is None else int(item.value["n"])


def in_threads(stores: Sequence[Store], calls: int, first: int, seed: int = 0) -> list[list[Call]]:
    """Let a client of each store work at once, in a thread of its own; they count from ``first``."""
    histories: list[list[Call]] = []
    together = threading.Barrier(len(stores))

    def work(store: Store, number: int) -> None:
        together.wait()
        histories.append(client(store, number, calls, seed))

    threads = [
        threading.Thread(target=work, args=(store, first + place))
        for place, store in enumerate(stores)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(histories) == len(stores), "a client failed"
    return histories


def in_a_process(place: str, number: int, calls: int, seed: int, pipe: Any) -> None:
    """Work as one client, in a process of its own that begins when it is told to."""
    from langmemory import MemoryStore

    with MemoryStore(place, index=False) as store:
        pipe.send("ready")
        pipe.recv()
        pipe.send(client(store, number, calls, seed))
