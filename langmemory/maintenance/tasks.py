"""The tasks of a night, in order. Each looks at every namespace and applies what its rule plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from langmemory.changes import Change
from langmemory.context.tokens import count_text
from langmemory.errors import DatabaseError
from langmemory.lifecycle import policies
from langmemory.lifecycle.summaries import tree
from langmemory.lifecycle.summaries.nodes import LEVELS, Level
from langmemory.maintenance.night import Night, TaskReport, planned_again
from langmemory.ports.lifecycle import Aged, LifecycleView
from langmemory.types import Namespace

Task = Callable[[Night, TaskReport], None]
"""Does one task of a night and notes in the report what came of it. It may raise: the others go on."""

Rule = Callable[[Night, LifecycleView, Aged], list[Change]]


def by_rule(reason: str, rule: Rule) -> Task:
    """Return a task that applies, in every namespace, the changes that a rule plans."""

    def task(night: Night, report: TaskReport) -> None:
        def plan(namespace: Namespace) -> None:
            with night.room.view(namespace) as view:
                changes = rule(night, view, view.aged())
                planned_at = view.seq
            night.apply(report, namespace, changes, reason=reason, planned_at=planned_at)

        for namespace in night.namespaces(report):
            planned_again(lambda namespace=namespace: plan(namespace))  # type: ignore[misc]

    return task


def health(night: Night, report: TaskReport) -> None:
    """Check the file, and note figures of the memory with what they ask for.

    Raises:
        DatabaseError: The file is inconsistent; `langmemory doctor` says where.
    """
    if wrong := night.store.admin.check():
        raise DatabaseError(f"{wrong[0]} ({len(wrong)} in all). Run `langmemory doctor`.")
    found = night.store.admin.health(night.prefix, now=night.now())
    names = ("facts", "unread_turns", "duplicates", "reviews", "stale", "file_bytes")
    report.figures |= {name: getattr(found, name) for name in names}
    report.advice += [f"{finding.what}. {finding.advice}" for finding in found.findings()]


def optimise(night: Night, report: TaskReport) -> None:
    """Do what keeps the file fast and small."""
    if not night.dry_run:
        report.figures |= night.room.optimise()


def expire(night: Night, report: TaskReport) -> None:
    """Delete what has outlived its time to live."""
    if not night.dry_run:
        report.figures["expired"] = night.store.sweep_ttl()


def summarise(night: Night, report: TaskReport) -> None:
    """Bring the tree of summaries up to date, level by level: the one above retells the one below."""
    for namespace in night.namespaces(report):
        reached = [_summarise(night, report, namespace, level) for level in LEVELS]
        if not night.dry_run:
            night.room.advance(tree.TASK, namespace, reached[0])


def _summarise(night: Night, report: TaskReport, namespace: Namespace, level: Level) -> int:
    """Do one level of one namespace; return the place in the history that was taken into account."""
    undone = night.room.undone_keys(namespace, tree.TASK)
    ask = None if night.model is None else lambda prompt: asked(night, report, prompt)
    reached = 0

    def plan() -> None:
        nonlocal reached
        with night.room.view(namespace) as view:
            planning = tree.Planning(view=view, ask=ask, undone=undone, refused=report.refused)
            changes, reached = planning.changes(level), view.seq
        night.apply(report, namespace, changes, reason=f"summaries: {level}", planned_at=reached)

    planned_again(plan)
    return reached


def asked(night: Night, report: TaskReport, prompt: str) -> str | None:
    """Return what the model answers; None where it may not be asked, or cannot be reached."""
    if night.model is None or not night.may_ask(report):
        return None
    report.model_calls += 1
    try:
        answer = str(night.model.invoke(prompt).text)
    except Exception as error:  # whatever a provider raises: the rules do without
        report.refused.append(f"the model failed: {type(error).__name__}")
        return None
    report.tokens += count_text(prompt) + count_text(answer)
    return answer


TASKS: Final[Mapping[str, Task]] = {
    "health": health,
    "expire": expire,
    "reviews": by_rule(
        "fading memories that are asked about",
        lambda night, view, aged: policies.decay_reviews(view, aged, night.policies, night.now_us),
    ),
    "promote": by_rule(
        "priorities by use",
        lambda night, view, aged: policies.promotions(aged, night.policies, night.now_us),
    ),
    "demote": by_rule(
        "unused memories",
        lambda night, view, aged: policies.demotions(aged, night.policies, night.now_us),
    ),
    "evict": by_rule(
        "more memories than max_facts",
        lambda night, view, aged: policies.evictions(aged, night.policies, night.now_us),
    ),
    "summarise": summarise,
    "optimise": optimise,
    "graduate": by_rule(
        "approved memories",
        lambda night, view, aged: policies.graduations(aged, view.people_asked(), night.policies),
    ),
}
"""By name, in the order in which a night does them. ``graduate`` is the last, and left out where another
failed."""
