"""The first look into a namespace that holds what was said and documents: which of them answers a question.

Ranked as one pool, each layer takes places of the other: among 20,000 parts of documents 40 candidates leave
little room for 2,000 turns. So each is ranked by itself, and what both cost is saved where the best finds of
the words and of the vectors tell already that one of them does not answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Final, NamedTuple, Protocol, Self

from langmemory.ids import are_in, distinct
from langmemory.languages import detect_language, keyword_terms, word_forms
from langmemory.ports.candidates import NOTHING, Floats, Ids, KeywordQuery, ScoredIds
from langmemory.recall.layers import asks_for

FINDS: Final = 200
"""Of each channel that are looked at."""
INTERCEPT: Final = -2.4
WORDS_WEIGHT: Final = 3.0
MEANING_WEIGHT: Final = 8.0
PEOPLE_WEIGHT: Final = -1.5
DOCUMENTS_WEIGHT: Final = 2.0
"""Of the log odds that documents answer, see `first_look`."""


class LayeredSource(Protocol):
    """What a first look asks of a source, see `CandidateSource`."""

    def dense(self, vector: Floats, limit: int) -> ScoredIds: ...

    def keyword(self, query: KeywordQuery, limit: int) -> ScoredIds: ...

    def documents_among(self, ids: Ids) -> Ids:
        """Return those of the items that are documents or parts of them."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstLook:
    """What the channels tell of the layers."""

    share: float
    """The probability, 0..1, that documents answer a question rather than what was said."""
    said: ScoredIds
    """The nearest of what was said, as far as it is among the first finds of both ..."""
    written: ScoredIds
    """... and the nearest parts of documents."""


def first_look(question: str, source: LayeredSource, vector: Floats | None) -> FirstLook:
    """Return which layer of a namespace a question is for: by the difference in the logarithms of the best
    BM25 scores, that of the best cosines, and the words of the question. ``vector`` is that of the question,
    None where words alone are asked."""
    by_words, by_meaning = NOTHING, NOTHING
    language = detect_language(question)
    if terms := keyword_terms(question, language):
        asked = KeywordQuery(terms=tuple(terms), forms=tuple(word_forms(terms, language)))
        by_words = source.keyword(asked, FINDS)
    if vector is not None:
        by_meaning = source.dense(vector, FINDS)
    documents = source.documents_among(distinct(by_words.ids, by_meaning.ids))
    words, meaning = _Layers.of(by_words, documents), _Layers.of(by_meaning, documents)
    asks_people, asks_documents = asks_for(question)
    odds = INTERCEPT + WORDS_WEIGHT * (log(1 + words.best_written) - log(1 + words.best_said))
    odds += MEANING_WEIGHT * (meaning.best_written - meaning.best_said)
    odds += PEOPLE_WEIGHT * asks_people + DOCUMENTS_WEIGHT * asks_documents
    return FirstLook(share=1 / (1 + exp(-odds)), said=meaning.said, written=meaning.written)


class _Layers(NamedTuple):
    """The finds of a channel by layer. A layer that is not among so many finds is at most as good as the
    last of them."""

    said: ScoredIds
    written: ScoredIds
    lowest: float

    @classmethod
    def of(cls, found: ScoredIds, documents: Ids) -> Self:
        written = are_in(found.ids, documents)
        lowest = float(found.scores[-1]) if len(found.ids) >= FINDS else 0.0
        said, wrote = (ScoredIds(found.ids[one], found.scores[one]) for one in (~written, written))
        return cls(said, wrote, max(lowest, 0.0))

    @property
    def best_said(self) -> float:
        return float(self.said.scores.max(initial=self.lowest))

    @property
    def best_written(self) -> float:
        return float(self.written.scores.max(initial=self.lowest))
