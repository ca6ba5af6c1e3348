"""The JSON object in what a model wrote.

Small models think aloud, wrap the object in prose and fences, write one for each thing they note,
forget a bracket, run out of tokens in the middle, or send the schema back. `json_repair` mends what is
broken; here the pieces are found and put together. What cannot be read is a `BadAnswerError` whose
message tells the model what to do better.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import json_repair

from langmemory.answers import THOUGHT_TAGS
from langmemory.formation.statements import cues
from langmemory.languages import WORLDWIDE

MAX_CHARS = 400_000
"""A longer answer is a model that ran away."""

TRIES = 200
"""Brackets of an answer at which no JSON begins; after so many no more are tried."""

DEPTH = 5
"""So deep an answer may be wrapped in other objects, lists and strings."""

_THOUGHTS = re.compile(rf"<(?:{THOUGHT_TAGS})>.*?</(?:{THOUGHT_TAGS})>", re.DOTALL | re.IGNORECASE)
_THOUGHTS_END = re.compile(rf"\A.*</(?:{THOUGHT_TAGS})>", re.DOTALL | re.IGNORECASE)
"""Some chat templates put the opening tag into the prompt: only the closing one is in the answer."""
_THOUGHTS_OPEN = re.compile(rf"<(?:{THOUGHT_TAGS})>", re.IGNORECASE)
_BRACKET = re.compile(r"[{\[]")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*("|\\?\Z)', re.DOTALL)
"""A string, also one that is left open at the end: each character is read once."""
_NEXT_QUESTION = re.compile(
    r"<\|(?:im_start\|>|start_header_id\|>|start\|>)?(?:user|human)\b|\[INST\]|^<start_of_turn>user"
    r"|^#+ (?:Conversation|Memories|Before the conversation|Your notes)\b|^(?:User|Human):",
    re.MULTILINE,
)
"""Where a model that does not stop makes up what it is asked next, in a chat template or as we ask."""
_NOTHING = frozenset({"", "none", "null", "n/a", "-"})
_TYPED = str.maketrans(dict.fromkeys("“”„‟«»＂", '"') | {"：": ":", "，": ","})
"""Quotes and colons as people type them, where JSON has its own."""


class BadAnswerError(ValueError):
    """A model's answer that cannot be used. The message is shown to the model; it quotes nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedAnswer:
    """The object in an answer."""

    value: dict[str, Any]
    cut: str | None = None
    """The field in which the answer broke off; what was half there is left out."""


def json_object(answer: str, *, field: str, entry: str | None = None) -> ParsedAnswer:
    """Return the object of an answer whose ``field`` is a list. Several of them, as of parallel tool
    calls or one for each turn, are one, in their order.

    Args:
        entry: a field of what the list holds; objects that have it are the list where nothing is
            called ``field``, which small models leave out or call otherwise.

    Raises:
        BadAnswerError: There is none.
    """
    if len(answer) > MAX_CHARS:
        raise BadAnswerError("it is far too long")
    form = _Form(field=field, entry=entry)
    text, thought = _without_thoughts(answer)
    plain = text.translate(_TYPED).replace('\\"', '"').replace("\\n", "\n")
    for find in (form.written, form.parse_repaired, form.loose):
        for each in dict.fromkeys((text, plain)):
            if (found := find(each)) is not None:
                return found
    if thought.rstrip(" \n`").endswith(("}", "]")) and (answers := form.answers(thought)[0]):
        return ParsedAnswer(value=answers[-1])  # what was thought before it was a draft
    raise BadAnswerError(_problem(text.strip(), field))


