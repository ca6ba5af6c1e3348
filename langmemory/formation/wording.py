"""What two texts have to share to say the same: words, numbers, dates, names, negation."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

from langmemory.languages import LANGUAGES, is_unspaced, primary, split_words
from langmemory.languages.language import word_set

NEGATIONS = word_set(
    """not no never none nobody nothing neither nor without cannot cant dont doesnt didnt isnt arent
    wasnt werent wont wouldnt couldnt shouldnt hasnt havent hadnt aint stopped quit
    nicht kein keine keinen keiner keinem nie niemals nichts ohne
    nunca jamás jamas nada nadie sin ningún ninguna tampoco"""
)
"""Words that turn a statement round, each by itself: of "no longer" it is the "no". Spanish "no" is
the English one."""

UNSPACED_NEGATIONS = ("不", "没", "沒", "无", "無", "未", "别", "非")

_NUMBERS = (
    "zero cero 零", "eins 一", "two zwei dos 两 二", "three drei tres 三", "four vier cuatro 四",
    "five fünf cinco 五", "six sechs seis 六", "seven sieben siete 七", "eight acht ocho 八",
    "nine neun nueve 九", "ten zehn diez 十",
)  # fmt: skip

NUMBER_WORDS: dict[str, str] = {
    word: str(number) for number, words in enumerate(_NUMBERS) for word in words.split()
}
"""Without those that mean other things more often ("one", "uno", "elf")."""

CHANGE_CUES = re.compile(
    r"\b(?:now|nowadays|these days|any ?more|no longer|(?-i:new)|switched|changed|moved|moving"
    r"|relocated|started|starting|joined|became|becomes|from now on|instead|finally|again"
    r"|jetzt|inzwischen|mittlerweile|nicht mehr|(?-i:neu)(?:e|er|en|es)?|umgezogen|zog|gezogen|zieht"
    r"|gewechselt|angefangen|fing|stattdessen|wieder"
    r"|ahora|ya no|(?-i:nuev)[oa]s?|cambi[óo]|se mudó|empez[óo]|de nuevo|otra vez)\b"
    r"|又|再次|现在|如今|不再|换了|搬到|搬去|开始|新的|改",
    re.IGNORECASE,
)
"""Words by which somebody says that something is otherwise than before."""

PAST_CUES = re.compile(
    r"\b(?:lived|worked|was|were|had|used to|formerly|previously|back then|at the time|studied|dated"
    r"|wohnte|lebte|arbeitete|war|hatte|früher|damals|ehemals|studierte"
    r"|viv[íi]a|vivi[óo]|trabaj(?:aba|ó)|era|fue|ten[íi]a|antes|estudi(?:aba|ó))\b"
    r"|以前|曾经|曾|过去|当时",
    re.IGNORECASE,
)
"""Words by which somebody speaks of what is over."""

_WHILE = (
    r"(?:nights?|days?|weeks?|weekends?|months?|summer|winter|spring|autumn|semester|term|season"
    r"|holidays?)"
)
PASSING_CUES = re.compile(
    r"\b(?:temporar(?:y|ily)|for now|for the (?:time being|moment)"
    r"|as a (?:guest|stopgap|substitute)|interim|acting"
    r"|(?:on|during|over) (?:the )?(?:weekdays?|weekends?|workdays?|week"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days)"
    r"|at (?:the )?weekends?|weekdays|(?:every|each) (?:summer|winter|weekend|\w+day|other \w+)"
    r"|in (?:the )?(?:summers?|winters?)(?! of| 20)|half (?:of )?the (?:week|year|time)"
    r"|part of the (?:week|year)|part[- ]time"
    r"|(?:one|two|three|four|\d) (?:days|nights|weeks|months) (?:a|per) (?:week|month|year)"
    rf"|for (?:a|an|the|this|one|two|three|four|five|six|some|several"
    rf"|\d+)(?: \w+){{0,2}} {_WHILE}\b(?! now)"
    r"|stay(?:s|ed|ing)? (?:at|with|in|over)|visit(?:s|ed|ing)?|on (?:holiday|vacation|business"
    r"|leave|loan|secondment|tour)"
    r"|on an? (?:\w+ )?(?:trip|visit|exchange|secondment)|(?:house|dog|cat|pet|baby)[- ]?sit\w*"
    r"|spen(?:d|ds|ding|t)|sublet\w*|crash(?:es|ing)? (?:at|with|on)|fill(?:s|ing) in|cover(?:s"
    r"|ing) for|substitut\w+|seconded|borrow\w*|commut\w+"
    r"|foster\w*|temping|(?:winters|summers|vacations|holidays) (?:in|at)|short[- ]term"
    r"|vorübergehend|vorerst|zu besuch|zu gast|auf (?:besuch|urlaub|dienstreise)|im urlaub"
    r"|am wochenende|unter der woche"
    r"|an wochentagen|aushilfsweise|für (?:ein(?:e|en)? |zwei |drei |ein paar "
    r"|einige )?(?:tage?|wochen?|monate?|nächte?|nacht)"
    r"|temporalmente|de visita|de vacaciones|por ahora|entre semana|los fines de semana"
    r"|por unos? (?:días|semanas|meses))\b",
    re.IGNORECASE,
)
"""Words by which somebody says that something is so for a time, or at times, beside what is so as a rule."""

_LASTING = re.compile(
    r"\b(?:has|have|had|ve|s) (?:been|\w+ed)\b.*\bfor\b|\bfor [\w ]+ now\b"
    r"|\bnot (?:\w+ )?(?:just|only)\b",
    re.IGNORECASE,
)
_OF_THE_DAY = re.compile(
    r"\b(?:today|tonight|this (?:week|weekend|month|summer|winter|afternoon|evening|morning)"
    r"|heute|diese woche|hoy|esta semana)\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"\b(?:as of|since|seit|desde|from (?:today|this)|ab heute|a partir de"
    r"|appointed|elected|mov\w+|start\w*|join\w*|began|begins?|bought|got|adopted|marr\w+|became|hired"
    r"|promoted|switch\w*"
    r"|chang\w+|found\w*|left|quit|zog|gezogen|angefangen|fing|mud[óo]|empez[óo])\b",
    re.IGNORECASE,
)

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITAL = re.compile(r"[^\W\d_][^\W_]*(?:['’-][^\W_]+)*")

_VISIT = r"(?:visit(?:s|ed|ing)?|besuch(?:t|te|en|ten)?|visit(?:a|ó|aba|ando))"


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
    """Words with a capital that is not the sentence's."""
    negated: bool
    """An odd number of negations."""

    def agrees(self, other: Wording) -> bool:
        """Whether nothing that changes the meaning differs."""
        return (
            self.numbers == other.numbers
            and self.dates == other.dates
            and self.negated == other.negated
            and not self.speaks_of_others(other)
        )

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
    if PASSING_CUES.search(text) is not None:
        return _LASTING.search(without_apostrophes(text)) is None
    return _OF_THE_DAY.search(text) is not None and _BEGINS.search(text) is None


