"""Events of reflection (batches, jobs, steps that ask a model), and which failures are worth another try."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from traceback import walk_tb
from typing import Any, Final

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
from langmemory.events import Event, Fields
from langmemory.types import Applied

_LOGGER: Final = logging.getLogger("langmemory.reflection")


def tokens_of(note: Mapping[str, Any]) -> Fields:
    """Return the tokens that a run's note tells of, of all models together; nothing where none were
    asked."""
    usage = list((note.get("usage") or {}).values())
    if not usage:
        return {}
    sums: dict[str, Any] = {
        name: round(sum(counts.get(name, 0) for counts in usage))
        for name in ("calls", "input_tokens", "output_tokens")
    }
    return sums | ({"cost_usd": note["cost_usd"]} if "cost_usd" in note else {})


def reflected(run_id: str, note: Mapping[str, Any], applied: Applied) -> Fields:
    """Return the fields of one batch."""
    flags = {name: True for name in ("dry_run", "repeated") if getattr(applied, name)}
    return {
        "run": run_id, "turns": note.get("turns", 0), "extracted": note.get("extracted", 0),
        "added": len(applied.added), "changed": len(applied.changed),
        "superseded": len(note.get("superseded", ())), "reviews": len(note.get("reviews", ())),
        "failures": len(note.get("failures", ())), **tokens_of(note), **flags,
    }  # fmt: skip


def _extracted(update: Mapping[str, Any]) -> Fields:
    extraction = update["extraction"]
    return {"facts": len(extraction.get("facts", ())), **tokens_of(update)}


def _identified(update: Mapping[str, Any]) -> Fields:
    return {"names": len(update["identities"].get("decisions", ())), **tokens_of(update)}


def _contradicted(update: Mapping[str, Any]) -> Fields:
    return {"groups": len(update["verdicts"]), **tokens_of(update)}


def _performed(result: Any) -> Fields:
    """Return the counts of a reflection's output; those of another reflector are unknown."""
    if not isinstance(result, Mapping):
        return {}
    lists = ("runs", "added", "changed", "superseded", "reviews", "failures")
    return {name: len(result[name]) for name in lists if isinstance(result.get(name), list)}


REFLECTION: Final = Event(name="reflection", counts=_performed, logger=_LOGGER, logged=False)
"""Logged once a batch, by the step that writes it; the span is that of a job."""
EXTRACT: Final = Event(name="reflection.extract", counts=_extracted, logger=_LOGGER, logged=False)
IDENTIFY: Final = Event(
    name="reflection.identify", counts=_identified, logger=_LOGGER, logged=False
)
CONTRADICT: Final = Event(
    name="reflection.contradict", counts=_contradicted, logger=_LOGGER, logged=False
)
JOB: Final = Event(name="job", counts=lambda fields: fields, logger=_LOGGER)


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
