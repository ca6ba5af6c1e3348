"""The OpenAPI 3.1 document, made from the declared routes, with an example of each body, and its pages."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema
from starlette import routing
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from langmemory import __version__
from langmemory.declaring.fields import Fields, not_null
from langmemory.errors import with_extra
from langmemory.server.problems import MEDIA_TYPE, Problem, ProblemDetails
from langmemory.server.routes import Route, Routes, Upload
from langmemory.wire import SchemaOfFields, adapter

BODIES: Final[dict[str, dict[str, Any]]] = json.loads(
    files("langmemory.server").joinpath("examples.json").read_text("utf-8")
)
"""Examples of bodies, by the id of the operation."""


Json = dict[str, Any]

REFERENCE: Final = "#/components/schemas/{model}"
_PAGE_OF: Final = re.compile(r"\bPage_(\w+)_$")

REFUSALS: Final = {
    400: "The request is malformed.",
    401: "There is no token, or none that counts.",
    403: "The token does not allow it.",
    404: "There is no such thing, or none that you may know of.",
    408: "The body came too slowly.",
    409: "It conflicts with how things are.",
    412: "It was changed since you read it.",
    413: "The body is too large.",
    415: "The body has another media type.",
    421: "The server has another name.",
    422: "A value is wrong.",
    429: "Too many requests.",
    500: "The server failed.",
    503: "A model or the file is out of reach; try again.",
}
"""What an operation may be refused with."""
OF_WRITES: Final = frozenset({408, 409, 412, 413, 415})
"""What only an operation with a body is refused with."""


@cache
def document(routes: tuple[Routes, ...]) -> Json:
    """Return the document of all routes."""
    declared = [(part.tag, route) for part in routes for route in part.declared]
    schemas, components = _schemas([route for _, route in declared])
    paths: dict[str, Json] = {}
    for tag, route in declared:
        operation = _operation(tag, route, schemas)
        paths.setdefault(route.template, {})[route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "langmemory",
            "version": __version__,
            "description": "Long-term memory for agents. A token decides whose memory is seen; a "
            "request can only narrow it. Lists have cursors: pass `next` of a page as `cursor`.",
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in dict.fromkeys(part.tag for part in routes)],
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": _refusals(schemas),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


Wanted = tuple[Any, JsonSchemaMode]
_ABOUT_FIELDS: Final = frozenset({"default", "description", "title"})


class _SchemaOfBodies(SchemaOfFields):
    """Says that a client may write null for what it leaves out."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model."""
        found, model = super().model_schema(schema), schema["cls"]
        for name in not_null(model) if issubclass(model, Fields) else ():
            one = found.get("properties", {}).get(name, {})
            about = {word: one.pop(word) for word in _ABOUT_FIELDS & one.keys()}
            found["properties"][name] = {"anyOf": [one, {"type": "null"}], **about}
        return found


def _schemas(routes: Iterable[Route]) -> tuple[dict[Wanted, Json], Json]:
    """Return the schema of each body and answer, and the definitions they refer to."""
    wanted: list[Wanted] = [(ProblemDetails, "serialization")]
    for route in routes:
        if "body" in route.models:
            wanted.append((route.models["body"], "validation"))
        if route.answer is not None and not route.streams:
            wanted.append((route.answer, "serialization"))
    wanted = list(dict.fromkeys(wanted))
    inputs = [(one, mode, adapter(one)) for one, mode in wanted]
    found, definitions = TypeAdapter.json_schemas(
        inputs, ref_template=REFERENCE, schema_generator=_SchemaOfBodies
    )
    named = {_name(name): _named(_name(name), one) for name, one in definitions["$defs"].items()}
    return {(one, mode): _referring(found[one, mode]) for one, mode in wanted}, named


def _name(name: str) -> str:
    """Return the name of a schema as programs in most languages can have it: ``PageOfRun`` of
    ``Page_Run_``."""
    return _PAGE_OF.sub(r"PageOf\1", name).removesuffix("-Output").replace("-Input", "Given")


def _named(name: str, schema: Json) -> Json:
    """Return a schema under its name; generators of clients take titles for names, and those of fields
    would clash."""
    found = {**_referring(schema), "title": name}
    if "properties" in found:
        found["properties"] = {
            field: {word: told for word, told in one.items() if word != "title"}
            for field, one in found["properties"].items()
        }
    return found


