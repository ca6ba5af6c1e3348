"""What was derived from a fact that is over. By itself, for a store asks it without forming anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from langmemory.changes import Change, Invalidate, OpenReview, Supersede
from langmemory.ports.facts import Knowledge, digest
from langmemory.types import Namespace


def dependants(
    knowledge: Knowledge, namespace: Namespace, effects: Iterable[Change]
) -> Iterator[OpenReview]:
    """What was derived from a fact that is over may be over, too. A review asks when it is decided,
    for more may have been derived since it was opened."""
    gone = {c.key: c.invalid_at for c in effects if isinstance(c, Supersede | Invalidate)}
    for key, until in gone.items():
        for known in knowledge.derived_from([key]):
            name = known.memory.key
            if name not in gone and known.memory.status == "active":
                yield OpenReview(
                    id=question_id("dependant", namespace, key, name),
                    about="dependant",
                    question="This was derived from a fact that is over. Does it still hold?",
                    memories=(name, key),
                    options={"still_true": (), "over": (Invalidate(key=name, invalid_at=until),)},
                )


def question_id(about: str, namespace: Namespace, *parts: str) -> str:
    """The same for the same question in one namespace: what was asked once is not asked again."""
    return f"review/{digest(*namespace, '', about, *parts)}"
