"""Spelling: words of a query that nothing in its scope holds, read as what was probably meant.

Most slips of the keyboard are one letter too many, too few or wrong, or two in each other's place
(Damerau 1964). All words that are one slip away from an unknown one, some 500, are looked up at once
(Norvig 2007): typed words are mended before they are stemmed, which no distance between stems does
("runnign"). What is right as far as the embedded table knows English stays as it is: it may still be
like something, and "Lina" is not "Lena".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

import numpy as np

from langmemory.languages import LANGUAGES, Language, split_words, without_marks, word_forms
from langmemory.ports.candidates import WordSource
from langmemory.recall.intent import Intent
from langmemory.recall.vocabulary import Vocabulary, table_words

SHORTEST: Final = 5
"""Letters from which a word is looked at, as in Meilisearch: of four letters, too many are one slip from
another word."""
LONGEST: Final = 24
SHORTEST_TOKEN: Final = 4
"""Letters of what is looked up instead, as the index has it."""
SHORTEST_PART: Final = 3
"""Letters of the parts of two words without a space between them."""
MOST_WORDS: Final = 8
"""Words of a query that are mended."""
MOST_MEANT: Final = 3
"""Words that a word may mean, if they are equally near."""
_MAX_LENGTH: Final = 2000
"""Characters of a query that are looked at."""

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_WORD = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f])+")
"""Some keyboards write "ü" as u and two dots."""
_CODE = re.compile(r"(?<!\S)\S*(?:[\d_@/\\=<>{}#`]|\w[.:]\w|[^\W\d_A-Z][A-Z])\S*")
"""Text between spaces that is no prose: numbers, names in programs, addresses."""
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»')

Meant = Mapping[str, tuple[str, ...]]
"""Words as typed, case-folded, and the words they may mean."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spelling:
    """A query as it is looked up."""

    text: str
    meant: Meant = field(default_factory=dict)


def correct_spelling(
    text: str, intent: Intent, source: WordSource, vocabulary: Vocabulary
) -> Spelling:
    """The query with other words for those of `SHORTEST` letters and more that nothing in the
    namespace holds, where something in scope holds a word near one.

    The first letter counts as right, as usual (Lucene's DirectSpellChecker). Numbers, names in
    programs, addresses and what stands in quotation marks stay. Latin letters only.
    """
    places = list(_places(text[:_MAX_LENGTH], intent.language))
    typed = list(dict.fromkeys(word for _, word in places))
    known = source.known(typed) if typed else {}
    unknown = [word for word in typed if word not in known][:MOST_WORDS]
    if not unknown:
        return Spelling(text=text)
    # Only where it is seen to be English: a text in a language that nothing is known of counts as such.
    english = intent.language.code == "en" and any(
        word in intent.language.stop_words for word in split_words(text[:_MAX_LENGTH])
    )
    names = {without_marks(name.casefold()) for name in intent.names}
    meant: dict[str, tuple[str, ...]] = {}
    for word, stem in zip(unknown, source.stems(unknown), strict=True):
        right = _is_right(word, stem, intent.language, source)
        near = [_other_spellings(word), *([] if right else _slips(word))]
        found = _in_scope(word, near, stem, intent.language, source)
        if not found and not right and word not in names:
            found = _two_words(word, intent.language, source)
            if not found and english:
                found = _of_the_table(near, vocabulary)
        if found:
            meant[word] = found
    for place, word in reversed(places):
        if word in meant:
            other = " ".join(meant[word])
            if place[0][0].isupper():
                other = other.title()  # or it is no name any more
            text = text[: place.start()] + other + text[place.end() :]
    return Spelling(text=text, meant=meant)


def _places(text: str, language: Language) -> Iterator[tuple[re.Match[str], str]]:
    """Where the words stand that may be mended, and these as they are compared."""
    exempt = [found.span() for kind in (_CODE, _QUOTED) for found in kind.finditer(text)]
    for place in _WORD.finditer(text):
        folded = place[0].casefold()
        word = without_marks(folded)
        if not SHORTEST <= len(word) <= LONGEST or word[0] not in _LETTERS:
            continue
        if folded in language.stop_words or word in language.stop_words:
            continue
        if not any(start <= place.start() < end for start, end in exempt):
            yield place, word