def is_host(text: str, name: str) -> bool:
    """Whether it is they whom somebody visits, or means to: "Ann will be at Lena's in Bonn", "Lena, who
    Ann visits in Bonn". Where they live is no part of the plan."""
    host = re.escape(without_apostrophes(name))
    if not host:
        return False
    seen = rf"\b(?:{_VISIT}|see|meet|be at|is at|was at|stay(?:s|ed|ing)? (?:with|at))"
    visited = rf"{seen} (?:(?:a|his|her|their|my|our) (?:\w+ )?)?{host}s?\b"
    whom = rf"\b{host}, whom? (?:\w+ ){{1,3}}{_VISIT}\b"
    return re.search(f"{visited}|{whom}", without_apostrophes(text), re.IGNORECASE) is not None


def without_apostrophes(text: str) -> str:
    """The text with words as `NEGATIONS` has them: "dont"."""
    return text.replace("'", "").replace("’", "")


@lru_cache(maxsize=4096)
def wording(text: str, language: str = "en") -> Wording:
    """A text's wording.

    Args:
        language: BCP 47; one without word lists is compared by all its words.
    """
    known = LANGUAGES.get(primary(language))
    stop = known.stop_words if known else frozenset()
    dated = _dated(known.code) if known else frozenset()
    plain = without_apostrophes(text)
    words = [_folded(word) for word in split_words(plain)]
    numbers = {NUMBER_WORDS[word] for word in words if word in NUMBER_WORDS}
    numbers |= {_plain_number(found[0]) for found in _NUMBER.finditer(text)}
    negations = sum(word in NEGATIONS for word in words)
    if is_unspaced(text):
        negations += sum(text.count(mark) for mark in UNSPACED_NEGATIONS)
        numbers |= {NUMBER_WORDS[c] for c in text if c in NUMBER_WORDS and c != "一"}
    content = {
        NUMBER_WORDS.get(word, _stem(word))
        for word in words
        if word not in stop and word not in NEGATIONS and word not in dated
    }
    return Wording(
        words=frozenset(content),
        numbers=frozenset(numbers),
        dates=frozenset(word for word in words if word in dated),
        names=frozenset(_names(plain, nouns=known is not None and known.code == "de")) - dated,
        negated=negations % 2 == 1,
    )


def _names(text: str, *, nouns: bool) -> set[str]:
    """Words with a capital, but for those that begin a sentence. German writes all nouns so: there
    they tell nothing that the words do not."""
    if nouns:
        return set()
    found: set[str] = set()
    for match in _CAPITAL.finditer(text):
        before = text[: match.start()].rstrip(" \"'“”„(¿¡")
        if match[0][0].isupper() and before and before[-1] not in ".!?:;\n":
            found.add(_stem(_folded(match[0].casefold())))
    return found


@cache
def _dated(code: str) -> frozenset[str]:
    """Words of a calendar: two texts with different ones speak of different days."""
    times = LANGUAGES[code].times
    calendar = {*times.months, *times.day_names, *times.seasons}
    calendar -= {"may", "mar", "sun", "sat", "mon", "fall"} if code == "en" else set()
    return frozenset(map(_folded, calendar)) | ({"yesterday", "today", "tomorrow"})


def _plain_number(text: str) -> str:
    return text.replace(",", ".").rstrip(".:")


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")


def _stem(word: str) -> str:
    """Without a plural or third-person s: "cats" is "cat"."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
