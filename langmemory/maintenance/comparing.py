"""Tasks that compare what is new with everything a namespace knows: duplicates and contradictions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from langmemory.changes import Change
from langmemory.formation.contradiction.pairs import Group
from langmemory.formation.judging import ModelJudge, StructuralJudge, Verdicts
from langmemory.lifecycle.contradictions import contradicting, decided
from langmemory.lifecycle.duplicates import MOST_ASKED, alike, compared, merges, questions
from langmemory.lifecycle.entities import one_and_the_same
from langmemory.maintenance.night import Night, planned_again
from langmemory.maintenance.task_report import TaskReport
from langmemory.operations.gathering import Gathering
from langmemory.pluralize import counted
from langmemory.ports.facts import SnapshotKnowledge
from langmemory.ports.lifecycle import LifecycleView, News
from langmemory.types import Namespace

AT_ONCE: Final = 10_000
"""New memories that are read and compared before anything is written."""
FOUND_AT_ONCE: Final = 25_000
"""The same where only those are read that look alike: everything they are compared with is looked up anew
for each part."""

Comparison = Callable[[Night, TaskReport, LifecycleView, SnapshotKnowledge, News], list[Change]]


def of_what_is_new(
    night: Night,
    report: TaskReport,
    namespace: Namespace,
    compare: Comparison,
    reason: str,
    *,
    at_once: int,
) -> None:
    """Plan and apply what follows from what changed since a task looked last, in parts. What was taken into
    account is noted after each, so that a night that ends early goes on there."""
    since: int | None = None
    more = True

    def attempt() -> None:
        nonlocal since, more
        with ExitStack() as opened:
            view = opened.enter_context(night.room.view(namespace))
            knowledge = opened.enter_context(Gathering(night.store).knowledge(namespace))
            begun = view.progress(report.task) if since is None else since
            news = view.news(begun, at_once)
            changes = compare(night, report, view, knowledge, news) if len(news.ids) else []
            planned_at = min(view.seq, knowledge.seq)
        night.apply(report, namespace, changes, reason=reason, planned_at=planned_at)
        if not night.dry_run and news.reached > begun:
            night.room.advance(report.task, namespace, news.reached)
        since, more = news.reached, len(news.ids) == at_once

    while more:
        night.check_budget(report)
        planned_again(report, attempt)


def duplicates(night: Night, report: TaskReport) -> None:
    """Merge what came to say the same, and ask about what may."""
    for namespace in night.namespaces(report):
        of_what_is_new(
            night, report, namespace, _duplicates, "memories that say the same",
            at_once=FOUND_AT_ONCE,
        )  # fmt: skip


def _duplicates(
    night: Night, report: TaskReport, view: LifecycleView, knowledge: SnapshotKnowledge, news: News
) -> list[Change]:
    pairs = alike(view, view.aged(), news)
    night.check_budget(report)
    found = compared(pairs, knowledge, news.formed)
    named = view.named_entities()
    asked, together = _asked(night, view.namespace)
    unsure = [
        one
        for one in found.unsure
        if frozenset((one[0].memory.key, one[1].memory.key)) not in together
    ]
    if (left := len(unsure) - MOST_ASKED) > 0:
        report.refused.append(
            f"{counted(left, 'pair')} that may say the same, beyond the questions"
        )
    return [
        *merges(found.merged),
        *questions(view.namespace, unsure),
        *one_and_the_same(view.namespace, named, asked),
    ]


def contradictions(night: Night, report: TaskReport) -> None:
    """Supersede what cannot hold beside something else, where that is certain, and ask about the rest."""
    verdicts: list[Verdicts] = []

    def compare(
        night: Night,
        report: TaskReport,
        view: LifecycleView,
        knowledge: SnapshotKnowledge,
        news: News,
    ) -> list[Change]:
        facts = knowledge.known(one for one in news.ids.tolist() if one not in news.formed)
        groups = contradicting(facts, knowledge, _asked(night, view.namespace)[1])
        for group in groups:
            if all(one.group != group for one in verdicts):  # an earlier plan may have asked
                verdicts.append(_judged(night, report, group))
        found = [one for one in verdicts if one.group in groups]
        return decided(found, knowledge, night.now())

    for namespace in night.namespaces(report):
        verdicts.clear()
        of_what_is_new(
            night, report, namespace, compare, "facts that exclude each other", at_once=AT_ONCE
        )


def _judged(night: Night, report: TaskReport, group: Group) -> Verdicts:
    """Let the model decide what structure leaves open, once for a group."""
    if not group.open or not night.may_ask(report) or night.model is None:
        return StructuralJudge().judge(group)
    found = ModelJudge(night.model).judge(group)
    report.model_calls += found.model_calls
    report.refused += [one for one in (found.failure, found.problem) if one is not None]
    return found


def _asked(night: Night, namespace: Namespace) -> tuple[frozenset[str], frozenset[frozenset[str]]]:
    """The ids of questions there ever were, and the keys of the memories each was about, two by two."""
    found = [
        one
        for one in night.store.changes.reviews(namespace, open_only=False)
        if one.namespace == namespace
    ]
    together = {
        frozenset((one, other))
        for review in found
        for at, other in enumerate(review.memories)
        for one in review.memories[:at]
    }
    return frozenset(one.id for one in found), frozenset(together)
