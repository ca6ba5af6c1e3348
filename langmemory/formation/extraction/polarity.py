"""Whether a sentence says that its claim holds: models claim "lives in Bonn" of "never lived in Bonn", too.

Such a claim would end what is known ("lives in Kiel"), so it is taken only as far as its sentence
goes. A denial counts where nothing but words of the relation stands between it and the claim's
object; a plan, a supposition, a memory or a time counts where it stands in the claim's clause. What is
not recognised holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Literal

from langmemory.formation.entities.roles import person_words
from langmemory.formation.relations.vocabulary import Relation, relation_named, snake
from langmemory.formation.statements import cues
from langmemory.formation.wording import is_host, is_passing, singular, without_apostrophes
from langmemory.languages import LANGUAGES, primary, split_words

Polarity = Literal[
    "holds", "untold", "over", "past", "denied", "unsaid", "wished", "off", "supposed", "passing"
]
"""It is so; its object is not named, so that it counts as so; it is so no more; it was so once, which
may go on; it is denied; it is said of somebody else, or denied for an occasion only; it may come to be
so, or no longer; it is supposed; it is so for a time."""

_SENTENCE = re.compile(r"(?<=[.!?。！？;])\s+|\n+")
_PART = re.compile(r"\s*[,:—–()]+\s*")
_LEADING = 5
"""Words before the first comma that may say when: "On weekdays, …"."""


def polarity(
    text: str, subject: str, relation: str, object: str, *, language: str = "en"
) -> Polarity:
    """Return how a text means a claim; what one of its sentences says to hold, holds.

    Args:
        subject: name of the claim's subject, as the text has it.
        relation: a name or phrase of the relation.
        language: BCP 47 of the text.
    """
    named = relation_named(relation)
    own = frozenset(snake(relation).split("_")) - cues().joining
    said = own | {word for phrase in named.phrases for word in phrase.split("_")}
    if named.is_single and _is_of_another(text, subject, said):
        return "unsaid"
    code = primary(language)
    stops = LANGUAGES[code].stop_words if code in LANGUAGES else frozenset()
    target = split_words(without_apostrophes(object))
    found = [
        _Reading(subject, said, own, named, stops).polarity(place)
        for sentence in _SENTENCE.split(without_apostrophes(text))
        for place in _places(sentence, target)
    ]
    return next((one for one in found if one == "holds"), found[0] if found else "untold")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a sentence names the object of a claim."""

    sentence: str
    before: Sequence[str]
    """Words before it; "," between two parts."""
    after: Sequence[str]
    """Words after it, the same."""
    object: Sequence[str]

    @property
    def clause(self) -> str:
        """The words around the object, it aside, up to where something else is spoken of."""
        turns = {",", *cues().turns}
        begin = max((at for at, word in enumerate(self.before) if word in turns), default=-1)
        is_lead = (
            0 <= begin <= _LEADING and "," not in self.before[:begin] and self.before[begin] == ","
        )
        first = [*(self.before[:begin] if is_lead else ()), *self.before[begin + 1 :]]
        return " ".join((*first, "_", *takewhile(lambda word: word not in turns, self.after)))


