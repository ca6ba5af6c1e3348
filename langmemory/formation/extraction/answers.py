"""The answer of an extracting model: its schema, and each fact of a raw answer by itself.

A fact that makes no sense is left out with a reason; the others stay.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field

from langmemory.formation.asking.json_answers import (
    BadAnswerError,
    decode_nested,
    is_refusal,
    json_object,
)
from langmemory.formation.asking.limits import ShortText, Text, Texts, at_most
from langmemory.formation.prompts import prompt
from langmemory.languages import tables
from langmemory.languages.spelling import normalised_text
from langmemory.ports.facts import CoreSuggestion, FactKind, SessionSummary
from langmemory.types import Privacy, TemporalClass

MAX_CLAIMS = 8
"""Claims kept of one fact."""

MAX_RELATION = 60
"""Characters of a relation; a longer one is a sentence."""
QUOTED_WORDS = 3
"""From so many words on, the words of a turn say which one is meant."""

_TURN = re.compile(
    r"(?<![a-z0-9])(?<![a-z]['’])(?:t|turn|m|msg|message|line|#)\s*[-_#]?\s*(\d{1,6})(?!\d)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\s\[({#\"']*(\d{1,6})(?:\.0)?[\s\])}\"'.]*")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8})*", re.IGNORECASE)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where the words of "livesIn" meet."""
_AMOUNT = re.compile(r"\s*(\d+(?:[.,]\d+)?)\s*(?:(%)|(?:/|of|out of)\s*(\d+))?", re.IGNORECASE)
_QUANTITY = re.compile(r"[+-]?\d[\d.,:/%+-]*(?:\Z|\s+[%°µa-z]|°|(?:[mk]?g|m?l|[cmk]?m|h)\b)")
"""A number, alone or with a unit, is no name, whatever the model says: "10 mg", but not "3M"."""

Holds = Literal["now", "past", "planned", "supposed", "for_a_time", "denied"]
"""How a model says that a fact is meant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Words:
    """Words by which models write an answer otherwise than it is asked for."""

    text: tuple[str, ...]
    """Names of the field with the text."""
    evidence: tuple[str, ...]
    """Names of the field with the turns; not "id": small models number their facts."""
    nothing: frozenset[str]
    amounts: Mapping[str, float]
    kinds: Mapping[str, FactKind]
    holds: Mapping[str, Holds]


_WORDS = tables.read(_Words, Path(__file__).with_name("answers.toml"))


class AnswerClaim(BaseModel):
    subject: ShortText
    relation: ShortText = Field(description="short English verb phrase such as lives_in")
    object: ShortText
    object_is_entity: bool = True


class AnswerFact(BaseModel):
    text: Text = Field(description="one sentence that can be understood alone")
    evidence: Annotated[list[str], at_most(maxItems=6)] = Field(
        description="ids of the turns that say it, such as t3"
    )
    kind: FactKind
    time_words: ShortText = ""
    claims: Annotated[list[AnswerClaim], at_most(maxItems=MAX_CLAIMS)]
    holds: Holds = "now"
    ends: bool = False
    corrects: bool = False
    privacy: Privacy = "shared"
    confidence: float = 0.8
    importance: float = 0.5
    language: Annotated[str, at_most(maxLength=12)] = ""
    temporal_class: TemporalClass | None = None


class AnswerSummary(BaseModel):
    text: Annotated[str, at_most(maxLength=1_000)]
    decisions: Texts = []
    open_points: Texts = []


class AnswerCore(BaseModel):
    block: ShortText
    text: Text
    evidence: Annotated[list[str], at_most(maxItems=6)]


class Answer(BaseModel):
    """Notes on a conversation."""

    facts: Annotated[list[AnswerFact], at_most(maxItems=40)]
    summary: AnswerSummary
    core: Annotated[list[AnswerCore], at_most(maxItems=2)] = []


SCHEMA: dict[str, Any] = Answer.model_json_schema()


@lru_cache(maxsize=64)
def schema_of(turns: int) -> dict[str, Any]:
    """Return the schema of an answer about so many turns: it names none but these."""
    schema = deepcopy(SCHEMA)
    ids = {"type": "string", "enum": [f"t{number}" for number in range(1, turns + 1)]}
    for name in ("AnswerFact", "AnswerCore"):
        schema["$defs"][name]["properties"]["evidence"]["items"] = ids
    return schema


_ASKED = normalised_text(f"{prompt('extract')} {json.dumps(SCHEMA, ensure_ascii=False)}")
"""The words the model was told, which it sometimes hands back as something that was said."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A raw answer, read."""

    facts: tuple[AnswerFact, ...]
    summary: SessionSummary | None
    core: tuple[CoreSuggestion, ...]
    """With ids of turns as evidence."""
    dropped: tuple[str, ...] = ()
    """Why entries were left out."""
    unfinished: bool = False
    """The answer broke off among its facts: later turns may say what it did not come to."""


