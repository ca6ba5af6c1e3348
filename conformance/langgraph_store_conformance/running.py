"""Find what a store can do, and run the checks of it."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from langgraph_store_conformance.bench import NS_PROBE, Bench, Factory, Way, accepted
from langgraph_store_conformance.checks import CHECKS, Capability, Check

Outcome = Literal["passed", "failed", "not offered"]
WAYS: tuple[Way, ...] = ("sync", "async")
SECONDS = 60
"""A check that takes longer fails."""


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
    capabilities: frozenset[Capability]
    results: tuple[Result, ...]

    @property
    def conforms(self) -> bool:
        """Whether each documented check that concerns the store passed."""
        return not any(one.outcome == "failed" and one.check.documented for one in self.results)


def run(factory: Factory, name: str = "") -> Report:
    """Run all checks against the stores of a factory."""
    with tempfile.TemporaryDirectory() as folder:
        ways, capabilities = probe(factory, Path(folder))
    results = tuple(run_check(one, factory, ways, capabilities) for one in CHECKS)
    return Report(
        store=name or getattr(factory, "__name__", repr(factory)),
        ways=ways, capabilities=capabilities, results=results,
    )  # fmt: skip


def run_check(
    one: Check, factory: Factory, ways: tuple[Way, ...], capabilities: frozenset[Capability]
) -> Result:
    """Run one check, by each way of calling."""
    if not one.needs <= capabilities:
        return Result(check=one, outcome="not offered")
    with ThreadPoolExecutor(len(ways)) as pool:
        outcomes = zip(ways, pool.map(partial(failure, one, factory), ways), strict=True)
    reasons = {way: reason for way, reason in outcomes if reason is not None}
    if not reasons:
        return Result(check=one, outcome="passed")
    alike = len(reasons) == len(ways) and len(set(reasons.values())) == 1
    lines = dict.fromkeys(r if alike else f"{way}: {r}" for way, r in reasons.items())
    return Result(check=one, outcome="failed", reason="; ".join(lines))


def failure(one: Check, factory: Factory, way: Way) -> str | None:
    """Run one check by one way, with a store of its own; why it failed, or None."""
    folder = Path(tempfile.mkdtemp())

    async def within() -> None:
        async with asyncio.timeout(SECONDS):
            bench = Bench(factory, folder, way, "vectors" in one.needs, one.ttl)
            async with bench:
                await one.run(bench)

    try:
        asyncio.run(within())
    except AssertionError as error:
        return str(error)
    except Exception as error:
        line = str(error).partition("\n")[0]
        return f"{type(error).__name__}: {line}".removesuffix(": ")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


def probe(factory: Factory, folder: Path) -> tuple[tuple[Way, ...], frozenset[Capability]]:
    """Find by which ways a store can be called, and what it can do.

    Raises:
        NotImplementedError: Neither `get` nor `aget` answers.
    """
    ways = tuple(way for way in WAYS if asyncio.run(_answers(factory, folder / way, way)))
    if not ways:
        raise NotImplementedError(
            "Neither get nor aget of the store answers; see BaseStore.batch and abatch."
        )
    return ways, frozenset(asyncio.run(_capabilities(factory, folder / "all", ways[-1])))


async def _answers(factory: Factory, folder: Path, way: Way) -> bool:
    folder.mkdir()
    async with Bench(factory, folder, way, False, None) as bench:
        try:
            await bench.get(NS_PROBE, "k")
        except NotImplementedError:
            return False
    return True


async def _capabilities(factory: Factory, folder: Path, way: Way) -> set[Capability]:
    folder.mkdir()
    names = accepted(factory)
    able: set[Capability] = {"base"}
    async with Bench(factory, folder, way, "index" in names, None) as bench:
        await bench.put(NS_PROBE, "k", {"text": "tea", "n": 1})
        try:
            if await bench.keys(NS_PROBE, filter={"n": {"$gt": 0}}):
                able.add("operators")
        except (NotImplementedError, ValueError):
            pass
        try:
            await bench.namespaces()
            able.add("namespaces")
        except NotImplementedError:
            pass
        if "index" in names:
            items = await bench.search(NS_PROBE, query="tea")
            if any(item.score is not None for item in items):
                able.add("vectors")
        able.add("ttl" if bench.store.supports_ttl else "no ttl")
    if "folder" in names:
        able.add("persistence")
    return able
