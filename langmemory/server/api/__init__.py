"""The operations of the REST API, one module for each part of memory."""

from langmemory.server.api import (
    admin,
    bus,
    changes,
    context,
    core,
    corrections,
    documents,
    graph,
    memories,
    memory_page,
    nights,
    procedures,
    projects,
    recalling,
    rights,
    store,
    swarm,
    vault,
    why_not,
)

ROUTES = (
    recalling.routes,
    why_not.routes,
    memories.routes,
    corrections.routes,
    core.routes,
    memory_page.routes,
    context.routes,
    documents.routes,
    projects.routes,
    procedures.routes,
    graph.routes,
    changes.routes,
    bus.routes,
    swarm.routes,
    nights.routes,
    admin.routes,
    store.routes,
    vault.routes,
    rights.routes,
)
"""In the order in which the documentation lists them."""

__all__ = ["ROUTES"]
