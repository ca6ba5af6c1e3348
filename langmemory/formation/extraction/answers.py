"""What an extracting model answers: its schema, and each fact of a raw answer by itself.

A fact that makes no sense is left out with a reason; the others stay.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, Field

from langmemory.formation.asking.json_answers import BadAnswerError, is_refusal, json_object
from langmemory.formation.facts import FactKind
from langmemory.types import Privacy

MAX_CLAIMS = 8
"""Claims kept of one fact."""

_TURN = re.compile(r"(?<![a-z0-9])(?:t|turn)\s*[-_#]?\s*(\d{1,6})(?!\d)", re.IGNORECASE)
_NUMBER = re.compile(r"\s*\[?\s*(\d{1,6})\s*\]?\s*")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8})*", re.IGNORECASE)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where the words of "livesIn" meet."""
_QUANTITY = re.compile(r"[+-]?\d[\d.,:/%+-]*(?:\Z|\s+[%°µa-z]|°|(?:[mk]?g|m?l|[cmk]?m|h)\b)")
"""A number, alone or with a unit, is no name, whatever the model says: "10 mg", but not "3M"."""
_NOTHING = frozenset({"", "null", "none", "n/a", "unknown", "-", "undefined"})
_AMOUNTS = {"certain": 1.0, "very high": 0.95, "high": 0.9, "medium": 0.6, "low": 0.3}
_KINDS: Mapping[str, FactKind] = {
    "goal": "plan", "intention": "plan", "like": "preference", "dislike": "preference",
    "opinion": "preference", "instruction": "procedure", "rule": "procedure", "how-to": "procedure",
}  # fmt: skip


class AnswerClaim(BaseModel):
    subject: str
    relation: str = Field(description="short English verb phrase such as lives_in")
    object: str
    object_is_entity: bool = True


class AnswerFact(BaseModel):
    text: str = Field(description="one sentence that can be understood alone")
    evidence: list[str] = Field(description="ids of the turns that say it, such as t3")
    kind: FactKind
    time_words: str = ""
    claims: list[AnswerClaim]
    ends: bool = False
    corrects: bool = False
    privacy: Privacy = "shared"
    confidence: float = 0.8
    importance: float = 0.5
    language: str = ""


class AnswerSummary(BaseModel):
    text: str
    decisions: list[str] = []
    open_points: list[str] = []


class AnswerCore(BaseModel):
    block: str
    text: str
    evidence: list[str]


class Answer(BaseModel):
    """Notes on a conversation."""

    facts: list[AnswerFact]
    summary: AnswerSummary
    core: list[AnswerCore] = []


