"""Contentless turns: what was said and is evidence of nothing.

A question that asks what is asked now, an answer that says that nothing is known, and an
acknowledgment ("Noted.", "Thanks!") meet the words of a query as well as an answer does. They stay
stored, and they take no place among the results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.languages import LANGUAGES, WORLDWIDE, Language, sentence_starts, split_words
from langmemory.languages.patterns import any_of, compiled
from langmemory.ports.candidates import CandidateSource, Floats, Rows
from langmemory.recall.interaction import Interaction, Texts
from langmemory.recall.question_extraction import without_courtesies
from langmemory.recall.vocabulary import Flags, Vocabulary

REPEATED: Final = 0.45
"""Share of a turn's words, by their rarity, that the query has as well, from which it says nothing
else."""
_ROUNDING: Final = 0.01
"""The error that sums of shares may have."""
LONGEST_TOKENS: Final = 64
"""Of a contentless turn; a longer one says something."""

LONGEST_IDLE_CHARACTERS: Final = 120
"""Of a message that asks for nothing."""

ENDS_AS_QUESTION = re.compile(r"[?？؟][\W_]*$")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Flags:
    """Flags of one language's words, bool[v] by token id."""

    silent: Flags
    """Marks, stop words, and words of greetings, thanks and assent."""
    idle: Flags
    """These, and the words by which somebody says that they do not know."""


def contentless(
    source: CandidateSource,
    rows: Rows,
    texts: Texts,
    met: Interaction | None,
    vocabulary: Vocabulary,
    *,
    asks_when: bool = False,
) -> NDArray[np.bool_]:
    """bool[n]: which of n candidates say nothing that the query does not.

    Only turns of a conversation can be contentless. The words of a candidate are compared first;
    the texts of those few that the query covers are read.

    Args:
        source: Has the texts.
        rows: The candidates.
        texts: Their words.
        met: None where the query has no telling words: then only acknowledgments are found.
        vocabulary: What the words mean.
        asks_when: The query asks for a time: "See you tomorrow!" tells one.
    """
    found = np.zeros(len(rows.ids), np.bool_)
    repeats = np.zeros(len(rows.ids), np.bool_)
    short = (rows.position >= 0) & (texts.lengths <= LONGEST_TOKENS)
    some = np.flatnonzero(short & _hardly_more(texts, met, vocabulary))
    if not len(some):
        return found
    of_some, tokens = texts.of(some), texts.places(some)
    for flags in _of_languages(vocabulary):
        found[some] |= of_some.all(flags.silent)
        if met is not None:
            share = _met_share(
                of_some, met.token_weights[tokens], met.token_met[tokens], flags.idle
            )
            repeats[some] |= share >= REPEATED
    repeats &= ~found
    if asks_when:
        found &= ~texts.any(vocabulary.temporal)
    if repeats.any():
        places = {int(rows.ids[place]): place for place in np.flatnonzero(repeats).tolist()}
        for memory in source.memories(rows.ids[repeats]):
            found[places[memory.id]] = not states(memory.text)
    return found


def is_idle(message: str) -> bool:
    """Whether a message is made of greetings, small talk, thanks and assent alone, or asks for the last
    answer in another form, in any language."""
    if len(message) > LONGEST_IDLE_CHARACTERS:
        return False
    folded = message.casefold()
    if any(
        any_of(language.questions.get("self", ())).search(folded) for language in LANGUAGES.values()
    ):
        return False  # "Do you remember me?" has no word of its own, and asks for everything
    bare = without_courtesies(message)
    words = split_words(bare)
    return any(
        language.question_words.isdisjoint(words) and _silent(bare, words, language)
        for language in LANGUAGES.values()
        if not language.phrases or not bare.isascii()
    ) or any(  # asks for the last answer in another form: "Make it shorter."
        compiled(pattern).search(bare.casefold())
        for language in LANGUAGES.values()
        for pattern in language.reworks
    )


def goes_on(message: str) -> bool:
    """Whether an idle message is a question that goes on from the one before it: "And hers?". One with
    a word of a greeting, thanks or assent ("All good?") is none."""
    words = split_words(message)
    return bool(words and ENDS_AS_QUESTION.search(message)) and not any(
        any(piece in message for piece in (*language.fillers, *language.phrases))
        if language.phrases
        else not language.fillers.isdisjoint(words)
        for language in LANGUAGES.values()
    )


def asks(message: str) -> bool:
    """Whether a message is a question or a request, with a question mark or without."""
    if ENDS_AS_QUESTION.search(message):
        return True
    words = split_words(message)
    return any(_asks(message, words, language) for language in LANGUAGES.values())