def is_refusal(text: str) -> bool:
    """Whether a text is the beginning of "I am sorry, but I cannot …"."""
    begins = "|".join((*cues().refusals, *WORLDWIDE.refusals))
    return re.match(rf"\W*(?:{begins})", text, re.IGNORECASE) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    """The object that is looked for, see `json_object`."""

    field: str
    entry: str | None

    def written(self, text: str) -> ParsedAnswer | None:
        """Read all answers that are JSON as they stand, and one after them that broke off."""
        answers, end = self.answers(text)
        if not answers:
            return None
        half = self._repair_json(text[end:])
        rest = [] if half is None else [half.value]
        return ParsedAnswer(value=_merge_answers([*answers, *rest]), cut=half.cut if half else None)

    def parse_repaired(self, text: str) -> ParsedAnswer | None:
        """Read an answer as json_repair mends it, with the entries that it lost."""
        found = self._repair_json(text)
        if found is not None:
            value = found.value
            others = (each for name, each in value.items() if name != self.field)
            known = [one for each in others if isinstance(each, list) for one in each]
            entries = [one for one in self._entries(text) if one not in known]
            value[self.field] = _in_order(value[self.field], entries)
        return found

    def loose(self, text: str) -> ParsedAnswer | None:
        """Read entries without a list that holds them."""
        entries = list(self._entries(text))
        return ParsedAnswer(value={self.field: entries}) if entries else None

    def answers(self, text: str) -> tuple[list[dict[str, Any]], int]:
        """Return the different answers that are JSON in a text, and where the last one ends."""
        answers: dict[str, dict[str, Any]] = {}
        begin, first, last = self._begin(text), _BRACKET.search(text), 0
        for value, start, end in _values(text):
            found = [self._with_entry_list(one) for one in _objects(value, self.field)]
            if not found and isinstance(value, list):
                kinds = dict | str if self.entry is None else dict
                if first is None or start <= first.start():
                    is_field = all(isinstance(each, kinds) for each in value)
                else:  # a part of an object that broke is none
                    is_part = 0 <= begin < start
                    is_field = not is_part and any(True for _ in _objects(value, self.entry or ""))
                found = [{self.field: value}] if is_field else []
            last = end if found else last
            answers.update((json.dumps(each), each) for each in found)
        return list(answers.values()), last

    def _repair_json(self, text: str) -> ParsedAnswer | None:
        begin = self._begin(text)
        if begin < 0:
            return None
        try:
            value = json_repair.loads(text[begin:])
        except (ValueError, RecursionError):
            return None
        answers = [self._with_entry_list(one) for one in _objects(value, self.field)]
        if not answers:
            return None
        bare = _STRING.sub(lambda string: "" if string[1] == '"' else '"', text[begin:])
        left_open = sum(map(bare.count, "{[")) - sum(map(bare.count, "}]"))
        if left_open <= 0 and '"' not in bare:
            return ParsedAnswer(value=_merge_answers(answers))
        last, held = answers[-1].popitem()
        if left_open <= 2 and text.rstrip(" \n`").endswith(("}", "]")):  # nothing is half
            answers[-1][last] = held
        elif isinstance(held, list):
            answers[-1][last] = held[:-1]
        return ParsedAnswer(value=_merge_answers(answers), cut=last)

    def _entries(self, text: str) -> Iterator[Any]:
        """Entries that a text has by themselves."""
        for value, _, _ in _values(text) if self.entry is not None else ():
            yield from _objects(value, self.entry or "")

    def _with_entry_list(self, value: dict[str, Any]) -> dict[str, Any]:
        """An object with its field under the name that was asked for, and as a list."""
        key = _key(value, self.field)
        named = {self.field if name == key else name: each for name, each in value.items()}
        return {**named, self.field: list(self._flat(named[self.field]))}

    def _flat(self, content: Any, depth: int = 0) -> Iterator[Any]:
        """The entries of a field: also a single one, one in a string, or lists of them by turn."""
        content = decode_nested(content)
        inner = list(content.values()) if isinstance(content, dict) else content
        is_entry = isinstance(content, dict) and (
            not content or self.entry is None or _key(content, self.entry) is not None
            or not all(isinstance(each, dict | list) for each in inner)
        )  # fmt: skip
        if isinstance(inner, list) and not is_entry and depth < DEPTH:
            for each in inner:
                yield from self._flat(each, depth + 1)
        elif depth or str(content or "").strip().casefold() not in _NOTHING:
            yield content

    def _begin(self, text: str) -> int:
        """Where the object begins that names the field; -1 where there is none."""
        brace = text.find("{")
        named = re.compile(rf"""["']?\b{self.field}\b["']?\s*:""", re.IGNORECASE)
        found = named.search(text, brace) if brace >= 0 else None
        return -1 if found is None else text.rfind("{", 0, found.start())