SCHEMA: dict[str, Any] = Answer.model_json_schema()


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A raw answer, read."""

    answer: Answer
    dropped: tuple[str, ...] = ()
    """Why entries were left out."""
    unfinished: bool = False
    """The answer broke off among its facts: later turns may say what it did not come to."""


def read(raw: str, *, turns: int) -> Reading:
    """An answer about turns ``t1`` to ``t<turns>``. Its ids are those that exist.

    Raises:
        BadAnswerError: It holds no answer, refuses, or has entries of which none can be used.
    """
    found = json_object(raw, field="facts", entry="evidence")
    value = _without_last(found.value) if found.cut else found.value
    ids = {f"t{number}" for number in range(1, turns + 1)}
    facts: list[AnswerFact] = []
    dropped = ["answer cut off: its last entry"] if found.cut else []
    for entry in value["facts"]:
        fact = _fact(entry, ids)
        if isinstance(fact, str):
            dropped.append(fact)
        else:
            facts.append(fact)
    summary = _summary(value.get("summary"))
    core = [c for e in _entries(value.get("core")) if (c := _core(e, ids)) is not None]
    texts = [summary.text, *(clean(_text_of(entry)) for entry in value["facts"])]
    if any(map(is_refusal, texts)) and all(is_refusal(fact.text) for fact in facts):
        raise BadAnswerError("it refuses. Nothing is asked of you but notes in JSON")
    if dropped and not facts:
        raise BadAnswerError(f"none of its facts can be used ({'; '.join(sorted(set(dropped)))})")
    return Reading(
        answer=Answer(facts=facts, summary=summary, core=core),
        dropped=tuple(dropped),
        unfinished=found.cut and next(reversed(found.value)) == "facts",
    )


def clean(text: str) -> str:
    """Text on one line, as it may be stored: no control characters, no half surrogate pairs, and
    the angle brackets that the prompt had escaped."""
    kept = "".join(c if unicodedata.category(c) not in ("Cc", "Cs") else " " for c in text)
    return " ".join(kept.replace("&lt;", "<").split())


def _without_last(value: dict[str, Any]) -> dict[str, Any]:
    """Without the entry at which an answer broke off."""
    last = next(reversed(value))
    if isinstance(value[last], list):
        return {**value, last: value[last][:-1]}
    return value if last == "facts" else {k: v for k, v in value.items() if k != last}


def _fact(entry: Any, ids: set[str]) -> AnswerFact | str:
    """The fact of an entry, or why there is none."""
    if not isinstance(entry, Mapping):
        return "not an object"
    text = clean(_text_of(entry))
    if not text:
        return "no text"
    evidence = _turn_ids(_first(entry, "evidence", "source", "sources", "turns", "turn_ids", "ids"))
    if not evidence:
        return "no evidence"
    known = [each for each in evidence if each in ids]
    if not known:
        return "evidence is not a turn of the conversation"
    words = clean(str(entry.get("time_words") or ""))
    language = str(entry.get("language") or "").strip()
    privacy = str(entry.get("privacy") or "").strip().lower()
    return AnswerFact(
        text=text,
        evidence=known,
        kind=_kind(_first(entry, "kind", "type", "category")),
        time_words="" if words.casefold() in _NOTHING else words,
        claims=_claims(_first(entry, "claims", "claim", "triples", "edges")),
        ends=_truth(entry.get("ends")),
        corrects=_truth(entry.get("corrects")),
        privacy=_privacy(privacy),
        confidence=_amount(entry.get("confidence"), 0.8),
        importance=_amount(entry.get("importance"), 0.5),
        language=language if _LANGUAGE.fullmatch(language) else "",
    )


def _privacy(word: str) -> Privacy:
    """What is called otherwise ("confidential", "sensitive") is not for everybody."""
    if word in get_args(Privacy):
        return word  # type: ignore[return-value]
    return "shared" if word in _NOTHING else "private"


def _text_of(entry: Any) -> str:
    if isinstance(entry, Mapping):
        entry = _first(entry, "text", "fact", "content", "statement", "memory")
    return entry if isinstance(entry, str) else ""


def _first(entry: Mapping[str, Any], *names: str) -> Any:
    return next((entry[name] for name in names if entry.get(name) is not None), None)


def _entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _turn_ids(value: Any) -> list[str]:
    """``t3`` of "t3", 3, "[t3]", "t1, t3"; each once, in order."""
    found: dict[str, None] = {}
    for each in _entries(value):
        if isinstance(each, Mapping):
            each = _first(each, "id", "turn", "turn_id")
        if isinstance(each, float) and each.is_integer():
            each = int(each)
        text = "" if isinstance(each, bool) else str(each)
        plain = _NUMBER.fullmatch(text)
        numbers = [plain[1]] if plain else _TURN.findall(text)
        found.update((f"t{int(number)}", None) for number in numbers)
    return list(found)


def _kind(value: Any) -> FactKind:
    word = str(value or "").strip().lower()
    for kind in (word, word.removesuffix("s")):
        if kind in get_args(FactKind):
            return kind  # type: ignore[return-value]
        if kind in _KINDS:
            return _KINDS[kind]
    return "fact"


def _claims(value: Any) -> list[AnswerClaim]:
    if isinstance(value, Sequence) and len(value) == 3 and all(isinstance(v, str) for v in value):
        value = [value]
    return [claim for each in _entries(value) if (claim := _claim(each)) is not None][:MAX_CLAIMS]


def _claim(value: Any) -> AnswerClaim | None:
    entity: Any = None
    if isinstance(value, Mapping):
        parts = [value.get("subject"), _first(value, "relation", "predicate"), value.get("object")]
        entity = value.get("object_is_entity")
    elif isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 3:
        parts = list(value)
    else:
        return None
    if not all(isinstance(part, str | int | float) for part in parts):
        return None
    subject, relation, target = (clean(str(part)) for part in parts)
    relation = _HUMP.sub("_", relation)
    relation = re.sub(r"[\W_]+", "_", relation.casefold()).strip("_")
    if {subject.casefold(), relation, target.casefold()} & _NOTHING:
        return None
    number = not isinstance(parts[2], str) or _QUANTITY.match(target) is not None
    unclear = entity is None and target[:1].isdigit()
    return AnswerClaim(
        subject=subject,
        relation=relation,
        object=target,
        object_is_entity=not (number or unclear) and (entity is None or _truth(entity)),
    )


def _summary(value: Any) -> AnswerSummary:
    if not isinstance(value, Mapping):
        return AnswerSummary(text=clean(value) if isinstance(value, str) else "")
    return AnswerSummary(
        text=clean(str(_first(value, "text", "summary") or "")),
        decisions=_lines(value.get("decisions")),
        open_points=_lines(_first(value, "open_points", "openPoints", "open")),
    )


def _lines(value: Any) -> list[str]:
    texts: Iterable[Any] = (_text_of(each) for each in _entries(value))
    return [text for text in map(clean, texts) if text.casefold() not in _NOTHING]


def _core(entry: Any, ids: set[str]) -> AnswerCore | None:
    if not isinstance(entry, Mapping):
        return None
    block = re.sub(r"\W+", "_", str(entry.get("block") or "").casefold()).strip("_")
    text = clean(_text_of(entry))
    evidence = [each for each in _turn_ids(entry.get("evidence")) if each in ids]
    if not (block and text and evidence):
        return None
    return AnswerCore(block=block, text=text, evidence=evidence)


def _truth(value: Any) -> bool:
    return value.strip().lower() in ("true", "yes", "1") if isinstance(value, str) else bool(value)


def _amount(value: Any, default: float) -> float:
    """A share from 0 to 1: also "0.9", "90 %", 7 (of ten), "high"."""
    percent = False
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _AMOUNTS:
            return _AMOUNTS[text]
        percent = text.endswith("%")
        try:
            value = float(text.rstrip("% "))
        except ValueError:
            return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return default
    if percent or value > 10:
        value = value / 100
    elif value > 1 and value == int(value):
        value = value / 10
    return min(max(float(value), 0.0), 1.0)
