"""Words of other languages than English: which they are, and the pieces of them that have vectors.

The English table splits a word of another language into pieces that mean something else. Here each
word has a vote: for another language where only the pieces of other languages have it whole, or where it
has letters beyond ASCII; for English where only the English table has it whole. Words that both have,
"die" or "gift", go with the others. A text of English words is embedded as if no other language were.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Final

import numpy as np
import numpy.typing as npt

from langmemory.languages.writing import whole_words

_START: Final = "\u2581"
"""Before the first piece of a word."""
_OTHER_SCRIPT: Final = re.compile("[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufdff]")
_SHIFTS: Final = np.array((6, 4, 2, 0), np.uint8)
ELSEWHERE: Final = 1 << 40
"""More than a text has votes for English."""
LATIN: Final = "LATIN"
"""Name of a language other than English in Latin letters."""
MOST_KEPT: Final = 40_000
"""Words of which the votes and pieces are kept."""


Pieces = npt.NDArray[np.uint32]
"""uint32[n]: rows of the table of other languages."""


class ForeignTable:
    """The vectors of pieces, and what words they make. Read-only but for what it keeps of words.

    Args:
        english: the words that are one token of the English table.
    """

    def __init__(self, english: Iterable[str]) -> None:
        self._english = frozenset(english)
        self._votes: dict[str, int] = {}
        self._kept: dict[str, bytes] = {}
        data = files("langmemory.embeddings") / "data"
        pieces = (data / "pieces.txt").read_text(encoding="utf-8").split("\n")
        self._ids = dict(zip(pieces, range(len(pieces)), strict=True))
        self._longest = max(map(len, pieces))
        with (data / "pieces.npy").open("rb") as file:
            self._packed = np.load(file, allow_pickle=False)

    def split(self, runs: list[str]) -> tuple[Pieces, list[str]] | None:
        """The pieces of words of other languages in a text, and the runs that the English table reads; None
        where it reads all of them."""
        known = self._votes  # what is known now stays there, whatever is given up meanwhile
        new = {run: self._vote(run) for run in set(runs).difference(known)}
        votes = [new[run] if run in new else known[run] for run in runs]
        if sum(votes) <= 0:
            return None
        foreign = sum(vote for vote in votes if vote < ELSEWHERE) > 0
        pieces = [
            self._pieces_of(run) if foreign or vote >= ELSEWHERE else b""
            for run, vote in zip(runs, votes, strict=True)
        ]
        rest = [run for run, one in zip(runs, pieces, strict=True) if not one]
        return np.frombuffer(b"".join(pieces), np.uint32), rest

    def added(self, pieces: Pieces) -> npt.NDArray[np.float32]:
        """float32[dims]: the sum of the vectors of some thousand pieces at most, exact, on the scale of the
        English table."""
        rows = self._packed[pieces]
        found: npt.NDArray[np.float32] = rows[:, 0].astype(np.float32) @ _levels(rows)
        return found

    def language(self, runs: list[str]) -> str:
        """A name for what a text is written in: "" for English and where it cannot be told, `LATIN` for
        another language of that script, else the script of its first word in another one."""
        votes = list(map(self._vote, runs))
        if sum(vote for vote in votes if vote < ELSEWHERE) > 0:
            return LATIN
        other = next((run for run, vote in zip(runs, votes, strict=True) if vote >= ELSEWHERE), "")
        letter = _OTHER_SCRIPT.search(other)
        script = unicodedata.name(letter[0], "").split(" ")[0] if letter else ""
        return "CJK" if script in ("HIRAGANA", "KATAKANA") else script

    def is_english(self, word: str) -> bool:
        """Whether only the English table has a word whole."""
        return self._vote(word) < 0

    def _vote(self, run: str) -> int:
        """Above 0 for another language, below for English; `ELSEWHERE` for another script."""
        found = self._votes.get(run)
        if found is None:
            if len(self._votes) >= MOST_KEPT:
                self._votes, self._kept = {}, {}  # others may still read the old ones
            words = _words(run)
            if not run.isascii() and any(map(_OTHER_SCRIPT.search, words)):
                found = ELSEWHERE
            else:
                found = sum(
                    self._has(word) - (word in self._english) if word.isascii() else 1
                    for word in words
                )
            self._votes[run] = found
        return found

    def _has(self, word: str) -> bool:
        """Return whether a word is one piece."""
        return _START + word in self._ids

    def _pieces_of(self, run: str) -> bytes:
        """uint32 each, of the words of a run that the English table has not; none where it has no letter."""
        found = self._kept.get(run)
        if found is None:
            ids: list[int] = []
            for word in _words(run):
                if self._has(word) or word not in self._english:
                    ids += self._pieces(_START + word)
            found = self._kept[run] = np.array(ids, np.uint32).tobytes()
        return found

    def _pieces(self, word: str) -> Iterator[int]:
        """Yield the longest piece that a word begins with, then that of the rest; characters without a piece
        are left out."""
        start = 0
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                if (id_ := self._ids.get(word[start:end])) is not None:
                    yield id_
                    start = end
                    break
            else:
                start += 1


def _words(run: str) -> list[str]:
    return [word for word in whole_words(run.lower()) if not word.isdecimal()]


def packed(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    """uint8[pieces, 1 + dims / 4]: vectors on the scale of the English table. A number is -3, -1, 1 or 3
    times the step of its vector, which comes first (Max 1960); the cosine with the whole one is .89."""
    steps = np.clip(np.rint(0.498 * vectors.std(axis=1, keepdims=True)), 1, 40)
    levels = np.clip(np.floor(vectors / (2 * steps)) + 2, 0, 3).astype(np.uint8)
    levels <<= np.tile(_SHIFTS, vectors.shape[1] // 4)
    quarters = np.bitwise_or.reduce(levels.reshape(len(vectors), -1, 4), axis=2)
    return np.concatenate((steps.astype(np.uint8), quarters), axis=1)


def unpacked(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """float32[pieces, dims]: vectors of `packed`."""
    found: npt.NDArray[np.float32] = _levels(rows) * rows[:, :1]
    return found


_LEVELS: Final = ((np.arange(256)[:, None] >> _SHIFTS & 3) * 2 - 3).astype(np.float32)
"""float32[256, 4]: the numbers of each byte."""


def _levels(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    return _LEVELS[rows[:, 1:]].reshape(len(rows), 4 * (rows.shape[1] - 1))
