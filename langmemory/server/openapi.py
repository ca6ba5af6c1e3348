"""The OpenAPI 3.1 document, made from the declared routes, and the page that shows it."""

from __future__ import annotations

import html
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from langmemory import __version__
from langmemory.server.problems import MEDIA_TYPE, ProblemDetails
from langmemory.server.routes import PREFIX, Route, Routes
from langmemory.wire import SchemaOfFields, adapter

Json = dict[str, Any]

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
"""What every operation may be refused with."""


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
        "tags": [{"name": part.tag} for part in routes],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


Wanted = tuple[Any, JsonSchemaMode]


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
        inputs,
        ref_template="#/components/schemas/{model}",
        schema_generator=SchemaOfFields,
    )
    return {(one, mode): found[one, mode] for one, mode in wanted}, definitions.get("$defs", {})


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
            "content": {"application/json": {"schema": schema}},
        }
    if route.uploads:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        }
    return operation


def _parameters(route: Route) -> Iterator[Json]:
    for place in ("path", "query"):
        if (model := route.models.get(place)) is None:
            continue
        schema = model.model_json_schema(
            mode="validation",
            ref_template="#/components/schemas/{model}",
            schema_generator=SchemaOfFields,
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
    if route.conditional and route.method != "GET":
        yield _header(
            "If-Match", "The `ETag` of what you read: it is written only if it is still that."
        )
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
    refusal = {MEDIA_TYPE: {"schema": schemas[ProblemDetails, "serialization"]}}
    for status, text in REFUSALS.items():
        responses[str(status)] = {"description": text, "content": refusal}
    return responses


def page(routes: tuple[Routes, ...]) -> str:
    """Return the documentation as one HTML page that needs nothing else."""
    found = document(routes)
    parts = []
    for tag in found["tags"]:
        rows = "".join(
            _row(method, path, operation)
            for path, methods in found["paths"].items()
            for method, operation in methods.items()
            if tag["name"] in operation["tags"]
        )
        parts.append(f"<h2>{html.escape(tag['name'])}</h2>{rows}")
    models = "".join(
        f'<details id="{html.escape(name)}"><summary><code>{html.escape(name)}</code></summary>'
        f"{_fields(schema)}"
        "</details>"
        for name, schema in sorted(found["components"]["schemas"].items())
    )
    return _PAGE.format(
        version=html.escape(__version__), prefix=PREFIX, parts="".join(parts), models=models,
        description=html.escape(found["info"]["description"]),
    )  # fmt: skip


def _row(method: str, path: str, operation: Json) -> str:
    parameters = "".join(
        f"<tr><td><code>{html.escape(one['name'])}</code></td><td>{one['in']}</td>"
        f"<td>{html.escape(_kind(one['schema']))}</td><td>{html.escape(one.get('description', ''))}</td></tr>"
        for one in operation["parameters"]
    )
    table = f"<table>{parameters}</table>" if parameters else ""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    sent = f"<p>Body: {_link(body['schema'])}</p>" if body else ""
    done = next(iter(operation["responses"].values())).get("content", {}).get("application/json")
    answer = f"<p>Answer: {_link(done['schema'])}</p>" if done else ""
    return (
        f"<details><summary><b>{method.upper()}</b> <code>{html.escape(path)}</code> "
        f"{html.escape(operation['summary'])}</summary>"
        f"<p>{html.escape(operation['description'])}</p>{table}{sent}{answer}</details>"
    )


def _fields(schema: Json) -> str:
    required = schema.get("required", ())
    rows = "".join(
        f"<tr><td><code>{html.escape(name)}</code>{'' if name in required else ' (optional)'}</td>"
        f"<td>{_link(one)}</td><td>{html.escape(one.get('description', ''))}</td></tr>"
        for name, one in schema.get("properties", {}).items()
    )
    return f"<p>{html.escape(schema.get('description', ''))}</p><table>{rows}</table>"


def _kind(schema: Json) -> str:
    """Return the type of a value in words."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return repr(schema["const"])
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return " or ".join(map(_kind, schema[name]))
    kind = str(schema.get("format") or schema.get("type", "anything"))
    return f"list of {_kind(schema['items'])}" if kind == "array" and "items" in schema else kind


def _link(schema: Json) -> str:
    kind = html.escape(_kind(schema))
    return f'<a href="#{kind}">{kind}</a>' if "$ref" in schema else kind


STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;"
    "color-scheme:light dark;background:Canvas;color:CanvasText}"
    "table{border-collapse:collapse;width:100%}td{border-top:1px solid GrayText;padding:.3rem;"
    "vertical-align:top;overflow-wrap:anywhere}details{margin:.4rem 0}summary{cursor:pointer}"
    "code{font-size:.95em;overflow-wrap:anywhere}"
)
_PAGE: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1"><title>langmemory API</title>'
    '<link rel="stylesheet" href="docs.css"></head><body><main><h1>langmemory API {version}</h1>'
    '<p>{description}</p><p><a href="openapi.json">OpenAPI 3.1</a>; all paths begin with '
    "<code>{prefix}</code>.</p>{parts}<h2>Values</h2>{models}</main></body></html>"
)
