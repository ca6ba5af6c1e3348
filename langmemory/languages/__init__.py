"""Words: the languages langmemory knows, and how text becomes searchable tokens.

The storage engine writes keyword bodies with `index_text`; recall builds queries with
`keyword_terms`. No SQL, no models, no dependency on the rest of langmemory.
"""

from __future__ import annotations

from langmemory.languages.language import WORLDWIDE, Language, Question, primary
from langmemory.languages.matching import (
    LANGUAGES,
    detect_language,
    is_correction,
    is_surely,
    keyword_terms,
    ordinary_words,
    word_forms,
)
from langmemory.languages.passages import passages, sentence_starts
from langmemory.languages.tables import Topic, add_language
from langmemory.languages.temporal.words import Edge
from langmemory.languages.word_order import WordOrder
from langmemory.languages.writing import (
    SIGNS,
    compared,
    index_text,
    is_unspaced,
    split_words,
    without_marks,
)

__all__ = [
    "LANGUAGES",
    "SIGNS",
    "WORLDWIDE",
    "Edge",
    "Language",
    "Question",
    "Topic",
    "WordOrder",
    "add_language",
    "compared",
    "detect_language",
    "index_text",
    "is_correction",
    "is_surely",
    "is_unspaced",
    "keyword_terms",
    "ordinary_words",
    "passages",
    "primary",
    "sentence_starts",
    "split_words",
    "without_marks",
    "word_forms",
]
