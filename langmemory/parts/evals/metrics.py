"""How good what was found is, given the evidence. Every score is in 0..1, higher is better."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import log2

DEPTHS = (1, 5, 10, 20)
"""Ranks at which recall, any and all are read."""

NDCG_DEPTH = 10

BUDGET_TOKENS = 500
"""How much a reader reads for ``recall@500tokens``: ten turns of a chat, and what a prompt has room
for. Results differ in length, and what they cost is what they say in full."""

WITHIN_BUDGET = f"recall@{BUDGET_TOKENS}tokens"

METRICS = (
    *(f"recall@{k}" for k in DEPTHS),
    *(f"any@{k}" for k in DEPTHS),
    *(f"all@{k}" for k in DEPTHS),
    f"ndcg@{NDCG_DEPTH}",
    "mrr",
    WITHIN_BUDGET,
)
"""Names of all scores, in the order `score` returns them."""


def score(
    ranking: Sequence[str], evidence: Mapping[str, float], read: Collection[str]
) -> dict[str, float]:
    """All of `METRICS` for one question.

    Args:
        ranking: ids, best first, without duplicates.
        evidence: gain (> 0) by id; not empty.
        read: ids that the best results of `BUDGET_TOKENS` speak of.
    """
    found = [k for k, item in enumerate(ranking, start=1) if item in evidence]
    hits = {k: sum(rank <= k for rank in found) for k in DEPTHS}
    return {
        **{f"recall@{k}": hits[k] / len(evidence) for k in DEPTHS},
        **{f"any@{k}": float(hits[k] > 0) for k in DEPTHS},
        **{f"all@{k}": float(hits[k] == len(evidence)) for k in DEPTHS},
        f"ndcg@{NDCG_DEPTH}": _ndcg(ranking, evidence, NDCG_DEPTH),
        "mrr": 1 / found[0] if found else 0.0,
        WITHIN_BUDGET: sum(item in read for item in evidence) / len(evidence),
    }


def leads(ranking: Sequence[str], evidence: Collection[str], rivals: Collection[str]) -> bool:
    """Return whether a piece of evidence is in the ranking and stands before every rival."""
    first = next((one for one in ranking if one in evidence or one in rivals), None)
    return first in evidence


def _ndcg(ranking: Sequence[str], evidence: Mapping[str, float], depth: int) -> float:
    """Normalised discounted cumulative gain with linear gains, as trec_eval computes it
    (Järvelin & Kekäläinen 2002; ranks start at 1, discount log2(rank + 1))."""
    gains = [evidence.get(item, 0.0) for item in ranking[:depth]]
    ideal = sorted(evidence.values(), reverse=True)[:depth]
    return _dcg(gains) / _dcg(ideal)


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
