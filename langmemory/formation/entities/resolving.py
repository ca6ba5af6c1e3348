"""Who and what facts speak of: from names to entities, exact first and careful after.

A name is looked up as it is written (`normalised`), then as part of a longer name, then by
spelling, then by meaning. Only the exact step uses an entity that is there; what the others find
becomes an entity of its own with a link to the one found, so that a person can take it back, and
what they are not sure of becomes a question. A wrong merge mixes two lives, a missed one costs a
question, so every doubt falls to the question's side.

Names learned in private stay so: an entity first named in a private fact belongs to its owner
(its key says so), nobody else's facts find it, and private facts add no names or links to
entities others may see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from langmemory.formation.entities.cast import Cast, Similar
from langmemory.formation.entities.resolution import Resolution
from langmemory.formation.entities.scene import Scene
from langmemory.ports.facts import Fact, Knowledge


def resolve(
    facts: Sequence[Fact],
    knowledge: Knowledge,
    *,
    similar: Similar | None = None,
) -> Resolution:
    """The facts with entities for names.

    Args:
        facts: with names in their claims.
        similar: compares names by meaning; without it that step is left out.
    """
    cast = Cast(facts, knowledge, similar)
    resolved: list[Fact] = []
    scenes: list[Scene] = []
    own: dict[int, Mapping[str, str]] = {}
    for index, fact in enumerate(facts):
        scene = Scene(cast, index, fact)
        resolved.append(replace(fact, claims=tuple(scene.claims())))
        scenes.append(scene)
        if scene.own:
            own[index] = scene.own
    mentions = {index: tuple(scene.mentioned()) for index, scene in enumerate(scenes)}
    return Resolution(
        facts=tuple(resolved),
        changes=tuple(cast.changes()),
        mentions=mentions,
        unclear=tuple(cast.unclear),
        own=own,
        names={key: entity.name for key, entity in cast.used.items()},
        kinds={key: entity.kind for key, entity in cast.used.items()},
        speakers=cast.speakers,
    )
