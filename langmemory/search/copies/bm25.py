"""The weights of BM25, as FTS5's ``bm25()`` has them."""

from __future__ import annotations

from math import log
from typing import Final

K1: Final = 1.2
B: Final = 0.75
LEAST_IDF: Final = 1e-6
"""The weight of a word that more than half of the rows hold."""


def idf(rows: int, holding: int) -> float:
    """Return the weight of a word that some of the rows hold: ln((N - n + 0.5) / (n + 0.5)), by Robertson
    and Sparck Jones, but at least `LEAST_IDF`. ``holding`` may be of a moment when there were more."""
    share = (rows - holding + 0.5) / (holding + 0.5)
    return max(log(share), LEAST_IDF) if share > 1 else LEAST_IDF
