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
from dataclasses import dataclass
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
MOST_KEPT: Final = 40_000
"""Words of which the pieces are kept."""


Pieces = npt.NDArray[np.uint32]
"""uint32[n]: rows of the table of other languages."""


@dataclass(frozen=True, slots=True)
class Word:
    """What other languages make of a run of characters."""

    vote: int
    """Above 0 for another language, below for English; `ELSEWHERE` for another script."""
    pieces: bytes
    """uint32 each, of the table of other languages; none where it has no letter."""
    elsewhere: bool
    """Whether it is written in another script than Latin."""


_NOTHING: Final = Word(0, b"", elsewhere=False)


class ForeignTable:
    """The vectors of pieces, and what words they make. Read-only but for what it keeps of words.

    Args:
        english: the words that are one token of the English table.
    """

    def __init__(self, english: Iterable[str]) -> None:
        self._english = frozenset(english)
        self._kept: dict[str, Word] = {}
        self._votes: dict[str, int] = {}
        data = files("langmemory.embeddings") / "data"
        pieces = (data / "pieces.txt").read_text(encoding="utf-8").split("\n")
        self._ids = {piece: id_ for id_, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces))
        with (data / "pieces.npy").open("rb") as file:
            self._packed = np.load(file, allow_pickle=False)

    def split(self, runs: list[str]) -> tuple[Pieces, list[str]] | None:
        """The pieces of words of other languages in a text, and the runs that the English table reads; None
        where it reads all of them."""
        known = self._votes  # what is known now stays there, whatever is given up meanwhile
        new = {run: self._word(run).vote for run in set(runs).difference(known)}
        if sum([new[run] if run in new else known[run] for run in runs]) <= 0:
            return None
        words = list(map(self._word, runs))
        foreign = sum(word.vote for word in words if not word.elsewhere) > 0
        taken = [bool(word.pieces) and (foreign or word.elsewhere) for word in words]
        pieces = b"".join(word.pieces for word, one in zip(words, taken, strict=True) if one)
        rest = [run for run, one in zip(runs, taken, strict=True) if not one]
        return np.frombuffer(pieces, np.uint32), rest

    def added(self, pieces: Pieces) -> npt.NDArray[np.float32]:
        """float32[dims]: the sum of the vectors of some thousand pieces at most, exact, on the scale of the
        English table."""
        rows = self._packed[pieces]
        found: npt.NDArray[np.float32] = rows[:, 0].astype(np.float32) @ _levels(rows)
        return found

    def language(self, runs: list[str]) -> str:
        """A name for what a text is written in: "" for English and where it cannot be told, "LATIN" for
        another language of that script, else the script of its first word in another one."""
        words = list(map(self._word, runs))
        if sum(word.vote for word in words if not word.elsewhere) > 0:
            return "LATIN"
        other = next((run for run, word in zip(runs, words, strict=True) if word.elsewhere), "")
        letter = _OTHER_SCRIPT.search(other)
        script = unicodedata.name(letter[0], "").split(" ")[0] if letter else ""
        return "CJK" if script in ("HIRAGANA", "KATAKANA") else script

    def _word(self, run: str) -> Word:
        found = self._kept.get(run)
        if found is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept, self._votes = {}, {}  # others may still read the old ones
            found = self._kept[run] = self._read(run)
            self._votes[run] = found.vote
        return found

    def _read(self, run: str) -> Word:
        words = [word for word in whole_words(run.lower()) if not word.isdecimal()]
        if not words:
            return _NOTHING
        vote = 0
        ids: list[int] = []
        for word in words:
            here, there = word in self._english, _START + word in self._ids
            vote += 1 if not word.isascii() else there - here
            if there or not here:
                ids += self._pieces(_START + word)
        elsewhere = any(_OTHER_SCRIPT.search(word) for word in words)
        return Word(ELSEWHERE if elsewhere else vote, np.array(ids, np.uint32).tobytes(), elsewhere)

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
