"""The knowledge graph of one namespace over REST: reads, and links."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from langmemory.context.dependencies import BUDGET_TOKENS, TaskContext
from langmemory.links import Relation
from langmemory.server.access import Access
from langmemory.server.api.requests import Fields, Labels, Listing, QueryLabels
from langmemory.server.pattern import Match, Pattern
from langmemory.server.routes import Routes
from langmemory.stores.rooms import MOST_EDGES, Graph
from langmemory.subgraph.subgraph import Path, Subgraph
from langmemory.types import Edge, Entity, Page, Privacy
from langmemory.wire import Deferred

routes = Routes("Graph")

Name = Annotated[str, Field(min_length=1, max_length=400)]


class Times(Fields):
    """When."""

    as_of: datetime | None = None
    """What was true in the world at this time; without it, what is now."""
    known_at: datetime | None = None
    """What the system believed at this time; without it, what it believes now."""


class GraphListing(Listing, Times):
    """Which graph."""

    past: bool = False
    """Also what ended or was superseded."""


class GraphPlace(Times):
    """Which graph."""

    namespace: QueryLabels | None = None
    """Exactly this one."""


def _graph(access: Access, namespace: tuple[str, ...] | None, times: Times) -> Graph:
    place = access.place(namespace, exact=True)
    return access.store.graph(place, as_of=times.as_of, known_at=times.known_at)


@routes("GET", "/graph/entity", scope="read")
def list_entities(access: Access, *, query: GraphListing) -> Page[Entity]:
    """List people and things, by key."""
    graph = _graph(access, query.namespace, query)
    return graph.some_entities(after=query.cursor, limit=query.limit, past=query.past)


class EntityPath(Fields):
    """Which entity."""

    name: Name


class EntityQuery(GraphPlace):
    """In which graph."""

    past: bool = False


@routes("GET", "/graph/entity/{name:path}", scope="read")
def get_entity(access: Access, *, path: EntityPath, query: EntityQuery) -> Entity:
    """Return a person or thing, by a name or key of it, with what is claimed about it."""
    return _graph(access, query.namespace, query).entity(path.name, past=query.past)


class EdgeListing(GraphListing):
    """Which relationships."""

    entity: Name | None = None
    relation: Name | None = None


@routes("GET", "/graph/relationship", scope="read")
def list_relationships(access: Access, *, query: EdgeListing) -> Page[Edge]:
    """List relationships, the oldest claim first."""
    return _graph(access, query.namespace, query).some_edges(
        query.entity, query.relation, after=query.cursor, limit=query.limit, past=query.past
    )


class PathQuery(GraphPlace):
    """From where to where."""

    first: Name
    last: Name
    max_length: Annotated[int, Field(ge=1, le=6)] = 4
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class Paths(Deferred):
    """Ways, shortest first."""

    items: list[Path]


@routes("GET", "/graph/path", scope="read")
def list_paths(access: Access, *, query: PathQuery) -> Paths:
    """Return ways from one entity to another, along edges in either direction."""
    graph = _graph(access, query.namespace, query)
    found = graph.paths(query.first, query.last, query.max_length, limit=query.limit)
    return Paths(items=list(found))


class SubgraphQuery(EntityQuery):
    """Around what."""

    entity: Name | None = None
    """Without it, everything."""
    depth: Annotated[int, Field(ge=0, le=4)] = 2
    limit: Annotated[int, Field(ge=1, le=MOST_EDGES)] = 2_000
    """At most so many entities, and so many edges; `complete` says whether that was all."""


@routes("GET", "/graph/subgraph", scope="read")
def get_subgraph(access: Access, *, query: SubgraphQuery) -> Subgraph:
    """Return entities and the edges between them: everything, or what is around one. Around a memory,
    `item:KEY`, that nothing is linked with there is nothing."""
    graph = _graph(access, query.namespace, query)
    return graph.subgraph(query.entity, query.depth, past=query.past, limit=query.limit)


class LinkEnds(Fields):
    """Which two things, and how they are related."""

    source: Name
    """The key of a memory, the title of a task, what a decision says, the path of a document, or a name with
    its kind: `agent:NAME`, `swarm:NAME`, `artifact:NAME`."""
    relation: Relation
    target: Name
    """As `source`."""
    namespace: Labels | None = None
    reason: Annotated[str, Field(max_length=1_000)] = ""


class NewLink(LinkEnds):
    """A link."""

    valid_at: datetime | None = None
    """Since when it holds; without it, always."""
    privacy: Privacy = "shared"
    """A link that ends at something private is as private."""


@routes("POST", "/graph/link", scope="write")
def link(access: Access, *, body: NewLink) -> Edge:
    """Link two things, in a run that can be undone. Linking what is linked already changes nothing."""
    graph = access.store.graph(access.place(body.namespace, exact=True))
    return graph.link(
        body.source, body.relation, body.target, reason=body.reason, valid_at=body.valid_at,
        privacy=body.privacy,
    )  # fmt: skip


class EndedLink(LinkEnds):
    """A link that holds."""

    at: datetime | None = None
    """When it ended; without it, now."""


@routes("POST", "/graph/unlink", scope="write")
def unlink(access: Access, *, body: EndedLink) -> Edge:
    """End a link, in a run that can be undone."""
    graph = access.store.graph(access.place(body.namespace, exact=True))
    return graph.unlink(body.source, body.relation, body.target, reason=body.reason, at=body.at)


class ContextQuery(GraphPlace):
    """Of what, and how much."""

    task: Name
    budget_tokens: Annotated[int, Field(ge=1, le=100_000)] = BUDGET_TOKENS


@routes("GET", "/graph/context", scope="read")
def context_for(access: Access, *, query: ContextQuery) -> TaskContext:
    """Return what a task depends on, by its links alone, in an order that explains itself."""
    graph = _graph(access, query.namespace, query)
    return graph.context_for(query.task, budget_tokens=query.budget_tokens)


class GraphQuery(Times):
    """A pattern, and what is bound in it."""

    pattern: Annotated[str, Field(min_length=2, max_length=2_000)]
    """One path: `(a:person)-[works_at]->(b)<-[works_at]-({name: $who})`. A relation or a direction that is
    left out is any."""
    values: Annotated[dict[str, Name], Field(max_length=20)] = Field(default_factory=dict)
    """Values by the name after `$`."""
    namespace: Labels | None = None
    past: bool = False
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100


class Matches(Deferred):
    """Ways in which a graph meets a pattern."""

    items: list[Match]
    more: bool
    """Whether there are more than were asked for."""
    complete: bool
    """False where the search ended early, so that there may be others. It reads at most 10,000 edges, from
    the node that is named, or else from a relation: name a node to have it start there."""


@routes("POST", "/graph/query", scope="read")
def query_graph(access: Access, *, body: GraphQuery) -> Matches:
    """Return what meets a pattern. It only reads."""
    pattern = Pattern.read(body.pattern, body.values)
    graph = _graph(access, body.namespace, body)
    part, whole = graph.along(pattern.way, *pattern.start, past=body.past)
    found = pattern.matches(part.entities, part.edges, body.limit)
    return Matches(items=found.matches, more=found.more, complete=whole and found.whole)
