"""How far a turn is from the topic of an earlier one, by the embedder of the store in use."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore

from langmemory.stores.rooms import conversing_of
from langmemory.twins import Steps, call

log = logging.getLogger(__name__)

TOPIC_SHIFT_DISTANCE = 0.7
"""Cosine distance (0..2) between a turn and the topic at the last fresh recall, above which the
topic is another. With the embedded model, pairs of questions on one topic were .15-.6 apart, on two
topics .8-1.03 (6 pairs of our own, and each with the others)."""


def topic_distance(store: BaseStore, topic: str, query: str) -> Steps[float | None]:
    """Return the cosine distance, 0..2, of two texts; None when there is no telling: no topic yet, no
    embedder, or one that fails. Every turn is then a topic of its own."""
    embeddings = getattr(store, "embeddings", None)  # LangGraph's stores have it, and ours
    if not topic or not isinstance(embeddings, Embeddings):
        return None
    distance: float | None = None
    if (facets := conversing_of(store)) is not None:  # knows the vectors of what it was asked last
        distance = yield call(facets, "distance", topic, query)
        return distance
    try:
        vectors = yield call(embeddings, "embed_documents", [topic, query])
        return cosine_distance(*vectors)
    except Exception as error:  # anybody's embedder, any failure: recall must go on
        log.warning("topic_distance_failed error=%s", type(error).__name__)
        return None


def cosine_distance(a: Sequence[float], b: Sequence[float]) -> float:
    """1 - cosine, 0..2; 1 when either vector is zero."""
    norm = math.hypot(*a) * math.hypot(*b)
    return 1.0 - math.fsum(x * y for x, y in zip(a, b, strict=True)) / norm if norm else 1.0
