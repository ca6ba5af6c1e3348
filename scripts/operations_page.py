"""Writes docs/operations.md: every operation of the API, with its arguments, from the OpenAPI document.

A test holds the page to the code, so that no change of the API goes unseen:
``python -m scripts.operations_page`` writes it anew, and ``git diff`` shows what changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from langmemory.declaring import operations_of
from langmemory.server.api import all_routes
from langmemory.server.openapi import document
from langmemory.server.routes import PREFIX

PAGE: Final = Path(__file__).parents[1] / "docs" / "operations.md"
HEAD: Final = f"""# Operations

Every operation of the store that the REST API has, below `{PREFIX}`. The page is made from the code by
`python -m scripts.operations_page`. An operation with a Python name is also a method of `MemoryStore` and
`RemoteMemoryStore`, with an async twin whose name begins with `a`, and a command of `langmemory call`.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_sections()])


def _sections() -> Iterator[str]:
    spec = document(all_routes())
    derived = {one.id: one for one in operations_of()}
    for tag in spec["tags"]:
        yield f"## {tag['name']}\n"
        for path, methods in spec["paths"].items():
            for verb, operation in methods.items():
                if tag["name"] in operation["tags"]:
                    yield from _operation(spec, path, verb, operation, derived)


def _operation(
    spec: dict[str, Any], path: str, verb: str, operation: dict[str, Any], derived: dict[str, Any]
) -> Iterator[str]:
    yield f"### `{verb.upper()} {path.removeprefix(PREFIX)}`\n"
    yield f"{operation['summary']}\n"
    found = derived.get(operation["operationId"])
    python = "" if found is None else f"`store.{found.room.name}….{found.name}`. "
    scope = operation["description"].rpartition("scope ")[2]
    yield f"{python}Scope {scope} Returns {_answer(operation)}.\n"
    rows = [*_parameters(operation), *_fields(spec, operation)]
    if rows:
        yield "| argument | type | |\n|---|---|---|"
        yield from rows
        yield ""


def _parameters(operation: dict[str, Any]) -> Iterator[str]:
    for one in operation["parameters"]:
        if one["in"] in ("path", "query"):
            yield _row(one["name"], one["schema"], one.get("description", ""), one["required"])


def _fields(spec: dict[str, Any], operation: dict[str, Any]) -> Iterator[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return
    schema = _resolved(spec, content["schema"])
    for name, one in schema.get("properties", {}).items():
        needed = name in schema.get("required", ())
        yield _row(name, one, one.get("description", ""), needed)


def _row(name: str, schema: dict[str, Any], text: str, required: bool) -> str:
    needed = "" if required else ", optional"
    line = " ".join(text.split()).replace("|", "\\|")
    return f"| `{name}` | {_type(schema)}{needed} | {line} |"


def _resolved(spec: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rpartition("/")[2]
    found: dict[str, Any] = spec["components"]["schemas"][name]
    return found


def _answer(operation: dict[str, Any]) -> str:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            for media, content in response.get("content", {}).items():
                return _type(content["schema"]) if media == "application/json" else "JSON lines"
    return "nothing"


def _type(schema: dict[str, Any]) -> str:
    """Return a schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "enum" in schema or "const" in schema:
        words = schema.get("enum", [schema.get("const")])
        return " or ".join(f"`{one}`" for one in words)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            kinds = [_type(one) for one in schema[several] if one != {"type": "null"}]
            return " or ".join(dict.fromkeys(kinds))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    bounds = [
        f"{sign} {schema[name]:,}"
        for name, sign in (("minimum", "≥"), ("maximum", "≤"), ("maxLength", "≤"))
        if name in schema
    ]
    kind = schema.get("format") or schema.get("type") or "any value"
    return f"{kind} {', '.join(bounds)}".strip()


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
