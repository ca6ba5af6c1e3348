"""The question of a message, without what stands around it.

People paste a letter, an article or a log and ask something before or after it. Looked up as a whole,
such a message finds what is like the paste; what the question is about is lost in it. But a question may
be about the rest of the message ("Which way should we lean?"): it is looked up with the rare words of that.
And people are polite: "Good morning! Could you tell me …? Thanks a lot!" has more words for that than for
what is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from math import log
from typing import Final

from langmemory.languages import (
    LANGUAGES,
    detect_language,
    keyword_terms,
    sentence_starts,
    split_words,
)
from langmemory.languages.patterns import any_of, compiled
from langmemory.recall.vocabulary import UNKNOWN_RARITY, Vocabulary, default_vocabulary

LONG_CHARACTERS: Final = 600
"""A longer message is no mere question."""
PART_CHARACTERS: Final = 400
"""How far from its end or beginning the question of a long message is looked for."""
TELLING_RARITY: Final = UNKNOWN_RARITY
"""Sum of the rarities of a question's words from which it tells its subject, that of one word the table does
not have: "eat" and "Lisbon" have 695, "lean" 337."""
COMMON_RARITY: Final = 240.0
"""Words less rare than this tell nothing: "way" has 113, "choose" 212."""
PIECED_RARITY: Final = 225.0
"""Of a word that the table, which is English, has in pieces, in another language: three such words tell."""
JOINED_WORDS: Final = 8
"""Words of the rest of a message that join a question which does not tell its subject."""

_MARK = re.compile("[?？؟]")
_WORD = re.compile(r"\w+")
_CAPITAL = re.compile(r"(?<!\w)[^\W\d_a-zß-öø-ÿ]\w+")


def extract_question(message: str, vocabulary: Vocabulary | None = None) -> str:
    """The question of a message: of a long one the questions at its beginning and its end, of any the rest
    beside courtesies; the message itself where it asks nothing there, or nothing is left.

    A question of a long message that tells little is followed by the words that tell most of the rest.
    ``vocabulary`` knows which words are rare; None is that of the embedded table.
    """
    if (given := _translation_pattern().search(message)) is not None:
        return given[0]
    if len(message) <= LONG_CHARACTERS:
        return _bare(message)
    text = message.strip()
    parts = (*_asking(text[:PART_CHARACTERS], -1), *_asking(text[-PART_CHARACTERS:], 0))
    question = "\n".join(dict.fromkeys(parts))
    telling = _telling(question)
    if not telling:
        return message
    vocabulary = vocabulary or default_vocabulary()
    if _tells(question, telling, vocabulary):
        return _bare(question)
    rest = text
    for part in parts:
        rest = rest.replace(part, "\n", 1)
    return "\n".join((_bare(question), " ".join(_subject(rest, telling, vocabulary))))


def _translation_pattern() -> re.Pattern[str]:
    """Matches a request up to the text that it brings along to be translated."""
    return any_of(tuple(one for language in LANGUAGES.values() for one in language.translations))


def _tells(question: str, words: set[str], vocabulary: Vocabulary) -> bool:
    """Whether a question with these words tells its subject: by rare words, by a name, or as it is about
    something of whom asks it: "What is my dog called?"."""
    language = detect_language(question)
    # Capitalised words that do not begin the question may be names.
    capitals = (split_words(one[0]) for one in _CAPITAL.finditer(question) if one.start() > 0)
    if not language.capital_nouns and any(map(words.intersection, capitals)):
        return True
    pieced = UNKNOWN_RARITY if language is LANGUAGES["en"] else PIECED_RARITY
    rarity = dict.fromkeys(words, 0.0)
    for word in words:
        found = vocabulary.rarity(word)
        rarity[word] = pieced if found == UNKNOWN_RARITY else found * (found >= COMMON_RARITY)
    if sum(rarity.values()) >= TELLING_RARITY:
        return True
    owned = compiled(language.own).findall(question.casefold())
    return any(rarity.get(word) for one in owned for word in split_words(one))


def _subject(text: str, known: set[str], vocabulary: Vocabulary) -> list[str]:
    """The words of a text that tell most of it, as they are written and in its order: rare ones and such
    as it repeats (tf-idf)."""
    stop_words = detect_language(text).stop_words | known
    counts = Counter(word for word in split_words(text) if word not in stop_words)
    worth = {
        word: (1 + log(count)) * vocabulary.rarity(word)
        for word, count in counts.items()
        if len(word) > 1 and not word.isdecimal()
    }
    # Of words that the table does not have, long ones are the rarer.
    ranked = sorted(worth, key=lambda word: (worth[word], len(word)), reverse=True)
    best = set(ranked[:JOINED_WORDS])
    written: dict[str, str] = {}
    for found in _WORD.finditer(text):
        for word in split_words(found[0]):
            if word in best:
                written.setdefault(word, found[0] if found[0].casefold() == word else word)
    return list(written.values())


def _bare(question: str) -> str:
    """The question without courtesies in any language, unless it is nothing else: what is left of one
    may be too short to tell its own."""
    bare = without_courtesies(question)
    return bare if bare == question or _telling(bare) else question


def without_courtesies(message: str) -> str:
    """A message without the courtesies of any language."""
    small = message.lower()
    for language in LANGUAGES.values():
        for piece, pattern in language.courtesies.items():
            if piece in small and (courtesy := compiled(f"(?i){pattern}")).search(message):
                message = " ".join(courtesy.sub(" ", message).split())
    return message


def _telling(question: str) -> set[str]:
    """The words that are no stop words."""
    language = detect_language(question)
    return set(keyword_terms(question, language)) - language.stop_words


def _asking(part: str, cut: int) -> list[str]:
    """The lines of a part that ask something; of the line that may be cut off, the first (0) or the
    last (-1), only whole sentences that do."""
    lines = part.split("\n")
    starts = sentence_starts(lines[cut])
    sentences = [lines[cut][start:end] for start, end in pairwise([*starts, len(lines[cut])])]
    whole = (sentences[1:] if cut == 0 else sentences[:-1]) or sentences
    lines[cut] = " ".join(filter(_MARK.search, whole))
    return [line.strip() for line in lines if _MARK.search(line)]
