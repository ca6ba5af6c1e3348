"""Target: which file and which namespace a command works on, from options and configuration."""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmemory.addresses import display_address
from langmemory.cli.oneline import Command, CommandLine
from langmemory.cli.options import DbOption, NamespaceOption
from langmemory.cli.signatures import KEYWORD, parameters_of, summary_of
from langmemory.cli.terminal import printable, say
from langmemory.cli.values import count, kind, moment, until
from langmemory.errors import ConfigError, DatabaseError
from langmemory.labels import label_of, split

if TYPE_CHECKING:
    from langmemory.config import Config
    from langmemory.stores import MemoryStore
    from langmemory.types import Namespace

DEFAULT_NAMESPACE = "memories/me"
"""Where `import` writes and `chat` remembers, unless told otherwise."""

NAMESPACE_VARIABLE = "LANGMEMORY_NAMESPACE"
"""Names the namespace where no option does."""

NAMED_NAMESPACES = 5
"""Of those that a file has, so many are named to who looked in the wrong one."""

IgnoreOption = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="PATTERN",
        help="Leave out files that match, as in .gitignore; may be repeated.",
        show_default=False,
    ),
]
ViewerOption = Annotated[
    str | None, typer.Option("--viewer", metavar="NAME", help="Only what this person may read.")
]
AsOfOption = Annotated[
    datetime | None,
    typer.Option("--as-of", metavar="DAY", parser=moment, help="What was true on this day (UTC)."),
]
KnownAtOption = Annotated[
    datetime | None,
    typer.Option(
        "--known-at", metavar="DAY", parser=moment, help="As memory stood on this day (UTC)."
    ),
]
SinceOption = Annotated[
    datetime | None,
    typer.Option(
        "--since", metavar="DAY", parser=moment, help="Only what was said from this day on (UTC)."
    ),
]
UntilOption = Annotated[
    datetime | None,
    typer.Option(
        "--until",
        metavar="DAY",
        parser=until,
        help="Only what was said up to this day's end (UTC).",
    ),
]
KindOption = Annotated[
    list[Any] | None,  # of `Kind`, which older typers take for no type of an option
    typer.Option(
        "--kind",
        metavar="KIND",
        parser=kind,
        help="Only this kind of memory, such as episodic (what was said) or semantic (facts); may be "
        "repeated.",
    ),
]
LimitOption = Annotated[
    int, typer.Option("--limit", "-k", metavar="N", parser=count, help="At most so many.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


def check_span(since: datetime | None, until: datetime | None) -> None:
    """Raises typer.BadParameter where nothing can lie between two times."""
    if since is not None and until is not None and since >= until:
        raise typer.BadParameter("--since is after --until: nothing can be between them.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """The file and namespace asked for. Options of the command win over those before it."""

    db: str | None = None
    labels: list[str] | None = None

    @classmethod
    def of(cls, context: typer.Context, db: str | None, labels: list[str] | None) -> Target:
        before: Target = context.obj or cls()
        return cls(db=db or before.db, labels=labels or before.labels)

    def config(self) -> Config:
        """The configuration, with the path of `--db` in it."""
        from langmemory.config import load_config

        config = load_config()
        if self.db is None:
            return config
        database = config.database.model_copy(update={"path": os.path.expanduser(self.db)})
        return config.model_copy(update={"database": database})

    def existing(self) -> Config:
        """The configuration, if the memory it names is there.

        Raises:
            DatabaseError: It is not.
        """
        from langmemory.engines.opening import is_there

        config = self.config()
        path = config.database.path
        if not is_there(path):
            raise DatabaseError(
                f"{display_address(path)} does not exist: `langmemory import FILE` makes it, "
                "--db names another one"
            )
        return config

    def open(self, *, create: bool = False, vectors: bool = True) -> closing[MemoryStore]:
        """The store, closed at the end of the `with`.

        Args:
            create: Make the file if it is not there.
            vectors: Whether the command compares or writes any. Without, the embedding model is not
                asked for: the file may be of an application that passes its own.

        Raises:
            DatabaseError: The file does not exist and nothing would be written to it.
            EmbeddingModelMismatchError: Its vectors come from another model than the configured.
        """
        from langmemory.stores import MemoryStore

        config = self.config() if create else self.existing()
        return closing(MemoryStore(config=config, index=None if vectors else False))

    def check_output(self, file: Path) -> None:
        """Before a command writes to `file`.

        Raises:
            ConfigError: It is the memory file, or the log beside it, and would be overwritten.
        """
        path = self.config().database.path
        for own in (Path(f"{path}{suffix}") for suffix in ("", "-wal", "-shm")):
            if own.exists() and file.exists() and file.samefile(own):
                raise ConfigError(f"{file} is the memory file. Name another one to write to.")

    def command(self, words: str) -> str:
        """Return a command that works on the same file and namespace, for a shell."""
        place = [] if self.labels is None else [f"-n {shlex.quote(one)}" for one in self.labels]
        file = (
            [] if self.db is None else [f"--db {shlex.quote(display_address(self.db, user=True))}"]
        )
        return " ".join(["langmemory", words, *file, *place])

    def namespace(self, default: str = "") -> Namespace:
        """The labels of `--namespace`: of one, joined by `/`, with `%2F` for a slash in a label; of
        several, each a whole label, as it is. Without it those of `NAMESPACE_VARIABLE`, else of the
        default. An id with a period, such as an e-mail address, is escaped.

        Raises:
            ConfigError: A label is empty.
        """
        configured = os.environ.get(NAMESPACE_VARIABLE) or default
        given = self.labels if self.labels is not None else ([configured] if configured else [])
        labels = split(given[0]) if len(given) == 1 else tuple(given)
        source = "--namespace" if self.labels is not None else NAMESPACE_VARIABLE
        for label in labels:
            if not label:
                raise ConfigError(
                    f"{source} {'/'.join(given)}: label {label!r} is empty; write it as a/b"
                )
        return tuple(label_of(label) if "." in label else label for label in labels)

    def note_unknown(self, store: MemoryStore, namespace: Namespace) -> None:
        """Say on stderr that the file does not have a namespace, where that is why nothing is there."""
        if problem := self.unknown(store, namespace):
            say(printable(problem), err=True)

    def elsewhere(self, store: MemoryStore) -> str:
        """To be said where nothing was found and no namespace was named: which others there are."""
        others = _others(store, self.namespace(DEFAULT_NAMESPACE))
        if self.labels or not others:
            return ""
        return f" --namespace looks elsewhere, for example in {', '.join(others)}."

    def unknown(self, store: MemoryStore, namespace: Namespace) -> str | None:
        """Return what to say of a namespace that the file does not have; None if it has it."""
        if not namespace or store.list_namespaces(prefix=namespace, limit=1):
            return None
        others = _others(store, namespace)
        there = f" It has, for example, {', '.join(others)}." if others else " It is empty."
        return f"{store.path} has no namespace {'/'.join(namespace)}.{there}"


OnFile = Annotated[Target, "no namespace"]
"""The target of a command that has no use for a namespace."""


def with_target(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command as typer takes it. Where its first argument is a `Target`, it has the options that say
    which file and namespace it works on."""
    own = list(parameters_of(command))
    takes_target = bool(own) and own[0].annotation in (Target, OnFile)
    given: dict[str, Any] = {"db": DbOption} if takes_target else {}
    if takes_target and own.pop(0).annotation is Target:
        given["namespace"] = NamespaceOption
    options = [
        inspect.Parameter(name, KEYWORD, default=None, annotation=kind)
        for name, kind in given.items()
    ]
    place = len(own) - (bool(own) and own[-1].name == "as_json")
    context = inspect.Parameter("context", KEYWORD, annotation=typer.Context)
    parameters = [context, *own[:place], *options, *own[place:]]

    def run(context: typer.Context, **given: Any) -> None:
        target = []
        if takes_target:
            target.append(Target.of(context, given.pop("db", None), given.pop("namespace", None)))
        command(*target, **given)

    run.__name__, run.__doc__ = command.__name__, summary_of(command)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


class Group(typer.Typer):
    """A command that has commands of its own."""

    def __init__(self, *, help: str) -> None:
        super().__init__(cls=CommandLine, no_args_is_help=True, help=help)

    def command(  # type: ignore[override]
        self, name: str | None = None, *, hidden: bool = False
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """Return a decorator that adds a command, see `with_target`."""
        add = super().command(name, cls=Command, hidden=hidden)
        return lambda command: add(with_target(command))


def _others(store: MemoryStore, namespace: Namespace) -> list[str]:
    """Return some namespaces of the file but for this one."""
    found = store.list_namespaces(limit=2 * NAMED_NAMESPACES)
    names = ["/".join(each) for each in found if each != namespace and each[-1] != "core"]
    return names[:NAMED_NAMESPACES]  # core memory is no place
