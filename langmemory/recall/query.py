"""From a query and its intent to what the keyword index is asked."""

from __future__ import annotations

from dataclasses import dataclass

from langmemory.lexicon import keyword_terms, match_expression
from langmemory.recall.intent import Intent
from langmemory.recall.source import KeywordQuery


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """A query ready for the channels."""

    text: str
    terms: tuple[str, ...]
    """Case-folded words worth looking up, distinct, in order; at most `lexicon.MAX_TERMS`."""
    keyword: KeywordQuery | None
    """None when there is nothing to look up."""


def read_query(
    text: str, intent: Intent, *, context_weight: float, name_weight: int, expansions: str = ""
) -> Query:
    """The query to ask; ``expansions`` are further words, which only join the keyword look-up.

    Text in quotation marks is looked up as a phrase too. BM25 counts a phrase that stands n times
    in an expression n times, so names stand ``name_weight`` times: rare proper nouns decide.
    """
    terms = keyword_terms(text, intent.language)
    if intent.time_words:
        terms = tuple(term for term in terms if term not in intent.time_words)
    names = {word for name in intent.names for word in keyword_terms(name, intent.language)}
    asked = [term for term in terms for _ in range(name_weight if term in names else 1)]
    asked.extend(term for term in keyword_terms(expansions) if term not in terms)
    match = match_expression(asked, intent.phrases)
    keyword = KeywordQuery(match=match, context_weight=context_weight) if match else None
    return Query(text=text, terms=terms, keyword=keyword)
