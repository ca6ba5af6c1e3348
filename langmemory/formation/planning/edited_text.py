"""The claims of a memory after somebody gave it other words.

An application that corrects a fact puts one word for another: "Lena lives in Bonn." becomes "Lena lives
in Kiel.". What stands in the place of a name is claimed instead of it, what the words still name is
claimed still, and what they name no more is not. No grammar is read, so that it serves any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Final

from langmemory.changes import Change, UpdateMemory
from langmemory.formation.entities.resolution import Resolution
from langmemory.formation.entities.resolving import resolve
from langmemory.formation.planning.writing import edges
from langmemory.formation.relations.vocabulary import canonical
from langmemory.formation.statements import cues
from langmemory.formation.wording import wording
from langmemory.languages import detect_language, is_unspaced
from langmemory.languages.spelling import name_key
from langmemory.ports.facts import Claim, Fact, FullKnowledge
from langmemory.types import Memory

LONGEST_NAME: Final = 80
"""Characters of what stands in the place of a name; more is another statement."""
REASON: Final = "its words changed"

Put = tuple[str | None, str | None]
"""Names put in the place of a claim's subject and object; None for one that is as it was."""


def still_claimed(
    memory: Memory,
    *,
    before: str,
    claims: Sequence[Claim],
    entities: Mapping[str, tuple[str, str]],
    knowledge: FullKnowledge,
    now: datetime,
) -> list[Change]:
    """Entities, mentions and edges of a memory by its other words, the earlier ones being gone.

    Args:
        memory: with its other words.
        before: its text until now.
        claims: what it claimed by that; keys are those its edges were written with.
        entities: (name, kind) of those it spoke of, by key.
        knowledge: what is known.
        now: when the other words were said.
    """
    words = _Names(before, memory, entities, knowledge)
    if words.are_turned:
        return []
    puts = {claim: put for claim in claims if (put := words.put_for(claim)) is not None}
    otherwise = {claim: put for claim, put in puts.items() if any(put)}
    facts = [_fact(memory, *one, entities, now) for one in otherwise.items()]
    resolution = resolve(facts, knowledge) if facts else Resolution(facts=())
    found = [claim for claim in puts if claim not in otherwise]
    for place, (claim, put) in enumerate(otherwise.items()):
        found += _edit_claim(claim, put, resolution, place)
    mentions = tuple(key for key in entities if words.name_still(key))
    if not found and not mentions:
        return []
    named = {key for claim in found for key in (claim.subject, claim.object)}
    return [
        *resolution.changes_for(named),
        UpdateMemory(key=memory.key, mentions=mentions, reason=REASON),
        *edges(memory.key, tuple(found), {}),
    ]


