"""Read one turn for what its speaker takes back of what they told before.

A fact gives way only where the clause speaks of it: by the name of its object, by a word for it ("the
job"), or, where there is only one it may mean, by saying what ends it ("I got fired"). What is not clear is
written with a confidence so low that a person is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final

from langmemory.formation.batch import Turn
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.rules.clauses import own_words, plainly_said, sentences, without_question
from langmemory.formation.rules.patterns import Patterns, patterns_of
from langmemory.formation.rules.retractions.corrections import (
    Corrected,
    find_corrections,
    said_instead,
)
from langmemory.formation.rules.retractions.frame import FRAMES, Ending, Frame, union_of_languages
from langmemory.formation.rules.retractions.held import Held, no_longer
from langmemory.formation.rules.retractions.marking import (
    Alike,
    Marked,
    Mention,
    is_named,
    mark_clause,
    marking_key,
)
from langmemory.formation.statements import cues
from langmemory.languages import split_words
from langmemory.languages.patterns import compiled
from langmemory.ports.facts import BEGINS, Fact, FactKind

SURE, UNSURE = 0.85, 0.5
"""Confidence of what is clear, and of what a person is asked about."""
MAX_CHARACTERS: Final = 4000
"""Longer turns are mostly pasted."""
RECENT = timedelta(hours=1)
"""How long "it" and "she" may mean what was told last."""
_WORDS_OF_NAME = 2
"""Before "and", no more words are no clause: "Tom and I"."""
_AT_ALL = frozenset((
    "works_at", "workplace", "works_as", "working_hours", "reports_to", "colleague_of",
    "studies_at", "married_to", "engaged_to", "partner_of", "lives_in", "lives_with", "diet",
    "allergic_to", "favourite", "has_pet",
))  # fmt: skip
"""Relations that a clause may end that has no word of the fact: "I got fired"."""
_COUPLES = frozenset({"married_to", "engaged_to", "partner_of"})
"""Whom "him" may mean though nobody spoke of them lately."""


@lru_cache(maxsize=1024)
def _compiled(code: str, pattern: str) -> re.Pattern[str]:
    """Return a pattern of a language by which a fact ends; hundreds are never asked for."""
    return FRAMES[code].compile_pattern(pattern)


@lru_cache(maxsize=4)
def _deaths(code: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a language by which somebody is dead, and widowed."""
    frame = FRAMES[code]
    return frame.compile_pattern(frame.died), frame.compile_pattern(frame.widowed)


@lru_cache(maxsize=512)
def _endings_for(
    code: str, kind: FactKind, relation: str
) -> tuple[tuple[Ending, re.Pattern[str]], ...]:
    """Return those by which a fact of this kind and relation ends."""
    name = "plans" if kind == "plan" else relation
    if name.startswith("favourite_"):
        name = "favourite"
    timeless = relation_named(name).timeless
    return tuple(
        (one, _compiled(code, one.pattern))
        for group in FRAMES[code].endings
        if name in group.relations or ("*" in group.relations and not timeless)
        for one in group
    )


def may_take_back(text: str, code: str) -> bool:
    """Whether a text has a word by which something is taken back; most have none."""
    if code not in FRAMES or len(text) > MAX_CHARACTERS:
        return False
    cue = FRAMES[code].cues.search(text) or patterns_of(code).takes_back.search(text)
    return cue is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Hit:
    """A clause that ends a fact."""

    held: Held
    mention: Mention
    unsure: bool = False
    never: bool = False
    died: bool = False


def taken_back(
    turn: Turn, text: str, code: str, known: Sequence[Held], own: Sequence[Fact]
) -> list[Fact]:
    """The facts of a turn with what it takes back: those of them that correct a known one say so.

    Args:
        turn: read.
        text: its words.
        code: its language, one of `FRAMES`.
        known: what its speaker told before, the latest first, and in this turn.
        own: what the rules made of the turn.
    """
    reading = _Reading(turn, FRAMES[code], patterns_of(code), known, list(own))
    reading.read(text)
    return reading.facts


