"""What a language model wrote, in whatever form: its text, its lines, its order of numbers.

Small models think aloud, wrap what they say in JSON, fences, quotes or bullets, forget the first bracket, say
it again and again, or count instead of ranking. Objects with fields are read by
`langmemory.formation.asking.json_answers`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from langmemory.languages.spelling import normalised_text

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage, ToolCall

THOUGHT_TAGS: Final = "think|thinking|thought|reasoning"
_THINKING: Final = re.compile(
    rf"\A\s*<(?:{THOUGHT_TAGS})>.*?(?:</(?:{THOUGHT_TAGS})>|\Z)"
    rf"|\A(?:(?!<(?:{THOUGHT_TAGS})>).)*?^[ \t]*</(?:{THOUGHT_TAGS})>[ \t]*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""Thoughts in front of an answer; without an end where the tokens ran out, and without a beginning
where the chat template has put that into the prompt: then the end stands on a line of its own."""
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_JSON: Final = re.compile(r"""[\[{]\s*(?=["'\[{])""")
_OBJECT: Final = re.compile(r"""[\[{]\s*[\[{"'\d]""")
_BETWEEN: Final = re.compile(r"""["”]\s*,\s*["“]""")
"""Between two texts of a list."""
_BULLET: Final = re.compile(r"^\W*(?:(?:[^\W\d]+ ?)?\d{1,2}\s*[.):]\s*)?\W*")
"""Also "Query 1:"."""
_SENTENCE_ENDS: Final = tuple(".!?。！？…\"'”’»」)")
_QUOTES: Final = ' \t"“”„«»`*_'
_SENTENCES: Final = re.compile(r"(?<=[.!?。！？])\s+")
_NUMBER: Final = re.compile(r"\d{1,6}")
_CHAIN: Final = re.compile(
    r"(?:[^\W\d]+ )?[#\[(]*\d{1,6}[\])]*(?:\s*(?:>+|->|,|;|→|≻|\s)\s*(?:[^\W\d]+ )?[#\[(]*\d{1,6}[\])]*)*"
)
"""Numbers one after the other: "3 > 1 > 2", "[3], [1]", "note 3, note 1"."""
_ENTRY: Final = re.compile(r"^\s*(?:\d{1,3}\s*[.)]|[-*•])\s+[^\d\n]{0,12}(\d{1,6})\b", re.MULTILINE)
"""A line of a list, and the number that it begins with: "1. [3] because"."""
COUNTED: Final = 3
"""So many numbers of which each is one more than the one before are counted, not ranked."""
SHORT: Final = 3
"""Spaces in a sentence that nobody says twice on purpose, at least."""
_TAG: Final = re.compile(r"</?(?:tool_?calls?|function_?calls?)>", re.IGNORECASE)
_CALL: Final = re.compile(r'\{\s*"name"\s*:\s*"[^"]+"\s*,\s*"(?:arguments|parameters)"\s*:\s*\{')
MOST_FIELDS: Final = 3
"""Of a call: its name, its arguments, and its type or id."""


class UnusableAnswerError(Exception):
    """A model failed, or answered nonsense; what there is without it stands."""


def answer_text(answer: BaseMessage | str) -> str:
    """Return the text of an answer, without the thoughts that small models put in front of it."""
    text = answer if isinstance(answer, str) else answer.text
    return _THINKING.sub("", text).strip()


def is_finished(text: str) -> bool:
    """Whether a text ends as a sentence does, so that its answer did not break off in it."""
    return text.endswith(_SENTENCE_ENDS)


def without_repetitions(text: str, *, short: int = SHORT) -> str:
    """Return a text in which a model that repeats itself says each sentence once. Those with fewer spaces
    than ``short``, such as "None.", may stand under several headings."""
    earlier = set[str]()
    lines = list[str]()
    for line in text.splitlines():
        sentences = list[str]()
        for sentence in _SENTENCES.split(line):
            plain = normalised_text(sentence)
            if plain not in earlier or plain.count(" ") < short:
                sentences.append(sentence)
            earlier.add(plain)
        if sentences or not line.strip():
            lines.append(" ".join(sentences))
    return "\n".join(lines)


def answer_lines(answer: BaseMessage | str) -> list[str]:
    """Return the different lines of an answer, or the texts of the JSON in it, without bullets and quotes.
    What a line says twice is said once."""
    text = _FENCE.sub("", answer_text(answer)).strip()
    lines = dict[str, str]()
    for line in _texts(text):
        bare = _BULLET.sub("", without_repetitions(line, short=0)).strip(_QUOTES)
        if not bare.endswith((":", "：")) and (plain := normalised_text(bare)):
            lines.setdefault(plain, bare)
    return list(lines.values())


