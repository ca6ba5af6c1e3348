"""What persons said instead of something that they said before.

It is only ever quoted beside what it replaces, or keeps out what a model wrote, so a wrong guess says
nothing that nobody said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from langmemory.formation.batch import Batch, Turn
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.rules import RuleExtractor
from langmemory.formation.rules.value_corrections import (
    Replacement,
    SpokenSentence,
    find_corrections,
    spoken_sentences,
)
from langmemory.formation.wording import missing_words, telling_words
from langmemory.ports.facts import Fact

_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)


def find_replacements(said: Sequence[tuple[str, str]]) -> list[Replacement]:
    """Return what was replaced by something later: a number, a date or a name, and what rules read as over.

    Args:
        said: As `spoken_sentences` has it.
    """
    read = spoken_sentences(said)
    return [*find_corrections(read), *_over(said, read)]


def _over(said: Sequence[tuple[str, str]], read: Sequence[SpokenSentence]) -> Iterator[Replacement]:
    """What rules read to be over, or to have another value of which there is one at a time."""
    turns = tuple(
        Turn(key=str(place), text=text, role="user", speaker=speaker, said_at=_ANY_TIME)
        for place, (speaker, text) in enumerate(said)
        if speaker
    )
    facts = RuleExtractor().read(Batch(namespace=(), thread_id="", turns=turns)).facts
    for number, new in enumerate(facts):
        for old in facts[:number]:
            if not _is_replaced(old, new):
                continue
            before, after = (_told_by(one, read) for one in (old, new))
            if before is None or after is None or before == after:
                continue
            objects = [telling_words(one.claims[0].object, one.language) for one in (old, new)]
            yield Replacement(
                said=f"{old.text} {before.text}",
                language=old.language,
                gone=objects[0] - (objects[1] if not new.ends else frozenset()),
                came=frozenset() if new.ends else objects[1] - objects[0],
                instead=after.quoted,
                after=telling_words(f"{new.text} {after.following}", new.language),
            )


def _is_replaced(old: Fact, new: Fact) -> bool:
    if old.ends or not old.claims or not new.claims:
        return False
    mine, theirs = old.claims[0], new.claims[0]
    if (mine.subject, mine.relation) != (theirs.subject, theirs.relation):
        return False
    if new.ends:
        return mine.object == theirs.object
    return mine.object != theirs.object and relation_named(mine.relation).is_single


def _told_by(fact: Fact, read: Sequence[SpokenSentence]) -> SpokenSentence | None:
    """The sentence of a fact's turn that has most of its words."""
    telling = telling_words(fact.text, fact.language)
    mine = [one for one in read if str(one.place) == fact.evidence[0]]
    return max(mine, key=lambda one: -len(missing_words(telling, one.telling)), default=None)
