"""Patterns: a small language for the graph, which only reads.

A pattern is one path, ``(a:person)-[works_at]->(b)-[in]->({name: $city})``. A node has a variable, a kind and
a name, each of which may be left out; an edge has a relation, or none for any, and a direction, or none for
both. Values are bound, as ``$city`` is: they are no part of the pattern.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from langmemory.errors import InvalidFilterError
from langmemory.languages.spelling import name_key
from langmemory.ledger.graph_view import Stretch
from langmemory.types import Edge, Entity

LONGEST: Final = 4
"""Edges of a pattern."""
MOST_STEPS: Final = 500_000
"""Edges that are tried in search of matches."""
_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
# Spaces are possessive: else many of them, and no end, take the third power of their number.
_NODE: Final = re.compile(
    rf"\(\s*+(?P<variable>{_NAME})?\s*+(?::\s*+(?P<kind>{_NAME}))?\s*+"
    rf"(?:\{{\s*+name\s*+:\s*+\$(?P<value>{_NAME})\s*+\}})?\s*+\)"
)
_EDGE: Final = re.compile(
    rf"(?P<left><)?-\s*+(?:\[\s*+(?P<variable>{_NAME}\s*+:)?\s*+(?P<relation>[^\]\s$:]{{1,100}})?\s*+\])?\s*+-(?P<right>>)?"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class NodePattern:
    """What an entity has to be."""

    variable: str | None
    kind: str | None
    name: str | None
    """As it was bound."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgePattern:
    """What an edge has to be."""

    relation: str | None
    forward: bool
    """Whether the edge may go from left to right."""
    backward: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """One way in which a pattern is met."""

    entities: Mapping[str, Entity]
    """By variable."""
    literals: Mapping[str, str]
    """By variable, where a claim is about no entity."""
    edges: tuple[Edge, ...]
    """In the order of the pattern."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pattern:
    """A pattern that was read."""

    nodes: tuple[NodePattern, ...]
    edges: tuple[EdgePattern, ...]

    @classmethod
    def read(cls, text: str, values: Mapping[str, str]) -> Pattern:
        """Read a pattern, with its bound values.

        Raises:
            InvalidFilterError: It is none, too long, or a value is not bound.
        """
        nodes, edges, at = [_node(text, 0, values)], list[EdgePattern](), 0
        at = nodes[0][1]
        while at < len(text.rstrip()):
            edge, at = _edge(text, at)
            node = _node(text, at, values)
            at = node[1]
            edges.append(edge)
            nodes.append(node)
        if len(edges) > LONGEST:
            raise InvalidFilterError(
                f"The pattern has {len(edges)} edges; at most {LONGEST} are allowed."
            )
        return cls(nodes=tuple(node for node, _ in nodes), edges=tuple(edges))

    @property
    def way(self) -> tuple[Stretch, ...]:
        """Its edges, as the graph is walked along them."""
        return tuple(
            Stretch(relation=one.relation, forward=one.forward, backward=one.backward)
            for one in self.edges
        )

    @property
    def start(self) -> tuple[int, str | None]:
        """Where there is least to look at: the place of the first node that is named, not the last one if
        possible, whose name may be mere words, and the name; else that of an edge with a relation."""
        last = len(self.edges)
        named = [place for place, one in enumerate(self.nodes) if one.name is not None]
        if named:
            place = next((one for one in named if one < last), named[0])
            return place, self.nodes[place].name
        related = (place for place, one in enumerate(self.edges) if one.relation is not None)
        return next(related, 0), None

    def matches(
        self, entities: Sequence[Entity], edges: Sequence[Edge], limit: int, *, complete: bool
    ) -> Matches:
        """Return the first ways in which a graph meets the pattern; no edge stands twice in one.

        Args:
            entities: Those of the graph.
            edges: Likewise.
            limit: At most so many ways.
            complete: Whether entities and edges are all that may meet it.
        """
        search = _Search(self, entities, edges)
        found = tuple(islice(search.matches(), limit + 1))
        return Matches(
            items=found[:limit], more=len(found) > limit, complete=complete and search.steps > 0
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Matches:
    """Ways in which a graph meets a pattern."""

    items: tuple[Match, ...]
    more: bool
    """Whether there are more than were asked for."""
    complete: bool
    """False where the search ended early, so that there may be others. It reads at most 10,000 edges, from
    the node that is named, or else from a relation: name a node to have it start there."""


class _Search:
    """One search for the ways in which a graph meets a pattern."""

    def __init__(self, pattern: Pattern, entities: Sequence[Entity], edges: Sequence[Edge]) -> None:
        self._pattern = pattern
        self._known = {one.key: one for one in entities}
        self._around: dict[str, list[Edge]] = defaultdict(list)
        for edge in edges:
            self._around[edge.subject].append(edge)
            if edge.object is not None and edge.object != edge.subject:
                self._around[edge.object].append(edge)
        self._promising = self._reachable()
        self.steps = MOST_STEPS
        """That are left."""

    def _reachable(self) -> list[set[str]]:
        """Return for each place the keys of the entities from which the rest of the pattern can be met, but
        for what is bound twice: so the search runs into few dead ends."""
        nodes, edges = self._pattern.nodes, self._pattern.edges
        found = [{key for key, one in self._known.items() if _is(node, one)} for node in nodes]
        for place in range(len(edges) - 1, -1, -1):
            wanted, last = edges[place], place + 1 == len(edges)
            found[place] = {
                key
                for key in found[place]
                if any(
                    (last and _is_literal(nodes[place + 1], end))
                    if isinstance(end, str)
                    else end.key in found[place + 1]
                    for edge in self._around.get(key, ())
                    if wanted.relation in (None, edge.relation)
                    for end in _ends(edge, self._known[key], wanted, self._known)
                )
            }
        return found

    def matches(self) -> Iterator[Match]:
        """Yield what is found, until `MOST_STEPS` are taken."""
        node = self._pattern.nodes[0]
        for key in sorted(self._promising[0]):
            entity = self._known[key]
            yield from self._from(0, entity, _bound({}, node, entity), ())

    def _from(
        self,
        place: int,
        here: Entity,
        bound: Mapping[str, Entity | str],
        taken: tuple[Edge, ...],
    ) -> Iterator[Match]:
        if place == len(self._pattern.edges):
            yield _match(bound, taken)
            return
        wanted, node = self._pattern.edges[place], self._pattern.nodes[place + 1]
        last = place + 1 == len(self._pattern.edges)
        for edge in self._around.get(here.key, ()):
            if self.steps <= 0:
                return
            self.steps -= 1
            if edge in taken or (wanted.relation not in (None, edge.relation)):
                continue
            for end in _ends(edge, here, wanted, self._known):
                if isinstance(end, str):
                    if last and _is_literal(node, end) and _fits(bound, node, end):
                        yield _match(_bound(bound, node, end), (*taken, edge))
                elif end.key in self._promising[place + 1] and _fits(bound, node, end):
                    further = _bound(bound, node, end)
                    yield from self._from(place + 1, end, further, (*taken, edge))


def _node(text: str, at: int, values: Mapping[str, str]) -> tuple[NodePattern, int]:
    found = _NODE.match(text, _skipped(text, at))
    if found is None:
        raise _unreadable(text, at, "a node, such as (a:person) or ({name: $who})")
    name = None
    if found["value"] is not None:
        name = values.get(found["value"])
        if name is None:
            raise InvalidFilterError(
                f"The pattern names ${found['value']}, which no value is bound to."
            )
    return NodePattern(variable=found["variable"], kind=found["kind"], name=name), found.end()


def _edge(text: str, at: int) -> tuple[EdgePattern, int]:
    found = _EDGE.match(text, _skipped(text, at))
    if found is None or (found["left"] and found["right"]):
        raise _unreadable(text, at, "an edge, such as -[works_at]->, <-[knows]- or -[]-")
    both = not found["left"] and not found["right"]
    return EdgePattern(
        relation=found["relation"],
        forward=bool(found["right"]) or both,
        backward=bool(found["left"]) or both,
    ), found.end()


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _unreadable(text: str, at: int, wanted: str) -> InvalidFilterError:
    return InvalidFilterError(f"At character {at + 1} of the pattern there is to be {wanted}.")


def _is(node: NodePattern, entity: Entity) -> bool:
    if node.kind not in (None, entity.kind):
        return False
    if node.name is None:
        return True
    names = {name_key(one) for one in (entity.name, *entity.aliases)}
    return node.name == entity.key or name_key(node.name) in names


def _is_literal(node: NodePattern, literal: str) -> bool:
    return node.kind is None and (node.name is None or name_key(node.name) == name_key(literal))


def _ends(
    edge: Edge, here: Entity, wanted: EdgePattern, known: Mapping[str, Entity]
) -> Iterator[Entity | str]:
    """Yield the other end of an edge, in the directions that are wanted."""
    if wanted.forward and edge.subject == here.key:
        if edge.literal is not None:
            yield edge.literal
        elif (end := known.get(edge.object or "")) is not None:
            yield end
    elif (
        wanted.backward and edge.object == here.key and (end := known.get(edge.subject)) is not None
    ):
        yield end


def _fits(bound: Mapping[str, Entity | str], node: NodePattern, end: Entity | str) -> bool:
    before = bound.get(node.variable or "")
    return before is None or before == end


def _bound(
    bound: Mapping[str, Entity | str], node: NodePattern, end: Entity | str
) -> Mapping[str, Entity | str]:
    return bound if node.variable is None else {**bound, node.variable: end}


def _match(bound: Mapping[str, Entity | str], edges: tuple[Edge, ...]) -> Match:
    return Match(
        entities={name: one for name, one in bound.items() if isinstance(one, Entity)},
        literals={name: one for name, one in bound.items() if isinstance(one, str)},
        edges=edges,
    )
