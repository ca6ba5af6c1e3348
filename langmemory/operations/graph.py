"""`store.graph`: the people and things of one namespace, and what memories claim about them."""

from __future__ import annotations

import secrets
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from heapq import heappop, heappush
from itertools import count, islice, pairwise
from typing import Annotated

from pydantic import Field

from langmemory.arguments import check_time, whole_number
from langmemory.changes import AddEdge, AddEntity, AddMemory, Change, ChangeSet, Facets, Invalidate
from langmemory.context.dependencies import BUDGET_TOKENS, TaskContext, task_context
from langmemory.declaring import operation, room
from langmemory.declaring.fields import Cursor, Ids, Limit, Most, Name, Reason, Text, Tokens
from langmemory.errors import (
    ChangedMeanwhileError,
    ConfigError,
    InvalidValueError,
    LangMemoryError,
    OwnershipError,
)
from langmemory.formation.entities.names import entity_key
from langmemory.formation.relations.vocabulary import canonical, snake
from langmemory.languages import detect_language
from langmemory.ledger import items
from langmemory.ledger.claims import DeletedClaims
from langmemory.ledger.graph_rows import EdgeRow
from langmemory.ledger.graph_view import FIRST_EDGE, MOST_EDGES, GraphView, Walk
from langmemory.ledger.indexing import Names
from langmemory.ledger.scopes import compile_scope
from langmemory.ledger.values import from_us, to_us
from langmemory.links import Relation, memory_of
from langmemory.operations.changes import Changes
from langmemory.operations.core import Core
from langmemory.operations.cursors import Cursors
from langmemory.operations.linking import (
    FRONT_MATTER,
    Ends,
    LinkedView,
    check_relation,
    link_changes,
    new_memory,
    whose,
)
from langmemory.operations.pattern import Matches, Pattern
from langmemory.ports.facts import Claim
from langmemory.steps import twin
from langmemory.subgraph import Path, Subgraph
from langmemory.types import Edge, Entity, Namespace, Page, Privacy, Scope, Status

Kind = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[^\W\d_]+$")]
Depth = Annotated[int, Field(ge=0, le=4)]
WayLength = Annotated[int, Field(ge=1, le=6)]
PatternText = Annotated[str, Field(min_length=2, max_length=2_000)]
PatternValues = Annotated[Mapping[str, Name], Field(max_length=20)]
EdgeLimit = Annotated[int, Field(ge=1, le=MOST_EDGES)]


