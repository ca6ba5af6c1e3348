"""The order of the words of a text: who does what to whom, from where, before what.

Two texts of the same words may say the opposite: "Kim lent Lee ten euros", "Lee lent Kim ten euros". A
phrase with a preposition, or a day, may stand anywhere, and so may the parts of a list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from langmemory.languages.language import Language
from langmemory.languages.matching import LANGUAGES
from langmemory.languages.writing import is_unspaced, split_words

LONGEST = 60
"""Words of a text in which a phrase is looked for that stands elsewhere."""

_PAUSE = re.compile(r"([^\W_]+)[^\w\s]*[,，、;；:：](?!\d)")
"""The word before a comma, or what parts sentences as one does."""
_CHARACTERS = re.compile(r"[a-z0-9]+|.", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class WordOrder:
    """A text as the order of its words is compared."""

    words: tuple[str, ...]
    """Characters, in a script without spaces."""
    pauses: frozenset[str]
    """Words before a comma."""
    code: str

    @classmethod
    def of(cls, text: str, code: str, form: Callable[[str], str] = str) -> WordOrder:
        """Read a text. ``form`` makes of a word, or a character, what is compared."""
        if is_unspaced(text):
            runs = re.findall(r"[^\W_]+", text.casefold())
            words = [one for run in runs for one in _CHARACTERS.findall(run)]
        else:
            words = split_words(text)
        pauses = frozenset(one.casefold() for one in _PAUSE.findall(text))
        return cls(words=tuple(map(form, words)), pauses=pauses, code=code)

    def follows(self, other: WordOrder) -> bool:
        """Whether the words that both have stand in one order, and the same words relate them ("from",
        "by", "only"). One more or less tells nothing of other words, as "is fond of" for "likes", and where
        it stands before a time as a rule."""
        mine, theirs = Counter(self.words), Counter(other.words)
        more, less = mine - theirs, theirs - mine
        relating, stop = _function_words(self.code)
        swapped = (relating & more.keys(), relating & less.keys())
        if all(swapped):
            return False
        if any(swapped) and (more.keys() | less.keys()) <= relating | stop:
            lead = LANGUAGES[self.code].times.lead
            if not all(
                re.fullmatch(lead, f"{one} ", re.IGNORECASE) for one in swapped[0] | swapped[1]
            ):
                return False
        if min(self.pauses, other.pauses, key=len) - max(self.pauses, other.pauses, key=len):
            return False
        if abs(len(self.pauses) - len(other.pauses)) > 1:
            return False  # "Kim, says Lee, lies", "Kim says Lee lies"
        known = LANGUAGES.get(self.code)
        light = known.articles if known else frozenset()
        ours, others = (
            tuple(one for one in words if mine[one] == theirs[one] and one not in light)
            for words in (self.words, other.words)
        )
        return (
            ours == others
            or _is_list_turned(ours, others, self.code)
            or (
                max(len(ours), len(others)) <= LONGEST and _is_phrase_moved(ours, others, self.code)
            )
        )


@cache
def _function_words(code: str) -> tuple[frozenset[str], frozenset[str]]:
    """Words that relate others to each other, and all that say nothing by themselves."""
    known = LANGUAGES.get(code)
    if known is None:
        return frozenset(), frozenset()
    return known.prepositions | known.qualifiers, known.stop_words | known.articles


def _is_list_turned(one: tuple[str, ...], other: tuple[str, ...], code: str) -> bool:
    """Whether two parts of a list at the beginning or the end of the text changed places: "tea and
    coffee"."""
    begun, ended = _shared_beginning(one, other), _shared_beginning(one[::-1], other[::-1])
    if begun and ended:
        return False
    mine, theirs = one[begun : len(one) - ended], other[begun : len(other) - ended]
    known = LANGUAGES.get(code)
    return known is not None and any(
        word in known.ands and mine[at + 1 :] + mine[at : at + 1] + mine[:at] == theirs
        for at, word in enumerate(mine)
    )


def _shared_beginning(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def _is_phrase_moved(one: tuple[str, ...], other: tuple[str, ...], code: str) -> bool:
    known = LANGUAGES.get(code)
    if known is None:
        return False
    for start, end in _phrases(one, known):
        phrase, rest = one[start:end], (*one[:start], *one[end:])
        for at in range(len(other) - len(phrase) + 1):
            if other[at : at + len(phrase)] != phrase:
                continue
            left = (*other[:at], *other[at + len(phrase) :])
            first = known.inverts and 0 in (start, at)
            if rest == left or (first and _is_inverted(rest, left, known)):
                return True
    return False


def _phrases(words: Sequence[str], known: Language) -> Iterator[tuple[int, int]]:
    """Places of what may be a phrase with a preposition, or a time."""
    calendar = known.times
    times = known.temporal_words.union(calendar.weekdays, calendar.months, calendar.parts)
    named = tuple(known.prepositions | times)
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            phrase = words[start:end]
            if phrase[0] in known.prepositions:
                leads = len(phrase) > 1
            elif phrase[0] in times:
                leads = True
            else:
                leads = is_unspaced(phrase[0]) and "".join(phrase).startswith(named)
            if leads:
                yield start, end


def _is_inverted(one: Sequence[str], other: Sequence[str], known: Language) -> bool:
    """Whether one begins with its verb, and the other with its subject: "geht Kim", "Kim geht"."""
    for verb, rest in ((one, other), (other, one)):
        place = rest.index(verb[0]) if verb and verb[0] in rest else 0
        if 0 < place <= 3 and verb[0] not in known.prepositions:
            return (verb[0], *rest[:place], *rest[place + 1 :]) == tuple(verb)
    return False
