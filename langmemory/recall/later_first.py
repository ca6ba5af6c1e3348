"""Later first: of two candidates that answer about equally well, the one that was said later leads.

"The standup is at 9:30" and "The standup is at 10 now" meet a question equally well, and only one of
them still holds. Which of two turns that is, their words do not prove: so nothing is marked as outdated here.
The later one moves up only past what it is hardly worse than, and which has hardly a word of the query that
it lacks. Questions for the past turn the order round. What claims prove (`CandidateSource.rivals`) weighs
more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from langmemory.languages import Question
from langmemory.ports.candidates import Floats, Ids, Rows
from langmemory.recall.interaction import MET
from langmemory.recall.vocabulary import Vocabulary

if TYPE_CHECKING:
    from langmemory.recall.ranking import Reading


HEAD: Final = 20
"""Candidates, by rank, that are compared."""
CLOSE: Final = 0.95
"""Share of a better one's score from which what was said later stands before it."""
ALIKE_CLOSE: Final = 0.6
"""The same where both say nearly the same."""
EXACT: Final = ("claim", "identifier")
"""Signals of what answers a query exactly, past which nothing moves that does not."""
LACKED: Final = 0.4
"""Share of a query, by the rarity of its words, that what was said later may lack beside what was said
before. Identifiers are compared by themselves, see `EXACT`."""
LEAST_MET: Final = 0.2
"""Share of a query in an unknown language that what was said later has to meet, and of any query of which no
candidate meets so much, as in another language: in the table of words, all of such a language are near."""
ALIKE: Final = 0.5
"""Cosine of the means of their words, from which two texts speak of the same."""
ALIKE_AMONG_PEOPLE: Final = 0.6
"""The same where people talk to each other, who seldom ask for what holds now."""
LONGEST_ALIKE: Final = 64
"""Words of a text that may begin later; a longer one says other things as well."""
RIVAL: Final = 0.5
"""Share of an earlier claim's score from which the later claim of another value stands before it."""

_NOW: Final = np.iinfo(np.int64).max
"""When documents say what they say: they hold at present, whenever they were read."""

Order = NDArray[np.int64]


def by_time(
    order: Order,
    score: Floats,
    rows: Rows,
    said_at: NDArray[np.int64],
    reading: Reading,
    vocabulary: Vocabulary,
    asks: frozenset[Question],
    until: int | None,
    *,
    foreign: bool,
    exact: Sequence[Floats],
    starts_later: Callable[[Sequence[int]], list[bool]],
    rivals: tuple[Ids, Ids] | None = None,
) -> Order:
    """Return an order of candidates in which the later of two that are close stands first.

    Args:
        order: int64: candidates by rank.
        score: float32[n]: by which they are ranked.
        rows: Their facets.
        said_at: int64[n]: when they were said, microseconds.
        reading: Their words.
        vocabulary: What the words mean.
        asks: What the query asks for: "first" and "before" put the earlier one first.
        until: End of the time the query speaks of, microseconds: what was said later stands behind.
        foreign: Whether the query is in an unknown language.
        exact: float32[n] each: signals of which what was said later has as much, see `EXACT`.
        starts_later: Tells of candidates whether what they say begins after the time that is asked about.
        rivals: Ids of what claims other values of the same: the earlier ones, and the later
            ones; None where the query does not ask for what holds.
    """
    head = order[:HEAD]
    if reading.texts is None or reading.met is None or len(head) < 2:
        return order
    # What is said at once is said in the order of writing.
    at = np.where(rows.is_document, _NOW, said_at)[head]
    when = np.empty(len(head), np.int64)
    when[np.lexsort((rows.ids[head], at))] = np.arange(len(head))
    when[rows.is_document[head]] = len(head)
    if not asks.isdisjoint(("first", "before")):
        when = -when
    elif until is not None:
        when = np.where(said_at[head] >= until, -1, when)
    meets = (reading.met.matches[:, head] >= MET).astype(np.float32)
    # bool[h, h]: whether a candidate (column) has nearly every word of the query that another one (row) has.
    alone = _one_person(rows, reading)
    lacked = (meets * reading.met.shares[:, None]).T @ (1 - meets)
    covers: NDArray[np.bool_] = lacked <= (LACKED if alone else 0.0)
    met = reading.met.shares @ meets
    if foreign or met.max() < LEAST_MET:
        covers &= met >= LEAST_MET
    for signal in exact:
        covers &= signal[head] >= signal[head][:, None]
    speakers = _numbers([rows.speaker[place] for place in head.tolist()])
    covers &= speakers[:, None] == speakers
    covers &= ~reading.questions[head][:, None] & ~reading.questions[head]
    worth = score[head]
    close: NDArray[np.bool_] = (
        covers & (when > when[:, None]) & (worth >= ALIKE_CLOSE * worth[:, None])
    )
    close &= np.triu(np.ones_like(close), 1)  # only what stands behind moves
    if close.any():
        near = alone & (worth >= CLOSE * worth[:, None])
        alike = ALIKE if alone else ALIKE_AMONG_PEOPLE
        close &= near | _similar_pairs(head, close & ~near, reading, vocabulary, alike)
    proven = np.zeros_like(close)
    if rivals is not None and until is None:
        claimed = _rivals(head, rows, worth, rivals)
        proven = np.triu(claimed, 1)
        close = (close & ~claimed.T) | proven
    # Records that nobody said may be about different things, however alike.
    bound = ~proven & (rows.position[head] < 0)[:, None]
    moved = _order_later_first(close, bound)
    movers = [one for place, one in enumerate(moved) if one != place and close[:, one].any()]
    if not movers:
        return order
    later = starts_later(head[movers].tolist())
    if any(later):
        close[:, [one for one, is_later in zip(movers, later, strict=True) if is_later]] = False
        moved = _order_later_first(close, bound)
    return np.concatenate((head[moved], order[HEAD:]))


