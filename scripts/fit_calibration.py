"""Fit the calibration and the gate of recall: ``python scripts/fit_calibration.py [LOCOMO_FILE]``.

Asks the questions of the fit halves of ``benchmarks/conversations`` and prompts of general knowledge, over
turns alone, over turns and the facts of the rules, and without an embedder. With a LoCoMo-shaped file it also
asks the questions of its first three conversations. Two logistic regressions (Platt 1999) are fitted on the
same properties of a prompt: whether a result is evidence, and whether any of the first ten is. Prints the
constants of `langmemory.recall.calibration`, and what the gate costs on both halves.

``python scripts/fit_calibration.py meant EMBED`` prints what `calibration.MEANT` is chosen from, for an
embedding model such as "static" or "e5": cosines in ``careless-fit``, within a language and across languages.

Needs scikit-learn (``pip install scikit-learn``).
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.messages import AIMessage, HumanMessage
from rich.progress import track
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from langmemory.nodes.recall import query_of
from langmemory.parts.evals import Corpus, Question, load
from langmemory.parts.evals.ours import FactsSystem, MemorySystem
from langmemory.recall import calibration, pipeline
from langmemory.recall.intent import Intent
from langmemory.recall.ranking import Ranking

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
SHOWN = 10
"""Results of each query that are learned from."""
TUNING = 3
"""Conversations of the LoCoMo file that may be learned from."""
WEIGHTS = {
    "typed-fit": 2.0, "one-person-fit": 2.0, "asking": 1.0, "assistant": 1.0, "work": 0.7,
    "friends": 0.5, "changes": 0.5, "languages": 0.7, "locomo_dev": 0.5,
}  # fmt: skip
"""Sets that are learned from, and how much a question of each counts."""
SMALL_STORES = ("typed-fit", "one-person-fit")
SMALL = 2
"""Sessions of a small store, as everybody's is at first."""
TESTS = ("typed-test", "one-person-test")
GENERAL_WEIGHT = 0.25
"""How much a general prompt counts beside a question of its set."""
GENERAL_STORES = 4
"""Conversations of a set that are asked the general prompts."""
ANYTHING = "any cosine"
"""A model of which every cosine will do."""
TEST_SPLIT = frozenset(("farid", "nadja", "kemi"))
"""Conversations of ``asking`` that are held back."""


@dataclass
class Sample:
    """The results of one prompt."""

    set: str
    label: str
    own: bool
    """Whether the prompt is of the set, and no general one that was added."""
    weight: float
    held_back: bool
    score: np.ndarray
    """float32[k]: rank scores."""
    properties: np.ndarray
    """float32[features]."""
    evidence: np.ndarray
    """bool[k]."""


class Recorder:
    """Keeps what `calibration` is asked while a store recalls."""

    def __init__(self) -> None:
        self.properties: np.ndarray | None = None
        self._predictors = calibration.predictors
        pipeline.predictors = self._record  # type: ignore[attr-defined]

    def _record(self, *arguments: Any) -> np.ndarray:
        self.properties = self._predictors(*arguments)
        return self.properties


def prompts(corpus: Corpus) -> Iterator[tuple[Question, bool]]:
    """Yield the prompts of a set, and the general ones to its first conversations; whether it is our own."""
    for question in corpus.questions:
        if question.prompt is not None:
            yield question, True
    general = (BENCHMARKS / "cases" / "general-fit.jsonl").read_text("utf-8").splitlines()
    for conversation in corpus.conversations[:GENERAL_STORES]:
        for line in general:
            text = json.loads(line)["question"]
            yield Question(
                id=text, conversation=conversation.id, text=text, category="", evidence={}, label="general"
            ), False  # fmt: skip


def sampled(
    path: Path,
    recorder: Recorder,
    make: Callable[[], MemorySystem],
    weight: float,
    sessions: int | None = None,
) -> list[Sample]:
    """Ask a set, of which the last ``sessions`` of each conversation are remembered in a store that ``make``
    opens; None: all."""
    corpus, system, samples = load(path), make(), list[Sample]()
    tuned = {one.id for one in corpus.conversations[:TUNING]}
    try:
        for conversation in corpus.conversations:
            last = conversation.sessions[-sessions:] if sessions else conversation.sessions
            bare = tuple(replace(one, observations=()) for one in last)
            system.ingest(replace(conversation, sessions=bare))
        for question, own in track(list(prompts(corpus)), corpus.name, transient=True):
            before = (
                (AIMessage if turn.speaker == "assistant" else HumanMessage)(turn.text)
                for turn in question.before
            )
            query = query_of([*before, HumanMessage(question.text)])
            if not query:
                continue
            recorder.properties = None
            namespace = system._keys.namespace(question.conversation)
            asked_at = system._asked_at(question)
            found = system._store.recall(query, namespace, limit=SHOWN, now=asked_at).results
            if recorder.properties is None or not found:
                continue
            turns = [system._turns_of(namespace, [one.memory.key])[0] for one in found]
            samples.append(
                Sample(
                    set=corpus.name,
                    label=str(question.prompt),
                    own=own,
                    weight=weight * (1 if own else GENERAL_WEIGHT),
                    held_back=corpus.name in TESTS
                    or question.conversation in TEST_SPLIT
                    or (path.suffix == ".json" and question.conversation not in tuned),
                    score=np.array([one.parts["rank"] for one in found], np.float32),
                    properties=recorder.properties,
                    evidence=np.array(
                        [not question.evidence.keys().isdisjoint(of) for of in turns]
                    ),
                )
            )
    finally:
        system.close()
    return samples


