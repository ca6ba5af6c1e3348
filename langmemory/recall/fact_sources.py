"""Derivation: what was made of a turn, and what a turn says that its facts do not.

A fact says in words of its own, with names instead of pronouns, what a turn said in passing. Of the two, the
fact alone is shown where the turn says nothing more. Where a fact has given way, the turn says still what
was so then ("I live in Hamburg"): what holds now stands before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.embeddings.static import TokenIds
from langmemory.ports.candidates import Floats, Ids
from langmemory.recall.interaction import SAME, Texts
from langmemory.recall.vocabulary import HASHED, Vocabulary

STANDS_FOR: Final = 0.6
"""Share of its source's overlap with the query from which a derived memory is what is asked."""


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

    def said_at(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """The times of n candidates, with what was derived at the last time of its sources: it may
        have been written down long after."""
        times = times.copy()
        times[self.derived] = np.iinfo(np.int64).min
        np.maximum.at(times, self.derived, times[self.sources])
        return times

    def settle(
        self, score: Floats, found: Mapping[str, Floats], no_more: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which turns a fact stands for, bool[n]: those that say nothing more than what was derived from them
        alone. ``no_more`` is bool[m], which pairs are such (`says_no_more`).

        A fact derived from a turn alone takes, in place, the score of the turn where it meets the query about
        as well by itself: it has names and dates where the turn may have pronouns.
        """
        own = _own(found)
        collapsed = np.zeros(len(score), np.bool_)
        if not len(self.derived):
            return collapsed
        alone = np.bincount(self.derived)[self.derived] == 1
        derived, sources = self.derived[alone], self.sources[alone]
        order = np.lexsort((derived, -own[derived], sources))
        derived, sources, no_more = derived[order], sources[order], no_more[alone][order]
        stands = own[derived] >= STANDS_FOR * own[sources]
        stands[1:] &= sources[1:] != sources[:-1]  # the best of each source only
        np.maximum.at(score, derived[stands], score[sources[stands]])
        collapsed[sources[stands & no_more]] = True
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


def says_no_more(
    texts: Texts, vocabulary: Vocabulary, pairs: Iterable[tuple[int, TokenIds]]
) -> NDArray[np.bool_]:
    """Return whether texts say nothing that other ones do not, bool[m]: each of its telling words is one of
    the other's, in this form or in another.

    Args:
        texts: Those of n candidates.
        vocabulary: What the words mean.
        pairs: The place of a text, and the words of the other one.
    """
    found = []
    for place, other in pairs:
        start = texts.starts[place]
        words = texts.tokens[start : start + texts.lengths[place]]
        rest = np.setdiff1d(words[vocabulary.telling[words] > 0], other)
        if len(rest):
            near = vocabulary.unit(rest) @ vocabulary.unit(other).T
            near[rest >= HASHED] = 0
            found.append(bool((near.max(axis=1, initial=0) >= SAME).all()))
        else:
            found.append(True)
    return np.array(found, np.bool_)


def _own(found: Mapping[str, Floats]) -> Floats:
    """How well the candidates meet the query by themselves, in words or by what they claim."""
    own = found.get("overlap", found["keyword"])
    return own + found["claim"] if "claim" in found else own
