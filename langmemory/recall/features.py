"""Features: cheap properties of an item that make it a likelier answer to this query. All 0..1.

What surrounds a turn is evidence for it: a turn seldom holds all words of a question, its topic was named a
few turns before, the question it answers was asked by the other person.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from langmemory.ids import indexes
from langmemory.languages import Edge, compared, split_words
from langmemory.languages.temporal.query import UPPER
from langmemory.ports.candidates import Floats
from langmemory.recall.interaction import Texts
from langmemory.recall.vocabulary import Vocabulary

_DAY_US = 86_400_000_000
AROUND_SHARE = 0.25
"""Share of a stretch of time by which its neighbourhood exceeds it on either side, if that is more than
the lag."""
_SHORTEST_GENITIVE = 3
Index = NDArray[np.int64]
_DAYS = 1 << 23
"""More than there are between the first and the last day of a datetime."""


def named_speakers(speakers: Iterable[str | None], words: Iterable[str]) -> set[str]:
    """Those of the speakers whom the words of a query name, by any word of their name, also in the
    genitive of languages that write it without an apostrophe: "Annas"."""
    asked = set(map(compared, words))
    asked |= {word.removesuffix("s") for word in asked if len(word) > _SHORTEST_GENITIVE}
    return {
        name
        for name in set(speakers)
        if name and asked.intersection(map(compared, split_words(name)))
    }


def spoken_by(
    speakers: Sequence[str | None],
    named: set[str],
    by_assistant: NDArray[np.bool_],
    *,
    asks_listener: bool = False,
) -> Floats:
    """1 for an item said by who the query is about.

    That is the one person it names; where it names two it is about both, and nobody's turns are
    preferred. In a chat with an assistant, where it names neither side, it is about the person and
    not about what the assistant, who says the most, said; unless that is what it asks for.
    """
    if len(named) == 1:
        (name,) = named
        return np.fromiter((speaker == name for speaker in speakers), np.float32, len(speakers))
    if named or not by_assistant.any():
        return np.zeros(len(speakers), dtype=np.float32)
    preferred: Floats = (by_assistant == asks_listener).astype(np.float32)
    return preferred


def questions(texts: Texts, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """bool[n]: whether the last sentence of a text is a question."""
    ends = vocabulary.ends.take(texts.tokens)
    places = np.concatenate(([-1], ends.nonzero()[0]))
    last = places[places.searchsorted(texts.starts + texts.lengths) - 1]
    asking: NDArray[np.bool_] = (last >= texts.starts) & (ends[last] > 0)
    return asking


def recency(
    said_at: NDArray[np.int64], *, half_life_days: float, horizon: datetime | None = None
) -> Floats:
    """1 for what was said last of n >= 1 times, half as much for every half-life before; 0 for what was
    said from ``horizon`` on."""
    known = np.ones(len(said_at), np.bool_) if horizon is None else said_at < micros(horizon)
    if not known.any():
        return np.zeros(len(said_at), np.float32)
    age = (said_at[known].max() - said_at) / (half_life_days * _DAY_US)
    newest: Floats = (np.exp2(-np.maximum(age, 0)) * known).astype(np.float32)
    return newest


def within(
    said_at: NDArray[np.int64],
    spans: Iterable[tuple[datetime, datetime]],
    *,
    lag_days: float,
    edge: Edge | None = None,
) -> Floats:
    """1 for what was said within a time the query names, falling to 0 over the days after it: people
    tell of a thing shortly after it happened. Over the days before it as well where the query asks for
    what was around it; over none where it asks for what was before it."""
    near = np.zeros(len(said_at), dtype=np.float32)
    for since, until in spans:
        start, end = micros(since), micros(until)
        lag = lag_days * _DAY_US
        if edge == "around":
            lag = max(lag, (end - start) * AROUND_SHARE)
            away = np.maximum(np.maximum(start - said_at, said_at - end), 0) / lag
            here = np.maximum(1 - away, 0)
        elif edge in UPPER:
            here = ((said_at >= start) & (said_at < end)).astype(np.float32)
        else:
            late = np.maximum(said_at - end, 0) / lag
            here = np.where(said_at >= start, np.maximum(1 - late, 0), 0)
        near = np.maximum(near, here)
    return near.astype(np.float32)


def micros(at: datetime) -> int:
    """Return microseconds since 1970."""
    return round(at.timestamp() * 1e6)


def years_of(said_at: NDArray[np.int64]) -> range:
    """The calendar years (UTC) of n >= 1 times, and the one before."""
    # Not datetime.fromtimestamp: on Windows it knows nothing before 1970.
    ends = np.array([said_at.min(), said_at.max()]).astype("datetime64[us]")
    first, last = (ends.astype("datetime64[Y]").astype(np.int64) + 1970).tolist()
    return range(first - 1, last + 1)


def places(thread: NDArray[np.int64], position: NDArray[np.int64]) -> Index:
    """int64[n]: ``thread << 32 | position``, -1 for an item without."""
    return np.where((thread >= 0) & (position >= 0), (thread << 32) + position, -1)


def taken_apart(places: Index) -> tuple[Index, Index]:
    """Return thread and position of `places`, int64[n] each."""
    return places >> 32, places & 0xFFFFFFFF


def neighbour_index(
    thread: NDArray[np.int64], position: NDArray[np.int64], radius: int
) -> dict[int, Index]:
    """For each offset -radius..radius but 0: int64[n], where in the arrays the item stands that is
    so many positions later in the same thread; -1 when it is not among them."""
    place = places(thread, position)
    offsets = np.array([offset for offset in range(-radius, radius + 1) if offset])
    found = indexes(place, place + offsets[:, None])
    there = (place >= 0) & (position + offsets[:, None] >= 0)
    return dict(zip(offsets.tolist(), np.where(there, found, -1), strict=True))


def context_match(
    matches: Floats,
    shares: Floats,
    around: dict[int, Index],
    *,
    decay: float,
    states: Floats,
    muted: NDArray[np.bool_],
    facts: tuple[Index, Index] | None = None,
) -> tuple[Floats, Floats]:
    """How well the query's tokens are met by an item and what was said around it.

    Args:
        matches: float32[q, n] as in `Interaction`.
        shares: float32[q] with sum 1.
        around: As from `neighbour_index`.
        decay: What a neighbour's match counts, per position of distance.
        states: float32[n], how much what an item meets by itself counts.
        muted: bool[n], questions whose words count for their reply alone.

        facts: int64[m] facts and int64[m] turns they rest on. A fact stands where its turn does.

    Returns:
        Met by the item and the turns before it, and by the item and the turns on both sides;
        float32[n] each.
    """
    # A column of zeros at the end, so that -1 is "met by nothing".
    nothing = np.zeros((len(matches), 1), np.float32)
    padded = np.concatenate((matches, nothing), axis=1)
    lent = np.concatenate((np.where(muted, 0, matches), nothing), axis=1) if muted.any() else padded
    best = matches * states
    for offset in sorted(offset for offset in around if offset < 0):
        said = padded if offset == -1 else lent
        np.maximum(best, said.take(around[offset], axis=1) * np.float32(decay**-offset), out=best)
    if facts is not None:
        derived, turns = facts
        stand = (best[:, turns] * np.float32(decay)).T
        np.maximum.at(best.T, derived, stand)
    preceding: Floats = shares @ best
    for offset in sorted(offset for offset in around if offset > 0):
        np.maximum(best, lent.take(around[offset], axis=1) * np.float32(decay**offset), out=best)
    both: Floats = shares @ best
    return preceding, both


def answers_previous(score: Floats, asking: NDArray[np.bool_], before: Index) -> Floats:
    """float32[n]: the score of the turn before, where that turn asks something. ``before`` is
    int64[n], the index of the turn before or -1."""
    answered: Floats = np.where((before >= 0) & asking[before], score[before], 0)
    return answered


def sessions(thread: NDArray[np.int64], said_at: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n]: a number for the session an item belongs to, the same for the same one, -1 for none.
    A session is what was said in one thread on one day (UTC)."""
    day = said_at // 86_400_000_000 + _DAYS // 2
    session: NDArray[np.int64] = np.where(thread >= 0, thread * _DAYS + day, -1)
    return session


