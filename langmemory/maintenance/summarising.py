"""The tree of summaries at night, level by level."""

from __future__ import annotations

from langmemory.context.tokens import count_text
from langmemory.lifecycle.summaries import tree
from langmemory.lifecycle.summaries.nodes import LEVELS, Level
from langmemory.maintenance.night import Night, planned_again
from langmemory.maintenance.task_report import TaskReport
from langmemory.types import Namespace


def summarise(night: Night, report: TaskReport) -> None:
    """Bring the tree of summaries up to date, level by level: the one above retells the one below."""
    for namespace in night.namespaces(report):
        reached = [_summarise(night, report, namespace, level) for level in LEVELS]
        if not night.dry_run:
            night.room.advance(tree.TASK, namespace, reached[0])
    if night.dry_run and report.lines:
        report.refused.append(
            "summaries of what these belong to: they are planned once these stand"
        )


def _summarise(night: Night, report: TaskReport, namespace: Namespace, level: Level) -> int:
    """Do one level of one namespace; return the place in the history that was taken into account."""
    undone = night.room.undone_keys(namespace, tree.TASK)
    ask = None if night.model is None else lambda prompt: asked(night, report, prompt)
    reached = 0

    def plan() -> None:
        nonlocal reached
        with night.room.view(namespace) as view:
            planning = tree.Planning(
                view=view, level=level, ask=ask, undone=undone, refused=report.refused
            )
            changes, reached = planning.changes(), view.seq
        night.apply(report, namespace, changes, reason=f"summaries: {level}", planned_at=reached)

    planned_again(report, plan)
    return reached


def asked(night: Night, report: TaskReport, prompt: str) -> str | None:
    """Return what the model answers; None where it may not be asked, or cannot be reached."""
    if night.model is None or not night.may_ask(report):
        return None
    report.model_calls += 1
    try:
        answer = str(night.model.invoke(prompt).text)
    except Exception as error:  # whatever a provider raises: the rules do without
        night.model = None  # not asked again in this task
        report.refused.append(
            f"the model failed ({type(error).__name__}): rules write the rest, the next night asks again"
        )
        return None
    report.tokens += count_text(prompt) + count_text(answer)
    return answer
