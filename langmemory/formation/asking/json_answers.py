"""The JSON object in what a model wrote.

Small models think aloud, wrap the object in prose and fences, forget a bracket, run out of tokens
in the middle, or send the schema back. What can be read is read; what cannot is a `BadAnswerError`
whose message tells the model what to do better.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import json_repair

MAX_CHARS = 2_000_000
"""A longer answer is a model that ran away."""

TRIES = 200
"""Braces of an answer that are tried as the beginning of the object."""

_TAGS = "think|thinking|thought|reasoning"
_THOUGHTS = re.compile(rf"<({_TAGS})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHTS_END = re.compile(rf"\A.*</(?:{_TAGS})>", re.DOTALL | re.IGNORECASE)
"""Some chat templates put the opening tag into the prompt: only the closing one is in the answer."""
_THOUGHTS_OPEN = re.compile(rf"<(?:{_TAGS})>", re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_BRACKET = re.compile(r"[{\[]")
_BRACE = re.compile(r"\{")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
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
    cut: bool = False
    """The answer broke off: the last thing in it may be half a thing."""


def json_object(answer: str, *, field: str, entry: str | None = None) -> Found:
    """The object of an answer whose ``field`` is a list.

    Args:
        entry: a field of what the list holds; an object that has it is the only one of the list,
            which small models leave out.

    Raises:
        BadAnswerError: There is none.
    """
    if len(answer) > MAX_CHARS:
        raise BadAnswerError("it is far too long")
    whole = _unwrapped(_parsed(answer), field)
    if whole is not None:
        return Found(value=whole)
    spoken, thought = _without_thoughts(answer)
    texts = (*_FENCE.findall(spoken), spoken)
    for text in texts:
        if (value := _first(text, _starts(text), field)) is not None:
            return Found(value=value)
    for text in texts:
        if (repaired := _repaired(text, field)) is not None:
            return repaired
    if thought.rstrip(" \n`").endswith(("}", "]")):  # it never closed its thoughts, but answered
        last_first = reversed(list(_starts(thought)))
        if (value := _first(thought, last_first, field)) is not None:
            return Found(value=value)
    for text in texts if entry is not None else ():
        if isinstance(alone := _parsed(text), dict) and entry in alone:
            return Found(value={field: [alone]})
    raise BadAnswerError(_problem(spoken, field))


def is_refusal(text: str) -> bool:
    """Whether a text is the beginning of "I am sorry, but I cannot …"."""
    return _REFUSAL.match(text) is not None


def _without_thoughts(answer: str) -> tuple[str, str]:
    """What was said, and thoughts that were never closed."""
    text = _THOUGHTS_END.sub("", _THOUGHTS.sub("", answer))
    opened = _THOUGHTS_OPEN.search(text)
    return (text, "") if opened is None else (text[: opened.start()], text[opened.end() :])


def _starts(text: str) -> Iterator[int]:
    """Where the object may begin. A list counts only as the first thing: others are parts."""
    first = _BRACKET.search(text)
    if first is not None and first[0] == "[":
        yield first.start()
    for brace in islice(_BRACE.finditer(text), TRIES):
        yield brace.start()


def _first(text: str, starts: Iterator[int], field: str) -> dict[str, Any] | None:
    """The first JSON value at one of these places that is an answer, whatever follows it."""
    decoder = json.JSONDecoder()
    for start in starts:
        try:
            value = _unwrapped(decoder.raw_decode(text, start)[0], field)
        except (ValueError, RecursionError):
            continue
        if value is not None:
            return value
    return None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _repaired(text: str, field: str) -> Found | None:
    """The object that names the field, as json_repair guesses it."""
    named = re.search(rf"""["']?\b{field}\b["']?\s*:""", text)
    begin = text.rfind("{", 0, named.start()) if named else -1
    if begin < 0:
        return None
    try:
        value = _unwrapped(json_repair.loads(text[begin:]), field)
    except (ValueError, RecursionError):
        return None
    return None if value is None else Found(value=value, cut=_is_open(text[begin:]))


def _is_open(text: str) -> bool:
    """Whether brackets or a string are left open at the end."""
    bare = _STRING.sub("", text)
    opened = sum(map(bare.count, "{[")) - sum(map(bare.count, "}]"))
    return opened > 0 or '"' in bare


def _unwrapped(value: Any, field: str, depth: int = 0) -> dict[str, Any] | None:
    """The answer in a value that may wrap it; None if it is not in there."""
    if isinstance(value, str) and depth and value.lstrip()[:1] in ("{", "["):
        value = _parsed(value)
    if isinstance(value, list):
        if not all(isinstance(each, dict) for each in value):
            return None
        for each in value:
            if field in each:
                return _unwrapped(each, field, depth + 1)
        # A bare list is the field itself, unless it was found inside of something else.
        return {field: value} if depth == 0 else None
    if not isinstance(value, dict) or depth > 3:
        return None
    if field in value:
        content = value[field]
        if isinstance(content, dict) and content.get("type") in ("array", "object"):
            return None  # the schema, which says of the field what type it has
        listed = content if isinstance(content, list) else [] if content is None else [content]
        return {**value, field: listed}
    for inner in value.values():
        if isinstance(inner, dict | str) and (found := _unwrapped(inner, field, depth + 1)):
            return found
    return None


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
