"""The operations of the REST API, one module for each part of memory."""

from langmemory.declaring import rooms
from langmemory.server.api import (
    admin,
    context,
    core,
    corrections,
    documents,
    graph,
    jobs,
    memories,
    memory_page,
    nights,
    recalling,
    rights,
    store,
    vault,
    why_not,
)
from langmemory.server.derived import routes_of
from langmemory.server.routes import Routes

BY_HAND = (
    recalling.routes,
    why_not.routes,
    memories.routes,
    corrections.routes,
    core.routes,
    memory_page.routes,
    context.routes,
    documents.routes,
    graph.routes,
    jobs.routes,
    nights.routes,
    admin.routes,
    store.routes,
    vault.routes,
    rights.routes,
)


def all_routes() -> tuple[Routes, ...]:
    """Return the routes made by hand, and those that derive from operations, by their heading."""
    return (*BY_HAND, *(routes_of(one) for one in rooms() if one.operations))


__all__ = ["all_routes"]
