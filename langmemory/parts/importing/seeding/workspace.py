"""What a workspace has that a memory can be filled from: found, counted, and not yet read in."""

from __future__ import annotations

import os
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from langmemory.documents import files
from langmemory.errors import ConfigError, ImportFormatError
from langmemory.parts.importing import detect, read_messages
from langmemory.parts.importing.formats import HEAD_BYTES, Format
from langmemory.parts.importing.seeding.git_history import GitHistory, read_history, tracked
from langmemory.parts.importing.seeding.notes import is_note, notes_of
from langmemory.parts.importing.sessions import STORES, SessionFormat, transcripts
from langmemory.pluralize import count_noun

SourceKind = Literal["documents", "notes", "conversations", "git"]

MARKDOWN: Final = (".md", ".markdown", ".rst")
EXPORTS: Final = (".json", ".jsonl", ".txt", ".mbox", ".mbx", ".zip")
"""Endings of files that may be an export of a chat, or mail; ``mbox`` without one may be, too."""
PACKED: Final = frozenset({"conversations.json", "users.json", "_chat.txt"})
"""Names of files by which an archive is known for an export."""
REPOSITORY_DEPTH: Final = 3
"""So deep in the workspace repositories are looked for."""

Progress = Callable[[str], None]
"""Is told what is looked at or read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedSource:
    """Something that a memory can be filled from."""

    kind: SourceKind
    path: str
    """Relative to the workspace; ``.`` is itself."""
    count: int
    unit: str
    """Of what, as ``document``, ``note``, ``message``, ``commit``."""
    format: Format | None = None
    """Of conversations."""
    files: tuple[str, ...] = ()
    """Paths relative to the workspace."""
    note: str = ""
    """What a person should know of it."""
    history: GitHistory | None = None
    """Of a repository."""


@dataclass(kw_only=True, slots=True)
class SeedPlan:
    """What a workspace would give."""

    root: Path
    sources: list[SeedSource] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """Path → why it is not taken."""
    failed: dict[str, str] = field(default_factory=dict)
    """Path → why it cannot be read."""

    def of(self, kind: SourceKind) -> list[SeedSource]:
        """Return the sources of a kind."""
        return [one for one in self.sources if one.kind == kind]


def plan_seed(
    root: str | os.PathLike[str],
    *,
    ignore: Iterable[str] = (),
    progress: Progress = lambda _: None,
) -> SeedPlan:
    """Return what a workspace has, without writing anything. Exports are read through, so that a damaged one
    is told before anything is written.

    Args:
        root: A folder.
        ignore: Patterns, as in ``.gitignore``, of files that are left out.
        progress: Is told what is looked at.

    Raises:
        ConfigError: It is no folder.
    """
    place = Path(root).expanduser()
    if not place.is_dir():
        raise ConfigError(
            f"{str(root)!r} is no folder. Name the workspace to fill the memory from."
        )
    plan = SeedPlan(root=place.resolve())
    repositories = list(_repositories(plan.root))
    tracked_files = {
        name if one == "." else f"{one}/{name}"
        for one in repositories
        for name in tracked(plan.root / one)
    }
    documents: list[str] = []
    notes: list[str] = []
    slack: dict[str, list[str]] = defaultdict(list)
    found = files.walk(plan.root, ignore, unreadable=plan.failed, accepts=_may_be_read)
    for name, path in found:
        if PurePosixPath(name).suffix.casefold() in MARKDOWN:
            (notes if is_note(name) else documents).append(name)
            continue
        if path.suffix.casefold() == ".zip":
            if _is_packed(path):
                plan.left_out[name] = "a packed export: unpack it, and seed again"
            continue
        format = _format(path)
        if format is None:
            continue
        progress(name)
        if format == "export":
            plan.left_out[name] = "an export of langmemory: `langmemory import` restores it"
        elif name in tracked_files:
            plan.left_out[name] = "a repository keeps it, so it is no export of somebody's chats"
        elif format == "slack":
            slack[str(PurePosixPath(name).parent.parent)].append(name)
        else:
            _add_conversation(plan, name, format, (name,))
    for folder, days in slack.items():
        _add_conversation(plan, folder, "slack", tuple(days))
    _add_sessions(plan, found={name for one in plan.sources for name in one.files})
    if documents:
        plan.sources.insert(
            0,
            SeedSource(
                kind="documents",
                path=".",
                count=len(documents),
                unit="document",
                files=tuple(documents),
            ),
        )
    for name in notes:
        progress(name)
        _add_notes(plan, name)
    known: set[bytes] = set()
    for one in repositories:
        progress(one)
        _add_repository(plan, one, known)
    return plan


def _may_be_read(name: str) -> bool:
    suffix = PurePosixPath(name).suffix.casefold()
    return suffix in MARKDOWN or suffix in EXPORTS or name.casefold() == "mbox"


def _is_packed(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return not PACKED.isdisjoint(PurePosixPath(one).name for one in archive.namelist())
    except (OSError, zipfile.BadZipFile, ValueError):
        return False


def _format(path: Path) -> Format | None:
    """Return the format of an export; None of a file that is none."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n")
            # Most JSON of a workspace is a program's: what does not begin like an export is not parsed.
            if path.suffix.casefold() == ".json" and not head.startswith((b"[", b"{")):
                return None
            file.seek(0)
            return detect(file)
    except (ImportFormatError, OSError, RecursionError, StopIteration):
        return None