class _Reading:
    """One turn, and what comes of it."""

    def __init__(
        self, turn: Turn, frame: Frame, patterns: Patterns, known: Sequence[Held], facts: list[Fact]
    ) -> None:
        self.turn = turn
        self.frame = frame
        self.patterns = patterns
        self.known = list(known)
        self._kin_of: dict[str, str] = {}
        self.facts = facts
        self._unnamed: dict[tuple[str, bool, Alike], _Hit | None] = {}
        self.before = ""
        """What the turn said so far: what it tells only later it cannot take back yet."""

    def read(self, text: str) -> None:
        own = own_words(text.replace("’", "'"), self.patterns)
        for sentence in sentences(own):
            if self.patterns.frames.search(sentence):
                return
            bare = plainly_said(sentence)
            said = "" if bare is None else without_question(bare, self.patterns)
            if said:
                self._sentence(self._spelled_out(said))
            self.before += f" {sentence}"

    def _spelled_out(self, sentence: str) -> str:
        for pattern, written in self.frame.spelled_out:
            sentence = compiled(f"(?i){pattern}").sub(written, sentence)
        return " ".join(sentence.split()).rstrip(" .!…。！")

    def _sentence(self, sentence: str) -> None:
        # A doubt may stand in another clause than the rest, unless it is a condition of all of it.
        begins = rf"\W*(?:{union_of_languages('conditions')})"
        if re.match(begins, sentence, re.IGNORECASE) and self.frame.skip.search(sentence):
            return
        if self._corrects(sentence):
            return
        for clause in self._clauses(sentence):
            bare = (clause or "").strip(" ,;:–—-，。")
            last = sentence.endswith(clause)
            if bare and not (bare != sentence and self._corrects(bare, last=last)):
                self._clause(self._led(bare))
            self.before += f" {bare}"

    def _clauses(self, sentence: str) -> Iterator[str]:
        """Its clauses; "Tom and I" is no end of one."""
        start = 0
        for joint in self.frame.splits.finditer(sentence):
            part = sentence[start : joint.start()]
            if (
                self.frame.spaced
                and len(part.split()) <= _WORDS_OF_NAME
                and self.frame.and_.search(joint[0])
            ):
                continue
            yield part
            start = joint.end()
        yield sentence[start:]

    def _corrects(self, sentence: str, *, last: bool = True) -> bool:
        """Whether it says something instead of what was told; a name alone does so at the end of a
        sentence: "Sorry, Tom, I can't" speaks to somebody."""
        reach, latest = self._in_reach(), self._latest()
        instead = said_instead(sentence, self.frame, self.patterns) if last else None
        said = instead or self._led(sentence)
        found = find_corrections(said, self.frame, reach, latest)
        for one in found:
            self._correct(one)
        return bool(found)

    def _led(self, clause: str) -> str:
        """Without "Well, unfortunately"."""
        return compiled(rf"(?i)^\W*{self.frame.leads}").sub("", clause, count=1).strip()

    def _in_reach(self) -> list[Held]:
        """What was told before this point."""
        said = self.before.casefold()
        return [
            one
            for one in self.known
            if self.turn.key not in one.turns
            or all(word in said for word in one.claim.object.casefold().split()[:1])
        ]

    def _latest(self) -> list[Held]:
        """What was told last, shortly before."""
        near = [one for one in self._in_reach() if self.turn.said_at - one.said_at <= RECENT]
        last = max((one.said_at for one in near), default=None)
        return [one for one in near if one.said_at == last]

    # Endings.

    def _clause(self, clause: str) -> None:
        frame = self.frame
        if frame.skip.search(clause):
            return
        latest = self._latest()
        if frame.denials.fullmatch(clause):
            for one in latest:
                self._end(_Hit(held=one, mention="pronoun", unsure=True), clause)
            return
        begun = {word[:BEGINS] for word in split_words(clause)}
        hits = [
            hit
            for one in self._in_reach()
            if (one in latest or _may_mean(one, begun, frame))
            and (hit := self._hit(clause, one, one in latest) or self._position(clause, one))
        ]
        for hit in self._meant(hits, latest):
            self._end(hit, clause)

    def _hit(self, clause: str, held: Held, latest: bool) -> _Hit | None:
        """How a clause ends a fact. What does not name it is read once for all facts that it may mean
        alike, and not at all for those of others."""
        if not (held.mine or latest or held.kind in ("plan", "decision")) and not is_named(
            clause, held, self.frame, self._kin(held)
        ):
            return None
        alike = marking_key(clause, held, self.frame)
        if alike is None:
            return self._read_for(clause, held, latest)
        asked = (clause, latest, alike)
        if asked not in self._unnamed:
            self._unnamed[asked] = self._read_for(clause, held, latest)
        hit = self._unnamed[asked]
        return None if hit is None else replace(hit, held=held)

    def _read_for(self, clause: str, held: Held, latest: bool) -> _Hit | None:
        died, widowed = _deaths(self.frame.code)
        passing = self.frame.passing.search(clause) is not None
        found: _Hit | None = None
        for one in mark_clause(clause, held, self.frame, kin=self._kin(held), latest=latest):
            if not held.mine and "§S" not in one.text:
                continue
            alone = one.mention != "pronoun" or latest
            if not alone and relation_named(held.relation).name not in _COUPLES:
                continue
            lost = held.relation == "married_to" and widowed.match(one.text) is not None
            if alone and (lost or self._dies(one, held, died)):
                return _Hit(held=held, mention=one.mention, died=True)
            for ending, pattern in _endings_for(self.frame.code, held.kind, held.relation):
                matched = pattern.match(one.text)
                if matched is None or (
                    passing and (self._has_denial(matched[0]) or "*" in ending.relations)
                ):
                    continue
                if "O}" in ending.pattern and one.mention == "none" and "§O" in matched[0]:
                    continue
                unsure = ending.unsure or not alone
                hit = _Hit(held=held, mention=one.mention, unsure=unsure, never=ending.never)
                if not hit.unsure:
                    return hit
                found = found or hit
        return found or self._find_dropped_plan(clause, held)

    def _has_denial(self, text: str) -> bool:
        return FRAMES.everywhere.denied.search(text) is not None

    def _position(self, clause: str, held: Held) -> _Hit | None:
        """Who works somewhere as something, and names that alone: "I'm not a nurse any more"."""
        position = held.as_position()
        hit = None if position is None else self._hit(clause, position, latest=False)
        return None if hit is None or hit.mention != "named" else replace(hit, held=held)

    def _dies(self, one: Marked, held: Held, died: re.Pattern[str]) -> bool:
        matched = died.match(one.text)
        if matched is None or (one.mention == "none" and "§O" in matched[0]):
            return False
        relation = relation_named(held.claim.relation)
        whole = matched[0]
        if held.mine:  # the one who died is its object
            living = (
                relation.object in ("person", "animal") or held.to_me or relation.name == "has_pet"
            )
            return (
                living and not (relation.timeless and relation.name != "has_pet") and "§O" in whole
            )
        return whole.startswith("§S") and not relation.timeless

    def _find_dropped_plan(self, clause: str, held: Held) -> _Hit | None:
        """A plan that is denied by its verb: "We're not moving after all"."""
        if held.kind not in ("plan", "decision"):
            return None
        me = re.sub(self.frame.me, "§S", clause)
        own = re.match(self.frame.plan_stem, held.claim.object)
        meant = [
            v
            for words, _, v in self.frame.plans
            if re.search(words, held.claim.object, re.IGNORECASE)
        ]
        if own is not None:
            forms = self.frame.plan_forms.replace("<verb>", own[1])
            meant.append(forms.replace("<last>", own[1][-1]).replace("<end>", own[2]))
        for verbs in meant:
            pattern = self.frame.parts["unplanned"].replace("<verbs>", verbs)
            matched = self.frame.compile_pattern(pattern).match(me)
            if matched is None:
                continue
            names = [word for word in re.findall(r"\w+", held.claim.object) if word[0].isupper()]
            rest = me[matched.end() :]
            if not names or any(re.search(rf"\b{re.escape(name)}\b", rest) for name in names):
                return _Hit(held=held, mention="named")
            if not re.search(r"\b[A-Z]\w+", rest):
                return _Hit(held=held, mention="none")
        return None

    def _meant(self, hits: list[_Hit], latest: Sequence[Held]) -> Iterator[_Hit]:
        """The facts a clause ends: those it names, or what it may mean else."""
        named = [hit for hit in hits if hit.mention == "named"]
        if named:
            sure = {hit.held.relation for hit in named}
            yield from named
            hits = [
                hit
                for hit in hits
                if hit.mention == "none" and hit.unsure and hit.held.relation not in sure
            ]
            yield from hits
            return
        nouns = [hit for hit in hits if hit.mention == "noun"]
        rest = nouns or [hit for hit in hits if hit.mention == "pronoun"] or hits
        count = Counter(hit.held.relation for hit in rest)
        for hit in rest:
            several = count[hit.held.relation] > 1
            if several and any(
                other.held in latest for other in rest if other.held.relation == hit.held.relation
            ):
                if hit.held in latest:
                    yield hit
            elif not several or hit.mention != "pronoun":  # "it", of several, is none of them
                yield replace(hit, unsure=hit.unsure or several)

    def _kin(self, held: Held) -> str:
        """What the subject of a fact is to the speaker: "sister|twin"."""
        if held.mine:
            return ""
        subject = held.claim.subject
        if subject not in self._kin_of:
            self._kin_of[subject] = "|".join(map(re.escape, self._kin_words(subject)))
        return self._kin_of[subject]

    def _kin_words(self, subject: str) -> list[str]:
        words = [
            role[1]
            for one in self.known
            if subject in (one.claim.subject, one.claim.object)
            and one.mine
            and (role := re.search(r"(?:'s?|s) ([a-z -]+)\.$", one.text))
        ]
        if relative := subject.partition("'s ")[2]:
            words.append(relative)
        return words

    # What is written.

    def _end(self, hit: _Hit, clause: str) -> None:
        held = hit.held
        doubtful = hit.unsure or self.frame.doubt.search(clause) is not None
        timeless = relation_named(held.relation).timeless
        never = hit.never or (
            not hit.died
            and FRAMES.everywhere.changes.search(clause) is None
            and self._has_denial(clause)
        )
        if self._is_said(held, changed=cues().changed.search(clause) is not None):
            return
        fact = Fact(
            text=_capitalise_sentence(no_longer(held, never=never and not hit.died), self.turn.speaker),
            kind="fact" if held.kind in ("plan", "event", "decision") else held.kind,
            claims=(held.claim,), ends=True, corrects=timeless,
            confidence=UNSURE if doubtful else SURE, importance=held.importance,
            language=held.language, **self._source(held),
        )  # fmt: skip
        self.facts.append(fact)
        if not doubtful:
            self._forget(held)

    def _correct(self, one: Corrected) -> None:
        held = one.held
        for place, fact in enumerate(self.facts):
            claim = fact.claims[0] if fact.claims else None
            if claim is None or fact.ends or relation_named(claim.relation).name != held.relation:
                continue
            if claim.object.casefold() == one.new.casefold():
                self.facts[place] = replace(fact, corrects=True)
                return
        text = held.text.replace(held.claim.object, one.new, 1)
        if text == held.text:
            return
        self.facts.append(
            Fact(
                text=_capitalise_sentence(text, self.turn.speaker), kind=held.kind,
                claims=(replace(held.claim, object=one.new),),
                corrects=True, confidence=UNSURE if one.unsure else SURE,
                importance=held.importance, language=held.language, **self._source(held),
            )
        )  # fmt: skip
        if not one.unsure:
            self._forget(held)

    def _forget(self, held: Held) -> None:
        self.known.remove(held)
        self._kin_of.clear()

    def _source(self, held: Held) -> dict[str, Any]:
        """Of a fact that answers a private one, nobody else may read more."""
        turn = self.turn
        private = "private" in (held.privacy, turn.privacy)
        return {
            "speaker": turn.speaker, "owner": turn.owner, "evidence": (turn.key,),
            "said_at": turn.said_at, "privacy": "private" if private else turn.privacy,
        }  # fmt: skip

    def _is_said(self, held: Held, *, changed: bool) -> bool:
        """Whether the rules made a fact of the turn already by which this one is over; its opposite is
        enough where the words say that it changed."""
        for fact in self.facts:
            for claim in fact.claims:
                same = relation_named(claim.relation).name == held.relation
                about = claim.object.casefold() == held.claim.object.casefold()
                opposite = relation_named(claim.relation).opposite == held.relation
                if about and self.turn.key in fact.evidence and (fact.ends and same):
                    return True
                if about and opposite and changed:
                    return True
        return False


@lru_cache(maxsize=4096)
def _words(held: Held, frame: Frame) -> frozenset[str] | None:
    """How the words a fact may be spoken of by begin; None where it may end without any of them."""
    name = held.relation
    if held.kind in ("plan", "decision") or name in _AT_ALL or not frame.spaced:
        return None
    nouns = frame.nouns.get(name, "").replace("|", " ")
    said = f"{held.text} {held.claim.subject} {held.claim.object} {nouns}"
    return frozenset(word[:BEGINS] for word in split_words(said))


def _may_mean(held: Held, begun: set[str], frame: Frame) -> bool:
    words = _words(held, frame)
    return (
        words is None
        or not words.isdisjoint(begun)
        or held.claim.object[:3].casefold() in {word[:3] for word in begun}
    )


def _capitalise_sentence(text: str, speaker: str) -> str:
    """Return a statement with a capital at its start, unless it begins with the speaker's id."""
    return text if text.startswith(speaker) else text[:1].upper() + text[1:]
