"""Fit the calibration of recall: ``python scripts/fit_calibration.py [LOCOMO_FILE]``.

Asks the prompts of the fit half of ``benchmarks/conversations/one-person-fit.jsonl`` in several worlds:
turns alone, turns and the facts that the rules make of them, without an embedder, in small stores, and
in one store beside many other people. With a LoCoMo-shaped file it also asks the questions of its first
three conversations, and questions of the others with the names exchanged, which nothing answers.
Prints the constants of `langmemory.recall.calibration` and its figures on both halves.

Needs scikit-learn (``pip install scikit-learn``).
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from langmemory.evals import Conversation, Corpus, load
from langmemory.evals.ours import MemorySystem
from langmemory.evals.replay import FactsSystem
from langmemory.recall import calibration, pipeline
from langmemory.stores.rooms import Gathering
from langmemory.types import Namespace

CONVERSATIONS = Path(__file__).parent.parent / "benchmarks" / "conversations"
SHOWN = 10
"""Results of each query that are learned from."""
SMALL = 3
"""Sessions of a small store."""
TUNING = 3
"""Conversations of the LoCoMo file that may be learned from."""
WORLD_WEIGHTS = {
    "one person": 3.0,
    "with facts": 2.0,
    "no embedder": 1.5,
    "small store": 1.0,
    "many people": 1.0,
    "two friends": 0.5,
    "two friends with facts": 0.3,
}

Prompt = tuple[str, str, frozenset[str]]
"""Conversation, text, and ids of the turns that are evidence."""


@dataclass
class Sample:
    """The results of one prompt."""

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
        self._features = calibration.predictors
        pipeline.predictors = self._record  # type: ignore[attr-defined]

    def _record(self, *arguments: Any) -> np.ndarray:
        self.properties = self._features(*arguments)
        return self.properties


def asked(
    system: MemorySystem,
    prompts: Iterable[Prompt],
    recorder: Recorder,
    facts: Mapping[tuple[Namespace, str], tuple[str, ...]],
    everywhere: bool,
) -> list[Sample]:
    samples = []
    for conversation, text, evidence in prompts:
        recorder.properties = None
        namespace = system._keys.namespace(conversation)
        found = system._store.recall(
            text, () if everywhere else namespace, limit=SHOWN, now=system._now.get(conversation)
        )
        if recorder.properties is None or not found.results:
            continue
        turns = system._keys._turns
        samples.append(
            Sample(
                score=np.array([one.parts["rank"] for one in found], np.float32),
                properties=recorder.properties,
                evidence=np.array(
                    [
                        not evidence.isdisjoint(facts[where])
                        if (where := (one.memory.namespace, one.memory.key)) in facts
                        else namespace == one.memory.namespace and turns.get(where) in evidence
                        for one in found
                    ]
                ),
            )
        )
    return samples


def facts_of(system: FactsSystem, corpus: Corpus) -> dict[tuple[Namespace, str], tuple[str, ...]]:
    """The turns behind every fact."""
    found = {}
    turns = system._keys._turns
    for conversation in corpus.conversations:
        namespace = system._keys.namespace(conversation.id)
        with Gathering(system._store).knowledge(namespace) as known:
            for item in system._store.search(namespace, limit=100_000):
                fact = known.by_key(item.key)
                if fact is not None:
                    found[tuple(item.namespace), item.key] = tuple(
                        turns.get((namespace, key), "") for key in fact.evidence
                    )
    return found


def world(
    corpus: Corpus,
    prompts: Sequence[Prompt],
    recorder: Recorder,
    *,
    make: Callable[[], MemorySystem] = MemorySystem,
    beside: Iterable[Conversation] = (),
) -> list[Sample]:
    system = make()
    try:
        others = tuple(beside)
        for conversation in (*others, *corpus.conversations):
            system.ingest(conversation)
        facts = facts_of(system, corpus) if isinstance(system, FactsSystem) else {}
        return asked(system, prompts, recorder, facts, everywhere=bool(others))
    finally:
        system.close()


def own_worlds(half: str, others: Iterable[Conversation], recorder: Recorder) -> dict[str, list]:
    corpus = load(CONVERSATIONS / f"one-person-{half}.jsonl")
    prompts = [(one.conversation, one.text, frozenset(one.evidence)) for one in corpus.questions]
    small = replace(
        corpus,
        conversations=tuple(
            replace(one, sessions=one.sessions[-SMALL:]) for one in corpus.conversations
        ),
    )
    return {
        "one person": world(corpus, prompts, recorder),
        "with facts": world(corpus, prompts, recorder, make=FactsSystem),
        "no embedder": world(corpus, prompts, recorder, make=lambda: MemorySystem(mode="keyword")),
        "small store": world(small, prompts, recorder),
        "many people": world(corpus, prompts, recorder, beside=others),
    }


def friends_worlds(corpus: Corpus, ids: set[str], recorder: Recorder) -> dict[str, list]:
    """Questions of these conversations, and others that nothing in them answers."""
    chosen = random.Random(1)
    part = replace(
        corpus, conversations=tuple(one for one in corpus.conversations if one.id in ids)
    )
    speakers = {
        one.id: sorted({turn.speaker or "" for turn in one.turns}) for one in part.conversations
    }
    prompts = []
    for here in part.conversations:
        foreign = []
        for question in corpus.questions:
            if question.conversation not in ids or not question.evidence:
                continue
            if question.conversation == here.id:
                if question.category != "adversarial":
                    prompts.append((here.id, question.text, frozenset(question.evidence)))
                continue
            text = question.text
            for theirs, ours in zip(
                speakers[question.conversation], speakers[here.id], strict=False
            ):
                text = text.replace(theirs, ours)
            foreign.append((here.id, text, frozenset[str]()))
        prompts += chosen.sample(foreign, min(60, len(foreign)))
    return {
        "two friends": world(part, prompts, recorder),
        "two friends with facts": world(part, prompts, recorder, make=FactsSystem),
    }


def arrays(samples: Iterable[Sample]) -> tuple[np.ndarray, np.ndarray]:
    """Features of every result, its score first, and whether it is evidence."""
    rows = [
        np.column_stack([one.score, np.tile(one.properties, (len(one.score), 1))])
        for one in samples
    ]
    return np.concatenate(rows), np.concatenate([one.evidence for one in samples])


def calibration_error(estimates: np.ndarray, true: np.ndarray) -> float:
    """Expected calibration error over ten bins of equal mass (Naeini et al. 2015)."""
    parts = np.array_split(np.argsort(estimates, kind="stable"), 10)
    return sum(len(p) * abs(estimates[p].mean() - true[p].mean()) for p in parts) / len(true)


def main() -> None:
    recorder = Recorder()
    others = {half: [] for half in ("fit", "test")}
    for half, names in (("fit", ("assistant", "friends")), ("test", ("work", "changes"))):
        for name in names:
            others[half] += load(CONVERSATIONS / f"{name}.jsonl").conversations
    halves: dict[str, dict[str, list[Sample]]] = {"fit": {}, "test": {}}
    if len(sys.argv) > 1:
        locomo = load(Path(sys.argv[1]))
        tuning = {one.id for one in locomo.conversations[:TUNING]}
        rest = {one.id for one in locomo.conversations} - tuning
        halves["fit"] |= friends_worlds(locomo, tuning, recorder)
        halves["test"] |= friends_worlds(locomo, rest, recorder)
    for half in halves:
        halves[half] |= own_worlds(half, others[half], recorder)

    fit = [(*arrays(samples), WORLD_WEIGHTS[name]) for name, samples in halves["fit"].items()]
    rows = np.concatenate([x for x, _, _ in fit])
    true = np.concatenate([y for _, y, _ in fit])
    weights = np.concatenate([np.full(len(y), weight) for _, y, weight in fit])
    scaler = StandardScaler().fit(rows)
    model = LogisticRegression(max_iter=2000).fit(scaler.transform(rows), true, weights)
    raw = model.coef_[0] / scaler.scale_
    print(f"INTERCEPT: Final = {model.intercept_[0] - raw @ scaler.mean_:.3f}")
    print(f"SCORE_WEIGHT: Final = {raw[0]:.3f}")
    for name, weight in zip(calibration.WEIGHTS, raw[1:], strict=True):
        print(f'    "{name}": {weight:.3f},')
    for half, worlds in halves.items():
        for name, samples in worlds.items():
            x, y = arrays(samples)
            estimates = model.predict_proba(scaler.transform(x))[:, 1]
            print(
                f"{half:4} {name:24} AUROC {roc_auc_score(y, estimates):.3f}  "
                f"calibration error {calibration_error(estimates, y):.4f}  ({len(y)} results)"
            )


if __name__ == "__main__":
    main()
