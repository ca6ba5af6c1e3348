"""Walking the graph along the edges of a pattern: only what a path can run through is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from langmemory.languages.spelling import name_key
from langmemory.ledger.graph.graph import EdgeRow
from langmemory.ledger.reading.graph_view import FIRST_EDGE, GraphView

MOST_EDGES: Final = 10_000
"""Edges that are read for one pattern."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """One edge of a path."""

    relation: str | None
    """None is any."""
    forward: bool
    """Whether it may lead from its subject to its object."""
    backward: bool


class Walk:
    """One walk from a place on the paths to both of their ends."""

    def __init__(self, view: GraphView, way: Sequence[Stretch], start: int) -> None:
        """``start`` is from 0 to ``len(way)``."""
        self._view, self._way, self._start = view, way, start
        self._rows: dict[int, EdgeRow] = {}
        self.whole = True
        """Whether everything was read that a path can run through."""

    def named(self, name: str) -> tuple[list[EdgeRow], list[int]]:
        """Return the edges and entities of paths on which what is called so stands at the start."""
        front = self._view.meant(name)
        nodes = set(front)
        if self._way and self._start == len(self._way):  # a claim may end in words
            stretch = self._way[-1]
            told = [
                row
                for row in self._read(None, stretch.relation)
                if row.literal is not None and name_key(row.literal) == name_key(name)
            ]
            self._rows |= {row.id: row for row in told}
            before = {row.subject for row in told}
            nodes |= before | self._left(before, self._start - 2)
        nodes |= self._left(front, self._start - 1) | self._right(front, self._start)
        return self._found(nodes)

    def anything(self) -> tuple[list[EdgeRow], list[int]]:
        """Return the edges and entities of all paths."""
        if not self._way:
            found = self._view.some("", MOST_EDGES + 1)
            self.whole = len(found) <= MOST_EDGES
            return [], found[:MOST_EDGES]
        stretch = self._way[self._start]
        rows = self._read(None, stretch.relation)
        self._rows |= {row.id: row for row in rows}
        subjects = {row.subject for row in rows}
        objects = {row.object for row in rows if row.object is not None}
        both = subjects | objects
        left = (
            both
            if stretch.backward and stretch.forward
            else subjects
            if stretch.forward
            else objects
        )
        right = (
            both
            if stretch.backward and stretch.forward
            else objects
            if stretch.forward
            else subjects
        )
        nodes = both | self._left(left, self._start - 1) | self._right(right, self._start + 1)
        return self._found(nodes)

    def _left(self, front: Iterable[int], last: int) -> set[int]:
        """Return the entities before these, along the edges up to this one, back to the first."""
        found: set[int] = set()
        for place in range(last, -1, -1):
            stretch = self._way[place]
            front = self._step(front, stretch.relation, stretch.backward, stretch.forward)
            found |= front
        return found

    def _right(self, front: Iterable[int], first: int) -> set[int]:
        """Return the entities behind these, along the edges from this one to the last."""
        found: set[int] = set()
        for place in range(first, len(self._way)):
            stretch = self._way[place]
            front = self._step(front, stretch.relation, stretch.forward, stretch.backward)
            found |= front
        return found

    def _step(
        self, front: Iterable[int], relation: str | None, forward: bool, backward: bool
    ) -> set[int]:
        """Return the entities one edge from these; ``forward``: from subject to object."""
        here = set(front)
        ends: set[int] = set()
        if not here:
            return ends
        for row in self._read(here, relation):
            taken = False
            if forward and row.subject in here:
                taken = True
                ends |= {row.object} if row.object is not None else set()
            if backward and row.object in here:
                taken = True
                ends.add(row.subject)
            if taken:
                self._rows[row.id] = row
        return ends

    def _read(self, entities: Iterable[int] | None, relation: str | None) -> list[EdgeRow]:
        left = MOST_EDGES - len(self._rows)
        rows = self._view.some_touching(entities, relation, after=FIRST_EDGE, limit=left + 1)
        if len(rows) > left:
            self.whole = False
        return rows[:left]

    def _found(self, nodes: set[int]) -> tuple[list[EdgeRow], list[int]]:
        return [row for _, row in sorted(self._rows.items())], sorted(nodes)
