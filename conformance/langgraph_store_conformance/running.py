"""Find what a store can do, and run the checks of it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from langgraph_store_conformance.bench import SECONDS, Bench, Factory, Way, accepted
from langgraph_store_conformance.checks import CHECKS, NS, Check, Difference

Outcome = Literal["passed", "failed", "not offered"]
T = TypeVar("T")
WAYS: tuple[Way, ...] = ("sync", "async")


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of one check."""

    check: Check
    outcome: Outcome
    reason: str = ""
    """Why it failed, with the way of calling."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What came of all checks of a store."""

    store: str
    ways: tuple[Way, ...]
    capabilities: frozenset[str]
    results: tuple[Result, ...]

    @property
    def conforms(self) -> bool:
        """Whether each documented check that concerns the store passed."""
        return not any(one.outcome == "failed" and one.check.documented for one in self.results)


def run(factory: Factory, name: str = "") -> Report:
    """Run all checks against the stores of a factory."""
    ways, able = probe(factory)
    results = tuple(run_check(one, factory, ways, able) for one in CHECKS)
    name = name or getattr(factory, "__name__", repr(factory))
    return Report(store=name, ways=ways, capabilities=able, results=results)


def run_check(
    one: Check, factory: Factory, ways: tuple[Way, ...], capabilities: frozenset[str]
) -> Result:
    """Run one check, by each way of calling."""
    if not capabilities.issuperset(one.needs):
        return Result(check=one, outcome="not offered")
    with ThreadPoolExecutor(len(ways)) as pool:
        found = [*pool.map(partial(failure, one, factory), ways)]
    if not any(found):
        return Result(check=one, outcome="passed")
    by_way = [f"{way}: {reason}" for way, reason in zip(ways, found, strict=True) if reason]
    alike = len(by_way) == len(ways) and len(set(found)) == 1
    return Result(check=one, outcome="failed", reason=found[0] if alike else "; ".join(by_way))


def failure(one: Check, factory: Factory, way: Way) -> str:
    """Run one check by one way, with a store of its own; why it failed, or nothing."""

    def steps(store: Bench) -> None:
        for step in one.steps:
            step(store)

    try:
        with_store(factory, way, steps, indexed="vectors" in one.needs, ttl=one.ttl)
    except Difference as error:
        return str(error)
    except Exception as error:
        line = str(error).partition("\n")[0]
        return f"{type(error).__name__}: {line}".removesuffix(": ")
    return ""


def with_store(
    factory: Factory, way: Way, ask: Callable[[Bench], T], *, indexed: bool = False, ttl: Any = None
) -> T:
    """Open a store in a folder of its own, and ask it in a thread, as graphs do."""

    async def within() -> T:
        async with (
            asyncio.timeout(SECONDS),
            Bench(factory, Path(folder), way, indexed, ttl) as bench,
        ):
            return await asyncio.to_thread(ask, bench)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return asyncio.run(within())


def probe(factory: Factory) -> tuple[tuple[Way, ...], frozenset[str]]:
    """Find by which ways a store can be called, and what it can do.

    Raises:
        NotImplementedError: Neither `get` nor `aget` answers.
    """
    ways = tuple(way for way in WAYS if with_store(factory, way, _answers))
    if not ways:
        raise NotImplementedError(
            "Neither get nor aget of the store answers; see BaseStore.batch and abatch."
        )
    options = accepted(factory)
    able = with_store(factory, ways[-1], _capabilities, indexed="index" in options)
    return ways, frozenset(able | {"persistence"} if "folder" in options else able)


def _answers(store: Bench) -> bool:
    with suppress(NotImplementedError):
        store.call("get", NS, "k")
        return True
    return False


def _capabilities(store: Bench) -> set[str]:
    able: set[str] = {"base", "ttl" if store.store.supports_ttl else "no ttl"}
    store.call("put", NS, "k", {"text": "tea", "n": 1})
    with suppress(NotImplementedError, ValueError):
        if store.call("search", NS, filter={"n": {"$gt": 0}}):
            able.add("operators")
    with suppress(NotImplementedError):
        store.call("list_namespaces")
        able.add("namespaces")
    if store.indexed and any(item.score for item in store.call("search", NS, query="tea")):
        able.add("vectors")
    return able
