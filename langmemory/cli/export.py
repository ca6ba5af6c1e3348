"""`langmemory export` and `copy`: a memory leaves its file, as JSON Lines or to another engine."""

from __future__ import annotations

import glob
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import typer

from langmemory.cli.target import JsonOption, Target
from langmemory.cli.terminal import json_text, printable, say
from langmemory.errors import ConfigError, DamagedFileError
from langmemory.files import create_file
from langmemory.pluralize import count_noun, memories


def export(target: Target, file: Path | None = None) -> None:
    """Write memories with all facets, times to live and history as JSONL.

    Args:
        file: Where to write; stdout if left out, or -.
    """
    if str(file) == "-":
        file = None
    prefix = target.namespace()
    if file:
        target.check_output(file)
    with target.open(vectors=False) as store:
        damages: list[object] = []
        path = store.path
        exported = _all_readable(store.admin.export(prefix), damages)
        begin = list(islice(exported, 2))  # the first row tells of the export itself
        if prefix and len(begin) < 2:
            problem = target.unknown(store, prefix) or f"{'/'.join(prefix)} holds nothing."
            raise ConfigError(f"{problem} Nothing was written.")
        rows = write_rows(chain(begin, exported), file)
    if damages:
        say(f"{path} is damaged. Not in the export:", err=True)
        for damage in damages:
            say(f"  {printable(str(damage))}", err=True)
    if file:
        again = f"langmemory import {shlex.quote(str(file))}"
        say(f"Wrote {count_noun(rows, 'row')} to {file}; `{again}` takes them back")
    if damages:
        raise typer.Exit(1)


def _all_readable(
    exported: Iterator[dict[str, Any]], damages: list[object]
) -> Iterator[dict[str, Any]]:
    """The rows; what of a damaged file cannot be read is noted, and is no error."""
    try:
        yield from exported
    except DamagedFileError as error:
        damages.extend(error.damages)


def write_rows(exported: Iterator[dict[str, Any]], file: Path | None) -> int:
    """Write the rows to the file or to stdout. Returns how many."""
    with _whole(file) if file else nullcontext(sys.stdout) as lines:
        rows = 0
        for row in exported:
            lines.write((json.dumps(row, ensure_ascii=False) if file else json_text(row)) + "\n")
            rows += 1
    return rows


@contextmanager
def _whole(file: Path) -> Iterator[TextIO]:
    """A file that takes its place when it is complete: a backup that was there stays until then."""
    if file.exists() and not file.is_file():  # a pipe or a device; of a folder, the error
        with file.open("w", encoding="utf-8") as stream:
            yield stream
        return
    place = file.resolve()
    part = place.with_name(f"{place.name}.{os.getpid()}.part")
    try:
        for left in leftovers(place):
            left.unlink(missing_ok=True)
        create_file(part)
        stream = part.open("w", encoding="utf-8")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from None
    try:
        with stream:
            if place.exists():
                shutil.copymode(place, part)
            yield stream
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def leftovers(place: Path) -> list[Path]:
    """Unfinished copies of an export beside it, of processes that were killed while they wrote."""
    found = []
    for part in place.parent.glob(f"{glob.escape(place.name)}.*.part"):
        pid = part.name[len(place.name) + 1 : -len(".part")]
        if pid.isascii() and pid.isdigit() and not _runs(int(pid)):
            found.append(part)
    return found


def _runs(pid: int) -> bool:
    """Whether another process has this number. Its own number is that of a killed one, used again."""
    if pid == os.getpid():
        return False
    if sys.platform == "win32":  # there signal 0 is Ctrl-C
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is somebody else's
        return True
    return True


def copy(
    source: str, target: str, *, field: list[str] | None = None, as_json: JsonOption = False
) -> None:
    """Copy a whole memory into an empty place; repeat it to go on after an interruption.

    Args:
        source: A memory file, postgresql://…?schema=name, or a store of LangGraph's own.
        target: A new file, or an empty schema of a server.
        field (PATH): A field of the application's index config, if it has any; may be repeated.
    """
    from langmemory.cli.screen import counting_bars
    from langmemory.stores import copy as copy_all

    with counting_bars() as bars:
        task = bars.add_task("Copying", total=None)
        copied = copy_all(
            source,
            target,
            fields=field,
            progress=lambda done, total: bars.update(task, completed=done, total=total),
        )
    if as_json:
        say(json_text(asdict(copied)))
        return
    say(f"Copied {memories(copied.memories)} of {copied.source} to {copied.target}")
    say(
        f"Both hold the same {count_noun(copied.rows, 'row')} and {count_noun(copied.vectors, 'vector')}"
    )
    if copied.recalls:
        say(f"{count_noun(copied.recalls, 'sample recall')} found the same in both")
