"""Claims of memories that are gone, for a graph of a time when they were there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from langmemory.languages.spelling import name_key
from langmemory.ledger.graph import graph, graph_rows
from langmemory.ledger.graph.graph import ClockRow, EdgeRow, EntityRow
from langmemory.ledger.records import runs, versions
from langmemory.ledger.tables import namespaces
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.times import to_us
from langmemory.types import Scope


@dataclass(kw_only=True, slots=True)
class DeletedClaims:
    """Claims of memories that are gone, and who they are about. An edge has an id below 0, as has an
    entity that is not in the file any more."""

    rows: list[EdgeRow] = field(default_factory=list)
    entities: dict[int, EntityRow] = field(default_factory=dict)
    """All that the memories speak of, by id."""
    names: list[tuple[int, str, str]] = field(default_factory=list)
    """(entity, name, normalised name); for a viewer, of those that stand in a memory."""
    spoken: dict[int, set[int]] = field(default_factory=dict)
    """The entities that a memory speaks of, by its id."""
    clocks: dict[int, ClockRow] = field(default_factory=dict)
    holding: frozenset[int] = frozenset()
    """Ids of the memories that held at the time asked about."""

    @classmethod
    def read(
        cls,
        connection: Connection,
        wide: Scope,
        narrow: Scope,
        now_us: int,
        *,
        alive_at_us: int | None,
    ) -> DeletedClaims:
        """Read those of exactly one namespace, at its ``known_at``.

        Args:
            connection: A reader.
            wide: What held whenever.
            narrow: What held at the time asked about.
            now_us: What had a TTL that has ended by then is nowhere.
            alive_at_us: See `compile_scope`.
        """
        made = cls()
        place = namespaces.find(connection, wide.namespace)
        if wide.known_at is None or place is None:
            return made
        there = versions.departed(connection, wide, now_us, alive_at_us=alive_at_us)
        found = [one for one in there if one.namespace == wide.namespace]
        held = versions.within(connection, narrow, alive_at_us, found)
        made.holding = frozenset(one.item for one in held)
        later = runs.after(connection, to_us(wide.known_at)) if found else set[str]()
        ids: dict[str, int] = {}
        for one in found:
            spoken = made.spoken[one.item] = set()
            for key, (name, kind, *run) in one.claims["entities"].items():
                if key not in ids:
                    ids[key] = graph_rows.find_entity(connection, place, key) or -len(ids) - 1
                    made.entities[ids[key]] = EntityRow(ids[key], key, name, kind)
                if not later.isdisjoint(run):  # they came to be spoken of after that time
                    continue
                spoken.add(ids[key])
                if wide.viewer is None or name.casefold() in one.said.casefold():
                    made.names.append((ids[key], name, name_key(name)))
            made.clocks[one.item] = ClockRow(one.item, one.value.get("said_at"), None)
            facts = [one.columns[name] for name in graph.FACT_COLUMNS]
            for subject, relation, object, literal, run in one.claims["edges"]:
                known = subject in ids and (object is None or object in ids)  # no anchor
                if known and run not in later:
                    end = None if object is None else ids[object]
                    claim = (-len(made.rows) - 1, ids[subject], relation, end, literal)
                    made.rows.append(EdgeRow(*claim, one.key, one.item, *facts))
        return made

    def edges(
        self, ends: Collection[int] | None, relation: str | None, *, holding: bool
    ) -> list[EdgeRow]:
        """As `graph.edges`: with one of these entities at either end, of this relation."""
        return [
            row
            for row in self.rows
            if (not holding or row.item in self.holding)
            and (ends is None or row.subject in ends or row.object in ends)
            and relation in (None, row.relation)
        ]

    def spoken_of(self, *, holding: bool = False) -> set[int]:
        """Return entities that the memories speak of."""
        of = (self.spoken[one] for one in self.spoken if not holding or one in self.holding)
        return set[int]().union(*of)

    def called(self, norm: str) -> set[int]:
        """Return entities of this normalised name."""
        return {entity for entity, _, known in self.names if known == norm}

    def by_key(self, key: str) -> int | None:
        return next((row.id for row in self.entities.values() if row.key == key), None)
