"""The log of prompts: what models were given of memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from langmemory.config import Config
from langmemory.nodes.recall import RecallNode
from langmemory.parts.prompts import prompts
from langmemory.stores import MemoryStore

PLACE = ("memories", "anna")
FACT = "Anna keeps the zyxommatic cheese in the fridge."
QUESTION = "What does Anna keep in the fridge?"


def ask(store: MemoryStore, **options: object) -> None:
    node = RecallNode(store=store, **options)  # type: ignore[arg-type]
    node.invoke({"messages": [HumanMessage(QUESTION)]}, {"configurable": {"user_id": "anna"}})


def kept(log: str) -> Config:
    return Config.model_validate({"recall": {"prompt_log": log}})


@pytest.mark.parametrize("log", ["off", "figures", "texts"])
def test_what_is_kept_follows_the_configuration(tmp_path: Path, log: str) -> None:
    """Figures are kept by default, texts where they are asked for, nothing where the log is off; another
    process reads them."""
    with MemoryStore(tmp_path / "memory.db", config=kept(log)) as store:
        store.put(PLACE, "cheese", {"text": FACT})
        ask(store)
        ask(store, counted=False)  # a person who looks
    with MemoryStore(tmp_path / "memory.db") as store:
        found = store.prompts.list(PLACE)
        assert len(found) == len(store.prompts.days(PLACE)) == (log != "off")
        for one in found:
            assert (one.namespace, one.owner, one.memories) == (PLACE, "anna", 1)
            assert one.tokens > 0
            assert one.milliseconds > 0
            assert one.query == (QUESTION if log == "texts" else None)
            assert (FACT in (one.block or "")) == (log == "texts")


def test_a_viewer_reads_what_was_made_for_them() -> None:
    """A viewer sees their own prompts, the application all."""
    with MemoryStore(":memory:", config=kept("texts")) as store:
        store.put(PLACE, "cheese", {"text": FACT})
        ask(store)
        assert len(store.prompts.list()) == 1
        assert store.for_viewer("anna").prompts.list() == store.prompts.list()
        assert store.for_viewer("bo").prompts.list() == store.for_viewer("bo").prompts.days() == ()


def test_forgetting_takes_the_prompts_that_tell(tmp_path: Path) -> None:
    """A block that quotes what is forgotten goes with it, also one that was not written yet."""
    with MemoryStore(tmp_path / "memory.db", config=kept("texts")) as store:
        store.put(PLACE, "cheese", {"text": FACT})
        ask(store)
        store.prompts.list()
        ask(store)
        assert store.forget(PLACE, keys=["cheese"]).purged
        assert store.prompts.list() == ()
        assert store.admin.check() == []


@pytest.mark.parametrize("log", ["figures", "texts"])
def test_a_namespace_that_is_forgotten_leaves_no_prompts(tmp_path: Path, log: str) -> None:
    """Whatever the log keeps, and whoever asked: with the namespace its prompts go, and so does its name."""
    path = tmp_path / "m.db"
    with MemoryStore(path, config=kept(log)) as store:
        store.put(("memories", "zorblax"), "k", {"text": "The marmot sings"})
        for view in (store, store.for_viewer("ana")):
            view.prompts.note(
                ("memories", "zorblax"), "who sings?", "", memories=0, tokens=0, milliseconds=1
            )
        assert store.forget(("memories", "zorblax"), everything=True).purged
        assert store.prompts.list() == ()
    if path.exists():  # and not a schema on a server
        assert b"zorblax" not in path.read_bytes()


def test_old_prompts_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log goes back a while only."""
    monkeypatch.setattr(prompts, "KEEP_US", 86)
    with MemoryStore(":memory:") as store:
        store.put(PLACE, "cheese", {"text": FACT})
        for _ in range(3):
            ask(store)
            store.prompts.list()
        assert len(store.prompts.list()) <= 1


def test_savings_are_the_same_everywhere() -> None:
    """What showing memories saved is the same figure for each memory and in the health of all."""
    with MemoryStore(":memory:") as store:
        store.put(PLACE, "dear", {"text": "42", "discovery_tokens": 15_000})
        store.put(PLACE, "plain", {"text": FACT})
        for key, discovery, read in (("dear", 15_000, 40), ("plain", 12, 60)):
            store.admin.count_usage(
                [
                    {
                        "namespace": [*PLACE], "key": key, "loaded": 2, "referenced": 0, "succeeded": 0,
                        "read_tokens": read, "discovery_tokens": discovery,
                    }
                ]
            )  # fmt: skip
        saved = {one.key: one.saved_tokens for one in store.admin.usage()}
        assert saved == {"dear": 29_960, "plain": -36}
        health = store.admin.health(PLACE)
        assert (health.read_tokens, health.saved_tokens) == (100, 29_924)
