"""The relations a question asks for: "Where does Lena work?" for `works_at` and `works_as`, of Lena.

One word may ask for several relations. Words are read from whom the question names to the answer:
"mother" asks for `child_of`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from langmemory.formation.relations.vocabulary import BY_NAME, PLANNED, WORDS
from langmemory.languages import is_unspaced, without_marks
from langmemory.types import NO_LONGER

MOST_NAMED: Final = 16
"""Relations named by a model that one question asks for."""

FIRST_PERSON: Final = frozenset(verb for words in WORDS.values() for verb in words.first_person)
"""Verbs by which somebody speaks of themselves without a pronoun."""

_PHRASES: Final = {
    phrase: names for words in WORDS.values() for phrase, names in words.several.items()
}
"""Of several words, which ask for nothing else then."""

_ASKED: defaultdict[str, list[str]] = defaultdict(list)
for _words in WORDS.values():
    for _relation, _asking in _words.asked.items():
        for _word in map(without_marks, _asking):
            if _relation not in _ASKED[_word]:
                _ASKED[_word].append(_relation)
FRAME: Final = frozenset(without_marks(word) for words in WORDS.values() for word in words.frame)
"""Words that ask what something is called, or whether now or before: they do not tell claims apart."""
FAVOURITE: Final = frozenset(
    without_marks(word) for words in WORDS.values() for word in words.favourite
)
_UNSPACED: Final = tuple(word for word in (*_ASKED, *FRAME, *FAVOURITE) if is_unspaced(word))


def relations_asked(
    text: str, terms: Sequence[str], used: Iterable[str] = ()
) -> dict[str, frozenset[str]]:
    """The relations that the ``terms`` of a question ask for, and by which of these each.

    Those ``used``, as a model may have named them, are asked for by the words they are made of:
    "gym" for ``goes_to_gym``; those with the most of the words, at most `MOST_NAMED`.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    folded = text.casefold()
    phrases = [one for one in _PHRASES if one in folded]
    for term in terms:
        within = [_PHRASES[one].split() for one in phrases if term in one.split()]
        for relations in within or [_ASKED.get(word, []) for word in _words_in(term)]:
            for relation in relations:
                found[relation].add(term)
    plain = plain_words(terms)
    named: dict[str, set[str]] = {}
    for relation in used:
        if relation not in BY_NAME and not relation.startswith((NO_LONGER, PLANNED)):
            words = map(_singular, relation.split("_"))
            if asking := {plain[word] for word in words if word in plain}:
                named[relation] = asking
    found |= dict(sorted(named.items(), key=lambda one: (-len(one[1]), one[0]))[:MOST_NAMED])
    if favoured := {term for term in terms if FAVOURITE.intersection(_words_in(term))}:
        for term in set(terms) - favoured:
            what = "colour" if term == "color" else term
            found[f"favourite_{what}"] = {*favoured, term}
    return {relation: frozenset(words) for relation, words in found.items()}


def plain_words(terms: Iterable[str]) -> dict[str, str]:
    """The terms by what of them may be in the name of a relation: without marks, in the singular."""
    return {_singular(without_marks(term)): term for term in terms}


def framing(terms: Iterable[str]) -> frozenset[str]:
    """Those of the words that are of `FRAME`."""
    return frozenset(term for term in terms if FRAME.intersection(_words_in(term)))


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _words_in(term: str) -> list[str]:
    """A term as the tables have it: without marks; of a script without spaces the words it is part of
    or has in it, since its terms are pairs of characters."""
    bare = without_marks(term)
    if not is_unspaced(term):
        return [bare]
    return [word for word in _UNSPACED if word in bare or (len(bare) > 1 and bare in word)]