def read(raw: str, *, turns: Sequence[str]) -> Reading:
    """An answer about turns of these texts, ``t1`` and so on. Its ids are those that exist.

    Raises:
        BadAnswerError: It holds no answer, refuses, or has entries of which none can be used.
    """
    found = json_object(raw, field="facts", entry="evidence")
    value = _normalise_field_names(found.value)
    said = {f"t{number}": normalised_text(text) for number, text in enumerate(turns, 1)}
    facts: list[AnswerFact] = []
    dropped = ["answer cut off: its last entry"] if found.cut else []
    for entry in value["facts"]:
        fact = _fact(entry, said)
        if isinstance(fact, str):
            dropped.append(fact)
        else:
            facts.append(fact)
    summary = _summary(value.get("summary"))
    core = [c for e in _entries(value.get("core")) if (c := _core(e, said)) is not None]
    texts = [summary.text if summary else "", *(clean(_text_of(entry)) for entry in value["facts"])]
    if any(map(is_refusal, texts)) and all(is_refusal(fact.text) for fact in facts):
        raise BadAnswerError("it refuses. Nothing is asked of you but notes in JSON")
    if dropped and not facts:
        raise BadAnswerError(f"none of its facts can be used ({'; '.join(sorted(set(dropped)))})")
    return Reading(
        facts=tuple(facts),
        summary=summary,
        core=tuple(core),
        dropped=tuple(dropped),
        unfinished=found.cut == "facts",
    )


def clean(text: str) -> str:
    """Text on one line, as it may be stored: no control characters, no half surrogate pairs, and
    the angle brackets that the prompt had escaped."""
    kept = "".join(c if unicodedata.category(c) not in ("Cc", "Cs") else " " for c in text)
    return " ".join(kept.replace("&lt;", "<").split())