@room("graph", tag="Graph")
class Graph:
    """Reads of the knowledge graph, each on a snapshot of its own.

    What is here follows from the memories the viewer may read: an entity is there when one of them
    speaks of it, an edge when the memory that claims it is open to them. Linked entities are one.
    Without ``as_of`` and ``known_at`` the graph is what is believed and holds now; ``past=True``
    adds what ended or was superseded. An entity is given by a name of it, or by its key.
    """

    __slots__ = ("_alive_at_us", "_as_of", "_core", "_engine", "_known_at", "_namespace", "_viewer")

    def __init__(
        self,
        core: Core,
        viewer: str | None,
        namespace: Namespace,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> None:
        """See `MemoryStore.graph`.

        Args:
            core: Of the store.
            viewer: Who looks; None is the application.
            namespace: Exactly this one.
            as_of: What was true in the world at this time; without it, what is now.
            known_at: What the system believed at this time; without it, what it believes now.
        """
        self._core, self._engine = core, core.engine
        self._namespace = namespace
        self._viewer = viewer
        self._as_of = as_of
        self._known_at = known_at
        self._alive_at_us = core.searching.alive_at_us()

    @operation("read", "GET /graph/entity/{name:path}")
    def entity(self, name: Name, *, past: bool = False) -> Entity:
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

    @operation("read", "GET /graph/entity")
    def some_entities(
        self, *, cursor: Cursor = None, limit: Limit = 50, past: bool = False
    ) -> Page[Entity]:
        """Return a page of the entities, by key; ``cursor`` is `Page.next` of the page before.

        Raises:
            ConfigError: The cursor is none of this list.
        """
        sealer = Cursors(self._engine).sealer("entities")
        start = "" if cursor is None else str(sealer.opened(cursor)[0])
        with self._reading(past) as view:
            found = view.entities(view.some(start, limit + 1))
        more = len(found) > limit
        return Page(
            items=tuple(found[:limit]), next=sealer.sealed([found[limit - 1].key]) if more else None
        )

    @operation("read", "GET /graph/relationship")
    def some_edges(
        self,
        entity: Name | None = None,
        relation: Name | None = None,
        *,
        cursor: Cursor = None,
        limit: Limit = 50,
        past: bool = False,
    ) -> Page[Edge]:
        """Return a page of `edges`; ``cursor`` is `Page.next` of the page before.

        Raises:
            ConfigError: The cursor is none of this list.
            EntityNameError: As `entity`.
        """
        sealer = Cursors(self._engine).sealer("edges")
        start = FIRST_EDGE if cursor is None else int(sealer.opened(cursor)[0])
        with self._reading(past) as view:
            around = None if entity is None else [view.find(entity)]
            rows = view.some_touching(around, relation, after=start, limit=limit + 1)
            found = view.edges(rows[:limit])
        more = len(rows) > limit
        return Page(items=found, next=sealer.sealed([rows[limit - 1].id]) if more else None)

    @operation("read", "POST /graph/query")
    def query(
        self,
        pattern: PatternText,
        *,
        values: PatternValues | None = None,
        past: bool = False,
        limit: Most = 100,
    ) -> Matches:
        """Return what meets a pattern. It only reads.

        Args:
            pattern: One path: `(a:person)-[works_at]->(b)<-[works_at]-({name: $who})`. A relation or a
                direction that is left out is any.
            values: Values by the name after `$`.
            past: Also along what ended or was superseded.
            limit: At most so many ways in which it is met.

        Raises:
            InvalidFilterError: It is no pattern, too long, or a value is not bound.
        """
        wanted = Pattern.read(pattern, values or {})
        place, name = wanted.start
        with self._reading(past) as view:
            walk = Walk(view, wanted.way, place)
            rows, nodes = walk.named(name) if name is not None else walk.anything()
            entities, edges = view.entities(nodes), view.edges(rows)
        return wanted.matches(entities, edges, limit, complete=walk.whole)

    @operation("read", "GET /graph/neighbours")
    def neighbours(self, name: Name, depth: Depth = 1) -> tuple[Entity, ...]:
        """Return the entities at most ``depth`` edges away, in either direction, nearest first.

        Raises:
            EntityNameError: As `entity`.
        """
        with self._reading() as view:
            return tuple(view.entities(view.around(view.find(name), depth)[1:]))

    @operation("read", "GET /graph/path")
    def paths(
        self, first: Name, last: Name, max_length: WayLength = 4, *, limit: Limit = 10
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

    @operation("read", "GET /graph/subgraph")
    def subgraph(
        self,
        name: Name | None = None,
        depth: Depth = 2,
        *,
        past: bool = False,
        limit: EdgeLimit = 2_000,
    ) -> Subgraph:
        """Return the entities at most ``depth`` edges around an entity; without a name, everything. Around a
        memory that nothing is linked with there is nothing.

        Args:
            name: Of the entity, or ``item:KEY`` for a memory.
            depth: Edges.
            past: Also what ended or was superseded.
            limit: At most so many entities, and so many edges; `Subgraph.complete` says whether that was all.

        Raises:
            EntityNameError: As `entity`.
        """
        with self._reading(past) as view:
            if name is not None and self._is_unlinked(view, name):
                return Subgraph(entities=(), edges=())
            centre = None if name is None else view.find(name)
            most = limit + 1
            nodes = view.some("", most) if centre is None else view.around(centre, depth, most)
            nodes, complete = nodes[:limit], len(nodes) <= limit
            among = None if centre is None else nodes
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

    # Entities and relations.

    @operation("write", "POST /graph/entity")
    def add_entity(
        self,
        name: Name,
        kind: Kind = "thing",
        *,
        text: Text = "",
        aliases: Ids = (),
        privacy: Privacy = "shared",
    ) -> Entity:
        """Add a person or thing by a memory that speaks of it, in a run that can be undone. One that is there
        already gets the memory and the aliases.

        Args:
            name: What it is called.
            kind: ``person``, ``place``, ``organisation``, ``animal``, ``event``, ``thing`` or another word.
            text: What the memory says of it; without it, what kind of thing it is.
            aliases: Further names.
            privacy: Of the memory.

        Raises:
            EntityNameError: More than one thing is called so.
        """
        self._check_present("add")
        facets = _of_statement(self._viewer, privacy)
        with self._reading() as view:
            key, _ = self._called(view, name, kind, facets)
        added = AddEntity(key=key, name=name, kind=kind, aliases=tuple(aliases))
        self._apply(
            [added, _statement(text or f"{name}: {kind}", self._now(), facets, key)],
            f"added: {name}",
        )
        return self.entity(key)

    aadd_entity = twin(add_entity)

    @operation("write", "POST /graph/relationship")
    def relate(
        self,
        source: Name,
        relation: Name,
        target: Name,
        *,
        text: Text = "",
        valid_at: datetime | None = None,
        privacy: Privacy = "shared",
    ) -> Edge:
        """Claim a relation between two things by a memory that says so, in a run that can be undone. A name
        that is not known yet becomes a new thing. What is claimed already changes nothing.

        Args:
            source: The name or key of whom or what is claimed.
            relation: Any words, such as ``works at`` or ``maintains``.
            target: As ``source``.
            text: What the memory says; without it, the three in a sentence.
            valid_at: Since when it holds; None: always.
            privacy: Of the memory.

        Raises:
            EntityNameError: More than one thing is called so.
            InvalidValueError: The relation has no letter, or leads to itself.
        """
        self._check_present("relate")
        check_time("valid_at", valid_at)
        if not snake(relation):
            raise InvalidValueError(
                f"The relation is {relation!r}; pass words, such as 'works at'."
            )
        facets = _of_statement(self._viewer, privacy)
        with self._reading() as view:
            first, added = self._called(view, source, "thing", facets)
            last, more = self._called(view, target, "thing", facets)
            claim = canonical(Claim(subject=first, relation=snake(relation), object=last))
            there = self._between(view, claim.subject, claim.relation, claim.object)
        if first == last:
            raise InvalidValueError(f"{source!r} cannot be related to itself.")
        if there:
            return there[0]
        if valid_at is not None:
            facets = Facets(**{**facets.given(), "valid_at": valid_at})
        said = text or f"{source} {relation.replace('_', ' ')} {target}"
        statement = _statement(said, self._now(), facets, first, last)
        edge = AddEdge(
            fact=statement.key, subject=claim.subject, relation=claim.relation, object=claim.object
        )
        self._apply([*added, *more, statement, edge], f"related: {claim.relation}")
        return self._claimed(statement.key)

    arelate = twin(relate)

    def _now(self) -> datetime:
        return from_us(self._core.now_us())

    def _called(
        self, view: GraphView, name: str, kind: str, facets: Facets
    ) -> tuple[str, list[Change]]:
        """Return the key of what is called so, and the change that adds it where nothing is."""
        if view.meant(name):
            return view.entities([view.find(name)])[0].key, []
        owner = facets.owner if facets.privacy == "private" else None
        key = entity_key(name, kind, owner=owner)
        return key, [AddEntity(key=key, name=name, kind=kind)]

    # Links.

    @operation("write", "POST /graph/link")
    def link(
        self,
        source: Name,
        relation: Relation,
        target: Name,
        *,
        reason: Reason = "",
        valid_at: datetime | None = None,
        privacy: Privacy = "shared",
    ) -> Edge:
        """Link two things, in a run that can be undone. The link is an edge of the graph; linking what is
        linked already changes nothing.

        Args:
            source: The key of a memory, the title of a task, what a decision says, the path of a document, or
                a name with its kind: ``agent:NAME``, ``swarm:NAME``, ``artifact:NAME``.
            relation: One of `langmemory.links.RELATIONS`, such as ``requires``.
            target: As ``source``.
            reason: Why, for the record.
            valid_at: Since when it holds; None: always.
            privacy: Of the link. One that ends at something private is as private.

        Raises:
            EntityNameError: Nothing is called so, or more than one thing.
            InvalidValueError: There is no such relation, it leads to itself, or its ends are private to
                several people.
        """
        self._check_present("link")
        check_relation(relation)
        check_time("valid_at", valid_at)
        with self._reading() as view:
            ends = Ends(view.connection, self._namespace, self._viewer)
            first, last = ends.end(source), ends.end(target)
            there = self._between(view, first.anchor, relation, last.anchor)
        if first.anchor == last.anchor:
            raise InvalidValueError(f"{source!r} cannot be linked with itself.")
        if there:
            return there[0]
        facets = whose((first, last), self._viewer, privacy)
        changes = link_changes(first, relation, last, facets, reason=reason, valid_at=valid_at)
        self._apply(changes, reason or f"linked: {relation}")
        return self._claimed(changes[0].key)

    alink = twin(link)

    @operation("write", "POST /graph/unlink")
    def unlink(
        self,
        source: Name,
        relation: Relation,
        target: Name,
        *,
        reason: Reason = "",
        at: datetime | None = None,
    ) -> Edge:
        """End a link, in a run that can be undone. It stays readable with ``past=True``, and as it was.

        Args:
            source: As of `link`.
            relation: As of `link`.
            target: As of `link`.
            reason: Why, for the record.
            at: Since when it does not hold; None: now.

        Raises:
            EntityNameError: As `link`.
            InvalidValueError: There is no such link.
            OwnershipError: It is another's.
        """
        self._check_present("unlink")
        check_time("at", at)
        with self._reading() as view:
            ends = Ends(view.connection, self._namespace, self._viewer)
            first, last = ends.end(source), ends.end(target)
            there = self._between(view, first.anchor, check_relation(relation), last.anchor)
            for one in there:
                owner = ends.owner_of(one.fact)
                if self._viewer is not None and owner not in (None, self._viewer):
                    raise OwnershipError(
                        "The link is another's. Ask them, or use the application's store."
                    )
        if not there:
            raise InvalidValueError(
                f"{source!r} has no link {relation!r} to {target!r} that holds; `edges` lists them."
            )
        ended = at or from_us(self._core.now_us())
        changes = [Invalidate(key=one.fact, invalid_at=ended, reason=reason) for one in there]
        self._apply(changes, reason or f"unlinked: {relation}")
        return self._claimed(there[0].fact, past=True)

    aunlink = twin(unlink)

    @operation("read", "GET /graph/context")
    def context_for(self, task: Name, *, budget_tokens: Tokens = BUDGET_TOKENS) -> TaskContext:
        """Return what a task depends on, by its links alone, without any search: itself, what it requires,
        who provides that, what contains it, what affects any of it, what is about it, what it relates to.
        The nearest comes first. What was superseded is left out, and what took its place stands there
        instead. What the viewer may not know of is not there.

        Args:
            task: As ``source`` of `link`; anything that links lead from.
            budget_tokens: About how many tokens it takes at most.

        Raises:
            EntityNameError: Nothing is called so, or more than one thing.
        """
        budget = whole_number("budget_tokens", budget_tokens, least=1)
        with self._reading() as view:
            ends = Ends(view.connection, self._namespace, self._viewer)
            return task_context(LinkedView(view, ends), ends.end(task).anchor, budget_tokens=budget)

    acontext_for = twin(context_for)

    def _relink(self, source: str, wanted: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
        """Make the links that a document names in its front matter those that are wanted, in one run; others
        of it stay.

        Args:
            source: Key of the document.
            wanted: Relations, and the ends to look for, of which the first that is there counts.

        Returns:
            What could not be linked, and why.
        """
        refused: list[str] = []
        changes: list[Change] = []
        with self._reading() as view:
            ends = Ends(view.connection, self._namespace, self._viewer)
            first = ends.end(source)
            linked = {
                (edge.relation, edge.object or ""): edge.fact
                for edge in view.edges_at(first.anchor)
                if edge.subject == first.anchor
            }
            over = {
                one: fact for one, fact in linked.items() if ends.origin_of(fact) == FRONT_MATTER
            }
            for relation, names in wanted:
                try:
                    last = ends.first(names)
                    if last.anchor == first.anchor:
                        raise InvalidValueError("it cannot be linked with itself")
                    over.pop((relation, last.anchor), None)
                    if (relation, last.anchor) not in linked:
                        linked[relation, last.anchor] = ""
                        facets = whose((first, last), self._viewer, "shared")
                        changes += link_changes(first, relation, last, facets, origin=FRONT_MATTER)
                except LangMemoryError as error:
                    refused.append(f"{relation} {next(iter(names), '')}: {error}")
        now = from_us(self._core.now_us())
        changes += [Invalidate(key=fact, invalid_at=now) for fact in over.values()]
        if changes:
            self._apply(changes, "named in the front matter of a document")
        return refused

    def _is_unlinked(self, view: GraphView, name: str) -> bool:
        """Return whether this is the anchor of a memory that nothing was ever linked with."""
        key = memory_of(name)
        if key is None or view.meant(name):
            return False
        return Ends(view.connection, self._namespace, self._viewer).memory(key) is not None

    def _between(self, view: GraphView, first: str, relation: str, last: str) -> list[Edge]:
        ends = [entity for entity in map(view.of_key, (first, last)) if entity is not None]
        if len(ends) < 2:
            return []
        # Of a thing with thousands of links those to one other are asked for.
        edges = view.edges(view.touching(ends, relation, inside=True))
        return [edge for edge in edges if (edge.subject, edge.object) == (first, last)]

    def _apply(self, changes: Sequence[Change], reason: str) -> None:
        change_set = ChangeSet(
            namespace=self._namespace, run_id=f"link/{secrets.token_hex(8)}", kind="correction",
            reason=reason, changes=tuple(changes),
        )  # fmt: skip
        Changes(self._core, None).apply(change_set)

    def _claimed(self, fact: str, *, past: bool = False) -> Edge:
        with self._reading(past) as view:
            item = items.find(view.connection, self._namespace, fact, viewer=self._viewer)
            for edge in view.edges(view.claims_of([] if item is None else [item])):
                return edge
        raise ChangedMeanwhileError(
            "An end of the link was deleted meanwhile. Nothing is linked; look again."
        )

    def _check_present(self, action: str) -> None:
        if self._as_of is not None or self._known_at is not None:
            raise ConfigError(
                f"This graph is of another time; {action} in the graph of now: store.graph(namespace)."
            )

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
                ends=compile_scope(replace(wide, statuses=None), alive_at_us=self._alive_at_us),
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


def _of_statement(viewer: str | None, privacy: Privacy) -> Facets:
    """Return whose a statement is."""
    return Facets(**{**whose((), viewer, privacy).given(), "kind": "semantic"})


def _statement(text: str, now: datetime, facets: Facets, *mentions: str) -> AddMemory:
    """Return the change that adds a memory that says something of these entities, said now."""
    value = {
        "text": text, "fact_kind": "fact", "language": detect_language(text).code,
        "said_at": now.isoformat(),
    }  # fmt: skip
    added = new_memory(f"fact/{secrets.token_hex(8)}", value, facets)
    return added.model_copy(update={"mentions": mentions})
