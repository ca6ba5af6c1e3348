"""Schemas of an application's memories: pydantic classes, made of JSON schemas and TypedDicts as well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Required,
    TypeAlias,
    Union,
    get_args,
    get_origin,
)

from pydantic import BaseModel, Field, create_model
from typing_extensions import ReadOnly, get_type_hints, is_typeddict

from langmemory.errors import ConfigError

JsonSchema: TypeAlias = Mapping[str, Any]

_PLAIN: Final[Mapping[str, Any]] = {
    "string": str, "integer": int, "number": float, "boolean": bool, "null": None,
}  # fmt: skip
_BOUNDS: Final[Mapping[str, str]] = {
    "minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt",
    "minLength": "min_length", "maxLength": "max_length", "minItems": "min_length",
    "maxItems": "max_length", "pattern": "pattern", "multipleOf": "multiple_of",
}  # fmt: skip
"""The names pydantic has for the limits of a JSON schema."""


def as_pydantic(schema: Any) -> Any:
    """Return a JSON schema or a TypedDict as a pydantic class; anything else as it is.

    A JSON schema is an object with a title, or a function as OpenAI's API takes it. A model is shown
    it as it was given. What it says of types, required fields, enumerations and limits is checked;
    other keywords, such as ``if``, are not.

    Raises:
        ConfigError: The JSON schema has no title or describes no object, or refers to what is not in it.
    """
    if is_typeddict(schema):
        return _of_typed_dict(schema, {})
    if isinstance(schema, Mapping):
        return _of_json(schema)
    return schema


def _of_json(given: JsonSchema) -> type[BaseModel]:
    schema = given
    if isinstance(schema.get("function"), Mapping):
        schema = schema["function"]
    if isinstance(schema.get("parameters"), Mapping):
        described = {"title": schema.get("name"), "description": schema.get("description")}
        schema = {**{k: v for k, v in described.items() if v}, **schema["parameters"]}
        schema["title"] = described["title"] or schema.get("title")
    title = re.sub(r"\W+", "_", str(schema.get("title") or "")).strip("_")
    if not title:
        raise ConfigError(
            f'A JSON schema has no title: {dict(given)!r:.80}. Add "title": "…", by which memories of '
            "this kind are known."
        )
    if not isinstance(schema.get("properties"), Mapping):
        raise ConfigError(
            f'The JSON schema {title!r} has no "properties": a memory is an object with fields.'
        )
    return _Classes(schema).of_object(schema, title, shown=True)


class _Classes:
    """Makes classes of the objects in one JSON schema."""

    def __init__(self, root: JsonSchema) -> None:
        self._root = root
        self._referred: dict[str, Any] = {}

    def of_object(self, schema: JsonSchema, title: str, *, shown: bool = False) -> type[BaseModel]:
        """Return the class of an object. Where it is ``shown``, its JSON schema is the given one."""
        required = schema.get("required") or ()
        fields: dict[str, Any] = {}
        for name, one in schema["properties"].items():
            kind = self.of(one, f"{title}_{name}")
            about: dict[str, Any] = (
                {"description": one.get("description")} if isinstance(one, Mapping) else {}
            )
            # A name that pydantic keeps for itself is the alias of another.
            own = name.isidentifier() and not name.startswith("_") and not hasattr(BaseModel, name)
            field = name if own else "field_" + re.sub(r"\W", "_", name).strip("_")
            if not own:
                about["alias"] = name
            if name in required:
                fields[field] = (kind, Field(..., **about))
            else:
                default: Any = one.get("default") if isinstance(one, Mapping) else None
                fields[field] = (_union((kind, None)), Field(default, **about))
        base = _shown_as(_inline_references(self._root)) if shown else _Object
        doc = schema.get("description") or title
        return create_model(title, __base__=base, __doc__=str(doc), **fields)

    def of(self, schema: Any, title: str) -> Any:
        """Return the type of any part of it."""
        if not isinstance(schema, Mapping):
            return Any
        if isinstance(reference := schema.get("$ref"), str):
            return self._of_reference(reference, title)
        if "const" in schema:
            return Literal[schema["const"]]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return Literal[tuple(schema["enum"])]
        several = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(several, list) and several:
            return _union(self.of(one, f"{title}_{n}") for n, one in enumerate(several))
        kind = schema.get("type")
        if isinstance(kind, list):
            return _union(self.of({**schema, "type": one}, title) for one in kind)
        limits = {ours: schema[theirs] for theirs, ours in _BOUNDS.items() if theirs in schema}
        found = self._of_type(schema, kind, title)
        return Annotated[found, Field(**limits)] if limits and found is not Any else found

    def _of_type(self, schema: JsonSchema, kind: Any, title: str) -> Any:
        if kind == "array":
            return list[self.of(schema.get("items"), f"{title}_item")]  # type: ignore[misc]
        if kind == "object" or "properties" in schema:
            if isinstance(schema.get("properties"), Mapping):
                return self.of_object(schema, re.sub(r"\W+", "_", str(schema.get("title", title))))
            return dict[str, self.of(schema.get("additionalProperties"), title)]  # type: ignore[misc]
        return _PLAIN.get(kind, Any) if isinstance(kind, str) else Any

    def _of_reference(self, reference: str, title: str) -> Any:
        """Return the type of a definition; what refers to itself may be anything there."""
        if reference not in self._referred:
            self._referred[reference] = Any
            found = _definition(self._root, reference)
            self._referred[reference] = self.of(found, reference.rpartition("/")[2] or title)
        return self._referred[reference]


class _Object(BaseModel):
    """An object of a JSON schema, written and read under the names it gives."""

    model_config = {"populate_by_name": True, "serialize_by_alias": True}


def _shown_as(schema: dict[str, Any]) -> type[BaseModel]:
    class Shown(_Object):
        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
            return schema

    return Shown


def _inline_references(schema: JsonSchema) -> dict[str, Any]:
    """Return a schema without references, so that it can be a part of another."""
    from langchain_core.utils.json_schema import dereference_refs

    try:
        whole = dereference_refs(dict(schema))
    except (KeyError, ValueError) as error:
        raise ConfigError(
            f"The JSON schema {schema.get('title')!r} refers to what is not in it: {error}"
        ) from error
    return {key: value for key, value in whole.items() if key not in ("$defs", "definitions")}


def _definition(root: JsonSchema, reference: str) -> Any:
    found: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(step) if step and isinstance(found, Mapping) else found
    return found


def _union(types: Iterable[Any]) -> Any:
    found = tuple(types)
    return Any if Any in found else Union[found]  # noqa: UP007  # of types known only now


def _of_typed_dict(schema: Any, made: dict[Any, Any]) -> Any:
    """Return the class of a TypedDict and of those in it; what refers to itself may be anything there."""
    if schema in made:
        return made[schema]
    made[schema] = Any
    fields: dict[str, Any] = {}
    for name, hint in get_type_hints(schema, include_extras=True).items():
        kind = _convert_type(hint, made)
        required = name in schema.__required_keys__
        fields[name] = (kind, ...) if required else (_union((kind, None)), None)
    doc = schema.__doc__ if schema.__doc__ and not schema.__doc__.startswith("dict(") else None
    made[schema] = create_model(schema.__name__, __doc__=doc, **fields)
    return made[schema]


def _convert_type(hint: Any, made: dict[Any, Any]) -> Any:
    """Return a type with the TypedDicts in it as classes; text beside it in `Annotated` describes it."""
    if is_typeddict(hint):
        return _of_typed_dict(hint, made)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Required, NotRequired, ReadOnly):
        return _convert_type(arguments[0], made)
    if origin is Annotated:
        notes = (one for one in arguments[1:] if one is not ...)
        told = (Field(description=one) if isinstance(one, str) else one for one in notes)
        return Annotated[(_convert_type(arguments[0], made), *told)]
    if origin is None or origin is Literal or not arguments:
        return hint
    inner = tuple(_convert_type(one, made) for one in arguments)
    if inner == arguments:
        return hint
    return _union(inner) if origin in (Union, UnionType) else origin[inner]