def first_of_each(session: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order with the first item of each session only; what has no session (-1) stays."""
    ordered = session[order]
    _, first = np.unique(ordered, return_index=True)
    keep = ordered < 0
    keep[first] = True
    return order[keep]


def session_evidence(score: Floats, session: NDArray[np.int64], *, best: int) -> Floats:
    """float32[n]: sum of the ``best`` highest scores of the item's session, as a share of the
    strongest session's; so a session that talks about the matter lifts all its turns. Beside
    sessions, what belongs to none, as a fact, is one by itself."""
    evidence = np.zeros(len(score), dtype=np.float32)
    member = session >= 0
    if not member.any():
        return evidence
    order = np.lexsort((-score, session))
    order = order[member[order]]
    sorted_session = session[order]
    begins = np.ones(len(order), np.bool_)
    np.not_equal(sorted_session[1:], sorted_session[:-1], out=begins[1:])
    starts = begins.nonzero()[0]
    lengths = np.diff(starts, append=len(order))
    rank = np.arange(len(order)) - starts.repeat(lengths)
    counted = np.where(rank < best, score[order], 0)
    totals = np.add.reduceat(counted, starts)
    strongest = totals.max()
    if strongest <= 0:
        return evidence
    shares = totals / strongest
    evidence[order] = shares.repeat(lengths)
    evidence[~member] = np.minimum(score[~member] / strongest, 1)
    return evidence
