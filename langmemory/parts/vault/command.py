"""`langmemory vault …`: secrets, their keys, and who unlocked them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langmemory.cli.target import (
    DEFAULT_NAMESPACE,
    Group,
    JsonOption,
    OnFile,
    Target,
)
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.cli.values import Count
from langmemory.errors import ConfigError
from langmemory.pluralize import count_noun

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langmemory.types import SecretInfo

BY = "cli"

vault = Group(help="Keep secrets encrypted; unlock, rotate, audit.")

LabelArgument = Annotated[
    str, typer.Argument(metavar="LABEL", help="See `langmemory vault list`.", show_default=False)
]
OwnerOption = Annotated[
    str | None,
    typer.Option(
        "--owner", metavar="NAME", help="Whose it is; else the application's.", show_default=False
    ),
]
VersionOption = Annotated[
    int | None,
    typer.Option("--version", metavar="N", help="An older version.", show_default=False),
]


@vault.command()
def put(target: Target, label: LabelArgument, owner: OwnerOption = None) -> None:
    """Store a secret, from stdin or typed without an echo. A known label gets a new version."""
    namespace = target.namespace(DEFAULT_NAMESPACE)
    with target.open(create=True, vectors=False) as store:
        stored = store.vault.put(namespace, label, _asked(), owner=owner, by=BY)
    say(f"Stored {label} (version {stored.version}) in {'/'.join(namespace)}.")


def _asked() -> str:
    """Return the secret. It is no argument: those of a process are seen by all on the machine."""
    if sys.stdin.isatty():
        found: str = typer.prompt(
            "Secret", hide_input=True, confirmation_prompt="Once more", err=True
        )
        return found
    text = sys.stdin.read()
    return text.removesuffix("\n").removesuffix("\r")


@vault.command()
def get(
    target: Target,
    label: LabelArgument,
    *,
    owner: OwnerOption = None,
    version: VersionOption = None,
    reveal: bool = False,
    reason: str = "",
) -> None:
    """Print what is known of a secret; with --reveal the secret itself, which goes into the audit log.

    Args:
        reveal: Unlock it, and print it.
        reason (TEXT): For the audit log.
    """
    namespace = target.namespace(DEFAULT_NAMESPACE)
    with target.open(vectors=False) as store:
        if reveal:
            secret = store.vault.get(
                namespace, label, owner=owner, version=version, reason=reason, by=BY
            )
            if sys.stdout.isatty():
                say(secret.reveal())
            else:  # as it is, for a program
                typer.echo(secret.reveal(), nl=False)
            return
        found = store.vault.versions(namespace, label, owner=owner)
    if not found:
        raise typer.BadParameter(
            f"There is no secret {label!r} in {'/'.join(namespace)}; `langmemory vault list` shows "
            "which there are."
        )
    _print(found)
    say("--reveal prints it.", err=True)


@vault.command("list")
def list_secrets(
    target: Target,
    *,
    label: str | None = None,
    owner: OwnerOption = None,
    deleted: bool = False,
    as_json: JsonOption = False,
) -> None:
    """List secrets by their labels, in the namespace and below it, else in the whole file.

    Args:
        label (TEXT): Part of the label.
        deleted: Deleted ones, too.
    """
    with target.open(vectors=False) as store:
        found = store.vault.list(target.namespace(), label=label, owner=owner, deleted=deleted)
    if as_json:
        say(json_text(plain(found)))
    elif found:
        _print(found)
    else:
        say("There is no secret. `langmemory vault put LABEL` stores one.")


def _print(found: Iterable[SecretInfo]) -> None:
    from rich.text import Text

    from langmemory.cli.screen import FOLD, RIGHT, WHOLE, Screen

    rows = []
    for one in found:
        state = "deleted" if one.deleted_at is not None else ""
        cells = (
            one.label, "/".join(one.namespace), one.owner or "the application", str(one.version),
            f"{one.stored_at.astimezone():%Y-%m-%d %H:%M}", state,
        )  # fmt: skip
        style = "dim" if state else ""
        narrow = [Text(f"{one.label}\n  {' · '.join(cell for cell in cells[1:] if cell)}\n", style)]
        rows.append((tuple(Text(printable(cell)) for cell in cells), style, narrow))
    columns = {
        "secret": FOLD, "where": FOLD, "of": FOLD, "version": RIGHT, "stored": WHOLE, "": WHOLE,
    }  # fmt: skip
    Screen().print_rows(columns, rows)


@vault.command()
def rm(
    target: Target,
    label: LabelArgument,
    *,
    owner: OwnerOption = None,
    forget: bool = False,
    yes: bool = False,
) -> None:
    """Delete a secret. `restore` takes that back, unless it was forgotten.

    Args:
        forget: Erase all versions, for good; asks first.
        yes (--yes, -y): Do not ask.
    """
    namespace = target.namespace(DEFAULT_NAMESPACE)
    with target.open(vectors=False) as store:
        if not forget:
            store.vault.delete(namespace, label, owner=owner, by=BY)
            again = target.command(f"vault restore {shlex.quote(label)}")
            say(f"Deleted {label}. `{again}` takes that back.")
            return
        versions = store.vault.versions(namespace, label, owner=owner)
        many = count_noun(len(versions), "version")
        if versions and not yes:
            typer.confirm(f"Erase {many} of {printable(label)} for good?", abort=True, err=True)
        store.vault.forget(namespace, label, owner=owner)
    say(f"Erased {many} of {label}.")


@vault.command()
def restore(
    target: Target, label: LabelArgument, owner: OwnerOption = None, version: VersionOption = None
) -> None:
    """Take back that a secret was deleted, or make an older version the newest one."""
    with target.open(vectors=False) as store:
        found = store.vault.restore(
            target.namespace(DEFAULT_NAMESPACE), label, owner=owner, version=version, by=BY
        )
    say(f"Restored {label}: version {found.version} counts.")


@vault.command()
def rotate(target: OnFile) -> None:
    """Encrypt everything anew with the first of the keys. If it was interrupted, run it again."""
    with target.open(vectors=False) as store:
        done = store.vault.rotate(by=BY)
    say(f"Encrypted {count_noun(done.versions, 'version')} anew, with the key {done.key}.")
    for key in done.retired:
        say(f"Nothing is encrypted with {key} any more; it may go, once backups made before may.")


@vault.command()
def key(
    target: OnFile,
    *,
    file: Path | None = None,
    keyring: str | None = None,
    new: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Show the ids of the vault's keys, and which are here; or make a new key.

    Args:
        file: Make a key, first in this file.
        keyring (NAME): Make a key, first in this entry of the system's keyring.
        new: Make a key, and print it.
    """
    from langmemory.parts.vault import VaultKey
    from langmemory.parts.vault.sources import (
        FILE_VARIABLE,
        KEYRING_VARIABLE,
        write_key_file,
        write_keyring,
    )

    if (file is not None) + (keyring is not None) + new > 1:
        raise ConfigError("--file, --keyring and --new exclude each other.")
    made = VaultKey.generate()
    if new:
        say(made.text())
    elif file is not None:
        write_key_file(file, made.text())
        say(f"Key {made.id} is in {file}. Set {FILE_VARIABLE}={file}; without it no secret opens.")
    elif keyring is not None:
        write_keyring(keyring, made.text())
        say(f"Key {made.id} is in the keyring. Set {KEYRING_VARIABLE}={keyring}.")
    else:
        with target.open(vectors=False) as store:
            status = store.vault.status()
        if as_json:
            say(json_text(plain(status)))
            return
        if status.current is None:
            say("The vault is empty. `langmemory vault key --file FILE` makes a key.")
        for id in dict.fromkeys([*([status.current] if status.current else []), *status.versions]):
            here = f"here, from {status.source}" if id in status.given else "not here"
            state = "current" if id == status.current else "old"
            many = count_noun(status.versions.get(id, 0), "version")
            say(f"{id}  {state}, {many}, {here}")
        if status.current is not None and status.problem is not None:
            say(status.problem)
        if status.is_rotating:
            say("A rotation is not complete: `langmemory vault rotate` goes on.")


