"""Measure what recall takes away: ``python -m benchmarks.harm [FILE …]``.

For each set of conversations, the block that `RecallNode` gives a model by default (its gate, 400 tokens)
is compared with the first ten results of two plain searches: by meaning, of LangGraph's `InMemoryStore` with
the same embedder, and by words. A question is lost where a plain search finds an answer and the block has
none. Of each evidence turn that a plain search finds and the block does not have, the stage is named that
left it out. Each set is measured twice: with turns alone, and with the facts that the rules make of them.

Without files, all sets of ``benchmarks/conversations`` are measured.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import track
from rich.table import Table

from langmemory.embeddings.static import StaticEmbedder
from langmemory.parts.evals import Corpus, Question, load
from langmemory.parts.evals.ours import FactsSystem, MemorySystem
from langmemory.parts.evals.systems import System, in_memory_store
from langmemory.types import Namespace, Recall

SETS: Final = Path(__file__).parent / "conversations"
PLAIN: Final = 10
"""Results of a plain search that are compared."""
FIRST: Final = 5
"""Lines of a block that a model surely reads."""


@dataclass
class Harm:
    """Counts of the questions of one set in one world."""

    asked: int = 0
    """Answerable questions."""
    lost: int = 0
    """Whose answer a plain search by meaning finds, where the block has none."""
    lost_words: int = 0
    """The same of the search by words."""
    less: int = 0
    """Of which the block lacks an evidence turn that the search by meaning finds."""
    in_block: int = 0
    in_first: int = 0
    plain_first: int = 0
    lines: int = 0
    useful: int = 0
    tokens: int = 0
    stages: Counter[str] = field(default_factory=Counter)
    """Questions by the stage that took an evidence turn which a plain search finds."""
    unanswerable: Counter[str] = field(default_factory=Counter)
    """Other prompts by label ..."""
    with_block: Counter[str] = field(default_factory=Counter)
    """... and those of them that get a block."""


class _Watched:
    """Keeps what the store was asked for a block, and what it found."""

    def __init__(self, system: MemorySystem) -> None:
        self.system, self.store = system, system._store
        self.asked: tuple[str, Namespace, dict[str, Any]] | None = None
        self.recall: Recall | None = None
        self._recall = self.store.recall
        self.store.recall = self._watch  # type: ignore[method-assign]

    def _watch(self, query: str, namespace: Namespace, **options: Any) -> Recall:
        self.asked = (query, namespace, options)
        self.recall = self._recall(query, namespace, **{**options, "explain": True})
        return self.recall

    def ungated(self) -> Recall:
        """Return the last recall without a lowest score."""
        assert self.asked is not None
        query, namespace, options = self.asked
        return self._recall(query, namespace, **{**options, "min_score": None})


def _fate(watched: _Watched, namespace: Namespace, turn: str) -> str:
    """Return the stage that left an evidence turn out of the block."""
    keys, recall = watched.system._keys, watched.recall
    if recall is None:
        return "idle"
    for one in recall.results:
        if turn in _turns(watched.system, namespace, one.memory.key):
            return "disclosure"
    for key, why in recall.trace.removed.items():
        if keys._turns.get((namespace, key)) == turn:
            return why.partition(":")[0]
    for one in watched.ungated().results:
        if turn in _turns(watched.system, namespace, one.memory.key):
            return "low score" if recall.results else "gate"
    return "rank"


def _turns(system: MemorySystem, namespace: Namespace, key: str) -> tuple[str, ...]:
    return system._turns_of(namespace, [key])[0]


def measured(corpus: Corpus, *, facts: bool) -> Harm:
    """Return what the blocks of a set lose, over turns alone or with the facts of the rules."""
    harm = Harm()
    ours = FactsSystem() if facts else MemorySystem()
    meaning: System = in_memory_store(StaticEmbedder().embeddings)
    words: System = MemorySystem(door="search", mode="keyword")
    try:
        for conversation in corpus.conversations:
            bare = replace(
                conversation,
                sessions=tuple(replace(one, observations=()) for one in conversation.sessions),
            )
            for system in (ours, meaning, words):
                system.ingest(bare)
        watched = _Watched(ours)
        for question in track(corpus.questions, corpus.name, transient=True, console=STDERR):
            if question.prompt is not None:
                _count(harm, question, watched, meaning, words)
    finally:
        for system in (ours, meaning, words):
            system.close()
    return harm


def _count(
    harm: Harm, question: Question, watched: _Watched, meaning: System, words: System
) -> None:
    watched.asked = watched.recall = None
    block = watched.system.block(question)
    if question.prompt != "answerable":
        harm.unanswerable[str(question.prompt)] += 1
        harm.with_block[str(question.prompt)] += bool(block.entries)
        return
    evidence = question.evidence.keys()
    shown = {turn for entry in block.entries for turn in entry} & evidence
    by_meaning = _found(meaning, question) & evidence
    by_words = _found(words, question) & evidence
    harm.asked += 1
    harm.lost += bool(by_meaning) and not shown
    harm.lost_words += bool(by_words) and not shown
    harm.less += bool(by_meaning - shown)
    harm.in_block += bool(shown)
    harm.in_first += any(evidence & set(entry) for entry in block.entries[:FIRST])
    harm.plain_first += bool(_found(meaning, question, FIRST) & evidence)
    harm.lines += len(block.entries)
    harm.useful += sum(bool(evidence & set(entry)) for entry in block.entries)
    harm.tokens += block.tokens
    namespace = watched.system._keys.namespace(question.conversation)
    fates = {_fate(watched, namespace, turn) for turn in (by_meaning | by_words) - shown}
    if watched.recall is not None:
        fates |= {
            "marked earlier"
            for one in watched.recall.results
            if one.parts.get("earlier")
            and evidence & set(_turns(watched.system, namespace, one.memory.key))
        }
    harm.stages.update(fates)


def _found(system: System, question: Question, depth: int = PLAIN) -> set[str]:
    return {turn for one in system.search(question, depth) for turn in one.turns}


def rows(corpus: Corpus) -> Iterator[tuple[str, ...]]:
    """Yield a row of the table for each world."""
    for name, facts in (("turns", False), ("facts", True)):
        harm = measured(corpus, facts=facts)
        share = partial(_share, total=harm.asked)
        stages = (f"{stage} {share(count)}" for stage, count in harm.stages.most_common())
        others = (
            f"{label} {_share(harm.with_block[label], total)}"
            for label, total in harm.unanswerable.items()
        )
        yield (
            corpus.name,
            name,
            str(harm.asked),
            *map(
                share,
                (harm.lost, harm.lost_words, harm.less, harm.in_block, harm.in_first, harm.plain_first),
            ),
            _share(harm.useful, harm.lines),
            str(round(harm.tokens / max(harm.asked, 1))),
            ", ".join(others),
            ", ".join(stages),
        )  # fmt: skip


HEADINGS: Final = (
    "set", "over", "questions", "lost", "lost (words)", "less", "in block", "first 5", "plain first 5",
    "useful lines", "tokens", "with a block", "questions by the stage that took evidence",
)  # fmt: skip
STDERR: Final = Console(stderr=True)


def _share(count: int, total: int) -> str:
    return f"{count / total:.3f}".lstrip("0") if total else "-"


def main(paths: list[Path]) -> None:
    table = Table(*HEADINGS, title="What the block loses")
    for path in paths:
        for row in rows(load(path)):
            table.add_row(*row)
            print(" | ".join(row), flush=True)
    Console(width=220).print(table)


if __name__ == "__main__":
    main([Path(one) for one in sys.argv[1:]] or sorted(SETS.glob("*.jsonl")))
