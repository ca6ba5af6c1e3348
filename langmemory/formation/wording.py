"""The parts of a text that two have to share to say the same: words and their order, numbers with their
signs, dates, names, marks, negation. Words alone are no identity: "Kim lent Lee ten euros" and "Lee lent Kim
ten euros" have the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from langmemory.formation.statements import cues
from langmemory.languages import (
    LANGUAGES,
    WordOrder,
    detect_language,
    is_unspaced,
    primary,
    split_words,
)

_NUMBER = re.compile(r"(?:(?<![a-z0-9])([-−]|[<>≤≥] ?))?(\d+(?:[.,:]\d+)*)")
"""With the sign before it; that of "3-7" is none."""
_MARKED = re.compile(
    "[{0}]+ ?(?:[-=]>|<-|!=|[<>=]=?|[≠≤≥→←]) ?[{0}]+"
    "|(?<![{0}*])(?:[{0}]+(?:[#♯♭*]|[+]+)|(?:[a-zà-ӿ]|ab)-)(?![{0}*])|[?]".format("0-9a-zà-ӿ")
)
"""Two words with a sign between them ("a < b"), a name with a mark ("F#", "C++", "A*", "B-"), or the mark
of a question."""
_ANSWER = re.compile(r"(?:^|[.!?] )([^\W\d_]+)[,，]")
"""The word of an answer ("No, Kim comes"), which denies nothing of what follows."""
LETTERS_ALIKE: Final = 3
"""That an ending may have: "lives" and "lived" are one word."""
_CAPITAL = re.compile(r"[^\W\d_][^\W_]*(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as it is compared."""

    words: frozenset[str]
    """Content words, without stop words, numbers as digits."""
    numbers: frozenset[str]
    """As digits, number words too."""
    dates: frozenset[str]
    """Names of months, weekdays and seasons."""
    names: frozenset[str]
    """Words with a capital that is not the sentence's. None in a language that writes all nouns so: there
    they tell nothing that the words do not."""
    negated: bool
    """An odd number of negations."""
    marks: frozenset[str]
    """Words with a mark that makes another word of them."""
    order: WordOrder

    def agrees(self, other: Wording) -> bool:
        """Whether nothing that changes the meaning differs, but for the order of the words."""
        return (
            self.numbers == other.numbers
            and self.dates == other.dates
            and self.negated == other.negated
            and self.marks == other.marks
            and not self.speaks_of_others(other)
        )

    def follows(self, other: Wording) -> bool:
        """Whether the order of the words is the same, as far as it tells who does what to whom."""
        return self.order.follows(other.order)

    def matches(self, other: Wording) -> bool:
        """Whether nothing that changes the meaning differs, the order of the words included."""
        return self.agrees(other) and self.follows(other)

    def speaks_of_others(self, other: Wording) -> bool:
        """Whether each names somebody, or a day, that the other does not speak of at all."""
        return any(
            bool(mine - theirs - other.words) and bool(theirs - mine - self.words)
            for mine, theirs in ((self.names, other.names), (self.dates, other.dates))
        )

    def swaps_words(self, other: Wording) -> bool:
        """Whether each has a word that the other has not."""
        return bool(self.words - other.words) and bool(other.words - self.words)

    def overlap(self, other: Wording) -> float:
        """The smaller share of words that both have, 0..1."""
        longer = max(len(self.words), len(other.words))
        return len(self.words & other.words) / longer if longer else 1.0


def is_passing(text: str) -> bool:
    """Whether a sentence says that something is so for a time, or at times: "on weekdays", "for a week",
    "is staying in". "Has lived there for two years" lasts, and "moved this week" begins to."""
    if cues().passing.search(text) is not None:
        return cues().lasting.search(without_apostrophes(text)) is None
    return cues().of_the_day.search(text) is not None and cues().begins.search(text) is None


def is_host(text: str, name: str) -> bool:
    """Whether it is they whom somebody visits, or means to: "Ann will be at Lena's in Bonn", "Lena, who
    Ann visits in Bonn". Where they live is no part of the plan."""
    host = re.escape(without_apostrophes(name))
    if not host:
        return False
    visited = "|".join(cues().hosts).replace("<name>", host)
    return re.search(rf"\b(?:{visited})", without_apostrophes(text), re.IGNORECASE) is not None


def without_apostrophes(text: str) -> str:
    """The text with words as `StatementWords` has them: "dont"."""
    return text.replace("'", "").replace("’", "")


