"""Names and texts as they are compared."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from langmemory.languages import LANGUAGES, WORLDWIDE


@lru_cache(maxsize=4096)  # a recall asks for the name of everybody who speaks
def name_key(name: str) -> str:
    """A name as it is compared: case folded, without accents, articles, apostrophes, legal forms.

    Accents are left out of scripts that write them as diacritics (Latin, Greek, Cyrillic); where
    marks are letters (Thai, Devanagari, kana) they stay. Never empty for a name with a letter,
    digit or symbol in it.
    """
    folded = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(c for c in folded if not "\u0300" <= c <= "\u036f" and c not in "'’`´")
    plain = unicodedata.normalize("NFC", plain)
    words = "".join(c if c.isalnum() or c in "+#&" or _is_mark(c) else " " for c in plain).split()
    if len(words) > 1 and words[0] in LANGUAGES.everywhere.articles:
        words = words[1:]
    if len(words) > 1 and words[-1] in WORLDWIDE.legal_forms:
        words = words[:-1]
    return " ".join(words) or " ".join(plain.split())


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc")


def normalised_text(text: str) -> str:
    """Text as the fingerprint sees it: NFKC, case folded, one space between words, no final stop."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(" .!。！")
