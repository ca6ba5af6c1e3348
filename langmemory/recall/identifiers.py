"""Identifiers: numbers, codes, versions, addresses, paths and the like, which are met exactly or not at all.

"Invoice 4411" and "invoice 4412" differ in one character and mean two things, which neither vectors nor words
of a sentence tell apart. An identifier is compared as its runs of letters and of digits: "SK4723" is
"sk 4723".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from langmemory.languages import Language

MOST: Final = 8
"""Identifiers of a query that are compared."""
LONGEST: Final = 200
"""Characters of one."""
ALONE: Final = 0.7
"""How well an identifier is met that stands beside other words than in the query."""
PART: Final = 0.5
"""How well an identifier is met by a longer one that has it: "412" by "PR-412-b"."""
SMALL: Final = 2
"""Digits of a number that is common: it identifies only beside the word of the query, "locker 14"."""

_CHUNK = re.compile(r"[^\s,;!?()\[\]{}<>\"“”„«»‘’`*|]+")
_RUN = re.compile(r"\d+|[^\W\d_]+")
_EDGES = "#.:-_/\\'~&"
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")

Runs = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Identifier:
    """One identifier of a query."""

    text: str
    runs: Runs
    beside: frozenset[str]
    """Words that it stands beside in the query, but for stop words."""

    @property
    def is_small(self) -> bool:
        """Whether it is a number that is common, see `SMALL`."""
        return len(self.runs) == 1 and len(self.runs[0]) <= SMALL


def identifiers(text: str, language: Language) -> list[Identifier]:
    """Return the identifiers of a query, at most `MOST`: what has a digit, an address or a path."""
    chunks = _chunks(text)
    found: dict[Runs, Identifier] = {}
    for place, chunk in enumerate(chunks):
        if len(chunk) > LONGEST or not _is_identifier(chunk):
            continue
        runs = _runs(chunk)
        around = (*chunks[max(place - 1, 0) : place], *chunks[place + 1 : place + 2])
        beside = (run for one in around for run in _runs(one))
        if runs:
            words = frozenset(word for word in beside if word not in language.stop_words)
            found.setdefault(runs, Identifier(chunk, runs, words))
    return list(found.values())[:MOST]


def phrases(asked: Iterable[Identifier]) -> list[str]:
    """Return what to look up side by side: the runs of identifiers of several."""
    return [" ".join(one.runs) for one in asked if len(one.runs) > 1]


def joined_words(asked: Iterable[Identifier]) -> list[str]:
    """Return words that are written without the space or the sign that identifiers have: "sk4723"."""
    return ["".join(one.runs) for one in asked if len(one.runs) == 2]


def met(asked: Sequence[Identifier], text: str) -> float:
    """Return how well a text has the identifiers of a query, 0..1: the mean of each."""
    folded = text.casefold()
    there = [one for one in asked if all(run in folded for run in one.runs)]
    if not there:
        return 0.0
    chunks = [_runs(chunk) for chunk in _chunks(text)]
    return sum(_met(one, chunks) for one in there) / len(asked)


def _met(one: Identifier, chunks: Sequence[Runs]) -> float:
    best, size = 0.0, len(one.runs)
    for place, runs in enumerate(chunks):
        if one.runs[0] not in runs:
            continue
        more = next((more for more in (1, 2, 3) if _join_runs(chunks, place, more) == one.runs), 0)
        if more:
            beside = {*_join_runs(chunks, place - 1, 1), *_join_runs(chunks, place + more, 1)}
            if not one.beside.isdisjoint(beside):
                return 1.0
            best = max(best, ALONE if not one.is_small or not one.beside else 0.0)
        elif not one.is_small and len(runs) > size:
            starts = range(len(runs) - size + 1)
            if any(runs[start : start + size] == one.runs for start in starts):
                best = max(best, PART)
    return best


def _join_runs(chunks: Sequence[Runs], place: int, count: int) -> Runs:
    """Return the runs of some chunks; none where there are not as many."""
    if place < 0 or place + count > len(chunks):
        return ()
    return sum(chunks[place : place + count], ())


def _chunks(text: str) -> list[str]:
    return [chunk for one in _CHUNK.findall(text.casefold()) if (chunk := one.strip(_EDGES))]


def _is_identifier(chunk: str) -> bool:
    if any(map(str.isdigit, chunk)):
        return True
    inner = chunk[1:-1]
    return "@" in inner or "/" in inner or "\\" in inner or "_" in inner


def _runs(chunk: str) -> Runs:
    """Return the runs of letters and digits of a chunk, "v" of a version left out and "rd" of "3rd"."""
    if ordinal := _ORDINAL.fullmatch(chunk):
        return (ordinal[1],)
    runs = tuple(_RUN.findall(chunk))
    return runs[1:] if len(runs) > 2 and runs[0] == "v" else runs
