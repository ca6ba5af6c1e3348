"""Options of a block: the same wherever one is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage

from langmemory.config import Config, RecallConfig, load_config
from langmemory.errors import ConfigError
from langmemory.graphs import build_chat_graph
from langmemory.middleware import MemoryMiddleware
from langmemory.nodes import RecallNode
from langmemory.recall_options import BlockOptions
from langmemory.stores import MemoryStore

NS = ("memories", "anna")
MAKERS: dict[str, Callable[..., Any]] = {
    "node": RecallNode,
    "middleware": MemoryMiddleware,
    "graph": lambda **options: build_chat_graph(FakeListChatModel(responses=["Yes."]), **options),
}


def filled(folder: Path, config: Config) -> MemoryStore:
    store = MemoryStore(folder / "memory.db", config=config)
    store.put(NS, "dog", {"text": "The dog of Anna is called Bello"})
    store.put(NS, "tax", {"text": "The tax declaration waits until May"})
    return store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with filled(tmp_path, Config()) as opened:
        yield opened


def shown(store: MemoryStore, text: str, **options: Any) -> list[str]:
    found = RecallNode(NS, store=store, core={}, **options).invoke(
        {"messages": [HumanMessage(text, id="m")]}, {}
    )
    return [entry["key"] for entry in found["recalled"]]


@pytest.mark.parametrize("maker", MAKERS)
def test_every_maker_of_a_block_takes_every_option(maker: str) -> None:
    """Node, middleware and chat graph take each option of a block, and refuse what is none."""
    values: dict[str, Any] = {
        "limit": 3, "kinds": ["semantic"], "filter": {"a": 1}, "min_score": 0.2,
        "preset": "fast", "counted": False, "trust": "agent",
    }  # fmt: skip
    assert values.keys() == BlockOptions.__annotations__.keys()
    made = MAKERS[maker](**values, documents=None)
    node = made if maker == "node" else made.recall if maker == "middleware" else None
    if node is not None:
        assert node.options == {**values, "kinds": ("semantic",)}
    with pytest.raises(ConfigError, match="min_score is 'high'"):
        MAKERS[maker](min_score="high")
    with pytest.raises((ConfigError, TypeError), match="limitt"):
        MAKERS[maker](limitt=3)


@pytest.mark.parametrize("growth", [0.0, 1.0])
def test_a_block_has_sixteen_memories_wherever_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, growth: float
) -> None:
    """Of a node and of a store without a graph, and more in a large store where the preset asks for it; the
    middleware shows as many as the node."""
    monkeypatch.setattr("langmemory.recall.presets.GROWS_FROM", 4)
    presets = {"preset": "mine", "presets": {"mine": {"limit_growth": growth}}}
    with filled(tmp_path, Config.model_validate({"recall": presets})) as store:
        for number in range(38):
            store.put(NS, f"k{number}", {"text": f"The apple tree number {number} bears fruit."})
        assert len(shown(store, "Which apple tree?", min_score=None)) == 16 * (1 + growth)
        assert len(shown(store, "Which apple tree?", min_score=None, limit=3)) == 3
        assert len(store.recall("apple tree", NS, of_block=True)) == 16 * (1 + growth)
    assert MemoryMiddleware().recall.options == RecallNode().options


@pytest.mark.parametrize("lowest", [None, 0, 0.999, "auto"])
def test_the_configuration_says_what_auto_is(tmp_path: Path, lowest: Any) -> None:
    """`recall.min_score` is as if the node had been given it; a node that names one has its own."""
    with filled(tmp_path, Config(recall=RecallConfig(min_score=lowest))) as store:
        for text in ("Thanks!", "What is the dog of Anna called?"):
            if lowest == "auto":
                assert ("dog" in shown(store, text)) == (text != "Thanks!")
            else:
                assert shown(store, text) == shown(store, text, min_score=lowest)
            assert set(shown(store, text, min_score=None)) == {"dog", "tax"}
            assert shown(store, text, min_score=0.999) == []


@pytest.mark.parametrize("wrong", ['"high"', "-0.1", "1.5", "true"])
def test_a_lowest_score_that_is_none_is_refused(tmp_path: Path, wrong: str) -> None:
    """It is a probability, "auto" or null."""
    file = tmp_path / "memory.json"
    file.write_text(f'{{"recall": {{"min_score": {wrong}}}}}')
    with pytest.raises(ConfigError, match=r'recall.min_score is .* number, 0 to 1, or "auto"'):
        load_config(file, {})
