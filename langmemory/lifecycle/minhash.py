"""MinHash with locality-sensitive hashing: pairs of names with many letter n-grams in common.

A permutation's smallest element is that of both of two sets with a probability that is their Jaccard
similarity (Broder 1997, "On the resemblance and containment of documents"). Pairs that agree in all rows
of a band are compared exactly; at similarity s a pair is found with probability 1 - (1 - s^rows)^bands
(Indyk and Motwani 1998).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

GRAM: Final = 3
"""Letters of an n-gram."""
BANDS: Final = 64
ROWS: Final = 3
"""With these a pair of similarity 0.5 is found with a probability of 0.9998, one of 0.2 with 0.4."""
MOST_IN_BUCKET: Final = 200
"""Names that agree in one band and are compared with one another, the first of them."""

Signatures = NDArray[np.uint64]
"""uint64[n, BANDS * ROWS]: the smallest hash of each permutation."""

_DRAWN = np.random.default_rng(1997)
_FACTORS = _DRAWN.integers(1, 2**63, BANDS * ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_TERMS = _DRAWN.integers(0, 2**63, BANDS * ROWS, dtype=np.uint64)


def grams(name: str) -> frozenset[str]:
    """Return the n-grams of a name, with its beginning and its end marked."""
    marked = f" {name} "
    return frozenset(marked[at : at + GRAM] for at in range(max(1, len(marked) - GRAM + 1)))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of elements that both sets have, 0..1."""
    return len(one & other) / len(one | other) if one or other else 1.0


def signatures(sets: Sequence[frozenset[str]]) -> Signatures:
    """Return the MinHash of sets that are not empty. The permutations are multiply-shift hashes
    (Dietzfelbinger 1997), the same in every process."""
    found = np.empty((len(sets), BANDS * ROWS), np.uint64)
    for place, one in enumerate(sets):
        hashes = np.array([_hash(gram) for gram in one], np.uint64)[:, None]
        found[place] = ((hashes * _FACTORS + _TERMS) >> np.uint64(32)).min(axis=0)
    return found


def alike(names: Sequence[str], least: float) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of names, as places in the sequence, with a Jaccard similarity of at least this (0..1)."""
    sets = [grams(name) for name in names]
    marks = signatures(sets)
    seen: set[tuple[int, int]] = set()
    for band in range(BANDS):
        buckets: dict[bytes, list[int]] = defaultdict(list)
        for place, row in enumerate(marks[:, band * ROWS : (band + 1) * ROWS]):
            buckets[row.tobytes()].append(place)
        for bucket in buckets.values():
            few = bucket[:MOST_IN_BUCKET]
            seen.update((one, other) for at, other in enumerate(few) for one in few[:at])
    for one, other in sorted(seen):
        if (found := jaccard(sets[one], sets[other])) >= least:
            yield one, other, found


def _hash(gram: str) -> int:
    return int.from_bytes(hashlib.blake2b(gram.encode(), digest_size=8).digest(), "little")
