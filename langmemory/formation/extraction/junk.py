"""The negative list: what no extractor, however eager, may put into memory.

One audited store of another memory was 97.8 % junk, 668 copies of one sentence among it. Every rule
here is about form or origin and can say its reason in a few words; whether something is true or
matters is for others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from typing import Final, get_args

from rapidfuzz import fuzz

from langmemory.formation.asking.json_answers import is_refusal
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.transcript import is_person, without_injected_text
from langmemory.formation.repetition import join_repetitions
from langmemory.languages import (
    LANGUAGES,
    Topic,
    detect_language,
    is_unspaced,
    keyword_terms,
    split_words,
)
from langmemory.languages.spelling import normalised_text
from langmemory.ports.facts import CoreSuggestion, Extraction, Fact, fingerprint
from langmemory.types import Privacy

MIN_WORDS = 2
MIN_CHARS = 6
MIN_CHARS_UNSPACED = 4
MAX_CHARS = 600
"""A statement that stands alone is shorter; what is longer is a copied message."""
ECHO_RATIO = 90.0
"""Likeness, of 100, from which two sentences are one (rapidfuzz: normalised indel similarity)."""
SHARED_WORDS = 0.8
"""From this part of a statement's telling words on, a text that has them says the same."""
SMALL_TALK_CHARS = 200
DANGLES: Final = "does not stand alone"
"""Why a statement is left out that a model could have put into other words."""

_COMMITMENTS = frozenset({"plan", "decision", "event", "procedure"})
"""Kinds of facts an assistant may tell of itself: what it will do, has decided, has done, how it behaves."""
_CIRCLES: Sequence[Privacy] = get_args(Privacy)
"""The widest first."""
_TOOLS = frozenset({"tool", "function"})
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*|\n+")
_QUESTION = re.compile(r"\A\W*¿|[?？]\W*\Z")
_RECALLED = re.compile(
    r"</?recalled_memories>|[\[(]\s*[MGR]\s*:\s*[0-9a-f]{8}\s*[\])]", re.IGNORECASE
)
_NUMBERS = re.compile(r"\d+")
_TOKEN = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, kw_only=True, slots=True)
class JunkWords:
    """Patterns of one language."""

    spaced: bool = True
    """Whether words have boundaries."""
    small_talk: tuple[str, ...]
    """Phrases; a text made of nothing else says nothing."""
    dangling: tuple[str, ...]
    """Beginnings that leave open who or what is meant."""
    clock: tuple[str, ...]
    """Beginnings of "it is …" before a time or date of the moment."""
    clock_words: frozenset[str]
    """Words that times of the moment are made of, besides numbers, months and weekdays."""
    meta: tuple[str, ...]
    """Beginnings of sentences about the conversation instead of the world."""
    clauses: tuple[str, ...] = ()
    """Beginnings with an "it" that stands for what follows: "It is not true that …"."""
    places: str = r"(?!)"
    """Where it is the time: "in Berlin"."""
    assistant: str
    """Words for an assistant that has no name."""


JUNK_WORDS: Mapping[str, JunkWords] = Topic(
    JunkWords,
    "junk",
    about="small talk and sentences about the conversation",
    without="they are judged by the English file",
)
"""By language code, as in `langmemory.languages`."""


@cache
def _begins(part: str, code: str) -> re.Pattern[str]:
    """The beginning of a text with phrases of a part of `JunkWords`; small talk is all of a text."""
    words = JUNK_WORDS[code]
    phrases = getattr(words, part)
    end = r"(?!\w)" if words.spaced and part != "meta" else ""
    either = phrases if isinstance(phrases, str) else "|".join(phrases)
    one = rf"(?:{either or '(?!)'}){end}"
    whole = rf"(?:{one}\W*)+\Z" if part == "small_talk" else one
    return re.compile(rf"\W*{whole}", re.IGNORECASE)


def _is(part: str, text: str) -> bool:
    return any(_begins(part, code).match(text) for code in JUNK_WORDS)


