"""The JSON object in what a model wrote.

Small models think aloud, wrap the object in prose and fences, write one for each thing they note,
forget a bracket, run out of tokens in the middle, or send the schema back. What can be read is read;
what cannot is a `BadAnswerError` whose message tells the model what to do better.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import json_repair

MAX_CHARS = 400_000
"""A longer answer is a model that ran away."""

TRIES = 200
"""Brackets of an answer at which no JSON begins; after so many no more are tried."""

DEPTH = 5
"""So deep an answer may be wrapped in other objects, lists and strings."""

_TAGS = "think|thinking|thought|reasoning"
_THOUGHTS = re.compile(rf"<(?:{_TAGS})>.*?</(?:{_TAGS})>", re.DOTALL | re.IGNORECASE)
_THOUGHTS_END = re.compile(rf"\A.*</(?:{_TAGS})>", re.DOTALL | re.IGNORECASE)
"""Some chat templates put the opening tag into the prompt: only the closing one is in the answer."""
_THOUGHTS_OPEN = re.compile(rf"<(?:{_TAGS})>", re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_BRACKET = re.compile(r"[{\[]")
_MARKS = re.compile(r"[{}\[\]]")
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
_REFUSAL = re.compile(
    r"\A\W*(?:(?:i['’]?m|i am) (?:very |so |really )?(?:sorry|unable|not able)|sorry,|my apologies"
    r"|i apologi[sz]e|i (?:can(?:not|['’]?t)|could ?n['’]?o?t|won['’]?t|must decline)"
    r"|as an? (?:ai|language model)"
    r"|(?:es )?tut mir leid|ich kann (?:das |dies |ihnen |dir |dabei )*(?:leider )?nicht|als ki\b"
    r"|lo siento|no puedo|como (?:una )?(?:ia|modelo)\b|désolé|je (?:suis désolé|ne peux)"
    r"|抱歉|对不起|很抱歉|我(?:无法|不能)|作为(?:一个)?(?:ai|人工智能|语言模型))",
    re.IGNORECASE,
)


class BadAnswerError(ValueError):
    """What a model answered cannot be used. The message is shown to the model; it quotes nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The object in an answer."""

    value: dict[str, Any]
    cut: str | None = None
    """The field in which the answer broke off; what was half there is left out."""


def json_object(answer: str, *, field: str, entry: str | None = None) -> Found:
    """The object of an answer whose ``field`` is a list. Several of them, as of parallel tool calls or
    one for each turn, are one, in their order.

    Args:
        entry: a field of what the list holds; objects that have it are the list where nothing is
            called ``field``, which small models leave out or call otherwise.

    Raises:
        BadAnswerError: There is none.
    """
    if len(answer) > MAX_CHARS:
        raise BadAnswerError("it is far too long")
    form = _Form(field=field, entry=entry)
    plain = answer.translate(_TYPED).replace('\\"', '"').replace("\\n", "\n")
    variants = [_Spoken.of(each) for each in dict.fromkeys((answer, plain))]
    for find in (form.written, form.repaired, form.thought, form.loose):
        for spoken in variants:
            if (found := find(spoken)) is not None:
                return found
    raise BadAnswerError(_problem(variants[0].text, field))


def is_refusal(text: str) -> bool:
    """Whether a text is the beginning of "I am sorry, but I cannot …"."""
    return _REFUSAL.match(text) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Spoken:
    """An answer without its thoughts, and without what is none any more."""

    answer: str
    text: str
    thought: str
    """What was never closed of them."""

    @classmethod
    def of(cls, answer: str) -> _Spoken:
        text, thought = _without_thoughts(answer)
        return cls(answer=answer, text=_until_it_goes_on(text), thought=thought)

    @property
    def texts(self) -> tuple[str, str]:
        """What stands in fences, then all of it."""
        return "\n".join(_FENCE.findall(self.text)), self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class _Value:
    """An object or a list in a text."""

    value: Any
    begin: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    """What is looked for, see `json_object`."""

    field: str
    entry: str | None

    def written(self, spoken: _Spoken) -> Found | None:
        """All answers that are JSON as they stand, and one after them that broke off."""
        answer = spoken.answer
        whole = _Value(value=_parsed(answer), begin=0, end=len(answer))
        for text, values in ((answer, [whole]), *((one, _values(one)) for one in spoken.texts)):
            found, end = self._all(values, text)
            if found:
                half = self._mended(text[end:])
                rest = [] if half is None else [half.value]
                return Found(value=_merged([*found, *rest]), cut=half.cut if half else None)
        return None

    def repaired(self, spoken: _Spoken) -> Found | None:
        """An answer as json_repair guesses it, with the entries that it lost."""
        for text in spoken.texts:
            if (found := self._mended(text)) is not None:
                whole = _in_order(found.value[self.field], self._entries(text, found.value))
                return Found(value={**found.value, self.field: whole}, cut=found.cut)
        return None

    def thought(self, spoken: _Spoken) -> Found | None:
        """The last answer in thoughts that were never closed, where they end with one."""
        thought = spoken.thought
        if not thought.rstrip(" \n`").endswith(("}", "]")):
            return None
        found, _ = self._all(_values(thought)[::-1], thought)
        return Found(value=found[0]) if found else None

    def loose(self, spoken: _Spoken) -> Found | None:
        """Entries without a list that holds them."""
        for text in spoken.texts:
            if entries := self._entries(text, {}):
                return Found(value={self.field: entries})
        return None

    def _all(self, values: Sequence[_Value], text: str) -> tuple[list[dict[str, Any]], int]:
        """The different answers among the values of a text, and where the last one ends."""
        answers: dict[str, dict[str, Any]] = {}
        begin, first, end = self._begin(text), _BRACKET.search(text), 0
        for one in values:
            value = decoded(one.value)
            found = list(self._answers(value))
            if not found and isinstance(value, list):
                is_first = first is None or one.begin <= first.start()
                if self._is_bare(value, is_first=is_first, is_part=0 <= begin < one.begin):
                    found = [{self.field: value}]
            if found:
                end = one.end
            for each in found:
                answers.setdefault(_mark(each), each)
        return list(answers.values()), end

    def _mended(self, text: str) -> Found | None:
        begin = self._begin(text)
        if begin < 0:
            return None
        try:
            answers = list(self._answers(json_repair.loads(text[begin:])))
        except (ValueError, RecursionError):
            return None
        if not answers:
            return None
        left = _left_open(text[begin:])
        if not left:
            return Found(value=_merged(answers))
        last, held = answers[-1].popitem()
        if left in ("{", "{[") and text.rstrip(" \n`").endswith(("}", "]")):  # nothing is half
            answers[-1][last] = held
        elif isinstance(held, list):
            answers[-1][last] = held[:-1]
        return Found(value=_merged(answers), cut=last)

    def _entries(self, text: str, value: Mapping[str, Any]) -> list[Any]:
        """Entries that a text has by themselves, but for those of other lists of its object."""
        others = {name: each for name, each in value.items() if name != self.field}
        known = {_mark(one) for each in others.values() if isinstance(each, list) for one in each}
        found = [entry for one in _values(text) for entry in self._entries_in(one.value)]
        return [one for one in found if _mark(one) not in known]

    def _entries_in(self, value: Any, depth: int = 0) -> Iterator[Any]:
        """Objects with the entry's field in a value that wraps them."""
        value = decoded(value)
        if self.entry is None or depth > DEPTH:
            return
        if isinstance(value, dict) and _key(value, self.entry) is not None:
            yield value
        elif isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                yield from self._entries_in(inner, depth + 1)

    def _answers(self, value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
        """Objects with the field in a value that may wrap them."""
        value = decoded(value)
        if depth > DEPTH or not isinstance(value, dict | list):
            return
        if isinstance(value, dict) and (key := _key(value, self.field)) is not None:
            called = {self.field if name == key else name: each for name, each in value.items()}
            yield {**called, self.field: list(self._listed(value[key]))}
            return
        for inner in value.values() if isinstance(value, dict) else value:
            yield from self._answers(inner, depth + 1)

    def _listed(self, content: Any, depth: int = 0) -> Iterator[Any]:
        """What a field holds that is to be a list: also a single entry, or entries by turn."""
        content = decoded(content)
        if isinstance(content, dict) and self._is_by_turn(content):
            content = list(content.values())
        if isinstance(content, list) and depth < DEPTH:
            for each in content:
                yield from [each] if each is None else self._listed(each, depth + 1)
        elif isinstance(content, str) and not depth:
            if content.strip().casefold() not in _NOTHING:
                yield content
        elif content is not None:
            yield content

    def _is_by_turn(self, content: dict[str, Any]) -> bool:
        """Whether an object is not an entry, but holds them under names of their own."""
        if not content or self.entry is None or _key(content, self.entry) is not None:
            return False
        return all(isinstance(each, dict | list) for each in content.values())

    def _is_bare(self, values: list[Any], *, is_first: bool, is_part: bool) -> bool:
        """Whether a list is the field itself, not a part of an object that broke."""
        if is_first:
            kind = dict | str if self.entry is None else dict
            return all(isinstance(each, kind) for each in values)
        return not is_part and any(True for _ in self._entries_in(values))

    def _begin(self, text: str) -> int:
        """Where the object begins that names the field; -1 where there is none."""
        brace = text.find("{")
        named = re.compile(rf"""["']?\b{self.field}\b["']?\s*:""", re.IGNORECASE)
        found = named.search(text, brace) if brace >= 0 else None
        return -1 if found is None else text.rfind("{", 0, found.start())


def _until_it_goes_on(answer: str) -> str:
    """An answer without the next conversation that the model made up, and its answer to that."""
    answered = answer.find("}")
    goes_on = _NEXT_QUESTION.search(answer, answered) if answered >= 0 else None
    return answer if goes_on is None else answer[: goes_on.start()]


def _without_thoughts(answer: str) -> tuple[str, str]:
    """What was said, and thoughts that were never closed."""
    closed = _THOUGHTS_END.match(answer)
    end = closed.end() if closed is not None else 0
    text = _THOUGHTS_END.sub("", _THOUGHTS.sub("", answer[:end])) + answer[end:]
    opened = _THOUGHTS_OPEN.search(text)
    return (text, "") if opened is None else (text[: opened.start()], text[opened.end() :])


def _values(text: str) -> list[_Value]:
    """The objects and lists of a text, those within others left out."""
    decoder = json.JSONDecoder(strict=False)
    found: list[_Value] = []
    at = failed = 0
    while failed < TRIES and (bracket := _BRACKET.search(text, at)) is not None:
        begin = bracket.start()
        try:
            value, at = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            failed += 1
            at = bracket.end()
        else:
            found.append(_Value(value=value, begin=begin, end=at))
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def decoded(value: Any) -> Any:
    """A value, or the one that is written in it as JSON once more."""
    for _ in range(DEPTH):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            break
        inner = _parsed(value)
        if not isinstance(inner, dict | list | str):
            break
        value = inner
    return value


def _key(value: Mapping[str, Any], wanted: str) -> str | None:
    """The name in an object that is the wanted one, capitals aside; None where a schema says of it what
    type it has."""
    for name, each in value.items():
        if name.strip().casefold() == wanted:
            types = ("array", "object", "string")
            return None if isinstance(each, dict) and each.get("type") in types else name
    return None


def _mark(value: Any) -> str:
    """The same for what is the same."""
    return json.dumps(value)


def _in_order(some: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Both, each entry once, where they share some of them in the same order."""
    left, found = [*some], list[Any]()
    marks = {_mark(one) for one in some}
    for one in others:
        if _mark(one) in marks:
            while left and found[-1:] != [one]:
                found.append(left.pop(0))
        else:
            found.append(one)
    return found + left


def _left_open(text: str) -> str:
    """The brackets that are left open at the end, and a quote where a string is."""
    bare = _STRING.sub(lambda string: "" if string[1] == '"' else '"', text)
    opened: list[str] = []
    for mark in _MARKS.findall(bare):
        if mark in "{[":
            opened.append(mark)
        elif opened:
            opened.pop()
    return "".join(opened) + '"' * ('"' in bare)


def _merged(answers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
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
                whole[name] = _merged([before, value])
            elif isinstance(before, str) and isinstance(value, str) and value not in before:
                whole[name] = f"{before} {value}"
    return whole


def _problem(text: str, field: str) -> str:
    bare = text.strip()
    if not bare:
        return "it is empty"
    if is_refusal(bare):
        return "it refuses. Nothing is asked of you but notes in JSON"
    if '"properties"' in bare or '"$defs"' in bare:
        return "it repeats the JSON schema instead of filling it in"
    if "{" not in bare:
        return "it has no JSON object"
    return f'it has no JSON object with a list "{field}" that can be parsed'
