"""Item values: JSON in and out without loss, and their readable text."""

from __future__ import annotations

import dataclasses
import enum
import json
import uuid
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final

import numpy as np

from langmemory.errors import DamagedTextError, InvalidValueError

MAX_DEPTH: Final = 200
"""How deep a value may nest; Python's own JSON reader gives up somewhere below 1,000."""


def to_json(value: Mapping[str, Any], *, finite: bool = False) -> str:
    """Return the value as JSON text.

    What JSON has no word for is written as LangGraph's SqliteStore writes it: dates and times in
    ISO 8601, UUIDs and paths as text, enums as their value, dataclasses and pydantic models as objects;
    numbers of numpy, which embedders score with, as numbers.

    Args:
        value: What is written.
        finite: Refuse NaN and infinite numbers, which JSON has no word for: not every reader keeps them.

    Raises:
        InvalidValueError: A key is not a string, something cannot be written without loss, or an
            object within it nests too deep.
    """
    try:
        text = _ENCODER.encode(value)
        if not text.isascii():
            text.encode("utf-8")  # lone surrogates
        if finite and ("NaN" in text or "Infinity" in text):  # as a number, or within a text
            json.loads(text, parse_constant=_no_number)
    except InvalidValueError:
        raise
    except RecursionError as error:
        raise InvalidValueError(
            f"The value nests deeper than {MAX_DEPTH} levels, within an object it holds. Store it "
            "flatter, or as a string."
        ) from error
    except UnicodeEncodeError as error:
        raise InvalidValueError(
            f"The value holds half of a surrogate pair, in {error.object[: error.start][-40:]!r} and what "
            "follows. Repair it, for example with text.encode('utf-8', 'replace').decode()."
        ) from error
    except (TypeError, ValueError) as error:
        raise InvalidValueError(
            f"The value cannot be stored as JSON: {error}. Store only JSON types, datetimes, UUIDs, "
            "enums, dataclasses or pydantic models."
        ) from error
    return text


def _no_number(word: str) -> None:
    raise InvalidValueError(
        f"The value holds the number {word}, for which JSON has no word. Use None or a text instead."
    )


def from_json(text: str) -> Any:
    """Read what `to_json` wrote. Integers of any size keep their digits."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise DamagedTextError(
            f"A stored text is no JSON any more: the file is damaged at character {error.pos} of it. Run "
            "`langmemory doctor`: it names the row, and `langmemory doctor --rescue FILE` brings out "
            "the others."
        ) from error


def whole_characters(text: str) -> str:
    """Return the text with U+FFFD for each half of a character, such as of an emoji that some client cut in
    two: no store keeps it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def as_json(value: object) -> Any:
    """Return the JSON form of a value that JSON has no word for.

    Raises:
        InvalidValueError: Nothing does.
    """
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, uuid.UUID | PurePath | Decimal):
        return str(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, np.generic):
        return value.item()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        raise InvalidValueError(f"A set ({value!r:.80}) has no JSON form. Store a list instead.")
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    raise InvalidValueError(
        f"A {type(value).__name__} ({value!r:.80}) has no JSON form. Convert it before storing."
    )


_DECODER: Final = json.JSONDecoder()


_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=as_json
)  # json.dumps would make one for every value


def check_keys(value: Any, where: str = "value", depth: int = 1) -> bool:
    """Return whether the value is made of JSON's own types alone, so that writing and reading it
    changes nothing. json.dumps would turn the key 1 into "1" without a word, so keys must be
    strings.

    Raises:
        InvalidValueError: A key is not a string, and where it stands; or the value is too deep.
    """
    kind = type(value)
    if kind in SCALARS:
        return True
    if depth > MAX_DEPTH:
        raise InvalidValueError(
            f"The value nests deeper than {MAX_DEPTH} levels, at {where:.80}… Store it flatter, or "
            "as a string."
        )
    if kind is dict or isinstance(value, Mapping):
        plain = kind is dict
        for key, inner in value.items():
            if type(key) is not str:
                if not isinstance(key, str):
                    raise InvalidValueError(
                        f"The key {key!r} in {where} is a {type(key).__name__}. "
                        "Keys must be strings."
                    )
                plain = False
            if type(inner) not in SCALARS:
                plain = check_keys(inner, f"{where}.{key}", depth + 1) and plain
        return plain
    if kind is list or isinstance(value, list | tuple):
        plain = kind is list
        for inner in value:
            if type(inner) not in SCALARS:
                plain = check_keys(inner, f"{where}[]", depth + 1) and plain
        return plain
    return False


SCALARS: Final = frozenset((str, int, float, bool, type(None)))
"""JSON's own types that hold no others."""


TEXT_FIELDS: Final = ("text", "content", "memory", "fact", "summary", "data")
"""Where applications keep the sentence itself, in order of preference."""


ARCHIVED_MARKS: Final = ("status", "archived_at", "archived_because")
"""What the value of a memory that was put away says beside the rest."""


def without_archived_marks(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of a memory that was put away as it was before."""
    if not value.keys() >= set(ARCHIVED_MARKS):
        return dict(value)
    return {name: told for name, told in value.items() if name not in ARCHIVED_MARKS}


_RECORDS: Final = {
    ("resource", "document"): ("path", "title"),
    ("resource", "source"): ("root", "pattern"),
    ("working", "link"): ("source", "relation", "target"),
}
"""What is read of records that have no sentence, by kind and record."""


def readable_text(value: Mapping[str, Any]) -> str:
    """Return the sentence in a value, for people, for the keyword index and for the embedded model.

    ``{"content": "…"}`` and LangMem's ``{"kind": …, "content": {…}}`` give the content, documents and links
    their names; anything else its scalar leaves in order, with their names. That it was put away is not part
    of it.
    """
    value = without_archived_marks(value)
    inner: Any = value
    content = value.get("content")
    if isinstance(content, Mapping) and set(value) <= {"kind", "content"}:
        inner = content
    for name in TEXT_FIELDS:
        found = inner.get(name)
        if isinstance(found, str) and found.strip():
            return found
    if (fields := _RECORDS.get((str(value.get("kind")), str(value.get("record"))))) is not None:
        return " ".join(str(value.get(name) or "") for name in fields).strip()
    return "\n".join(
        f"{path}: {leaf}" if path else str(leaf) for path, leaf in _scalars(inner, "") if leaf != ""
    )


def _scalars(value: Any, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _scalars(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _scalars(inner, path)
    elif value is not None:
        yield path, value
