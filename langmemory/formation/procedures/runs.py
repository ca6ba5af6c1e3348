"""Runs of tools: what an assistant did between two words of a person, and whether it ended well.

The output of a tool is data. Nothing of it is in a run: neither its text, nor what an argument took from
it. A run in which a tool's output may have said what to do is tainted, and nothing is learned from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langmemory.context.marking import is_injected
from langmemory.formation.orders import gives_orders
from langmemory.languages import is_correction, split_words

SHORTEST_COPY: Final = 4
"""Characters of an argument that can be recognised as copied from an output."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call of a tool."""

    tool: str
    arguments: Mapping[str, Any]
    """Without what was copied from the output of a tool: a placeholder names that tool."""
    failed: bool | None
    """None: it was never answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolRun:
    """What followed on words of a person."""

    asked: str
    calls: tuple[Call, ...]
    answered: bool
    """Whether it ended with an answer."""
    corrected: bool
    """Whether the person's next words correct it."""
    tainted: str = ""
    """Why nothing may be learned from it; empty where something may."""

    @property
    def problem(self) -> str:
        """Why it makes no procedure; empty where it may."""
        if self.tainted:
            return self.tainted
        if sum(one.failed is False for one in self.calls) < 2:
            return "fewer than two calls succeeded"
        if self.calls[-1].failed is not False:
            return "its last call failed"
        if self.corrected:
            return "the person corrected it"
        return "" if self.answered else "it did not end"


@dataclass(frozen=True, slots=True)
class _Read:
    """A text that names of tools and arguments are looked for in, its words taken apart once."""

    text: str
    words: frozenset[str]
    row: str
    """The words one behind the other."""

    @classmethod
    def of(cls, text: str) -> Self:
        words = split_words(text)
        return cls(text, frozenset(words), " ".join(words))


@dataclass(frozen=True, slots=True)
class _Output:
    """What a tool answered."""

    tool: str
    read: _Read


def runs_of(messages: Iterable[BaseMessage]) -> list[ToolRun]:
    """Return the runs of a conversation that called tools, in order."""
    parts: list[list[BaseMessage]] = []
    for message in messages:
        if is_injected(message):
            continue
        if isinstance(message, HumanMessage):
            parts.append([message])
        elif parts:
            parts[-1].append(message)
    asked = [str(part[0].text) for part in parts]
    found = []
    for place, part in enumerate(parts):
        if any(isinstance(one, AIMessage) and one.tool_calls for one in part):
            said = _Read.of(" ".join(asked[: place + 1]))
            found.append(_run(part, said=said, reply=asked[place + 1 : place + 2]))
    return found


def calls_of(messages: Iterable[BaseMessage]) -> list[Call]:
    """Return the calls of tools in a part of a conversation, with their arguments as they were."""
    results = {one.tool_call_id: one for one in messages if isinstance(one, ToolMessage)}
    return [
        Call(
            tool=call["name"],
            arguments=call["args"],
            failed=_has_failed(results.get(call["id"] or "")),
        )
        for one in messages
        if isinstance(one, AIMessage)
        for call in one.tool_calls
    ]


def is_copied(text: str, outputs: Iterable[str], said: Iterable[str]) -> bool:
    """Return whether a text has words in a row that stand in the output of a tool, and the person did not
    say."""
    if len(text.strip()) < SHORTEST_COPY:
        return False
    theirs = _Read.of(" ".join(said))
    return text not in theirs.text and any(
        _shares(text, _Read.of(output), theirs) for output in outputs
    )


def _has_failed(result: ToolMessage | None) -> bool | None:
    return None if result is None else result.status == "error"


def _run(part: Sequence[BaseMessage], *, said: _Read, reply: Sequence[str]) -> ToolRun:
    """Return the run of one part: the words of a person and what followed.

    Args:
        part: Its messages.
        said: All that the person said until then.
        reply: What they said next, if anything.
    """
    results = {one.tool_call_id: one for one in part if isinstance(one, ToolMessage)}
    outputs: list[_Output] = []
    calls: list[Call] = []
    tainted = ""
    for message in part[1:]:
        if isinstance(message, ToolMessage):
            outputs.append(_Output(message.name or "a tool", _Read.of(str(message.text))))
            if gives_orders(str(message.text)):
                tainted = "the output of a tool gives orders"
        elif isinstance(message, AIMessage):
            for call in message.tool_calls:
                if _came_from_output(call["name"], outputs, said):
                    tainted = tainted or "a call may come from the output of a tool"
                arguments = {n: _clean(one, outputs, said) for n, one in call["args"].items()}
                failed = _has_failed(results.get(call["id"] or ""))
                calls.append(Call(tool=call["name"], arguments=arguments, failed=failed))
    last = part[-1]
    return ToolRun(
        asked=str(part[0].text),
        calls=tuple(calls),
        answered=isinstance(last, AIMessage) and not last.tool_calls,
        corrected=any(map(is_correction, reply)),
        tainted=tainted,
    )


def _came_from_output(tool: str, outputs: Sequence[_Output], said: _Read) -> bool:
    """Return whether an output names a tool that the person did not speak of."""
    words = set(split_words(tool.replace("_", " ")))
    if words <= said.words:
        return False
    return any(tool in one.read.text or words <= one.read.words for one in outputs)


def _clean(argument: Any, outputs: Sequence[_Output], said: _Read) -> Any:
    """Return an argument without what stands in the output of a tool, and was not said by the person."""
    if isinstance(argument, Mapping):
        return {name: _clean(one, outputs, said) for name, one in argument.items()}
    if isinstance(argument, list):
        return [_clean(one, outputs, said) for one in argument]
    text = argument if isinstance(argument, str) else json.dumps(argument, default=str)
    if len(text.strip()) < SHORTEST_COPY or text in said.text:
        return argument
    source = next((one.tool for one in outputs if _shares(text, one.read, said)), None)
    return argument if source is None else f"<from {source}>"


def _shares(text: str, output: _Read, said: _Read) -> bool:
    """Return whether an argument has words of an output in a row that the person did not say."""
    if text.strip() in output.text:
        return True
    words = split_words(text)
    rows = (" ".join(words[at : at + 3]) for at in range(len(words) - 2))
    return any(row in output.row and row not in said.row for row in rows)
