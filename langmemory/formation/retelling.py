"""Summaries of talk that a model wrote, as far as the talk supports them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain, pairwise
from typing import Final

from langmemory.answers import is_finished
from langmemory.formation.asking.json_answers import is_refusal
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.grounded import EXCHANGED, OPPOSITE, SUPPOSED, Talk
from langmemory.formation.extraction.junk import is_small_talk
from langmemory.formation.grounding import harmful, in_first_person, unsupported_part
from langmemory.formation.replacements import find_replacements
from langmemory.formation.rules.clauses import own_words, read_sentences, sentences, strip_openers
from langmemory.formation.rules.patterns import GRAMMARS, Patterns, patterns_of
from langmemory.formation.rules.reader import NO_NAMES
from langmemory.formation.rules.value_corrections import Replacement
from langmemory.formation.wording import language_of, missing_words, telling_words, wording
from langmemory.languages import is_surely, split_words
from langmemory.languages.spelling import normalised_text

SUPPORTED: Final = 0.2
"""Share of the telling words of a sentence that the talk must have."""
SURELY: Final = 0.5
"""And for one that stands without a mark."""
UNCHECKED: Final = "(unchecked) "
"""Before a sentence of which less stands in the talk, or the opposite, or it was only supposed; and before
one whose language nobody in it speaks."""
ECHOED: Final = 4
"""Words in a row that a sentence has from the instructions and not from the talk."""
OWN_WORDS: Final = 0.7
"""And of one in the first person, the message of who says it."""
NOT_STATED: Final = 0.5
"""Share from which on a sentence is taken from a joke or a question, if no statement has more of it."""
LEAST_WORDS: Final = 2
"""Telling words of a sentence that says something."""
_ASKED: Final = re.compile(r"[?？]")
_QUOTES: Final = re.compile('["“”„«»「『]')
_AROUND: Final = " \"'“”„«»「」『』"
_COLON: Final = re.compile("[:：]")
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Said:
    """One message of the talk."""

    speaker: str
    text: str
    is_person: bool = True

    @cached_property
    def language(self) -> str:
        return language_of(self.text)

    @cached_property
    def parts(self) -> tuple[tuple[str, bool], ...]:
        """Its sentences, each with whether it is stated: not asked, in jest, on a condition, or quoted."""
        patterns = _patterns(self.language)
        read = read_sentences(own_words(self.text, patterns), patterns, _ANY_TIME)
        stated = {normalised_text(one.said) for one in read if one.clauses}
        return tuple(
            (
                part,
                not _ASKED.search(part) and (not self.is_person or normalised_text(part) in stated),
            )
            for part in sentences(self.text)
            if part
        )


def retold(
    text: str,
    said: Sequence[Said],
    *,
    earlier: str = "",
    heard: Sequence[Said] | None = None,
    asked: str = "",
) -> str:
    """Return a summary of talk without the sentences that say nothing, or what nobody said: another number,
    date or name, an order, the instructions, or words of which hardly any stands in the talk.

    A sentence in the first person, one that a person said so, and one that has more words of the assistant
    alone than of persons, gets the name of who said it. One taken from a question, a joke or a condition is
    told as it was said. Behind one that tells what a person replaced afterwards stands what they said
    instead. `UNCHECKED` stands before one of which less than half is in the talk, of which the opposite was
    said or which was only supposed, and before one in a language that nobody speaks there: its names are not
    looked for, since some languages write all nouns as names. In a language of which nothing is known it
    stands before another word beside a number.

    Args:
        text: As the model wrote it.
        said: What it sums up.
        earlier: A summary that it goes on with.
        heard: All that was said, also after what it sums up; None is ``said``.
        asked: The instructions of the model.
    """
    talk = _Talk(said, earlier, asked)
    spoken = [
        (one.speaker, one.text) for one in (said if heard is None else heard) if one.is_person
    ]
    found = find_replacements([*([("", earlier)] if earlier else []), *spoken])
    lines = [[part for part in sentences(line) if part] for line in text.splitlines()]
    if any(map(is_finished, chain(*lines))) and not is_finished(text):
        lines[-1].pop()  # broken off
    kept = ([one for part in line if (one := talk.as_said(part))] for line in lines)
    return "\n".join(line for parts in kept if (line := " ".join(_marked(parts, found))))


def statements(said: Sequence[Said]) -> Iterator[str]:
    """Yield the sentences by which persons state something, each behind its speaker: no question, joke or
    small talk."""
    talk = _Talk(said, "", "")
    for one in said:
        for part, is_stated in one.parts if one.is_person else ():
            if is_stated and talk.says_something(part, one.language):
                yield f"{one.speaker}: {part}"


def _marked(parts: Sequence[str], found: Sequence[Replacement]) -> Iterator[str]:
    """The sentences, behind each that tells what no longer holds what was said instead."""
    for part, following in pairwise((*parts, "")):
        yield part
        told = part.removeprefix(UNCHECKED)
        missed = [one for one in found if one.is_missed_by(told, language_of(told))]
        if missed and missed[-1].instead not in (part, following):
            yield missed[-1].instead


class _Talk:
    """What a summary may say."""

    def __init__(self, said: Sequence[Said], earlier: str, asked: str) -> None:
        self._said = said
        self._earlier = [part for part in sentences(earlier) if part]
        self._sources = [*(f"{one.speaker}: {one.text}" for one in said), *self._earlier]
        self._whole = "\n".join(self._sources)
        self._sure = "\n".join(one for one in self._sources if not one.startswith(UNCHECKED))
        self._language = language_of(self._whole)
        self._is_known = is_surely(self._whole, self._language)
        surely = (one.language for one in said if is_surely(one.text, one.language))
        self._languages = {self._language, *surely}
        speakers = {one.speaker for one in said}
        self._heads = {f"{name}: " for name in speakers}
        self._names = frozenset(word for name in speakers for word in split_words(name))
        self._instructions = _runs(asked) - _runs(self._whole)

    @cached_property
    def _grounding(self) -> Talk:
        """The talk as notes about persons are checked against it."""
        turns = (
            Turn(
                key=str(number),
                text=one.text,
                role="user" if one.is_person else "assistant",
                speaker=one.speaker,
                said_at=_ANY_TIME,
            )
            for number, one in enumerate(self._said)
        )
        return Talk(Batch(namespace=("summary",), thread_id="", turns=tuple(turns)))

    def as_said(self, sentence: str) -> str:
        """Return a sentence as it may stand; nothing where it may not."""
        sentence = sentence.removeprefix(UNCHECKED)
        language = language_of(sentence)
        head = next((one for one in self._heads if sentence.startswith(one)), "")
        body = sentence[len(head) :]
        if not self.says_something(body, language, of_speaker=bool(head)) or harmful(
            body, self._sources
        ):
            return ""
        if not self._instructions.isdisjoint(_runs(body)):
            return ""
        if (asked := self._not_stated(body, language)) is not None:
            return "" if harmful(asked) or _QUOTES.search(asked) else asked
        if sentence in self._earlier or head:
            return self._as_supported(sentence, language)
        if (quoted := self._quoted(body)) is not None:
            return quoted
        if in_first_person(sentence, language):
            said = (
                one
                for one in self._sources
                if not unsupported_part(sentence, self._language, [one], share=OWN_WORDS)
            )
            name, mark, _ = next(said, "").partition(": ")
            return f"{name}: {sentence}" if mark else ""
        supported = self._as_supported(sentence, language)
        return f"{self._only_heard_from(body, language)}{supported}" if supported else ""

    def says_something(self, body: str, language: str, *, of_speaker: bool = True) -> bool:
        """Whether a sentence, which may stand behind its speaker, is no heading, refusal or small talk."""
        if body.endswith((":", "：")) or is_refusal(body) or is_small_talk(body, self._names):
            return False
        of_speaker = of_speaker and in_first_person(body, language)
        return len(telling_words(body, language)) >= LEAST_WORDS - of_speaker

    def _not_stated(self, body: str, language: str) -> str | None:
        """The sentence, behind its speaker, that a text is taken from and that states nothing; None where the
        text shows that itself, or what is stated has as many of its words."""
        telling = telling_words(body, language) - self._names
        if not telling or _patterns(language).void.search(body) or _ASKED.search(body):
            return None

        def share(part: str, of: str) -> float:
            return 1 - len(missing_words(telling, telling_words(part, of))) / len(telling)

        parts = [(one, part, stated) for one in self._said for part, stated in one.parts]
        shares = [(share(part, one.language), stated) for one, part, stated in parts]
        most = max((share for share, stated in shares if stated), default=0.0)
        at = max(
            (n for n, (_, stated) in enumerate(shares) if not stated),
            key=lambda n: shares[n][0],
            default=None,
        )
        if at is None or shares[at][0] < NOT_STATED or shares[at][0] <= most:
            return None
        one, part, _ = parts[at]
        following = next((text for of, text, _ in parts[at + 1 : at + 2] if of is one), "")
        patterns = _patterns(one.language)
        if patterns.withdraws.search(following) or strip_openers(following, patterns)[1]:
            part = f"{part} {following}"
        return f"{one.speaker}: {part}"

    def _quoted(self, body: str) -> str | None:
        """A text that a person said so, behind their name; also one behind words that only announce it."""
        texts = [body, *(body[found.end() :].strip(_AROUND) for found in _COLON.finditer(body))]
        for text, told in ((one, normalised_text(one)) for one in texts):
            for one in self._said:
                named = one.is_person and one.speaker.casefold() not in NO_NAMES
                if named and any(normalised_text(part) == told for part, _ in one.parts):
                    return f"{one.speaker}: {text}"
        return None

    def _only_heard_from(self, body: str, language: str) -> str:
        """The head of an assistant that said more of a text than persons did; nothing where it names it."""
        telling = telling_words(body, language)
        persons = frozenset[str]().union(
            *(telling_words(one.text, one.language) for one in self._said if one.is_person)
        )
        lacking = missing_words(telling, persons)
        for one in self._said:
            if one.is_person or self._grounding.is_of_an_assistant(body):
                continue
            theirs = lacking - missing_words(lacking, telling_words(one.text, one.language))
            if len(theirs) > len(telling) - len(lacking):
                return f"{one.speaker}: "
        return ""

    def _as_supported(self, sentence: str, language: str) -> str:
        """The sentence, marked where too little of it stands in the talk; nothing where hardly any does."""
        language = language if is_surely(sentence, language) else self._language
        telling = telling_words(sentence, language)
        if language in self._languages:
            if unsupported_part(sentence, language, [self._whole], share=SUPPORTED):
                return ""
            missing = missing_words(telling, telling_words(self._sure, language))
            is_sure = (
                len(missing) <= (1 - SURELY) * len(telling)
                and (self._is_known or missing.isdisjoint(_beside_numbers(sentence)))
                and self._grounding.ground(sentence) not in (EXCHANGED, OPPOSITE, SUPPOSED)
            )
            return sentence if is_sure else f"{UNCHECKED}{sentence}"
        known = telling_words(self._whole, self._language)
        has_numbers = wording(sentence, language).numbers <= known
        is_said = len(missing_words(telling, known)) <= (1 - SUPPORTED) * len(telling)
        return f"{UNCHECKED}{sentence}" if has_numbers and is_said else ""


def _beside_numbers(sentence: str) -> frozenset[str]:
    """The words beside its numbers: in a language of which nothing is known they may be months."""
    words = split_words(sentence)
    pairs = [*pairwise(words), *pairwise(words[::-1])]
    return frozenset(word for number, word in pairs if number.isdigit())


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """Its words, so many in a row as an echo has."""
    words = split_words(text)
    return frozenset(zip(*(words[n:] for n in range(ECHOED)), strict=False))


def _patterns(language: str) -> Patterns:
    return patterns_of(language if language in GRAMMARS else "en")