def _add_conversation(plan: SeedPlan, name: str, format: Format, paths: tuple[str, ...]) -> None:
    count, good = 0, []
    for path in paths:
        try:
            with (plan.root / path).open("rb") as file:
                messages = sum(one.spoken for one in read_messages(file, format))
        except (ImportFormatError, OSError) as error:
            # Many a program's file has messages, and is no conversation.
            reasons = plan.left_out if format in ("langgraph", "messages") else plan.failed
            reasons[path] = files.reason(error)
            continue
        count += messages
        good.append(path)
    if count:
        plan.sources.append(
            SeedSource(
                kind="conversations",
                path=name,
                count=count,
                unit="message",
                format=format,
                files=tuple(good),
            )
        )


def _add_sessions(plan: SeedPlan, found: set[str]) -> None:
    """Add what coding agents keep in the home directory of sessions in the workspace."""
    kept: dict[SessionFormat, list[str]] = defaultdict(list)
    for format, path in transcripts(plan.root):
        inside = path.is_relative_to(plan.root) and path.relative_to(plan.root).as_posix() in found
        if not inside:
            kept[format].append(str(path))
    for format, paths in kept.items():
        _add_conversation(plan, str(STORES[format].home), format, tuple(paths))


def _add_notes(plan: SeedPlan, name: str) -> None:
    unread = list[str]()
    try:
        count = len(notes_of(plan.root / name, unread))
    except (ImportFormatError, OSError) as error:
        plan.failed[name] = files.reason(error)
        return
    pieces = f"{count_noun(len(unread), 'piece')} of code, table or picture"
    if unread and not count:
        plan.left_out[name] = f"it has {pieces}, and no notes"
    if count:
        plan.sources.append(
            SeedSource(
                kind="notes",
                path=name,
                count=count,
                unit="note",
                files=(name,),
                note=f"{pieces} left out" if unread else "",
            )
        )


def _add_repository(plan: SeedPlan, name: str, known: set[bytes]) -> None:
    title = plan.root.name if name == "." else name
    try:
        history = read_history(plan.root / name, title, known)
    except ImportFormatError as error:
        plan.failed[name] = files.reason(error)
        return
    if history.copies and not history.commits:
        plan.left_out[name] = "another folder has all of its commits"
    if history.commits:
        people = count_noun(len(history.people), "person", "people")
        note = f"{len(history.decisions):,} with a reason; {people}"
        if history.copies:
            note += f"; {count_noun(history.copies, 'commit')} of another folder left out"
        if history.shallow:
            note += "; a shallow clone, without older commits"
        plan.sources.append(
            SeedSource(
                kind="git",
                path=name,
                count=history.commits,
                unit="commit",
                note=note,
                history=history,
            )
        )


def _repositories(root: Path) -> Iterator[str]:
    """Yield the repositories in a workspace, as paths relative to it."""
    for folder, below, _ in os.walk(root):
        path = Path(folder)
        if (path / ".git").exists():
            yield path.relative_to(root).as_posix()
        depth = len(path.relative_to(root).parts)
        below[:] = [
            one for one in sorted(below)
            if not one.startswith(".") and one not in files.MADE and depth < REPOSITORY_DEPTH
        ]  # fmt: skip
