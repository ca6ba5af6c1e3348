"""What the rules wrote before, as a retraction is compared with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from langmemory.formation.batch import Turn
from langmemory.formation.entities.roles import person_words
from langmemory.formation.relations.vocabulary import PLANNED, canonical, relation_named
from langmemory.formation.rules.retractions.frame import FRAMES
from langmemory.languages.spelling import name_key
from langmemory.ports.facts import Claim, Fact, FactKind, SnapshotKnowledge
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


def held_of(turn: Turn, knowledge: SnapshotKnowledge, shown: str) -> Iterator[Held]:
    """What whoever says a turn told before and may take back with it, the latest first."""
    facts = knowledge.told_by(turn.speaker, turn.owner, turn.text)
    if not facts:
        return
    anonymous = turn.speaker.casefold() in person_words().self and turn.owner
    name = turn.owner if anonymous and turn.owner else turn.speaker
    links = knowledge.links()
    me = {links.get(one.key, one.key) for one in knowledge.called(name_key(name))}
    names = knowledge.names_of(
        key for one in facts for key in (one.claims[0].subject, one.claims[0].object)
    )
    for known in facts:
        memory = known.memory
        first = known.claims[0]
        if first.relation.startswith(NO_LONGER):
            continue
        claim = _claim_with_names(first, names)
        if claim is not None:
            to_me = first.object_is_entity and first.object in me
            if to_me and relation_named(first.relation).symmetric:
                to_me, first = False, replace(first, subject=first.object, object=first.subject)
                claim = replace(claim, subject=claim.object, object=claim.subject)
            yield Held(
                shown=shown, mine=to_me or first.subject in me, to_me=to_me,
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
