"""Names and texts as they are compared."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from langmemory.languages import LANGUAGES, WORLDWIDE


@lru_cache(maxsize=4096)  # a recall asks for the name of everybody who speaks
def name_key(name: str) -> str:
    """A name as it is compared: case folded, without accents, articles, apostrophes, legal forms.

    Accents are left out of scripts that write them as diacritics (Latin, Greek, Cyrillic); where
    marks are letters (Thai, Devanagari, kana) they stay. Never empty for a name with a letter,
    digit or symbol in it.
    """
    folded = unicodedata.normalize("NFKD", name).casefold()
    plain = unicodedata.normalize("NFC", folded.translate(_UNMARKED))
    words = plain.translate(_WORDS).split()
    if len(words) > 1 and words[0] in LANGUAGES.everywhere.articles:
        words = words[1:]
    if len(words) > 1 and words[-1] in WORLDWIDE.legal_forms:
        words = words[:-1]
    return " ".join(words) or " ".join(plain.split())


_UNMARKED: Final = dict.fromkeys((*range(0x300, 0x370), *map(ord, "'’`´")))
"""Diacritics and apostrophes, which are left out."""


class _Words(dict[int, int]):
    """Letters, digits, marks and "+#&" as they are, a space for whatever else."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        is_mark = unicodedata.category(character) in ("Mn", "Mc")
        self[code] = code if character.isalnum() or character in "+#&" or is_mark else ord(" ")
        return self[code]


_WORDS: Final = _Words()


def normalised_text(text: str) -> str:
    """Text as the fingerprint sees it: NFKC, case folded, one space between words, no final stop."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(" .!。！")
