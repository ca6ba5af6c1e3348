"""Measure how much evidence of broad questions recall finds, with overviews and the tree and without.

Asks the questions of ``conversations/overview.jsonl``: each conversation in a namespace of its own, all
twelve in one, and all twelve in one amid other talk.
``python -m benchmarks.overview [alone|together|amid …]`` prints Markdown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Final

from benchmarks.machine import description
from langmemory.config import RecallConfig
from langmemory.evals import Conversation, Corpus, Question, Session, load
from langmemory.evals.ours import MemorySystem, _StoreWithDefaults
from langmemory.evals.replay import FactsSystem
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.stores.rooms import Gathering, RecallOptions
from langmemory.types import Memory

FOLDER: Final = Path(__file__).parent / "conversations"
TALK: Final = ("two-years", "friends", "work")
"""Files whose conversations stand around the twelve."""
BUDGETS: Final = (250, 500, 1000)
DEPTH: Final = 20
MOST: Final = 100
"""Results at most within a budget, so that the budget decides."""
PLACES: Final = ("alone", "together", "amid")
PLAIN: Final = "plain"
"""The default preset without overviews: recall as it was."""


class Asked(FactsSystem):
    """A store with turns, or turns and facts, that summarises by rules when told to."""

    def __init__(self, *, facts: bool) -> None:
        super().__init__()
        self._facts = facts
        config = self._store.config
        path = self._store.path
        self._store.close()
        recall = RecallConfig(presets={PLAIN: {"overview": False}})
        self._store = _StoreWithDefaults(path, config=config.model_copy(update={"recall": recall}))
        self._resources.callback(self._store.close)

    def ingest(self, conversation: Conversation) -> None:
        MemorySystem.ingest(self, conversation)
        if self._facts:
            self.reflect(conversation)

    def summarise(self) -> None:
        """Build the tree."""
        build_maintenance_graph(self._store, tasks=["summarise"]).invoke({})

    def found(self, question: Question, options: RecallOptions) -> list[tuple[str, ...]]:
        """Return the turns that each result speaks of, a summary's sentences by what they cite."""
        namespace = self._keys.namespace(question.conversation)
        recalled = self._store.recall(
            question.text, namespace, now=self._asked_at(question), **options
        )
        with Gathering(self._store).knowledge(namespace) as known:

            def turns(key: str) -> tuple[str, ...]:
                fact = known.by_key(key)
                return self._keys.turns(namespace, [key] if fact is None else fact.evidence)

            return [
                tuple(dict.fromkeys(turn for key in cited(one.memory) for turn in turns(key)))
                for one in recalled.results
            ]


def cited(memory: Memory) -> list[str]:
    """Return the key of a memory, or the keys of what the sentences of a summary retell."""
    if "sentences" not in memory.value:
        return [memory.key]
    return [key for one in memory.value["sentences"] for key in one["leaves"]]


def together(corpus: Corpus, around: Iterable[Conversation] = ()) -> Corpus:
    """Return all conversations as one, in order of time, and the questions for it."""
    sessions = [
        _renamed(one, session)
        for one in chain(corpus.conversations, around)
        for session in one.sessions
    ]
    sessions.sort(key=lambda one: str(one.at))
    questions = (
        replace(
            one,
            conversation="all",
            evidence={f"{one.conversation}/{turn}": gain for turn, gain in one.evidence.items()},
        )
        for one in corpus.questions
    )
    whole = Conversation(id="all", sessions=tuple(sessions))
    return replace(corpus, conversations=(whole,), questions=tuple(questions))


def _renamed(conversation: Conversation, session: Session) -> Session:
    def name(turn: str) -> str:
        return f"{conversation.id}/{turn}"

    return replace(
        session,
        id=name(session.id),
        turns=tuple(replace(one, id=name(one.id)) for one in session.turns),
        observations=tuple(
            replace(one, evidence=tuple(map(name, one.evidence))) for one in session.observations
        ),
    )


def figures(system: Asked, question: Question, preset: str) -> list[float]:
    """Return the share of the evidence within each budget, and among the first `DEPTH` turns."""
    shares = []
    for budget in BUDGETS:
        options = RecallOptions(preset=preset, budget_tokens=budget, limit=MOST)
        turns = {turn for one in system.found(question, options) for turn in one}
        shares.append(len(turns & question.evidence.keys()) / len(question.evidence))
    ranked = system.found(question, RecallOptions(preset=preset, limit=DEPTH))
    first = list(dict.fromkeys(turn for one in ranked for turn in one))[:DEPTH]
    shares.append(len(question.evidence.keys() & set(first)) / len(question.evidence))
    return shares


def measure(place: str, *, facts: bool) -> Iterator[str]:
    """Yield the lines of a table for the conversations in one of `PLACES`."""
    asked = load(FOLDER / "overview.jsonl")
    even = {one.id for one in asked.conversations[::2]}
    whose = {one.text: one.conversation for one in asked.questions}
    corpus = asked
    if place == "together":
        corpus = together(asked)
    elif place == "amid":
        talk = [load(FOLDER / f"{name}.jsonl") for name in TALK]
        corpus = together(asked, chain.from_iterable(one.conversations for one in talk))
    system = Asked(facts=facts)
    try:
        for conversation in corpus.conversations:
            system.ingest(conversation)
        rows = {}
        for name, preset in (("as before", PLAIN), ("overview, no tree", "balanced")):
            rows[name] = [figures(system, one, preset) for one in corpus.questions]
        system.summarise()
        rows["overview, tree"] = [figures(system, one, "balanced") for one in corpus.questions]
    finally:
        system.close()
    of_even = [whose[one.text] in even for one in corpus.questions]
    for name, found in rows.items():
        chosen = [one for one, is_even in zip(found, of_even, strict=True) if is_even]
        others = [one for one, is_even in zip(found, of_even, strict=True) if not is_even]
        cells = (" / ".join(f"{mean(column):.3f}"[1:] if mean(column) < 1 else "1.00"
                 for column in zip(*part, strict=True)) for part in (chosen, others, found))  # fmt: skip
        with_facts = "turns, facts" if facts else "turns"
        yield f"| {place} | {with_facts} | {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for name, value in description(None).items():
        print(f"* {name}: {value}")
    print("\n| talk | memories | recall | even | odd | all |\n|---|---|---|---|---|---|")
    for place in sys.argv[1:] or PLACES:
        for facts in (False, True):
            for line in measure(place, facts=facts):
                print(line, flush=True)
