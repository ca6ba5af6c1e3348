"""Entities in a query: the words that may be somebody's name, for the memories that speak of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from langmemory.languages import SIGNS, is_unspaced
from langmemory.recall.intent import Intent

MAX_NAMES: Final = 128
"""Names looked up for one query."""
LONGEST: Final = 3
"""Words of a name, at most; characters of one in a script without spaces: twice as many."""

_WORD = re.compile(rf"[\w{SIGNS}]+(?:[.'’&-]+[\w{SIGNS}]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")


def possible_names(text: str, intent: Intent) -> Iterator[str]:
    """Runs of one to three words of a query that may be a name, as they stand, at most `MAX_NAMES`.

    A name may be written small, so every run counts but those that begin or end with a stop word;
    whether it is one, the names that are known tell. Possessives are there without their ending.
    """
    yield from islice(dict.fromkeys(_runs(text[:2000], intent)), MAX_NAMES)


def _runs(text: str, intent: Intent) -> Iterator[str]:
    yield from intent.phrases
    words = list(_WORD.finditer(text))
    stop = [word[0].casefold() in intent.language.stop_words for word in words]
    for first, word in enumerate(words):
        if is_unspaced(word[0]):
            yield from _pieces(word[0])
        for last in range(first, min(first + LONGEST, len(words))):
            # "The Hague" is a name, "the" alone is none, nor is what ends so.
            if stop[last] or (stop[first] and (first == last or text[word.start()].islower())):
                continue
            run = text[word.start() : words[last].end()]
            bare = _POSSESSIVE.sub("", run)
            yield bare
            if bare == run and len(run) > 3 and run[-1] == "s" and run[0].isupper():
                yield run[:-1]  # "Lenas Schwester"


def _pieces(word: str) -> Iterator[str]:
    for length in range(2, 2 * LONGEST + 1):
        for start in range(len(word) - length + 1):
            yield word[start : start + length]