def _without_thoughts(answer: str) -> tuple[str, str]:
    """The answer without its thoughts and without the next conversation that the model made up; and
    thoughts that were never closed."""
    if _parse_json(answer) is not None:
        return answer, ""
    closed = _THOUGHTS_END.match(answer)
    end = closed.end() if closed is not None else 0
    text = _THOUGHTS_END.sub("", _THOUGHTS.sub("", answer[:end])) + answer[end:]
    opened = _THOUGHTS_OPEN.search(text)
    text, thought = (text, "") if opened is None else (text[: opened.start()], text[opened.end() :])
    answered = text.find("}")
    goes_on = _NEXT_QUESTION.search(text, answered) if answered >= 0 else None
    return text if goes_on is None else text[: goes_on.start()], thought


def _values(text: str) -> Iterator[tuple[Any, int, int]]:
    """The objects and lists of a text, those within others left out, with where they stand."""
    if isinstance(whole := decode_nested(text), dict | list):
        yield whole, 0, len(text)
        return
    decoder = json.JSONDecoder(strict=False)
    at = failed = 0
    while failed < TRIES and (bracket := _BRACKET.search(text, at)) is not None:
        try:
            value, at = decoder.raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            failed += 1
            at = bracket.end()
        else:
            yield value, bracket.start(), at


def _objects(value: Any, name: str, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Objects with a field of this name in a value that may wrap them."""
    value = decode_nested(value)
    if isinstance(value, dict) and _key(value, name) is not None:
        yield value
    elif isinstance(value, dict | list) and depth <= DEPTH:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _objects(inner, name, depth + 1)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def decode_nested(value: Any) -> Any:
    """Return a value, or the one that is written in it as JSON once more."""
    for _ in range(DEPTH):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            break
        inner = _parse_json(value)
        if not isinstance(inner, dict | list | str):
            break
        value = inner
    return value


def _key(value: Mapping[str, Any], wanted: str) -> str | None:
    """The name in an object that is the wanted one, capitals aside; None where a schema says of it
    which type it has."""
    for name, each in value.items():
        if name.strip().casefold() == wanted:
            types = ("array", "object", "string")
            return None if isinstance(each, dict) and each.get("type") in types else name
    return None


def _in_order(some: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Both, each entry once, where they share some of them in the same order."""
    left, found = [*some], list[Any]()
    for one in others:
        if one in some:
            while left and found[-1:] != [one]:
                found.append(left.pop(0))
        else:
            found.append(one)
    return found + left


def _merge_answers(answers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Objects as one: lists one after the other, texts too, of anything else the first."""
    whole: dict[str, Any] = {}
    for each in answers:
        for name, value in each.items():
            before = whole.get(name)
            if not before:
                whole[name] = [*value] if isinstance(value, list) else value
            elif isinstance(before, list) and isinstance(value, list):
                before.extend(value)
            elif isinstance(before, dict) and isinstance(value, dict):
                whole[name] = _merge_answers([before, value])
            elif isinstance(before, str) and isinstance(value, str) and value not in before:
                whole[name] = f"{before} {value}"
    return whole


def _problem(bare: str, field: str) -> str:
    if not bare:
        return "it is empty"
    if is_refusal(bare):
        return "it refuses. Nothing is asked of you but notes in JSON"
    if '"properties"' in bare or '"$defs"' in bare:
        return "it repeats the JSON schema instead of filling it in"
    if "{" not in bare:
        return "it has no JSON object"
    return f'it has no JSON object with a list "{field}" that can be parsed'
