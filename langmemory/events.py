"""Events: one line in the log for each call that matters, and a span where LangSmith traces.

Both hold counts, ids and milliseconds, never the text of a memory or a query.
"""

from __future__ import annotations

import inspect
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import wraps
from time import perf_counter
from typing import Any, Literal, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

Fields = Mapping[str, Any]
"""Names and values of an event, such as ``{"results": 4}``."""

_SWITCHES = tuple(
    f"{product}_{switch}"
    for product in ("LANGSMITH", "LANGCHAIN")
    for switch in ("TRACING_V2", "TRACING")
)

_IN_CODE = frozenset({"langsmith.run_helpers", "langsmith.run_trees"})
"""Modules that code which switches tracing on by itself has imported."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """Text that a span shows where text is wanted in it."""

    wanted: Callable[..., bool]
    """Whether it is; called with the arguments of the function, as ``inputs`` is."""
    inputs: Callable[..., Fields]
    outputs: Callable[[Any], Fields]
    """Called with what the function returned."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A kind of event.

    Used as a decorator, it records each call of a function, sync or async. A call that raises is
    recorded with the type of its error.
    """

    name: str
    """First word of the log line; the span is called ``langmemory.NAME``."""
    counts: Callable[[Any], Fields]
    """Makes the fields of what the function returned."""
    logger: logging.Logger
    run_type: Literal["chain", "retriever"] = "chain"
    logged: bool = True
    """False gives a span and no line in the log."""
    contents: Contents | None = None
    """Puts text into the span where the configuration asks for it."""

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function, each call of which is recorded."""
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:
                if not self._has_listener():
                    return await function(*args, **kwargs)
                with self._recording(args, kwargs) as returned:
                    return returned(await function(*args, **kwargs))

            return cast("Callable[P, R]", awaited)

        @wraps(function)
        def recorded(*args: P.args, **kwargs: P.kwargs) -> R:
            if not self._has_listener():
                return function(*args, **kwargs)
            with self._recording(args, kwargs) as returned:
                return returned(function(*args, **kwargs))

        return recorded

    def log(self, fields: Fields, milliseconds: float) -> None:
        """Write one line: ``name key=value … ms=1.2``. The fields are in ``record.langmemory``, too."""
        known = {**fields, "ms": round(milliseconds, 1)}
        line = " ".join(f"{key}={value}" for key, value in known.items())
        extra = {"langmemory": {"event": self.name, **known}}
        self.logger.info("%s %s", self.name, line, extra=extra)

    def _has_listener(self) -> bool:
        """Whether anybody wants to know."""
        return (self.logged and self.logger.isEnabledFor(logging.INFO)) or is_tracing()

    @contextmanager
    def _recording(self, args: Any, kwargs: Any) -> Iterator[Callable[[R], R]]:
        """Record one call, in a span where LangSmith traces; yields what takes its result."""
        contents, inputs = self.contents, dict[str, Any]()
        traced = is_tracing()
        if contents is not None and traced and contents.wanted(*args, **kwargs):
            inputs = dict(contents.inputs(*args, **kwargs))
        else:
            contents = None
        started = perf_counter()
        ended: dict[str, Any] = {}

        def record(fields: Fields) -> None:
            if self.logged:
                self.log(fields, (perf_counter() - started) * 1_000)

        def returned(result: R) -> R:
            counts = self.counts(result)
            record(counts)
            ended["outputs"] = dict(counts if contents is None else contents.outputs(result))
            return result

        failure: Exception | None = None
        span: Any = nullcontext()
        if traced:
            from langsmith import trace

            span = trace(f"langmemory.{self.name}", self.run_type, inputs=inputs)
        with span as run:
            try:
                yield returned
            except Exception as error:  # its message may hold text; the span gets its type
                failure, ended = error, {"error": type(error).__name__}
                record(ended)
            if run is not None:
                run.end(**ended)
        if failure is not None:
            raise failure


def is_tracing() -> bool:
    """Return whether LangSmith traces here. Where nobody has switched it on, nothing is imported."""
    if sys.modules.keys().isdisjoint(_IN_CODE) and not any(
        os.environ.get(name) == "true" for name in _SWITCHES
    ):
        return False
    from langsmith.utils import tracing_is_enabled

    return bool(tracing_is_enabled())
