"""Candidates: the union of what each channel finds, with every channel's raw score for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from langmemory.ids import are_in, distinct
from langmemory.ports.candidates import (
    NOTHING,
    CandidateSource,
    Floats,
    Ids,
    KeywordQuery,
    ScoredIds,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """n distinct items in ascending order of id, and what the channels say of them."""

    ids: Ids
    keyword: Floats
    """float32[n]: BM25, 0 where the words did not find it."""
    dense: Floats
    """float32[n]: cosine, 0 without a vector."""
    channels: dict[str, Ids]
    """The finds of each channel, best first."""
    further: Mapping[str, ScoredIds] = field(default_factory=dict)
    """The finds of channels that the caller brought."""

    def without(self, ids: Ids) -> Candidates:
        """The candidates but these."""
        kept = ~are_in(self.ids, ids)
        return Candidates(
            ids=self.ids[kept],
            keyword=self.keyword[kept],
            dense=self.dense[kept],
            channels={name: of[~are_in(of, ids)] for name, of in self.channels.items()},
            further=self.further,
        )


def gather(
    source: CandidateSource,
    *,
    vector: Floats | None,
    keyword: KeywordQuery | None,
    window: tuple[int, int] | None,
    depth: int,
    further: Mapping[str, ScoredIds] | None = None,
) -> Candidates:
    """Ask every channel that has a question for ``depth`` items and join the answers.

    ``window`` is ``[since, until)`` in microseconds; ``further`` is what other channels found already. An
    item that only other channels found gets its exact cosine as well, so that scores are comparable.
    """
    further = further or {}
    by_words = NOTHING if keyword is None else source.keyword(keyword, depth)
    by_vector = NOTHING if vector is None else source.dense(vector, depth)
    by_time = NOTHING.ids if window is None else source.window(*window, depth)
    ids = distinct(by_vector.ids, by_words.ids, by_time, *(one.ids for one in further.values()))
    bm25 = np.zeros(len(ids), dtype=np.float32)
    bm25[ids.searchsorted(by_words.ids)] = by_words.scores
    cosine = np.zeros(len(ids), dtype=np.float32)
    if vector is not None:
        known = ids.searchsorted(by_vector.ids)
        cosine[known] = by_vector.scores
        missing = np.ones(len(ids), dtype=np.bool_)
        missing[known] = False
        if missing.any():
            cosine[missing] = source.cosines(vector, ids[missing])
    channels = {"dense": by_vector.ids, "keyword": by_words.ids, "window": by_time}
    channels |= {name: one.ids for name, one in further.items()}
    return Candidates(
        ids=ids,
        keyword=bm25,
        dense=cosine,
        channels={name: found for name, found in channels.items() if len(found)},
        further=further,
    )
