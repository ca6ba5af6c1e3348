"""Cues: cheap properties of an item that make it a likelier answer to this query. All 0..1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

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
    places = np.concatenate(([-1], np.flatnonzero(ends)))
    last = places[np.searchsorted(places, texts.starts + texts.lengths) - 1]
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