def _order_later_first(close: NDArray[np.bool_], bound: NDArray[np.bool_]) -> list[int]:
    """Return places in the order in which each stands before those it passes: ``close`` bool[h, h] tells what
    (column) may pass what (row), ``bound`` by which of these passes something falls one place at most."""
    moved: list[int] = []
    fallen: set[int] = set()
    passing = set(np.flatnonzero(close.any(axis=0)).tolist())
    for one in range(len(close)):
        place = len(moved)
        while one in passing and place and close[passed := moved[place - 1], one]:
            if bound[passed, one]:
                if passed in fallen:
                    break
                fallen.add(passed)
            place -= 1
        moved.insert(place, one)
    return moved


def _numbers(names: Sequence[str | None]) -> NDArray[np.int64]:
    """int64[n]: a number for each name, the same for the same one."""
    known: dict[str | None, int] = {}
    return np.array([known.setdefault(name or None, len(known)) for name in names])


def _one_person(rows: Rows, reading: Reading) -> bool:
    """Whether the candidates are what one person said, to an assistant or to nobody. Two people who talk to
    each other seldom ask for what holds now, and later turns would cost evidence (LoCoMo R@10 -.03)."""
    said = zip(rows.speaker, reading.by_assistant.tolist(), strict=True)
    return len({name for name, assistant in said if name and not assistant}) <= 1


def _similar_pairs(
    head: Order,
    asked: NDArray[np.bool_],
    reading: Reading,
    vocabulary: Vocabulary,
    alike_from: float,
) -> NDArray[np.bool_]:
    """bool[h, h]: which pairs of candidates, of those asked for, speak of the same: the means of their words'
    vectors are near."""
    assert reading.texts is not None
    alike = np.zeros_like(asked)
    some = np.flatnonzero(asked.any(axis=0) | asked.any(axis=1))
    if not len(some):
        return alike
    texts = reading.texts.of(head[some])
    means = vocabulary.means(texts.tokens, texts.starts)
    alike[np.ix_(some, some)] = means @ means.T >= alike_from
    return alike


def _rivals(head: Order, rows: Rows, worth: Floats, rivals: tuple[Ids, Ids]) -> NDArray[np.bool_]:
    """bool[h, h]: the later claim (column) of two that it is not far behind of (row)."""
    place = {item: at for at, item in enumerate(rows.ids[head].tolist())}
    found = np.zeros((len(head), len(head)), np.bool_)
    for earlier, later in zip(*(side.tolist() for side in rivals), strict=True):
        if earlier in place and later in place:
            found[place[earlier], place[later]] = True
    found &= worth >= RIVAL * worth[:, None]
    return found
