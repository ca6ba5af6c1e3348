"""What a long message asks: its question, where that stands at the end or the beginning.

People paste a letter, an article or a log and ask something before or after it. Looked up as a whole,
such a message finds what is like the paste; what the question is about is lost in it.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from langmemory.lexicon import detect_language, sentence_starts, split_words

LONG_CHARACTERS: Final = 600
"""A longer message is no mere question."""
PART_CHARACTERS: Final = 400
"""How far from its end or beginning the question of a long message is looked for."""
ENOUGH_WORDS: Final = 2
"""Words besides stop words that a question needs to be looked up alone: "Should I accept?" is about
the rest of the message."""

_MARK = re.compile("[?？؟]")


def asked_in(message: str) -> str:
    """What a long message asks at its beginning and its end; the message itself where it is short, or
    asks nothing there."""
    if len(message) <= LONG_CHARACTERS:
        return message
    text = message.strip()
    asked = (*_asking(text[:PART_CHARACTERS], -1), *_asking(text[-PART_CHARACTERS:], 0))
    question = "\n".join(dict.fromkeys(asked))
    return question if _tells(question) else message


def _tells(question: str) -> bool:
    """Whether it has words enough that are no stop words."""
    words = set(split_words(question)) - detect_language(question).stop_words
    return len(words) >= ENOUGH_WORDS


def _asking(part: str, cut: int) -> list[str]:
    """The lines of a part that ask something; of the line that may be cut off, the first (0) or the
    last (-1), only whole sentences that do."""
    lines = part.split("\n")
    starts = sentence_starts(lines[cut])
    sentences = [lines[cut][start:end] for start, end in pairwise([*starts, len(lines[cut])])]
    whole = (sentences[1:] if cut == 0 else sentences[:-1]) or sentences
    lines[cut] = " ".join(filter(_MARK.search, whole))
    return [line.strip() for line in lines if _MARK.search(line)]