def _is_right(word: str, stem: str, language: Language, source: WordSource) -> bool:
    """Whether the word is one, though nothing holds it, or is held in another form."""
    if stem in _english_stems(source) or any(
        word in words
        for one in LANGUAGES.values()
        for words in (
            one.stop_words,
            one.temporal_words,
            one.times.months,
            one.times.day_names,
        )
    ):
        return True
    forms = [form for form in word_forms([word], language) if form.isalpha()]
    return bool(forms) and bool(source.known(forms))


def _other_spellings(word: str) -> list[str]:
    """The word with the letters that a keyboard may have lacked, in any language, since a name is
    written the same in all: "muller", as "Müller" is compared, for "mueller"."""
    spelled = {
        word.replace(written, without_marks(letter))
        for language in LANGUAGES.values()
        for letter, written in language.spellings.items()
        if written in word
    }
    return sorted(spelled - {word})


_stems: frozenset[str] = frozenset()


def _english_stems(source: WordSource) -> frozenset[str]:
    """The stems of all words of the table; by any source, since all have the same."""
    global _stems
    if not _stems:
        _stems = frozenset(source.stems(list(table_words())))
    return _stems


def _slips(word: str) -> list[list[str]]:
    """The words that one slip makes this one of, by its kind: two letters in each other's place, one
    too many, one too few, a wrong one. The likelier ones are first."""
    cuts = [(word[:n], word[n:]) for n in range(1, len(word) + 1)]
    kinds = (
        [a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1],
        [a + b[1:] for a, b in cuts if b],
        [a + letter + b for a, b in cuts for letter in _LETTERS],
        [a + letter + b[1:] for a, b in cuts if b for letter in _LETTERS],
    )
    return [[one for one in dict.fromkeys(kind) if one != word] for kind in kinds]


def _in_scope(
    typed: str, near: Sequence[Sequence[str]], stem: str, language: Language, source: WordSource
) -> tuple[str, ...]:
    """Of the likeliest kind of slip, the words that something in scope holds. Those that begin as it
    was typed come before those with another second letter: a source has a tenth to look through."""
    slips = list(dict.fromkeys(chain.from_iterable(near)))
    alike = [word for word in slips if word[:2] == typed[:2]]
    others = [word for word in slips if word[:2] != typed[:2]]
    for some in (alike, others):
        known = source.known(some) if some else {}
        if known and (found := _likeliest(near, known, stem, language, source)):
            return found
    return ()


def _likeliest(
    near: Sequence[Sequence[str]],
    known: Mapping[str, str],
    stem: str,
    language: Language,
    source: WordSource,
) -> tuple[str, ...]:
    """Of the first kind of slip with any, the known words that something in scope holds."""
    near_stem: set[str] | None = None
    for kind in near:
        found: dict[str, str] = {}
        for word in kind:
            token = known.get(word)
            if token is None or token in found or token == stem or len(token) < SHORTEST_TOKEN:
                continue
            # English words are known to be right. Elsewhere a right one, "Stadt", may be a slip away
            # from a stop word, "statt", and would be lost.
            if language.code != "en" and word in language.stop_words:
                continue
            if token != word and word not in table_words():
                # Many a word that is none has a stem: "coldes" for "coldest" that of "cold".
                if near_stem is None:
                    near_stem = {one for some in _slips(stem) for one in some}
                if token not in near_stem:
                    continue
            if source.holds(word):
                found[token] = word
                if len(found) == MOST_MEANT:
                    break
        if found:
            return tuple(found.values())
    return ()


def _two_words(word: str, language: Language, source: WordSource) -> tuple[str, ...]:
    """The two words that stand here without a space, where both are known."""

    def held(words: list[str]) -> set[str]:
        stop = {one for one in words if one in language.stop_words}
        rest = [one for one in words if one not in stop]
        found = source.known(rest) if rest else {}
        return stop.union(filter(source.holds, found))

    cuts = range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)
    first = held([word[:cut] for cut in cuts])
    cuts_left = [cut for cut in cuts if word[:cut] in first]
    second = held([word[cut:] for cut in cuts_left])
    pairs = [f"{word[:cut]} {word[cut:]}" for cut in cuts_left if word[cut:] in second]
    return (max(pairs, key=lambda pair: min(map(len, pair.split()))),) if pairs else ()


def _of_the_table(near: Sequence[Sequence[str]], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Of the likeliest kind of slip, the commonest word of the table: what nobody said, but something
    may be like."""
    table = table_words()
    for kind in near:
        words = [word for word in kind if word in table]
        if words:
            weights = vocabulary.weights[[table[word] for word in words]]
            return (words[int(np.argmin(weights))],)
    return ()
