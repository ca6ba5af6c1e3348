"""The operations of the REST API, one module for each part of memory."""

from langmemory.server.api import recalling

ROUTES = (recalling.routes,)
"""In the order in which the documentation lists them."""

__all__ = ["ROUTES"]
