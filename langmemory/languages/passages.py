"""Long texts in parts: where their sentences begin, and passages of about one length."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

MOST_PASSAGES: Final = 256
"""Of one text; those of a longer one are longer."""

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？।])\s*|\n+")
_ASCII_SENTENCE_END = re.compile(r"\s(?:(?<=[.!?].)\s*|(?<=\n)\n*)", re.DOTALL)
"""As `_SENTENCE_END` in a text of ASCII, in a third of the time: it is tried at spaces alone."""


def sentence_starts(text: str) -> list[int]:
    """Where the sentences and lines of a text begin, ascending, 0 first."""
    pattern = _ASCII_SENTENCE_END if text.isascii() else _SENTENCE_END
    starts = [0, *(found.end() for found in pattern.finditer(text))]
    return starts if len(starts) == 1 or starts[-1] < len(text) else starts[:-1]


def passages(text: str, characters: int) -> list[str]:
    """A text in parts of about so many characters, in order and without a gap. They are cut where
    sentences begin, else between words. A text of up to one and a half times as many is left whole."""
    count = min(round(len(text) / characters), MOST_PASSAGES)
    if count < 2:
        return [text]
    size = len(text) / count
    starts = sentence_starts(text)
    cuts = [0]
    for number in range(1, count):
        wanted = round(number * size)
        after = bisect_left(starts, wanted)
        near = min(starts[max(after - 1, 0) : after + 1], key=lambda at: abs(at - wanted))
        if abs(near - wanted) > size / 2:
            space = text.rfind(" ", cuts[-1] + 1, wanted) + 1
            near = space if space > wanted - size / 2 else wanted
        if near > cuts[-1]:
            cuts.append(near)
    parts = (text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True))
    return [part for part in parts if not part.isspace()]
