"""`langmemory import FILE`: conversations and exports into memory."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from langmemory.cli.target import DEFAULT_NAMESPACE, JsonOption, Target
from langmemory.cli.terminal import json_text, say
from langmemory.errors import ConfigError, ImportFormatError
from langmemory.pluralize import count_noun, memories

MOST_UNREAD: Final = 20
"""Messages that are named of which something cannot be read."""

if TYPE_CHECKING:
    from langmemory.parts.importing.importing import ImportReport
    from langmemory.stores import MemoryStore
    from langmemory.types import Namespace


def import_file(target: Target, file: Path, *, as_json: JsonOption = False) -> None:
    """Import conversations, or an export; repeating it adds nothing.

    Args:
        file: Messages as JSONL or LangGraph JSON; an export of ChatGPT, Claude, Slack (a day), WhatsApp, mail
            (mbox) or langmemory; - is stdin.
    """
    from langmemory.parts.importing import detect
    from langmemory.parts.importing.importing import import_conversations

    where = target.namespace(DEFAULT_NAMESPACE)
    with _read_twice(file) as stream:
        format = detect(stream)
        if format == "export" and target.labels:
            raise ConfigError(
                f"{stream.name} is a langmemory export, and goes where it came from: leave --namespace out"
            )
        with target.open(create=True) as store, _progress(stream) as advance:
            if format == "export":
                report = import_export(store, stream, advance)
            else:
                report = import_conversations(store, where, stream, format, advance)
    if not report.read:
        raise ImportFormatError(f"{stream.name} holds no messages.")
    if as_json:
        say(json_text(asdict(report) | {"namespace": where}))
    else:
        say(_summary(report, stream.name, where))
        for one in report.unread[:MOST_UNREAD]:
            say(f"Not read: {stream.name}, {one}")
        if (more := len(report.unread) - MOST_UNREAD) > 0:
            say(f"Not read: {more:,} more, which --json lists")
        if report.added and format != "export":
            search, reflect = target.command('search "…"'), target.command("reflect")
            say(f"Next: `{search}` finds it, `{reflect}` turns it into facts")


def import_export(
    store: MemoryStore, stream: BinaryIO, advance: Callable[[], None] = lambda: None
) -> ImportReport:
    """Restore the rows of an export as they were, namespaces included."""
    from langmemory.parts.importing import read_rows
    from langmemory.parts.importing.importing import ImportReport

    report = ImportReport(format="export")

    def rows() -> Iterator[dict[str, Any]]:
        for row in read_rows(stream):
            report.read += row["type"] == "item"
            advance()
            yield row

    report.added = store.admin.import_rows(rows())
    report.known = report.read - report.added
    return report


class _Piped(io.BytesIO):
    """The bytes of a pipe, which can be read only once, under the pipe's name."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(content)
        self.name = name


@contextmanager
def _read_twice(file: Path) -> Iterator[BinaryIO]:
    """The file from its beginning, to which a look at its format returns."""
    if str(file) == "-":
        yield _Piped("stdin", sys.stdin.buffer.read())
        return
    if file.is_dir():
        raise ConfigError(
            f"{file} is a folder. `langmemory seed {file}` reads what is in it; import takes one file."
        )
    with file.open("rb") as stream:
        yield stream if stream.seekable() else _Piped(str(file), stream.read())


@contextmanager
def _progress(stream: BinaryIO) -> Iterator[Callable[[], None]]:
    """A bar over the file's bytes, at a terminal, gone when it is done."""
    from rich.markup import escape

    from langmemory.cli.screen import bars_on_stderr

    with bars_on_stderr() as bars:
        total = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        task = bars.add_task(f"Importing {escape(Path(stream.name).name)}", total=total)
        yield lambda: bars.update(task, completed=stream.tell())


def _summary(report: ImportReport, name: str, namespace: Namespace) -> str:
    known = f", {report.known:,} already there" if report.known else ""
    skipped = f", {report.skipped:,} skipped (system, tool or empty)" if report.skipped else ""
    replaced = ", ".join(count_noun(n, kind) for kind, n in sorted(report.redacted.items()))
    redacted = f"; not stored: {replaced}" if replaced else ""
    if report.format == "export":
        return f"Restored {memories(report.added)} of {name}{known}"
    return (
        f"Added {count_noun(report.added, 'message')} of {count_noun(report.threads, 'thread')} to "
        f"{'/'.join(namespace)}{known}{skipped}{redacted}"
    )
