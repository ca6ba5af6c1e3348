"""Messages of a file into memory, thread by thread."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

if TYPE_CHECKING:
    from langmemory.parts.importing.formats import Format
    from langmemory.parts.importing.message import ImportedMessage
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
    unread: list[str] = field(default_factory=list)
    """What of messages cannot be read: the line, and why. The rest of them was."""


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
        report.unread += [message.unread for message in batch if message.unread]
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
        "trust": "import",
    }
    return {name: value for name, value in fields.items() if value is not None}
