"""Notes on memories (A-MEM, Xu 2025): keywords, tags, a line of context, and links to the nearest.

A note stands in the value of its memory under ``note`` and is no part of its text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from pydantic import BaseModel, Field

from langmemory.changes import Change, UpdateMemory
from langmemory.formation.wording import wording
from langmemory.languages import split_words
from langmemory.lifecycle.neighbours import neighbours
from langmemory.ports.lifecycle import Aged, LifecycleView, News
from langmemory.types import Memory

NOTE: Final = "note"
"""Its place in a value."""
MOST_KEYWORDS: Final = 5
MOST_TAGS: Final = 8
MOST_LINKS: Final = 3
LINKED_FROM: Final = 0.5
"""Cosine, -1..1, from which a memory is linked to another."""
CONTEXT_CHARACTERS: Final = 200


class Written(BaseModel):
    """The part of a note that a model may write."""

    memory: int
    """Its number among those shown, from 1."""
    keywords: list[str] = Field(max_length=MOST_TAGS)
    tags: list[str] = Field(max_length=MOST_TAGS)
    context: str = Field(max_length=CONTEXT_CHARACTERS)


class WrittenNotes(BaseModel):
    """Notes on memories."""

    notes: list[Written]


Writer = Callable[[Sequence[tuple[Memory, Sequence[str]]]], Mapping[int, Written]]
"""Writes notes on memories, each with the texts of its nearest; by place, those that are usable."""


def noted(
    view: LifecycleView, aged: Aged, news: News, writer: Writer | None = None
) -> list[Change]:
    """Return changes that give each new memory its note, and its neighbours the tags they share with it.

    Args:
        view: Of the namespace.
        aged: Its derived memories.
        news: What is new among them.
        writer: Writes keywords, tags and context in place of the rules.
    """
    usable = aged.one_of(aged.status, "active") & aged.one_of(aged.kind, "semantic", "procedural")
    known = aged.take(usable)
    memories = {one.id: one for one in view.memories(known.ids)}
    new = [one for one in known.ids[np.isin(known.ids, news.ids)].tolist() if one in memories]
    if not new:
        return []
    words = {item: wording(one.text).words for item, one in memories.items()}
    spread = Counter(word for found in words.values() for word in found)
    near = _near(view, known, new)
    entities = {
        item: [key.partition("/")[2].rpartition("-")[0] for key in keys]
        for item, keys in view.mentions(known.ids).items()
    }
    shown = [(memories[item], [memories[one].text for one, _ in near[item]]) for item in new]
    written = writer(shown) if writer is not None else {}
    values: dict[int, dict[str, Any]] = {}
    for place, item in enumerate(new):
        memory = memories[item]
        ranked = sorted(words[item], key=lambda word: (-math.log(len(words) / spread[word]), word))
        keywords = [word for word in ranked if not word.isdigit()][:MOST_KEYWORDS]
        links = [
            _link(memories[one], cosine, words[item] & words[one]) for one, cosine in near[item]
        ]
        shared = {word for one, _ in near[item] for word in words[item] & words[one]}
        tags = [*entities.get(item, ()), *sorted(shared)]
        told = f"{memory.valid_at or memory.created_at:%Y-%m-%d}"
        context = f"{memory.speaker or 'noted'}, {told}: {', '.join(keywords)}"
        if (by_model := written.get(place)) is not None:
            keywords, context = by_model.keywords[:MOST_KEYWORDS], by_model.context
            tags = [*by_model.tags, *tags]
        values[item] = {
            "keywords": keywords,
            "tags": list(dict.fromkeys(tags))[:MOST_TAGS],
            "context": context[:CONTEXT_CHARACTERS],
            "links": links,
        }
    for item in new:
        for one, _ in near[item]:
            _tag(values, memories[one], sorted(words[item] & words[one]))
    return [
        UpdateMemory(
            key=memories[item].key,
            value={**memories[item].value, NOTE: note},
            reason="a note on a new memory" if item in near else "tags shared with a new memory",
        )
        for item, note in values.items()
        if memories[item].value.get(NOTE) != note
    ]


def is_usable(written: Written, memory: Memory, beside: Sequence[str]) -> bool:
    """Return whether a model wrote only what the memory and its nearest say: no word that none of them
    has, and one line."""
    said = {word for text in (memory.text, *beside) for word in wording(text).words}
    told = " ".join((*written.keywords, *written.tags, written.context))
    new = wording(" ".join(split_words(told))).words - said
    return bool(written.keywords) and "\n" not in told and not new


def _near(
    view: LifecycleView, known: Aged, new: Sequence[int]
) -> dict[int, list[tuple[int, float]]]:
    """The nearest memories of the same owner and as private, of each new one."""
    circle = dict(
        zip(known.ids.tolist(), zip(known.owner, known.privacy, strict=True), strict=True)
    )
    found: dict[int, list[tuple[int, float]]] = {item: [] for item in new}
    among, vectors = view.vectors(known.ids)
    wanted = np.isin(among, np.array(new, np.int64))
    for item, other, cosine in neighbours(
        among[wanted], vectors[wanted], among, vectors, LINKED_FROM, 4 * MOST_LINKS
    ):
        if circle[item] == circle[other] and len(found[item]) < MOST_LINKS:
            found[item].append((other, cosine))
    return found


def _link(other: Memory, cosine: float, shared: frozenset[str]) -> dict[str, Any]:
    reason = f"both say {', '.join(sorted(shared)[:3])}" if shared else "near in meaning"
    return {"key": other.key, "reason": reason, "cosine": round(cosine, 3)}


def _tag(values: dict[int, dict[str, Any]], memory: Memory, shared: Sequence[str]) -> None:
    """Add tags to the note of a neighbour that has one."""
    note = values.get(memory.id) or memory.value.get(NOTE)
    if isinstance(note, dict) and isinstance(note.get("tags"), list):
        tags = list(dict.fromkeys([*note["tags"], *shared]))[:MOST_TAGS]
        if tags != note["tags"]:
            values[memory.id] = {**note, "tags": tags}
