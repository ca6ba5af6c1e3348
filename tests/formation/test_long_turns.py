"""A message may be longer than a model reads in one call."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from langmemory import MemoryStore, build_reflection_graph
from langmemory.errors import ExtractionError
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.extractor import ModelExtractor
from langmemory.ports.facts import UNREAD
from tests.scripted import ScriptedModel

NS = ("memories", "lena")
FILLER = "We talked about the weather for a while. "
SAYS = {
    "Bonn": ("Lena lives in Bonn.", "lives_in"),
    "Rex": ("Lena has a dog called Rex.", "has_pet"),
}


def notes(messages: list[BaseMessage]) -> str:
    """A model that finds what it is shown, and nothing else."""
    shown = str(messages[-1].content).partition("# Conversation")[2]
    facts = [
        {"text": text, "evidence": ["t1"], "kind": "fact",
         "claims": [{"subject": "Lena", "relation": relation, "object": name}]}
        for name, (text, relation) in SAYS.items() if name in shown
    ]  # fmt: skip
    return json.dumps({"facts": facts, "summary": {"text": f"{len(facts)} facts."}, "core": []})


def turn(text: str, key: str = "t/1") -> Turn:
    said_at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    return Turn(key=key, text=text, role="user", speaker="Lena", said_at=said_at)


def batch(text: str, **more: Any) -> Batch:
    return Batch(namespace=NS, thread_id="t", turns=(turn(text),), **more)


def test_a_long_turn_is_read_in_parts(tmp_path: Path) -> None:
    """Of a message of 12,000 tokens nothing is left out: a model is asked about it part by part, none
    longer than the tokens of a batch by half, and what it says is one run with the turn as evidence."""
    store = MemoryStore(tmp_path / "m.db")
    model = ScriptedModel(otherwise=notes)
    text = "I live in Bonn. " + FILLER * 600 + FILLER * 600 + "My dog is called Rex."
    [said] = store.remember(NS, [{"role": "user", "name": "Lena", "content": text}], thread_id="t")
    graph = build_reflection_graph(store, model=model, batch_tokens=2_000)
    done = graph.invoke({"namespace": list(NS)})
    assert done["model_calls"] == len(model.prompts) == 6
    assert max(len(str(prompt[-1].content)) for prompt in model.prompts) < 1.5 * 8_000 + 1_000
    [run] = store.changes.runs(NS)
    assert "read_in_part" not in run.note
    facts = [key for key in done["added"] if key.startswith("fact/")]
    texts = {item.value["text"] for key in facts if (item := store.get(NS, key))}
    assert texts == {text for text, _ in SAYS.values()}
    assert {one.key for key in facts for one in store.changes.evidence(NS, key)} == {said}


@pytest.mark.thorough
def test_of_a_very_long_turn_the_ends_are_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a message of a megabyte a model reads the first and last 50,000 characters; the message
    stays whole, and the log and the run say that it was read in part."""
    store = MemoryStore(tmp_path / "m.db")
    model = ScriptedModel(otherwise=notes)
    text = "I live in Bonn. " + FILLER * 25_000 + "My dog is called Rex."
    [said] = store.remember(NS, [{"role": "user", "name": "Lena", "content": text}], thread_id="t")
    with caplog.at_level(logging.WARNING, logger="langmemory.formation"):
        done = build_reflection_graph(store, model=model).invoke({"namespace": list(NS)})
    read = sum(len(str(prompt[-1].content)) for prompt in model.prompts)
    assert read < 120_000
    assert len([key for key in done["added"] if key.startswith("fact/")]) == 2
    assert store.changes.runs(NS)[0].note["read_in_part"] == 1
    assert "read_in_part turns=1 thread=t" in caplog.text
    item = store.get(NS, said)
    assert item is not None
    assert item.value["content"] == text


def test_what_was_said_before_is_cut_to_a_batch() -> None:
    """Long turns that are shown for understanding only are cut to their ends, together no longer than
    what is read."""
    model = ScriptedModel(otherwise=notes)
    before = tuple(turn(FILLER * 1_000 + f"end {n}", f"t/b{n}") for n in range(4))
    ModelExtractor(model).extract(batch("Yes, in May.", before=before, tokens=500))
    [prompt] = model.prompts
    shown = str(prompt[-1].content)
    assert len(shown) < 2_000 + 1_000
    assert all(f"end {n}" in shown for n in range(4))


def test_an_answer_that_cannot_be_used_leaves_what_was_read_before_it() -> None:
    """When a model fails at later parts, the notes of the first stay, each unread part is named, and every
    call is counted: one, and two for each that fails."""
    model = ScriptedModel(script=[notes], otherwise="nonsense")
    read = ModelExtractor(model).extract(batch(FILLER * 200, tokens=500))
    assert read.dropped == (UNREAD,) * 3
    assert read.model_calls == len(model.prompts) == 7
    with pytest.raises(ExtractionError):
        ModelExtractor(ScriptedModel(otherwise="nonsense")).extract(batch(FILLER, tokens=500))
