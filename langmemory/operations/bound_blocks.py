"""Core blocks that are bound to files, as they are stored: bindings, blocks, and questions about them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from langmemory.changes import Change, ChangeSet
from langmemory.core_files import bindings, markdown_file
from langmemory.core_files.bindings import Binding
from langmemory.core_files.markdown_file import CoreFileError, MarkdownFile
from langmemory.ledger import history, items, settings
from langmemory.ledger import reviews as stored_reviews
from langmemory.ledger.engine import run_in_write
from langmemory.namespaces import check_namespace
from langmemory.operations.changes import Changes
from langmemory.operations.core import Core
from langmemory.operations.following import planned_again
from langmemory.types import Namespace, Review

ABOUT: Final = "core file"
"""`Review.about` of a question about a file or a proposal for one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredBlock:
    """A core block as it is stored."""

    value: Mapping[str, Any]
    seq: int
    """`HistoryEntry.seq` of the newest change of the file when it was read."""
    updated_at: datetime

    @property
    def text(self) -> str:
        return str(self.value.get("content", ""))

    @property
    def digest(self) -> str:
        return markdown_file.digest(self.text)

    @property
    def version(self) -> int:
        return int(self.value.get("version", 0))

    @property
    def limit(self) -> int:
        return int(self.value.get("limit", bindings.FILE_LIMIT_CHARACTERS))

    def saying(self, text: str) -> dict[str, Any]:
        """Return the value of its next version, which a person wrote or approved."""
        changed = {"content": text, "version": self.version + 1, "editor": "person"}
        return {**self.value, **changed}


class BoundBlocks:
    """What a store keeps of core blocks that are bound to files."""

    __slots__ = ("_core",)

    def __init__(self, core: Core) -> None:
        self._core = core

    def of(self, namespace: Namespace) -> list[Binding]:
        """Return the bindings of exactly a namespace."""
        return [one for one in self.every() if one.namespace == namespace]

    def every(self) -> list[Binding]:
        """Return all bindings, in the order in which they were made."""
        with self._core.engine.read() as snapshot:
            told = settings.core_files(snapshot.connection)
        return sorted(map(Binding.of_json, told), key=lambda one: one.number) if told else []

    def within(self, namespace: Namespace) -> list[Binding]:
        """Return the bindings of a namespace and below it."""
        prefix = check_namespace(namespace, may_be_empty=True)
        return [one for one in self.every() if one.namespace[: len(prefix)] == prefix]

    def binding(self, namespace: Namespace, label: str) -> Binding | None:
        """Return the binding of a block; None where it is bound to no file."""
        return next((one for one in self.of(namespace) if one.label == label), None)

    def note(self, binding: Binding) -> None:
        """Keep a binding in the place of an earlier one of its block."""
        block, told = (*binding.namespace, binding.label), binding.to_json()
        run_in_write(self._core.engine, lambda there: settings.note_core_file(there, block, told))

    def block(self, place: Namespace, label: str) -> StoredBlock | None:
        """Return a block as it is stored; None where there is none."""
        with self._core.engine.read() as snapshot:
            connection = snapshot.connection
            item = items.find(connection, place, label)
            if item is None:
                return None
            [memory] = items.memories(connection, np.array([item]))
            seq = history.newest(connection)
        return StoredBlock(value=memory.value, seq=seq, updated_at=memory.updated_at)

    def both(self, binding: Binding) -> tuple[MarkdownFile, StoredBlock]:
        """Return a file and its block.

        Raises:
            CoreFileError: One of them is gone, or the file cannot be read or is another one.
        """
        block = self.block(binding.place, binding.label)
        if block is None:
            raise CoreFileError(
                f"The block {binding.label!r} was deleted; {binding.path} keeps its text. Bind it "
                "again to take that up, or unbind it."
            )
        file = markdown_file.read(binding.path)
        target = str(Path(binding.path).resolve())
        if target != binding.target:
            raise CoreFileError(
                f"{binding.path} leads to {target} by now; it was bound as {binding.target}. Bind it "
                "again if that is meant."
            )
        return file, block

    def reviews(self, binding: Binding, *, open_only: bool) -> list[Review]:
        """Return the questions about a block and its file, oldest first."""
        with self._core.engine.read() as snapshot:
            found = stored_reviews.list_reviews(
                snapshot.connection, binding.place, open_only=open_only, viewer=None
            )
        return [one for one in found if one.about == ABOUT and one.memories == (binding.label,)]

    def open(self, binding: Binding) -> list[Review]:
        """Return those that are not decided."""
        return self.reviews(binding, open_only=True)

    def text_of(self, review: Review, option: str) -> str | None:
        """Return the text that a block gets by an option."""
        with self._core.engine.read() as snapshot:
            changes = stored_reviews.options(snapshot.connection, review.id).get(option, [])
        values = (one.get("value") for one in changes)
        return next((str(one["content"]) for one in values if one and "content" in one), None)

    def said(self, binding: Binding, *, digest: str | None) -> str | None:
        """Return the text of a block that has this digest, as the history tells; None where it does not."""
        if digest is None:
            return None
        with self._core.engine.read() as snapshot:
            entries = history.of_item(snapshot.connection, binding.place, binding.label)
        texts = (str((one.after or {}).get("content", "")) for one in reversed(entries))
        return next((one for one in texts if markdown_file.digest(one) == digest), None)

    def apply(
        self,
        binding: Binding,
        changes: tuple[Change, ...],
        reason: str,
        *,
        run: str | None = None,
        planned_at: int | None = None,
    ) -> None:
        """Apply changes of a block, without letting its file follow."""
        change_set = ChangeSet(
            namespace=binding.place,
            run_id=run or f"file/{secrets.token_hex(8)}",
            kind="correction",
            reason=reason,
            changes=changes,
            planned_at=planned_at,
        )
        room = Changes(self._core, None)
        planned_again(lambda: room._apply_once(change_set, dry_run=False))


def too_long(name: str, characters: int, label: str, limit: int) -> str:
    """Return the error of a text that a block has no room for."""
    return (
        f"{name} has {characters:,} characters; the block {label!r} holds {limit:,}. Shorten it, move parts "
        "into files that are added as documents, or bind it with a larger limit (`langmemory core bind "
        "--limit N`). Nothing was cut or changed."
    )
