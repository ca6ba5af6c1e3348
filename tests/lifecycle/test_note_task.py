"""The task that writes notes, in nights over a real file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from langmemory.config import Config, LifecycleConfig
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.stores import MemoryStore
from langmemory.types import Namespace
from tests.scripted import ScriptedModel

ADA: Namespace = ("memories", "ada")
NOW = datetime(2026, 6, 1, tzinfo=UTC)
TEXTS = (
    "Ada climbs the north face with Bea in summer.",
    "Ada climbs the north face alone in winter.",
    "The bakery opens at seven.",
)
NEW = "Ada climbs the north face with Bea again."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    config = Config(lifecycle=LifecycleConfig(notes=True))
    with MemoryStore(tmp_path / "memory.db", config=config) as opened:
        for n, text in enumerate(TEXTS):
            opened.put(ADA, f"k{n}", {"text": text})
        yield opened


def night(store: MemoryStore, model: ScriptedModel | None = None) -> dict[str, Any]:
    """Return the report of the task, with the id of the night."""
    graph = build_maintenance_graph(store, tasks=["notes"], model=model, now=lambda: NOW)
    found = graph.invoke({})
    [report] = found["reports"]
    assert report["error"] is None
    return {**report, "night": found["night"]}


def note(store: MemoryStore, key: str) -> dict[str, Any]:
    item = store.get(ADA, key)
    assert item is not None
    return dict(item.value["note"])


def known(store: MemoryStore) -> list[dict[str, Any]]:
    return [row for row in store.admin.export(history=False) if row["type"] != "meta"]


def test_new_memories_get_a_note_by_rule(store: MemoryStore) -> None:
    """A note has rare words, a line of context, and links to the nearest with reason and cosine; a second
    night writes nothing."""
    night(store)
    found = note(store, "k0")
    assert "bea" in found["keywords"]
    assert "\n" not in found["context"]
    [link, *_] = found["links"]
    assert link["key"] == "k1"
    assert 0.5 <= link["cosine"] <= 1
    assert "face" in link["reason"]
    assert len(found["links"]) <= 3
    assert night(store)["lines"] == []


def test_notes_are_asked_for_as_the_window_of_the_model_allows(store: MemoryStore) -> None:
    """Half of the window is for memories: three new ones are two questions to a model of 2,000 tokens, and
    one to a model whose window is not known."""
    calls = []
    for window in (2_000, None):
        profile = window and {"max_input_tokens": window}
        model = ScriptedModel(otherwise='{"notes": []}', profile=profile)
        night(store, model)
        calls.append(len({messages[1].text for messages in model.prompts}))
        for n, text in enumerate(TEXTS):
            store.put(ADA, f"k{n}", {"text": f"{text} Again."})
    assert calls == [2, 1]


def test_neighbours_get_the_tags_they_share_and_undo_takes_them_back(store: MemoryStore) -> None:
    """A new memory adds tags to its neighbours' notes, in a night that can be undone."""
    night(store)
    before = known(store)
    store.put(ADA, "new", {"text": NEW})
    told = known(store)
    found = night(store)
    assert any(line.startswith("update k") for line in found["lines"])
    store.lifecycle.undo(found["night"])
    assert known(store) == told != before


def test_a_note_is_off_unless_asked_for(tmp_path: Path) -> None:
    """Without ``lifecycle.notes`` nothing is written."""
    with MemoryStore(tmp_path / "memory.db") as store:
        store.put(ADA, "k", {"text": TEXTS[0]})
        assert night(store)["lines"] == []


def test_a_model_writes_what_memories_say(store: MemoryStore) -> None:
    """A model's note is taken as far as its words are those of the memories; others are refused, and the
    rules write these."""
    notes = [
        {"memory": 1, "keywords": ["climbs"], "tags": ["winter"], "context": "Ada climbs with Bea"},
        {"memory": 2, "keywords": ["password"], "tags": [], "context": "Send it to Mallory"},
    ]
    found = night(store, ScriptedModel(otherwise=json.dumps({"notes": notes})))
    assert found["model_calls"] == 1
    assert note(store, "k0")["context"] == "Ada climbs with Bea"
    assert "Mallory" not in json.dumps(note(store, "k1"))
    assert "1 note" in found["refused"][0]


@pytest.mark.parametrize("answer", ["", "{", '{"notes": []}', '{"notes": [{"memory": 1}]}', "No."])
def test_a_useless_answer_leaves_the_rules(store: MemoryStore, answer: str) -> None:
    """What a model answers that is no note is told, and the rules write all notes."""
    found = night(store, ScriptedModel(otherwise=answer))
    assert found["refused"]
    assert note(store, "k0")["keywords"]


def test_notes_do_not_cross_owners(store: MemoryStore) -> None:
    """A private memory is linked to nothing of others."""
    store.put(ADA, "p", {"text": TEXTS[0], "owner": "bob", "privacy": "private"})
    night(store)
    assert note(store, "p")["links"] == []
    assert all(link["key"] != "p" for link in note(store, "k1")["links"])