def without_junk(extraction: Extraction, batch: Batch) -> Extraction:
    """The extraction without junk, and for each statement left out a reason, never its text."""
    said = _Said.of(batch)
    kept: list[Fact] = []
    dropped = list(extraction.dropped)
    for fact in _for_one_circle(extraction.facts):
        reason = _form(fact.text, said) or _origin(fact, said)
        if reason is None and _dangles(fact.text, said):
            reason = DANGLES
        if reason is not None:
            dropped.append(reason)
        else:
            kept.append(fact)
    facts = join_repetitions(kept)
    dropped += ["said twice"] * (len(kept) - len(facts))
    core = []
    for suggestion in extraction.core:
        if (reason := _objection_to_suggestion(suggestion, said)) is None:
            core.append(suggestion)
        else:
            dropped.append(f"core: {reason}")
    summary = extraction.summary
    persons = said.persons(said.turns)
    if summary is not None and (is_refusal(summary.text) or _all_small_talk(persons, said)):
        summary = None
    return replace(
        extraction,
        facts=tuple(facts),
        core=tuple(core),
        summary=summary,
        dropped=tuple(dropped),
    )


def _for_one_circle(facts: Sequence[Fact]) -> Iterator[Fact]:
    """Facts that one turn makes twice, more private once than the other time, as the more private."""
    closest: dict[tuple[bytes, tuple[str, ...]], Privacy] = {}
    told = [((fingerprint(fact.text), fact.evidence[:1]), fact) for fact in facts]
    for mark, fact in told:
        closest[mark] = max(closest.get(mark, fact.privacy), fact.privacy, key=_CIRCLES.index)
    for mark, fact in told:
        yield replace(fact, privacy=closest[mark])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Said:
    """The words of a batch, prepared for comparing."""

    turns: dict[str, Turn]
    words: dict[str, frozenset[str]]
    """Of each turn, without what was recalled into it."""
    speakers: frozenset[str]
    """Words of their names."""
    owners: int
    assistants: frozenset[re.Pattern[str]]
    """Their names at the beginning of a statement."""
    echoes: tuple[tuple[str, frozenset[str], str], ...]
    """Statements of assistants, normalised, each with its words and the key of the answer a person gave to
    it."""
    recalled: tuple[frozenset[str], ...]
    """Words of each recalled memory that stands in a turn."""

    @classmethod
    def of(cls, batch: Batch) -> _Said:
        everyone = (*batch.before, *batch.turns)
        return cls(
            turns={turn.key: turn for turn in batch.turns},
            words={
                turn.key: frozenset(split_words(without_injected_text(turn.text)))
                for turn in batch.turns
            },
            speakers=frozenset(word for turn in everyone for word in split_words(turn.speaker)),
            owners=len({turn.owner for turn in batch.turns}),
            assistants=frozenset(
                re.compile(rf"{re.escape(turn.speaker)}(?![a-z0-9])", re.IGNORECASE)
                for turn in everyone
                if turn.role == "assistant"
            ),
            echoes=tuple(_statements(everyone)),
            recalled=tuple(_injected_lines(batch.turns)),
        )

    def persons(self, keys: Iterable[str]) -> list[Turn]:
        """The turns among these that persons said."""
        return [self.turns[key] for key in keys if key in self.turns and is_person(self.turns[key])]

    def telling(self, text: str) -> frozenset[str]:
        """Words of a statement that say something, names of the speakers aside."""
        return frozenset(keyword_terms(text)) - self.speakers

    def is_said(self, telling: frozenset[str], persons: Iterable[Turn]) -> bool:
        """Whether one of the turns has these words."""
        return any(_covers(self.words[turn.key], telling) for turn in persons)


def _covers(words: frozenset[str], telling: frozenset[str]) -> bool:
    """Whether a text with these words says the same, endings aside ("own", "owns")."""
    missing = telling - words
    beginnings = tuple(word[: max(3, len(word) - 3)] for word in missing if not word.isdigit())
    found = sum(any(word.startswith(begun) for word in words) for begun in beginnings)
    return bool(telling) and len(telling) - len(missing) + found >= SHARED_WORDS * len(telling)


def _statements(turns: Sequence[Turn]) -> Iterator[tuple[str, frozenset[str], str]]:
    for turn, after in zip_longest(turns, turns[1:]):
        if is_person(turn):
            continue
        answer = after.key if after is not None and is_person(after) else ""
        for sentence in _SENTENCE_END.split(without_injected_text(turn.text)):
            if sentence.strip() and not _QUESTION.search(sentence):
                yield normalised_text(sentence), frozenset(split_words(sentence)), answer


def _injected_lines(turns: Iterable[Turn]) -> Iterator[frozenset[str]]:
    for turn in turns:
        own = without_injected_text(turn.text)
        if own != turn.text.strip():
            lines = (line.strip() for line in turn.text.splitlines())
            yield from (frozenset(split_words(line)) for line in lines if line not in own)