def _normalise_field_names(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An object with its names as asked for: "timeWords", "Time Words" and "time-words" are one."""
    return {
        re.sub(r"\W+", "_", _HUMP.sub("_", name.strip())).lower(): entry[name] for name in entry
    }


def _fact(entry: Any, said: Mapping[str, str]) -> AnswerFact | str:
    """The fact of an entry, or why there is none."""
    if not isinstance(entry, Mapping):
        return "not an object"
    entry = _normalise_field_names(entry)
    text = clean(_text_of(entry))
    if not any(c.isalnum() for c in text):
        return "no text"
    evidence = _turn_ids(_first(entry, *_WORDS.evidence), said)
    if not evidence:
        return "no evidence"
    known = [each for each in evidence if each in said]
    if not known:
        return "evidence is not a turn of the conversation"
    if _is_asked(text, [said[each] for each in known]):
        return "repeats the instructions"
    claims = _claims(_first(entry, "claims", "claim", "triples", "edges") or entry)
    words = clean(str(entry.get("time_words") or ""))
    language = str(entry.get("language") or "").strip()
    word = str(entry.get("privacy") or "").strip().lower()
    # A word of its own ("confidential", "sensitive") is not for everybody.
    privacy: Privacy = "shared" if word in _WORDS.nothing else "private"
    return AnswerFact(
        text=text,
        evidence=known,
        kind=_kind(_first(entry, "kind", "type", "category")),
        time_words="" if words.casefold() in _WORDS.nothing else words,
        claims=_without_ids(claims, text, said),
        holds=_holds(entry.get("holds")),
        ends=_truth(entry.get("ends")),
        corrects=_truth(entry.get("corrects")),
        privacy=next((one for one in get_args(Privacy) if one == word), privacy),
        confidence=_amount(entry.get("confidence"), 0.8),
        importance=_amount(entry.get("importance"), 0.5),
        language=language if _LANGUAGE.fullmatch(language) else "",
        temporal_class=_temporal_class(entry.get("temporal_class")),
    )


def _text_of(entry: Any) -> str:
    if isinstance(entry, Mapping):
        entry = _first(_normalise_field_names(entry), *_WORDS.text)
    if isinstance(entry, list) and len(entry) == 1:
        entry = entry[0]
    return entry if isinstance(entry, str) else ""


def _is_asked(text: str, turns: Sequence[str]) -> bool:
    """Whether a text is from the instructions, and not from the turns it is laid to."""
    words = normalised_text(text).split()
    if len(words) < QUOTED_WORDS or " ".join(words) not in _ASKED:
        return False
    return not any(all(word in turn for word in words) for turn in turns)


def _first(entry: Mapping[str, Any], *names: str) -> Any:
    return next((entry[name] for name in names if entry.get(name) is not None), None)


def _entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _turn_ids(value: Any, said: Mapping[str, str]) -> list[str]:
    """``t3`` of "t3", 3, "[t3]", "t1, t3", "message 3", and of words that only that turn has; each
    once, in order."""
    found: dict[str, None] = {}
    for each in _entries(value):
        if isinstance(each, Mapping):
            each = _first(_normalise_field_names(each), *_WORDS.evidence, "id") or " ".join(
                map(str, each)
            )
        if isinstance(each, float) and each.is_integer():
            each = int(each)
        text = "" if isinstance(each, bool) else str(each)
        plain = _NUMBER.fullmatch(text)
        numbers = [plain[1]] if plain else _TURN.findall(text)
        quoted = _find_quoted_turn(text, said)
        found.update({quoted: None} if quoted else {f"t{int(number)}": None for number in numbers})
    return list(found)


def _find_quoted_turn(text: str, said: Mapping[str, str]) -> str | None:
    """The one turn that has these words."""
    words = normalised_text(clean(text).strip("\"'“”„«».… "))
    if len(words.split()) < QUOTED_WORDS:
        return None
    turns = [id for id, turn in said.items() if words in turn]
    return turns[0] if len(turns) == 1 else None


def _kind(value: Any) -> FactKind:
    word = re.match(r"\W*([^\W_]*(?:-[^\W_]+)*)", str(value or "").lower())
    said = word[1] if word is not None else ""
    for kind in (said, said.removesuffix("s")):
        if kind in get_args(FactKind):
            return kind  # type: ignore[return-value]
        if kind in _WORDS.kinds:
            return _WORDS.kinds[kind]
    return "fact"


def _holds(value: Any) -> Holds:
    """Only what says so: "true", and whatever else small models write, is now."""
    word = re.sub(r"\W+", "_", value.strip().lower()) if isinstance(value, str) else ""
    return _WORDS.holds.get(word, "now")


def _temporal_class(value: Any) -> TemporalClass | None:
    """One of the three, or none: the rules tell then."""
    word = value.strip().lower() if isinstance(value, str) else ""
    return next((one for one in get_args(TemporalClass) if one == word), None)


def _claims(value: Any) -> list[AnswerClaim]:
    if isinstance(value, str):
        value = decode_nested(value)
    if isinstance(value, Sequence) and len(value) == 3 and all(isinstance(v, str) for v in value):
        value = [value]
    return [claim for each in _entries(value) if (claim := _claim(each)) is not None][:MAX_CLAIMS]


def _without_ids(
    claims: list[AnswerClaim], text: str, said: Mapping[str, str]
) -> list[AnswerClaim]:
    """Claims without those about a turn: "t1" is nobody's name, unless the text has it."""
    ids = said.keys() - set(text.casefold().split())
    return [
        one for one in claims if ids.isdisjoint((one.subject.casefold(), one.object.casefold()))
    ]


def _claim(value: Any) -> AnswerClaim | None:
    entity: Any = None
    if isinstance(value, Mapping):
        value = _normalise_field_names(value)
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
    if {subject.casefold(), relation, target.casefold()} & _WORDS.nothing or len(
        relation
    ) > MAX_RELATION:
        return None
    number = not isinstance(parts[2], str) or _QUANTITY.match(target) is not None
    unclear = entity is None and target[:1].isdigit()
    return AnswerClaim(
        subject=subject,
        relation=relation,
        object=target,
        object_is_entity=not (number or unclear) and (entity is None or _truth(entity)),
    )


def _summary(value: Any) -> SessionSummary | None:
    if not isinstance(value, Mapping):
        value = {"text": _text_of(value)}
    value = _normalise_field_names(value)
    text = clean(str(_first(value, "text", "summary") or ""))
    decisions = _lines(value.get("decisions"))
    open_points = _lines(_first(value, "open_points", "open"))
    return SessionSummary(text=text, decisions=decisions, open_points=open_points) if text else None


def _lines(value: Any) -> tuple[str, ...]:
    texts = (clean(_text_of(each)) for each in _entries(value))
    return tuple(text for text in texts if text.casefold() not in _WORDS.nothing)


def _core(entry: Any, said: Mapping[str, str]) -> CoreSuggestion | None:
    if not isinstance(entry, Mapping):
        return None
    entry = _normalise_field_names(entry)
    block = re.sub(r"\W+", "_", str(entry.get("block") or "").casefold()).strip("_")
    text = clean(_text_of(entry))
    evidence = [each for each in _turn_ids(_first(entry, *_WORDS.evidence), said) if each in said]
    if not (block and text and evidence):
        return None
    return CoreSuggestion(block=block, text=text, evidence=tuple(evidence))


def _truth(value: Any) -> bool:
    """Only what says so: an object or a list in place of true may mean anything."""
    return (
        value.strip().lower() in ("true", "yes", "1") if isinstance(value, str) else value in (1,)
    )


def _amount(value: Any, default: float) -> float:
    """A share from 0 to 1: also "0.9", "0,9", "90 %", "9/10", 7 (of ten), "high"."""
    whole = 0.0
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _WORDS.amounts:
            return _WORDS.amounts[text]
        written = _AMOUNT.match(text)
        if written is None:
            return default
        value = float(written[1].replace(",", "."))
        whole = 100.0 if written[2] else float(written[3] or 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return default
    if not whole:
        whole = 100.0 if value > 10 else 10.0 if value >= 2 else 1.0
    return min(value / whole, 1.0)
