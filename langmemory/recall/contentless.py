"""What a message does: it states something, asks, says that it does not know, or says nothing.

A question meets the words of the same question as well as its answer does, and "Noted." stands beside
every answer. Turns of a conversation are marked with what they do when they are stored. The rules err on one
side: a message is a question only if each of its clauses asks, and only the opening of a clause proves that.
So "I have not driven on the left before, any tips?" states something, as "nobody told me yet" does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from langmemory.languages import (
    LANGUAGES,
    WORLDWIDE,
    Language,
    sentence_starts,
    split_words,
    without_marks,
)
from langmemory.languages.patterns import any_of, compiled
from langmemory.ports.candidates import Rows
from langmemory.recall.features import Index
from langmemory.recall.interaction import SAME, Interaction, Texts
from langmemory.recall.question_extraction import without_courtesies
from langmemory.recall.vocabulary import EMPTY

Doing = Literal["states", "asks", "unknowing", "idle"]
"""What a message does; ``unknowing``: it says, and nothing else, that something is not known."""

REPEATED: Final = 0.85
"""Share of the words of a question, by their rarity, that the query has as well, and of those of the query
that the question has, from which one repeats the other."""
LONGEST_IDLE_CHARACTERS: Final = 120
"""Of a message that asks for nothing."""
SHORT_CLAUSE: Final = 2
"""Words of a clause that states nothing by itself: "and when"."""

ENDS_AS_QUESTION = re.compile(r"[?？؟][\W_]*$")
_CLAUSE = re.compile(r"[,;:()，；：]|\s[-–—]\s|\.{2,}|…")


def contentless(
    rows: Rows,
    texts: Texts,
    met: Interaction | None,
    before: Index,
    asked: NDArray[np.bool_],
    asking: NDArray[np.bool_],
    times: NDArray[np.bool_] | None,
) -> NDArray[np.bool_]:
    """bool[n]: which of n candidates are turns that say nothing which the query does not: idle ones,
    answers that nothing is known, and questions that repeat it.

    Args:
        rows: The candidates.
        texts: Their words.
        met: None where the query has no telling words: then no question repeats it.
        before: int64[n], the candidate that was said before, -1 for none.
        asked: bool[n], turns that ask and state nothing.
        asking: bool[n], whether a candidate ends in a question: what follows one answers it, however short,
            unless it says that it does not know.
        times: bool[n], whether a candidate tells a time, where the query asks for one: "See you tomorrow!"
            answers it.
    """
    found = texts.having(EMPTY)
    found &= ~((before >= 0) & (asking & ~found)[before] & ~asked)
    if times is not None:
        found &= ~times
    questions = asked.nonzero()[0]
    if met is not None and len(questions):
        places = texts.places(questions)
        weights = met.token_weights[places]
        starts = texts.of(questions).starts
        total = np.add.reduceat(weights, starts)
        covered = np.add.reduceat(weights * met.token_met[places], starts)
        theirs = covered >= REPEATED * total
        ours = met.shares @ (met.matches[:, questions] >= SAME) >= REPEATED
        found[questions] |= theirs & ours
    return found & (rows.position >= 0)


def doing(message: str, *, by_assistant: bool = False) -> Doing:
    """Return what a message does. Only an assistant is taken to say that it does not know."""
    asks = unknowing = False
    starts = [*sentence_starts(message), len(message)]
    for sentence in (message[start:end].strip() for start, end in pairwise(starts)):
        if _is_silent(without_courtesies(sentence)):
            continue
        if by_assistant and _unknowing().search(sentence.casefold()):
            unknowing = True
        elif _asks(sentence):
            asks = True
        else:
            return "states"
    return "unknowing" if unknowing else "asks" if asks else "idle"


def states(text: str) -> bool:
    """Whether any sentence of a text is more than a question or a courtesy."""
    return doing(text) == "states"


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
    return _is_silent(bare) or any(  # asks for the last answer in another form: "Make it shorter."
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


def _asks(sentence: str) -> bool:
    """Whether each clause of a sentence is a question or a request, with a question mark or without."""
    if _asks_alone(split_words(sentence)):
        return True
    marked = ENDS_AS_QUESTION.search(sentence) is not None
    bare = without_courtesies(sentence)
    clauses = [words for clause in _CLAUSE.split(bare) if (words := split_words(clause))]
    asked_for = bare != sentence  # "can you tell me", before "where I parked"
    return any(
        _asks_in(language, sentence, clauses, marked=marked, asked_for=asked_for)
        for language in LANGUAGES.values()
        if not language.phrases or not sentence.isascii()
    )


def _asks_in(
    language: Language,
    sentence: str,
    clauses: Sequence[Sequence[str]],
    *,
    marked: bool,
    asked_for: bool,
) -> bool:
    if language.phrases:  # it writes no spaces, and no word opens a question
        return any(piece in sentence for piece in language.question_words) and (
            marked or len(clauses) == 1
        )
    if any(compiled(pattern).search(sentence.casefold()) for pattern in language.reminders):
        return False
    opened = [_opens(words, language, marked, asked_for) for words in clauses]
    return any(opened) and all(
        opens or len(words) <= SHORT_CLAUSE for opens, words in zip(opened, clauses, strict=True)
    )


def _opens(words: Sequence[str], language: Language, marked: bool, asked_for: bool) -> bool:
    """Whether a clause opens as a question or a request does, behind words that say nothing."""
    for word, after in pairwise([*words, ""]):
        if word in language.question_words:
            return asked_for or after not in language.addressed  # no "when I was young"
        if word in language.requests:
            # "Can't wait!", "had the flu": without a mark, only who is asked makes it a question.
            return after != "t" and (marked or after in language.addressed)
        if word not in language.fillers and word not in language.links:
            return False
    return False


def _is_silent(sentence: str) -> bool:
    """Whether a sentence is a greeting, thanks, assent or small talk in some language."""
    words = split_words(sentence)
    return not _asks_alone(words) and any(
        language.question_words.isdisjoint(words) and _says_nothing(sentence, words, language)
        for language in LANGUAGES.values()
        if not language.phrases or not sentence.isascii()
    )


def _asks_alone(words: Sequence[str]) -> bool:
    """Whether a question word is all that a sentence says in some language, maybe written without its marks:
    "y cuando"."""
    return any(
        len(rest := [word for word in words if word not in ignored]) == 1 and rest[0] in asking
        for ignored, asking in map(_question_words, LANGUAGES.values())
    )


@cache
def _question_words(language: Language) -> tuple[frozenset[str], frozenset[str]]:
    """The words that may stand before a question word, and the question words, also without marks."""
    words = language.question_words
    return language.links | language.prepositions, words | frozenset(map(without_marks, words))


def _says_nothing(sentence: str, words: Sequence[str], language: Language) -> bool:
    """Whether a sentence has no other words than fillers and stop words."""
    if not language.phrases:
        return _silent_words(language).issuperset(words)
    for piece in _pieces(language):
        sentence = sentence.replace(piece, " ")
    return not any(character.isalnum() for character in sentence)


@cache
def _silent_words(language: Language) -> frozenset[str]:
    """The fillers, stop words and courtesies of a language that writes spaces."""
    return language.fillers | language.stop_words | WORLDWIDE.courtesies


@cache
def _pieces(language: Language) -> Sequence[str]:
    """The fillers and phrases of a language that writes no spaces, longest first."""
    return sorted((*language.fillers, *language.phrases), key=len, reverse=True)


def _unknowing() -> re.Pattern[str]:
    return any_of(tuple(one for language in LANGUAGES.values() for one in language.unknowing))
