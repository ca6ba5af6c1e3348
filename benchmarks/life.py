"""A simulated life: what a person says on each day of ten years, and the facts that are learned from it.

Everything is drawn from a seed. Facts come with evidence, mentions and claims, as reflection writes them:
preferences that are stated again, plans that lapse, homes and jobs that follow one another, family that
does not change, and slips that no reflection noticed: the same said twice, and two that exclude each other.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from benchmarks.corpus import GIVEN, JOBS, PLACES, Corpus, Words
from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    Facets,
    Supersede,
    UpdateMemory,
)

DAYS: Final = 3_650
BEGAN: Final = datetime(2026, 1, 1, tzinfo=UTC)
SELF: Final = "person/user"
REPLIES: Final = ("I will remember that.", "Thanks, noted.", "That sounds good to me.")


@dataclass(kw_only=True, slots=True)
class Life:
    """One person. `turns` is to be asked for each day in order, and `learned` after it.

    Args:
        seed: Of every draw.
        turns_a_day: Said by the person and the assistant together.
        turns_a_fact: So many of them lead to one fact, on average.
    """

    seed: int = 1
    turns_a_day: float = 27.4
    turns_a_fact: float = 4
    said: int = 0
    """Turns so far."""
    facts: int = 0
    """Facts so far."""
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=2_000))
    """Keys of the facts that answers cite."""
    _rng: random.Random = field(init=False)
    _corpus: Corpus = field(init=False)
    _known: set[str] = field(default_factory=set, init=False)
    """Keys of entities."""
    _values: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)
    _current: dict[str, str] = field(default_factory=dict, init=False)
    """Key of the fact that holds, by a relation of which there is one."""

    def __post_init__(self) -> None:
        self._rng, self._corpus = random.Random(self.seed), Corpus(self.seed)

    def turns(self, day: int) -> list[dict[str, Any]]:
        """Return what is said on a day; the person and the assistant take turns."""
        count = int((day + 1) * self.turns_a_day) - int(day * self.turns_a_day)
        found = []
        for number in range(count):
            at = BEGAN + timedelta(days=day, seconds=30_000 + number * 40_000 / max(count, 1))
            user = number % 2 == 0
            content = self._corpus.fact(self.said).text if user else self._rng.choice(REPLIES)
            found.append({"role": "user" if user else "assistant", "content": content, "at": at})
            self.said += 1
        return found

    def learned(self, day: int, keys: list[str]) -> list[Change]:
        """Return what is learned from the turns of a day, by their keys."""
        told = int(self.said / self.turns_a_fact) - self.facts
        return [
            one
            for _ in range(told if keys else 0)
            for one in self._fact(day, self._rng.choice(keys))
        ]

    def cited(self, most: int) -> list[str]:
        """Return keys of facts that answers of a day cite, the newest ones more often."""
        known = list(self.recent)
        return [known[-1 - int(len(known) * self._rng.random() ** 3)] for _ in range(most) if known]

    def _fact(self, day: int, turn: str) -> list[Change]:
        draw, words = self._rng.random(), Words(self._rng)
        at = BEGAN + timedelta(days=day)
        if draw < 0.15 and self.recent:
            return self._again(turn)
        self.facts += 1
        if draw < 0.18 and self.recent:  # a slip: the same once more, under another key
            value = dict(self._values[self._rng.choice(self.recent)])
            return self._added(at, turn, value, slip=True)
        if draw < 0.45:
            thing = words.thing()
            what = f"{thing} from {words.coined(2)}"
            return self._added(
                at, turn, self._claim(f"The user likes the {what}.", "likes", what, "preference")
            )
        if draw < 0.65:
            where = words.of(PLACES)
            start = at + timedelta(days=self._rng.randint(1, 40))
            what = f"travel to {where} with {words.person()}"
            value = self._claim(
                f"The user plans to {what} on {start:%d %B %Y}.", "plans", what, "plan"
            )
            value["when"] = {
                "words": "soon", "precision": "day",
                "start": start.isoformat(), "end": (start + timedelta(days=1)).isoformat(),
            }  # fmt: skip
            return self._added(at, turn, value)
        if draw < 0.75:
            who = f"{self._rng.choice(GIVEN)} {words.coined(2)}"
            born = f"{self._rng.randint(1, 28)} May {self._rng.randint(1950, 2020)}"
            value = self._claim(f"{who} was born on {born}.", "born_on", born, "fact", who)
            return self._added(at, turn, value)
        if draw < 0.76:
            relation, place = self._rng.choice((("lives_in", PLACES), ("works_as", JOBS)))
            what = self._rng.choice(place)
            value = self._claim(
                f"The user {relation.replace('_', ' ')} {what}.", relation, what, "fact"
            )
            return self._added(at, turn, value, single=relation)
        text = self._corpus.fact(10_000_000 + self.facts).text
        return self._added(at, turn, {"text": text, "fact_kind": "fact", "subject": words.person()})

    def _claim(
        self, text: str, relation: str, what: str, kind: str, subject: str = "user"
    ) -> dict[str, Any]:
        return {
            "text": text, "fact_kind": kind, "subject": subject, "relation": relation, "object": what,
        }  # fmt: skip

    def _again(self, turn: str) -> list[Change]:
        """Something that is known is said again: further evidence, and seldom a confirmation."""
        key = self._rng.choice(self.recent)
        facets = Facets(verified=True) if self._rng.random() < 0.02 else Facets()
        return [UpdateMemory(key=key, evidence=(turn,), facets=facets)]

    def _added(
        self,
        at: datetime,
        turn: str,
        value: dict[str, Any],
        *,
        single: str | None = None,
        slip: bool = False,
    ) -> list[Change]:
        key = f"fact/{self.facts:07d}"
        value |= {"speaker": "user", "language": "en", "said_at": at.isoformat()}
        name = str(value["subject"])
        entity = SELF if name == "user" else f"person/{name.casefold().replace(' ', '-')}"
        changes: list[Change] = []
        if entity not in self._known:
            self._known.add(entity)
            changes.append(AddEntity(key=entity, name=name, kind="person"))
        changes.append(
            AddMemory(
                key=key, value=value, evidence=(turn,), mentions=(entity,),
                facets=Facets(
                    kind="semantic", valid_at=at, confidence=0.85,
                    importance=self._rng.choice((0.3, 0.5, 0.5, 0.7, 0.8)),
                ),
            )
        )  # fmt: skip
        if "relation" in value:
            relation, literal = str(value["relation"]), str(value["object"])
            changes.append(AddEdge(fact=key, subject=entity, relation=relation, literal=literal))
        if single is not None:
            before = self._current.get(single)
            self._current[single] = key
            if before is not None and self._rng.random() < 0.8:  # else nobody noticed
                changes.append(Supersede(key=before, by=key, invalid_at=at))
        if not slip and single is None:
            self.recent.append(key)
            self._values[key] = value
            if len(self._values) > 3 * len(self.recent):
                self._values = {one: self._values[one] for one in self.recent}
        return changes