@vault.command()
def audit(target: Target, *, limit: Count = 50, as_json: JsonOption = False) -> None:
    """Show who did what with secrets, the newest first.

    Args:
        limit: At most so many.
    """
    from rich.text import Text

    from langmemory.cli.screen import FOLD, WHOLE, Screen

    with target.open(vectors=False) as store:
        found = store.vault.audit(target.namespace(), limit=limit)
    if as_json:
        say(json_text(plain(found)))
        return
    if not found:
        say("Nobody has used the vault.")
        return
    rows = []
    for one in found:
        secret = one.label or ("the vault" if one.action == "rotate" else "forgotten")
        if one.version is not None:
            secret += f" (version {one.version})"
        cells = (
            f"{one.at.astimezone():%Y-%m-%d %H:%M:%S}", one.action, secret, one.owner or "",
            one.viewer or "the application", one.by, one.reason,
        )  # fmt: skip
        narrow = [Text(printable(" · ".join(cell for cell in cells if cell)) + "\n")]
        rows.append((tuple(Text(printable(cell)) for cell in cells), "", narrow))
    columns = {
        "at": WHOLE, "what": WHOLE, "secret": FOLD, "of": FOLD, "for": FOLD, "by": FOLD, "reason": FOLD,
    }  # fmt: skip
    Screen().print_rows(columns, rows)
