"""What a message asks, without what stands around it.

People paste a letter, an article or a log and ask something before or after it. Looked up as a whole,
such a message finds what is like the paste; what the question is about is lost in it. And they are
polite: "Good morning! Could you tell me …? Thanks a lot!" has more words for that than for what is asked.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from langmemory.lexicon import LANGUAGES, detect_language, sentence_starts, split_words
from langmemory.recall.patterns import compiled

LONG_CHARACTERS: Final = 600
"""A longer message is no mere question."""
PART_CHARACTERS: Final = 400
"""How far from its end or beginning the question of a long message is looked for."""
ENOUGH_WORDS: Final = 2
"""Words besides stop words that a question needs to be looked up alone: "Should I accept?" is about
the rest of the message."""

_MARK = re.compile("[?？؟]")


def asked_in(message: str) -> str:
    """What a message asks: of a long one the questions at its beginning and its end, of any what is said
    besides courtesies; the message itself where it asks nothing there, or nothing is left."""
    if len(message) > LONG_CHARACTERS:
        text = message.strip()
        parts = (*_asking(text[:PART_CHARACTERS], -1), *_asking(text[-PART_CHARACTERS:], 0))
        question = "\n".join(dict.fromkeys(parts))
        return _bare(question) if len(_telling(question)) >= ENOUGH_WORDS else message
    return _bare(message)


def _bare(question: str) -> str:
    """The question without courtesies in any language, unless it is nothing else: what is left of one
    may be too short to tell its own."""
    bare = without_courtesies(question)
    return bare if bare == question or _telling(bare) else question


def without_courtesies(message: str) -> str:
    """A message without the courtesies of any language."""
    small = message.lower()
    for language in LANGUAGES.values():
        for piece, pattern in language.courtesies.items():
            if piece in small and (courtesy := compiled(f"(?i){pattern}")).search(message):
                message = " ".join(courtesy.sub(" ", message).split())
    return message


def _telling(question: str) -> set[str]:
    """The words that are no stop words."""
    return set(split_words(question)) - detect_language(question).stop_words


def _asking(part: str, cut: int) -> list[str]:
    """The lines of a part that ask something; of the line that may be cut off, the first (0) or the
    last (-1), only whole sentences that do."""
    lines = part.split("\n")
    starts = sentence_starts(lines[cut])
    sentences = [lines[cut][start:end] for start, end in pairwise([*starts, len(lines[cut])])]
    whole = (sentences[1:] if cut == 0 else sentences[:-1]) or sentences
    lines[cut] = " ".join(filter(_MARK.search, whole))
    return [line.strip() for line in lines if _MARK.search(line)]
