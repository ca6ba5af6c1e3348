"""Fits: which messages of the bus are what a subscription asks for in words of its own.

No vector of them is stored: there are few subscriptions, and messages expire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langmemory.languages import detect_language, keyword_terms, split_words, word_forms
from langmemory.ledger.indexing import Indexing
from langmemory.types import BusMessage


def fitting(
    indexing: Indexing,
    messages: Mapping[int, BusMessage],
    queries: Mapping[int, tuple[str, float]],
) -> list[tuple[int, int]]:
    """Return which queries which messages fit, as (query, message): where the cosine of the query and of
    topic and summary is what the query asks for at least; without an embedder where topic, summary or
    details have a word of the query.

    Not to be called within a transaction: the embedder may take its time.

    Raises:
        EmbeddingError: The embedder failed.
    """
    if not messages or not queries:
        return []
    embedder = indexing.embedder
    if embedder is None or not indexing.semantic:
        words = {number: _words(one) for number, one in messages.items()}
        return [
            (query, number)
            for query, (asked, _) in queries.items()
            for number, said in words.items()
            if _forms(asked) & said
        ]
    vectors = embedder.embed_documents([_said(one) for one in messages.values()])
    found = []
    for query, (asked, least) in queries.items():
        cosines: Sequence[float] = (vectors @ embedder.embed_query(asked)).tolist()
        found += [
            (query, number)
            for number, cosine in zip(messages, cosines, strict=True)
            if cosine >= least
        ]
    return found


def _said(message: BusMessage) -> str:
    return f"{message.topic}: {message.summary}" if message.topic else message.summary


def _words(message: BusMessage) -> set[str]:
    return set(split_words(f"{message.topic or ''}\n{message.summary}\n{message.details}"))


def _forms(query: str) -> set[str]:
    """Return the words of a query, stop words aside, in all their forms."""
    language = detect_language(query)
    terms = keyword_terms(query, language)
    return {*terms, *word_forms(terms, language)}
