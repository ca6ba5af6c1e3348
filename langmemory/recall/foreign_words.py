"""Whether a prompt is in another language than the memories, so that no word of the two can be compared.

A text is in the language whose function words are the largest share of its words, or in the script of most of
them. That is known of the registered languages alone, and not of every short text. So a prompt is foreign
only where the memories have hardly any of its words, too: in its own language they soon have "where", "my"
and "did". Of a word in another script than Latin the script counts.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from langmemory.languages import LANGUAGES, split_words, without_marks
from langmemory.recall.vocabulary import TABLE_LANGUAGE

# Chosen on typed-fit, one-person-fit and careless-fit, see docs/decisions/085.
FUNCTION_WORDS: Final = 0.25
"""Share of the words of a text that are function words of its language, at least."""
SPOKEN: Final = 0.2
"""Share of the memories from which their language is one that the person speaks here."""
MET: Final = 1 / 3
"""Share of the words of a foreign prompt that the memories, or their languages, have, at most."""
READ_CHARACTERS: Final = 2000
"""Of a text."""


def is_foreign(prompt: str, memories: Sequence[str], is_english: Callable[[str], bool]) -> bool:
    """Return whether a prompt is in none of the languages of some memories. ``is_english`` tells of a word
    whether English has it and other languages do not."""
    asked, told = _words(prompt), list(map(_words, memories))
    known = set[str]().union(*told)
    asked_in = _language(asked)
    shared = _shared_words(asked_in, len(LANGUAGES))
    telling = [one for one in asked if one not in shared]
    unmet = [word for word in telling if word not in known]
    met, most = len(telling) - len(unmet), MET * len(asked)
    if not asked or met > most:
        return False
    counts = Counter(map(_language, told))
    spoken = {code for code, count in counts.items() if code and count >= SPOKEN * len(told)}
    if asked_in in spoken or not (asked_in or spoken):
        return False
    function_words = frozenset[str]().union(*map(_function_words, spoken))
    in_english = TABLE_LANGUAGE in spoken
    met += sum(
        word in function_words or (in_english and word.islower() and is_english(word))
        for word in unmet
    )
    return met <= most


def _words(text: str) -> list[str]:
    """The words of a text: those in Latin letters without marks, of the others the names of their scripts. A
    single letter ("qu'on m'a") is no word."""
    found = list[str]()
    for word in split_words(text[:READ_CHARACTERS]):
        if letter := next(filter(str.isalpha, word), None):
            name = "LATIN" if letter.isascii() else unicodedata.name(letter, "")
            script = name.partition(" ")[0]
            if script != "LATIN":
                found.append(script)
            elif len(word) > 1:
                found.append(without_marks(word))
    if not {"HIRAGANA", "KATAKANA"}.isdisjoint(found):  # Japanese has Chinese characters, too
        return ["HIRAGANA" if one in ("CJK", "KATAKANA") else one for one in found]
    return found


def _language(words: Sequence[str]) -> str | None:
    """The code of the language of a text, or the name of its script; None where none is the likeliest."""
    counts = Counter(filter(str.isupper, words))
    counts.update({code: sum(map(_function_words(code).__contains__, words)) for code in LANGUAGES})
    (best, most), (_, second) = counts.most_common(2)
    return best if most > second and most >= FUNCTION_WORDS * len(words) else None


@lru_cache
def _shared_words(code: str | None, languages: int) -> frozenset[str]:
    """The function words of a language that others of so many have, too: "was" tells nothing of a German
    prompt."""
    others = (_function_words(one) for one in LANGUAGES if one != code)
    return _function_words(code).intersection(frozenset().union(*others))


@lru_cache
def _function_words(code: str | None) -> frozenset[str]:
    known = LANGUAGES[code].stop_words if code is not None and code in LANGUAGES else ()
    return frozenset(map(without_marks, known))
