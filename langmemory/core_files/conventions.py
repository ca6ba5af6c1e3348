"""Which files agents read for a folder, by the conventions of several programs, as core blocks.

Claude Code: https://code.claude.com/docs/en/memory; Codex: https://developers.openai.com/codex/guides/agents-md;
OpenClaw's workspace: https://docs.openclaw.ai/concepts/agent-workspace; deepagents: `MemoryMiddleware`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from langmemory.core_files.markdown_file import CoreFileError, read
from langmemory.errors import ConfigError

Convention = Literal["workspace", "claude", "codex", "deepagents"]

CORE_FILES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "AGENTS.md": ("agents", "How to work here: rules, commands and conventions."),
        "CLAUDE.md": ("claude", "How to work here: rules, commands and conventions."),
        "SOUL.md": ("persona", "Who the assistant is: its name, tone and manner."),
        "IDENTITY.md": ("identity", "The assistant's name, nature and signature."),
        "USER.md": ("human", "Lasting facts about the person: name, family, work, preferences."),
        "TOOLS.md": ("tools", "Tools of this place, and how they are used."),
        "HEARTBEAT.md": ("heartbeat", "What to look after whenever the assistant wakes by itself."),
        "MEMORY.md": ("memory", "What is worth knowing in every conversation."),
    }
)
"""Name of a file → label of its block, and what belongs in it."""

CODEX_MOST_BYTES: Final = 32 * 1024
"""Codex reads so much of all files together (``project_doc_max_bytes``)."""
IMPORT_HOPS: Final = 5
"""So deep Claude Code follows imports."""
_FENCED: Final = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_IMPORT: Final = re.compile(
    r"(?<![\w@`])@((?:~/|\.{0,2}/)?[\w.][\w./ -]*?[\w-])(?=[\s,;:)]|\.\s|\.?$)", re.MULTILINE
)
_NO_LABEL: Final = re.compile(r"[^\w-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundFile:
    """A file that belongs to a core block."""

    path: Path
    label: str
    purpose: str


@dataclass(kw_only=True, slots=True)
class FoundFiles:
    """The files of a folder, in the order in which an agent reads them: what is nearest comes last."""

    files: list[FoundFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the convention reads and this does not, and why."""


def files_for(
    folder: str | os.PathLike[str],
    convention: Convention = "workspace",
    *,
    home: Path | None = None,
) -> FoundFiles:
    """Return the files that agents read when they work in a folder, by a convention.

    ``workspace`` is `CORE_FILES` in the folder. ``claude`` is ``CLAUDE.md`` of the home folder, of all
    folders above and of the folder, and what they import with ``@path``. ``codex`` is
    ``AGENTS.override.md`` or ``AGENTS.md`` of the home folder and of each folder from the project's root to
    this one. ``deepagents`` is ``.deepagents/AGENTS.md`` of the home folder and of this one.

    Raises:
        ConfigError: It is no folder.
    """
    place = Path(folder).expanduser().absolute()
    if not place.is_dir():
        raise ConfigError(f"{str(folder)!r} is no folder. Name one, or a file.")
    house = home or Path.home()
    found = FoundFiles()
    match convention:
        case "workspace":
            paths = [place / name for name in CORE_FILES]
        case "claude":
            paths = [house / ".claude" / "CLAUDE.md", *_claude(place)]
        case "codex":
            codex = Path(os.environ.get("CODEX_HOME") or house / ".codex")
            paths = [*_codex(codex), *(one for each in _from_root(place) for one in _codex(each))]
        case "deepagents":
            paths = [one / ".deepagents" / "AGENTS.md" for one in (house, place)]
        case _:
            raise ConfigError(
                f"The convention is {convention!r}; it must be workspace, claude, codex or deepagents."
            )
    seen: set[Path] = set()
    for path in paths:
        if path.is_file() and (real := path.resolve()) not in seen:
            seen.add(real)
            found.files.append(_labelled(path, place, house))
            if convention == "claude":
                root = _project(place) or place
                _imports(path, root, house, 1, seen, found)
    _check_sizes(found, convention)
    found.files = _with_unique_labels(found.files)
    return found


