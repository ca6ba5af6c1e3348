"""From a query to words worth searching for, and to an FTS5 expression that cannot be hijacked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from langmemory.languages.language import WORLDWIDE, Language
from langmemory.languages.tables import Topic
from langmemory.languages.writing import (
    is_unspaced,
    split_words,
    without_marks,
    without_particles,
)

LANGUAGES: Topic[Language] = Topic(
    Language,
    "words",
    about="stop words, question words, greetings, courtesies, and how a mail or a citation begins",
    without="the folder is no language",
)
"""By code, in order of preference where two claim a query equally."""

DETECTED_CHARACTERS = 2000
"""Of a text, by which its language is told."""
MAX_TERMS = 64
"""A query is cut to its first so many distinct words: more cost time and drown the rare ones."""


def ordinary_words(code: str) -> frozenset[str]:
    """Return the stop words, words for times and months of a language; none of them is a name."""
    language = LANGUAGES[code]
    return language.stop_words | language.temporal_words | frozenset(language.times.months)


def detect_language(text: str) -> Language:
    """The registered language whose stop words and phrases occur most, where two have as many the
    one whose words for times do, or which is written without spaces as the text is; the first when
    none do."""
    return LANGUAGES[_detected(text[:DETECTED_CHARACTERS], len(LANGUAGES))]


@lru_cache(maxsize=256)
def _detected(text: str, languages: int) -> str:
    """The code of a text's language, among so many: a query is asked for several times."""
    return max(LANGUAGES, key=_hits(text).__getitem__)


def is_surely(text: str, code: str) -> bool:
    """Whether a text is in a language, and in none that nothing is known of: a quarter of its words are stop
    words of it, two at least, and half as many again as of any other language."""
    text = text[:DETECTED_CHARACTERS]
    hits = _hits(text)
    most = max((count for one, (count, _) in hits.items() if one != code), default=0)
    least = 2 if is_unspaced(text) else max(2, len(split_words(text)) / 4)
    return hits[code][0] >= max(least, 1.5 * most)


def _hits(text: str) -> dict[str, tuple[int, int]]:
    """By code, how many stop words and words for times a text has of each language."""
    words = split_words(text)
    unspaced = is_unspaced(text)

    def hits(language: Language) -> tuple[int, int]:
        count = sum(map(language.stop_words.__contains__, words))
        times = sum(map(language.temporal_words.__contains__, words))
        if unspaced and language.phrases:
            if language.never and re.search(language.never, text):
                return 0, 0
            count += sum(phrase in text for phrase in language.phrases)
            times = 1 + sum(word in text for word in language.temporal_words)
        return count, times

    return {code: hits(language) for code, language in LANGUAGES.items()}


def is_correction(text: str) -> bool:
    """Whether somebody rejects, corrects or complains of what they were just told.

    Asked in every registered language, as such texts are too short to tell theirs. A polite no of any
    language at its beginning corrects nothing.
    """
    folded = text.casefold()
    for words in (LANGUAGES.everywhere, WORLDWIDE):
        folded = words.declines.sub("", folded, count=1)
    patterns = (*LANGUAGES.everywhere.corrections, *WORLDWIDE.corrections)
    return any(re.search(pattern, folded) for pattern in patterns)


def keyword_terms(
    query: str, language: Language | None = None, *, limit: int = MAX_TERMS
) -> tuple[str, ...]:
    """Distinct words of a query worth looking up, in order, at most ``limit``.

    Stop words of the query's language are left out, unless nothing else would be left; of Japanese, particles
    and most of an ending.
    """
    language = language or detect_language(query)
    spoken = without_particles(query)
    if language.phrases and is_unspaced(query):
        for phrase in language.phrases:
            spoken = spoken.replace(phrase, " ")
    words = dict.fromkeys(w for w in split_words(spoken) if w not in language.stop_words)
    if not words:
        words = dict.fromkeys(split_words(query))
    return tuple(words)[:limit]


SHORTEST_STEM = 4
"""Letters that are left of a word without its ending; one less where the ending has three."""
MAX_FORMS = 256
"""Forms of all words of a query."""


def word_forms(terms: Iterable[str], language: Language) -> tuple[str, ...]:
    """Other forms and spellings of the terms in their language, at most `MAX_FORMS`."""
    forms: dict[str, None] = {}
    for term in terms:
        if is_unspaced(term) or not term.isalpha():
            continue
        found = {term, *_inflected(without_marks(term), language.endings)}
        for letter, spelling in language.spellings.items():
            found.add(term.replace(letter, spelling))
            # Marks are nothing to the keyword index: "kuche" finds "Küche".
            bare = without_marks(letter)
            found |= {form.replace(spelling, bare) for form in list(found) if spelling in form}
        forms |= dict.fromkeys(sorted(found - {term}))
    return tuple(forms)[:MAX_FORMS]


def _inflected(word: str, endings: tuple[str, ...]) -> list[str]:
    """The word with every ending in place of its own."""
    for ending in sorted(endings, key=len, reverse=True):
        stem = word.removesuffix(ending)
        if word.endswith(ending) and len(stem) >= SHORTEST_STEM - (len(ending) >= 3):
            return [stem + other for other in endings]
    return []
