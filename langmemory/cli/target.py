"""Target: which file and which namespace a command works on, from options and configuration."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langmemory.cli.values import count, moment
from langmemory.errors import ConfigError, DatabaseError
from langmemory.labels import label_of

if TYPE_CHECKING:
    from langmemory.config import Config
    from langmemory.stores import MemoryStore
    from langmemory.types import Namespace

DEFAULT_NAMESPACE = "memories/me"
"""Where `import` writes and `chat` remembers, unless told otherwise."""

NAMED_NAMESPACES = 5
"""Of those that a file has, so many are named to who looked in the wrong one."""


DbOption = Annotated[
    Path | None,
    typer.Option(
        "--db",
        metavar="FILE",
        help="The memory file; else the configured one.",
        show_default=False,
    ),
]
NamespaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="A/B",
        help="Namespace as a/b, or one whole label at a time: -n a -n b.",
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
LimitOption = Annotated[
    int, typer.Option("--limit", "-k", metavar="N", parser=count, help="At most so many.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """The file and namespace asked for. Options of the command win over those before it."""

    db: Path | None = None
    labels: list[str] | None = None

    @classmethod
    def of(cls, context: typer.Context, db: Path | None, labels: list[str] | None) -> Target:
        before: Target = context.obj or cls()
        return cls(db=db or before.db, labels=labels or before.labels)

    def config(self) -> Config:
        """The configuration, with the path of `--db` in it."""
        from langmemory.config import load_config

        config = load_config()
        if self.db is None:
            return config
        database = config.database.model_copy(update={"path": str(self.db.expanduser())})
        return config.model_copy(update={"database": database})

    def existing(self) -> Config:
        """The configuration, if the memory file it names is there.

        Raises:
            DatabaseError: It is not.
        """
        config = self.config()
        path = config.database.path
        if not Path(path).exists():
            raise DatabaseError(
                f"{path} does not exist: `langmemory import FILE` makes it, --db names another one"
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

    def namespace(self, default: str = "") -> Namespace:
        """The labels of `--namespace`: of one, joined by `/`; of several, each a whole label, which
        may have a `/` in it. An id with a period, such as an e-mail address, is escaped.

        Raises:
            ConfigError: A label is empty.
        """
        given = self.labels if self.labels is not None else ([default] if default else [])
        labels = tuple(given[0].strip("/").split("/") if len(given) == 1 else given)
        for label in labels:
            if not label:
                raise ConfigError(
                    f"--namespace {'/'.join(given)}: label {label!r} is empty; write it as a/b"
                )
        return tuple(label_of(label) if "." in label else label for label in labels)

    def elsewhere(self, store: MemoryStore) -> str:
        """To be said where nothing was found and no namespace was named: which others there are."""
        found = store.list_namespaces(limit=2 * NAMED_NAMESPACES)
        names = ["/".join(each) for each in found if each[-1] != "core"]  # core memory is no place
        others = [name for name in names if name != DEFAULT_NAMESPACE][:NAMED_NAMESPACES]
        if self.labels or not others:
            return ""
        return f" --namespace looks elsewhere, for example in {', '.join(others)}."
