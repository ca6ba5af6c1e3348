"""Memories of an application's own schemas, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from langmemory.errors import ConfigError

Schema: TypeAlias = type[BaseModel]
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
class Known:
    """A memory there is already."""

    id: str
    kind: str
    content: Any

    @property
    def plain(self) -> Any:
        """Its content as JSON."""
        content = self.content
        return content.model_dump(mode="json") if isinstance(content, BaseModel) else content


def checked_schemas(schemas: Sequence[Schema] | None) -> tuple[Schema, ...]:
    """The schemas; `Memory` where there are none.

    Raises:
        ConfigError: One is no pydantic class, two have one name, or it is no list of them.
    """
    if isinstance(schemas, type):
        raise ConfigError(
            f"schemas is the class {schemas.__name__}; pass a list: [{schemas.__name__}]"
        )
    names: set[str] = set()
    for schema in schemas or ():
        if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
            raise ConfigError(
                f"schema {schema!r:.80} is not supported: each must be a class derived from "
                "pydantic.BaseModel"
            )
        if schema.__name__ in names:
            raise ConfigError(
                f"Two schemas are called {schema.__name__!r}, by which memories of one are told from "
                "those of the other. Rename one of them."
            )
        names.add(schema.__name__)
    return tuple(schemas or (Memory,))


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


def typed(value: Mapping[str, Any], schemas: Mapping[str, Schema]) -> Any:
    """A stored memory as an instance of its schema; what is none, as it is."""
    schema = schemas.get(value.get("kind", ""))
    if schema is None or "content" not in value:
        return value
    try:
        return schema.model_validate(value["content"])
    except ValidationError:  # written with an older version of the schema
        return value
