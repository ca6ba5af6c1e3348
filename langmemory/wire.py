"""The JSON form of langmemory's values, derived from their types by pydantic.

The server, its clients and the command line's ``--json`` use this one form. The docstrings of fields are
their descriptions in the JSON schema.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticSerializationError, core_schema

from langmemory.docstrings import docstrings_of


class SchemaOfFields(GenerateJsonSchema):
    """Describes fields of models and dataclasses by the docstrings below them.

    pydantic can do so by itself (``use_attribute_docstrings``), but when a class is made: it then reads the
    source of every class, in each process that never shows a schema.
    """

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model."""
        return _add_descriptions(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Return the schema of a dataclass."""
        return _add_descriptions(super().dataclass_schema(schema), schema["cls"])


def _add_descriptions(schema: JsonSchemaValue, cls: type) -> JsonSchemaValue:
    for name, field in schema.get("properties", {}).items():
        for one in cls.__mro__:
            text = docstrings_of(one.__module__).get(one.__name__.partition("[")[0], {}).get(name)
            if text is not None:
                field.setdefault("description", text)
                break
    return schema


class Deferred(BaseModel):
    """A model that is built when it is first used: the server starts before it needs most of them."""

    model_config = ConfigDict(defer_build=True)


@cache
def adapter(of: Any) -> TypeAdapter[Any]:
    """Return what reads and writes values of a type, and gives their JSON schema."""
    return TypeAdapter(of)


def to_bytes(value: Any, of: Any = None) -> bytes:
    """Return a value as JSON text in UTF-8; a number without an end is null."""
    kind: Any = type(value) if of is None else of
    form = adapter(kind)
    try:
        return form.dump_json(value)
    except (
        PydanticSerializationError
    ):  # half of a surrogate pair has no UTF-8: it is written escaped
        return json.dumps(form.dump_python(value, mode="json")).encode()


def plain(value: Any) -> Any:
    """Return a value, or a list of values, as JSON's own types."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    return json.loads(to_bytes(value))
