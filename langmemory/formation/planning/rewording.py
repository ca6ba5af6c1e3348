"""What a memory claims after somebody gave it other words.

An application that corrects a fact puts one word for another: "Lena lives in Bonn." becomes "Lena lives
in Kiel.". What stands in the place of a name is claimed instead of it, what the words still name is
claimed still, and what they name no more is not. No grammar is read, so that it serves any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from langmemory.changes import AddEdge, Change, UpdateMemory
from langmemory.formation.entities.cast import Cast, Found
from langmemory.formation.entities.lookup import Lookup
from langmemory.formation.entities.names import NameOptions
from langmemory.formation.facts import Claim, Fact, Knowledge
from langmemory.formation.wording import PAST_CUES, wording
from langmemory.lexicon import detect_language, is_unspaced
from langmemory.types import Memory

LONGEST_NAME: Final = 80
"""Characters of what stands in the place of a name; more is another statement."""
REASON: Final = "its words changed"


def still_claimed(
    memory: Memory,
    *,
    before: str,
    claims: Sequence[Claim],
    entities: Mapping[str, tuple[str, str]],
    knowledge: Knowledge,
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
    reading = _Reading(memory, before, entities, knowledge, now)
    if reading.is_turned:
        return []
    found = [claim for old in claims if (claim := reading.claim(old)) is not None]
    mentions = tuple(key for key in entities if reading.names_still(key))
    if not mentions and not found:
        return []
    return [
        *reading.cast.changes(),
        UpdateMemory(key=memory.key, mentions=mentions, reason=REASON),
        *(
            AddEdge(
                fact=memory.key,
                subject=claim.subject,
                relation=claim.relation,
                object=claim.object if claim.object_is_entity else None,
                literal=None if claim.object_is_entity else claim.object,
                reason=REASON,
            )
            for claim in dict.fromkeys(found)
        ),
    ]


class _Reading:
    """The names of a memory in its words before and after."""

    def __init__(
        self,
        memory: Memory,
        before: str,
        entities: Mapping[str, tuple[str, str]],
        knowledge: Knowledge,
        now: datetime,
    ) -> None:
        self._before, self._after = _plain(before), _plain(memory.text)
        was, told = (wording(text, detect_language(text).code) for text in (before, memory.text))
        self._agrees = was.agrees(told)
        self.is_turned = was.negated != told.negated or (
            bool(PAST_CUES.search(memory.text)) and not PAST_CUES.search(before)
        )
        """Whether the other words say the opposite, or that it is over."""
        fact = Fact(
            text=memory.text, speaker=memory.speaker, owner=memory.owner, privacy=memory.privacy,
            evidence=(memory.key,), said_at=now,
        )  # fmt: skip
        self.cast = Cast((fact,), knowledge, None, NameOptions())
        speaker = self.cast.speaker(fact)
        self._lookup = Lookup(self.cast, 0, fact, speaker)
        self._speaker = None if speaker is None else speaker.key
        self._entities = entities
        self._names = {key: [name] for key, (name, _) in entities.items()}
        for norm, entity in knowledge.names():
            if entity.key in self._names:
                self._names[entity.key].append(norm)

    def claim(self, old: Claim) -> Claim | None:
        """What is claimed in the place of this; None where nothing is."""
        subject = self._entity(old.subject)
        thing = self._entity(old.object) if old.object_is_entity else self._spoken([old.object])
        if subject is None or thing is None:
            return None
        return Claim(
            subject=subject,
            relation=old.relation,
            object=thing,
            object_is_entity=old.object_is_entity,
        )

    def names_still(self, key: str) -> bool:
        return any(_found(name, self._after) for name in self._names[key])

    def _entity(self, key: str) -> str | None:
        """Key of whom the words name where they named this one."""
        names = self._names.get(key, [])
        name = self._spoken(names)
        if name is None:
            return key if key == self._speaker and not self._named_before(names) else None
        if name in names:
            return key
        found = self._lookup.find(name, self._entities[key][1])
        return found.own if isinstance(found, Found) else None

    def _named_before(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if _found(name, self._before)]

    def _spoken(self, names: Sequence[str]) -> str | None:
        """The one of several names for the same that the words still have, or else what they have in
        its place. Where none was spoken, it is meant as long as nothing else differs that tells."""
        spoken = self._named_before(names)
        if not spoken:
            return names[0] if names and self._agrees else None
        for name in spoken:
            if _found(name, self._after):
                return name
        return next((put for name in spoken for put in self._in_place_of(name)), None)

    def _in_place_of(self, name: str) -> Iterator[str]:
        """What the words have where they had a name, all else being the same."""
        match = _found(name, self._before)
        assert match is not None
        head, tail = self._before[: match.start()], self._before[match.end() :]
        end = len(self._after) - len(tail)
        put = self._after[len(head) : end].strip()
        around = (self._after[: len(head)], self._after[end:]) if len(head) < end else ()
        same = [one.casefold() for one in around] == [head.casefold(), tail.casefold()]
        if same and 0 < len(put) <= LONGEST_NAME:
            yield put


def _plain(text: str) -> str:
    """One space between words, and no final stop."""
    return " ".join(text.split()).rstrip(" .!。！")


def _found(name: str, text: str) -> re.Match[str] | None:
    """A name in a text, as words of its own where words are apart."""
    name = re.escape(name)
    pattern = name if is_unspaced(name) else rf"(?<!\w){name}(?!\w)"
    return re.search(pattern, text, re.IGNORECASE)
