"""Stems of words in scripts of inflecting languages: what the keyword index has instead of them.

SQLite's ``porter`` tokenizer does this for Latin letters, by the rules of English. Which language a
word of another script is in, its letters tell well enough: the rules of Russian bring most forms of a
Ukrainian word together too, once they can read its letters. The rules are Snowball's (Porter 2001,
https://snowballstem.org).
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

_LETTERS: Final = {
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "russian": "\u0400-\u052f",
    "armenian": "\u0531-\u0587",
    "arabic": "\u0620-\u06d3\u06d5\u06ee-\u06ef\u06fa-\u06ff\u0750-\u077f\u0870-\u08c9",
    "hindi": "\u0900-\u0963\u0971-\u097f",
}
"""Letters, and the signs that belong to them, to the rules for them."""
_WORD: Final = re.compile("|".join(f"(?P<{name}>[{each}]+)" for name, each in _LETTERS.items()))
_READ_AS: Final = str.maketrans("іїєґў", "ииегу")
"""Ukrainian and Belarusian letters for the rules of Russian."""
_LONGEST: Final = 64
"""Letters of a word; what is longer is none, and stays as it is."""
_KEPT: Final = 65_536
"""Words whose stems are remembered: to find one takes some 0.05 to 0.2 ms."""
_OWN: Final = threading.local()
"""A stemmer keeps the word it is at, so each thread has its own: a lock could be held by another when
the process forks."""


def stems(text: str) -> str:
    """The text with the stems of such words, case-folded, in their place. A stem's stem may be
    another: what has been written so is not written so again."""
    return _WORD.sub(_in_text, text)


def _in_text(word: re.Match[str]) -> str:
    folded = word[0].casefold()
    return folded if len(folded) > _LONGEST else _stem(str(word.lastgroup), folded)


@lru_cache(maxsize=_KEPT)
def _stem(rules: str, word: str) -> str:
    if rules == "russian":
        word = word.translate(_READ_AS)
    return str(_stemmer(rules).stemWord(word)) or word


def _stemmer(rules: str) -> Any:
    stemmer = getattr(_OWN, rules, None)
    if stemmer is None:
        # The classes, not `snowballstemmer.stemmer`: it gives PyStemmer's where that is installed,
        # whose rules may be of another version, and one file is written by many processes.
        module = import_module(f"snowballstemmer.{rules}_stemmer")
        stemmer = getattr(module, f"{rules.capitalize()}Stemmer")()
        setattr(_OWN, rules, stemmer)
    return stemmer