def states(text: str) -> bool:
    """Whether any sentence of a text is more than a question, a courtesy, or that nothing is known."""
    starts = [*sentence_starts(text), len(text)]
    for sentence in (text[start:end] for start, end in pairwise(starts)):
        if ENDS_AS_QUESTION.search(sentence):
            continue
        words = split_words(sentence)
        if not any(
            _silent(sentence, words, language)
            or _asks(sentence, words, language)
            or _knows_nothing(sentence, words, language)
            for language in LANGUAGES.values()
            if not language.phrases or not sentence.isascii()
        ):
            return True
    return False


def _silent(sentence: str, words: Sequence[str], language: Language) -> bool:
    """Whether it has no other words than fillers and stop words."""
    if not language.phrases:
        return _says_nothing(language).issuperset(words)
    for piece in _pieces(language):
        sentence = sentence.replace(piece, " ")
    return not any(character.isalnum() for character in sentence)


@cache
def _says_nothing(language: Language) -> frozenset[str]:
    """The fillers, stop words and courtesies of a language that writes spaces."""
    return language.fillers | language.stop_words | WORLDWIDE.courtesies


@cache
def _pieces(language: Language) -> Sequence[str]:
    """The fillers and phrases of a language that writes no spaces, longest first."""
    return sorted((*language.fillers, *language.phrases), key=len, reverse=True)


def _asks(sentence: str, words: Sequence[str], language: Language) -> bool:
    """Whether it is a question or a request without a question mark."""
    if language.phrases:
        return _holds(sentence, language.question_words)
    if any(compiled(pattern).search(sentence.casefold()) for pattern in language.reminders):
        return False
    for word, after in pairwise([*words, ""]):
        if word in language.question_words or word in language.requests:
            return after != "t"  # "Can't wait!"
        if word not in language.fillers:
            return False
    return False


def _knows_nothing(sentence: str, words: Sequence[str], language: Language) -> bool:
    """Whether it says that something is not known."""
    if language.phrases:
        return _holds(sentence, language.negations) and _holds(sentence, language.unknowing)
    return not (language.negations.isdisjoint(words) or language.unknowing.isdisjoint(words))


def _holds(sentence: str, pieces: frozenset[str]) -> bool:
    return any(piece in sentence for piece in pieces)


def _hardly_more(
    texts: Texts, met: Interaction | None, vocabulary: Vocabulary
) -> NDArray[np.bool_]:
    """bool[n]: the texts whose words a query may cover, the idle words of some language aside: those of
    all languages are, and no word that it meets."""
    weights = vocabulary.telling[texts.tokens] if met is None else met.token_weights
    idle = _idle_anywhere(vocabulary)[texts.tokens]
    least = np.add.reduceat(np.where(idle, 0, weights), texts.starts)
    if met is None:
        return least <= 0
    covered = np.add.reduceat(weights * met.token_met, texts.starts)
    most: NDArray[np.bool_] = covered >= (REPEATED - _ROUNDING) * least
    return most


def _met_share(
    texts: Texts, weights: Floats, is_met: NDArray[np.bool_], idle: Flags
) -> NDArray[np.float32]:
    """float32[n]: how much of each text the query's words meet, idle words aside; 1 where nothing is
    left. ``weights`` and ``is_met`` are those of `Interaction`."""
    counted = np.where(idle[texts.tokens], 0, weights)
    total = np.add.reduceat(counted, texts.starts)
    covered = np.add.reduceat(np.where(is_met, counted, 0), texts.starts)
    share: NDArray[np.float32] = np.where(total > 0, covered / np.maximum(total, 1e-9), 1.0)
    return share.astype(np.float32)


@lru_cache(maxsize=4)
def _idle_anywhere(vocabulary: Vocabulary) -> Flags:
    """bool[v]: the tokens that are idle in any language."""
    idle: Flags = np.logical_or.reduce([flags.idle for flags in _of_languages(vocabulary)])
    return idle


def _of_languages(vocabulary: Vocabulary) -> tuple[_Flags, ...]:
    return _flags(vocabulary, tuple(LANGUAGES.values()))


@lru_cache(maxsize=4)
def _flags(vocabulary: Vocabulary, languages: tuple[Language, ...]) -> tuple[_Flags, ...]:
    found = []
    for one in languages:
        silent = vocabulary.marks | vocabulary.pieces(one.stop_words | one.fillers)
        unknowing = vocabulary.pieces(
            one.unknowing | one.negations | one.question_words | one.requests
        )
        found.append(_Flags(silent=silent, idle=silent | unknowing))
    return tuple(found)
