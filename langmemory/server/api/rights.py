"""Rights: what the one who asks may do, so that a client offers nothing else."""

from __future__ import annotations

from langmemory.hooks import parts
from langmemory.server.access import Access
from langmemory.server.routes import Routes
from langmemory.types import Namespace, TokenScope
from langmemory.wire import Deferred

routes = Routes("Rights")


class Rights(Deferred):
    """What a token allows."""

    token: str
    """Its id; `local` for somebody at the machine, who needs none."""
    viewer: str | None
    """Whose private memories it shows; null is the application, which sees everybody's."""
    namespaces: list[Namespace]
    """Those it reaches, with all below; none is the whole file."""
    scope: TokenScope
    agent: str | None
    """As which agent it sends and receives on the bus; null is none."""
    unlocks: bool
    """Whether it may unlock secrets of the vault."""
    parts: list[str]
    """The parts that the server has, such as `team`."""


@routes("GET", "/rights", scope="read")
def get_rights(access: Access) -> Rights:
    """Return what your token allows."""
    grant = access.grant
    return Rights(
        token=grant.id,
        viewer=grant.viewer,
        namespaces=list(grant.namespaces),
        scope=grant.scope,
        agent=grant.agent,
        unlocks=grant.unlocks,
        parts=[one.name for one in parts()],
    )
