"""`langmemory projects …`: folders that belong together, their documents, and what may be out of date."""

from __future__ import annotations

import signal
import threading
from typing import Annotated

import typer

from langmemory.cli.documents import DryRunOption, print_synced, reading, report
from langmemory.cli.target import Group, IgnoreOption, JsonOption, OnFile
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.cli.values import Count
from langmemory.errors import ConfigError
from langmemory.pluralize import count_noun

projects = Group(help="Register folders, find them, keep their documents up to date.")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Of the project.")]


@projects.command()
def add(
    target: OnFile,
    folder: str,
    *,
    name: str | None = None,
    description: str | None = None,
    pattern: list[str] | None = None,
    ignore: IgnoreOption = None,
    owner: str | None = None,
    unread: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Register a project and read it.

    Args:
        folder: Where it is.
        name: Else the one that its files give.
        description (TEXT): What it is; else what its files say.
        pattern (GLOB): Read only these files, such as 'docs/**/*.md'; may be repeated.
        owner (NAME): Who answers for it.
        unread: Register it, and read nothing yet.
    """
    with target.open(create=True, vectors=not unread) as store, reading() as progress:
        project = store.projects.add(
            folder,
            name=name,
            description=description,
            patterns=pattern or (),
            ignore=ignore or (),
            owner=owner or "",
        )
        if not as_json:
            said = f": {project.description}" if project.description else ""
            say(printable(f"{project.name}{said}"))
        try:
            done = None if unread else store.projects.refresh(project.name, progress=progress)
        except Exception:  # whatever it was: once it is mended, the same command works
            store.projects.remove(project.name)
            raise
    if done is not None:
        report(done, as_json=as_json, dry_run=False)
    elif as_json:
        say(json_text(plain(project)))


@projects.command("list")
def list_projects(target: OnFile, as_json: JsonOption = False) -> None:
    """List the projects by name."""
    from rich.text import Text

    from langmemory.cli.screen import Screen

    with target.open(vectors=False) as store:
        found = store.projects.list()
        documents = [len(store.documents.list(project=one.name)) for one in found]
        open_ = [len(store.changes.reviews(one.namespace)) for one in found]
    if as_json:
        say(json_text([plain(one) for one in found]))
        return
    console = Screen()
    for one, many, asked in zip(found, documents, open_, strict=True):
        console.print(Text(one.name, "bold", overflow="fold"))
        said = [count_noun(many, "document"), count_noun(asked, "open review") if asked else ""]
        said.append(f"owner {one.owner}" if one.owner else "")
        console.print_indented(Text(", ".join(filter(None, said))))
        console.print(Text(f"  {one.root}", "dim"), soft_wrap=True)
    say(count_noun(len(found), "project"))


@projects.command()
def update(
    target: OnFile,
    name: NameArgument,
    *,
    root: str | None = None,
    description: str | None = None,
    pattern: list[str] | None = None,
    ignore: IgnoreOption = None,
    owner: str | None = None,
    as_json: JsonOption = False,
) -> None:
    """Change what is said of a project; `refresh` reads what that changes.

    Args:
        root (FOLDER): Where it is now.
        description (TEXT): What it is; else what its files say.
        pattern (GLOB): Read only these files, such as 'docs/**/*.md'; may be repeated.
        owner (NAME): Who answers for it.
    """
    with target.open(vectors=False) as store:
        found = store.projects.update(
            name, root=root, description=description, patterns=pattern, ignore=ignore, owner=owner
        )
    said = f"{found.name}: {found.root}; `langmemory projects refresh` reads it"
    say(json_text(plain(found)) if as_json else printable(said))


@projects.command()
def remove(
    target: OnFile,
    name: NameArgument,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Take a project out, with its documents and its hooks; its folder is not touched."""
    with target.open(vectors=False) as store:
        done = store.projects.remove(name, dry_run=dry_run)
    report(done, as_json=as_json, dry_run=dry_run)


@projects.command()
def discover(
    target: OnFile,
    folder: str = ".",
    *,
    depth: Count = 4,
    add_all: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Find folders that are projects and are not registered, by what is in them.

    Args:
        folder: Where to look.
        depth: Folders below it.
        add_all (--add): Register and read what is found.
    """
    from langmemory.documents import Synced

    done = Synced()
    with target.open(create=True, vectors=add_all) as store, reading() as progress:
        found = store.projects.discover(folder, depth=depth)
        for one in found if add_all else ():
            try:
                project = store.projects.add(one.root)
                done += store.projects.refresh(project.name, progress=progress)
            except ConfigError as error:  # one of two with the same name
                done.failed[one.root] = str(error)
    if as_json:
        say(json_text([plain(one) for one in found]))
        return
    for one in found:
        said = f": {one.description}" if one.description else ""
        say(printable(f"{one.name} ({one.root}){said}"))
        for problem in one.problems:
            say(printable(f"! {problem}"), err=True)
    if add_all:
        report(done, as_json=False, dry_run=False)
    else:
        hint = "; --add registers them" if found else ""
        say(f"{count_noun(len(found), 'project')} found{hint}")


@projects.command()
def refresh(
    target: OnFile,
    names: list[str] | None = None,
    *,
    later: bool = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read projects again: new, changed, moved and deleted files, and what is out of date.

    Args:
        names ([NAME]…): Which; else all.
        later: Put it into the queue, for `langmemory worker`.
    """
    from langmemory.documents import Synced

    done, queued = Synced(), list[int]()
    with target.open(vectors=not later) as store, reading() as progress:
        wanted = names or [one.name for one in store.projects.list()]
        for name in wanted:
            if later:
                queued.append(store.projects.later(name))
                continue
            try:
                done += store.projects.refresh(name, progress=progress, dry_run=dry_run)
            except ConfigError as error:  # its folder is not there, but the others are
                if len(wanted) == 1:
                    raise
                done.failed[name] = str(error)
    if later:
        said = f"{count_noun(len(queued), 'job')} for `langmemory worker`"
        say(json_text({"queued": queued}) if as_json else said)
    else:
        report(done, as_json=as_json, dry_run=dry_run)


@projects.command()
def stale(target: OnFile, name: NameArgument, as_json: JsonOption = False) -> None:
    """List documents that name files which were changed after them."""
    with target.open(vectors=False) as store:
        found = store.projects.stale(name)
    if as_json:
        say(json_text([plain(one) for one in found]))
        return
    for one in found:
        say(printable(f"{one.document.path} ({one.changed_at:%Y-%m-%d %H:%M})"))
        for path, at in sorted(one.sources.items()):
            say(printable(f"  {path} ({at:%Y-%m-%d %H:%M})"))
    say(f"{count_noun(len(found), 'document')} may be out of date")


@projects.command()
def watch(target: OnFile, name: NameArgument) -> None:
    """Read a project, and again whenever a file of it changes; Ctrl-C stops."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with target.open() as store:
        for number, done in enumerate(store.projects.watch(name, stop=stop)):
            print_synced(done, dry_run=False)
            if not number:
                say("Watching; Ctrl-C stops", err=True)
