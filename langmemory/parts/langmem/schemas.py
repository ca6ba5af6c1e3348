"""Memories of an application's own schemas, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from langmemory.errors import ConfigError
from langmemory.schemas import JsonSchema, as_pydantic

Schema: TypeAlias = type[BaseModel]
Given: TypeAlias = type[Any] | JsonSchema
"""A schema as an application passes it: a pydantic class, a TypedDict, or a JSON schema."""
Default: TypeAlias = str | dict[str, Any] | BaseModel
"""The memory an application begins with: text for `Memory`, fields of a schema, or an instance."""


class Memory(BaseModel):
    """One memory in plain words."""

    content: str = Field(description="a fact, preference, event or note that can be read alone")


class RemoveDoc(BaseModel):
    """Stands in the result for a memory that is to be removed."""

    json_doc_id: str


class ExtractedMemory(NamedTuple):
    """A memory after the conversation."""

    id: str
    content: Any
    """An instance of its schema, `RemoveDoc`, or what was given where nothing changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingMemory:
    """A memory there is already."""

    id: str
    kind: str
    content: Any

    @property
    def plain(self) -> Any:
        """Its content as JSON."""
        content = self.content
        return content.model_dump(mode="json") if isinstance(content, BaseModel) else content


def checked_schemas(schemas: Sequence[Given] | None) -> tuple[Schema, ...]:
    """The schemas as pydantic classes; `Memory` where there are none.

    Raises:
        ConfigError: One is no pydantic class, TypedDict or JSON schema, two have one name, or it is no
            list of them.
    """
    if isinstance(schemas, type | Mapping):
        name = schemas.__name__ if isinstance(schemas, type) else "a JSON schema"
        raise ConfigError(f"schemas is {name}, not a list of schemas; put it into one: [{name}]")
    names: set[str] = set()
    checked: list[Schema] = []
    for given in schemas or ():
        schema = as_pydantic(given)
        if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
            raise ConfigError(
                f"schema {given!r:.80} is not supported: each must be a class derived from "
                "pydantic.BaseModel, a TypedDict, or a JSON schema with a title"
            )
        if schema.__name__ in names:
            raise ConfigError(
                f"Two schemas are called {schema.__name__!r}, by which memories of one are told from "
                "those of the other. Rename one of them."
            )
        names.add(schema.__name__)
        checked.append(schema)
    return tuple(checked or (Memory,))


def as_memory(default: Default, schemas: Sequence[Schema]) -> BaseModel:
    """A default as a memory.

    Raises:
        ConfigError: It fits no schema.
    """
    if isinstance(default, BaseModel):
        return default
    content = {"content": default} if isinstance(default, str) and Memory in schemas else default
    for schema in schemas:
        try:
            return schema.model_validate(content)
        except ValidationError:
            continue
    raise ConfigError(
        f"The default is a {type(default).__name__} that fits none of the schemas "
        f"{', '.join(schema.__name__ for schema in schemas)}; pass an instance of one."
    )


UNTYPED: Final[Mapping[str, None]] = {"kind": None, "role": None}
"""Filter of memories without a kind; what was said has a role."""


_OF_THE_TOOL: Final = frozenset({"content", "speaker", "trust", "priority"})
"""Keys of what `manage_memory` writes."""


def kind_of(value: Mapping[str, Any], schemas: Sequence[Schema]) -> str | None:
    """Return the name of a stored memory's schema, None for what is no memory of an application.

    What the tool `manage_memory` wrote has content and no kind. It is of the first schema that it fits, or
    else of the first one.
    """
    if "content" not in value:
        return None
    if "kind" in value:
        return str(value["kind"])
    if not value.keys() <= _OF_THE_TOOL:
        return None
    fitting = (schema for schema in schemas if _instance(schema, value["content"]) is not None)
    return next(fitting, schemas[0]).__name__


def _instance(schema: Schema, content: Any) -> BaseModel | None:
    """Return content as an instance of a schema, None where it does not fit. Plain text fits a schema
    of text alone."""
    if isinstance(content, str) and list(schema.model_fields) == ["content"]:
        content = {"content": content}
    try:
        return schema.model_validate(content)
    except ValidationError:
        return None


def typed(value: Mapping[str, Any], schemas: Mapping[str, Schema]) -> Any:
    """A stored memory as an instance of its schema; what is none, as it is."""
    schema = schemas.get(kind_of(value, list(schemas.values())) or "")
    found = None if schema is None else _instance(schema, value["content"])
    return value if found is None else found  # it may be of an older version of the schema
