"""Bindings: which core block is bound to which file, and what both last agreed on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, Self

from langmemory.types import Namespace

FILE_LIMIT_CHARACTERS = 20_000
"""Largest text of a new block that is bound to a file, in characters (about 5,000 tokens): it is in every
prompt. OpenClaw cuts such files there; Codex reads 32 KiB of all of them together."""

Stamp = tuple[int, int, int]
"""Size, time of the last change in nanoseconds, and inode: what tells without reading that a file is as it
was."""

FileState = Literal["agrees", "waits", "asked", "problem"]
"""The block says what the file says; one of them is newer and is taken up next time; a review asks; see
`BoundFile.problem`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Binding:
    """A core block and its file, as the store keeps it. Paths are never taken from a value that a client of
    the server may write."""

    namespace: Namespace
    """Of the memories, without ``"core"``."""
    label: str
    path: str
    """Absolute, as it was given."""
    target: str
    """The file itself: the path with every symbolic link followed, when it was bound."""
    number: int
    """Bindings stand in this order in a prompt."""
    agreed: str | None = None
    """SHA-256 of the text that block and file last had in common; None: none yet."""
    stamp: Stamp | None = None
    """Of the file then; None: it is read again."""

    @property
    def place(self) -> Namespace:
        """The namespace of the block."""
        return (*self.namespace, "core")

    @property
    def name(self) -> str:
        """The name of the file."""
        return Path(self.path).name

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> Self:
        value = json.loads(text)
        stamp = value.pop("stamp")
        return cls(
            **{**value, "namespace": tuple(value["namespace"])},
            stamp=None if stamp is None else (stamp[0], stamp[1], stamp[2]),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BoundFile:
    """A core block that is bound to a file."""

    namespace: Namespace
    """Of the memories, without ``"core"``."""
    label: str
    path: str
    state: FileState
    problem: str | None = None
    """Why block and file cannot be brought together, and what to do."""

    @property
    def name(self) -> str:
        """The name of the file."""
        return Path(self.path).name


@dataclass(kw_only=True, slots=True)
class FilesSynced:
    """What bringing core blocks and their files together did."""

    taken: dict[str, str] = field(default_factory=dict)
    """Path of a file that was edited → the run that took its text into the block; `undo` takes it back."""
    written: list[str] = field(default_factory=list)
    """Paths of files that were written from their blocks."""
    asked: list[str] = field(default_factory=list)
    """Ids of reviews that were opened."""
    unchanged: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    """Path → why nothing was done, and what to do."""

    def __bool__(self) -> bool:
        return bool(self.taken or self.written or self.asked or self.problems)

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each file that something was done about."""
        return (
            *(f"{path}: taken into memory (run {run})" for path, run in self.taken.items()),
            *(f"{path}: written" for path in self.written),
            *(f"review {one}: asks" for one in self.asked),
            *(f"{path}: {why}" for path, why in self.problems.items()),
        )
