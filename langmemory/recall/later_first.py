"""Later first: of memories that say nearly the same of the same thing, what was said last leads.

"The standup is at 9:30" and "The standup is at 10 now" meet a question equally well, and only one of
them still holds. Questions for the past turn the order round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from langmemory.ids import distinct
from langmemory.languages import LANGUAGES, Question
from langmemory.ports.candidates import Floats, Ids, Rows
from langmemory.recall import features
from langmemory.recall.interaction import MET, Interaction, Texts
from langmemory.recall.vocabulary import ASSISTANT, Flags, Vocabulary

if TYPE_CHECKING:
    from langmemory.recall.ranking import Reading

HEAD: Final = 40
"""Candidates, by rank, that are compared."""
SHARED: Final = 0.55
"""Share of the words of the shorter of two texts that the other has too, from which both say nearly the
same."""
ALIKE: Final = 0.5
"""Share of the words of the longer text that the shorter one has at least."""
FEWEST_WORDS: Final = 3
"""Words a text needs to be compared."""
CLOSE: Final = 0.9
"""Share of a better one's score from which what was said later stands before it, where a person asks an
assistant for what holds. On `changes` present answers then lead outdated ones more often (.60 instead of
.46); with .75 in .74, but then versions of different things change places. Two people who talk seldom
ask each other so, and there it would cost evidence (LoCoMo R@10 -.03)."""

RIVAL: Final = 0.5
"""Share of an earlier claim's score from which the later claim of another value stands before it."""

_MIX: Final = np.cumprod(np.full(16, 6364136223846793005, dtype=np.uint64))
"""Factors of a word's pieces by their place in it (Knuth's multiplier, modulo 2^64)."""

_NOW: Final = np.iinfo(np.int64).max
"""When documents say what they say: they hold at present, whenever they were read."""
_WORD_BITS: Final = 64
_BELOW: Final = np.triu(np.ones((HEAD, HEAD), dtype=np.bool_), 1)
"""Which places (columns) are below which (rows)."""

Order = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Succession:
    """An order of n candidates in which versions of one statement stand by time."""

    order: Order
    """int64: the candidates, best first."""
    newer: Order
    """int64[n]: the newest version of what a candidate says, -1 for the newest and those without."""


def by_time(
    order: Order,
    score: Floats,
    rows: Rows,
    said_at: NDArray[np.int64],
    reading: Reading,
    vocabulary: Vocabulary | None,
    asks: frozenset[Question],
    until: int | None,
    names: Sequence[str] = (),
    rivals: tuple[Ids, Ids] | None = None,
) -> Succession:
    """Rearrange the head of an order; each group of versions keeps its places.

    Args:
        order: int64: candidates by rank.
        score: float32[n]: by which they are ranked.
        rows: Their facets.
        said_at: int64[n]: when they were said, microseconds.
        reading: Their words.
        vocabulary: What the words mean.
        asks: What the query asks for: "first" puts the oldest version first, "before" the newest last.
        until: End of the time the query speaks of, microseconds: what was said later stands behind.
        names: In the query.
        rivals: Ids of what claims other values of the same: the earlier ones, and the later
            ones; None where the query does not ask for what holds.
    """
    newer = np.full(len(rows.ids), -1, dtype=np.int64)
    head = order[:HEAD]
    if reading.texts is None or reading.met is None or vocabulary is None or len(head) < 2:
        return Succession(order=order, newer=newer)
    texts = reading.texts.of(head)
    same = _versions(head, rows, texts, reading.met, vocabulary)
    fresh = "present" in asks and until is None and reading.texts.having(ASSISTANT).any()
    if not (fresh or same.any() or rivals is not None):
        return Succession(order=order, newer=newer)
    called = sorted({*names, *reading.named})
    holds = np.zeros((len(called), len(rows.ids)), dtype=np.bool_)
    for row, name in enumerate(called):
        holds[row, head] = _holding(texts, vocabulary, name)
    of_head = holds[:, head].astype(np.float32)
    same &= of_head.T @ (1 - of_head) == 0  # a version has every name of the query
    order = order.copy()
    for group in _groups(same):
        members = head[group]  # the places ascend
        newest_first = members[np.argsort(-said_at[members], kind="stable")]
        # What was said at once ("no longer in Porto, but in Lisbon") is no earlier version.
        earlier = newest_first[said_at[newest_first] < said_at[newest_first[0]]]
        newer[earlier] = newest_first[0]
        if until is not None:
            late = said_at[newest_first] >= until
            newest_first = np.concatenate((newest_first[~late], newest_first[late]))
        elif "first" in asks:
            newest_first = newest_first[::-1]
        elif "before" in asks:
            newest_first = np.roll(newest_first, -1)
        order[group] = newest_first
    if fresh:
        at = np.where(rows.is_document, _NOW, said_at)
        order[: len(head)] = _fresh(head, order[: len(head)], score, at, holds)
    if rivals is not None and until is None:
        order[: len(head)] = _last_claimed(
            head, order[: len(head)], score, rows, said_at, holds, rivals
        )
    return Succession(order=order, newer=newer)


