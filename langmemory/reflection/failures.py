"""Failed jobs: which errors are worth another try, and what is written of them."""

from __future__ import annotations

from traceback import walk_tb
from typing import Final

from langgraph.store.base import InvalidNamespaceError

from langmemory.errors import (
    ChangeError,
    ConfigError,
    EmbeddingModelMismatchError,
    InvalidFilterError,
    InvalidValueError,
    LangMemoryError,
    SchemaVersionError,
    StalePlanError,
)

FINAL: Final = (
    ConfigError,
    ChangeError,
    EmbeddingModelMismatchError,
    InvalidFilterError,
    InvalidNamespaceError,
    InvalidValueError,
    SchemaVersionError,
    TypeError,
    AttributeError,
    NameError,
    ImportError,
    NotImplementedError,
)
"""Errors that the next attempt would meet again: somebody has to correct something first."""

PASSING: Final = (StalePlanError,)
"""Errors among those that do pass."""

QUOTING: Final = (InvalidFilterError, InvalidValueError)
"""Errors of ours whose message quotes a value, which may be somebody's words."""

LONGEST_REASON: Final = 300


def retryable(error: BaseException) -> bool:
    """Whether another attempt may succeed.

    Whatever is not known to be final is tried again: models and servers fail in their own ways, a
    few attempts in vain cost little, and a job buried too early waits until somebody looks.
    """
    return isinstance(error, PASSING) or not isinstance(error, FINAL)


def reason(error: BaseException) -> str:
    """The error without memory text: its type, and our own message or else where it was raised."""
    name = type(error).__name__
    if isinstance(error, LangMemoryError) and not isinstance(error, QUOTING):
        return f"{name}: {' '.join(str(error).split())}"[:LONGEST_REASON]
    frames = list(walk_tb(error.__traceback__))
    if not frames:
        return name
    frame, line = frames[-1]
    return f"{name} in {frame.f_globals.get('__name__')}.{frame.f_code.co_name}, line {line}"