def _places(sentence: str, target: Sequence[str]) -> list[_Place]:
    words: list[str] = []
    for part in _PART.split(sentence.strip(" .!?;")):
        words += [*([","] if words else []), *split_words(part)]
    first = next((at for at, word in enumerate(target) if word not in cues().articles), 0)
    bare = [singular(word) for word in target[first:]]
    plain = [singular(word) for word in words]
    return [
        _Place(sentence, words[:at], words[at + len(bare) :], words[at : at + len(bare)])
        for at in range(len(words) if bare else 0)
        if plain[at : at + len(bare)] == bare
    ]


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the sentences of one claim are read."""

    subject: str
    """Name of the claim's subject; may be empty."""
    said: frozenset[str]
    """Words of the relation."""
    own: frozenset[str]
    """Words of its name alone, as it was told."""
    relation: Relation
    stops: frozenset[str]

    def polarity(self, place: _Place) -> Polarity:
        before = " ".join(self._scope(place.before))
        after = " ".join(place.after).partition(" , ")[0]
        denied = self._denial(place)
        if denied is None and self.relation.is_single and is_host(place.sentence, self.subject):
            return "holds"
        meant = self._meant(before) if self.relation.holds else None
        if self._is_cue(cues().off, before) or self._is_cue(cues().not_to_be, after):
            return "off" if self.relation.holds else "over"
        instead = "|".join(cues().instead)  # "wants an hourly rate instead of"
        if re.search(rf"\b(?:{instead})(?: \w+){{0,2}}$", before, re.IGNORECASE):
            return "unsaid"
        if self._denies_opposite(place) or self._forbids(place):
            return meant or "holds"
        if denied is not None:
            return denied if meant is None else "off" if meant == "off" else "unsaid"
        if meant is not None:
            return meant
        if self.relation.ends is not None or self.relation.timeless:
            return "holds"
        past = self._past(place, before, after)
        if past is not None:
            return past
        clause = place.clause
        if self.relation.on_workdays:
            clause = cues().workdays.sub("", clause)
        if self.relation.is_single and is_passing(clause):
            # "is visiting from Bonn" says where somebody is as a rule.
            return "holds" if cues().away.search(clause) else "passing"
        return "holds"

    def _meant(self, before: str) -> Polarity | None:
        """Whether it is supposed, or planned, or planned no more."""
        if self._is_cue(cues().supposed, before):
            return "supposed"
        for cue in cues().plans.finditer(before):
            if not set(split_words(cue[0])) & self.own:
                first = sum(word in cues().negations for word in before[: cue.start()].split())
                then = sum(word in cues().negations for word in before[cue.start() :].split())
                waits = cues().waits.match(before, cue.start()) is not None
                return "unsaid" if then % 2 and not waits else "off" if first % 2 else "wished"
        return None

    def _is_cue(self, pattern: re.Pattern[str], text: str) -> bool:
        """Whether a cue stands in a text that is no word of the relation itself: "plans to"."""
        return any(not set(split_words(found[0])) & self.own for found in pattern.finditer(text))

    def _denies_opposite(self, place: _Place) -> bool:
        """Return whether a sentence says the claim by denying its opposite: of "dislikes", "I don't like
        olives anymore"."""
        if self.relation.opposite is None:
            return False
        opposite = frozenset({self.relation.opposite})
        verbs = [word for word in place.before if _is_form_of(word, opposite | self.own)]
        return bool(
            verbs
            and not any(_is_form_of(word, self.own) for word in verbs)
            and sum(word in cues().negations for word in place.before) % 2
        )

    def _forbids(self, place: _Place) -> bool:
        """Return whether a sentence says an allergy by what it forbids: "must not have cashews"."""
        words = (*place.before, *place.after)
        return self.relation.name == "allergic_to" and not any(
            _is_form_of(word, self.said) for word in words
        )

    def _denial(self, place: _Place) -> Polarity | None:
        words = [word for word in (*place.before, *place.object, *place.after) if word != ","]
        besides = cues().beside | self.stops
        if cues().denied.search(" ".join(place.before)) is not None:
            return "denied"
        if self.own & cues().negations or self.relation.ends is not None:
            return None
        if sum(word in cues().negations for word in words) % 2 == 0:
            return None
        if not self._governs(place.before, besides):
            return None
        ends = {",", *cues().turns, *cues().since}
        rest = takewhile(lambda word: word not in ends, place.after)
        alone = all(word in besides or word in cues().behind for word in rest)
        if not (alone or self.relation.is_single):
            return "unsaid"
        over = cues().over.search(place.sentence) is not None
        if not over and is_passing(place.clause):
            return "unsaid"
        return "over" if over else "denied"

    def _governs(self, before: Sequence[str], besides: frozenset[str]) -> bool:
        """Whether a negation stands before an object with nothing but the relation in between."""
        for word in reversed(before):
            if word in cues().negations:
                return True
            if word in cues().turns or not (word in besides or _is_form_of(word, self.said)):
                return False
        return False

    def _scope(self, before: Sequence[str]) -> list[str]:
        """The words before an object that may say how it is meant: those of its clause, and beyond
        "and" where an infinitive goes on with it ("plans to move to Oslo and work at Hooli")."""
        scope: list[str] = []
        for at in range(len(before) - 1, -1, -1):
            word = before[at]
            if word == "," and not _goes_on(before[at + 1 :]):
                break
            if word in cues().turns - cues().goes_on or (
                word in cues().and_ and not _goes_on(before[at + 1 :])
            ):
                break
            scope.insert(0, word)
        lead = " ".join(before).partition(" , ")[0]
        if lead and cues().supposed.match(lead):  # "If she gets the job, she works at Hooli"
            scope = [*lead.split(), *scope]
        return scope

    def _past(self, place: _Place, before: str, after: str) -> Polarity | None:
        """Whether a sentence speaks of what was: surely over, or in the past tense only."""
        clause = place.clause
        words = before.split()
        odd = sum(word in cues().negations for word in words) % 2
        if odd and self._is_cue(cues().over, before) and not self._only_owns(before):
            return "over"
        ended = cues().ended_after.search(after)
        if ended is not None and not cues().turns & set(after[: ended.start()].split()):
            return "over"
        besides = cues().beside | self.stops
        for verb in cues().ended.finditer(before):
            between = before[verb.end() :].split()
            own = set(split_words(verb[0])) & self.own
            if not own and all(one in besides or _is_form_of(one, self.said) for one in between):
                return "over"
        if cues().still.search(clause) is not None:
            return None
        clause = self._without_former_roles(clause)
        if cues().episodes.search(clause) is not None:
            return None
        if cues().formerly.search(clause) is not None:
            return "over" if cues().over_surely.search(clause) else "past"
        if cues().remembers.search(before) is not None:
            return "past"
        if cues().reported.search(" ".join(place.before)) is not None:
            return None
        for at, word in enumerate(words):
            following = words[at + 1] if at + 1 < len(words) else "a"
            if word in cues().was and (
                following in cues().states
                or (following in self.said and not following.endswith("ed"))
            ):
                return "past"
            perfect = at > 0 and words[at - 1] in cues().perfect
            # "has set up a shop and rented": what follows "and" has the verb of what precedes it.
            perfect = perfect or (at == 0 and _is_joined_perfect(place.before, len(words)))
            if word in cues().past_states and not (perfect or following == "to"):
                return "past"
        return None

    def _only_owns(self, before: str) -> bool:
        """Whether a text names the subject only as whose the object is, after it said what is over of
        something else: "the app no longer opens on Lena's phone"."""
        name = without_apostrophes(self.subject).casefold()
        cue = cues().over.search(before)
        if not name or cue is None:
            return False
        of_it = re.search(rf"\b{re.escape(name)}s? (?:\w+ ){{0,3}}$", f"{before[cue.end() :]} ")
        return of_it is not None and name not in before[: cue.start()]

    def _without_former_roles(self, clause: str) -> str:
        """A clause without "former" before a role that the relation does not name: "her former
        flatmate in Bonn" lives there still."""

        def kept(found: re.Match[str]) -> str:
            role = found["role"].casefold()
            is_other = person_words().is_role(role) and not _is_form_of(role, self.said)
            return role if is_other else found[0]

        former = rf"\b(?:{'|'.join(cues().former)}) (?P<role>\w+)"
        return re.sub(former, kept, clause, flags=re.IGNORECASE)


