"""Measure whether current facts rank before old ones in conversations about changes.

Asks the questions that name turns with an outdated answer (``stale``): of turns alone, of turns with
facts, and of LangGraph's store with the turns, or with the facts as they were noted down, as LangMem
keeps them. ``python -m benchmarks.changes [FILE …]``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Set as AbstractSet
from pathlib import Path

from langmemory.embeddings.static import StaticEmbedder
from langmemory.parts.evals import Conversation, Question, Session, Turn, load, named_systems
from langmemory.parts.evals.systems import SearchHit, System, SystemFactory, in_memory_store

TALK = tuple(Path(__file__).parent.glob("conversations/changes*.jsonl"))
SYSTEMS = ("langmemory", "facts", "inmemory")
DEPTH = 20
SHOWN = 5


class NotesInStore:
    """LangGraph's `InMemoryStore` with the notes of each session; one counts as the turns it rests on."""

    def __init__(self) -> None:
        self._store = in_memory_store(StaticEmbedder().embeddings)
        self._evidence: dict[str, tuple[str, ...]] = {}

    def ingest(self, conversation: Conversation) -> None:
        turns: list[Turn] = []
        for session in conversation.sessions:
            for note in session.observations:
                turns.append(Turn(id=f"{conversation.id}/{len(turns)}", text=note.text))
                self._evidence[turns[-1].id] = note.evidence
        noted = Session(id="notes", turns=tuple(turns))
        self._store.ingest(Conversation(id=conversation.id, sessions=(noted,)))

    def search(self, question: Question, k: int) -> list[SearchHit]:
        return [
            SearchHit(self._evidence[one.turns[0]], one.text)
            for one in self._store.search(question, k)
        ]

    def close(self) -> None:
        self._store.close()


def compare(path: Path) -> None:
    """Print how each system orders the answers to the questions of one file."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    stale = {
        (row["conversation"], row["question"]): frozenset(row["stale"])
        for row in rows
        if row.get("stale")
    }
    corpus = load(path)
    print(f"{path.stem}: {len(stale)} questions for what holds now")
    systems: dict[str, SystemFactory] = named_systems(SYSTEMS)
    if any(session.observations for one in corpus.conversations for session in one.sessions):
        systems["InMemoryStore with the notes"] = NotesInStore
    for name, factory in systems.items():
        system = factory()
        try:
            for conversation in corpus.conversations:
                system.ingest(conversation)
            asked = [one for one in corpus.questions if (one.conversation, one.text) in stale]
            places = [_places(system, one, stale[one.conversation, one.text]) for one in asked]
        finally:
            system.close()
        before = sum(new < old for new, old in places)
        after = sum(old < new for new, old in places)
        shown = sum(new < SHOWN for new, _ in places)
        print(
            f"  {name}: before what held in {before}, after it in {after}; among the first {SHOWN} "
            f"in {shown}"
        )


def _places(system: System, question: Question, stale: AbstractSet[str]) -> tuple[int, int]:
    """The places of the first turn with the present answer, and with an outdated one; `DEPTH` for none."""
    found = [set(one.turns) for one in system.search(question, DEPTH)]

    def first(turns: AbstractSet[str]) -> int:
        return next((place for place, one in enumerate(found) if one & turns), DEPTH)

    return first(question.evidence.keys()), first(stale)


if __name__ == "__main__":
    for file in map(Path, sys.argv[1:]) if sys.argv[1:] else TALK:
        compare(file)
