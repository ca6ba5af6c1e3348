"""Hooks of git that tell of a project's commits and merges, beside what a hook did before."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from langmemory import git
from langmemory.addresses import is_server
from langmemory.errors import ConfigError

HOOKS: Final = ("post-commit", "post-merge")
SHEBANG: Final = "#!/bin/sh\n"
_IS_SHELL: Final = re.compile(r"#!\s*\S*(?:/|\s)(?:ba|da|z|k)?sh\b")


def install(root: Path, project: str, store: str) -> Sequence[Path]:
    """Add to the hooks of a repository that a commit or merge puts a job into the queue of a store. What is
    in them stays, and runs after it.

    Returns:
        The hooks that were written.

    Raises:
        ConfigError: There is no repository, or a hook is no shell script; nothing was written.
    """
    folder = hooks_folder(root)
    if folder is None:
        raise ConfigError(f"{root} is in no git repository, so it has no hooks. Watch it instead.")
    if store == ":memory:":
        raise ConfigError("A store in memory cannot be reached by a hook; open a file.")
    block = _block(project, store)
    texts = {folder / name: _with_block(folder / name, project, block) for name in HOOKS}
    written = [path for path, text in texts.items() if text != _read(path)]
    folder.mkdir(parents=True, exist_ok=True)
    for path in written:
        mode = path.stat().st_mode if path.exists() else 0o755
        _replace(path, texts[path], mode)
    return written


def remove(root: Path, project: str) -> Sequence[Path]:
    """Take out what `install` added; a hook that has nothing else is deleted.

    Returns:
        The hooks that were written or deleted.
    """
    folder = hooks_folder(root)
    changed = []
    for path in [] if folder is None else [folder / name for name in HOOKS]:
        before = _read(path)
        after = _without_block(before, project)
        if after == before:
            continue
        if after == SHEBANG:
            path.unlink()
        else:
            _replace(path, after, path.stat().st_mode)
        changed.append(path)
    return changed


def hooks_folder(root: Path) -> Path | None:
    """Return where the repository of a folder has its hooks; None where there is no repository."""
    said = git.answer(root, "rev-parse", "--git-path", "hooks")
    path = (said or b"").decode("utf-8", "surrogateescape").rstrip("\n")
    return root / path if path else None


def _block(project: str, store: str) -> str:
    """Return what is added. An address of a server may hold a password: it is not written."""
    where = [] if is_server(store) else ["--db", os.path.abspath(store)]
    command = [
        sys.executable,
        "-m",
        "langmemory",
        *where,
        "projects",
        "refresh",
        "--later",
        "--",
        project,
    ]
    begin, end = _marks(project)
    return f"{begin}\n({shlex.join(command)} >/dev/null 2>&1 &)\n{end}\n"


def _marks(project: str) -> tuple[str, str]:
    name = shlex.quote(project)
    return f"# >>> langmemory: {name} >>>", f"# <<< langmemory: {name} <<<"


def _with_block(path: Path, project: str, block: str) -> str:
    """Return a hook with what is added after its first line.

    Raises:
        ConfigError: It is no shell script, or git does not run it.
    """
    text = _without_block(_read(path), project)
    if not text:
        return SHEBANG + block
    first, _, rest = text.partition("\n")
    if not _IS_SHELL.match(first):
        raise ConfigError(
            f"{path} is no shell script (it begins {first!r:.60}), so nothing was added. Let it run: "
            f"{block.splitlines()[1]}"
        )
    if not os.access(path, os.X_OK):
        raise ConfigError(
            f"{path} cannot be executed, so git does not run it. Make it executable, or delete it, first."
        )
    return f"{first}\n{block}{rest}"


def _without_block(text: str, project: str) -> str:
    begin, end = (re.escape(mark) for mark in _marks(project))
    return re.sub(rf"^{begin}\n(?:.*\n)*?{end}\n", "", text, flags=re.MULTILINE)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error


def _replace(path: Path, text: str, mode: int) -> None:
    """Write a file whole or not at all."""
    new = path.with_name(f".{path.name}.langmemory")
    new.write_bytes(text.encode("utf-8", "surrogateescape"))
    new.chmod(mode)
    new.replace(path)