def results(samples: Sequence[Sample]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of every result, its score first, whether it is evidence, and its weight."""
    rows = [
        np.column_stack([one.score, np.tile(one.properties, (len(one.score), 1))])
        for one in samples
    ]
    weights = [np.full(len(one.score), one.weight) for one in samples]
    evidence = np.concatenate([one.evidence for one in samples])
    return np.concatenate(rows), evidence, np.concatenate(weights)


def answers(samples: Sequence[Sample]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of every prompt that can be judged, whether it is answered, and its weight."""
    judged = [
        one
        for one in samples
        if one.label in ("general", "idle") or (one.label == "answerable" and one.evidence.any())
    ]
    return (
        np.array([one.properties for one in judged]),
        np.array([one.label == "answerable" for one in judged]),
        np.array([one.weight for one in judged]),
    )


def fitted(rows: np.ndarray, true: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Return intercept and weights of a logistic regression."""
    scaler = StandardScaler().fit(rows)
    model = LogisticRegression(max_iter=5000).fit(scaler.transform(rows), true, weights)
    raw = model.coef_[0] / scaler.scale_
    return float(model.intercept_[0] - raw @ scaler.mean_), raw


def meant(embed: str) -> None:
    """Print quantiles of the best cosine of prompts whose words the gate cannot compare. Of answerable
    prompts, those count whose answer would be in the block."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    why: tuple[str, float] | None = None
    unjudged = calibration.unjudged

    def recorded(
        query: str, intent: Intent, ranking: Ranking, source: Any, vocabulary: Any, _: Any
    ) -> str | None:
        nonlocal why
        reason = unjudged(query, intent, ranking, source, vocabulary, ANYTHING)
        why = reason and (reason, float(ranking.pool.dense.max(initial=0)))  # type: ignore[assignment]
        return reason

    pipeline.unjudged = recorded  # type: ignore[attr-defined]
    pipeline.gate = lambda *_: calibration.NOTHING  # type: ignore[attr-defined]
    calibration.MEANT = {ANYTHING: (-1.0, -1.0)}  # type: ignore[misc]
    corpus = load(BENCHMARKS / "conversations" / "careless-fit.jsonl")
    system = MemorySystem(embed=embed)
    try:
        for conversation in corpus.conversations:
            system.ingest(conversation)
        for question in track(corpus.questions, transient=True):
            why = None
            block = system.block(question)
            shown = {turn for entry in block.entries for turn in entry}
            if why and (question.prompt != "answerable" or shown & question.evidence.keys()):
                found[why[0], str(question.prompt)].append(why[1])
    finally:
        system.close()
    for (reason, label), cosines in sorted(found.items()):
        quantiles = np.quantile(cosines, (0, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1)).round(2)
        print(f"{reason[:40]}... {label} ({len(cosines)}): {quantiles.tolist()}")


def main() -> None:
    recorder, samples = Recorder(), list[Sample]()
    worlds: dict[str, Callable[[], MemorySystem]] = {
        "turns": MemorySystem,
        "facts": FactsSystem,
        "no embedder": partial(MemorySystem, mode="keyword"),
    }
    for name in (*WEIGHTS, *TESTS):
        path = BENCHMARKS / "conversations" / f"{name}.jsonl"
        if not path.exists():
            if len(sys.argv) < 2:
                continue
            path = Path(sys.argv[1])
        for world, make in worlds.items():
            if world == "turns" or name in ("typed-fit", "one-person-fit", *TESTS):
                samples += sampled(path, recorder, make, WEIGHTS.get(name, 1.0))
                if world == "turns" and name in SMALL_STORES:
                    samples += sampled(path, recorder, make, WEIGHTS[name] / 2, SMALL)
    fit = [one for one in samples if not one.held_back]
    intercept, score = fitted(*results(fit))
    gate_intercept, gate = fitted(*answers(fit))
    print(f"INTERCEPT: Final = {intercept:.3f}\nSCORE_WEIGHT: Final = {score[0]:.3f}")
    print(f"GATE_INTERCEPT: Final = {gate_intercept:.3f}")
    for name, of_result, of_prompt in zip(calibration.WEIGHTS, score[1:], gate, strict=True):
        print(f'    "{name}": ({of_result:.3f}, {of_prompt:.3f}),')
    for half in (False, True):
        part = [one for one in samples if one.held_back is half]
        rows, true, _ = results(part)
        estimates = 1 / (1 + np.exp(-(intercept + rows @ score)))
        print(
            f"{'held back' if half else 'fit'}: AUROC of scores {roc_auc_score(true, estimates):.3f}"
        )
        for name in sorted({one.set for one in part}):
            own = [one for one in part if one.set == name and one.own]
            lost = []
            for threshold in (0.2, 0.3, 0.4, 0.5):
                shares = []
                for label in ("answerable", "general", "idle"):
                    some = [one for one in own if one.label == label]
                    if label == "answerable":
                        some = [one for one in some if one.evidence.any()]
                    passed = [
                        1 / (1 + np.exp(-(gate_intercept + gate @ one.properties))) >= threshold
                        for one in some
                    ]
                    shares.append(f"{np.mean(passed):.3f}" if passed else "-")
                lost.append(f"{threshold}: {' '.join(shares)}")
            print(f"  {name:16} with a block (answerable, general, idle): {' | '.join(lost)}")


if __name__ == "__main__":
    meant(sys.argv[2]) if sys.argv[1:2] == ["meant"] else main()
