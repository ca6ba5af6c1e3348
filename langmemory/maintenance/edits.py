"""Edits of `MEMORY.md`: what a person changed on the page becomes corrections of memory."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from langmemory.changes import (
    AddMemory,
    Change,
    ChangeSet,
    Facets,
    OpenReview,
    SetStatus,
    UpdateMemory,
)
from langmemory.languages import detect_language
from langmemory.operations.maintaining import Maintaining
from langmemory.pluralize import count_noun
from langmemory.ports.facts import digest
from langmemory.projections.journal.memory_page import (
    Edits,
    MemoryPageError,
    core_digests,
    edits_of,
)
from langmemory.projections.journal.memory_page import digest as line_digest
from langmemory.stores import MemoryStore
from langmemory.types import Applied, Memory, Namespace

EDIT: Final = "edit"
"""`Review.about` of a question about an edit."""
FEW: Final = 3
MOST_REMOVED: Final = 0.25
"""Share of the lines of a page, and `FEW` at least, that are archived without a question when they go."""
_CLAIMS: Final = ("subject", "relation", "object", "when")
"""Of a value: what its text claimed, which the words of a person take the place of."""


@dataclass(kw_only=True, slots=True)
class TakenEdits:
    """What was taken up."""

    files: list[Path] = field(default_factory=list)
    """Pages that were edited."""
    lines: list[str] = field(default_factory=list)
    """What changed in memory; one line a change."""
    refused: list[str] = field(default_factory=list)
    """Pages that cannot be read, and why."""


def take_edits(
    store: MemoryStore, folder: str | os.PathLike[str], *, now: datetime, prefix: Namespace = ()
) -> TakenEdits:
    """Take up what people changed in the pages of a folder, and write these pages anew.

    A changed line changes its memory, which counts as confirmed by a person; the memory of a line that is
    gone is archived; a new line is a new memory. Where memory or a core block says something else by now,
    or more than `MOST_REMOVED` of a page is gone, a review asks.

    Args:
        store: A memory file.
        folder: Of the journal.
        now: When new lines were said.
        prefix: Only pages of namespaces in this one.
    """
    taken = TakenEdits()
    files = store.journal.memory_files(folder)
    for file, edits in list(files.edits(prefix)):
        if isinstance(edits, MemoryPageError):
            taken.refused.append(f"{file}: {edits}")
            continue
        for applied in take_page(store, edits, now=now):
            taken.lines += applied.lines
        taken.files.append(file)
        if _nothing_newer(file, edits):  # else the next one takes up what was edited meanwhile
            file.unlink(missing_ok=True)
            files.write(
                edits.written.namespace,
                budget_tokens=store.config.lifecycle.memory_page_tokens,
                now_us=int(now.timestamp() * 1_000_000),
            )
    return taken


def take_page(
    store: MemoryStore, edits: Edits, *, now: datetime, dry_run: bool = False
) -> list[Applied]:
    """Take up what a person changed on one page; return what that did, in memories and in core blocks.

    Args:
        store: A memory file.
        edits: Of the page, see `edits_of`.
        now: When new lines were said.
        dry_run: Say what would happen, and change nothing.
    """
    written = edits.written
    run = f"edits/{secrets.token_hex(8)}"
    sets = (
        (written.namespace, run, tuple(_changes(store, edits, now))),
        ((*written.namespace, "core"), f"{run}/core", tuple(_core(store, edits))),
    )
    return [
        store.changes.apply(
            ChangeSet(
                namespace=namespace,
                run_id=run_id,
                kind="correction",
                reason="edited in MEMORY.md",
                changes=changes,
            ),
            dry_run=dry_run,
        )
        for namespace, run_id, changes in sets
        if changes
    ]


def _nothing_newer(file: Path, taken: Edits) -> bool:
    """Return whether a page has no edits but those taken up; lines of what they archived left it."""
    try:
        return edits_of(file.read_text("utf-8", "replace")).within(taken)
    except FileNotFoundError:
        return True
    except MemoryPageError:
        return False


def _changes(store: MemoryStore, edits: Edits, now: datetime) -> Iterator[Change]:
    """Yield the changes of memories."""
    written = edits.written
    room = Maintaining(store)
    known = room.shown(written.namespace, [*edits.changed, *edits.removed])
    for key, text in edits.changed.items():
        if (told := known.get(key)) is None:
            continue
        memory, shown = told
        change = _text_update(memory, text)
        if line_digest(shown) == edits.digest_of(key) and memory.status == "active":
            yield change
        elif line_digest(shown) != line_digest(text):
            yield _edit_review(
                written.namespace, key, text, f"In MEMORY.md it was changed to {text!r}; by now memory "
                f"says {shown!r} ({memory.status}). Which one holds?",
                {"edit": (change,), "keep": ()},
            )  # fmt: skip
    gone = [key for key in edits.removed if key in known and known[key][0].status == "active"]
    archive = {
        key: SetStatus(key=key, status="archived", reason="deleted from MEMORY.md") for key in gone
    }
    if len(gone) > max(FEW, MOST_REMOVED * len(written.lines)):
        yield _edit_review(
            written.namespace, "/".join(gone), "", f"{count_noun(len(gone), 'line')} of "
            f"{len(written.lines)} are gone from MEMORY.md. Are these memories to be archived?",
            {"archive": tuple(archive.values()), "keep": ()}, gone,
        )  # fmt: skip
    else:
        for key, away in archive.items():
            if line_digest(known[key][1]) == edits.digest_of(key):
                yield away
            else:
                yield _edit_review(
                    written.namespace, key, "", "Its line was deleted from MEMORY.md; by now memory says "
                    f"{known[key][1]!r}. Is it to be archived?",
                    {"archive": (away,), "keep": ()},
                )  # fmt: skip
    for text in edits.added:
        yield _new_note(written.namespace, written.owner, text, now)
    for text in edits.unread:
        note = _new_note(written.namespace, written.owner, text, now)
        yield note.model_copy(
            update={
                "facets": note.facets.model_copy(update={"status": "pending", "verified": None})
            }
        )
        yield _edit_review(
            written.namespace, note.key, text, f"In MEMORY.md stands {text!r}, which is no line of a list "
            "and no paragraph. Is it to be remembered?",
            {
                "remember": (UpdateMemory(key=note.key, facets=note.facets, reason=note.reason),),
                "archive": (SetStatus(key=note.key, status="archived", reason=note.reason),),
            },
        )  # fmt: skip


def _edit_review(
    namespace: Namespace,
    key: str,
    text: str,
    question: str,
    options: dict[str, tuple[Change, ...]],
    memories: list[str] | None = None,
) -> OpenReview:
    return OpenReview(
        id=f"{EDIT}/{digest(*namespace, key, text)}",
        about=EDIT,
        question=question,
        memories=tuple(memories or [key]),
        options=options,
    )


def _text_update(memory: Memory, text: str) -> UpdateMemory:
    name = "text" if "text" in memory.value else "content"
    value = {one: told for one, told in memory.value.items() if one not in _CLAIMS} | {name: text}
    return UpdateMemory(
        key=memory.key, value=value, facets=Facets(verified=True, status="active"),
        reason="changed in MEMORY.md",
    )  # fmt: skip


def _new_note(namespace: Namespace, owner: str | None, text: str, now: datetime) -> AddMemory:
    private = owner is not None
    value: dict[str, Any] = {
        "text": text, "fact_kind": "fact", "language": detect_language(text).code,
        "said_at": now.isoformat(),
    }  # fmt: skip
    if private:
        value |= {"owner": owner, "privacy": "private"}
    return AddMemory(
        key=f"note/{digest(*namespace, owner or '', text)}",
        value=value,
        facets=Facets(
            kind="semantic",
            owner=owner or None,
            privacy="private" if private else "shared",
            status="active",
            verified=True,
        ),
        reason="written into MEMORY.md",
    )


def _core(store: MemoryStore, edits: Edits) -> Iterator[Change]:
    """Yield the changes of core blocks."""
    place = (*edits.written.namespace, "core")
    for label, text in edits.core.items():
        item = store.get(place, label, refresh_ttl=False)
        if item is None:
            continue
        said = str(item.value.get("content", ""))
        version = int(item.value.get("version", 0)) + 1
        change = UpdateMemory(
            key=label,
            value={**item.value, "content": text, "version": version, "editor": "person"},
            reason="changed in MEMORY.md",
        )
        if edits.written.core[label] in core_digests(said):
            yield change
        elif core_digests(said)[0] != core_digests(text)[0]:
            yield _edit_review(
                place, label, text, f"In MEMORY.md the block {label} was changed to {text!r}; by now it says "
                f"{said!r}. Which one holds?",
                {"edit": (change,), "keep": ()},
            )  # fmt: skip