def _form(text: str, said: _Said) -> str | None:
    """Why a statement as such is junk."""
    unspaced = is_unspaced(text)
    short = len(text) < (MIN_CHARS_UNSPACED if unspaced else MIN_CHARS)
    if short or (not unspaced and len(split_words(text)) < MIN_WORDS):
        return "too short"
    if len(text) > MAX_CHARS:
        return "too long to be one statement"
    if is_refusal(text):
        return "a refusal"
    if is_small_talk(text, said.speakers):
        return "small talk"
    if _QUESTION.search(text):
        return "a question"
    if _is_clock(text):
        return "a time of the moment"
    if _is("meta", text):
        return "about the conversation"
    if _RECALLED.search(text):
        return "a recalled memory"
    return None


def _origin(fact: Fact, said: _Said) -> str | None:
    """Why the origin of a fact makes it junk."""
    persons = said.persons(fact.evidence)
    if not persons:
        return _missing_support(fact, said)
    if _all_small_talk(persons, said):
        return "small talk"
    telling = said.telling(fact.text)
    if said.is_said(telling, persons):
        return None
    if any(_covers(words, telling) for words in said.recalled):
        return "a recalled memory"
    text = normalised_text(fact.text)
    numbers = _NUMBERS.findall(text)  # a sentence about another number is another sentence
    for sentence, words, answer in said.echoes:
        if answer in fact.evidence:
            continue
        alike = fuzz.ratio(text, sentence) >= ECHO_RATIO and _NUMBERS.findall(sentence) == numbers
        # What it quotes of a document need not sound alike: "The user lives in Oslo", "Lena lives in Oslo".
        if alike or _covers(words, telling):
            return "repeats the assistant"
    return None


def _missing_support(fact: Fact, said: _Said) -> str | None:
    """Why a fact that no person said is junk: only what an assistant does itself counts."""
    roles = {said.turns[key].role.casefold() for key in fact.evidence if key in said.turns}
    if not roles:
        return "no evidence"
    if roles <= _TOOLS:
        return "only a tool says so"
    named = _is("assistant", fact.text) or any(name.match(fact.text) for name in said.assistants)
    if "assistant" in roles and fact.kind in _COMMITMENTS and named:
        return None
    return "only the assistant says so"


def _objection_to_suggestion(suggestion: CoreSuggestion, said: _Said) -> str | None:
    """Why a line for a core block is junk. It need not stand alone: its block says of whom."""
    persons = said.persons(suggestion.evidence)
    if not persons:
        return "nobody said so"
    if said.owners > 1 and any(turn.privacy == "private" for turn in persons):
        return "private words of one of several people"
    return _form(suggestion.text, said)


def _dangles(text: str, said: _Said) -> bool:
    """Whether a statement leaves open who or what it is about."""
    first = next(iter(text.split()), "").strip("\"'“„«(,.")
    if first.casefold() in said.speakers or (len(first) > 1 and first.isupper()):
        return False  # "Ella" is also a name, "US" and "IT" are no pronouns
    if _is("clauses", text):
        return False
    code = detect_language(text).code
    return _begins("dangling", code if code in JUNK_WORDS else "en").match(text) is not None


def is_small_talk(text: str, names: frozenset[str]) -> bool:
    """Whether a text is nothing but greetings, thanks and names."""
    if len(text) > SMALL_TALK_CHARS:
        return False
    bare = re.sub(r"\w+", lambda word: "" if word[0].casefold() in names else word[0], text)
    return _is("small_talk", bare)


def _all_small_talk(persons: Sequence[Turn], said: _Said) -> bool:
    return bool(persons) and all(
        is_small_talk(without_injected_text(p.text), said.speakers) for p in persons
    )


def _is_clock(text: str) -> bool:
    """Whether a text says what time or day it is at the moment, and nothing else."""
    for code in JUNK_WORDS:
        begun = _begins("clock", code).match(text)
        if begun is None:
            continue
        times = LANGUAGES[code].times
        words = JUNK_WORDS[code].clock_words | {*times.months, *times.day_names}
        rest = re.sub(rf"(?:{JUNK_WORDS[code].places})\W*\Z", "", text[begun.end() :].casefold())
        if not JUNK_WORDS[code].spaced:
            left: Iterable[str] = re.sub(r"[\W\d]", "", rest)
            known: Iterable[str] = frozenset("".join(words))
        else:
            left, known = _TOKEN.findall(rest), words
        if rest.strip() and all(token.isdigit() or token in known for token in left):
            return True
    return False
