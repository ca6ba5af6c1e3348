"""The operations of the REST API, one module for each part of memory."""

from langmemory.operations import rooms
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

ROUTES = (
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
    *map(routes_of, rooms()),
    nights.routes,
    admin.routes,
    store.routes,
    vault.routes,
    rights.routes,
)
"""In the order in which the documentation lists them."""

__all__ = ["ROUTES"]
