"""Communities of people and things: those that facts speak of together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

SMALLEST: Final = 4
"""Facts of a community at least."""
LARGEST: Final = 200
"""Facts of a community that its summary is made of: the latest."""
HUB_SHARE: Final = 0.2
"""Share of the facts from which what they speak of connects nothing: everything is about the user."""
HUB: Final = 12
"""What fewer facts speak of is no hub, whatever share of the facts they are."""


def communities(
    facts: Sequence[int], mentions: Mapping[int, Sequence[str]]
) -> dict[str, tuple[int, ...]]:
    """Return the facts of each community, ascending, by the key of the entity that most of them speak of.

    Two entities are of one community where a fact speaks of both, and hubs connect none. A hub is a
    community by itself.

    Args:
        facts: Ids of the facts.
        mentions: Keys of the entities that each speaks of.
    """
    spoken = {item: set(mentions[item]) for item in facts if item in mentions}
    counted = Counter(entity for entities in spoken.values() for entity in entities)
    most = max(HUB, int(len(facts) * HUB_SHARE))
    hubs = {entity for entity, count in counted.items() if count > most}
    leader = {entity: entity for entity in counted}

    def root(entity: str) -> str:
        while leader[entity] != entity:
            leader[entity] = leader[leader[entity]]
            entity = leader[entity]
        return entity

    for entities in spoken.values():
        for one, other in combinations(sorted(entities - hubs), 2):
            low, high = sorted((root(one), root(other)))
            leader[high] = low
    groups: dict[str, set[int]] = defaultdict(set)
    for item, entities in spoken.items():
        for entity in entities:
            groups[root(entity)].add(item)
    named: dict[str, str] = {}
    for entity in sorted(counted, key=lambda one: (-counted[one], one)):
        named.setdefault(root(entity), entity)
    return {
        named[group]: tuple(sorted(items)[-LARGEST:])
        for group, items in sorted(groups.items())
        if len(items) >= SMALLEST
    }
