"""Events: one line in the log for each call that matters, and a span where LangSmith traces.

Both hold counts, ids and milliseconds, never the text of a memory or a query.
"""

from __future__ import annotations

import inspect
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
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
        """The function, each call of which is recorded."""
        if inspect.iscoroutinefunction(function):
            return cast("Callable[P, R]", self._asynchronous(function))
        return self._synchronous(function)

    def log(self, fields: Fields, milliseconds: float) -> None:
        """Write one line: ``name key=value … ms=1.2``. The fields are in ``record.langmemory``, too."""
        known = {**fields, "ms": round(milliseconds, 1)}
        line = " ".join(f"{key}={value}" for key, value in known.items())
        extra = {"langmemory": {"event": self.name, **known}}
        self.logger.info("%s %s", self.name, line, extra=extra)

    def _synchronous(self, function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def recorded(*args: P.args, **kwargs: P.kwargs) -> R:
            if not self._heard():
                return function(*args, **kwargs)
            call = _Call(self, args, kwargs)

            def run(given: Fields) -> Fields:
                try:
                    return call.returned(function(*args, **kwargs))
                except Exception as error:
                    raise call.failed(error) from None

            call.run(call.spanned(run))
            return cast("R", call.result())

        return recorded

    def _asynchronous(self, function: Callable[P, Awaitable[Any]]) -> Callable[P, Awaitable[Any]]:
        @wraps(function)
        async def recorded(*args: P.args, **kwargs: P.kwargs) -> Any:
            if not self._heard():
                return await function(*args, **kwargs)
            call = _Call(self, args, kwargs)

            async def run(given: Fields) -> Fields:
                try:
                    return call.returned(await function(*args, **kwargs))
                except Exception as error:
                    raise call.failed(error) from None

            await call.arun(call.spanned(run))
            return call.result()

        return recorded

    def _heard(self) -> bool:
        """Whether anybody wants to know."""
        return (self.logged and self.logger.isEnabledFor(logging.INFO)) or is_tracing()


class CallFailedError(Exception):
    """Stands in a span for an error whose message may hold text; its own is the error's type."""


class _Call:
    """One call on its way."""

    def __init__(self, event: Event, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._event = event
        self._contents: Contents | None = None
        self._inputs: Fields = {}
        contents = event.contents
        if contents is not None and is_tracing() and contents.wanted(*args, **kwargs):
            self._contents = contents
            self._inputs = contents.inputs(*args, **kwargs)
        self._started = perf_counter()
        self._result: Any = None
        self._error: Exception | None = None

    def spanned(self, run: Callable[[Fields], Any]) -> Callable[[Fields], Any]:
        """Run the call, in a span where LangSmith traces."""
        if not is_tracing():
            return run
        from langsmith import traceable

        # Names of inputs are those of the parameters; what is shown is what is in ``given``.
        return traceable(
            run_type=self._event.run_type,
            name=f"langmemory.{self._event.name}",
            process_inputs=lambda inputs: dict(inputs["given"]),
        )(run)

    def run(self, run: Callable[[Fields], Any]) -> None:
        with suppress(CallFailedError):
            run(self._inputs)

    async def arun(self, run: Callable[[Fields], Any]) -> None:
        with suppress(CallFailedError):
            await run(self._inputs)

    def returned(self, result: Any) -> Fields:
        """Take what the function returned; the outputs of the span."""
        self._result = result
        counts = self._event.counts(result)
        if self._event.logged:
            self._event.log(counts, (perf_counter() - self._started) * 1_000)
        return counts if self._contents is None else self._contents.outputs(result)

    def failed(self, error: Exception) -> CallFailedError:
        """Take what the function raised; the error of the span."""
        self._error = error
        kind = type(error).__name__
        if self._event.logged:
            self._event.log({"error": kind}, (perf_counter() - self._started) * 1_000)
        return CallFailedError(kind)

    def result(self) -> Any:
        """Return the answer of the function; raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._result


def is_tracing() -> bool:
    """Return whether LangSmith traces here. Where nobody has switched it on, nothing is imported."""
    if _IN_CODE.isdisjoint(sys.modules) and not any(
        os.environ.get(name) == "true" for name in _SWITCHES
    ):
        return False
    from langsmith.utils import tracing_is_enabled

    return bool(tracing_is_enabled())