class _Names:
    """The names of a memory in its words before and now."""

    def __init__(
        self,
        before: str,
        memory: Memory,
        entities: Mapping[str, tuple[str, str]],
        knowledge: FullKnowledge,
    ) -> None:
        was, now = (wording(text, detect_language(text).code) for text in (before, memory.text))
        self.are_turned = was.negated != now.negated or (
            cues().past.search(memory.text) is not None and cues().past.search(before) is None
        )
        """Whether they say the opposite now, or that it is over."""
        self._agree = was.agrees(now) and not was.swaps_words(now)
        self._before, self._now = _plain(before), _plain(memory.text)
        self._speaker = name_key(memory.speaker or "")
        self._names = {
            key: [
                name,
                *(also for one in knowledge.entities(name_key(name)) for also in one.aliases),
            ]
            for key, (name, _) in entities.items()
        }

    def put_for(self, claim: Claim) -> Put | None:
        """Return the names in the places of its ends; None where nothing does."""
        subject = self._put(self._names.get(claim.subject, []))
        by_name = self._names.get(claim.object, []) if claim.object_is_entity else [claim.object]
        object = self._put(by_name)
        return None if subject == "" or object == "" else (subject, object)

    def name_still(self, key: str) -> bool:
        return any(self._found(name, self._now) for name in self._names[key])

    def _put(self, names: Sequence[str]) -> str | None:
        """The name where these names of the same stood: None for one of them, "" for nothing. One
        that was not spoken is meant as long as nothing else differs, or speaks itself: "I"."""
        spoken = [name for name in names if self._found(name, self._before)]
        if not spoken:
            is_speaker = self._speaker in map(name_key, names) if self._speaker else False
            return None if names and (self._agree or is_speaker) else ""
        if any(self._found(name, self._now) for name in spoken):
            return None
        return next((put for name in spoken if (put := self._in_place_of(name))), "")

    def _in_place_of(self, name: str) -> str:
        """The words in the place of a name, all else being the same; else ""."""
        match = self._found(name, self._before)
        assert match is not None
        head, tail = self._before[: match.start()], self._before[match.end() :]
        end = len(self._now) - len(tail)
        if end <= len(head):
            return ""
        around = self._now[: len(head)] + self._now[end:]
        put = self._now[len(head) : end].strip()
        same = around.casefold() == (head + tail).casefold()
        return put if same and name_key(put) and len(put) <= LONGEST_NAME else ""

    def _found(self, name: str, text: str) -> re.Match[str] | None:
        """A name in a text, where it is no part of a longer one: of "Anna Berg" it is not "Anna"."""
        longer = self._longer(name)
        for match in _matches(name, text):
            around = (one for other in longer for one in _matches(other, text))
            if not any(one.start() <= match.start() and match.end() <= one.end() for one in around):
                return match
        return None

    def _longer(self, name: str) -> list[str]:
        """Names of the memory that this one may be a part of."""
        part = name.casefold()
        every = chain.from_iterable(self._names.values())
        return [other for other in every if len(other) > len(name) and part in other.casefold()]


def _fact(
    memory: Memory, claim: Claim, put: Put, entities: Mapping[str, tuple[str, str]], now: datetime
) -> Fact:
    """The claim by names, for `resolve`."""
    subject, object = put
    as_before = [entities.get(key, (key, ""))[0] for key in (claim.subject, claim.object)]
    named = replace(claim, subject=subject or as_before[0], object=object or as_before[1])
    return Fact(
        text=memory.text,
        speaker=memory.speaker,
        owner=memory.owner,
        privacy=memory.privacy,
        evidence=(memory.key,),
        said_at=now,
        claims=(named,),
    )


def _edit_claim(claim: Claim, put: Put, resolution: Resolution, place: int) -> Iterator[Claim]:
    """A claim with what was put in its places, by the keys its edge is written with; nothing where it
    is not clear who that is. Which of one name the other end is, is clear: the one it was."""
    own = resolution.own.get(place, {})
    kept = [key for key, end in zip((claim.subject, claim.object), put, strict=True) if end is None]
    unclear = (one.claims for one in resolution.unclear if one.fact == place)
    as_before = [
        one
        for candidates in unclear
        for key in kept
        for one in candidates.get(key, ())
        if one.subject != one.object  # else what was put may be the other end as well
    ]
    for found in (*resolution.facts[place].claims, *as_before)[:1]:
        subject, object = (own.get(key, key) for key in (found.subject, found.object))
        if canonical(claim).subject != claim.subject:  # "employs" comes back as "works_at"
            subject, object = object, subject
        yield Claim(
            subject=claim.subject if put[0] is None else subject,
            relation=claim.relation,
            object=claim.object if put[1] is None else object,
            object_is_entity=claim.object_is_entity if put[1] is None else found.object_is_entity,
        )


def _plain(text: str) -> str:
    """One space between words, and no final stop."""
    return " ".join(text.split()).rstrip(" .!。！")


def _matches(name: str, text: str) -> Iterator[re.Match[str]]:
    """Where a text has a name, as words of its own where words are apart."""
    for match in re.finditer(re.escape(name), text, re.IGNORECASE):
        start, end = match.span()
        ends = (text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1])
        if not any(re.fullmatch(r"\w\w", two) and not is_unspaced(two) for two in ends):
            yield match
