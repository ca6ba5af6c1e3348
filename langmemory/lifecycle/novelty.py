"""Novelty: how little of a memory later memories say again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log1p

import numpy as np

from langmemory.formation.wording import wording
from langmemory.ports.candidates import Floats
from langmemory.ports.lifecycle import Aged


def novelty(aged: Aged, texts: Sequence[str], *, told: int) -> Floats:
    """float32[n], 0..1: 1 for a memory none of whose words a later one has.

    It is the mean over its content words of ``1 - log(1 + k) / log(1 + told)``, where k of the memories were
    told later and have the word. The words that a namespace repeats most count least, as idf has it; and of
    two memories that say the same, the later is the newer one.

    Args:
        aged: Derived memories.
        texts: What each of them says.
        told: How many there are, with those that were archived or moved: what goes must not make the others
            less novel, else the next night puts away more.
    """
    found = np.ones(len(aged), np.float32)
    later: Counter[str] = Counter()
    most = log1p(max(told, 1))
    for place in np.lexsort((aged.ids, aged.told_at))[::-1].tolist():
        words = wording(texts[place]).words
        if words:
            found[place] = 1 - sum(log1p(later[word]) for word in words) / (len(words) * most)
        later.update(words)
    return found
