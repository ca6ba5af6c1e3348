"""Tokens that chat models took for a run, and what they cost."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook

from langmemory.config import TokenPrice

Usage = dict[str, dict[str, float]]
"""By the name of the model: ``calls``, ``input_tokens``, ``output_tokens`` and, where the model
reports it, ``cost_usd``. JSON, as it is kept with a run."""

MILLION: Final = 1_000_000

_DATE: Final = re.compile(r"-(\d{4}-\d\d-\d\d|\d{8}|latest)$")
"""The suffix that providers add to the name of a model."""


class TokenCounter(BaseCallbackHandler):
    """Adds up what the answers of chat models report."""

    def __init__(self, before: Mapping[str, Mapping[str, float]] | None = None) -> None:
        super().__init__()
        self.usage: Usage = {model: dict(counts) for model, counts in (before or {}).items()}
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """Tokens read and written, of all models."""
        with self._lock:
            return int(
                sum(one["input_tokens"] + one["output_tokens"] for one in self.usage.values())
            )

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        """Take one answer."""
        for generation in response.generations[0][:1]:
            message = generation.message if isinstance(generation, ChatGeneration) else None
            if isinstance(message, AIMessage):
                self._add(message)

    def _add(self, message: AIMessage) -> None:
        about = message.response_metadata
        model = str(about.get("model_name") or about.get("model") or "unnamed")
        tokens = message.usage_metadata
        if tokens is None:
            return
        found: dict[str, float] = {"calls": 1}
        found |= {name: tokens[name] for name in ("input_tokens", "output_tokens")}
        reported = about.get("token_usage")
        cost = reported.get("cost") if isinstance(reported, Mapping) else None
        if isinstance(cost, int | float):
            found["cost_usd"] = cost
        with self._lock:
            counts = self.usage.setdefault(model, {})
            for name, value in found.items():
                counts[name] = counts.get(name, 0) + value


_COUNTER: ContextVar[TokenCounter | None] = ContextVar("langmemory_tokens", default=None)
register_configure_hook(_COUNTER, inheritable=True)


@contextmanager
def counting(
    before: Mapping[str, Mapping[str, float]] | None = None,
) -> Iterator[TokenCounter]:
    """Count what every chat model that is asked within takes, in addition to ``before``."""
    counter = TokenCounter(before)
    token = _COUNTER.set(counter)
    try:
        yield counter
    finally:
        _COUNTER.reset(token)


def noted(usage: Usage, prices: Mapping[str, TokenPrice]) -> dict[str, Any]:
    """Return what a run's note says of tokens: ``usage``, and ``cost_usd`` where all of it is known."""
    if not usage:
        return {}
    costs = [_cost(model, counts, prices) for model, counts in usage.items()]
    known = [cost for cost in costs if cost is not None]
    cost = {"cost_usd": round(sum(known), 6)} if len(known) == len(costs) else {}
    return {"usage": usage, **cost}


def _cost(
    model: str, counts: Mapping[str, float], prices: Mapping[str, TokenPrice]
) -> float | None:
    """In US dollars; None where neither the model nor the configuration tells."""
    if "cost_usd" in counts:
        return counts["cost_usd"]
    by_name = {name.partition(":")[2] if ":" in name else name: one for name, one in prices.items()}
    price = prices.get(model) or by_name.get(model) or by_name.get(_DATE.sub("", model))
    if price is None:
        return None
    return (counts["input_tokens"] * price.input + counts["output_tokens"] * price.output) / MILLION
