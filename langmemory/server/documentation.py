"""Documentation: the OpenAPI document, and Swagger UI over it, whose parts this server has itself."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from langmemory.errors import with_extra
from langmemory.server import openapi
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'"
)
PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>langmemory: REST API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
START: Final = """SwaggerUIBundle({
  url: "openapi.json", dom_id: "#api", defaultModelsExpandDepth: 0,
  deepLinking: true, validatorUrl: null,
})
"""
TYPES: Final = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}


def routes(described: tuple[Routes, ...]) -> list[Route]:
    """Return what describes the API of these routes. It says nothing of memory, so it needs no token."""

    async def document(_: Request) -> Response:
        return JSONResponse(openapi.document(described))

    async def page(_: Request) -> Response:
        _swagger_ui("swagger-ui.css")  # says what is missing before the page is blank
        return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY})

    async def start(_: Request) -> Response:
        return Response(START, media_type="text/javascript")

    async def part(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in TYPES:
            raise Problem(404, "not-found", "There is nothing at this path.")
        return Response(_swagger_ui(name), media_type=TYPES[name])

    return [
        Route("/openapi.json", document),
        Route("/docs", page),
        Route("/docs/start.js", start),
        Route("/docs/{name}", part),
    ]


def _swagger_ui(name: str) -> bytes:
    """Return a file of the package that has Swagger UI.

    Raises:
        Problem: The package is not installed.
    """
    try:
        return files("swagger_ui").joinpath("static", name).read_bytes()
    except ImportError:
        problem = f"This page needs swagger-ui-py: {with_extra('server')}."
        raise Problem(404, "not-found", problem) from None
