"""A submission: its options, its JSON form, and how it comes back in another process, days later.

JSON types stay, so does what `MemoryStore` writes as JSON (dates, UUIDs, pydantic models …) and
LangChain messages, which come back as messages, a tool's artifact with them if it has a JSON form.
Of the config: what the caller put into it, not what LangGraph did, no callbacks and no secrets, unless
a namespace is made of them.
"""

from __future__ import annotations

import dataclasses
import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Self, cast

from langchain_core.messages import BaseMessage, ToolMessage, message_to_dict, messages_from_dict
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from langmemory.config import ReflectionConfig, WorkConfig, check_work
from langmemory.errors import InvalidValueError
from langmemory.steps import Steps, awaiting, blocking
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


class SearchingExecutor:
    """An executor whose namespace can be searched."""

    def search_steps(
        self,
        query: str | None = None,
        *,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        namespace: str | tuple[str, ...] | None = None,
    ) -> Steps[list[dict[str, Any]]]:
        """Return items of the reflector's namespace, as dicts, best first."""
        return self._searched(namespace, query=query, filter=filter, limit=limit, offset=offset)

    search, asearch = blocking(search_steps), awaiting(search_steps)

    def _searched(
        self, namespace: str | tuple[str, ...] | None, **options: Any
    ) -> Steps[list[dict[str, Any]]]:
        raise NotImplementedError

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop working."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.shutdown(wait=True)


_DEFAULT: Final = WorkConfig()

FROM_CONFIG: Final = object()
"""A ``thread_id`` that was not given: the config's."""


class _Configured:
    """Options, most of them also keys of the configuration's section ``reflection``."""

    __slots__ = ()

    @classmethod
    def of(cls, settings: ReflectionConfig) -> Self:
        """As configured."""
        names = {option.name for option in fields(cls)}  # type: ignore[arg-type]
        return cls(**{name: value for name, value in settings if name in names})

    def __post_init__(self) -> None:
        """Raises ConfigError for what the configuration would not allow."""
        given = {option.name: getattr(self, option.name) for option in fields(self)}  # type: ignore[arg-type]
        check_work(given, type(self).__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Debounce(_Configured):
    """When the turns of a conversation are reflected."""

    debounce_seconds: float = _DEFAULT.debounce_seconds
    """So long after its last turn."""
    max_debounce_seconds: float = _DEFAULT.max_debounce_seconds
    """At the latest so long after the first turn that waits, however lively it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkOptions(_Configured):
    """How jobs are retried, leased and kept."""

    max_attempts: int = _DEFAULT.max_attempts
    """Attempts before a job is dead; with the delays below, about two hours."""
    retry_initial_seconds: float = _DEFAULT.retry_initial_seconds
    """Delay after the first failure; doubled after each further one."""
    retry_max_seconds: float = _DEFAULT.retry_max_seconds
    jitter: float = _DEFAULT.jitter
    """A delay is up to this share longer or shorter, so that many jobs do not return at once; 0–1."""
    lease_seconds: float = _DEFAULT.lease_seconds
    """How long a job of a worker that died is left alone; a living one renews it three times."""
    job_timeout_seconds: float = _DEFAULT.job_timeout_seconds
    """A job that runs longer is given up: its lease is not renewed any more."""
    poll_seconds: float = _DEFAULT.poll_seconds
    """How often jobs of other processes are looked for."""
    retention_days: float = _DEFAULT.retention_days
    """How long done and replaced jobs are kept."""

    def retry_delay_us(self, attempts: int, chance: float) -> int | None:
        """Microseconds to wait after so many failed attempts; None when it was the last.

        ``chance`` is uniform in 0–1.
        """
        if attempts >= self.max_attempts:
            return None
        delay = min(  # a power that a float still holds
            self.retry_initial_seconds * 2.0 ** min(attempts - 1, 60), self.retry_max_seconds
        )
        return round(delay * (1 + self.jitter * (2 * chance - 1)) * 1_000_000)

    @property
    def lease_us(self) -> int:
        return round(self.lease_seconds * 1_000_000)
