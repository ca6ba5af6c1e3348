"""Verdicts on numbered pairs in what a model wrote: those that make sense, as far as they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel

from langmemory.answers import answer_text
from langmemory.formation.asking.asker import Asker, Method
from langmemory.formation.asking.json_answers import BadAnswerError, json_object

CONSTANT = 3
"""Pairs with the same verdict, from which on it is no verdict."""

V = TypeVar("V", bound=str)
_LINE_OF = re.compile(
    r"^\W*(?:[^\W\d]+ )?(\d{1,4})[ \t]*[.):=>|\]–—-]+[\W_]*([^\W\d]+(?:[ _-][^\W\d]+)?)[\W_]*$",
    re.MULTILINE,
)
"""A line that names a pair and a verdict, and nothing else: "Pair 2: **both true**"."""


@dataclass(frozen=True, slots=True)
class Given(Generic[V]):
    """A verdict on one pair."""

    verdict: V
    reason: str = ""
    """As the model wrote it."""


def schema_of_pairs(answer: type[BaseModel], pairs: int) -> dict[str, Any]:
    """Return the schema of an answer with ``verdicts`` about so many pairs: it has one for each, and names
    no other."""
    schema = answer.model_json_schema()
    verdicts = schema["properties"]["verdicts"]
    verdicts["maxItems"] = pairs
    one = schema["$defs"][verdicts["items"]["$ref"].rpartition("/")[2]]
    one["properties"]["pair"] = {"type": "integer", "enum": [*range(1, pairs + 1)]}
    return schema


def asker_of_pairs(
    model: BaseChatModel, answer: type[BaseModel], method: Method | None
) -> Callable[[int], Asker]:
    """Return what makes the asker about so many pairs. It says at once what the model cannot be held to."""

    @lru_cache(maxsize=8)
    def asker(pairs: int) -> Asker:
        return Asker(model, schema_of_pairs(answer, pairs), method=method)

    asker(1)
    return asker


def verdicts_in(answer: str, allowed: Sequence[V]) -> dict[int, Given[V]]:
    """Verdicts by the number of their pair. A pair with two different ones has none.

    Raises:
        BadAnswerError: There is no verdict in the answer.
    """
    entries: Sequence[Any]
    try:
        entries = json_object(answer, field="verdicts", entry="verdict").value["verdicts"]
    except BadAnswerError:
        if not (entries := [*_LINE_OF.findall(answer_text(answer))]):
            raise
        entries = [{"pair": number, "verdict": word} for number, word in entries]
    found: dict[int, list[Given[V]]] = {}
    for entry in (one for each in entries for one in _single(each)):
        number = _number(entry.get("pair"))
        written = re.split(r"[(.;:]", str(entry.get("verdict")))[0].lower()  # a reason may follow
        word = re.sub(r"\W+", "_", written).strip("_")
        for known in allowed:
            if number is not None and word == known:
                reason = entry.get("reason")
                given = Given(known, reason if isinstance(reason, str) else "")
                found.setdefault(number, []).append(given)
    if not found:
        raise BadAnswerError("it holds no verdict")
    return {n: ones[0] for n, ones in found.items() if len({one.verdict for one in ones}) == 1}


def without_constant(verdicts: Mapping[int, V]) -> Mapping[int, V]:
    """The verdicts; none where a model gave the same to several pairs, which tells nothing of them."""
    constant = len(verdicts) >= CONSTANT and len(set(verdicts.values())) == 1
    return {} if constant else verdicts


def _single(entry: Any) -> Iterator[dict[str, Any]]:
    """The verdicts of an entry: itself, or those of ``{"1": "same", "2": "unsure"}``."""
    if not isinstance(entry, dict):
        return
    named = {name.strip().casefold(): each for name, each in entry.items()}
    if "verdict" in named:
        yield named
    else:
        yield from ({"pair": name, "verdict": each} for name, each in named.items())


def _number(value: Any) -> int | None:
    """2 of 2, 2.0, "Pair 2" and "2 of 3"; None of "2 and 3"."""
    number = re.fullmatch(r"\D*?(\d{1,4})(?:\.0|\s*(?:of|/)\s*\d+)?\D*", str(value))
    return None if number is None else int(number[1])
