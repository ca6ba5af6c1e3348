"""The tasks of a night, in order. Each looks at every namespace and applies what its rule plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from langmemory.changes import Change
from langmemory.errors import DatabaseError
from langmemory.lifecycle import policies
from langmemory.maintenance.comparing import contradictions, duplicates
from langmemory.maintenance.consolidating import consolidate
from langmemory.maintenance.journaling import journal
from langmemory.maintenance.night import Night, planned_again
from langmemory.maintenance.noting import notes
from langmemory.maintenance.sentences import quoted
from langmemory.maintenance.summarising import summarise
from langmemory.maintenance.task_report import TaskReport
from langmemory.pacing import in_steps
from langmemory.ports.lifecycle import Aged, LifecycleView
from langmemory.types import Namespace

MOVED_AT_ONCE: Final = 25
"""Memories that move in one transaction, which two files are written to (about 20 ms)."""

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
            planned_again(report, partial(plan, namespace))

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


def archive(night: Night, report: TaskReport) -> None:
    """Move what was archived long ago to the archive file, in steps between which others write.

    Raises:
        DatabaseError: The archive file is another memory file's, or not where memories moved to.
    """
    file = night.room.archive
    if night.policies.archive_after_days is None or file.path is None:
        return
    if missing := file.missing():
        raise DatabaseError(missing)
    if not night.dry_run:
        report.figures["swept"] = file.sweep()
    for namespace in night.namespaces(report):
        moved = True
        while moved:  # what a memory was derived from can go once that has gone
            moved = _move_all(night, report, namespace) and not night.dry_run


def _move_all(night: Night, report: TaskReport, namespace: Namespace) -> bool:
    """Move what may move of one namespace; return whether anything moved."""
    with night.room.view(namespace) as view:
        going = policies.moves(view.aged(), view.people_asked(), night.policies, night.now_us)
    undone = night.room.undone_keys(namespace, report.task)
    going = night.room.archive.movable(namespace, [key for key in going if key not in undone])
    for some in in_steps(going, MOVED_AT_ONCE):
        night.check_budget(report)
        texts = night.room.texts(namespace, some)
        if not night.dry_run:
            run_id = night.next_run(report)
            some = night.room.archive.move(
                namespace, some, run_id=run_id, reason="archived long ago",
                note={"night": night.id, "task": report.task},
            )  # fmt: skip
            report.runs += [run_id] if some else []
        report.lines += [f"move {key} to the archive file" for key in some]
        report.told += [f"moved to the archive file: {quoted(texts.get(key, key))}" for key in some]
    return bool(going)


TASKS: Final[Mapping[str, Task]] = {
    "health": health,
    "expire": expire,
    "duplicates": duplicates,
    "contradictions": contradictions,
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
        lambda night, view, aged: policies.demotions(
            view, aged, night.policies, night.now_us, night.already("demote", view.namespace)
        ),
    ),
    "evict": by_rule(
        "more memories than max_facts",
        lambda night, view, aged: policies.evictions(
            view, aged, night.policies, night.now_us, night.already("evict", view.namespace)
        ),
    ),
    "archive": archive,
    "notes": notes,
    "consolidate": consolidate,
    "summarise": summarise,
    "journal": journal,
    "optimise": optimise,
    "graduate": by_rule(
        "approved memories",
        lambda night, view, aged: policies.graduations(aged, view.people_asked(), night.policies),
    ),
}
"""By name, in the order in which a night does them. ``graduate`` is the last, and left out where another
failed."""
