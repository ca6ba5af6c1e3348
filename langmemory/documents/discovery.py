"""Projects found in folders, with a name and a description that their own files give."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from langmemory.documents.files import MADE, reason
from langmemory.documents.project import DESCRIPTION_CHARACTERS, NAME_CHARACTERS
from langmemory.errors import ConfigError

MARKS: Final = (
    ".git", "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "composer.json", "pom.xml",
    "build.gradle", "build.gradle.kts", "mix.exs", "Gemfile", "CMakeLists.txt", "AGENTS.md", "CLAUDE.md",
)  # fmt: skip
"""Names that a folder has which is a project."""
READ_BYTES: Final = 200_000
"""Of one of these files."""
DEPTH: Final = 4
"""Folders below the one that is looked through."""

_GO_MODULE: Final = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_NO_PARAGRAPH: Final = re.compile(r"^(?:[#=\-*_~|<>!\[]|```|:::|\.\.)")
"""Begins a line that says nothing about a project: a heading, a badge, a rule, a table, HTML."""
_SYNTAX: Final = re.compile(r"!\[[^\]]*\]\([^)]*\)|\[([^\]]*)\]\([^)]*\)|[*`]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class DiscoveredProject:
    """A folder that is a project, by its files."""

    root: str
    name: str
    description: str
    marks: tuple[str, ...]
    """The names by which it was recognised."""
    problems: tuple[str, ...] = ()
    """Files of it that could not be read, and why."""


def discover(folder: Path, depth: int = DEPTH) -> Iterator[DiscoveredProject]:
    """Yield the projects in a folder, or the folder itself; what is within a project is part of it.

    Raises:
        ConfigError: There is no such folder.
    """
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {str(folder)!r}.")
    yield from _below(folder, depth)


def _below(folder: Path, depth: int) -> Iterator[DiscoveredProject]:
    try:
        entries = sorted(os.scandir(folder), key=lambda one: one.name)
    except OSError:  # a folder of somebody else's has no project of ours
        return
    if {one.name for one in entries} & set(MARKS):
        yield described(folder)
        return
    for one in entries if depth else ():
        hidden = one.name.startswith(".") or one.name in MADE
        if not hidden and one.is_dir(follow_symlinks=False):
            yield from _below(Path(one.path), depth - 1)


def described(root: Path) -> DiscoveredProject:
    """Return the name and description that the files of a folder give; else its own name."""
    problems: list[str] = []
    there = tuple(mark for mark in MARKS if (root / mark).exists())
    candidates = [
        _name_and_description(
            _toml(root / "pyproject.toml", problems), ("project",), ("tool", "poetry")
        ),
        _name_and_description(_json(root / "package.json", problems), ()),
        _name_and_description(_toml(root / "Cargo.toml", problems), ("package",)),
        _name_and_description(_json(root / "composer.json", problems), ()),
        (_go_name(root, problems), ""),
    ]
    name = next((name for name, _ in candidates if name), "") or root.resolve().name
    description = next((text for _, text in candidates if text), "") or _first_paragraph(
        root, problems
    )
    return DiscoveredProject(
        root=str(root.resolve()),
        name=_line(name, NAME_CHARACTERS),
        description=_line(description, DESCRIPTION_CHARACTERS),
        marks=there,
        problems=tuple(problems),
    )


def _line(text: str, most: int) -> str:
    """Return a text on one line, without what is not printed, cut after a word."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    if len(line) <= most:
        return line
    cut = line[:most]
    return cut[: cut.rfind(" ")] if " " in cut[most // 2 :] else cut


def _read(path: Path, problems: list[str]) -> str:
    """Return how a file begins, or nothing where there is none; what cannot be read is a problem."""
    try:
        with path.open("rb") as file:
            return file.read(READ_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    except FileNotFoundError:
        return ""
    except OSError as error:
        problems.append(f"{path.name}: {reason(error)}")
        return ""


def _toml(path: Path, problems: list[str]) -> Any:
    try:
        return tomllib.loads(_read(path, problems))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        problems.append(f"{path.name}: {error}")
        return {}


def _json(path: Path, problems: list[str]) -> Any:
    try:
        return json.loads(_read(path, problems) or "{}")
    except (json.JSONDecodeError, RecursionError) as error:
        problems.append(f"{path.name}: {error}")
        return {}


def _name_and_description(file: Any, *tables: tuple[str, ...]) -> tuple[str, str]:
    """Return the name and the description in the first of some tables that has a name."""
    for table in tables:
        found = file
        for part in table:
            found = found.get(part) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping) and isinstance(found.get("name"), str):
            description = found.get("description")
            return found["name"], description if isinstance(description, str) else ""
    return "", ""


def _go_name(root: Path, problems: list[str]) -> str:
    found = _GO_MODULE.search(_read(root / "go.mod", problems))
    return found[1].rsplit("/", 1)[-1] if found else ""


def _first_paragraph(root: Path, problems: list[str]) -> str:
    """Return the first paragraph of prose in the file that introduces a folder."""
    for name in ("README.md", "README.rst", "README.txt", "README", "AGENTS.md", "CLAUDE.md"):
        lines: list[str] = []
        for line in _read(root / name, problems).splitlines():
            if line.strip() and not _NO_PARAGRAPH.match(line.strip()):
                lines.append(line.strip())
            elif lines:
                if len(lines) == 1 and set(line.strip()) <= {"=", "-"} and line.strip():
                    lines = []  # it was a title
                    continue
                break
        if lines:
            return _SYNTAX.sub(lambda found: found[1] or "", " ".join(lines))
    return ""
