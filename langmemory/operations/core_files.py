"""`store.core_files`: core blocks that are bound to Markdown files, brought together in both directions.

What block and file last had in common tells which of them changed. A person's edit of the file is a
correction of the block, in a run that can be undone. A change of the block that a person or the application
made, or approved, is written into the file. What a model wants to change is a review with a diff, and so is
everything where both changed: until it is decided, both keep what they say.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Final

from langmemory.changes import AddMemory, Change, Facets, UpdateMemory, WithdrawReview
from langmemory.core_files import bindings, conventions, markdown_file
from langmemory.core_files.bindings import Binding, BoundFile, FilesSynced
from langmemory.core_files.markdown_file import CoreFileChangedError, CoreFileError, MarkdownFile
from langmemory.errors import ConfigError, StalePlanError, with_extra
from langmemory.ledger import history, settings
from langmemory.ledger.engine import run_in_write
from langmemory.namespaces import check_namespace
from langmemory.operations.bound_blocks import BoundBlocks, StoredBlock, too_long
from langmemory.operations.core import Core
from langmemory.operations.file_questions import (
    CONFLICT,
    PROPOSAL,
    conflict,
    decided,
    proposal,
    rebased,
)
from langmemory.projections.journal.memory_page import is_memory_page
from langmemory.steps import twin
from langmemory.types import Namespace

if TYPE_CHECKING:
    import threading

ATTEMPTS: Final = 5
"""How often block and file are looked at again where somebody changes one of them meanwhile."""
MODELS: Final = ("assistant", "summarizer")
"""Editors whose change of a bound block a person approves."""

_LABEL: Final = re.compile(r"[\w-]{1,100}")

_syncing = RLock()
"""Block and file are compared and brought together by one thread of a process at a time."""


class CoreFiles:
    """Core blocks that are bound to files. Only the operator binds: no path comes from a stored value."""

    __slots__ = ("_blocks", "_core")

    def __init__(self, core: Core) -> None:
        self._core, self._blocks = core, BoundBlocks(core)

    def bind(
        self,
        path: str | os.PathLike[str],
        namespace: Namespace,
        *,
        label: str | None = None,
        limit: int | None = None,
        create: bool = False,
    ) -> BoundFile:
        """Bind a core block to a Markdown file, and bring both together.

        A block that says nothing takes the text of the file. Where both say something else, a review asks.

        Args:
            path: Of the file. It may be a symbolic link.
            namespace: Of the memories, without ``"core"``.
            label: Of the block; None takes it from the name, as `CORE_FILES` says: ``AGENTS.md`` is
                ``agents``, ``SOUL.md`` ``persona``, ``USER.md`` ``human``.
            limit: Characters that the block may have; None keeps those of a block that is there, else
                `FILE_LIMIT_CHARACTERS`.
            create: Write the file from the block where there is none.

        Raises:
            CoreFileError: It cannot be read, is too long for the block, is bound already, or is written by
                the journal. Nothing was bound.
        """
        namespace = check_namespace(namespace)
        whole = Path(path).expanduser().absolute()
        label = label or conventions.label_for(whole)
        if not _LABEL.fullmatch(label):
            raise CoreFileError(
                f"The label is {label!r}; it must be of letters, digits, '_' and '-'. Pass another (label=…, "
                "--block)."
            )
        if limit is not None and (not isinstance(limit, int) or limit < 1):
            raise CoreFileError(f"limit is {limit!r}; it must be a number of characters above 0.")
        there = self._blocks.block((*namespace, "core"), label)
        if create and not os.path.lexists(whole):
            if there is None or not there.text:
                raise CoreFileError(
                    f"The block {label!r} says nothing, so there is nothing to write into {whole}. Write the "
                    "file yourself, and bind it without create."
                )
            markdown_file.create(str(whole), there.text)
        if not whole.exists():
            raise CoreFileError(
                f"There is no file {whole}. Write it, or have it written from the block (create=True, "
                "--create)."
            )
        file = markdown_file.read(str(whole))
        if is_memory_page(file.text):
            raise CoreFileError(
                f"{whole} is a page that langmemory's journal writes; edits of it are taken up by "
                "`langmemory journal --take-edits`. Bind another file."
            )
        target = str(whole.resolve())
        every = self._blocks.every()
        for one in every:
            if one.target == target and (one.namespace, one.label) != (namespace, label):
                raise CoreFileError(
                    f"{whole} is bound to the block {one.label!r} of {'/'.join(one.namespace)}. Unbind that "
                    "first, or bind another file."
                )
        most = limit or (there.limit if there else bindings.FILE_LIMIT_CHARACTERS)
        for text, name in (
            (file.text, str(whole)),
            (there.text if there else "", f"the block {label!r}"),
        ):
            if len(text) > most:
                raise CoreFileError(too_long(name, len(text), label, most))
        known = next(
            (one for one in every if (one.namespace, one.label) == (namespace, label)), None
        )
        binding = Binding(
            namespace=namespace,
            label=label,
            path=str(whole),
            target=target,
            number=known.number if known else max((one.number for one in every), default=0) + 1,
        )
        self._make_room(binding, there, most)
        self._blocks.note(binding)
        done = FilesSynced()
        self._sync(binding, done)
        return self._shown(self._blocks.binding(namespace, label) or binding, done.problems)

    abind = twin(bind)

    def unbind(self, label: str, namespace: Namespace) -> None:
        """Let a block and its file go their own ways; both keep what they say.

        Raises:
            CoreFileError: The block is not bound.
        """
        namespace = check_namespace(namespace)
        if self._blocks.binding(namespace, label) is None:
            raise CoreFileError(
                f"The block {label!r} of {'/'.join(namespace)} is bound to no file. `core_files.bound()`, or "
                "`langmemory core list`, lists those that are."
            )
        block = (*namespace, label)
        run_in_write(self._core.engine, lambda there: settings.note_core_file(there, block, None))

    aunbind = twin(unbind)

    def bound(self, namespace: Namespace = ()) -> list[BoundFile]:
        """Return the blocks of a namespace and below it that are bound, in the order of their binding. Files
        are looked at, and nothing is changed."""
        return [self._shown(one, {}) for one in self._blocks.within(namespace)]

    abound = twin(bound)

    def refresh(self, namespace: Namespace = ()) -> FilesSynced:
        """Bring the blocks of a namespace and below it, and their files, together.

        Where neither changed this looks at the stamp of each file and reads nothing. One file that cannot be
        read stands in `FilesSynced.problems` and does not stop the others.
        """
        done = FilesSynced()
        for one in self._blocks.within(namespace):
            self._sync(one, done)
        return done

    arefresh = twin(refresh)

    def watch(
        self, namespace: Namespace = (), *, stop: threading.Event | None = None
    ) -> Iterator[FilesSynced]:
        """Refresh, and again whenever a bound file changes, until stopped.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            stop: Ends it when it is set.

        Yields:
            What was done at first, and then each time that anything was.

        Raises:
            ConfigError: No block is bound, or watchfiles is not installed.
        """
        try:
            import watchfiles
        except ImportError as error:
            raise ConfigError(f"Watching needs {error.name}: {with_extra('documents')}") from error
        # An edit of a file behind a symbolic link is told of its own folder alone.
        bound = self._blocks.within(namespace)
        files = {Path(path) for one in bound for path in (one.path, one.target)}
        folders = {one.parent for one in files if one.parent.is_dir()}
        if not folders:
            raise ConfigError(
                "No block is bound to a file, so there is nothing to watch: bind one first."
            )
        yield self.refresh(namespace)
        for changes in watchfiles.watch(*folders, stop_event=stop, recursive=False):
            if files.intersection(Path(path) for _, path in changes) and (
                done := self.refresh(namespace)
            ):
                yield done

    def propose(
        self, namespace: Namespace, label: str, text: str, *, editor: str, reason: str = ""
    ) -> str:
        """Ask whether a bound block, and its file, are to say something else; return the id of the review.

        What was proposed before, and is not decided yet, is part of it: the new question takes its place.

        Raises:
            CoreFileError: The block is bound to no file, or the text is too long.
        """
        binding = self._blocks.binding(namespace, label)
        block = None if binding is None else self._blocks.block(binding.place, label)
        if binding is None or block is None:
            raise CoreFileError(
                f"The block {label!r} of {'/'.join(namespace)} is bound to no file."
            )
        if len(text) > block.limit:
            raise CoreFileError(too_long("the proposal", len(text), label, block.limit))
        asked = [one for one in self._blocks.open(binding) if one.id.startswith(PROPOSAL)]
        question = f"The {editor} proposes to change {binding.name} (block {label!r}). Is it to be written?"
        change = proposal(binding, block, text, question)
        withdrawn = [WithdrawReview(id=one.id, reason="proposed anew") for one in asked]
        self._blocks.apply(binding, (*withdrawn, change), reason or f"proposed by the {editor}")
        return change.id

    def proposed(self, namespace: Namespace, label: str) -> str | None:
        """Return the text that is proposed for a bound block and not decided yet; None where none is."""
        binding = self._blocks.binding(check_namespace(namespace), label)
        asked = [] if binding is None else self._blocks.open(binding)
        texts = [
            self._blocks.text_of(one, "approve") for one in asked if one.id.startswith(PROPOSAL)
        ]
        return next((one for one in reversed(texts) if one is not None), None)

    def bindings(self, namespace: Namespace) -> list[Binding]:
        """Return the bindings of exactly this namespace, without a look at the files."""
        return self._blocks.of(namespace)

    def is_bound(self, namespace: Namespace, label: str) -> bool:
        """Return whether a block is bound to a file."""
        return self._blocks.binding(namespace, label) is not None

    # Files.

    def _shown(self, binding: Binding, problems: Mapping[str, str]) -> BoundFile:
        problem = problems.get(binding.path)
        state: bindings.FileState = "problem"
        if problem is None:
            try:
                file, block = self._blocks.both(binding)
                if len(file.text) > block.limit:
                    problem = too_long(binding.path, len(file.text), binding.label, block.limit)
                elif any(one.id.startswith(CONFLICT) for one in self._blocks.open(binding)):
                    state = "asked"
                else:
                    state = "agrees" if file.text == block.text else "waits"
            except CoreFileError as error:
                problem = str(error)
        return BoundFile(
            namespace=binding.namespace,
            label=binding.label,
            path=binding.path,
            state="problem" if problem else state,
            problem=problem,
        )

    def _make_room(self, binding: Binding, there: StoredBlock | None, limit: int) -> None:
        """Give a block the limit of its binding; begin one where there is none."""
        if there is not None and there.value.get("limit") == limit:
            return
        said = there or StoredBlock(value={"kind": "core"}, seq=0, updated_at=datetime.min)
        value = {"content": "", "version": 0, **said.value, "limit": limit}
        change: Change = (
            AddMemory(
                key=binding.label, value={**value, "editor": "person"}, facets=Facets(kind="core")
            )
            if there is None
            else UpdateMemory(key=binding.label, value=value)
        )
        self._blocks.apply(
            binding, (change,), f"bound to {binding.name}", run=f"bind/{secrets.token_hex(8)}"
        )

    def _sync(self, binding: Binding, done: FilesSynced) -> None:
        with _syncing:
            for attempt in range(ATTEMPTS):
                try:
                    self._reconcile(binding, done)
                except (CoreFileChangedError, StalePlanError) as error:
                    if attempt + 1 == ATTEMPTS:
                        done.problems[binding.path] = str(error)
                    continue
                except CoreFileError as error:
                    done.problems[binding.path] = str(error)
                return

    def _reconcile(self, binding: Binding, done: FilesSynced) -> None:
        block = self._blocks.block(binding.place, binding.label)
        unread = binding.stamp is not None and binding.stamp == markdown_file.stamp_of(binding.path)
        if block is not None and unread and block.digest == binding.agreed:
            done.unchanged += 1
            return
        file, block = self._blocks.both(binding)
        if file.text == block.text:
            done.unchanged += 1
            self._agreed(binding, file)
        elif (answer := decided(self._blocks, binding, block, file)) == "open":
            done.unchanged += 1
        elif file.text and block.digest == (binding.agreed or markdown_file.digest("")):
            self._take(binding, block, file, done)
        elif answer == "block" or (
            block.text and file.digest == binding.agreed and not self._by_model(binding, block)
        ):
            self._write(binding, block, file, done)
        else:
            self._ask(binding, block, file, done)

    def _agreed(self, binding: Binding, file: MarkdownFile) -> None:
        now = replace(binding, agreed=file.digest, stamp=file.stamp)
        if now != binding:
            self._blocks.note(now)

    def _take(
        self, binding: Binding, block: StoredBlock, file: MarkdownFile, done: FilesSynced
    ) -> None:
        """Take a person's edit of the file into the block."""
        if len(file.text) > block.limit:
            raise CoreFileError(too_long(binding.path, len(file.text), binding.label, block.limit))
        run = f"file/{secrets.token_hex(8)}"
        change = UpdateMemory(key=binding.label, value=block.saying(file.text))
        self._blocks.apply(
            binding, (change, *rebased(self._blocks, binding, block, file.text)), f"edited in {binding.name}",
            run=run, planned_at=block.seq,
        )  # fmt: skip
        done.taken[binding.path] = run
        self._agreed(binding, file)

    def _write(
        self, binding: Binding, block: StoredBlock, file: MarkdownFile, done: FilesSynced
    ) -> None:
        """Write the text of the block into the file."""
        now = markdown_file.write(binding.path, block.text, expected=file.digest)
        done.written.append(binding.path)
        self._agreed(binding, now)

    def _by_model(self, binding: Binding, block: StoredBlock) -> bool:
        """Return whether a model wrote the block past the tools, and nobody approved it."""
        if block.value.get("editor") not in MODELS:
            return False
        with self._core.engine.read() as snapshot:
            entries = history.of_item(snapshot.connection, binding.place, binding.label)
        return not entries or entries[-1].run_id is None

    def _ask(
        self, binding: Binding, block: StoredBlock, file: MarkdownFile, done: FilesSynced
    ) -> None:
        """Ask which of both holds, and keep both."""
        review, stale = conflict(self._blocks, binding, block, file)
        reason = f"{binding.name} and its block differ"
        self._blocks.apply(binding, (*stale, review), reason, planned_at=block.seq)
        done.asked.append(review.id)


def follow_blocks(core: Core, namespace: Namespace) -> tuple[str, ...]:
    """Bring the core blocks of exactly this namespace, which ends in ``core``, and their files together."""
    if not namespace or namespace[-1] != "core" or core.engine.reads_only:
        return ()
    files, done = CoreFiles(core), FilesSynced()
    for one in files._blocks.within(namespace[:-1]):
        if one.place == namespace:
            files._sync(one, done)
    return done.lines
