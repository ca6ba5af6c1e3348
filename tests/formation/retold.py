"""Conversations retold by a scripted model: what it answers, as small models do, and what is known then.

A line of an answer is "text | subject > relation > object", where an object that begins with "=" is a
plain value; further claims follow after further bars, and flags stand in keywords.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langmemory.formation.extraction.extractor import ModelExtractor
from langmemory.formation.judging import StructuralJudge
from langmemory.graphs import build_reflection_graph
from langmemory.operations.gathering import Gathering
from langmemory.stores import MemoryStore
from langmemory.types import Memory, Review
from tests.believing import Believed
from tests.scripted import ScriptedModel

NS = ("memories", "lena")

Line = str | tuple[str, dict[str, Any]]
"""Of an answer; with flags of the model's, as it writes them."""


def line(text: str, **flags: Any) -> Line:
    return text, flags


@dataclass(frozen=True, kw_only=True)
class Turn:
    said: str
    lines: Sequence[Line]
    on: datetime
    who: str = "Lena"
    owner: str | None = "lena"
    privacy: Any = "shared"


def at(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)


class Retelling:
    """One memory file, to which turns are told one after the other."""

    def __init__(self, path: Path, judge: Any = None) -> None:
        self.store = MemoryStore(path)
        self.model = ScriptedModel(otherwise='{"facts": []}')
        self._now = at("2025-01-01")
        self._turns = 0
        self._name = path.stem  # another retelling goes on in a copy of the file
        self._graph = build_reflection_graph(
            self.store, extractor=Believed(ModelExtractor(self.model)), judge=judge or StructuralJudge(),
            namespace=NS, journal=False, now=lambda: self._now,
        )  # fmt: skip

    def tell(self, *turns: Turn) -> dict[str, Any]:
        """Turns of one conversation, read in one batch."""
        thread = f"{self._name}-{self._turns}"
        facts = []
        for number, turn in enumerate(turns, 1):
            self._turns += 1
            self._now = max(self._now, turn.on)
            message = {"role": "user", "name": turn.who, "content": turn.said,
                       "id": f"m{self._turns}", "at": turn.on}  # fmt: skip
            self.store.remember(
                NS, [message], thread_id=thread, owner=turn.owner, privacy=turn.privacy
            )
            facts += [_answered(one, f"t{number}") for one in turn.lines]
        self.model.script.append(json.dumps({"facts": facts, "summary": {"text": ""}}))
        found: dict[str, Any] = self._graph.invoke({"namespace": list(NS), "thread_id": thread})
        return found

    def facts(self) -> dict[str, Memory]:
        """By text, whatever their status."""
        found: dict[str, Memory] = {}
        with Gathering(self.store).knowledge(NS) as knowledge:
            for item in self.store.search(NS, limit=1000):
                known = knowledge.by_key(item.key) if item.key.startswith("fact/") else None
                if known is not None:
                    text = known.memory.text.rstrip(".")
                    found[f"{text} #2" if text in found else text] = known.memory
        return found

    def holds(self, text: str) -> bool:
        """Whether a fact is believed, with no end that is known."""
        return self.standing()[text.rstrip(".")]

    def standing(self) -> dict[str, bool]:
        """By text of every fact, what `holds` says of it."""
        found = self.facts().items()
        return {text: one.status == "active" and one.invalid_at is None for text, one in found}

    def asked(self, text: str) -> list[Review]:
        """Open questions about a fact."""
        key = self.facts()[text.rstrip(".")].key
        return [one for one in self.store.changes.reviews(NS) if key in one.memories]

    def close(self) -> None:
        self.store.close()


def told(day: str, said: str, *lines: Line, **options: Any) -> Turn:
    return Turn(said=said, lines=lines, on=at(day), **options)


def _answered(one: Line, turn: str) -> dict[str, Any]:
    whole, flags = (one, {}) if isinstance(one, str) else one
    text, *claims = (part.strip() for part in whole.split("|"))
    entry: dict[str, Any] = {"text": text, "evidence": [turn], "kind": "fact"}
    entry["claims"] = [_claim(claim) for claim in claims]
    return entry | flags


def _claim(claim: str) -> dict[str, Any]:
    subject, relation, about = (part.strip() for part in claim.split(">"))
    return {"subject": subject, "relation": relation, "object": about.removeprefix("="),
            "object_is_entity": not about.startswith("=")}  # fmt: skip
