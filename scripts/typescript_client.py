"""Writes the TypeScript client: ``index.js`` and ``index.d.ts`` from the OpenAPI document, beside the files
of ``clients/typescript``, which are written by hand.

``make dist`` writes it to ``dist/typescript``; ``python -m scripts.typescript_client FOLDER`` elsewhere.
JavaScript with declarations runs everywhere without a compiler.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from langmemory import __version__
from langmemory.server.api import all_routes
from langmemory.server.openapi import document
from langmemory.server.routes import PREFIX

PAGES: Final = Path(__file__).parents[1] / "clients" / "typescript"
HEAD: Final = "// Generated from the OpenAPI document of langmemory.\n"
SIMPLE: Final = {
    "string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null",
}  # fmt: skip
DECLARED: Final = """
export interface Settings {
  /** As `langmemory token create` printed it. */
  token?: string;
  /** On whose behalf; "" is somebody unknown. */
  viewer?: string;
  /** As which agent. */
  agent?: string;
  fetch?: typeof fetch;
}

export interface Options {
  viewer?: string;
  agent?: string;
  /** Such as Idempotency-Key or If-Match. */
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A refusal of the server. */
export declare class MemoryError extends Error {
  status: number;
  /** Its word for programs, such as "not-found". */
  kind: string;
  problem: Record<string, unknown>;
}

/** A memory that `langmemory serve` serves. */
export declare class MemoryClient {
  constructor(address: string, settings?: Settings);
"""


def build(folder: Path) -> Path:
    """Write the client into a folder that is not there yet."""
    shutil.copytree(PAGES, folder)
    for name, text in files().items():
        (folder / name).write_text(text, "utf-8")
    return folder


def files() -> dict[str, str]:
    """Return the generated files by name."""
    spec = document(all_routes())
    operations = [
        (verb.upper(), path.removeprefix(PREFIX), one)
        for path, verbs in spec["paths"].items()
        for verb, one in verbs.items()
    ]
    methods = [
        f"{HEAD}\nimport {{ MemoryError, Transport }} from './transport.js';\n\nexport {{ MemoryError }};\n",
        "export class MemoryClient extends Transport {",
        *(_method(*one) for one in operations),
        "}\n",
    ]
    declarations = [
        f"{HEAD}{DECLARED.rstrip()}",
        *(line for _, _, one in operations for line in _declaration(one)),
        "}\n",
        *(
            line
            for name, one in spec["components"]["schemas"].items()
            for line in _interface(name, one)
        ),
    ]
    package = {
        "name": "langmemory-client", "version": __version__, "type": "module", "license": "MIT",
        "description": "Client of a langmemory server", "main": "index.js", "types": "index.d.ts",
        "files": ["index.js", "index.d.ts", "transport.js"], "engines": {"node": ">=18"},
        "private": True,
    }  # fmt: skip
    return {
        "index.js": "\n".join(methods),
        "index.d.ts": "\n".join(declarations),
        "package.json": json.dumps(package, indent=2) + "\n",
    }


def _name(operation: dict[str, Any]) -> str:
    first, *words = str(operation["operationId"]).split("_")
    return first + "".join(word.capitalize() for word in words)


def _media(operation: dict[str, Any]) -> str | None:
    return next(iter(operation.get("requestBody", {}).get("content", {})), None)


def _parameters(operation: dict[str, Any], *places: str) -> list[dict[str, Any]]:
    return [one for one in operation["parameters"] if one["in"] in places]


def _method(verb: str, path: str, operation: dict[str, Any]) -> str:
    query = [one["name"] for one in _parameters(operation, "query")]
    given = ", ".join(map(json.dumps, (verb, path, query, _media(operation))))
    return f"  {_name(operation)}(args, options) {{ return this._call({given}, args, options); }}"


def _declaration(operation: dict[str, Any]) -> Iterator[str]:
    parameters = _parameters(operation, "path", "query")
    parts = []
    needed = any(one["required"] for one in parameters)
    media = _media(operation)
    if media == "application/json":
        schema = operation["requestBody"]["content"][media]["schema"]
        parts.append(_type(schema))
        needed = True
    elif media is not None:
        parts.append("{ content: BodyInit }")
        needed = True
    if parameters:
        fields = (
            f"{one['name']}{'' if one['required'] else '?'}: {_type(one['schema'])}"
            for one in parameters
        )
        parts.append(f"{{ {'; '.join(fields)} }}")
    args = " & ".join(parts) or "{}"
    yield f"  /** {_comment(operation['summary'])} */"
    mark = "" if needed else "?"
    yield f"  {_name(operation)}(args{mark}: {args}, options?: Options): {_answer(operation)};"


def _answer(operation: dict[str, Any]) -> str:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            for media, content in response.get("content", {}).items():
                if media != "application/json":
                    return "Promise<AsyncGenerator<Record<string, unknown>>>"
                return f"Promise<{_type(content['schema'])}>"
    return "Promise<void>"


def _interface(name: str, schema: dict[str, Any]) -> Iterator[str]:
    if text := schema.get("description"):
        yield f"/** {_comment(text)} */"
    yield f"export interface {name} {{"
    for field, one in schema["properties"].items():
        if text := one.get("description"):
            yield f"  /** {_comment(text)} */"
        mark = "" if field in schema.get("required", ()) else "?"
        yield f"  {field}{mark}: {_type(one)};"
    yield "}\n"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "enum" in schema or "const" in schema:
        return " | ".join(map(json.dumps, schema.get("enum", [schema.get("const")])))
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(_type(one) for one in schema[several]))
    kind = schema.get("type")
    if kind == "array":
        return f"Array<{_type(schema.get('items', {}))}>"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"Record<string, {_type(inner) if isinstance(inner, dict) else 'unknown'}>"
    return SIMPLE.get(str(kind), "unknown")


def _comment(text: str) -> str:
    return " ".join(text.split()).replace("*/", "* /")


if __name__ == "__main__":
    build(Path(sys.argv[1]))
