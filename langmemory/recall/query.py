"""From a query and its intent to what the keyword index is asked, and the names it may have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from langmemory.languages import (
    SIGNS,
    is_unspaced,
    keyword_terms,
    word_forms,
)
from langmemory.languages.matching import MAX_TERMS
from langmemory.ports.candidates import KeywordQuery
from langmemory.recall.identifiers import Identifier, identifiers, joined_words, phrases
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
    identifiers: Sequence[Identifier] = ()


_POSSESSIVE = re.compile(r"['’]s?$")
READ_TERMS = 512
"""Words that are read of a text."""
MAX_NAMES: Final = 128
"""Names looked up for one query."""
LONGEST: Final = 3
"""Words of a name, at most; characters of one in a script without spaces: twice as many."""

_WORD = re.compile(rf"[\w{SIGNS}]+(?:[.'’&-]+[\w{SIGNS}]+)*")


def read_query(
    text: str,
    intent: Intent,
    *,
    vocabulary: Vocabulary | None = None,
    keywords: bool = True,
) -> Query:
    """The query to ask; without ``keywords`` nothing is looked up by words. Text in quotation marks is
    looked up as a phrase too."""
    if vocabulary is None:
        terms = keyword_terms(text, intent.language)
    else:
        words = keyword_terms(text, intent.language, limit=READ_TERMS)
        terms = vocabulary.rarest(words, MAX_TERMS)
    # Stop words that are names in this query: "What does Will like?".
    names = (_POSSESSIVE.sub("", name.casefold()) for name in intent.names)
    if called := [name for name in names if name in intent.language.stop_names]:
        terms = tuple(dict.fromkeys((*called, *terms)))
    if intent.time_words:
        terms = tuple(term for term in terms if term not in intent.time_words)
    # Of several lines, the last one asks: "And 431?" goes on from another number.
    last = text.rpartition("\n")[2]
    asked = identifiers(last, intent.language)
    if not asked and last != text:
        asked = identifiers(text, intent.language)
    words = tuple(filter(_is_word, terms))
    together = tuple(filter(_is_word, (*intent.phrases, *phrases(asked))))
    keyword = None
    if keywords and (words or together):
        forms = (*word_forms(terms, intent.language), *joined_words(asked))
        keyword = KeywordQuery(terms=words, phrases=together, forms=forms)
    return Query(text=text, terms=terms, keyword=keyword, identifiers=asked)


def _is_word(text: str) -> bool:
    """Whether a keyword index keeps anything of a text."""
    return any(map(str.isalnum, text))


def possible_names(text: str, intent: Intent) -> Iterator[str]:
    """Yield runs of one to three words of a query that may be a name, as they stand, at most `MAX_NAMES`.

    A name may be written small, so every run counts but those that begin or end with a stop word;
    whether it is one, the names that are known tell. Possessives are there without their ending.
    """
    yield from islice(dict.fromkeys(_runs(text[:2000], intent)), MAX_NAMES)


def _runs(text: str, intent: Intent) -> Iterator[str]:
    yield from intent.phrases
    words = list(_WORD.finditer(text))
    stop = [word[0].casefold() in intent.language.stop_words for word in words]
    for first, word in enumerate(words):
        if is_unspaced(word[0]):
            yield from _pieces(word[0])
        for last in range(first, min(first + LONGEST, len(words))):
            # "The Hague" is a name, "the" alone is none, nor is what ends so.
            if stop[last] or (stop[first] and (first == last or text[word.start()].islower())):
                continue
            run = text[word.start() : words[last].end()]
            bare = _POSSESSIVE.sub("", run)
            yield bare
            if bare == run and len(run) > 3 and run[-1] == "s" and run[0].isupper():
                yield run[:-1]  # "Lenas Schwester"


def _pieces(word: str) -> Iterator[str]:
    for length in range(2, 2 * LONGEST + 1):
        for start in range(len(word) - length + 1):
            yield word[start : start + length]
