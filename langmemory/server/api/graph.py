"""The knowledge graph of one namespace over REST: reads, and links."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from langmemory.declaring.fields import Fields, Labels
from langmemory.operations.graph import Graph
from langmemory.server.access import Access
from langmemory.server.pattern import Match, Pattern
from langmemory.server.routes import Routes
from langmemory.wire import Deferred

routes = Routes("Graph")

Name = Annotated[str, Field(min_length=1, max_length=400)]


class Times(Fields):
    """When."""

    as_of: datetime | None = None
    """What was true in the world at this time; without it, what is now."""
    known_at: datetime | None = None
    """What the system believed at this time; without it, what it believes now."""


def _graph(access: Access, namespace: tuple[str, ...] | None, times: Times) -> Graph:
    place = access.place(namespace, exact=True)
    return access.store.graph(place, as_of=times.as_of, known_at=times.known_at)


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
