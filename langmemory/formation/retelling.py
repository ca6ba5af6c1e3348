"""Summaries of talk that a model wrote, as far as the talk supports them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from typing import Final

from langmemory.formation.asking.json_answers import is_refusal
from langmemory.formation.extraction.junk import is_small_talk
from langmemory.formation.grounding import harmful, in_first_person, unsupported_part
from langmemory.formation.replacements import find_replacements
from langmemory.formation.rules.clauses import own_words, read_sentences, sentences, strip_openers
from langmemory.formation.rules.patterns import GRAMMARS, Patterns, patterns_of
from langmemory.formation.rules.reader import NO_NAMES
from langmemory.formation.rules.value_corrections import Replacement
from langmemory.formation.wording import language_of, missing_words, telling_words, wording
from langmemory.languages import split_words
from langmemory.languages.spelling import normalised_text

SUPPORTED: Final = 0.2
"""Share of the telling words of a sentence that the talk must have."""
OWN_WORDS: Final = 0.7
"""And of one in the first person, the message of who says it."""
NOT_STATED: Final = 0.5
"""Share from which on a sentence is taken from a joke or a question, if no statement has more of it."""
LEAST_WORDS: Final = 2
"""Telling words of a sentence that says something."""
_ASKED: Final = re.compile(r"[?？]")
_QUOTES: Final = re.compile('["“”„«»「『]')
_ENDS: Final = tuple(".!?。！？…\"'”’»)")
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
    text: str, said: Sequence[Said], *, earlier: str = "", heard: Sequence[Said] | None = None
) -> str:
    """Return a summary of talk without the sentences that say nothing, or what nobody said: another number,
    date or name, an order, or words of which hardly any stands in the talk.

    A sentence in the first person, and one that a person said so, gets the name of who said it. One taken
    from a question, a joke or a condition is told as it was said. Behind one that tells what a person
    replaced afterwards stands what they said instead. In another language than the talk names are not
    looked for, since some languages write all nouns as names.

    Args:
        text: As the model wrote it.
        said: What it sums up.
        earlier: A summary that it goes on with.
        heard: All that was said, also after what it sums up; None is ``said``.
    """
    talk = _Talk(said, earlier)
    spoken = [
        (one.speaker, one.text) for one in (said if heard is None else heard) if one.is_person
    ]
    found = find_replacements([*([("", earlier)] if earlier else []), *spoken])
    lines = [[part for part in sentences(line) if part] for line in text.splitlines()]
    if any(part.endswith(_ENDS) for line in lines for part in line) and not text.endswith(_ENDS):
        lines[-1].pop()  # broken off
    kept = ([one for part in line if (one := talk.as_said(part))] for line in lines)
    return "\n".join(line for parts in kept if (line := " ".join(_marked(parts, found))))


def _marked(parts: Sequence[str], found: Sequence[Replacement]) -> Iterator[str]:
    """The sentences, behind each that tells what no longer holds what was said instead."""
    for part, following in pairwise((*parts, "")):
        yield part
        missed = [one for one in found if one.is_missed_by(part, language_of(part))]
        if missed and missed[-1].instead not in (part, following):
            yield missed[-1].instead


class _Talk:
    """What a summary may say."""

    def __init__(self, said: Sequence[Said], earlier: str) -> None:
        self._said = said
        self._earlier = [part for part in sentences(earlier) if part]
        self._sources = [*(f"{one.speaker}: {one.text}" for one in said), *self._earlier]
        self._whole = "\n".join(self._sources)
        self._language = language_of(self._whole)
        self._known = wording(self._whole, self._language)
        speakers = {one.speaker for one in said}
        self._heads = {f"{name}: " for name in speakers}
        self._names = frozenset(word for name in speakers for word in split_words(name))

    def as_said(self, sentence: str) -> str:
        """Return a sentence as it may stand; nothing where it may not."""
        language = language_of(sentence)
        head = next((one for one in self._heads if sentence.startswith(one)), "")
        body = sentence[len(head) :]
        if not self._says_something(head, body, language) or harmful(sentence, self._sources):
            return ""
        if (asked := self._not_stated(body, language)) is not None:
            return "" if harmful(asked) or _QUOTES.search(asked) else asked
        if sentence in self._earlier or head:
            return sentence if self._is_supported(sentence, language) else ""
        if (speaker := self._quoted(body)) is not None:
            return f"{speaker}: {sentence}"
        if in_first_person(sentence, language):
            said = (
                one
                for one in self._sources
                if not unsupported_part(sentence, self._language, [one], share=OWN_WORDS)
            )
            name, mark, _ = next(said, "").partition(": ")
            return f"{name}: {sentence}" if mark else ""
        return sentence if self._is_supported(sentence, language) else ""

    def _says_something(self, head: str, body: str, language: str) -> bool:
        if body.endswith((":", "：")) or is_refusal(body) or is_small_talk(body, self._names):
            return False
        of_speaker = bool(head) and in_first_person(body, language)
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
        """The person who said a text so."""
        told = normalised_text(body)
        for one in self._said:
            named = one.is_person and one.speaker.casefold() not in NO_NAMES
            if named and any(normalised_text(part) == told for part, _ in one.parts):
                return one.speaker
        return None

    def _is_supported(self, sentence: str, language: str) -> bool:
        if language == self._language:
            return not unsupported_part(sentence, language, [self._whole], share=SUPPORTED)
        told = wording(sentence, language)
        known = self._known
        missing = missing_words(told.words, known.words | known.dates | known.numbers)
        is_said = len(missing) <= (1 - SUPPORTED) * len(told.words)
        return is_said and told.numbers <= known.numbers


def _patterns(language: str) -> Patterns:
    return patterns_of(language if language in GRAMMARS else "en")
