"""Texts that a model wrote: whether they may stand in memory beside what they were made from.

One check for all of them: insights of a night, sentences of summaries (`formation.retelling`), lines of core
blocks, and what a model reads in a conversation (`formation.extraction.grounded`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from typing import Final

from langmemory.context.marking import one_line
from langmemory.formation.confidences import own_words_of
from langmemory.formation.orders import gives_orders
from langmemory.formation.rules.patterns import GRAMMARS, patterns_of
from langmemory.formation.wording import (
    LETTERS_ALIKE,
    Wording,
    capitalised_words,
    language_of,
    missing_words,
    singular,
    telling_words,
    wording,
)
from langmemory.languages import (
    LANGUAGES,
    WORLDWIDE,
    is_surely,
    primary,
    split_words,
)
from langmemory.languages.spelling import normalised_text

MAX_CHARACTERS: Final = 400
"""Of an insight."""
SUPPORTED: Final = 0.5
"""Share of the telling words of a text that its sources must have."""
_MARKUP: Final = re.compile(r"[<>{}\[\]|`]|https?:|www\.|\S@\S|\(unchanged|\.{3}|…")
_SENTENCES: Final = re.compile(r"(?<=[.!?。！？])\s*")


def harmful(text: str, sources: Iterable[str] = ()) -> str | None:
    """Return why a text may not be shown or stored at all; None where it may.

    Args:
        text: As the model wrote it.
        sources: Texts whose own markup and addresses it may repeat.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half a character"
    if one_line(text) != " ".join(text.split(" ")).strip():
        return "control characters, markup, or a role"
    said = "\n".join(sources)
    if any(found[0] not in said for found in _MARKUP.finditer(text)):
        return "markup or an address that no source has"
    if gives_orders(text):
        return "an order to the model"
    return None


def sentences(text: str) -> dict[str, str]:
    """Return the sentences of a text as they stand, by how they are compared."""
    return {one: part for part in _SENTENCES.split(text) if (one := normalised_text(part))}


def is_copied(text: str, others: Iterable[str]) -> bool:
    """Whether every sentence of a text stands in others already."""
    known = {normalised_text(other) for other in others}
    known = known.union(*map(sentences, known))
    return known.issuperset(sentences(text))


def unsupported_part(
    text: str,
    language: str,
    sources: Sequence[str],
    *,
    counts: Collection[int] = (),
    days: Iterable[date] = (),
    share: float = SUPPORTED,
) -> str | None:
    """Return what of a text no source supports; None where they support enough of it.

    Numbers, dates, names and in German nouns must all stand in a source; of the other telling words
    ``share``.

    Args:
        text: The text.
        language: Of the text and its sources.
        sources: Texts that it was made from.
        counts: Numbers that may be said all the same: of sources, of conversations.
        days: Days on which the sources were said, which may be named.
        share: Of the telling words, those that stand in a source at least.
    """
    own = wording(text, language)
    theirs = [wording(source, language) for source in (*sources, *_date_forms(days, language))]
    known = frozenset[str]().union(*(one.words | one.dates | one.numbers for one in theirs))
    figures = {one.lstrip("0") or one for one in known}  # of an ISO date
    if own.numbers - known - figures - {str(count) for count in counts}:
        return "a number that no source has"
    named = calendar_words(own, language)
    known_days = {word for one in theirs for word in calendar_words(one, language)}
    if named - known_days:
        return "a date that no source has"
    names = frozenset[str]().union(*map(capitalised_words, sources))  # with "Los" of "Los Faroles"
    if missing_words(capitalised_words(text) - named, known | known_days | names):
        return "a name that no source has"
    telling = own.words - own.numbers - named
    missing = missing_words(telling, known | known_days)
    if not own.words or len(missing) > (1 - share) * len(telling):
        return "words that no source supports"
    return None


def turned_round(text: str, language: str, sources: Sequence[str]) -> bool:
    """Whether a text denies what all of its sources say, or says what all of them deny."""
    told = {wording(source, language).negated for source in sources}
    return len(told) == 1 and wording(text, language).negated not in told


def in_first_person(text: str, language: str) -> bool:
    """Whether a text speaks of whoever says it. "US" and a title such as "My Way" do not."""
    code = primary(language)
    for sentence in _SENTENCES.split(text):
        begun = sentence.lstrip("\"'“„«( ")
        if code in GRAMMARS:
            patterns = patterns_of(code)
            if patterns.i.match(begun) or patterns.we.match(begun):
                return True
        for found in own_words_of(code).finditer(begun):
            word = found[0]
            written_so = len(word) == 1 or not word[0].isupper() or not found.start()
            if written_so and not (len(word) > 1 and word.isupper()):
                return True
    words = split_words(text)
    if not WORLDWIDE.first_person.isdisjoint(words[:1]):
        return True
    return not WORLDWIDE.first_person.isdisjoint(words) and not is_surely(text, code)


def tells_of_speaker(text: str, said: Iterable[str]) -> bool:
    """Whether half the telling words of a text stand in one sentence by which somebody speaks of themselves,
    and to nobody.

    Args:
        text: As the model wrote it.
        said: What persons said.
    """
    for message in said:
        language = language_of(message)
        telling = telling_words(text, language)
        for sentence in _SENTENCES.split(message):
            lacks = missing_words(telling, telling_words(sentence, language))
            if (
                telling
                and len(lacks) <= (1 - SUPPORTED) * len(telling)
                and in_first_person(sentence, language)
                and LANGUAGES.everywhere.second_person.isdisjoint(split_words(sentence))
            ):
                return True
    return False


def calendar_words(found: Wording, language: str) -> set[str]:
    """Return its weekdays, months and seasons, also those in the plural."""
    times = (LANGUAGES.get(primary(language)) or LANGUAGES["en"]).times
    calendar = {*times.months, *times.day_names, *times.seasons}
    named = {word for word in found.words if word in calendar or singular(word) in calendar}
    return {singular(word) for word in found.dates | named if len(word) > LETTERS_ALIKE}


def _date_forms(days: Iterable[date], language: str) -> Iterator[str]:
    """Days in the figures and words by which they may be named."""
    times = (LANGUAGES.get(primary(language)) or LANGUAGES["en"]).times
    for day in days:
        named = [name for name, number in times.months.items() if number == day.month]
        named += [name for name, number in times.day_names.items() if number == day.weekday()]
        yield f"{day.year} {day.month} {day.day} {' '.join(named)}"