def purpose_of(label: str, path: str) -> str:
    """Return what belongs in the block of a file."""
    known = dict(CORE_FILES.values())
    base = label.split("-")[0]
    return known.get(label) or known.get(base) or f"The text of {Path(path).name}."


def label_for(path: Path) -> str:
    """Return the label of the block for a file."""
    known = {name.casefold(): label for name, (label, _) in CORE_FILES.items()}
    if path.name.casefold() in known:
        return known[path.name.casefold()]
    return _NO_LABEL.sub("-", path.stem.casefold()).strip("-") or "file"


def _labelled(path: Path, place: Path, house: Path) -> FoundFile:
    stem = path.name.replace(".override.", ".").replace(".local.", ".")
    label = label_for(Path(stem))
    if ".local." in path.name:
        label += "-local"
    above = (
        path.parent.parent
        if path.parent.name in (".claude", ".deepagents", ".codex")
        else path.parent
    )
    root = _project(place) or place
    if above == house and path.parent != above:
        label += "-user"
    elif above != root:
        inside = above.is_relative_to(root)
        name = above.relative_to(root).as_posix() if inside else above.name
        label += "-" + (_NO_LABEL.sub("-", name).strip("-") or "root")
    return FoundFile(path=path, label=label, purpose=purpose_of(label, str(path)))


def _with_unique_labels(files: Sequence[FoundFile]) -> list[FoundFile]:
    """Return files with a label for each."""
    taken: set[str] = set()
    labelled = []
    for one in files:
        label, number = one.label, 2
        while label in taken:
            label, number = f"{one.label}-{number}", number + 1
        taken.add(label)
        labelled.append(replace(one, label=label))
    return labelled


def _claude(place: Path) -> Iterator[Path]:
    for folder in (*reversed(place.parents), place):
        yield folder / "CLAUDE.md"
        yield folder / ".claude" / "CLAUDE.md"
        yield folder / "CLAUDE.local.md"


def _codex(folder: Path) -> Iterator[Path]:
    """Yield the one file of a folder that Codex reads: the first that is there and not empty."""
    for name in ("AGENTS.override.md", "AGENTS.md"):
        path = folder / name
        if path.is_file() and path.stat().st_size:
            yield path
            return


def _project(place: Path) -> Path | None:
    return next((one for one in (place, *place.parents) if (one / ".git").exists()), None)


def _from_root(place: Path) -> list[Path]:
    root = _project(place)
    return (
        [place]
        if root is None
        else [one for one in (*reversed(place.parents), place) if one.is_relative_to(root)]
    )


def imports_of(text: str) -> list[str]:
    """Return the paths that a text of Claude Code imports: ``@path`` outside of code."""
    return [match[1] for match in _IMPORT.finditer(_FENCED.sub("", text))]


def _imports(
    path: Path, root: Path, house: Path, hops: int, seen: set[Path], found: FoundFiles
) -> None:
    try:
        text = read(str(path)).text
    except CoreFileError as error:
        found.notes.append(str(error))
        return
    for name in imports_of(text):
        given = house / name[2:] if name.startswith("~/") else path.parent / name
        if not given.is_file():
            continue  # an address such as @somebody
        real = given.resolve()
        if real in seen:
            continue
        if not real.is_relative_to(root.resolve()):
            found.notes.append(
                f"{path} imports {name}, which is outside of {root}. Bind it by its path if you trust it."
            )
        elif hops > IMPORT_HOPS:
            found.notes.append(f"{path} imports {name}, more than {IMPORT_HOPS} imports deep.")
        else:
            seen.add(real)
            label = label_for(given)
            purpose = f"Imported by {path.name}."
            found.files.append(FoundFile(path=given, label=label, purpose=purpose))
            _imports(given, root, house, hops + 1, seen, found)


def _check_sizes(found: FoundFiles, convention: Convention) -> None:
    """Note where Codex would not read all that is bound."""
    total = 0
    for one in found.files if convention == "codex" else ():
        total += one.path.stat().st_size
        if total > CODEX_MOST_BYTES:
            found.notes.append(
                f"{one.path}: the files up to this one have {total:,} bytes; Codex reads "
                f"{CODEX_MOST_BYTES:,} of all of them. Shorten them, or raise project_doc_max_bytes."
            )
            return
