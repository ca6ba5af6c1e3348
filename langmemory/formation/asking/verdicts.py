"""Verdicts on numbered pairs in what a model wrote: those that make sense, as far as they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langmemory.formation.asking.json_answers import BadAnswerError, json_object

V = TypeVar("V", bound=str)


@dataclass(frozen=True, slots=True)
class Given(Generic[V]):
    """A verdict on one pair."""

    verdict: V
    reason: str = ""
    """As the model wrote it."""


def verdicts_in(answer: str, allowed: Sequence[V]) -> dict[int, Given[V]]:
    """Verdicts by the number of their pair. A pair with two different ones has none.

    Raises:
        BadAnswerError: There is no verdict in the answer.
    """
    answered = json_object(answer, field="verdicts", entry="verdict")
    entries: Sequence[Any] = answered.value["verdicts"]
    found: dict[int, list[Given[V]]] = {}
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        number = _number(entry.get("pair"))
        word = str(entry.get("verdict")).strip().lower().replace(" ", "_").replace("-", "_")
        for known in allowed:
            if number is not None and word == known:
                reason = entry.get("reason")
                given = Given(known, reason if isinstance(reason, str) else "")
                found.setdefault(number, []).append(given)
    if not found:
        raise BadAnswerError("it holds no verdict")
    return {n: ones[0] for n, ones in found.items() if len({one.verdict for one in ones}) == 1}


def _number(value: Any) -> int | None:
    digits = "".join(c for c in str(value) if c.isdigit())
    return int(digits) if 0 < len(digits) <= 4 else None
