"""Messages of a file into memory, thread by thread, and the command `langmemory import FILE`."""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Protocol

import typer

from langmemory.cli.target import DEFAULT_NAMESPACE, JsonOption, Target
from langmemory.cli.terminal import json_text, say
from langmemory.errors import ConfigError, ImportFormatError
from langmemory.pluralize import count_noun, memories

if TYPE_CHECKING:
    from langmemory.parts.importing.formats import Format
    from langmemory.parts.importing.message import ImportedMessage
    from langmemory.stores import MemoryStore
    from langmemory.types import Namespace, Remembered

BATCH_MESSAGES = 500
"""Messages a transaction; a killed import keeps what it had and skips it when repeated."""
BATCH_CHARACTERS = 4_000_000
"""Fewer messages, if they are this long together: embedding takes some forty bytes a character."""


class MessageStore(Protocol):
    """A store that remembers messages."""

    def remember(
        self, namespace: Namespace, messages: list[dict[str, Any]], *, thread_id: str
    ) -> Remembered: ...


@dataclass(kw_only=True, slots=True)
class ImportReport:
    """The counts of an import."""

    format: Format
    read: int = 0
    """Messages in the file, or memories of an export."""
    added: int = 0
    known: int = 0
    """Already stored, under the same id."""
    skipped: int = 0
    """Not spoken by anybody: system prompts, tool results, empty messages."""
    threads: int = 0
    redacted: dict[str, int] = field(default_factory=dict)
    """Credentials that were replaced, by kind."""


def import_conversations(
    store: MessageStore,
    namespace: Namespace,
    stream: BinaryIO,
    format: Format,
    advance: Callable[[], None] = lambda: None,
    named: Callable[[str], str] = str,
) -> ImportReport:
    """Remember every spoken message of the file, thread by thread; ``named`` says what a thread is called."""
    from langmemory.parts.importing.formats import read_messages

    report = ImportReport(format=format)
    threads: set[str] = set()
    for thread, batch in _batches(read_messages(stream, format)):
        spoken = [message for message in batch if message.spoken]
        added = store.remember(namespace, [_turn(m) for m in spoken], thread_id=named(thread))
        for kind, count in added.redacted.items():
            report.redacted[kind] = report.redacted.get(kind, 0) + count
        threads.add(thread)
        report.read += len(batch)
        report.added += len(added)
        report.known += len(spoken) - len(added)
        report.skipped += len(batch) - len(spoken)
        advance()
    report.threads = len(threads)
    return report


def _batches(
    messages: Iterator[ImportedMessage],
) -> Iterator[tuple[str, list[ImportedMessage]]]:
    """Runs of messages of one thread, at most `BATCH_MESSAGES` each, or about `BATCH_CHARACTERS`."""
    for thread, run in itertools.groupby(messages, key=lambda message: message.thread):
        batch: list[ImportedMessage] = []
        characters = 0
        for message in run:
            batch.append(message)
            characters += len(message.content)
            if len(batch) == BATCH_MESSAGES or characters >= BATCH_CHARACTERS:
                yield thread, batch
                batch, characters = [], 0
        if batch:
            yield thread, batch


def _turn(message: ImportedMessage) -> dict[str, Any]:
    """The message as `MemoryStore.remember` takes it."""
    fields = {
        "role": message.role,
        "content": message.content,
        "id": message.id,
        "name": message.name,
        "at": message.at,
    }
    return {name: value for name, value in fields.items() if value is not None}


def import_file(
    target: Target,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Messages as JSONL or LangGraph JSON; an export of ChatGPT, Claude, Slack (a day), "
            "WhatsApp, mail (mbox) or langmemory; - is stdin.",
            show_default=False,
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Import conversations, or an export; repeating it adds nothing."""
    from langmemory.parts.importing import detect

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
        if report.added and format != "export":
            search, reflect = target.command('search "…"'), target.command("reflect")
            say(f"Next: `{search}` finds it, `{reflect}` turns it into facts")


def import_export(
    store: MemoryStore, stream: BinaryIO, advance: Callable[[], None] = lambda: None
) -> ImportReport:
    """Restore the rows of an export as they were, namespaces included."""
    from langmemory.parts.importing import read_rows

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
