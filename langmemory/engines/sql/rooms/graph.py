"""`store.graph`: the people and things of one namespace, and what memories claim about them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from heapq import heappop, heappush
from itertools import count, islice, pairwise
from os import PathLike
from typing import Any

from langmemory.engines.sql.engine import Engine
from langmemory.engines.sql.graph.graph import EdgeRow
from langmemory.engines.sql.reading.deleted_claims import DeletedClaims
from langmemory.engines.sql.reading.graph_view import FIRST_EDGE, GraphView
from langmemory.engines.sql.reading.walking import Stretch, Walk
from langmemory.engines.sql.rooms.cursors import Cursors
from langmemory.engines.sql.scope.scopes import compile_scope
from langmemory.engines.sql.tables.times import to_us
from langmemory.engines.sql.writing.naming import Names
from langmemory.subgraph.subgraph import Path, Subgraph
from langmemory.types import Edge, Entity, Namespace, Page, Scope, Status


class Graph:
    """Reads of the knowledge graph, each on a snapshot of its own.

    What is here follows from the memories the viewer may read: an entity is there when one of them
    speaks of it, an edge when the memory that claims it is open to them. Linked entities are one.
    Without ``as_of`` and ``known_at`` the graph is what is believed and holds now; ``past=True``
    adds what ended or was superseded. An entity is given by a name of it, or by its key.
    """

    __slots__ = ("_alive_at_us", "_as_of", "_engine", "_known_at", "_namespace", "_viewer")

    def __init__(
        self,
        engine: Engine,
        namespace: Namespace,
        *,
        viewer: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        alive_at_us: int | None = None,
    ) -> None:
        """See `MemoryStore.graph`."""
        self._engine = engine
        self._namespace = namespace
        self._viewer = viewer
        self._as_of = as_of
        self._known_at = known_at
        self._alive_at_us = alive_at_us

    def entity(self, name: str, *, past: bool = False) -> Entity:
        """Return an entity with its edges.

        Raises:
            EntityNameError: Nothing is called so, or more than one thing; near names are listed.
        """
        with self._reading(past) as view:
            centre = view.find(name)
            edges = view.edges(view.touching([centre]))
            return replace(view.entities([centre])[0], edges=edges)

    def entities(self, *, past: bool = False) -> tuple[Entity, ...]:
        """Return every entity, by name."""
        with self._reading(past) as view:
            return tuple(view.entities(view.everyone()))

    def edges(
        self, entity: str | None = None, relation: str | None = None, *, past: bool = False
    ) -> tuple[Edge, ...]:
        """Return edges of an entity, or all; of one relation, or any. Oldest claim first.

        Raises:
            EntityNameError: As `entity`.
        """
        with self._reading(past) as view:
            around = None if entity is None else [view.find(entity)]
            return view.edges(view.touching(around, relation))

    def some_entities(
        self, *, after: str | None = None, limit: int = 50, past: bool = False
    ) -> Page[Entity]:
        """Return a page of the entities, by key; ``after`` is `Page.next` of the page before.

        Raises:
            ConfigError: The cursor is none of this list.
        """
        sealer = Cursors(self._engine).sealer("entities")
        start = "" if after is None else str(sealer.opened(after)[0])
        with self._reading(past) as view:
            found = view.entities(view.some(start, limit + 1))
        more = len(found) > limit
        return Page(
            items=tuple(found[:limit]), next=sealer.sealed([found[limit - 1].key]) if more else None
        )

    def some_edges(
        self,
        entity: str | None = None,
        relation: str | None = None,
        *,
        after: str | None = None,
        limit: int = 50,
        past: bool = False,
    ) -> Page[Edge]:
        """Return a page of `edges`; ``after`` is `Page.next` of the page before.

        Raises:
            ConfigError: The cursor is none of this list.
            EntityNameError: As `entity`.
        """
        sealer = Cursors(self._engine).sealer("edges")
        start = FIRST_EDGE if after is None else int(sealer.opened(after)[0])
        with self._reading(past) as view:
            around = None if entity is None else [view.find(entity)]
            rows = view.some_touching(around, relation, after=start, limit=limit + 1)
            found = view.edges(rows[:limit])
        more = len(rows) > limit
        return Page(items=found, next=sealer.sealed([rows[limit - 1].id]) if more else None)

    def along(
        self, way: Sequence[Stretch], start: int, name: str | None, *, past: bool = False
    ) -> tuple[Subgraph, bool]:
        """Return a part of the graph that holds every path of these edges, and whether it does: it ends at
        `MOST_EDGES`.

        Args:
            way: The edges of the paths, in order.
            start: The place on the paths, 0 to ``len(way)``, from which they are followed.
            name: What the entity there is called, or its key; None: anything.
            past: Also along what ended or was superseded.
        """
        with self._reading(past) as view:
            walk = Walk(view, way, start)
            rows, nodes = walk.named(name) if name is not None else walk.anything()
            entities = view.entities(nodes)
            return Subgraph(entities=tuple(entities), edges=view.edges(rows)), walk.whole

    def neighbours(self, name: str, depth: int = 1) -> tuple[Entity, ...]:
        """Return the entities at most ``depth`` edges away, in either direction, nearest first.

        Raises:
            EntityNameError: As `entity`.
        """
        with self._reading() as view:
            return tuple(view.entities(view.around(view.find(name), depth)[1:]))

    def paths(
        self, first: str, last: str, max_length: int = 4, *, limit: int = 10
    ) -> tuple[Path, ...]:
        """Return ways from one entity to another along edges in either direction, shortest first.

        Of several edges between the same two, the latest claim stands for all.

        Args:
            first: Where they begin.
            last: Where they end.
            max_length: Edges of a way, at most.
            limit: Ways, at most.

        Raises:
            EntityNameError: As `entity`.
        """
        with self._reading() as view:
            start, goal = view.find(first), view.find(last)
            # Of the edges of a way each has an end this near to where it begins or ends.
            near = (max_length - 1) // 2
            steps: dict[int, dict[int, EdgeRow]] = defaultdict(dict)
            for row in view.touching({*view.around(start, near), *view.around(goal, near)}):
                if row.object is not None:
                    steps[row.subject][row.object] = steps[row.object][row.subject] = row
            return tuple(
                Path(
                    entities=tuple(view.entities(way)),
                    edges=view.edges([steps[a][b] for a, b in pairwise(way)]),
                )
                for way in islice(_ways(steps, start, goal, max_length), limit)
            )

    def subgraph(
        self,
        name: str | None = None,
        depth: int = 2,
        *,
        past: bool = False,
        limit: int | None = None,
    ) -> Subgraph:
        """Return the entities at most ``depth`` edges around an entity; without a name, everything.

        Args:
            name: Of the entity.
            depth: Edges.
            past: Also what ended or was superseded.
            limit: At most so many entities, and so many edges; None is all.

        Raises:
            EntityNameError: As `entity`.
        """
        with self._reading(past) as view:
            centre = None if name is None else view.find(name)
            most = None if limit is None else limit + 1
            if centre is not None:
                nodes = view.around(centre, depth, most)
            else:
                nodes = view.everyone() if most is None else view.some("", most)
            nodes, complete = nodes[:limit], limit is None or len(nodes) <= limit
            among = None if centre is None else nodes
            if most is None:
                rows = view.touching(among, inside=True)
            else:
                rows = view.some_touching(among, None, after=FIRST_EDGE, limit=most)
                complete = complete and len(rows) < most
            inside = set(nodes)
            rows = [row for row in rows if {row.subject, row.object or row.subject} <= inside]
            entities = view.entities(nodes)
            return Subgraph(
                entities=tuple(entities),
                edges=view.edges(rows[:limit]),
                centre=None if centre is None else entities[0].key,
                over=frozenset(
                    place for place, row in enumerate(rows[:limit]) if row.id in view.over
                ),
                complete=complete,
            )

    def to_json(self) -> dict[str, Any]:
        """Return everything, past edges included, as `Subgraph.to_json` gives it."""
        return self.subgraph(past=True).to_json()

    def to_graphml(self) -> str:
        """Return everything, past edges included, as `Subgraph.to_graphml` gives it."""
        return self.subgraph(past=True).to_graphml()

    def draw(self, path: str | PathLike[str], name: str | None = None, depth: int = 2) -> None:
        """Draw everything, or what is around an entity, to a file; past edges are dashed.

        Raises:
            ConfigError: The name of the file has no ending.
            EntityNameError: As `entity`.
            ImportError: networkx or matplotlib is not installed; the message says how to get them.
        """
        self.subgraph(name, depth, past=True).draw(path)

    @contextmanager
    def _reading(self, past: bool = False) -> Iterator[GraphView]:
        statuses: tuple[Status, ...] = ("active", "superseded")
        wide = Scope(
            namespace=self._namespace,
            statuses=statuses,
            viewer=self._viewer,
            known_at=self._known_at,
        )
        dated = self._as_of is not None
        narrow = replace(wide, statuses=statuses if dated else ("active",), as_of=self._as_of)
        with self._engine.read() as snapshot:
            deleted = None
            if self._known_at is not None:
                deleted = DeletedClaims.read(
                    snapshot.connection, wide, narrow, to_us(datetime.now(UTC)),
                    alive_at_us=self._alive_at_us,
                )  # fmt: skip
            yield GraphView(
                snapshot.connection,
                self._namespace,
                narrow=compile_scope(narrow, alive_at_us=self._alive_at_us),
                wide=compile_scope(wide, alive_at_us=self._alive_at_us),
                at_us=to_us(self._as_of or self._known_at or datetime.now(UTC)),
                past=past,
                deleted=deleted,
                # A graph of the past shows what people were called then.
                names=None
                if dated or deleted is not None
                else Names(snapshot.connection, self._viewer),
            )


def _ways(
    steps: Mapping[int, Iterable[int]], start: int, goal: int, max_length: int
) -> Iterator[tuple[int, ...]]:
    """Yield ways without a repeated stop, shortest first. A beginning is followed only as long as
    the goal can be reached from it in time, past none of its stops (best first, as in Yen 1971):
    so each way costs a look at the graph for each of its stops, however many stops lead nowhere."""
    begun = count(1)
    left = _distances(steps, goal, ())
    # Length of the shortest way it can become; the longest first, and in order, among equals.
    ways: list[tuple[int, int, int, tuple[int, ...]]] = []
    if start in left and start != goal:
        ways.append((left[start], 0, 0, (start,)))
    while ways:
        length, _, _, way = heappop(ways)
        if length > max_length:
            return
        if way[-1] == goal:
            yield way
            continue
        left = _distances(steps, goal, way)
        for after in steps[way[-1]]:
            if after in left:
                longer = (*way, after)
                heappush(ways, (len(way) + left[after], -len(longer), next(begun), longer))


def _distances(
    steps: Mapping[int, Iterable[int]], goal: int, without: tuple[int, ...]
) -> dict[int, int]:
    """Return edges from each stop to the goal, past none of those ``without``."""
    left = {goal: 0}
    queue = deque([goal])
    while queue:
        here = queue.popleft()
        for before in steps.get(here, ()):
            if before not in left and before not in without:
                left[before] = left[here] + 1
                queue.append(before)
    return left
