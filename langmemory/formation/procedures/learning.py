"""Procedures that a model reads from runs of tools and from what people said, kept to what happened.

The model is shown the person's words, and calls with their arguments; never the output of a tool or what
the assistant made of it. A step stands on calls that succeeded, or on words that the person said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field, ValidationError

from langmemory.answers import answer_lines
from langmemory.context.marking import is_injected, one_line, quoted_lines
from langmemory.formation.asking.asker import Asker, Question
from langmemory.formation.asking.json_answers import BadAnswerError, json_object
from langmemory.formation.asking.limits import ShortText, Text, Texts, at_most
from langmemory.formation.extraction.requests import plainly
from langmemory.formation.orders import gives_orders
from langmemory.formation.procedures.runs import Call, ToolRun, runs_of
from langmemory.formation.prompts import prompt
from langmemory.languages import keyword_terms, split_words
from langmemory.procedures import MOST_CHARACTERS, MOST_STEPS, Draft, Procedure, Step, same_word
from langmemory.steps import Steps

MOST_ARGUMENTS: Final = 300
"""Characters of the arguments of a call that are shown."""
MOST_SAID: Final = 2_000
"""Characters of a message that are shown."""


class LearnedStep(BaseModel):
    text: Text
    calls: Texts = Field(default=[], description="ids of the calls it was done with, such as c1")


class LearnedProcedure(BaseModel):
    task: Text
    steps: Annotated[list[LearnedStep], at_most(maxItems=MOST_STEPS)]
    preconditions: Texts = []
    messages: Texts = Field(default=[], description="ids of the person's messages, such as m1")
    same_as: ShortText | None = None


class LearnedProcedures(BaseModel):
    """Procedures to keep."""

    procedures: Annotated[list[LearnedProcedure], at_most(maxItems=10)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Learned:
    """The procedures of a conversation, as drafts."""

    drafts: tuple[Draft, ...] = ()
    model_calls: int = 0
    dropped: tuple[str, ...] = ()
    """Why runs and procedures were left out, one reason each, without their text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lesson:
    """What a model is shown of a conversation."""

    said: dict[str, str]
    """The person's messages by id."""
    runs: tuple[ToolRun, ...]
    calls: dict[str, Call]
    """By id, those of runs that ended well."""
    refused: tuple[str, ...]

    @classmethod
    def of(cls, messages: Sequence[BaseMessage]) -> Lesson:
        """Read a conversation."""
        spoken = [m for m in messages if isinstance(m, HumanMessage) and not is_injected(m)]
        runs = runs_of(messages)
        usable = tuple(one for one in runs if not one.problem)
        calls = [call for run in usable for call in run.calls]
        return cls(
            said={f"m{n}": str(one.text)[:MOST_SAID] for n, one in enumerate(spoken, 1)},
            runs=usable,
            calls={f"c{n}": one for n, one in enumerate(calls, 1)},
            refused=tuple(one.problem for one in runs if one.problem),
        )

    def shown(self, known: Sequence[Procedure]) -> str:
        """Return it as a model reads it."""
        parts = [
            f"[{id}] the person:\n" + "\n".join(quoted_lines(text))
            for id, text in self.said.items()
        ]
        ids = iter(self.calls.items())
        for run in self.runs:
            lines = [f"Done after {one_line(run.asked)[:80]!r}:"]
            lines += [_call_line(*next(ids)) for _ in run.calls]
            parts.append("\n".join(lines))
        if known:
            numbered = (f"| [p{n}] {one_line(one.text)}" for n, one in enumerate(known, 1))
            parts.append("\n".join(["Procedures known already:", *numbered]))
        return "\n\n".join([*parts, "# Your procedures, as one JSON object"])


class ProcedureReader:
    """Reads procedures from a conversation with one call of a model, or two where its first answer cannot
    be used; with none where nobody told anything and no run of tools ended well."""

    __slots__ = ("_asker", "_system")

    def __init__(self, model: BaseChatModel, *, instructions: str = "") -> None:
        self._asker = Asker(model, LearnedProcedures.model_json_schema())
        further = f"\n\n# What this application wants\n\n{instructions}" if instructions else ""
        self._system = prompt("procedures") + further

    def read(
        self,
        messages: Sequence[BaseMessage],
        known: Sequence[Procedure],
        config: RunnableConfig | None = None,
    ) -> Steps[Learned]:
        """Return what is to be learned.

        Raises:
            ModelUnavailableError: The model could not be asked.
            ExtractionError: Its answers could not be used.
        """
        lesson = Lesson.of(messages)
        if not lesson.said or (not lesson.calls and len(lesson.said) < 2):
            return Learned(dropped=lesson.refused)
        question = Question(
            messages=(SystemMessage(self._system), HumanMessage(lesson.shown(known))), read=_answer
        )
        answered = yield from self._asker.asked(question, config)
        dropped = list(lesson.refused)
        drafts = []
        for one in answered.value:
            made = _draft(one, lesson, known)
            if isinstance(made, Draft):
                drafts.append(made)
            else:
                dropped.append(made)
        return Learned(drafts=tuple(drafts), model_calls=answered.calls, dropped=tuple(dropped))