def _versions(
    head: Order, rows: Rows, texts: Texts, met: Interaction, vocabulary: Vocabulary
) -> NDArray[np.bool_]:
    """bool[h, h]: which candidates (columns) say nearly the same as a better one (rows), and meet all
    the words of the query that it does. ``texts`` are those of the head."""
    meets = (met.matches[:, head] >= MET).astype(np.float32)
    counts = meets.sum(axis=0)
    same: NDArray[np.bool_] = (meets.T @ meets == counts[:, None]) & _BELOW[
        : len(head), : len(head)
    ]
    same[counts == 0] = False
    # A question is no version of a statement.
    asking = features.questions(texts, vocabulary)
    same[asking] = False
    same[:, asking] = False
    # What two people say of themselves is never the same.
    numbers: dict[str | None, int] = {}
    speakers = np.array(
        [numbers.setdefault(rows.speaker[place] or None, len(numbers)) for place in head.tolist()]
    )
    own = texts.any(_first_person(vocabulary))
    same &= (speakers[:, None] == speakers) | ~(own[:, None] | own)
    # Parts of documents have no order in time: two that are alike are about two things.
    same[rows.is_document[head]] = False
    same[:, rows.is_document[head]] = False
    # A fact is no version of one about somebody else.
    subjects, facts = texts.tokens[texts.starts], rows.position[head] < 0
    same &= (subjects[:, None] == subjects) | ~(facts[:, None] | facts)
    better, other = np.nonzero(same)
    if len(better):
        same[better, other] = _alike(texts, better, other, vocabulary)
    return same


def _alike(texts: Texts, better: Order, other: Order, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """bool[p]: which pairs of texts, given by their places, have most of their words in common."""
    begins = ~vocabulary.continues[texts.tokens]
    begins[texts.starts] = True
    first = np.flatnonzero(begins)
    within = np.arange(len(begins)) - first[np.cumsum(begins) - 1]
    # A word is the pieces it has, in order.
    pieces = (texts.tokens + np.uint64(1)) * _MIX[np.minimum(within, len(_MIX) - 1)]
    spoken = ~vocabulary.marks[texts.tokens[first]]
    words = np.add.reduceat(pieces, first)[spoken]
    every = distinct(words)
    # Bits, since a product of matrices of this size wakes the threads of BLAS.
    holds = np.zeros((len(texts.starts), -(-len(every) // _WORD_BITS) * _WORD_BITS), np.bool_)
    of_text = np.repeat(np.arange(len(texts.starts)), texts.lengths)[first[spoken]]
    holds[of_text, np.searchsorted(every, words)] = True
    bits = np.packbits(holds, axis=1).view(np.uint64)
    count = holds.sum(axis=1)
    shorter = np.minimum(count[better], count[other])
    longer = np.maximum(count[better], count[other])
    shared = np.bitwise_count(bits[better] & bits[other]).sum(axis=1, dtype=np.int64)
    alike: NDArray[np.bool_] = (shorter >= FEWEST_WORDS) & (shorter >= ALIKE * longer)
    alike &= shared >= SHARED * shorter
    return alike


def _fresh(
    ranked: Order,
    order: Order,
    score: Floats,
    said_at: NDArray[np.int64],
    holds: NDArray[np.bool_],
) -> list[int]:
    """The order, what was said later before what is hardly better and has no name of the query that it
    does not have. ``ranked`` are the same candidates by score: the place in ``order`` has the score of
    the place in ``ranked``. ``holds`` is bool[names, n]."""
    worth = dict(zip(order.tolist(), score[ranked].tolist(), strict=True))
    times = dict(zip(order.tolist(), said_at[order].tolist(), strict=True))
    bits = np.packbits(holds[:, order], axis=0).T
    names = {
        one: int.from_bytes(row.tobytes(), "big")
        for one, row in zip(order.tolist(), bits, strict=True)
    }
    fresh: list[int] = []
    for one in order.tolist():
        place = len(fresh)
        while place:
            better = fresh[place - 1]
            if worth[one] < CLOSE * worth[better] or times[one] <= times[better]:
                break
            if names[better] & ~names[one]:
                break
            place -= 1
        fresh.insert(place, one)
    return fresh


def _last_claimed(
    ranked: Order,
    order: Order,
    score: Floats,
    rows: Rows,
    said_at: NDArray[np.int64],
    holds: NDArray[np.bool_],
    rivals: tuple[Ids, Ids],
) -> list[int]:
    """The order, the later of two claims right before the earlier one that it is not far behind.
    The arguments are those of `_fresh`, and the rivals."""
    worth = dict(zip(order.tolist(), score[ranked].tolist(), strict=True))
    place = {item: at for at, item in enumerate(rows.ids.tolist())}
    settled: list[int] = order.tolist()
    for earlier, later in zip(*(side.tolist() for side in rivals), strict=True):
        one, other = place.get(earlier, -1), place.get(later, -1)
        if one not in worth or other not in worth or said_at[other] <= said_at[one]:
            continue
        if worth[other] < RIVAL * worth[one] or (holds[:, one] & ~holds[:, other]).any():
            continue
        if settled.index(one) < settled.index(other):
            settled.remove(other)
            settled.insert(settled.index(one), other)
    return settled


def _holding(texts: Texts, vocabulary: Vocabulary, name: str) -> NDArray[np.bool_]:
    """bool[n]: which texts have every token of a name."""
    found = np.ones(len(texts.starts), np.bool_)
    for token in vocabulary.encode(name):
        found &= texts.having(int(token))
    return found


def _groups(same: NDArray[np.bool_]) -> Iterator[Order]:
    """int64: the places of a candidate and of the versions of what it says, two at least."""
    left = np.ones(len(same), dtype=np.bool_)
    for place in np.flatnonzero(same.any(axis=1)).tolist():
        versions = np.flatnonzero(same[place] & left)
        if left[place] and len(versions):
            left[versions] = False
            yield np.concatenate(([place], versions))


@lru_cache(maxsize=4)
def _first_person(vocabulary: Vocabulary) -> Flags:
    return vocabulary.flags(frozenset().union(*(one.first_person for one in LANGUAGES.values())))
