"""Presets of the configuration: how many results a large store gives, and how long a memory is recent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from langmemory.config import Config
from langmemory.errors import ConfigError
from langmemory.recall.presets import BALANCED
from langmemory.stores import MemoryStore

HOME = ("home",)


def opened(path: Path, **preset: Any) -> MemoryStore:
    recall = {"preset": "mine", "presets": {"mine": preset}}
    return MemoryStore(path, config=Config.model_validate({"recall": recall}))


async def test_results_grow_with_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the preset asks for it and the call names no limit; the namespace counts, not the file."""
    assert [BALANCED.model_copy(update={"limit_growth": 0.5}).grown(10, n) for n in (7, 10**4, 10**5)] == [
        10, 15, 20,
    ]  # fmt: skip
    monkeypatch.setattr("langmemory.recall.presets.GROWS_FROM", 4)
    with opened(tmp_path / "m.db", limit_growth=1.0) as store:
        for number in range(40):
            store.put(HOME, f"k{number}", {"text": f"The apple tree number {number} bears fruit."})
        store.put(("small",), "k", {"text": "An apple."})
        assert len(store.recall("apple tree", HOME)) == 20
        assert len(await store.arecall("apple tree", HOME)) == 20
        assert len(store.recall("apple tree", HOME, limit=3)) == 3
        assert len(store.recall("apple tree", HOME, preset="balanced")) == 10
        assert len(store.recall("apple tree", ("small",))) == 1
    with pytest.raises(ConfigError, match="limit_growth"):
        opened(tmp_path / "m.db", limit_growth=3)


def test_the_window_of_recency_is_a_setting(tmp_path: Path) -> None:
    """A memory of ten days ago is half as recent as the last one where the window is ten days."""
    at = datetime(2026, 5, 1, tzinfo=UTC)
    found = {}
    for days in (10.0, 1000.0):
        with opened(tmp_path / f"{days}.db", half_life_days=days) as store:
            for number, text in enumerate(["I drive a red car.", "I drive a blue car now."]):
                said = {"role": "user", "content": text, "at": at + timedelta(days=10 * number)}
                store.remember(HOME, [said], thread_id=f"t{number}")
            results = store.recall("What car do I drive now?", HOME, explain=True).results
            found[days] = {
                one.text: one.explanation.contributions["recency"]
                for one in results
                if one.explanation
            }
    last = found[10.0]["I drive a blue car now."]
    assert found[10.0]["I drive a red car."] == pytest.approx(last / 2)
    assert found[1000.0]["I drive a red car."] > 0.99 * last
