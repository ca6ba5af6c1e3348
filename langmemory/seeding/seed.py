"""Filling a memory: documents, notes, conversations and commits, in one run that can be undone."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final

from langgraph.store.base import GetOp, Item

from langmemory.changes import ChangeSet, MarkReflected, UpdateMemory
from langmemory.documents import files
from langmemory.errors import ExtractionError, ImportFormatError, ModelUnavailableError
from langmemory.graphs.reflection import batches, build_reflection_graph
from langmemory.importers.importing import import_conversations
from langmemory.redaction import redacted
from langmemory.seeding import git_history
from langmemory.seeding.notes import notes_of
from langmemory.seeding.workspace import MARKDOWN, Progress, SeedPlan, SeedSource
from langmemory.stores import MemoryStore
from langmemory.stores.rooms import seeding
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
        threads: set[str] = set()
        for one in plan.sources:
            progress(one.path if one.kind != "documents" else f"{one.count:,} documents")
            try:
                _SEEDERS[one.kind](store, plan, one, namespace, report, threads)
            except (ImportFormatError, OSError) as error:
                report.failed[one.path] = files.why(error)
        _reflect(store, threads, namespace, report, progress)
    return report


def _seed_documents(
    store: MemoryStore,
    plan: SeedPlan,
    source: SeedSource,
    namespace: Namespace,
    report: SeedReport,
    threads: set[str],
) -> None:
    notes = tuple(files.literally(name) for one in plan.of("notes") for name in one.files)
    endings = {PurePosixPath(name).suffix for name in source.files}
    for ending in MARKDOWN:
        for spelled in sorted(one for one in endings if one.casefold() == ending):
            done = store.documents.follow(str(plan.root), f"**/*{spelled}", namespace, ignore=notes)
            report.documents += len(done.added) + len(done.changed)
            report.known += done.unchanged
            report.failed.update(done.failed)


def _seed_notes(
    store: MemoryStore,
    plan: SeedPlan,
    source: SeedSource,
    namespace: Namespace,
    report: SeedReport,
    threads: set[str],
) -> None:
    for name in source.files:
        notes = notes_of(plan.root / name)
        threads.add(name)
        _count(report, len(notes), len(store.remember(namespace, notes, thread_id=name)))


def _seed_conversations(
    store: MemoryStore,
    plan: SeedPlan,
    source: SeedSource,
    namespace: Namespace,
    report: SeedReport,
    threads: set[str],
) -> None:
    assert source.format is not None
    for name in source.files:
        above = source.path if source.format == "slack" else str(PurePosixPath(name).parent)
        try:
            with (plan.root / name).open("rb") as file:
                done = import_conversations(
                    store, namespace, file, source.format, named=_named(above, threads)
                )
        except (ImportFormatError, OSError) as error:
            report.failed[name] = files.why(error)
            continue
        report.messages += done.added
        report.known += done.known


def _named(above: str, threads: set[str]) -> Callable[[str], str]:
    """Return what gives a thread the name of its file's folder, since two chats may be called alike,
    and notes it."""

    def named(thread: str) -> str:
        name = thread if above == "." else f"{above}/{thread}"
        threads.add(name)
        return name

    return named


def _seed_git(
    store: MemoryStore,
    plan: SeedPlan,
    source: SeedSource,
    namespace: Namespace,
    report: SeedReport,
    threads: set[str],
) -> None:
    history = source.history
    assert history is not None
    # As `remember` does: a fact is made of the same words.
    told = [
        replace(one, message=redacted(one.message, store.redactor).text)
        for one in history.decisions
    ]
    history = replace(history, decisions=told)
    threads.add(history.thread)
    turns = list(history.turns())
    _count(report, len(turns), len(store.remember(namespace, turns, thread_id=history.thread)))
    known = _values(store, namespace, git_history.keys(history))
    changes = [
        one
        for one in git_history.facts(history, known)
        if not isinstance(one, UpdateMemory) or _is_as_seeded(store, namespace, one.key)
    ]
    report.known += len(known) - sum(one.op == "update" for one in changes)
    for start in range(0, len(changes), AT_ONCE):
        some = tuple(changes[start : start + AT_ONCE])
        read = tuple(key for one in some for key in getattr(one, "evidence", ()))
        if read and not store.config.models.deep:  # there is no model to read them
            some = (*some, MarkReflected(keys=read))
        store.changes.apply(
            ChangeSet(
                namespace=namespace,
                run_id=f"{report.run_id}/{secrets.token_hex(8)}",
                kind="reflection",
                reason=f"seeded from the commits of {history.name}",
                changes=some,
            )
        )
        report.facts += sum(one.op in ("add", "update") for one in some)


def _is_as_seeded(store: MemoryStore, namespace: Namespace, key: str) -> bool:
    """Return whether a fact says what a seeding wrote: what a person corrected stays so."""
    for entry in reversed(store.changes.history(namespace, key)):
        if (entry.before or {}).get("text") != (entry.after or {}).get("text"):
            return (entry.run_id or "").startswith(SEEDED)
    return False


def _values(
    store: MemoryStore, namespace: Namespace, keys: list[str]
) -> dict[str, Mapping[str, Any]]:
    found = store.batch([GetOp(namespace, key, refresh_ttl=False) for key in keys])
    return {item.key: item.value for item in found if isinstance(item, Item)}


def _count(report: SeedReport, read: int, added: int) -> None:
    report.messages += added
    report.known += read - added


def _reflect(
    store: MemoryStore,
    threads: Collection[str],
    namespace: Namespace,
    report: SeedReport,
    progress: Progress,
) -> None:
    """Let formation read what was seeded and nobody has read, and nothing else."""
    unread = [
        one.thread_id
        for one in store.admin.unread_threads(namespace)
        if one.namespace == namespace and one.thread_id in threads
    ]
    graph = build_reflection_graph(store)
    for number, thread in enumerate(unread, start=1):
        progress(f"reading what was said, {number:,} of {len(unread):,}")
        try:
            for _, done in batches(store, namespace, thread, graph=graph):
                report.facts += len(done.get("added", ()))
                if why := done.get("problem"):
                    report.failed[thread] = f"{why} `langmemory reflect --again` reads it once more"
        except (ExtractionError, ModelUnavailableError) as error:
            report.failed[thread] = str(error)


_SEEDERS: Final = {
    "documents": _seed_documents,
    "notes": _seed_notes,
    "conversations": _seed_conversations,
    "git": _seed_git,
}
