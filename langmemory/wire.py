"""The JSON form of langmemory's values, derived from their types by pydantic.

The server, its clients and the command line's ``--json`` use this one form. The docstrings of fields are
their descriptions in the JSON schema.
"""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from functools import cache
from typing import Any

from pydantic import ConfigDict, TypeAdapter
from pydantic_core import PydanticSerializationError

from langmemory import types

for _one in vars(types).values():
    if isinstance(_one, type) and is_dataclass(_one):
        _one.__pydantic_config__ = ConfigDict(use_attribute_docstrings=True)  # type: ignore[attr-defined]


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
