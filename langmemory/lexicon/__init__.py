"""Words: the languages langmemory knows, and how text becomes searchable tokens.

The storage engine writes keyword bodies with `index_text`; recall builds queries with
`keyword_terms` and `match_expression`. No SQL, no models, no dependency on the rest of langmemory.
"""

from __future__ import annotations

from langmemory.lexicon.chinese import CHINESE
from langmemory.lexicon.courtesies import WORLDWIDE
from langmemory.lexicon.english import ENGLISH
from langmemory.lexicon.german import GERMAN
from langmemory.lexicon.language import Edge, Language, Question, Unit, primary
from langmemory.lexicon.matching import (
    LANGUAGES,
    detect_language,
    is_correction,
    keyword_terms,
    match_expression,
    register,
    word_forms,
)
from langmemory.lexicon.passages import passages, sentence_starts
from langmemory.lexicon.spanish import SPANISH
from langmemory.lexicon.writing import (
    SIGNS,
    compared,
    index_text,
    is_unspaced,
    split_words,
    without_marks,
)

__all__ = [
    "CHINESE",
    "ENGLISH",
    "GERMAN",
    "LANGUAGES",
    "SIGNS",
    "SPANISH",
    "WORLDWIDE",
    "Edge",
    "Language",
    "Question",
    "Unit",
    "compared",
    "detect_language",
    "index_text",
    "is_correction",
    "is_unspaced",
    "keyword_terms",
    "match_expression",
    "passages",
    "primary",
    "register",
    "sentence_starts",
    "split_words",
    "without_marks",
    "word_forms",
]
