"""One reading of the graph, on one snapshot: entities by name, what is around them, their edges, and walks
along the edges of a pattern.

Entities are row ids here, linked ones replaced by the one they stand for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from langmemory.errors import EntityNameError
from langmemory.languages.spelling import name_key
from langmemory.ledger import anchors, graph_rows, graph_writing, namespaces
from langmemory.ledger.claims import DeletedClaims
from langmemory.ledger.connection import Connection
from langmemory.ledger.graph_rows import EdgeRow
from langmemory.ledger.indexing import Names
from langmemory.ledger.scopes import CompiledScope
from langmemory.ledger.values import by_clock, from_us, maybe_datetime, to_us
from langmemory.links import ANCHORS, is_anchor, record_of, title_of
from langmemory.types import Edge, Entity, Namespace
from langmemory.values import from_json, readable_text

NEAR_NAMES: Final = 5
"""Names an error offers at most."""
FIRST_EDGE: Final = -(2**62)
"""Below the id of every edge; what was deleted since has ids below zero."""
AT_A_TIME: Final = 256
"""Rows that a page of a list looks at, at a time."""
NEAR_ENOUGH: Final = 70
"""rapidfuzz's WRatio, 0..100, from which a name is offered."""


class GraphView:
    """Reads of one namespace on one snapshot."""

    def __init__(
        self,
        connection: Connection,
        namespace: Namespace,
        *,
        narrow: CompiledScope,
        wide: CompiledScope,
        ends: CompiledScope | None = None,
        at_us: int = 0,
        past: bool = False,
        deleted: DeletedClaims | None = None,
        names: Names | None = None,
    ) -> None:
        """
        Args:
            connection: A reader in a snapshot.
            namespace: Exactly this one.
            narrow: What holds at the time asked about.
            wide: What held whenever: names are looked up in it, and past edges come from it.
            ends: What links may end at, archived or not; None is what is wide.
            at_us: The time asked about: what ended before it is over.
            past: Edges that no longer hold are read as well.
            deleted: What memories claimed that were deleted since the time of ``known_at``.
            names: What people are called instead of their ids; None shows the entities' own names.
        """
        self._names = names
        self._connection = connection
        self._namespace = namespace
        self._narrow = narrow
        self._wide = wide
        self._ends = ends or wide
        self._at_us = at_us
        self._past = past
        self._deleted = deleted or DeletedClaims()
        known_at = wide.scope.known_at
        self._known_at_us = None if known_at is None else to_us(known_at)
        self._root: dict[int, int] = {}
        self._members: dict[int, list[int]] = defaultdict(list)
        self._standing: dict[int, int] = {}
        self._known: dict[int, Entity] = {}
        self.over: set[int] = set()
        """Ids of the edges read so far that no longer hold."""

    @property
    def connection(self) -> Connection:
        """The reader that it reads by."""
        return self._connection

    @cached_property
    def _namespace_id(self) -> int:
        return namespaces.find(self._connection, self._namespace) or 0  # 0 is no namespace's id

    @cached_property
    def _has_anchors(self) -> bool:
        return anchors.are_there(self._connection, self._namespace_id)

    # Which entities.

    def everyone(self) -> list[int]:
        """Return every entity a memory speaks of, by name."""
        scope = self._wide if self._past else self._narrow
        spoken = graph_rows.all_entities(self._connection, scope, self._namespace_id)
        return self._by_name([*spoken, *self._deleted.spoken_of(holding=not self._past)])

    def some(self, after: str, limit: int) -> list[int]:
        """Return the first so many of `everyone` behind a key, by key."""
        if self._known_at_us is not None:  # how they were linked then is known of all or of none
            keys = {one.key: id for id in self.everyone() for one in self.entities([id])}
            return [keys[key] for key in sorted(keys) if key > after][:limit]
        scope = self._wide if self._past else self._narrow
        found: list[int] = []
        while len(found) < limit:
            rows = graph_rows.by_keys(self._connection, self._namespace_id, after, AT_A_TIME)
            if not rows:
                break
            self._learn(entity for entity, _ in rows)
            standing = [entity for entity, _ in rows if self._stands_for(entity) == entity]
            group = {entity: self._members[self._root[entity]] for entity in standing}
            spoken = graph_rows.spoken_of(
                self._connection, scope, {one for members in group.values() for one in members}
            )
            found += [one for one in standing if not spoken.isdisjoint(group[one])]
            after = rows[-1][1]
        return found[:limit]

    def find(self, name: str) -> int:
        """Return the entity of this key or name, whenever it was spoken of.

        Raises:
            EntityNameError: There is none, or more than one.
        """
        where = "/".join(self._namespace)
        if not self._namespace_id and self._wide.scope.viewer is None:
            raise EntityNameError(f"Nothing was ever stored in {where}; so nothing is {name!r}.")
        meant = self.meant(name)
        if len(meant) == 1:
            return meant[0]
        if meant:
            named = ", ".join(f"{one.key} ({one.name}, {one.kind})" for one in self.entities(meant))
            raise EntityNameError(
                f"{len(meant)} are called {name!r} in {where}: {named}. Name one by its key."
            )
        raise EntityNameError(f"Nothing is called {name!r} in {where}. {self._near(name)}")

    def meant(self, name: str) -> list[int]:
        """Return the entity of this key, or those of this name, whenever they were spoken of."""
        place = self._namespace_id
        key = graph_writing.find_entity(self._connection, place, name) or self._deleted.by_key(name)
        found = self._there([] if key is None else [key])
        if not found and self._has_anchors:
            keys = (
                graph_writing.find_entity(self._connection, place, f"{one}{name}")
                for one in ANCHORS
            )
            found = self._there(one for one in keys if one is not None)
        if not found:
            rows = graph_rows.by_names(self._connection, self._wide, [name_key(name)], place)
            gone = self._deleted.called(name_key(name))
            found = self._there((*(entity for _, entity in rows), *gone))
        return self._by_name(found)

    def of_key(self, key: str) -> int | None:
        """Return the entity of this key, spoken of or not."""
        found = graph_writing.find_entity(self._connection, self._namespace_id, key)
        return None if found is None else self._by_name([found])[0]

    def called(self, norm: str) -> list[Entity]:
        """Return the entities with this normalised name, spoken of or not."""
        rows = graph_rows.by_names(self._connection, self._wide, [norm], self._namespace_id)
        return self.entities(self._by_name(entity for _, entity in rows))

    def links(self, keys: Iterable[str] | None = None) -> dict[str, str]:
        """Return the key of each entity that is linked to another, to that of the one it stands for; of
        those linked with one of these, or all."""
        place = self._namespace_id
        if keys is None:
            ids = graph_rows.linked_entities(self._connection, place)
        else:
            found = (graph_writing.find_entity(self._connection, place, key) for key in keys)
            ids = [one for one in found if one is not None]
        self._learn(ids)
        linked = {member for one in ids for member in self._members[self._root[one]]}
        stands_for = {one: self._root[one] for one in linked if self._root[one] != one}
        key_of = self._keys((*stands_for, *stands_for.values()))
        return {key_of[one]: key_of[other] for one, other in stands_for.items()}

    def own_keys(
        self, rows: Sequence[EdgeRow], standing: Sequence[EdgeRow]
    ) -> dict[int, dict[str, str]]:
        """By memory, what the entities of its edges stand for, to the key the edges have; where these
        differ. ``standing`` are the same edges, see `standing`."""
        ends = [
            (row.item, own, root)
            for row, followed in zip(rows, standing, strict=True)
            for own, root in ((row.subject, followed.subject), (row.object, followed.object))
            if own is not None and root is not None and own != root
        ]
        keys = self._keys(one for _, own, root in ends for one in (own, root))
        found: dict[int, dict[str, str]] = defaultdict(dict)
        for item, own, root in ends:
            found[item].setdefault(keys[root], keys[own])
        return found

    def _keys(self, entities: Iterable[int]) -> dict[int, str]:
        return {row.id: row.key for row in graph_rows.entities(self._connection, set(entities))}

    def _near(self, name: str) -> str:
        from rapidfuzz import fuzz, process  # only for this message: every store would pay for it

        everyone = graph_rows.all_entities(self._connection, self._wide, self._namespace_id)
        names = {norm: shown for _, shown, norm in self._aliases(everyone)}
        near = process.extract(
            name_key(name), list(names), scorer=fuzz.WRatio, score_cutoff=NEAR_ENOUGH,
            limit=NEAR_NAMES,
        )  # fmt: skip
        if near:
            return f"Near it: {', '.join(dict.fromkeys(names[norm] for norm, *_ in near))}."
        return f"It knows {len(everyone)} people and things, none with a name near it."

    def around(self, centre: int, depth: int, most: int | None = None) -> list[int]:
        """Return the entity and those at most ``depth`` edges from it, nearest first, then by name; no
        further once there are more than ``most``, and along so many edges at a time."""
        reached, front = [centre], [centre]
        for _ in range(depth):
            if most is not None and len(reached) > most:
                break
            edges = (
                self.touching(front)
                if most is None
                else self.some_touching(front, None, after=FIRST_EDGE, limit=most)
            )
            ends = {end for edge in edges for end in (edge.subject, edge.object) if end is not None}
            front = self._by_name(ends.difference(reached))
            if not front:
                break
            reached += front
        return reached

    # What is claimed of them.

    def touching(
        self,
        entities: Iterable[int] | None = None,
        relation: str | None = None,
        *,
        inside: bool = False,
        also: int | None = None,
        corrects: bool = False,
    ) -> list[EdgeRow]:
        """Return edges with one of the entities at either end; None is every edge. Oldest claim
        first.

        Args:
            entities: those they stand for.
            relation: only this one.
            inside: what leads from one of them to another entity may be left out.
            also: their facts claim something of this entity, too; not for a time of ``known_at``.
            corrects: only what facts claim that correct something; likewise.
        """
        ends: list[int] | None = None
        if entities is not None:
            ends = self._linked_with(entities)
        besides = None if also is None else self._linked_with([also])

        def read(scope: CompiledScope) -> list[EdgeRow]:
            return graph_rows.edges(
                self._connection, scope, namespace=self._namespace_id, touching=ends,
                relation=relation, inside=inside, also=besides, corrects=corrects,
            )  # fmt: skip

        held = [*self._deleted.edges(ends, relation, holding=True), *read(self._narrow)]
        once: list[EdgeRow] = []
        if self._past:
            once = [*self._deleted.edges(ends, relation, holding=False), *read(self._wide)]
        return self.standing(self._visible_edges(held, once))

    def edges_at(self, key: str, relation: str | None = None) -> tuple[Edge, ...]:
        """Return the edges with the entity of this key at either end, as `touching` does."""
        entity = self.of_key(key)
        return () if entity is None else self.edges(self.touching([entity], relation))

    def claims_of(self, facts: Iterable[int]) -> list[EdgeRow]:
        """Return the edges that some memories claim, oldest claim first."""
        facts = list(facts)
        held = graph_rows.edges(self._connection, self._narrow, facts=facts)
        once = graph_rows.edges(self._connection, self._wide, facts=facts) if self._past else []
        return self.standing(self._visible_edges(held, once))

    def some_touching(
        self, entities: Iterable[int] | None, relation: str | None, *, after: int, limit: int
    ) -> list[EdgeRow]:
        """Return the first so many edges of `touching` behind the edge of an id."""
        if self._known_at_us is not None:  # what was deleted since stands in no index
            return [row for row in self.touching(entities, relation) if row.id > after][:limit]
        ends = None if entities is None else self._linked_with(entities)
        found: list[EdgeRow] = []
        while len(found) < limit:
            ids = graph_rows.edge_ids(
                self._connection, self._namespace_id, touching=ends, relation=relation,
                after=after, limit=max(limit, AT_A_TIME),
            )  # fmt: skip
            if not ids:
                break
            held = graph_rows.edges(self._connection, self._narrow, among=ids)
            once = graph_rows.edges(self._connection, self._wide, among=ids) if self._past else []
            found += self._visible_edges(held, once)
            after = ids[-1]
        return self.standing(found[:limit])

    def _visible_edges(self, held: Iterable[EdgeRow], once: Iterable[EdgeRow]) -> list[EdgeRow]:
        """Return edges that hold, and of those that were claimed at some time those that are over; by id."""
        rows = {row.id: row for row in held if not self._is_over(row)}
        for row in once:
            if row.id not in rows and (row.valid_at or 0) <= self._at_us:
                rows[row.id] = row
                self.over.add(row.id)
        hidden = self._hidden(rows.values())
        return [
            row
            for _, row in sorted(rows.items())
            if row.subject not in hidden and row.object not in hidden
        ]

    def _hidden(self, rows: Iterable[EdgeRow]) -> set[int]:
        """Return the anchors at the ends of edges that stand for a memory the reader may not know of."""
        if not self._has_anchors:
            return set()
        ends = {end for row in rows for end in (row.subject, row.object) if end is not None}
        return anchors.hidden(self._connection, *graph_rows.within(self._ends), ends)

    def standing(self, rows: Iterable[EdgeRow]) -> list[EdgeRow]:
        """Return the same edges, links followed at both ends."""
        rows = list(rows)
        self._learn(end for row in rows for end in (row.subject, row.object) if end is not None)
        return [
            row._replace(
                subject=self._stands_for(row.subject),
                object=None if row.object is None else self._stands_for(row.object),
            )
            for row in rows
        ]

    def _is_over(self, row: EdgeRow) -> bool:
        """Return whether it was over at the time asked about, as far as was believed then: what was
        given up since may have its end in hindsight."""
        known_at = self._known_at_us
        if known_at is not None and row.expired_at is not None and row.expired_at > known_at:
            return False
        return row.invalid_at is not None and row.invalid_at <= self._at_us

    # As values.

    def entities(self, ids: Iterable[int]) -> list[Entity]:
        """In the order given."""
        ids = list(ids)
        unknown = [one for one in dict.fromkeys(ids) if one not in self._known]
        self._learn(unknown)
        members = {member: one for one in unknown for member in self._members[self._root[one]]}
        names: dict[int, list[str]] = defaultdict(list)
        for member, name, _ in self._aliases(members):
            names[members[member]].append(name)
        called = self._anchor_names(unknown) if self._has_anchors else {}
        gone = [self._deleted.entities[one] for one in unknown if one < 0]
        for row in (*gone, *graph_rows.entities(self._connection, unknown)):
            known = list(dict.fromkeys(names[row.id]))
            name = row.name
            if self._wide.scope.viewer is not None and name not in known:
                name = known[0] if known else row.kind
            if self._names is not None and row.kind in ("person", "thing"):
                shown = self._names.of_entity(self._namespace, row.name)
                if shown is not None:
                    known, name = [name, *known], shown
            kind = row.kind
            if is_anchor(row.key):
                kind, name = called.get(row.id, (kind, row.key.partition(":")[2]))
            self._known[row.id] = Entity(
                key=row.key,
                namespace=self._namespace,
                name=name,
                kind=kind,
                aliases=tuple(other for other in dict.fromkeys(known) if other != name),
            )
        return [self._known[one] for one in ids]

    def _anchor_names(self, entities: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return kind and name of the anchors among entities that stand for a memory."""
        found = {}
        for one in anchors.memories(self._connection, self._ends, entities):
            value = from_json(one.value)
            title = title_of(one.key, value, readable_text(value))
            found[one.anchor] = (str(record_of(value)), title)
        return found

    def edges(self, rows: Iterable[EdgeRow]) -> tuple[Edge, ...]:
        """In the order given."""
        rows = list(rows)
        self.entities(end for row in rows for end in (row.subject, row.object) if end is not None)
        clocks = {
            row.item: row for row in graph_rows.clocks(self._connection, (r.item for r in rows))
        }
        clocks |= self._deleted.clocks
        return tuple(
            Edge(
                subject=self._known[row.subject].key,
                relation=row.relation,
                object=None if row.object is None else self._known[row.object].key,
                literal=row.literal,
                fact=row.fact,
                namespace=self._namespace,
                valid_at=by_clock(row.valid_at, clocks[row.item].said_at),
                invalid_at=by_clock(
                    row.invalid_at, clocks[row.item].ended_said_at, clocks[row.item].said_at
                ),
                created_at=from_us(row.created_at),
                expired_at=maybe_datetime(row.expired_at),
                status=row.status,
            )
            for row in rows
        )

    def _by_name(self, entities: Iterable[int]) -> list[int]:
        """Return those they stand for, each once."""
        entities = list(entities)
        self._learn(entities)
        ids = list(dict.fromkeys(self._stands_for(one) for one in entities))
        names = dict(zip(ids, self.entities(ids), strict=True))
        return sorted(ids, key=lambda one: (names[one].name.casefold(), one))

    # Links.

    def _linked_with(self, entities: Iterable[int]) -> list[int]:
        """Return these entities and those linked with them."""
        entities = list(entities)
        self._learn(entities)
        return [member for one in entities for member in self._members[self._root[one]]]

    def _learn(self, entities: Iterable[int]) -> None:
        """Read what these and those linked with them stand for."""
        unknown = {one for one in entities if one not in self._root}
        if unknown:
            found = graph_rows.roots(self._connection, unknown, known_at_us=self._known_at_us)
            found |= {one: one for one in unknown if one < 0}
            for entity, root in found.items():
                self._members[root].append(entity)
            self._root |= found

    def _stands_for(self, entity: int) -> int:
        """Return the end of its links; where a viewer may not know of that, the oldest they may."""
        root = self._root[entity]
        if root not in self._standing:
            self._standing[root] = root
            if self._wide.scope.viewer is not None:
                open_to_them = self._spoken_of(self._members[root])
                if open_to_them and root not in open_to_them:
                    self._standing[root] = min(open_to_them)
        return self._standing[root]

    def _there(self, entities: Iterable[int]) -> set[int]:
        """Return those that are there for the reader: spoken of themselves, or linked with one that
        is; a viewer is not told of the latter."""
        entities = set(entities)
        if self._wide.scope.viewer is not None:
            return self._spoken_of(entities)
        self._learn(entities)
        spoken = self._spoken_of(
            member for one in entities for member in self._members[self._root[one]]
        )
        return {one for one in entities if spoken.intersection(self._members[self._root[one]])}

    def _spoken_of(self, entities: Iterable[int]) -> set[int]:
        entities = set(entities)
        spoken = graph_rows.spoken_of(self._connection, self._wide, entities)
        return spoken | (entities & self._deleted.spoken_of())

    def _aliases(self, entities: Iterable[int]) -> list[tuple[int, str, str]]:
        entities = set(entities)
        known = graph_rows.aliases(self._connection, self._wide, entities)
        seen = {(entity, norm) for entity, _, norm in known}
        gone = (one for one in self._deleted.names if one[0] in entities)
        return known + [one for one in gone if (one[0], one[2]) not in seen]


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
            nodes |= before | self._walk_back(before, self._start - 2)
        nodes |= self._walk_back(front, self._start - 1) | self._right(front, self._start)
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
        nodes = both | self._walk_back(left, self._start - 1) | self._right(right, self._start + 1)
        return self._found(nodes)

    def _walk_back(self, front: Iterable[int], last: int) -> set[int]:
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
