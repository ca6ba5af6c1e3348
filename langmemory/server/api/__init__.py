"""The operations of the REST API, one module for each part of memory."""

from langmemory.declaring import rooms
from langmemory.hooks import load_object, parts
from langmemory.server.api import (
    admin,
    context,
    core,
    documents,
    memories,
    recalling,
    store,
)
from langmemory.server.derived import routes_of
from langmemory.server.routes import Routes

BY_HAND = (
    recalling.routes,
    memories.routes,
    memories.correction_routes,
    core.routes,
    memories.page_routes,
    context.routes,
    documents.routes,
    admin.job_routes,
    admin.night_routes,
    admin.routes,
    store.routes,
    admin.rights_routes,
)


def all_routes() -> tuple[Routes, ...]:
    """Return the routes made by hand, and those that derive from operations, by their heading."""
    of_parts = (load_object(f"{module}:routes") for part in parts() for module in part.routes)
    return (*BY_HAND, *of_parts, *(routes_of(one) for one in rooms() if one.operations))


__all__ = ["all_routes"]
