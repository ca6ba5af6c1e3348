"""From a query and its intent to what the keyword index is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from langmemory.languages import (
    Question,
    keyword_terms,
    word_forms,
)
from langmemory.languages.matching import MAX_TERMS
from langmemory.ports.candidates import KeywordQuery
from langmemory.recall.intent import Intent
from langmemory.recall.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """A query ready for the channels."""

    text: str
    terms: tuple[str, ...]
    """Case-folded words worth looking up, distinct, in order; of a long text the rarest."""
    keyword: KeywordQuery | None
    """None when there is nothing to look up."""
    category_terms: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Words that a term is met by as well: things of the kind it names, a model's expansions."""
    category_keyword: KeywordQuery | None = None
    """Looks up the words of `category_terms`; it only adds candidates."""


_POSSESSIVE = re.compile(r"['’]s?$")
MAX_CATEGORY_TERMS = 96
"""Words of one look-up by category."""
NO_KIND: frozenset[Question] = frozenset(("when", "who", "why", "how"))
"""Questions that ask for something other than a kind they name: nothing is looked up for these
(R@10 is the same with and without them)."""
READ_TERMS = 512
"""Words that are read of a text."""


def read_query(
    text: str,
    intent: Intent,
    *,
    expansions: str = "",
    vocabulary: Vocabulary | None = None,
) -> Query:
    """The query to ask; ``expansions`` are further words, which stand for every term.

    Text in quotation marks is looked up as a phrase too.
    """
    if vocabulary is None:
        terms = keyword_terms(text, intent.language)
    else:
        words = keyword_terms(text, intent.language, limit=READ_TERMS)
        terms = vocabulary.rarest(words, MAX_TERMS)
    if called := _stop_names(intent):
        terms = tuple(dict.fromkeys((*called, *terms)))
    if intent.time_words:
        terms = tuple(term for term in terms if term not in intent.time_words)
    kinds = intent.language.kinds
    category_terms = {term: kinds[term] for term in terms if term in kinds}
    further = frozenset(keyword_terms(expansions)).difference(terms) if expansions else frozenset()
    if further:
        names = {word for name in intent.names for word in keyword_terms(name, intent.language)}
        category_terms = {
            term: further | category_terms.get(term, frozenset())
            for term in terms
            if term not in names
        }
    every = (further, *category_terms.values())
    category = dict.fromkeys(word for words in every for word in sorted(words))

    asks_kind = bool(further) or not intent.asks & NO_KIND

    def look_up(
        words: Iterable[str], phrases: Iterable[str] = (), forms: tuple[str, ...] = ()
    ) -> KeywordQuery | None:
        found = tuple(filter(_is_word, words)), tuple(filter(_is_word, phrases))
        if not any(found):
            return None
        return KeywordQuery(terms=found[0], phrases=found[1], forms=forms)

    return Query(
        text=text,
        terms=terms,
        keyword=look_up(terms, intent.phrases, word_forms(terms, intent.language)),
        category_terms=category_terms,
        category_keyword=look_up(islice(category, MAX_CATEGORY_TERMS)) if asks_kind else None,
    )


def _is_word(text: str) -> bool:
    """Whether a keyword index keeps anything of a text."""
    return any(map(str.isalnum, text))


def _stop_names(intent: Intent) -> list[str]:
    """Stop words that are names in this query: "What does Will like?"."""
    names = (_POSSESSIVE.sub("", name.casefold()) for name in intent.names)
    return [name for name in names if name in intent.language.stop_names]
