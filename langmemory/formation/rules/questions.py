"""Questions that the next turn answers in a word or two: "Where do you live?" – "In Bonn."

Question and answer make the sentence that the answer stands for, which is then read like any other. The
answer alone is the evidence: what somebody is asked is true of nobody, an assistant's words least of all,
and who takes back the answer takes back the fact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Literal

from langmemory.formation.batch import NO_PERSON, Turn
from langmemory.formation.extraction.transcript import without_injected_text
from langmemory.formation.rules.clauses import plainly_said, sentences
from langmemory.formation.rules.grammar import CAPITAL
from langmemory.formation.rules.patterns import Patterns, patterns_of
from langmemory.languages import LANGUAGES, Language, Topic, is_unspaced

Answer = Literal["name", "word", "time", "yes"]
"""What answers a question: the name of a place, a firm, a person or a language, whose capital stays;
a phrase, which begins in lower case within a sentence; a date; or a "yes", with nothing but a time
behind it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One way to ask, as a regular expression over a whole question, whatever the case of the first
    letter.

    ``{placeholders}`` are those of the grammar. Group ``kin`` is a word for somebody of the one asked,
    ``name`` somebody by name; ``pet`` and ``rest`` are for use in what is said.
    """

    asks: str
    said: str
    """The sentence: ``{answer}``, ``{who}`` for "My sister" or the name, ``{pet}``, ``{rest}``."""
    answer: Answer
    lead: str = r"(?!)"
    """What an answer may begin with that the sentence has. Case-insensitive."""
    tail: str = r"(?!)"
    """What it may end with. Case-insensitive."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How one asks and answers in a language. Regular expressions without groups, whatever the case
    of the letters."""

    code: str
    questions: tuple[Question, ...]
    ends: str
    """What may stand behind a question: "now", "by the way"."""
    yes: str
    no: str
    """What begins an answer that says nothing, or not that: "No", "Nowhere"."""
    evades: str
    """What begins one that does not answer: "Guess", "Far away"."""
    trails: str
    """What may stand behind an answer and changes nothing: "originally"."""
    back: str
    """A question that asks the same in return: "You?"."""
    mine: tuple[tuple[str, str], ...]
    """From "your" to "my"."""
    who: str
    """Whom a question is about that asks for somebody of the one asked: "My {kin}"."""


ASKING: Mapping[str, Asking] = Topic(
    Asking,
    "questions",
    about="questions that the next turn answers in a word",
    without="short answers are not completed",
)

MAX_ANSWER = 100
"""Characters of a turn that answers in a word or two."""
MAX_ASKING = 2000
"""Characters of a turn that asks; longer ones ask about something else."""
LATEST = timedelta(days=1)
"""So much later a turn still answers the one before it."""

_END = 200
"""Characters at the end of a turn, by which it asks."""
_NEAR = 80
"""And after a word that asks."""
_QUESTION = re.compile(r"[?？]")
_CALLED = re.compile(rf"^({CAPITAL}),|,\s*({CAPITAL})\W*$")
"""Who is asked by name."""
_MARKS = ",;:.!?¡¿…–—-，。！？；：、"
_EDGE = " \t\n" + _MARKS
_BEHIND = re.compile(r"\s*[,;:(–—，；：（]|\s+-+\s")
"""Where something begins that stands behind an answer: ", since May"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Expressions:
    """Those of an `Asking`."""

    questions: tuple[tuple[Question, re.Pattern[str]], ...]
    ends: re.Pattern[str]
    yes: re.Pattern[str]
    no: re.Pattern[str]
    evades: re.Pattern[str]
    trails: re.Pattern[str]
    back: re.Pattern[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    """What a turn says first, taken apart."""

    yes: bool
    """It begins with one."""
    body: str
    """Without that."""
    rest: str
    """The sentences after it, with a space in front."""


def may_answer(asked: Turn, turn: Turn) -> bool:
    """Whether a turn may be somebody's answer to the one before it."""
    other = asked.speaker.casefold() != turn.speaker.casefold() or asked.role != turn.role
    asks = asked.role == "assistant" or asked.role.casefold() not in NO_PERSON
    soon = timedelta() <= turn.said_at - asked.said_at <= LATEST
    return other and asks and soon and _asks_something(asked.text[-_END:])


def _asks_something(end: str) -> bool:
    """Whether the end of a turn may ask: most turns need no closer look."""
    return (
        re.search(r"[?？]\W*$", end) is not None
        or _asking_words(LANGUAGES.everywhere).search(end) is not None
    )


@lru_cache(maxsize=4)
def _asking_words(words: Language) -> re.Pattern[str]:
    spaced = "|".join(one for one in words.question_words if not is_unspaced(one))
    within = "|".join(filter(is_unspaced, words.question_words)) or "(?!)"
    return re.compile(rf"{within}|\b(?:{spaced})\b[^.!\n]{{0,{_NEAR}}}$", re.IGNORECASE)


def complete_answer(asked: Turn, turn: Turn, text: str, code: str) -> str | None:
    """The text of a turn with its short answer as a whole sentence, "I live in Bonn. And you?"; None
    where it is no plain answer to the last question of the turn before.

    Args:
        asked: a turn that `may_answer` says it may answer, with nothing said in between.
        turn: whose text it is.
        text: what its speaker said.
        code: the language asked in.
    """
    if len(text) > MAX_ANSWER or len(asked.text) > MAX_ASKING:
        return None
    patterns, found = patterns_of(code), _expressions(code)
    forms = _asks(without_injected_text(asked.text).replace("’", "'"), turn, patterns, found)
    for question, pattern in found.questions if forms else ():
        match = next(filter(None, map(pattern.fullmatch, forms)), None)
        if match is None:
            continue
        answer = _answer(text.replace("’", "'"), patterns, found)
        if answer is None or patterns.frames.search(asked.text):
            return None
        if question.answer == "yes":
            filled = ("", f", {answer.body}" if answer.body else "") if answer.yes else None
        else:
            filled = _fill_in_answer(question, answer.body, (asked, turn), patterns, found)
        if filled is None:
            return None
        words, behind = filled
        groups = {name: word or "" for name, word in match.groupdict().items()}
        who = groups.get("name") or ASKING[code].who.format(kin=groups.get("kin", ""))
        return (
            question.said.format(**{**groups, "answer": words, "who": who}) + behind + answer.rest
        )
    return None


def answered_question(asked: Turn, turn: Turn, text: str, code: str) -> tuple[str, bool] | None:
    """The last question of the turn before, and whether its words hold with the answer, which says yes
    or tells who, what, where or when; None where it says no, or answers nothing. See `complete_answer`
    for the arguments."""
    if code not in ASKING:
        return None
    patterns, found = patterns_of(code), _expressions(code)
    forms = _asks(without_injected_text(asked.text).replace("’", "'"), turn, patterns, found)
    answer = _answer(text.replace("’", "'"), patterns, found) if forms else None
    if answer is None:
        return None
    asks_what = any(
        word in forms[0].casefold() if is_unspaced(word) else word in forms[0].casefold().split()
        for word in LANGUAGES[code].question_words
    )
    return forms[0], answer.yes or asks_what


def spoken_of(asked: Turn, turn: Turn, text: str, code: str) -> str:
    """Whom a question is about, in the words of the one who answers: of "Does your wife work?" "Does my
    wife work", so that "she" is somebody; empty where nobody is, where another was asked, or the
    answer is "No"."""
    if code not in ASKING:
        return ""
    patterns, found = patterns_of(code), _expressions(code)
    if len(asked.text) > MAX_ASKING or found.no.match(text.lstrip(_EDGE)):
        return ""
    said = without_injected_text(asked.text).replace("’", "'")
    *_, last = _sentences(said) or [""]
    about = last
    for yours, mine in ASKING[code].mine:
        about = re.sub(yours, mine, about)
    if about == last or not _QUESTION.search(last) or not patterns.mention.search(about):
        return ""
    if patterns.mention.search(last) or patterns.frames.search(said):  # "How is my mother?"
        return ""
    called = {name.casefold() for names in _CALLED.findall(last) for name in names if name}
    return about if called <= {*turn.speaker.casefold().split()} else ""


def _sentences(said: str) -> list[str]:
    """Without those that are a smile."""
    return [one for one in sentences(said) if any(map(str.isalnum, one))]


def _asks(said: str, turn: Turn, patterns: Patterns, found: _Expressions) -> list[str]:
    """The only question of what was said before, at its end, as it is and without "So," and "by the
    way"."""
    *before, last = _sentences(said) or [""]
    if any(_QUESTION.search(one) for one in before):
        return []
    name = re.escape(turn.speaker.split()[0]) if turn.speaker.split() else r"(?!)"
    called = re.compile(rf"^{name}\s*[,:]\s*|\s*,?\s*\b{name}$", re.IGNORECASE)
    forms = [last.strip(_EDGE)]
    while True:
        text = forms[-1]
        if (opener := patterns.openers.match(text)) and opener.end():
            text = text[opener.end() :]
        text = found.ends.sub("", called.sub("", text)).strip(_EDGE)
        if text == forms[-1]:
            return forms
        forms.append(text)


def _answer(text: str, patterns: Patterns, found: _Expressions) -> _Answer | None:
    """None for what doubts, jokes, says no, or asks something else."""
    first, *others = [one for one in sentences(text) if one.strip(_EDGE)] or [""]
    others = [one for one in others if not found.back.fullmatch(one.strip(_EDGE))]
    if plainly_said(first) is None or any(map(_QUESTION.search, (first, *others))):
        return None
    if any(one.search(text) for one in (patterns.void, patterns.unclear, patterns.frames)):
        return None
    if any(patterns.withdraws.search(one) or patterns.takes_back.match(one) for one in others):
        return None
    body, yes = first.strip(_EDGE), False
    while True:
        if found.no.match(body):
            return None
        if one := found.yes.match(body):
            yes = True
        elif not (one := patterns.openers.match(body)) or not set(one[0]) & set(_MARKS):
            break  # "since May" begins with no "since," though that word may open a clause
        body = body[one.end() :].strip(_EDGE)
    body = found.trails.sub("", body)
    return _Answer(
        yes=yes, body=body, rest="".join(f" {one}" for one in ("." if others else "", *others))
    )


def _fill_in_answer(
    question: Question,
    body: str,
    turns: tuple[Turn, Turn],
    patterns: Patterns,
    found: _Expressions,
) -> tuple[str, str] | None:
    """What completes the sentence of a question, and what is said behind it."""
    lead = re.match(rf"(?:{question.lead})(?:\s+|$)" if patterns.grammar.spaced else rf"(?:{question.lead})",
                    body, re.IGNORECASE)  # fmt: skip
    text = body[lead.end() :] if lead else body
    behind = _BEHIND.search(text)
    words, behind_it = (text[: behind.start()], text[behind.start() :]) if behind else (text, "")
    words = re.sub(rf"\s*(?:{question.tail})$", "", words, flags=re.IGNORECASE).strip(_EDGE)
    words = found.trails.sub("", words)
    if not words or found.evades.match(words) or found.no.match(words):
        return None
    if question.answer == "word" and not words[1:2].isupper():
        words = words[0].lower() + words[1:]
    first, language = words.split()[0].casefold(), LANGUAGES[patterns.grammar.code]
    if question.answer == "time" and first in language.stop_words - {*language.times.months}:
        words = words[0].lower() + words[1:]
    if question.answer == "name":
        first = next(
            (w for w in words.casefold().split() if w not in LANGUAGES.everywhere.articles), ""
        )
        names = {name.casefold() for one in turns for name in one.speaker.split()[:1]}
        if not first or first in patterns.grammar.not_names or first in names:
            return None
    return words, behind_it


@lru_cache(maxsize=16)
def _expressions(code: str) -> _Expressions:
    asking, grammar = ASKING[code], patterns_of(code).grammar
    word = r"(?!\w)" if grammar.spaced else ""
    gap = r"\s*,?\s+" if grammar.spaced else r"[\s，,]*"

    def compiled(pattern: str) -> re.Pattern[str]:
        names = grammar.compile_pattern(pattern.replace("{Word}", "(?-i:{Word})"))
        return re.compile(names.pattern, re.IGNORECASE)

    return _Expressions(
        questions=tuple((one, compiled(one.asks)) for one in asking.questions),
        ends=re.compile(rf"{gap}(?:{asking.ends})$", re.IGNORECASE),
        yes=re.compile(rf"(?:{asking.yes}){word}", re.IGNORECASE),
        no=re.compile(rf"(?:{asking.no}){word}", re.IGNORECASE),
        evades=re.compile(rf"(?:{asking.evades}){word}", re.IGNORECASE),
        trails=re.compile(rf"(?:{gap}(?:{asking.trails}))+$", re.IGNORECASE),
        back=re.compile(rf"(?:{asking.back})", re.IGNORECASE),
    )