@lru_cache(maxsize=4096)
def wording(text: str, language: str = "en") -> Wording:
    """A text's wording.

    Args:
        language: BCP 47; one without word lists is compared by all its words.
    """
    known = LANGUAGES.get(primary(language))
    stop = known.stop_words if known else frozenset()
    dated = _calendar_words(known.code) if known else frozenset()
    plain = without_apostrophes(text)
    for sign in known.minus if known else ():
        plain = re.sub(rf"(?<![a-z]){sign} ?(?=\d)", "-", plain, flags=re.IGNORECASE)
    words = [_fold_accents(word) for word in split_words(plain)]
    known_words = cues()
    named, denials = known_words.numbers, known_words.negations
    numbers = {str(named[word]) for word in words if word in named}
    numbers |= {_number(*found) for found in _NUMBER.findall(plain.casefold())}
    answers = _ANSWER.findall(plain.casefold())
    negations = sum(word in denials for word in words) - sum(word in denials for word in answers)
    negations += len(known_words.negations_apart.findall(text))
    if is_unspaced(text):
        negations += sum(text.count(mark) for mark in known_words.negations_within)
        within = known_words.articles_within
        numbers |= {str(named[c]) for c in text if c in named and c not in within}
    content = {
        str(named.get(word, singular(word)))
        for word in words
        if word not in stop and word not in denials and word not in dated
    }
    code = known.code if known else language
    return Wording(
        words=frozenset(content),
        numbers=frozenset(numbers),
        dates=frozenset(word for word in words if word in dated),
        names=frozenset[str]()
        if known is not None and known.capital_nouns
        else capitalised_words(plain) - dated,
        negated=negations % 2 == 1,
        marks=marks_of(plain),
        order=WordOrder.of(plain, code, _form),
    )


def marks_of(text: str) -> frozenset[str]:
    """Return the words of a text that have a mark ("F#", "C++", "B-") or a sign between
    them, case-folded, and whether it asks."""
    folded = text.casefold().replace("−", "-").replace("？", "?")
    return frozenset(found.replace(" ", "") for found in _MARKED.findall(folded))


def _number(sign: str, digits: str) -> str:
    return sign.strip().replace("−", "-") + digits.replace(",", ".").rstrip(".:")


def _form(word: str) -> str:
    return str(cues().numbers.get(word, singular(word)))


BEFORE: Final = 40
"""Characters before a word in which the end of a sentence is looked for."""


def capitalised_words(text: str) -> frozenset[str]:
    """Return the words with a capital, but for those that begin a sentence: names, and in German nouns."""
    found: set[str] = set()
    for match in _CAPITAL.finditer(text):
        before = text[max(0, match.start() - BEFORE) : match.start()].rstrip(" \"'“”„(¿¡")
        if match[0][0].isupper() and before and before[-1] not in ".!?:;\n":
            found.add(singular(_fold_accents(match[0].casefold())))
    return frozenset(found)


@cache
def _calendar_words(code: str) -> frozenset[str]:
    """Words of a calendar: two texts with different ones speak of different days."""
    times = LANGUAGES[code].times
    calendar = {*times.months, *times.day_names, *times.seasons, *times.days}
    return frozenset(map(_fold_accents, calendar - times.other_words))


def _fold_accents(word: str) -> str:
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")


def singular(word: str) -> str:
    """Without a plural or third-person s: "cats" is "cat"."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def language_of(text: str) -> str:
    """Return the language that a text is written in; BCP 47."""
    return detect_language(text).code


def missing_words(words: Iterable[str], known: Collection[str]) -> set[str]:
    """Return the words that are not among others, endings aside."""
    alike: dict[str, list[str]] = {}
    for word in known:
        alike.setdefault(word[:LETTERS_ALIKE], []).append(word)
    return {
        word
        for word in words
        if word not in known
        and not any(_are_forms(word, one) for one in alike.get(word[:LETTERS_ALIKE], ()))
    }


def telling_words(text: str, language: str) -> frozenset[str]:
    """Return the words of a text that say something, with its numbers and dates."""
    found = wording(text, language)
    return found.words | found.numbers | found.dates


def _are_forms(word: str, other: str) -> bool:
    """Whether two words are one but for their endings."""
    if word.isdigit() or is_unspaced(word):
        return False
    begun = max(LETTERS_ALIKE, max(len(word), len(other)) - LETTERS_ALIKE)
    return word[:begun] == other[:begun]
