"""The commits of a repository, as git tells them."""

from __future__ import annotations

import codecs
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from langmemory import git
from langmemory.errors import ImportFormatError

_RECORD, _FIELD = "\x1e", "\x1f"


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """One commit, without merges."""

    id: str
    author: str
    at: datetime
    message: str
    paths: tuple[str, ...]

    @property
    def subject(self) -> str:
        return self.message.split("\n", 1)[0].strip()


def tracked(root: Path) -> frozenset[str]:
    """Return the paths of the files that a repository has, relative to it; none where git is not there."""
    output = git.answer(root, "ls-files", "-z")
    return frozenset((output or b"").decode("utf-8", "replace").split("\0")) - {""}


def cut_off(root: Path) -> frozenset[str]:
    """Return the oldest commits of a shallow clone, whose parents are not here; none of a whole one."""
    place = git.answer(root, "rev-parse", "--git-path", "shallow")
    if place is None:
        return frozenset()
    try:
        return frozenset((root / place.decode().strip()).read_text("ascii").split())
    except (OSError, UnicodeDecodeError):
        return frozenset()


def _people(root: Path) -> dict[tuple[str, str], str]:
    """Return what authors are called who use several names with one address, by name and address: where one
    of these is a full name, ``anna`` is Anna Schmidt."""
    output = git.answer(root, "log", "--no-merges", "--format=%aN%x1f%aE") or b""
    by_address: dict[str, Counter[str]] = defaultdict(Counter)
    for line in output.decode("utf-8", "replace").splitlines():
        name, _, address = line.partition(_FIELD)
        by_address[address.casefold()][name] += 1
    found: dict[tuple[str, str], str] = {}
    for address, count in by_address.items():
        full = [name for name in count if " " in name.strip()]
        if len({name.casefold() for name in full}) == 1:
            called = max(full, key=count.__getitem__)
            found |= {(name, address): called for name in count}
    return found


def commits(root: Path) -> Iterator[Commit]:
    """Yield the commits, newest first.

    Raises:
        ImportFormatError: git is not there, or cannot read them.
    """
    people = _people(root)
    command = git.command(
        root, "log", "--no-merges", "--no-ext-diff", "--no-textconv", "--name-only",
        "--format=%x1e%H%x1f%aN%x1f%aE%x1f%aI%x1f%B%x1f",
    )  # fmt: skip
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, env=git.environment()
            )
        except OSError as error:
            why = error.strerror or error
            raise ImportFormatError(f"{root}: git cannot be started ({why}).") from error
        with process:
            assert process.stdout is not None
            yield from _read(process.stdout, people)
        errors.seek(0)
        message = errors.read().decode("utf-8", "replace").strip()
    if process.returncode and "does not have any commits" not in message:
        why = " ".join(message.split()) if message else "no reason given"
        raise ImportFormatError(f"{root}: git log failed: {why}")


def _read(stream: IO[bytes], people: Mapping[tuple[str, str], str]) -> Iterator[Commit]:
    """Yield the commits that git writes."""
    rest, decode = "", codecs.getincrementaldecoder("utf-8")("replace").decode
    for part in iter(lambda: stream.read(1 << 16), b""):
        *records, rest = (rest + decode(part)).split(_RECORD)
        yield from filter(None, (_commit(one, people) for one in records))
    if (last := _commit(rest, people)) is not None:
        yield last


def _commit(record: str, people: Mapping[tuple[str, str], str]) -> Commit | None:
    parts = record.split(_FIELD)
    if len(parts) != 6:
        return None
    id, author, address, at, message, names = parts
    author = people.get((author, address.casefold()), author)
    try:
        said_at = datetime.fromisoformat(at.strip())
    except ValueError:
        return None
    paths = tuple(line for line in names.splitlines() if line.strip())
    return Commit(
        id=id.strip(),
        author=author.strip() or "somebody",
        at=said_at,
        message=message.strip(),
        paths=paths,
    )
