"""Words as people type them in haste, without marks and without the capitals of nouns, and how the
patterns of a language write them: "heisst", "geburtstag", "alergica", "frere"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import lru_cache, partial

from langmemory.formation.rules.grammar import Grammar
from langmemory.formation.rules.patterns import patterns_of
from langmemory.languages import LANGUAGES, Language, ordinary_words, without_marks

_PIECE = re.compile(
    r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\(\?<?[=!]|\(\?[a-z]*:|\{[^}]*\}|.", re.DOTALL
)
_LETTERS = re.compile(r"\[([^\W\d_]{2,6})\]")
_BROKEN = "\0"
"""Within a word, what may be any letters."""
_WORD = re.compile(r"(?<![\w@./-])[^\W\d_](?:-?[^\W\d_])+(?![\w@/])")


def as_written(text: str, code: str) -> str:
    """A text with its words as the patterns of a language write them, but for those with a capital, which may
    be names. A mark that is used in a text is missing nowhere: who writes "empecé" means "dejo" so."""
    written = _written(code)
    if written.keys().isdisjoint(_WORD.findall(text)):
        return text
    used = _marks(text)

    def word(found: re.Match[str]) -> str:
        one = written.get(found[0], found[0])
        return one if used.isdisjoint(_marks(one) - _marks(found[0])) else found[0]

    return _WORD.sub(word, text)


def _marks(text: str) -> set[str]:
    """The diacritics of a text, and its letters of no other alphabet."""
    letters = unicodedata.normalize("NFD", text)
    return {one.lower() for one in letters if not one.isascii()}


@lru_cache(maxsize=16)
def _written(code: str) -> Mapping[str, str]:
    """Words in haste to words as written, where only one is meant. Words with marks that the language does
    not have are those of others: "für" in English names."""
    language, grammar = LANGUAGES[code], patterns_of(code).grammar
    ordinary = ordinary_words(code)
    told, whatever = _literals(grammar)
    told |= {word for word in ordinary if not word.isascii()}
    own = _marks(" ".join(ordinary))
    plain = language.stop_words | grammar.names | {word for word in told if word.islower()}
    found: dict[str, set[str]] = {}
    spellings = (
        str.casefold,
        partial(_spelled, language),
        lambda word: without_marks(word.casefold()),
    )
    for spelling in spellings:  # the nearest first: "tochter" is one, not several
        nearer = plain | found.keys()
        for word in told | whatever:
            capital = word[0].isupper() and word[1:].islower() and word.lower() not in told
            noun = capital and language.capital_nouns
            if (noun or word.islower()) and not _marks(word) - own - {"ß"}:
                typed = spelling(word)
                if typed != word and typed not in (nearer if noun else nearer | whatever):
                    found.setdefault(typed, set()).add(word)
    return {typed: words.pop() for typed, words in found.items() if len(words) == 1}


def _spelled(language: Language, word: str) -> str:
    """A word with what is written for letters that the keyboard lacks: "schwaegerin"."""
    word = word.casefold()
    for letter, letters in language.spellings.items():
        word = word.replace(letter, letters)
    return word


def _literals(grammar: Grammar) -> tuple[set[str], set[str]]:
    """The words that the patterns of a grammar spell out: those of patterns that tell capital letters, and of
    those that do not."""
    told, whatever = {*grammar.kin, *grammar.pets, *grammar.numbers}, set[str]()
    values = [getattr(grammar, one.name) for one in fields(grammar)]
    rules = [rule.pattern for rule in grammar.rules]
    for value in (*values, *rules, *grammar.placeholders.values()):
        if isinstance(value, re.Pattern):
            whatever |= spelled_out(value.pattern)
        elif isinstance(value, str):
            told |= spelled_out(value)
    return told, whatever


def spelled_out(pattern: str) -> set[str]:
    """The words that a regular expression spells out: of "alérgic[oa] al? polen" four."""
    pieces = _PIECE.findall(pattern)
    done: set[str] = set()

    def ends(words: Iterable[str]) -> None:
        done.update(word for word in words if word and _BROKEN not in word)

    def group(place: int, begun: set[str]) -> tuple[int, set[str]]:
        ended: set[str] = set()
        now = begun
        while place < len(pieces):
            piece = pieces[place]
            if piece == ")":
                return place + 1, ended | now
            if piece == "|":
                ended, now, place = ended | now, begun, place + 1
                continue
            if piece[0] == "(":
                looks = piece[-1] in "=!"
                place, then = group(place + 1, {""} if looks else now)
                if piece[-1] == "=":
                    ends(then)
                then = now if looks else then
            else:
                place += 1
                longer = _longer(now, piece)
                if longer is None:
                    ends(now)
                then = {""} if longer is None else longer
            follows = pieces[place] if place < len(pieces) else ""
            if follows == "?":
                now, place = now | then, place + 1
            elif follows in ("*", "+") or re.fullmatch(r"\{\d*,?\d*\}", follows):
                now, place = {one + _BROKEN for one in now}, place + 1
            else:
                now = then
        return place, ended | now

    ends(group(0, {""})[1])
    return done


def _longer(words: set[str], piece: str) -> set[str] | None:
    """Words with a piece of a pattern behind them; None where they end."""
    if piece.isalpha():
        return {word + piece for word in words}
    if letters := _LETTERS.fullmatch(piece):
        return {word + letter for word in words for letter in letters[1]}
    if piece[0] == "[" or piece in (r"\w", "."):
        return {word + _BROKEN for word in words}
    return None
