"""Recall with models: what happens to the file, and to memory, while they are asked."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.config import Config
from langmemory.errors import ConfigError
from langmemory.types import RecallResult

NS = ("home",)


def remembered(store: MemoryStore) -> None:
    said = ["The heron is grey.", "A heron stood in the pond.", "Franklin eats lettuce."]
    store.remember(NS, [("user", text) for text in said], thread_id="t")


def texts(results: Sequence[RecallResult]) -> list[str]:
    return [result.text for result in results]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "nosuch:x",
            r"'nosuch:x' \(models.expand in .*Allowed is \"provider:model\" with \"ollama\"",
        ),
        ("mistralai:x", r"'mistralai:x' \(models.expand in .* such as langchain-mistralai"),
    ],
)
def test_a_model_that_cannot_be_made_is_named_with_its_key(
    monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    """A provider nobody knows, or one whose package is missing, is an error of the configuration."""
    monkeypatch.setitem(sys.modules, "langchain_mistralai", None)
    config = Config.model_validate({"models": {"expand": name}})
    with pytest.raises(ConfigError, match=says) as raised:
        MemoryStore(":memory:", config=config)
    assert len(str(raised.value)) < 400


def test_a_model_without_langchain_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra to install, and the command for a checkout."""
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    config = Config.model_validate({"models": {"expand": "anthropic:x"}})
    with pytest.raises(ConfigError, match=r'extra "agents".* pip install "\.\[agents\]"'):
        MemoryStore(":memory:", config=config)


async def test_the_wal_can_be_emptied_while_a_model_is_asked(tmp_path: Path) -> None:
    """No snapshot stays open while an expander or a reranker thinks: another connection empties the
    WAL meanwhile."""
    busy: list[str] = []

    def emptied(who: str) -> None:
        with MemoryStore(tmp_path / "m.db") as other:
            other.put(NS, who, {"text": "something else"})
            if not other._core.engine.purge():
                busy.append(who)

    def expander(query: str) -> list[str]:
        emptied("expander")
        return ["lettuce"]

    def reranker(query: str, results: Sequence[RecallResult]) -> list[int]:
        emptied("reranker")
        return list(range(len(results)))[::-1]

    with MemoryStore(tmp_path / "m.db", expander=expander, reranker=reranker) as store:
        remembered(store)
        found = store.recall("reptile diet", NS, explain=True)
        assert "Franklin eats lettuce." in texts(found.results)
        assert found.trace.expansions == ("lettuce",)
        assert (await store.arecall("reptile diet", NS)).results
    assert busy == []


def test_others_use_a_store_in_memory_while_a_model_is_asked() -> None:
    """A store without a file, which has one connection, is free for other threads meanwhile."""
    with ThreadPoolExecutor(1) as threads:

        def reranker(query: str, results: Sequence[RecallResult]) -> list[int]:
            threads.submit(store.put, NS, "k", {"text": "meanwhile"}).result(timeout=30)
            return [1]

        with MemoryStore(":memory:", reranker=reranker) as store:
            remembered(store)
            assert store.recall("heron", NS, limit=1).results
            assert store.get(NS, "k") is not None


def test_what_goes_while_a_model_is_asked_is_not_returned() -> None:
    """A memory that is deleted, or made somebody's own, while the reranker thinks is not among the
    results; the others stand in its order."""
    seen: list[str] = []

    def reranker(query: str, results: Sequence[RecallResult]) -> list[int]:
        seen.extend(texts(results))
        store.put(NS, "new", {"text": "heron, heron, heron"})
        for result in results[:2]:
            value = dict(result.memory.value)
            if result is results[0]:
                store.delete(NS, result.memory.key)
            else:
                value |= {"privacy": "private", "owner": "maria"}
                store.put(NS, result.memory.key, value)
        return list(range(len(results)))[::-1]

    with MemoryStore(":memory:", reranker=reranker) as store:
        for n in range(4):
            store.put(NS, f"k{n}", {"text": f"heron number {n}"})
        found = store.for_viewer("tom").recall("heron", NS, explain=True)
        assert texts(found.results)[:2] == [seen[3], seen[2]]
        assert not set(seen[:2]) & set(texts(found.results))
        assert all(result.explanation for result in found.results)


@pytest.mark.parametrize("explain", [False, True])
def test_each_model_is_asked_once_and_its_failure_told(explain: bool) -> None:
    """However often recall runs for it, a model is asked once; failures and nonsense stand in the
    trace as the models gave them, and the time they took counts."""
    asked: list[str] = []

    def expander(query: str) -> list[str]:
        asked.append("expander")
        raise TimeoutError("no answer")

    def reranker(query: str, results: Sequence[RecallResult]) -> list[int]:
        asked.append("reranker")
        return [99]

    with MemoryStore(":memory:", expander=expander, reranker=reranker) as store:
        remembered(store)
        found = store.recall("reptile diet, said a heron", NS, explain=explain)
        assert asked == ["expander", "reranker"]
        assert found.trace.degraded == (
            "expander failed, not expanded: TimeoutError: no answer",
            "reranker failed, order kept: 99 is no number of a result",
        )
        spent = dict(found.trace.milliseconds)
        total = spent.pop("total")
        assert (spent.keys() >= {"expansion", "rerank"}) is explain
        assert total > sum(spent.values())
