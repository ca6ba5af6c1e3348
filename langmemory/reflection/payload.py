"""The JSON form of a submission, and how it comes back: in another process, days later.

Kept are JSON types, what `MemoryStore` writes as JSON (dates, UUIDs, pydantic models …) and
LangChain messages, which come back as messages, a tool's artifact with them if it has a JSON form.
Of the config: what the caller put into it, not what LangGraph did, no callbacks and no secrets, unless
a namespace is made of them.
"""

from __future__ import annotations

import dataclasses
import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.messages import BaseMessage, ToolMessage, message_to_dict, messages_from_dict
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from langmemory.errors import InvalidValueError
from langmemory.types import Namespace
from langmemory.values import to_json

MESSAGE: Final = "__message__"
"""Key of a dict that stands for a LangChain message."""

SECRET: Final = re.compile(
    r"(^|[_-])(api_?key|key|token|secret|password|authorization|cookie)$", re.IGNORECASE
)
"""Names in ``configurable`` and context whose values are not written to the file."""

INTERNAL: Final = re.compile(r"^(__|langgraph_(?!auth_user_id$|user_id$)|checkpoint_|lc_)")
"""Names that LangGraph adds to a config; they mean nothing in another run."""

KEPT_SETTINGS: Final = ("run_name", "recursion_limit", "max_concurrency")


def packed(value: Any) -> Any:
    """A payload or result with every message as a dict."""
    if isinstance(value, BaseMessage):
        return {MESSAGE: message_to_dict(_without_objects(value))}
    if isinstance(value, Mapping):
        return {key: packed(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [packed(inner) for inner in value]
    return value


def _without_objects(message: BaseMessage) -> BaseMessage:
    """The message without an artifact that has no JSON form: an image, a table. No model reads it, and
    the conversation is not to be refused for it."""
    if not isinstance(message, ToolMessage) or message.artifact is None:
        return message
    try:
        to_json({"artifact": message.artifact})
    except (InvalidValueError, RecursionError):
        return message.model_copy(update={"artifact": None})
    return message


def unpacked(value: Any) -> Any:
    """The payload again; tuples have become lists."""
    if isinstance(value, Mapping):
        if value.keys() == {MESSAGE}:
            return messages_from_dict([value[MESSAGE]])[0]
        return {key: unpacked(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [unpacked(inner) for inner in value]
    return value


def packed_config(
    config: RunnableConfig | None, context: Any, *, needed: Collection[str] = ()
) -> dict[str, Any]:
    """Return the part of a config and context that a later run needs; the ``needed``
    names whatever they look like."""
    given: Mapping[str, Any] = config or {}
    kept: dict[str, Any] = {
        "configurable": _plain(given.get("configurable"), needed),
        "metadata": _plain(given.get("metadata")),
        "tags": [tag for tag in given.get("tags") or [] if not tag.startswith(("seq:", "graph:"))],
        "context": _plain(_fields(context), needed),
    }
    kept.update({name: given.get(name) for name in KEPT_SETTINGS})
    return {name: value for name, value in kept.items() if value}


def unpacked_config(kept: Mapping[str, Any]) -> tuple[RunnableConfig, dict[str, Any] | None]:
    """The config and the context to run with."""
    config = {name: value for name, value in kept.items() if name != "context"}
    return cast("RunnableConfig", config), kept.get("context")


def json_or_null(result: Any) -> str:
    """A result as JSON, ``null`` when it has no JSON form: what was done stands in the store."""
    try:
        return to_json(packed(result))
    except Exception:  # also of the result's own code: the work is done, and not to be done again
        return "null"


def _fields(context: Any) -> Mapping[str, Any]:
    """A context as LangGraph takes it (mapping, dataclass, pydantic model), by field."""
    if isinstance(context, Mapping):
        return context
    if isinstance(context, BaseModel):
        return context.model_dump()
    if dataclasses.is_dataclass(context) and not isinstance(context, type):
        return {field.name: getattr(context, field.name) for field in dataclasses.fields(context)}
    return {}


def _plain(values: Mapping[str, Any] | None, needed: Collection[str] = ()) -> dict[str, Any]:
    """Entries with a JSON form that are the caller's own; no secrets."""
    kept = {}
    for name, value in (values or {}).items():
        if name not in needed and (INTERNAL.match(name) or SECRET.search(name)):
            continue
        if isinstance(value, uuid.UUID):
            kept[name] = str(value)
        elif value is not None and _has_json_form(value):
            kept[name] = value
    return kept


def _has_json_form(value: Any) -> bool:
    if isinstance(value, str | int | float | bool):
        return True
    if isinstance(value, list | tuple):
        return all(_has_json_form(inner) for inner in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _has_json_form(inner) for key, inner in value.items())
    return value is None


def labels_of(namespace: str | Sequence[str]) -> Namespace:
    """A namespace as LangMem takes it: its labels, or its only one."""
    return (namespace,) if isinstance(namespace, str) else tuple(namespace)
