"""What the rules wrote before, as a retraction is compared with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from langmemory.formation.entities.roles import person_words
from langmemory.formation.relations.vocabulary import PLANNED, canonical, relation_named
from langmemory.formation.rules.retractions.frame import FRAMES
from langmemory.languages.spelling import name_key
from langmemory.ports.facts import Claim, Fact, FactKind, KnownFact, SnapshotKnowledge
from langmemory.types import NO_LONGER, Privacy

_SHOWN_TIME = re.compile(r" \(\d{4}[\d –:-]*\)(?=[.。]?$)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A fact that holds, with names."""

    text: str
    claim: Claim
    kind: FactKind
    language: str
    importance: float
    speaker: str | None
    owner: str | None
    privacy: Privacy
    said_at: datetime
    turns: tuple[str, ...]
    shown: str
    """The speaker, as statements call them."""
    mine: bool
    """Whether it says what the speaker is, has or does; or who somebody is to them."""
    to_me: bool
    """Whether the speaker is its object: "Tom is Lena's boss"."""

    @property
    def relation(self) -> str:
        return relation_named(self.claim.relation.removeprefix(PLANNED)).name

    def as_position(self) -> Held | None:
        """Of who works somewhere as something, the work alone; None of other facts."""
        if self.relation != "works_at" or self.language not in FRAMES:
            return None
        found = re.search(FRAMES[self.language].positions, self.text)
        if found is None:
            return None
        claim = replace(self.claim, relation="works_as", object=found[1], object_is_entity=False)
        return replace(self, claim=claim)


def told_in(fact: Fact, shown: str, claimed: str) -> Held | None:
    """A fact of the batch that is read; None where it says that something is over."""
    if fact.ends or not fact.claims:
        return None
    claim = canonical(fact.claims[0])
    return Held(
        shown=shown, mine=claimed in (claim.subject, claim.object), to_me=claim.object == claimed,
        text=fact.text, claim=claim, kind=fact.kind, language=fact.language,
        importance=fact.importance, speaker=fact.speaker, owner=fact.owner, privacy=fact.privacy,
        said_at=fact.said_at, turns=fact.evidence,
    )  # fmt: skip


class Told:
    """What a speaker told before, as it is compared with what they say; each fact is read once."""

    def __init__(
        self, knowledge: SnapshotKnowledge, speaker: str, owner: str | None, shown: str
    ) -> None:
        """``shown`` is the speaker, as statements call them."""
        self._knowledge, self._speaker, self._owner, self._shown = knowledge, speaker, owner, shown
        self._held: dict[int, Held | None] = {}

    def held(self, text: str) -> list[Held]:
        """Return what they may take back with a text, the latest first."""
        facts = self._knowledge.told_by(self._speaker, self._owner, text)
        if new := [one for one in facts if one.memory.id not in self._held]:
            ends = ((one.claims[0].subject, one.claims[0].object) for one in new)
            names = self._knowledge.names_of(key for both in ends for key in both)
            self._held.update((one.memory.id, self._read(one, names)) for one in new)
        return [held for one in facts if (held := self._held[one.memory.id]) is not None]

    @cached_property
    def _me(self) -> set[str]:
        """Keys of the speaker."""
        anonymous = self._speaker.casefold() in person_words().self and self._owner
        name = self._owner if anonymous and self._owner else self._speaker
        links = self._knowledge.links()
        return {links.get(one.key, one.key) for one in self._knowledge.called(name_key(name))}

    def _read(self, known: KnownFact, names: Mapping[str, str]) -> Held | None:
        memory = known.memory
        first = known.claims[0]
        claim = _claim_with_names(first, names)
        if first.relation.startswith(NO_LONGER) or claim is None:
            return None
        to_me = first.object_is_entity and first.object in self._me
        if to_me and relation_named(first.relation).symmetric:
            to_me, first = False, replace(first, subject=first.object, object=first.subject)
            claim = replace(claim, subject=claim.object, object=claim.subject)
        return Held(
            shown=self._shown, mine=to_me or first.subject in self._me, to_me=to_me,
            text=memory.text, claim=claim, kind=memory.value.get("fact_kind", "fact"),
            language=str(memory.value.get("language", "en")), importance=memory.importance,
            speaker=memory.speaker, owner=memory.owner, privacy=memory.privacy,
            said_at=known.told_at or memory.created_at, turns=known.evidence,
        )  # fmt: skip


def _claim_with_names(claim: Claim, names: Mapping[str, str]) -> Claim | None:
    """A claim with names for the keys of its entities."""
    subject = names.get(claim.subject)
    about = names.get(claim.object) if claim.object_is_entity else claim.object
    return (
        None if subject is None or about is None else replace(claim, subject=subject, object=about)
    )


def no_longer(held: Held, *, never: bool = False) -> str:
    """Return the statement of a fact that holds no more or, with ``never``, that never held."""
    frame = FRAMES[held.language if held.language in FRAMES else "en"]
    text = _SHOWN_TIME.sub("", held.text)
    subject = re.escape(held.shown if held.mine else held.claim.subject)
    if begun := re.match(frame.before_verb.replace("{s}", subject), text):
        for pattern, now, at_no_time in frame.no_longer:
            if rest := re.fullmatch(pattern, text[begun.end() :]):
                return begun[0] + rest.expand(at_no_time if never else now)
    return f"{frame.otherwise[never]}{text}"