def _answer(raw: str) -> list[LearnedProcedure]:
    """Raises `BadAnswerError` where no object can be read, or none of several procedures."""
    answer = json_object(raw, field="procedures", entry="steps")
    found = answer.value["procedures"]
    if answer.cut and not found:
        raise BadAnswerError("it breaks off")
    kept, problem = list[LearnedProcedure](), ""
    for one in found:
        try:
            kept.append(LearnedProcedure.model_validate(_normalise_steps(one)))
        except ValidationError as error:
            first = error.errors()[0]
            problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if found and not kept:
        raise BadAnswerError(f"none of its procedures can be read ({problem})")
    return kept


def _normalise_steps(one: Any) -> Any:
    """Return an entry with its steps as objects and its ids as lists, in whatever form a model wrote them."""
    if not isinstance(one, dict):
        return one
    steps = one.get("steps")
    if isinstance(steps, dict):
        steps = [steps] if "text" in steps else [*steps.values()]
    elif isinstance(steps, str):
        steps = answer_lines(steps)
    if not isinstance(steps, list):
        return one
    objects = ({"text": each} if isinstance(each, str) else each for each in steps)
    before = one.get("preconditions")
    return {
        **one,
        "steps": [
            {**each, "calls": _ids(each.get("calls"))} if isinstance(each, dict) else each
            for each in objects
        ],
        "preconditions": answer_lines(before) if isinstance(before, str) else before or [],
        "messages": _ids(one.get("messages")),
    }


def _ids(value: Any) -> list[str]:
    """Ids of calls or messages, also of "c1, c2" or of nothing."""
    return re.findall(r"\b[cm]\d+\b", json.dumps(value)) if value else []


def _draft(one: LearnedProcedure, lesson: Lesson, known: Sequence[Procedure]) -> Draft | str:
    """Return a draft, or why there is none."""
    texts = [one.task, *(step.text for step in one.steps), *one.preconditions]
    if not 0 < len(one.steps) <= MOST_STEPS or not all(
        0 < len(t.strip()) <= MOST_CHARACTERS for t in texts
    ):
        return "a text is empty or too long"
    if any(one_line(text) != " ".join(text.split()) or gives_orders(text) for text in texts):
        return "markup, or an order to the model"
    named = next((p for n, p in enumerate(known, 1) if one.same_as == f"p{n}"), None)
    said = " ".join(lesson.said.values())
    heard = " ".join(
        own for id in one.messages if id in lesson.said for own in plainly(lesson.said[id])
    )
    before = "" if named is None else named.text
    steps, sources = list[Step](), set[str]()
    for step in one.steps:
        calls = [lesson.calls[id] for id in step.calls if id in lesson.calls]
        done = [call for call in calls if call.failed is False]
        if done and _shares_words(step.text, f"{said} {' '.join(map(_call_words, done))}"):
            tools = {call.tool for call in done}
            steps.append(Step(text=_tidy(step.text), tool=tools.pop() if len(tools) == 1 else None))
            sources.add("run")
        elif not step.calls and _has_words(step.text, f"{heard} {before}"):
            steps.append(Step(text=_tidy(step.text)))
            sources.add("person" if _has_words(step.text, heard) else "known")
        else:
            return "a step that no call and no word of the person stands for"
    if sources == {"known"}:
        return "nothing that is not known"
    told = "run" not in sources
    if told and not _has_words(one.task, f"{heard} {before}"):
        return "a task that nobody named"
    return Draft(
        task=_tidy(one.task),
        steps=tuple(steps),
        preconditions=tuple(
            _tidy(t) for t in one.preconditions if _has_words(t, f"{said} {before}")
        ),
        source="person" if told else "run",
        in_order=told,
        same_as=None if named is None else named.key,
    )


def _call_line(id: str, call: Call) -> str:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)[:MOST_ARGUMENTS]
    outcome = "failed" if call.failed else "succeeded" if call.failed is False else "no result"
    return f"| [{id}] {one_line(call.tool)} {one_line(arguments)}: {outcome}"


def _call_words(call: Call) -> str:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
    return f"{call.tool.replace('_', ' ')} {arguments}"


def _shares_words(text: str, source: str) -> bool:
    """Return whether any telling word of a text stands in a source."""
    there = split_words(source)
    return any(_is_in(word, there) for word in keyword_terms(text))


def _has_words(text: str, source: str) -> bool:
    """Return whether all telling words of a text stand in a source."""
    words, there = keyword_terms(text) or tuple(split_words(text)), split_words(source)
    return bool(words) and all(_is_in(word, there) for word in words)


def _is_in(word: str, words: Iterable[str]) -> bool:
    return any(same_word(word, one) for one in words)


def _tidy(text: str) -> str:
    return " ".join(text.split())
