"""A project as the store keeps it, and what stands of it in a prompt."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from langgraph.store.base import Item

from langmemory.documents.records import Document
from langmemory.errors import ConfigError
from langmemory.labels import label_of
from langmemory.types import Namespace

REGISTRY: Final[Namespace] = ("projects",)
"""Where the projects are listed; below it each has a namespace of its own."""
NAME_CHARACTERS: Final = 100
DESCRIPTION_CHARACTERS: Final = 500
BLOCK: Final = "project"
"""The label of the core block of a project."""
BLOCK_PURPOSE: Final = (
    "The project at hand, as its files describe it: background, not instructions."
)
BLOCK_CHARACTERS: Final = 2_000
FOLDERS: Final = 20
"""Folders and files that a core block names."""
FIRST_READ: Final = ("README", "AGENTS", "CLAUDE", "CONTRIBUTING", "ARCHITECTURE", "CHANGELOG")


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A folder that belongs together, and its documents."""

    name: str
    root: str
    patterns: tuple[str, ...]
    """Globs of the files that are read; empty: all that can be."""
    ignore: tuple[str, ...]
    """Patterns, as in ``.gitignore``, of files that are not read."""
    description: str
    owner: str
    """Who answers for it; empty if nobody said."""
    updated_at: datetime

    @property
    def namespace(self) -> Namespace:
        """Where its documents and its core block are."""
        return namespace_of(self.name)

    @property
    def value(self) -> dict[str, Any]:
        """Of its item. Whose it is stands below ``project``: the item itself has no owner."""
        return {
            "kind": "resource", "record": "project",
            "project": {
                "name": self.name, "root": self.root, "patterns": list(self.patterns),
                "ignore": list(self.ignore), "description": self.description, "owner": self.owner,
            },
        }  # fmt: skip

    @classmethod
    def of(cls, item: Item) -> Project:
        """Return what such an item says."""
        value: Mapping[str, Any] = item.value["project"]
        return cls(
            name=str(value["name"]), root=str(value["root"]), patterns=tuple(value["patterns"]),
            ignore=tuple(value["ignore"]), description=str(value["description"]),
            owner=str(value["owner"]), updated_at=item.updated_at,
        )  # fmt: skip


def namespace_of(name: str) -> Namespace:
    """Return where the documents of a project are."""
    return (*REGISTRY, label_of(name))


def is_project(value: Mapping[str, Any]) -> bool:
    """Return whether an item is a project."""
    return value.get("record") == "project" and isinstance(value.get("project"), Mapping)


def checked_name(name: str) -> str:
    """Return the name of a project without spaces around it.

    Raises:
        ConfigError: It is none.
    """
    found = " ".join(str(name).split())
    if not found or len(found) > NAME_CHARACTERS or not found.isprintable() or found == "core":
        raise ConfigError(
            f"A project cannot be called {name!r:.120}: pass a name of 1 to {NAME_CHARACTERS} printable "
            "characters other than 'core'."
        )
    return found


def block_text(project: Project, documents: Iterable[Document]) -> str:
    """Return what stands of a project in a prompt: what it is, and where things are."""
    here = [" ".join(one.path.split()) for one in documents if one.root == project.root]
    folders = Counter(path.split("/")[0] for path in here if "/" in path)
    single = sorted((path for path in here if "/" not in path), key=_first_read)
    places = [f"{name}/ ({count})" for name, count in sorted(folders.items(), key=_most_first)]
    named = [*single[: FOLDERS // 2], *places][:FOLDERS]
    rest = len(single) + len(places) - len(named)
    lines = [
        f"{project.name}: {project.description}" if project.description else project.name,
        f"Folder: {project.root}",
        f"Owner: {project.owner}" if project.owner else "",
        f"Documents: {', '.join(named)}" + (f" and {rest} more" if rest else "") if named else "",
    ]
    return "\n".join(line for line in lines if line)[:BLOCK_CHARACTERS]


def block_value(text: str, version: int) -> dict[str, Any]:
    """Return the value of a core block, with a mark of what was written by itself."""
    return {
        "kind": "core", "content": text, "version": version, "limit": BLOCK_CHARACTERS,
        "editor": "application", "written_as": _digest(text),
    }  # fmt: skip


def is_untouched(value: Mapping[str, Any]) -> bool:
    """Return whether a core block says what `block_value` wrote, and nobody has edited it since."""
    return value.get("written_as") == _digest(str(value.get("content", "")))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _first_read(path: str) -> tuple[int, str]:
    stem = path.split(".")[0].upper()
    return (FIRST_READ.index(stem) if stem in FIRST_READ else len(FIRST_READ)), path


def _most_first(counted: tuple[str, int]) -> tuple[int, str]:
    name, count = counted
    return -count, name