def ranking(answer: BaseMessage | str, count: int) -> list[int]:
    """Return the order of ``count`` things that an answer gives, as their places from 0; the model saw them
    numbered from 1. What it leaves out is left out.

    Raises:
        UnusableAnswerError: It gives no order, counts from 0, or only counts.
    """
    text = _FENCE.sub("", answer_text(answer)).strip()
    numbers = list(dict.fromkeys(_numbers(text)))
    if 0 in numbers:
        raise UnusableAnswerError("it counts from 0, where the first is 1")
    order = [number - 1 for number in numbers if number <= count]
    if not order:
        raise UnusableAnswerError(f"no list of numbers in an answer of {len(text)} characters")
    steps = {after - before for before, after in pairwise(order)}
    if len(order) >= COUNTED and steps == {1}:
        raise UnusableAnswerError("it counts the notes, and does not rank them")
    return order


def _texts(text: str) -> Iterator[str]:
    """The texts of the JSON in an answer, also where its beginning is lost; else its lines."""
    begin = _JSON.search(text)
    if begin is None and (between := _BETWEEN.search(text)) is not None:
        line = text.rfind("\n", 0, between.start()) + 1
        text, begin = '["' + text[line:].lstrip(_QUOTES), _JSON.match('[""')
    if begin is not None:
        yield from _leaves(_json(text[begin.start() :]))
    else:
        yield from text.splitlines()


def _leaves(value: Any) -> Iterator[str]:
    """The texts in a value. Of an object with a text and remarks on it the first one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    elif isinstance(value, dict):
        contents = list(value.values())
        is_entry = all(isinstance(one, str) for one in contents) and not any(
            any(letter.isdigit() for letter in name) for name in value
        )
        yield from _leaves(contents[:1] if is_entry else contents)


def _numbers(text: str) -> Sequence[int]:
    """The numbers of an order, in whatever form it is written."""
    if len(entries := _ENTRY.findall(text)) > 1:
        return [*map(int, entries)]
    chains = [[*map(int, _NUMBER.findall(one[0]))] for one in _CHAIN.finditer(text)]
    if not re.fullmatch(r"\W*\d+\W*", text):
        chains = [one for one in chains if len(one) > 1]
    begin = _OBJECT.search(text)
    longest = _longest(_json(text[begin.start() :])) if begin else []
    return max(chains, key=len, default=[]) or longest


def _longest(value: Any) -> list[int]:
    """The longest list of numbers in a value; an object in a list stands for its first number."""
    if isinstance(value, dict):
        return max(map(_longest, value.values()), key=len, default=[])
    if not isinstance(value, list):
        return []
    numbers = [number for one in value if (number := _first_number(one)) is not None]
    return numbers if len(numbers) == len(value) else max(map(_longest, value), key=len, default=[])


def _first_number(value: Any) -> int | None:
    if isinstance(value, dict):
        return next((n for one in value.values() if (n := _first_number(one)) is not None), None)
    if isinstance(value, str):
        numbers = _NUMBER.findall(value)
        return int(numbers[0]) if len(numbers) == 1 else None
    return value if type(value) is int and value >= 0 else None


def _json(text: str) -> Any:
    """The value at the beginning of a text, mended where it is broken."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except (ValueError, RecursionError):
        import json_repair  # a tenth of a second, which only a broken answer is worth

        try:
            return json_repair.loads(text)
        except (ValueError, RecursionError):
            return None


def _broken_call(text: str) -> Any:
    """A call that broke off, without the argument under way."""
    if _CALL.match(text) is None:
        return []
    from langchain_core.utils.json import parse_partial_json

    try:
        read = parse_partial_json(text)
    except ValueError:
        return []
    arguments = read.get("arguments", read.get("parameters"))
    if isinstance(arguments, dict) and arguments and not text.endswith("}"):
        arguments.popitem()
    return read


def calls_in_text(text: str) -> list[ToolCall]:
    """Return the calls of tools that a model wrote as its answer, and nothing beside them: small models know
    the form of a call and not its place.

    Each is an object with a ``name`` and with ``arguments`` or ``parameters``; fences and tags around it do
    not count. One that broke off at the limit of an answer has the arguments that were finished.
    """
    if '"name"' not in text:  # as nearly always: each answer of a thread is looked at in each turn
        return []
    bare = _TAG.sub("", _FENCE.sub("", answer_text(text))).strip()
    if not bare.startswith(("{", "[")):
        return []
    try:
        read = json.loads(bare)
    except ValueError:
        try:
            read = [json.loads(line) for line in bare.splitlines() if line.strip()]
        except ValueError:
            read = _broken_call(bare)
    calls: list[ToolCall] = []
    for one in read if isinstance(read, list) else [read]:
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            return []
        arguments = one.get("arguments", one.get("parameters"))
        if not isinstance(arguments, dict) or len(one) > MOST_FIELDS:
            return []
        id = f"call_{uuid4().hex[:12]}"
        calls.append({"name": one["name"], "args": arguments, "id": id, "type": "tool_call"})
    return calls
