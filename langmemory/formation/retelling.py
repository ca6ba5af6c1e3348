"""Summaries of talk that a model wrote, as far as the talk supports them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain, pairwise
from typing import Final

from langmemory.answers import is_finished, without_repetitions
from langmemory.formation.asking.json_answers import is_refusal
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.grounded import EXCHANGED, OPPOSITE, SUPPOSED, Talk
from langmemory.formation.extraction.junk import is_small_talk
from langmemory.formation.grounding import harmful, in_first_person, unsupported_part
from langmemory.formation.replacements import find_replacements
from langmemory.formation.rules.clauses import own_words, read_sentences, sentences, strip_openers
from langmemory.formation.rules.patterns import patterns_near
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
        patterns = patterns_near(self.language)
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


class SummarizedTalk:
    """What a summary of some talk may say.

    Args:
        said: What it sums up.
        earlier: A summary that it goes on with.
        heard: All that was said, also after what it sums up; None is ``said``.
        asked: The instructions of the model.
    """

    def __init__(
        self,
        said: Sequence[Said],
        *,
        earlier: str = "",
        heard: Sequence[Said] | None = None,
        asked: str = "",
    ) -> None:
        self._said = said
        self._heard = said if heard is None else heard
        self._summary = earlier
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

    def retold(self, text: str) -> str:
        """Return a summary without the sentences that say nothing, that it has twice, or that say what nobody
        said: another number, date or name, an order, the instructions, or words of which hardly any stands
        in the talk.

        A sentence in the first person, one that a person said so, and one that has more words of the
        assistant alone than of persons, gets the name of who said it. One taken from a question, a joke or a
        condition is told as it was said. Behind one that tells what a person replaced afterwards stands what
        they said instead. `UNCHECKED` stands before one of which less than half is in the talk, of which the
        opposite was said, with two names exchanged, or which was only supposed, and before one in a language
        that nobody speaks there: its names are not looked for, since some languages write all nouns as
        names. In a language of which nothing is known it stands before another word beside a number.

        Args:
            text: As the model wrote it.
        """
        lines = [[part for part in sentences(line) if part] for line in text.splitlines()]
        if any(map(is_finished, chain(*lines))) and not is_finished(text):
            lines[-1].pop()  # broken off
        kept = ([one for part in line if (one := self._as_said(part))] for line in lines)
        told = (line for parts in kept if (line := " ".join(self._marked(parts))))
        return without_repetitions("\n".join(told), short=0)

    def statements(self) -> Iterator[str]:
        """Yield the sentences by which persons state something, each behind its speaker: no question, joke or
        small talk."""
        for one in self._said:
            for part, is_stated in one.parts if one.is_person else ():
                if is_stated and self._says_something(part, one.language):
                    yield f"{one.speaker}: {part}"

    @cached_property
    def _replacements(self) -> list[Replacement]:
        """What was replaced by something that a person said afterwards."""
        earlier = [("", self._summary)] if self._summary else []
        spoken = ((one.speaker, one.text) for one in self._heard if one.is_person)
        return find_replacements([*earlier, *spoken])

    def _marked(self, parts: Sequence[str]) -> Iterator[str]:
        """The sentences, behind each that tells what no longer holds what was said instead."""
        for part, following in pairwise((*parts, "")):
            yield part
            told = part.removeprefix(UNCHECKED)
            missed = [
                one for one in self._replacements if one.is_missed_by(told, language_of(told))
            ]
            if missed and missed[-1].instead not in (part, following):
                yield missed[-1].instead

    @cached_property
    def _of_persons(self) -> frozenset[str]:
        """The telling words of persons."""
        persons = (one for one in self._said if one.is_person)
        return frozenset().union(*(telling_words(one.text, one.language) for one in persons))

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

    def _as_said(self, sentence: str) -> str:
        """Return a sentence as it may stand; nothing where it may not."""
        sentence = sentence.removeprefix(UNCHECKED)
        language = language_of(sentence)
        head = next((one for one in self._heads if sentence.startswith(one)), "")
        body = sentence[len(head) :]
        if not self._says_something(body, language, of_speaker=bool(head)) or harmful(
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

    def _says_something(self, body: str, language: str, *, of_speaker: bool = True) -> bool:
        """Whether a sentence, which may stand behind its speaker, is no heading, refusal or small talk."""
        if body.endswith((":", "：")) or is_refusal(body) or is_small_talk(body, self._names):
            return False
        of_speaker = of_speaker and in_first_person(body, language)
        return len(telling_words(body, language)) >= LEAST_WORDS - of_speaker

    def _not_stated(self, body: str, language: str) -> str | None:
        """The sentence, behind its speaker, that a text is taken from and that states nothing; None where the
        text shows that itself, or what is stated has as many of its words."""
        telling = telling_words(body, language) - self._names
        if not telling or patterns_near(language).void.search(body) or _ASKED.search(body):
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
        patterns = patterns_near(one.language)
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
        lacking = missing_words(telling, self._of_persons)
        if self._grounding.is_of_an_assistant(body):
            return ""
        for one in self._said:
            if one.is_person:
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
