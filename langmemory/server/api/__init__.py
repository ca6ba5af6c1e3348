"""The operations of the REST API, one module for each part of memory."""

from langmemory.server.api import (
    admin,
    changes,
    context,
    core,
    graph,
    memories,
    recalling,
    store,
)

ROUTES = (
    recalling.routes,
    memories.routes,
    core.routes,
    context.routes,
    graph.routes,
    changes.routes,
    admin.routes,
    store.routes,
)
"""In the order in which the documentation lists them."""

__all__ = ["ROUTES"]
