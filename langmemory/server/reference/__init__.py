"""Reference: the OpenAPI document as one page that a person reads, without scripts and without a network."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Final

from langmemory.server.routes import PREFIX

Json = dict[str, Any]
_CODE: Final = re.compile(r"`([^`]+)`")


def page(document: Json) -> str:
    """Return the page of an OpenAPI document."""
    operations = list(_operations(document))
    tags = [tag["name"] for tag in document["tags"]]
    contents = "".join(_contents(tag, operations) for tag in tags)
    parts = "".join(_part(tag, operations) for tag in tags)
    schemas = document["components"]["schemas"]
    values = "".join(_value(name, schema) for name, schema in sorted(schemas.items()))
    info = document["info"]
    return _file("page.html").format(
        version=_escaped(info["version"]), description=_told(info["description"]), prefix=PREFIX,
        contents=contents, parts=parts, values=values, refusals=_refusals(document),
    )  # fmt: skip


def style() -> str:
    """Return the style sheet of the page."""
    return _file("docs.css")


@cache
def _file(name: str) -> str:
    return files(__name__).joinpath(name).read_text("utf-8")


def _operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path.removeprefix(PREFIX), operation


def _contents(tag: str, operations: Iterable[tuple[str, str, Json]]) -> str:
    rows = "".join(
        f'<li><a href="#{operation["operationId"]}"><b class="{method.lower()}">{method}</b> '
        f"<span>{_escaped(path)}</span></a></li>"
        for method, path, operation in operations
        if tag in operation["tags"]
    )
    return f'<p><a href="#{_slug(tag)}">{_escaped(tag)}</a></p><ul>{rows}</ul>'


def _part(tag: str, operations: Iterable[tuple[str, str, Json]]) -> str:
    rows = "".join(
        _operation(method, path, operation)
        for method, path, operation in operations
        if tag in operation["tags"]
    )
    return f'<h2 id="{_slug(tag)}">{_escaped(tag)}</h2>{rows}'


def _slug(tag: str) -> str:
    """Return the anchor of a heading."""
    return "part-" + re.sub(r"\W+", "-", tag.lower())


def _operation(method: str, path: str, operation: Json) -> str:
    own = [one for one in operation["parameters"] if one["in"] != "header"]
    rows = "".join(
        f"<tr><td><code>{_escaped(one['name'])}</code>{_note('in the path', one['in'] == 'path')}"
        f"{_note('required', one['in'] == 'query' and one['required'])}</td>"
        f"<td>{_kind(one['schema'])}</td><td>{_told(one.get('description', ''))}</td></tr>"
        for one in own
    )
    table = f"<table>{rows}</table>" if rows else ""
    content = operation.get("requestBody", {}).get("content", {})
    body = content.get("application/json")
    sent = f"<p>Body: {_kind(body['schema'])}</p>" if body else ""
    if content and body is None:
        sent = "<p>Body: JSON lines.</p>"
    status, done = next(iter(operation["responses"].items()))
    answered = done.get("content", {})
    answer = "nothing"
    if "application/json" in answered:
        answer = _kind(answered["application/json"]["schema"])
    elif answered:
        answer = "JSON lines"
    return (
        f'<section id="{operation["operationId"]}"><h3><b class="{method.lower()}">{method}</b> '
        f"<code>{_escaped(path)}</code></h3><p>{_told(operation['summary'])}</p>"
        f"<p>{_told(operation['description'])}</p>{table}{sent}"
        f"<p>Answer: {status}, {answer}</p>{_curl(method, path, body)}</section>"
    )


def _curl(method: str, path: str, body: Json | None) -> str:
    """Return the example of an operation, as a shell takes it."""
    if body is None:
        return ""
    named = "" if method == "POST" else f"-X {method} "
    text = json.dumps(body["example"], ensure_ascii=False, indent=2).replace("'", "'\\''")
    return (
        f"<pre><code>curl {named}localhost:8765{PREFIX}{_escaped(path)} \\\n"
        f"  -H 'Content-Type: application/json' -d '{_escaped(text)}'</code></pre>"
    )


def _value(name: str, schema: Json) -> str:
    required = schema.get("required", ())
    rows = "".join(
        f"<tr><td><code>{_escaped(field)}</code>{_note('required', field in required)}</td>"
        f"<td>{_kind(one)}</td><td>{_told(one.get('description', ''))}</td></tr>"
        for field, one in schema.get("properties", {}).items()
    )
    return (
        f'<section id="{_escaped(name)}"><h3>{_escaped(name)}</h3>'
        f"<p>{_told(schema.get('description', ''))}</p><table>{rows}</table></section>"
    )


def _refusals(document: Json) -> str:
    told = document["components"]["responses"]
    status_of = {
        answer["$ref"].rpartition("/")[2]: status
        for _, _, operation in _operations(document)
        for status, answer in operation["responses"].items()
        if "$ref" in answer
    }
    return "".join(
        f"<tr><td><code>{status}</code></td><td>{_told(told[name]['description'])}</td></tr>"
        for name, status in sorted(status_of.items(), key=lambda one: one[1])
    )


def _kind(schema: Json) -> str:
    """Return the type of a value in words."""
    if "$ref" in schema:
        name = _escaped(str(schema["$ref"].rpartition("/")[2]))
        return f'<a href="#{name}">{name}</a>'
    if "const" in schema:
        return f"<code>{_escaped(json.dumps(schema['const']))}</code>"
    if "enum" in schema:
        return ", ".join(f"<code>{_escaped(str(one))}</code>" for one in schema["enum"])
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return " or ".join(_kind(one) for one in schema[name])
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}" if "items" in schema else "list"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_kind(schema['additionalProperties'])}"
    return _escaped(str(schema.get("format") or schema.get("type", "any JSON")))


def _note(text: str, shown: bool) -> str:
    return f" <small>{text}</small>" if shown else ""


def _told(text: str) -> str:
    """Return a description, in which backquotes mark code and an empty line ends a paragraph."""
    return _CODE.sub(r"<code>\1</code>", _escaped(text)).replace("\n\n", "<br>")


def _escaped(text: str) -> str:
    return html.escape(text)
