"""Filling a memory: documents, notes, conversations and commits, in one run that can be undone."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final

from langgraph.store.base import GetOp, Item

from langmemory.changes import ChangeSet, MarkReflected, UpdateMemory
from langmemory.documents import files
from langmemory.errors import ExtractionError, ImportFormatError, ModelUnavailableError
from langmemory.graphs.reflection import batches, build_reflection_graph
from langmemory.operations.seeding import seeding
from langmemory.parts.importing.importing import import_conversations
from langmemory.parts.importing.seeding import git_history
from langmemory.parts.importing.seeding.notes import notes_of
from langmemory.parts.importing.seeding.workspace import MARKDOWN, Progress, SeedPlan, SeedSource
from langmemory.parts.importing.sessions import STORES
from langmemory.pluralize import count_noun
from langmemory.redaction import redact_text
from langmemory.stores import MemoryStore
from langmemory.types import Namespace

AT_ONCE: Final = 500
"""Facts of one change set."""
SEEDED: Final = "seed/"
"""Begins the ids of runs that fill a memory."""


@dataclass(kw_only=True, slots=True)
class SeedReport:
    """What a seeding wrote."""

    run_id: str
    """`Changes.undo` takes all of it back."""
    documents: int = 0
    messages: int = 0
    """Notes, messages of conversations, and commits that say why, word for word."""
    facts: int = 0
    """Made from these."""
    known: int = 0
    """That were there already."""
    failed: dict[str, str] = field(default_factory=dict)
    """Path → why it was not read. The others were."""

    @property
    def added(self) -> int:
        return self.documents + self.messages + self.facts


def seed(
    store: MemoryStore,
    plan: SeedPlan,
    namespace: Namespace,
    *,
    progress: Progress = lambda _: None,
) -> SeedReport:
    """Fill a memory with what a workspace has. What is there already is left alone, so that a run that was
    killed goes on where it was, and a second one adds nothing.

    Markdown becomes documents; notes, conversations and commits are remembered word for word, and become
    facts by the rules or the model of the configuration. Commits become facts by rules in any case: who
    works on what, and what was decided. The source of each is its evidence: ``notes/people.md/…``, a
    message's id, ``git/shop/5f6b9ab91c2d``.

    Args:
        store: A memory.
        plan: See `plan_seed`.
        namespace: Where everything goes.
        progress: Is told what is read.

    Returns:
        What was written. A file that cannot be read stands in `SeedReport.failed`.
    """
    note = {"root": str(plan.root), "sources": len(plan.sources)}
    with seeding(store, namespace, str(plan.root), note) as run_id:
        report = SeedReport(run_id=run_id, failed=dict(plan.failed))
        run = _Run(store=store, plan=plan, namespace=namespace, report=report)
        for one in plan.sources:
            progress(one.path if one.kind != "documents" else f"{one.count:,} documents")
            try:
                run.read(one)
            except (ImportFormatError, OSError) as error:
                report.failed[one.path] = files.reason(error)
        run.reflect(progress)
    return report


@dataclass(kw_only=True, slots=True)
class _Run:
    """One seeding under way."""

    store: MemoryStore
    plan: SeedPlan
    namespace: Namespace
    report: SeedReport
    threads: set[str] = field(default_factory=set)
    """Conversations that it has."""

    def read(self, source: SeedSource) -> None:
        match source.kind:
            case "documents":
                self._read_documents(source)
            case "notes":
                self._read_notes(source)
            case "conversations":
                self._read_conversations(source)
            case "git":
                self._read_git(source)

    def _read_documents(self, source: SeedSource) -> None:
        notes = tuple(files.literally(name) for one in self.plan.of("notes") for name in one.files)
        endings = {PurePosixPath(name).suffix for name in source.files}
        for ending in MARKDOWN:
            for spelled in sorted(one for one in endings if one.casefold() == ending):
                done = self.store.documents.follow(
                    str(self.plan.root), f"**/*{spelled}", self.namespace, ignore=notes
                )
                self.report.documents += len(done.added) + len(done.changed)
                self.report.known += done.unchanged
                self.report.failed.update(done.failed)

    def _read_notes(self, source: SeedSource) -> None:
        for name in source.files:
            self._remember(notes_of(self.plan.root / name), name)

    def _remember(self, messages: list[dict[str, Any]], thread: str) -> None:
        self.threads.add(thread)
        added = self.store.remember(self.namespace, messages, thread_id=thread)
        self.report.messages += len(added)
        self.report.known += len(messages) - len(added)

    def _read_conversations(self, source: SeedSource) -> None:
        assert source.format is not None
        for name in source.files:
            above = source.path if source.format == "slack" else str(PurePosixPath(name).parent)
            if source.format in STORES:  # a session has the same thread, wherever its file is
                above = "."
            try:
                with (self.plan.root / name).open("rb") as file:
                    done = import_conversations(
                        self.store, self.namespace, file, source.format, named=self._named(above)
                    )
            except (ImportFormatError, OSError) as error:
                self.report.failed[name] = files.reason(error)
                continue
            self.report.messages += done.added
            self.report.known += done.known
            if done.unread:
                self.report.failed[name] = "; ".join(done.unread)

    def _named(self, above: str) -> Callable[[str], str]:
        """Return what gives a thread the name of its file's folder, since two chats may be called alike,
        and notes it."""

        def named(thread: str) -> str:
            name = thread if above == "." else f"{above}/{thread}"
            self.threads.add(name)
            return name

        return named

    def _read_git(self, source: SeedSource) -> None:
        history = source.history
        assert history is not None
        # As `remember` does: a fact is made of the same words.
        decisions = [
            replace(one, message=redact_text(one.message, self.store.redactor).text)
            for one in history.decisions
        ]
        history = replace(history, decisions=decisions)
        self._remember(list(history.turns()), history.thread)
        known = self._values(git_history.keys(history))
        changes = [
            one
            for one in git_history.facts(history, known)
            if not isinstance(one, UpdateMemory) or self._is_as_seeded(one.key)
        ]
        self.report.known += len(known) - sum(one.op == "update" for one in changes)
        for start in range(0, len(changes), AT_ONCE):
            some = tuple(changes[start : start + AT_ONCE])
            read = tuple(key for one in some for key in getattr(one, "evidence", ()))
            if read and not self.store.config.models.deep:  # there is no model to read them
                some = (*some, MarkReflected(keys=read))
            self.store.changes.apply(
                ChangeSet(
                    namespace=self.namespace,
                    run_id=f"{self.report.run_id}/{secrets.token_hex(8)}",
                    kind="reflection",
                    reason=f"seeded from the commits of {history.name}",
                    changes=some,
                )
            )
            self.report.facts += sum(one.op in ("add", "update") for one in some)

    def _is_as_seeded(self, key: str) -> bool:
        """Return whether a fact says what a seeding wrote: what a person corrected stays so."""
        for entry in reversed(self.store.changes.history(self.namespace, key)):
            if (entry.before or {}).get("text") != (entry.after or {}).get("text"):
                return (entry.run_id or "").startswith(SEEDED)
        return False

    def _values(self, keys: list[str]) -> dict[str, Mapping[str, Any]]:
        found = self.store.batch([GetOp(self.namespace, key, refresh_ttl=False) for key in keys])
        return {item.key: item.value for item in found if isinstance(item, Item)}

    def reflect(self, progress: Progress) -> None:
        """Let formation read what was seeded and nobody has read, and nothing else."""
        unread = [
            one.thread_id
            for one in self.store.admin.unread_threads(self.namespace)
            if one.namespace == self.namespace and one.thread_id in self.threads
        ]
        graph, failed = build_reflection_graph(self.store), self.report.failed
        for number, thread in enumerate(unread, start=1):
            progress(f"reading what was said, {number:,} of {len(unread):,}")
            try:
                for _, done in batches(self.store, self.namespace, thread, graph=graph):
                    self.report.facts += len(done.get("added", ()))
                    if why := done.get("problem"):
                        failed[thread] = f"{why} `langmemory reflect --again` reads it once more"
            except ExtractionError as error:
                failed[thread] = str(error)
            except ModelUnavailableError as error:  # it is not asked again for each of thousands
                left = count_noun(len(unread) - number + 1, "conversation")
                failed[thread] = f"{error} {left} not read yet; seed again to go on."
                return
