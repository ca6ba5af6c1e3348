"""Settings of programs, JSON with comments: entries are put in as text, and taken out again byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langmemory.errors import ConfigError

_SPACE: Final = re.compile(r"(?:\s|\ufeff|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_WORD: Final = re.compile(r"[^\s,\]}:/]+")


@dataclass(slots=True)
class Node:
    """A value of a text, and where it stands."""

    start: int
    end: int
    value: Any = None
    """Of a string, number or word."""
    members: dict[str, Node] = field(default_factory=dict)
    """Of an object; those of an array are named by their places."""
    begins: dict[str, int] = field(default_factory=dict)
    """Where members begin, with their names."""


def scan(text: str, file: str) -> Node:
    """Return the outermost value of JSON that may have comments and commas at ends.

    Raises:
        ConfigError: It is none.
    """
    node, end = _value(text, _past_space(text, 0), file)
    if _past_space(text, end) != len(text):
        raise _unreadable(text, end, file)
    return node


Piece = tuple[int, str]
"""What was put in, and where."""


def put_in(text: str, event: str, entry: str, file: str) -> tuple[str, list[Piece]]:
    """Return settings with an entry among the hooks of an event, and the pieces that were put in for it.

    Args:
        text: The settings.
        event: Its name.
        entry: JSON.
        file: For errors.
    """
    pieces: list[Piece] = []
    for path, piece in (
        ((), '"hooks": {}'),
        (("hooks",), f"{json.dumps(event)}: []"),
        (("hooks", event), entry),
    ):
        into = scan(text, file)
        for name in path:
            into = into.members[name]
        name = event if len(path) == 1 else "hooks"
        if len(path) < 2 and name in into.members:
            continue
        if text[into.start] != ("[" if len(path) == 2 else "{"):
            found = text[into.start : into.end]
            raise ConfigError(
                f"{file}: {found!r:.60} stands where hooks are listed. Mend it first."
            )
        space = "\n" + "  " * (len(path) + 1)
        closes = space[:-2] if text[into.start + 1 : into.end - 1] == "" else ""
        place = into.start + 1
        pieces.append((place, f"{space}{piece}{',' if into.members else closes}"))
        text = text[:place] + pieces[-1][1] + text[place:]
    return text, pieces


def take_out(text: str, pieces: Sequence[Piece], is_ours: Callable[[str], bool], file: str) -> str:
    """Return settings without the pieces that were put in. Where a program has written them anew since, the
    entries whose command is ours go."""
    for place, piece in reversed(pieces):
        if text[place : place + len(piece)] == piece:
            text = text[:place] + text[place + len(piece) :]
        elif text.count(piece) == 1:
            text = text.replace(piece, "")
    if not any(is_ours(command) for _, command in commands(text, file)):
        return text
    root = scan(text, file)
    spans: list[tuple[int, int]] = []

    def look(node: Node) -> bool:
        """Whether all of it is ours; else the spans of what is."""
        command = node.members.get("command")
        if command is not None and isinstance(command.value, str) and is_ours(command.value):
            return True
        ours = [name for name, one in node.members.items() if look(one)]
        if ours and ("hooks" in ours or len(ours) == len(node.members)):
            return True
        spans.extend((node.begins[name], node.members[name].end) for name in ours)
        return False

    hooks = root.members["hooks"]
    if look(hooks):
        spans = [(root.begins["hooks"], hooks.end)]
    for start, end in sorted(spans, reverse=True):
        text = _cut(text, start, end)
    return text


def commands(text: str, file: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of hooks, with their events."""
    hooks = scan(text, file).members.get("hooks")
    for event, node in (hooks.members if hooks else {}).items():
        waiting = [node]
        while waiting:
            one = waiting.pop()
            command = one.members.get("command")
            if command is not None and isinstance(command.value, str):
                yield event, command.value
            waiting += one.members.values()


def _cut(text: str, start: int, end: int) -> str:
    """Take out a member with its comma, and the space before it."""
    behind = _past_space(text, end)
    while start and text[start - 1].isspace():
        start -= 1
    if text[behind : behind + 1] == ",":
        end = behind + 1
    elif text[start - 1 : start] == ",":
        start -= 1
    return text[:start] + text[end:]


def _value(text: str, at: int, file: str) -> tuple[Node, int]:
    sign = text[at : at + 1]
    if sign in ("{", "["):
        return _container(text, at, file, "}" if sign == "{" else "]")
    found = _STRING.match(text, at) or _WORD.match(text, at)
    if found is None:
        raise _unreadable(text, at, file)
    try:
        value = json.loads(found[0])
    except ValueError:
        raise _unreadable(text, at, file) from None
    return Node(at, found.end(), value), found.end()


def _container(text: str, at: int, file: str, closing: str) -> tuple[Node, int]:
    node = Node(at, at)
    at = _past_space(text, at + 1)
    while text[at : at + 1] != closing:
        begins, name = at, str(len(node.members))
        if closing == "}":
            key, at = _value(text, at, file)
            name, at = str(key.value), _past_space(text, at)
            if text[at : at + 1] != ":":
                raise _unreadable(text, at, file)
            at = _past_space(text, at + 1)
        node.members[name], at = _value(text, at, file)
        node.begins[name] = begins
        at = _past_space(text, at)
        if text[at : at + 1] == ",":
            at = _past_space(text, at + 1)
        elif text[at : at + 1] != closing:
            raise _unreadable(text, at, file)
    node.end = at + 1
    return node, node.end


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _unreadable(text: str, at: int, file: str) -> ConfigError:
    line = text.count("\n", 0, at) + 1
    return ConfigError(
        f"{file}, line {line}: {text[at : at + 20]!r} is not JSON. Mend it, and try again."
    )
