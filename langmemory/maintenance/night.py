"""A night: which tasks run over which namespaces, within which budgets; its report."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final

from langchain_core.language_models import BaseChatModel

from langmemory.changes import (
    WITHDRAWN,
    Change,
    ChangeSet,
    OpenReview,
    Supersede,
)
from langmemory.config import LifecycleConfig
from langmemory.errors import StalePlanError
from langmemory.lifecycle.policies import PolicyOptions
from langmemory.maintenance.report import TaskReport, sentences
from langmemory.operations.maintaining import Maintaining, this_process
from langmemory.pacing import in_steps
from langmemory.pluralize import count_noun
from langmemory.reflection.tokens import TokenCounter
from langmemory.stores import MemoryStore
from langmemory.types import Namespace

logger = logging.getLogger("langmemory.maintenance")

CHANGES_AT_ONCE: Final = 50
"""Changes that one transaction applies: others write between two of them."""
LEASE_SECONDS: Final = 60.0
"""The lease is renewed before each namespace of a task, and held for so long beyond."""
TASK_TOKENS: Final = 200_000
"""Tokens that the models of one task may take in one night; after that it works by rules, or ends."""
MAX_PLANS: Final = 5
"""So often a task plans for a namespace that changes before anything is applied."""


class BudgetSpentError(Exception):
    """A task has used up its seconds, model calls or tokens. It ends in order and goes on next time."""


@dataclass(kw_only=True)
class Night:
    """One run of maintenance over a store, and what its tasks work with."""

    store: MemoryStore
    id: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d}-{secrets.token_hex(3)}")
    """Begins the ids of its runs: ``night/<id>/<task>/<n>``."""
    prefix: Namespace = ()
    """Only namespaces in this one."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    """The time by which memories age."""
    model: BaseChatModel | None = None
    """Asked by tasks that can use one; None works by rules."""
    dry_run: bool = False
    given_policies: PolicyOptions | None = None
    """None takes those of the store's configuration."""
    holder: str = field(default_factory=this_process)
    counter: TokenCounter = field(default_factory=TokenCounter)
    """Counts what models take while a task runs."""
    _deadline: float = field(default=0.0, init=False)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1), init=False)
    """Of the runs of the task under way."""
    _earlier: frozenset[str] | None = field(default=None, init=False)
    """Ids of the runs that this night had made before it was interrupted; read when first needed."""

    @property
    def config(self) -> LifecycleConfig:
        return self.store.config.lifecycle

    @property
    def policies(self) -> PolicyOptions:
        """The numbers of the rules."""
        return self.given_policies or PolicyOptions.of(self.config)

    @property
    def now_us(self) -> int:
        """The time by which memories age, microseconds since 1970 UTC."""
        return int(self.now().timestamp() * 1_000_000)

    @property
    def room(self) -> Maintaining:
        return Maintaining(self.store)

    def begin(self, task: str) -> TaskReport:
        """Begin a task: its budget starts now."""
        self._deadline = time.monotonic() + self.config.task_seconds
        self._numbers = count(1)
        return TaskReport(task=task)

    def check_budget(self, report: TaskReport) -> None:
        """End a task that has spent its budget.

        Raises:
            BudgetSpentError: It has.
        """
        if time.monotonic() > self._deadline:
            report.unfinished = True
            raise BudgetSpentError(f"{report.task} has used its {self.config.task_seconds:.0f} s")

    def may_ask(self, report: TaskReport) -> bool:
        """Return whether there is a model that the task may ask once more. Where its calls, tokens or seconds
        are spent, the report says ``unfinished``."""
        if self.model is None:
            return False
        report.tokens = max(report.tokens, self.counter.total)
        spent = (
            report.model_calls >= self.config.task_model_calls
            or report.tokens >= TASK_TOKENS
            or time.monotonic() > self._deadline
        )
        report.unfinished = report.unfinished or spent
        return not spent

    def already(self, task: str, namespace: Namespace) -> int:
        """Return how many memories a task changed in this night before it was interrupted."""
        return self.room.changes_of_night(self.id, task, namespace)

    def take_lease(self) -> None:
        """Take or renew the lease, for as long as a task may take.

        Raises:
            MaintenanceBusyError: Another process has it.
        """
        self.room.take_lease(self.holder, self.config.task_seconds + LEASE_SECONDS)

    def namespaces(self, report: TaskReport) -> Iterator[Namespace]:
        """Yield the namespaces of a task, while the budget lasts, under the lease."""
        for namespace in self.room.namespaces(self.prefix):
            self.check_budget(report)
            if not self.dry_run:
                self.take_lease()
            yield namespace

    def apply(
        self,
        report: TaskReport,
        namespace: Namespace,
        changes: Sequence[Change],
        *,
        reason: str,
        planned_at: int,
        note: dict[str, Any] | None = None,
    ) -> None:
        """Apply changes of a task in runs of at most `CHANGES_AT_ONCE`, with a pause between two in which
        others write. What a person took back when an earlier night did it is not done again.

        Raises:
            StalePlanError: What they touch changed since they were planned; earlier runs stand.
        """
        undone = self.room.undone_keys(namespace, report.task)
        new = self._without_earlier_questions(namespace, changes)
        planned = [one for one in new if undone.isdisjoint(keys_of(one))]
        if left := len(new) - len(planned):
            report.refused.append(
                f"{count_noun(left, 'change')} that were taken back after another night"
            )
        for some in in_steps(planned, CHANGES_AT_ONCE):
            self.check_budget(report)
            change_set = ChangeSet(
                namespace=namespace,
                run_id=self.next_run(report),
                kind="maintenance",
                reason=reason,
                changes=tuple(some),
                note={
                    "night": self.id,
                    "task": report.task,
                    "keys": sorted({key for one in some for key in keys_of(one)}),
                    **(note or {}),
                },
                planned_at=planned_at,
            )
            keys = sorted({key for one in some for key in (*keys_of(one), *_quoted_keys(one))})
            texts = self.room.texts(namespace, keys)
            applied = self.store.changes.apply(change_set, dry_run=self.dry_run)
            report.runs.append(applied.run_id)
            report.lines += applied.lines
            # A change without effect has the reason behind its line.
            of_each = zip(some, change_set.describe(), applied.lines, strict=False)
            report.told += sentences(
                [one for one, planned, done in of_each if planned == done], texts
            )

    def _without_earlier_questions(
        self, namespace: Namespace, changes: Sequence[Change]
    ) -> Sequence[Change]:
        """Return the changes without questions that were asked before, open or answered."""
        if not any(isinstance(one, OpenReview) for one in changes):
            return changes
        asked = {
            one.id.rstrip("+")
            for one in self.store.changes.reviews(namespace, open_only=False)
            if one.namespace == namespace and one.decision != WITHDRAWN
        }
        return [one for one in changes if not (isinstance(one, OpenReview) and one.id in asked)]

    def next_run(self, report: TaskReport) -> str:
        """Return a run id that no earlier attempt at this night used."""
        if self._earlier is None:
            self._earlier = frozenset(self.room.runs_of(self.id))
        ids = (f"night/{self.id}/{report.task}/{n}" for n in self._numbers)
        return next(one for one in ids if one not in self._earlier)


def keys_of(change: Change) -> set[str]:
    """Return the keys of the memories that a change is about; of a suggestion for a core block its id: once
    that was taken back, another one may be made for the block."""
    if isinstance(change, OpenReview):
        return {change.id} if change.about == "core" else set(change.memories)
    key = getattr(change, "key", None)
    return {key, *getattr(change, "others", ())} if key else set()


def _quoted_keys(change: Change) -> tuple[str, ...]:
    """Keys of further memories that a sentence about a change quotes."""
    return (change.by,) if isinstance(change, Supersede) else ()


def planned_again(report: TaskReport, attempt: Callable[[], None]) -> None:
    """Plan and apply anew where memory changed meanwhile, at most `MAX_PLANS` times without a run of the task
    in between: an earlier run of the same plan may have changed what a later one touches."""
    left = MAX_PLANS
    while True:
        applied = len(report.runs)
        try:
            attempt()
            return
        except StalePlanError:
            left = MAX_PLANS if len(report.runs) > applied else left - 1
            if not left:
                raise
