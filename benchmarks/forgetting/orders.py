"""Orders of forgetting that an evaluation compares: which derived memories go first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.lifecycle.policies import PolicyOptions, eviction_order, novelty
from langmemory.lifecycle.retention import salience
from langmemory.ports.candidates import UNKNOWN_TIME
from langmemory.ports.lifecycle import Aged

SEEDS: Final = 5
"""Random orders that the figures of ``random`` are the mean of."""

OURS: Final = "ours"
KEEP_ALL: Final = "keep all"
RANDOM: Final = "random"


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """What an order may know."""

    now: int
    """Microseconds since 1970 UTC."""
    keep: int
    """How many memories stay."""
    needed: AbstractSet[str]
    """Keys of the facts that the exam needs. Only the oracle looks."""
    texts: Mapping[str, str]
    """What each memory says, by key."""
    seed: int = 0


Order = Callable[[Aged, Situation], NDArray[np.int64]]
"""Returns places of memories, the first to go first; what is not among them is never let go."""


def _ours(aged: Aged, at: Situation) -> NDArray[np.int64]:
    options = PolicyOptions(max_facts=at.keep)
    new = novelty(aged, [at.texts[key] for key in aged.keys], told=len(aged))
    score = salience(aged, at.now) + np.float32(options.novelty_weight) * new
    return eviction_order(aged, options, score)


def _ours_without_use(aged: Aged, at: Situation) -> NDArray[np.int64]:
    none = np.zeros(len(aged), np.int64)
    unused = replace(
        aged, cited=none, right=none, loaded=none, used_at=np.full(len(aged), UNKNOWN_TIME)
    )
    return _ours(unused, at)


def _least_salient(aged: Aged, at: Situation) -> NDArray[np.int64]:
    return np.lexsort((aged.ids, salience(aged, at.now)))


def _random(aged: Aged, at: Situation) -> NDArray[np.int64]:
    """One draw a memory, so that what went at a larger budget goes at a smaller one, too."""
    draws = [np.random.default_rng([at.seed, item]).random() for item in aged.ids.tolist()]
    return np.argsort(draws)


def _first_in_first_out(aged: Aged, at: Situation) -> NDArray[np.int64]:
    return np.argsort(aged.ids)


def _least_recently_used(aged: Aged, at: Situation) -> NDArray[np.int64]:
    return np.lexsort((aged.ids, np.maximum(aged.told_at, aged.used_at)))


def _oracle(aged: Aged, at: Situation) -> NDArray[np.int64]:
    needed = np.fromiter((key in at.needed for key in aged.keys), np.bool_, len(aged))
    return np.lexsort((aged.ids, salience(aged, at.now), needed))


ORDERS: Final[Mapping[str, Order]] = {
    OURS: _ours,
    "ours without use": _ours_without_use,
    "least salient": _least_salient,
    RANDOM: _random,
    "FIFO": _first_in_first_out,
    "LRU": _least_recently_used,
    "oracle": _oracle,
}
"""By the name that a report shows. ``LRU`` is last told or cited, ``FIFO`` first told."""


def going(order: Order, aged: Aged, at: Situation) -> tuple[str, ...]:
    """Return the keys of the memories that an order lets go, so that `Situation.keep` stay if it can."""
    excess = max(len(aged) - at.keep, 0)
    return tuple(aged.keys[place] for place in order(aged, at)[:excess].tolist())