def _referring(schema: Any) -> Any:
    """Return a schema, whose references name others by `_name`."""
    if isinstance(schema, list):
        return [_referring(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        word: _name(told) if word == "$ref" else _referring(told) for word, told in schema.items()
    }


def _operation(tag: str, route: Route, schemas: dict[Wanted, Json]) -> Json:
    text = inspect.getdoc(route.handler) or ""
    summary, _, further = text.partition("\n\n")
    operation: Json = {
        "tags": [tag],
        "operationId": route.name,
        "summary": " ".join(summary.split()),
        "description": f"{further}\n\nNeeds a token of scope `{route.scope}`.".strip(),
        "parameters": list(_parameters(route)),
        "responses": _responses(route, schemas),
    }
    if "body" in route.models:
        schema = schemas[route.models["body"], "validation"]
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema, **_example(route)}},
        }
    if route.uploads is not None:
        media = "application/x-ndjson" if route.uploads is Upload else "application/octet-stream"
        operation["requestBody"] = {
            "required": True,
            "content": {media: {"schema": {"type": "string"}}},
        }
    return operation


def _example(route: Route) -> Json:
    return {"example": BODIES[route.name]} if route.name in BODIES else {}


def _parameters(route: Route) -> Iterator[Json]:
    for place in ("path", "query"):
        if (model := route.models.get(place)) is None:
            continue
        schema = model.model_json_schema(
            mode="validation", ref_template=REFERENCE, schema_generator=SchemaOfFields
        )
        for name, one in schema["properties"].items():
            described = _without_null(one)
            parameter: Json = {
                "name": name,
                "in": place,
                "required": name in schema.get("required", ()),
            }
            text = described.pop("description", None)
            described.pop("title", None)
            if described.get("default", 0) is None:
                del described["default"]
            yield {**parameter, "schema": described, **({"description": text} if text else {})}
    yield _header(
        "Memory-Viewer",
        "On whose behalf, as a JSON string: the request then sees and changes what this person may. It can "
        "only narrow what the token allows.",
    )
    if route.path.startswith("/bus/"):
        yield _header(
            "Memory-Agent",
            "As which agent, as a JSON string. It is for tokens of the application, which are bound to none.",
        )
    if route.conditional and route.method != "GET":
        yield _header(
            "If-Match", "The `ETag` of what you read: it is written only if it is still that."
        )
        yield _header("If-None-Match", "`*` writes only where there is nothing yet.")
    if route.method == "POST":
        yield _header("Idempotency-Key", "Sent again with the same request, it is done once.")


def _without_null(schema: Json) -> Json:
    """Return the schema of a parameter: one that is null is left out instead."""
    options = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(options) == 1:
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        return {**options[0], **rest}
    return dict(schema)


def _header(name: str, text: str) -> Json:
    return {"name": name, "in": "header", "required": False, "schema": {"type": "string"},
            "description": text}  # fmt: skip


def _responses(route: Route, schemas: dict[Wanted, Json]) -> Json:
    done: Json = {"description": "Done."}
    if route.streams:
        done["content"] = {"application/x-ndjson": {"schema": {"type": "string"}}}
    elif route.answer is not None:
        schema = schemas[route.answer, "serialization"]
        done["content"] = {"application/json": {"schema": schema}}
    if route.conditional:
        done["headers"] = {"ETag": {"schema": {"type": "string"}}}
    responses = {str(route.status): done}
    if route.conditional and route.method == "GET":
        responses["304"] = {"description": "You have this version."}
    for status in REFUSALS:
        if route.method != "GET" or status not in OF_WRITES:
            responses[str(status)] = {"$ref": f"#/components/responses/{_phrase(status)}"}
    return responses


def _phrase(status: int) -> str:
    """Return the name of a refusal: ``NotFound``."""
    return re.sub(r"\W", "", HTTPStatus(status).phrase.title())


def _refusals(schemas: dict[Wanted, Json]) -> Json:
    content = {MEDIA_TYPE: {"schema": schemas[ProblemDetails, "serialization"]}}
    return {
        _phrase(status): {"description": text, "content": content}
        for status, text in REFUSALS.items()
    }


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


def pages_of(described: tuple[Routes, ...]) -> list[routing.Route]:
    """Return what describes the API of these routes. It says nothing of memory, so it needs no token."""

    async def schema(_: Request) -> Response:
        return JSONResponse(document(described))

    async def page(_: Request) -> Response:
        _swagger_ui("swagger-ui.css")  # says what is missing before the page is blank
        return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY})

    async def start(_: Request) -> Response:
        return Response(START, media_type="text/javascript")

    async def part(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in TYPES:
            raise Problem("not-found", "There is nothing at this path.")
        return Response(_swagger_ui(name), media_type=TYPES[name])

    return [
        routing.Route("/openapi.json", schema),
        routing.Route("/docs", page),
        routing.Route("/docs/start.js", start),
        routing.Route("/docs/{name}", part),
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
        raise Problem("not-found", problem) from None