def _is_joined_perfect(before: Sequence[str], length: int) -> bool:
    """Whether the last words, as many as ``length``, go on after "and" with a perfect."""
    lead = before[: len(before) - length]
    if not lead or lead[-1] not in cues().and_:
        return False
    return any(
        verb in cues().perfect and participle.endswith(cues().participles)
        for verb, participle in pairwise(lead)
    )


def _goes_on(words: Sequence[str]) -> bool:
    """Whether what comes after "and" or a comma has no subject or finite verb of its own, as far as an
    English ending shows it."""
    first = next((word for word in words if word not in cues().and_ and word != ","), "")
    return first in cues().goes_on_with or (len(words) > 1 and first in cues().infinitives)


def _is_form_of(word: str, said: frozenset[str]) -> bool:
    """Whether a word is one of the relation, endings aside ("live", "lives")."""
    return any(len(one) > 2 and word.startswith(one[: max(3, len(one) - 3)]) for one in said)


def _is_of_another(text: str, subject: str, said: frozenset[str]) -> bool:
    """Whether a sentence names the subject only for whose mother, boss or dog it speaks of: "Lena's
    mother lives in Bonn". A role that the relation itself names is what it says of the subject."""
    name = re.escape(subject.strip())
    begun = re.match(rf"\W*{name}(?:['’]s?|s) (?=(\w+)(?: (\w+))?)", text, re.IGNORECASE)
    if begun is None or re.search(rf"\b{name}\b", text[begun.end() :], re.IGNORECASE):
        return False
    words = (word.casefold() for word in begun.groups() if word)  # the first may be "older"
    role = next((word for word in words if person_words().is_role(word)), None)
    return role is not None and role not in said
