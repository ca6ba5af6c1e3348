"""The relations a question asks for: "Where does Lena work?" for `works_at` and `works_as`, of Lena.

One word may ask for several relations. Words are read from whom the question names to the answer:
"mother" asks for `child_of`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from langmemory.formation.relations.vocabulary import BY_NAME, PLANNED, WORDS
from langmemory.languages import is_unspaced, without_marks
from langmemory.types import NO_LONGER

MOST_NAMED: Final = 16
"""Relations named by a model that one question asks for."""


@cache
def first_person() -> frozenset[str]:
    """Return verbs by which somebody speaks of themselves without a pronoun."""
    return frozenset(verb for words in WORDS.values() for verb in words.first_person)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asking:
    """What words of questions ask for, in all languages; words without marks."""

    phrases: Mapping[str, str]
    """Of several words, which ask for nothing else then."""
    asked: Mapping[str, list[str]]
    frame: frozenset[str]
    """Words that ask what something is called, or whether now or before: they do not tell claims apart."""
    favourite: frozenset[str]
    unspaced: tuple[str, ...]


@cache
def _asking() -> _Asking:
    every = WORDS.values()
    asked: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for words in every:
        for relation, asking in words.asked.items():
            for word in map(without_marks, asking):
                asked[word][relation] = None
    frame = frozenset(without_marks(word) for words in every for word in words.frame)
    favourite = frozenset(without_marks(word) for words in every for word in words.favourite)
    return _Asking(
        phrases={phrase: names for words in every for phrase, names in words.several.items()},
        asked={word: [*relations] for word, relations in asked.items()},
        frame=frame,
        favourite=favourite,
        unspaced=tuple(word for word in (*asked, *frame, *favourite) if is_unspaced(word)),
    )


def relations_asked(
    text: str, terms: Sequence[str], used: Iterable[str] = ()
) -> dict[str, frozenset[str]]:
    """The relations that the ``terms`` of a question ask for, and by which of these each.

    Those ``used``, as a model may have named them, are asked for by the words they are made of:
    "gym" for ``goes_to_gym``; those with the most of the words, at most `MOST_NAMED`.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    folded, asking = text.casefold(), _asking()
    phrases = [one for one in asking.phrases if one in folded]
    for term in terms:
        within = [asking.phrases[one].split() for one in phrases if term in one.split()]
        for relations in within or [asking.asked.get(word, []) for word in _words_in(term)]:
            for relation in relations:
                found[relation].add(term)
    plain = plain_words(terms)
    named: dict[str, set[str]] = {}
    for relation in used:
        if relation not in BY_NAME and not relation.startswith((NO_LONGER, PLANNED)):
            words = map(_singular, relation.split("_"))
            if these := {plain[word] for word in words if word in plain}:
                named[relation] = these
    found |= dict(sorted(named.items(), key=lambda one: (-len(one[1]), one[0]))[:MOST_NAMED])
    if favoured := {term for term in terms if asking.favourite.intersection(_words_in(term))}:
        for term in set(terms) - favoured:
            what = "colour" if term == "color" else term
            found[f"favourite_{what}"] = {*favoured, term}
    return {relation: frozenset(words) for relation, words in found.items()}


def plain_words(terms: Iterable[str]) -> dict[str, str]:
    """The terms by what of them may be in the name of a relation: without marks, in the singular."""
    return {_singular(without_marks(term)): term for term in terms}


def framing(terms: Iterable[str]) -> frozenset[str]:
    """Those of the words that ask what something is called, or whether now or before."""
    frame = _asking().frame
    return frozenset(term for term in terms if frame.intersection(_words_in(term)))


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _words_in(term: str) -> list[str]:
    """A term as the tables have it: without marks; of a script without spaces the words it is part of
    or has in it, since its terms are pairs of characters."""
    bare = without_marks(term)
    if not is_unspaced(term):
        return [bare]
    return [word for word in _asking().unspaced if word in bare or (len(bare) > 1 and bare in word)]
