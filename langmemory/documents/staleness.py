"""Documents that describe a source file and are older than it.

A document describes a file if it links to it, or names its path: ``[the server](../src/server.py)``,
``src/server.py``, or ``server.py`` where the folder has one of this name. It may be out of date if the file
was changed after it: by the last commit of each, or by the times of files that git does not know or that are
not committed.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Final
from urllib.parse import unquote

from langmemory import git
from langmemory.changes import ChangeSet, OpenReview, UpdateMemory, WithdrawReview
from langmemory.documents.converting import LAYOUTS
from langmemory.documents.records import Document
from langmemory.types import Namespace, Review

ABOUT: Final = "stale"
"""What the reviews are about."""
NAMED: Final = 5
"""Files that a question names."""

_LINK: Final = re.compile(
    r"\]\(\s*<?([^)\s>]+)|^\[[^\]]+\]:\s*<?(\S+?)>?\s*$|href=\"([^\"]+)\"", re.MULTILINE
)
_PATH: Final = re.compile(r"(?<![\w./-])(?:\.{0,2}/)?(?:[\w.@+-]+/)*[\w.@+-]*\w\.\w{1,8}(?![\w/])")


@dataclass(frozen=True, kw_only=True, slots=True)
class Stale:
    """A document, and the files that it describes and that were changed after it."""

    document: Document
    changed_at: datetime
    sources: Mapping[str, datetime]
    """By path; when they were changed."""
    state: str
    """Hash of what the document and these files say."""

    @property
    def review_id(self) -> str:
        """Of the question: another one when a file says something else, and not when it is committed."""
        named = f"{self.document.namespace}\0{self.document.id}\0{self.state}"
        return f"{ABOUT}/{_digest(named)}"

    @property
    def question(self) -> str:
        """What a person is asked."""
        newest = sorted(self.sources.items(), key=lambda one: one[1], reverse=True)
        named = ", ".join(f"{path} ({at:%Y-%m-%d %H:%M})" for path, at in newest[:NAMED])
        more = f" and {len(newest) - NAMED} more" if len(newest) > NAMED else ""
        return (
            f"{self.document.path} is of {self.changed_at:%Y-%m-%d %H:%M} and names files that were changed "
            f"since: {named}{more}. Does it still hold?"
        )


def is_source(path: str) -> bool:
    """Return whether a file is one that documents describe."""
    return LAYOUTS.get(PurePath(path).suffix.lower()) in ("code", "python")


def by_name(sources: Iterable[str]) -> Mapping[str, set[str]]:
    """Return paths by the names of their files."""
    found = defaultdict[str, set[str]](set)
    for path in sources:
        found[posixpath.basename(path)].add(path)
    return found


def files_named(text: str, document: str, sources: Mapping[str, set[str]]) -> set[str]:
    """Return the paths of sources that a document links to or names.

    Args:
        text: Of the document.
        document: Its path.
        sources: Paths that there are, see `by_name`.
    """
    folder = posixpath.dirname(document)
    found: set[str] = set()
    for link in _LINK.finditer(text):
        target = unquote(next(filter(None, link.groups()))).split("#")[0].split("?")[0]
        found.add(posixpath.normpath(posixpath.join(folder, target)))
    for written in _PATH.findall(text):
        given = posixpath.normpath(written).lstrip("/")
        alone = sources.get(given, set())
        found |= {given, posixpath.normpath(posixpath.join(folder, written))}
        found |= alone if len(alone) == 1 else set()
    there = {one for one in found if one in sources.get(posixpath.basename(one), ())}
    return there - {document}


def stale_documents(
    texts: Mapping[str, tuple[Document, str]],
    sources: Mapping[str, Document],
    times: Mapping[str, datetime],
) -> Iterator[Stale]:
    """Yield the documents that are older than a file they describe.

    Args:
        texts: Documents with their text, by path.
        sources: The files that may be described, by path.
        times: When each was changed, by path; what is not in it is not compared.
    """
    known = by_name(sources)
    for path, (document, text) in sorted(texts.items()):
        at = times.get(path)
        if at is None:
            continue
        newer = {
            one: times[one]
            for one in files_named(text, path, known)
            if one in times and times[one] > at
        }
        if newer:
            contents = [document, *(sources[one] for one in sorted(newer))]
            state = "\0".join(f"{one.path}@{one.sha256}" for one in contents)
            yield Stale(document=document, changed_at=at, sources=newer, state=_digest(state))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan(
    namespace: Namespace,
    found: Iterable[Stale],
    values: Mapping[str, Mapping[str, object]],
    asked: Iterable[Review],
    now: datetime,
) -> ChangeSet | None:
    """Return the change set that asks about stale documents, and withdraws what is no longer open.

    Args:
        namespace: Of the documents.
        found: The stale documents.
        values: Their items, by key.
        asked: Every review about them that was ever opened, decided ones included.
        now: When it is planned.
    """
    known = {one.id: one for one in asked if one.about == ABOUT}
    stale = {one.review_id: one for one in found}
    changes = [
        OpenReview(
            id=id,
            about=ABOUT,
            question=one.question,
            memories=(one.document.key,),
            options={
                "holds": (),
                "outdated": (
                    UpdateMemory(
                        key=one.document.key,
                        value={**values[one.document.key], "outdated": sorted(one.sources)},
                    ),
                ),
            },
            reason="a file that it names was changed after it",
        )
        for id, one in stale.items()
        if id not in known and one.document.key in values
    ]
    withdrawn = [
        WithdrawReview(id=id, reason="the document was changed, or the file once more")
        for id, one in known.items()
        if one.decision is None and id not in stale
    ]
    if not changes and not withdrawn:
        return None
    return ChangeSet(
        namespace=namespace,
        run_id=f"stale/{'/'.join(namespace)}/{now:%Y-%m-%dT%H:%M:%S.%f}",
        kind="maintenance",
        reason="documents older than what they describe",
        changes=(*changes, *withdrawn),
    )


def change_times(root: Path, paths: Iterable[str]) -> dict[str, datetime]:
    """Return when files of a folder were changed."""
    wanted = set(paths)
    times: dict[str, datetime] = {}
    for path in wanted:
        try:
            modified = (root / path).stat().st_mtime
        except OSError:
            continue
        times[path] = datetime.fromtimestamp(modified, UTC)
    return {**times, **{path: at for path, at in _committed(root, wanted).items() if path in times}}


def _committed(root: Path, wanted: set[str]) -> dict[str, datetime]:
    """Return the time of the last commit of each file that has nothing left to commit."""
    status = _git(root, "status", "--porcelain", "-z", "--no-renames", "--", ".")
    log = _git(root, "log", "--format=%x01%ct", "--name-only", "-z", "--relative", "--", ".")
    if status is None or log is None:
        return {}
    prefix = (_git(root, "rev-parse", "--show-prefix") or "").strip()
    changed = {one[3:].removeprefix(prefix) for one in status.split("\0") if one}
    found: dict[str, datetime] = {}
    at = None
    for entry in log.split("\0"):
        for part in entry.split("\n"):
            if part.startswith("\1"):
                at = datetime.fromtimestamp(int(part[1:]), UTC)
            elif part and at is not None and part in wanted and part not in changed:
                found.setdefault(part, at)
    return found


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git says; None where there is none, or the folder is not in a repository."""
    output = git.answer(root, *arguments)
    return None if output is None else output.decode("utf-8", "replace")
