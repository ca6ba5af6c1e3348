"""The task that writes notes on new memories, where the configuration asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import ValidationError

from langmemory.changes import Change
from langmemory.context.escape import quoted_lines
from langmemory.errors import ExtractionError, ModelUnavailableError
from langmemory.formation.asking.asker import Asker, Question
from langmemory.formation.asking.json_answers import BadAnswerError, json_object
from langmemory.formation.prompts import prompt
from langmemory.lifecycle.notes import Written, WrittenNotes, is_usable, noted
from langmemory.maintenance.comparing import AT_ONCE, of_what_is_new
from langmemory.maintenance.night import Night
from langmemory.maintenance.task_report import TaskReport
from langmemory.pluralize import counted
from langmemory.ports.facts import SnapshotKnowledge
from langmemory.ports.lifecycle import LifecycleView, News
from langmemory.types import Memory

SHOWN: Final = 20
"""Memories that a model is shown at once."""

_Shown = Sequence[tuple[Memory, Sequence[str]]]


def notes(night: Night, report: TaskReport) -> None:
    """Give each new memory a note, and its neighbours the tags they share, if ``lifecycle.notes`` is on."""
    if night.config.notes:
        for namespace in night.namespaces(report):
            of_what_is_new(
                night, report, namespace, _notes, "notes on new memories", at_once=AT_ONCE
            )


def _notes(
    night: Night, report: TaskReport, view: LifecycleView, _: SnapshotKnowledge, news: News
) -> list[Change]:
    def writer(shown: _Shown) -> Mapping[int, Written]:
        found: dict[int, Written] = {}
        for start in range(0, len(shown), SHOWN):
            if night.may_ask(report):
                some = shown[start : start + SHOWN]
                found |= {start + at: one for at, one in _asked(night, report, some).items()}
        return found

    return noted(view, view.aged(), news, writer if night.model is not None else None)


def _asked(night: Night, report: TaskReport, shown: _Shown) -> Mapping[int, Written]:
    """The notes of a model that say nothing new, by place; what it leaves out is noted by rule."""
    assert night.model is not None
    asker = Asker(night.model, WrittenNotes.model_json_schema())
    told = "\n\n".join(
        "\n".join(
            [f"Memory {number}:", *quoted_lines(memory.text[:600]), "Near it:"]
            + [line for text in beside for line in quoted_lines(text[:300])]
        )
        for number, (memory, beside) in enumerate(shown, start=1)
    )
    try:
        answered = asker.ask(
            Question(messages=(SystemMessage(prompt("notes")), HumanMessage(told)), read=_read)
        )
    except (ExtractionError, ModelUnavailableError) as error:
        report.model_calls += getattr(error, "model_calls", 0) or 1
        report.refused.append(f"notes by rule: {error}")
        return {}
    report.model_calls += answered.calls
    found = {
        one.memory - 1: one
        for one in answered.value
        if 1 <= one.memory <= len(shown) and is_usable(one, *shown[one.memory - 1])
    }
    if left := len(answered.value) - len(found):
        report.refused.append(f"{counted(left, 'note')} with words that no memory has")
    return found


def _read(answer: str) -> list[Written]:
    entries = json_object(answer, field="notes", entry="context").value["notes"]
    found = []
    for entry in entries:
        try:
            found.append(Written.model_validate(entry))
        except ValidationError:
            continue
    if not found:
        raise BadAnswerError("it holds no note")
    return found
