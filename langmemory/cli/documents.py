"""`langmemory documents …`: files and texts that are searched beside what was said."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from langmemory.cli.target import Group, IgnoreOption, JsonOption, Target
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.cli.values import count
from langmemory.errors import ConfigError
from langmemory.pluralize import count_noun
from langmemory.resources import MOST_BYTES, NAMESPACE

if TYPE_CHECKING:
    from langmemory.documents import Synced
    from langmemory.documents.reading import Progress
    from langmemory.types import Namespace

FEW = 20
"""Paths that are named, of each kind."""
TITLE = 60
"""Characters of a title in a table."""

documents = Group(help="Add files and folders, list, sync, remove and watch them.")

DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", metavar="NAME", help="Of this project, in place of a namespace."),
]
MostBytesOption = Annotated[
    int, typer.Option("--most-bytes", metavar="N", parser=count, help="Of one file.")
]


@documents.command()
def add(
    target: Target,
    sources: list[str],
    *,
    ignore: IgnoreOption = None,
    project: ProjectOption = None,
    most_bytes: MostBytesOption = MOST_BYTES,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read files, folders and globs; what is as it was costs nothing.

    Args:
        sources (PATH…): Files, folders, or globs in quotes.
    """
    with target.open(create=True) as store, reading() as progress:
        done = store.documents.add(
            sources[0] if len(sources) == 1 else sources,
            namespace=_namespace(target, project),
            project=project,
            ignore=ignore or (),
            most_bytes=most_bytes,
            progress=progress,
            dry_run=dry_run,
        )
    report(done, as_json=as_json, dry_run=dry_run)


@documents.command("list")
def list_documents(
    target: Target, prefix: str = "", *, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """List the documents by their paths.

    Args:
        prefix ([PATH]): Only those whose path begins so.
    """
    from langmemory.cli.screen import FOLD, RIGHT, WHOLE, Screen, plain_table

    namespace = _namespace(target, project)
    with target.open(vectors=False) as store:
        found = store.documents.list(namespace, project=project, prefix=prefix)
        if not found and namespace is not None:
            target.note_unknown(store, namespace)
    if as_json:
        say(json_text([plain(one) for one in found]))
        return
    table = plain_table(
        {"path": FOLD, "title": FOLD, "chunks": RIGHT, "bytes": RIGHT, "read": WHOLE}
    )
    for one in found:
        table.add_row(
            printable(one.path),
            printable(one.title if len(one.title) <= TITLE else f"{one.title[:TITLE]} …"),
            f"{one.chunks:,}",
            f"{one.bytes:,}",
            f"{one.read_at:%Y-%m-%d %H:%M}",
        )
    if found:
        Screen().print(table)
    say(count_noun(len(found), "document"))


@documents.command()
def sync(
    target: Target,
    project: ProjectOption = None,
    most_bytes: MostBytesOption = MOST_BYTES,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read again what was added: new, changed, moved and deleted files."""
    namespace = _namespace(target, project)
    with target.open() as store, reading() as progress:
        done = store.documents.refresh(
            namespace, project=project, most_bytes=most_bytes, progress=progress, dry_run=dry_run
        )
        if not done and not done.unchanged and namespace is not None:
            target.note_unknown(store, namespace)
    report(done, as_json=as_json, dry_run=dry_run)


@documents.command()
def remove(
    target: Target,
    path: str,
    *,
    project: ProjectOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Take documents out; a folder is then not read again.

    Args:
        path: Of a document, or of a folder that was added.
    """
    with target.open(vectors=False) as store:
        done = store.documents.remove(
            path, _namespace(target, project), project=project, dry_run=dry_run
        )
    report(done, as_json=as_json, dry_run=dry_run)


@documents.command()
def watch(target: Target, most_bytes: MostBytesOption = MOST_BYTES) -> None:
    """Sync, and again whenever a file changes; Ctrl-C stops."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with target.open() as store:
        found = store.documents.watch(target.namespace(NAMESPACE), stop=stop, most_bytes=most_bytes)
        for number, done in enumerate(found):
            print_synced(done, dry_run=False)
            if not number:
                say("Watching; Ctrl-C stops", err=True)


def _namespace(target: Target, project: str | None) -> Namespace | None:
    """Return the namespace that is named; None where a project is.

    Raises:
        ConfigError: Both are.
    """
    if project is None:
        return target.namespace(NAMESPACE)
    if target.labels is not None:
        raise ConfigError("Pass --project or --namespace, not both.")
    return None


@contextmanager
def reading() -> Iterator[Progress]:
    """A bar over the files, at a terminal, gone when it is done."""
    from langmemory.cli.screen import counting_bars

    with counting_bars() as bars:
        task = bars.add_task("Reading", total=None)

        def advance(done: int, total: int, path: str) -> None:
            bars.update(task, completed=done, total=total)

        yield advance


def report(done: Synced, *, as_json: bool, dry_run: bool) -> None:
    """Print what was done.

    Raises:
        typer.Exit: With 1, where something could not be read.
    """
    if as_json:
        say(json_text(plain(done)))
    else:
        print_synced(done, dry_run=dry_run)
    if done.failed:
        raise typer.Exit(1)


def print_synced(done: Synced, *, dry_run: bool) -> None:
    """Print what was done, a line for each of the first documents."""
    moved = [f"{old} → {new}" for new, old in done.moved.items()]
    for sign, paths in (("+", done.added), ("~", done.changed), (">", moved), ("-", done.removed)):
        for path in paths[:FEW]:
            say(printable(f"{sign} {path}"))
        if len(paths) > FEW:
            say(f"{sign} and {len(paths) - FEW:,} more")
    for path, why in [*list(done.failed.items())[:FEW], *list(done.unlinked.items())[:FEW]]:
        say(printable(f"! {why if why.startswith(path) else f'{path}: {why}'}"), err=True)
    counts = {
        "added": len(done.added), "changed": len(done.changed), "moved": len(done.moved),
        "removed": len(done.removed), "unchanged": done.unchanged, "not read": len(done.failed),
        "not linked": len(done.unlinked),
    }  # fmt: skip
    said = ", ".join(f"{number:,} {name}" for name, number in counts.items() if number)
    chunks = f"; {count_noun(done.chunks, 'chunk')} written" if done.chunks and not dry_run else ""
    say(f"{'Would be: ' if dry_run else ''}{said or 'nothing to read'}{chunks}")
