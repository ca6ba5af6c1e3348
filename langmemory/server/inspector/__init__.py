"""The inspector: pages that show memory to a person, and act on it through the REST API alone.

They are static files, served as they are: no build step, nothing from elsewhere. Whoever opens them sees
nothing yet; what they show they ask the API for, with the token that is typed into the page.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from langmemory.server.problems import Problem

CSP: Final = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


def routes() -> list[Route]:
    """Return what serves the pages below ``/memory``. They say nothing of memory, so they need no token."""
    served = {
        one.name: (one.read_bytes(), kind)
        for one in files(__name__).iterdir()
        if (kind := TYPES.get("." + one.name.rpartition(".")[2])) is not None
    }

    def answer(name: str) -> Response:
        found = served.get(name)
        if found is None:
            raise Problem("not-found", "There is nothing at this path.")
        return Response(found[0], media_type=found[1], headers={"Content-Security-Policy": CSP})

    async def page(_: Request) -> Response:
        return answer("index.html")

    async def part(request: Request) -> Response:
        return answer(request.path_params["name"])

    return [Route("/", page), Route("/inspector/{name}", part)]


async def to_page(_: Request) -> Response:
    """Send ``/memory``, and ``/`` of a server of its own, on to ``/memory/``, where the pages find their
    parts."""
    return RedirectResponse("memory/", status_code=307)
