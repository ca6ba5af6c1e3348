"""Derivation: what was made of a turn speaks for the turn, and of a family one member is shown.

A fact says in words of its own, with names instead of pronouns, what a turn said in passing. So
how well a fact meets the query is evidence for the turns it rests on; and of the two, the fact is
shown where it meets the query nearly as well. Where a fact has given way, the turn says still what
was so then ("I live in Hamburg"): what holds now stands before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.ports.candidates import Floats, Ids

LIFTED: Final = ("keyword", "dense", "overlap", "related")
"""Signals of a derived memory that count for its sources."""

STANDS_FOR: Final = 0.6
"""Share of its source's overlap with the query from which a derived memory stands for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FactSources:
    """Pairs among n candidates: a derived memory, and one it was derived from."""

    derived: Ids
    """int64[m]: places among the candidates."""
    sources: Ids
    """int64[m]."""
    superseded: Ids
    """int64[h]: sources of what holds no more …"""
    successors: Ids
    """int64[h]: … and what took its place."""

    def signals(self, found: Mapping[str, Floats]) -> dict[str, Floats]:
        """``derived_…``, float32[n]: the best that was derived from an item, 0 for the others."""
        lifted = {}
        for name in LIFTED:
            if name in found:
                best = np.zeros_like(found[name])
                np.maximum.at(best, self.sources, found[name][self.derived])
                lifted[f"derived_{name}"] = best
        return lifted

    def said_at(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """The times of n candidates, with what was derived at the last time of its sources: it may
        have been written down long after."""
        times = times.copy()
        times[self.derived] = np.iinfo(np.int64).min
        np.maximum.at(times, self.derived, times[self.sources])
        return times

    def settle(self, score: Floats, found: Mapping[str, Floats]) -> NDArray[np.bool_]:
        """Which candidates another member of their family stands for, bool[n].

        Of a source and what was derived from it alone, the best derived memory stands for the
        source and takes its score, in place, where it meets the query about as well by itself:
        it has names and dates where the source may have pronouns. Whatever else was derived stays,
        since it says other things.
        """
        own = _own(found)
        collapsed = np.zeros(len(score), np.bool_)
        alone = np.bincount(self.derived)[self.derived] == 1
        derived, sources = self.derived[alone], self.sources[alone]
        order = np.lexsort((derived, -own[derived], sources))
        derived, sources = derived[order], sources[order]
        stands = own[derived] >= STANDS_FOR * own[sources]
        stands[1:] &= sources[1:] != sources[:-1]  # the best of each source only
        derived, sources = derived[stands], sources[stands]
        while (below := score[derived] < score[sources]).any():  # a source may be derived itself
            score[derived[below]] = score[sources[below]]
        collapsed[sources] = True
        return collapsed

    def succeed(self, score: Floats, found: Mapping[str, Floats]) -> None:
        """Put what holds now, in place, before the turns that tell what was so before; where it is what
        the query asks of them, which nothing else that was derived from them meets better."""
        own = _own(found)
        needed = STANDS_FOR * own
        np.maximum.at(needed, self.sources, own[self.derived])
        asked = own[self.successors] >= needed[self.superseded]
        before = np.nextafter(score[self.superseded[asked]], np.float32(np.inf))
        np.maximum.at(score, self.successors[asked], before)


def _own(found: Mapping[str, Floats]) -> Floats:
    """How well the candidates meet the query by themselves, in words or by what they claim."""
    own = found.get("overlap", found["keyword"])
    return own + found["claim"] if "claim" in found else own
