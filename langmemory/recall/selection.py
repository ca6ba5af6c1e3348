"""Selection: which of a ranking are returned, each thing said once, near the same further down.

Where one repeated text, a daily reminder say, or one long session has taken the places of whatever
else there is, more candidates have to be looked at (`deeper`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.languages import split_words
from langmemory.ports.candidates import CandidateSource, Floats
from langmemory.recall.explain import qualified_key
from langmemory.recall.features import first_of_each, sessions
from langmemory.recall.presets import MOST_CANDIDATES, Preset
from langmemory.recall.ranking import Ranking
from langmemory.types import Granularity, Memory, RecallResult

GROWTH: Final = 8
"""Times as many candidates are looked at where most of those there were say the same."""
SESSIONS: Final = 10
"""More are returned as far as they are found, and not looked for further: there may be no more."""


def spread(order: NDArray[np.int64], session: NDArray[np.int64], cap: int) -> NDArray[np.int64]:
    """The order with what exceeds ``cap`` of one session behind all else; ``session`` int64[n], -1 for
    what was said in none."""
    seen: dict[int, int] = {}
    first: list[int] = []
    later: list[int] = []
    for place in order.tolist():
        one = int(session[place])
        seen[one] = seen.get(one, 0) + 1
        (first if one < 0 or seen[one] <= cap else later).append(place)
    return np.array(first + later, np.int64)


class Deduplication:
    """Decides, from the best result down, whether a text says what an earlier one said."""

    def __init__(self, similarity: float) -> None:
        """``similarity``: share of distinct words (Jaccard) from which two texts are one; 1 folds
        only texts that are equal but for case and space."""
        self._similarity = similarity
        self._taken: dict[str, int] = {}
        self._words: defaultdict[str | None, list[tuple[int, frozenset[str]]]] = defaultdict(list)

    def twin(self, number: int, text: str, speaker: str | None) -> int | None:
        """The number of the earlier result this one repeats, or None, which takes it. What two
        people say is never the same."""
        key = f"{speaker}\0{' '.join(text.casefold().split())}"
        if key in self._taken:
            return self._taken[key]
        if self._similarity < 1 and (words := frozenset(split_words(text))):
            for earlier, others in self._words[speaker]:
                if len(words & others) >= self._similarity * len(words | others):
                    return earlier
            self._words[speaker].append((number, words))
        self._taken[key] = number
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The returned part of a ranking."""

    order: NDArray[np.int64]
    """int64: candidates, best first, of each session the best where these are ranked."""
    sessions: bool
    """Whether each result stands for a session."""
    gated: bool
    """Whether candidates were left out for their low score: there is nothing better further down."""
    results: list[RecallResult] = field(default_factory=list)
    removed: list[tuple[Memory, str]] = field(default_factory=list)
    """Memories that say the same as one of the results, and why they were left out."""

    def crowded(self, wanted: int, contentless: int) -> bool:
        """Whether results are missing and most candidates said what others had said, or nothing: a daily
        reminder, say, took the places of whatever else there is. Of sessions, whether results are
        missing. ``contentless`` is the number of candidates that said nothing."""
        found = len(self.results)
        if self.gated:
            return False
        if self.sessions:
            return found < min(wanted, SESSIONS)
        return found < wanted and len(self.removed) + contentless > found


def select(
    source: CandidateSource,
    ranking: Ranking,
    scores: Floats,
    preset: Preset,
    granularity: Granularity,
    lowest: float | None,
    limit: int,
) -> Selection:
    """Return results in order, without those that say what one before them said, at most ``limit``.

    ``scores`` is float32[n], what the results are given as their score.
    """
    ranked = ranking.order
    alone = np.ones(len(ranking.score), np.bool_)
    if granularity == "session":
        rows = ranking.pool.rows
        session = sessions(rows.thread, rows.said_at)
        ranked = first_of_each(session, ranked)
        # What two sessions say is said in both: only single memories are taken for duplicates.
        alone = session < 0
    order = ranked if lowest is None else ranked[scores[ranked] >= lowest]
    selection = Selection(
        order=ranked,
        sessions=granularity == "session",
        gated=len(order) < len(ranked),
    )
    results, ids = selection.results, ranking.pool.rows.ids
    overlap = ranking.signals.get("overlap", np.zeros_like(ranking.score))
    seen = Deduplication(preset.dedupe_threshold)
    for start in range(0, len(order), limit):
        part = order[start : start + limit]
        memories = {memory.id: memory for memory in source.memories(ids[part])}
        for place in part.tolist():
            memory = memories.get(int(ids[place]))
            if memory is None:  # deleted since the ranking began
                continue
            twin = None
            if alone[place]:
                twin = seen.twin(len(results), memory.text, memory.speaker)
            if twin is not None:
                said = qualified_key(results[twin].memory, beside=memory)
                selection.removed.append((memory, f"dedupe: says the same as {said}"))
                continue
            parts = {
                "dense": float(ranking.pool.dense[place]),
                "keyword": float(ranking.pool.keyword[place]),
                "relevance": float(ranking.relevance[place]),
                "rank": float(ranking.score[place]),
                "overlap": float(overlap[place]),
            }
            if ranking.outdated[place]:
                parts["earlier"] = 1.0
            if ranking.score[place] > ranking.own[place]:
                parts["derivation"] = float(ranking.score[place])
            results.append(RecallResult(memory=memory, score=float(scores[place]), parts=parts))
            if len(results) == limit:
                return selection
    return selection


def deeper(ranking: Ranking, preset: Preset, limit: int) -> Preset | None:
    """The preset with more candidates; None where there are no more, or enough were looked at."""
    depth = max(preset.depth, limit)
    full = any(len(ranking.channels.get(name, ())) >= depth for name in ("dense", "keyword"))
    if not full or depth >= MOST_CANDIDATES:
        return None
    return preset.model_copy(update={"depth": min(depth * GROWTH, MOST_CANDIDATES)})
