"""`store.projects`: folders that belong together, their documents, and what of these may be out of date.

The registry is in the store itself: an item for each project under ``("projects",)``. Its documents and its
core block are in a namespace of its own below it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol

from langgraph.store.base import PutOp
from pydantic import Field

from langmemory.changes import ChangeSet
from langmemory.declaring import LOCAL, operation, room
from langmemory.documents import discovery, staleness
from langmemory.documents.discovery import DEPTH, DiscoveredProject
from langmemory.documents.documents import Documents
from langmemory.documents.project import (
    BLOCK,
    DESCRIPTION_CHARACTERS,
    NAME_CHARACTERS,
    REGISTRY,
    Project,
    block_text,
    block_value,
    checked_name,
    is_project,
    is_untouched,
)
from langmemory.documents.reading import Progress
from langmemory.documents.records import Synced
from langmemory.documents.staleness import Stale
from langmemory.documents.storing import ConditionalStore
from langmemory.errors import ChangedMeanwhileError, ConfigError
from langmemory.ports.jobs import Enqueued, NewJob, lock_of
from langmemory.resources import CLIENT
from langmemory.steps import twin
from langmemory.types import Job

if TYPE_CHECKING:
    import threading

JOB: Final = "project"
"""The kind of the jobs that read a project again."""
ABOUT: Final = "projects.get"
MOST: Final = 10_000
"""Projects of a store."""


ProjectName = Annotated[str, Field(min_length=1, max_length=NAME_CHARACTERS)]
Folder = Annotated[
    str | os.PathLike[str], Field(min_length=1, max_length=1_000, pattern=r"^[^\x00]+$")
]
Globs = Annotated[
    Iterable[Annotated[str, Field(min_length=1, max_length=400)]], Field(max_length=100)
]
Description = Annotated[str, Field(max_length=DESCRIPTION_CHARACTERS)]
Owner = Annotated[str, Field(max_length=200)]


class ProjectStore(ConditionalStore, Protocol):
    """A store with a history, reviews and a queue."""

    @property
    def changes(self) -> Any: ...

    @property
    def jobs(self) -> Any: ...


@room("projects", tag="Projects")
class Projects:
    """The projects of a store."""

    __slots__ = ("_store",)

    def __init__(self, store: ProjectStore) -> None:
        self._store = store

    # The registry.

    @operation("admin", "POST /projects", whole="file")
    def add(
        self,
        root: Folder,
        *,
        name: ProjectName | None = None,
        description: Description | None = None,
        patterns: Globs = (),
        ignore: Globs = (),
        owner: Owner = "",
    ) -> Project:
        """Register a project. `refresh` reads it.

        Args:
            root: Its folder.
            name: How it is called; None takes the name that its files give, else that of the folder.
            description: What it is, in a sentence; None takes what its files say.
            patterns: Globs of the files to be read; without any, all that can be.
            ignore: Patterns, as in ``.gitignore``, of files that are not read.
            owner: Who answers for it.

        Raises:
            ConfigError: There is no such folder, or a project of this name.
        """
        folder = _folder(root)
        found = discovery.described(folder)
        project = Project(
            name=checked_name(found.name if name is None else name),
            root=str(folder),
            patterns=_patterns("patterns", patterns),
            ignore=_patterns("ignore", ignore),
            description=_description(found.description if description is None else description),
            owner=owner.strip(),
            updated_at=datetime.now(UTC),
        )
        try:
            self._write(project, None)
        except ChangedMeanwhileError:
            raise ConfigError(
                f"There is a project {project.name!r} already. Change it with `update`, or pass another "
                "name."
            ) from None
        return self._known(project.name)

    aadd = twin(add)

    @operation("read", "GET /projects/{name:path}", whole="namespace")
    def get(self, name: ProjectName) -> Project | None:
        """Return a project by its name; None where there is none."""
        item = self._store.get(REGISTRY, checked_name(name))
        return Project.of(item) if item is not None and is_project(item.value) else None

    aget = twin(get)

    @operation("read", "GET /projects", whole="namespace")
    def list(self) -> Sequence[Project]:
        """Return all projects, by name."""
        found = self._store.search(
            REGISTRY, filter={"record": "project"}, limit=MOST, refresh_ttl=False
        )
        items = [one for one in found if tuple(one.namespace) == REGISTRY]
        return sorted((Project.of(one) for one in items), key=lambda one: one.name.casefold())

    alist = twin(list)

    @operation(
        "admin",
        "PATCH /projects/{name:path}",
        whole="file",
        about="projects.get",
        missing=ConfigError,
    )
    def update(
        self,
        name: ProjectName,
        *,
        root: Folder | None = None,
        description: Description | None = None,
        patterns: Globs | None = None,
        ignore: Globs | None = None,
        owner: Owner | None = None,
    ) -> Project:
        """Change what is said of a project; None leaves it as it is. `refresh` reads what that changes.

        Raises:
            ConfigError: There is no such project, or no such folder.
        """
        before = self._known(name)
        project = Project(
            name=before.name,
            root=before.root if root is None else str(_folder(root)),
            patterns=before.patterns if patterns is None else _patterns("patterns", patterns),
            ignore=before.ignore if ignore is None else _patterns("ignore", ignore),
            description=before.description if description is None else _description(description),
            owner=before.owner if owner is None else owner.strip(),
            updated_at=before.updated_at,
        )
        if project != before:
            self._write(project, before.updated_at)
        return self._known(name)

    aupdate = twin(update)

    @operation(
        "admin",
        "DELETE /projects/{name:path}",
        whole="file",
        about="projects.get",
        missing=ConfigError,
    )
    def remove(self, name: ProjectName, *, dry_run: bool = False) -> Synced:
        """Take a project out, with its documents and its core block. Its folder is not touched.

        Raises:
            ConfigError: There is no such project.
        """
        project = self._known(name)
        documents = Documents(self._store)
        done = documents.take_out(project.namespace, dry_run=dry_run)
        if not dry_run:
            sources = [(project.namespace, one.key) for one in documents.sources(project.namespace)]
            block = ((*project.namespace, "core"), BLOCK)
            gone = [*sources, block, (REGISTRY, project.name)]
            puts = [PutOp(place, key, None) for place, key in gone]
            self._store.put_all_if(puts, expected={})
            self._review(project, ())
        return done

    aremove = twin(remove)

    @operation("admin", "POST /projects/discover", whole="file")
    def discover(
        self, folder: Folder = ".", *, depth: Annotated[int, Field(ge=0, le=10)] = DEPTH
    ) -> Sequence[DiscoveredProject]:
        """Return the projects in a folder that are not registered, by what is in them: a repository, a
        ``pyproject.toml``, a ``package.json``, an ``AGENTS.md`` and the like. Nothing is written.

        Raises:
            ConfigError: There is no such folder.
        """
        known = {one.root for one in self.list()}
        found = discovery.discover(Path(folder).expanduser(), depth)
        return [one for one in found if one.root not in known]

    adiscover = twin(discover)

    # Reading.

    @operation(
        "write",
        "POST /projects/refresh",
        whole="namespace",
        about="projects.get",
        missing=ConfigError,
    )
    def refresh(
        self,
        name: ProjectName,
        *,
        progress: Annotated[Progress | None, LOCAL] = None,
        dry_run: bool = False,
    ) -> Synced:
        """Read a project: what is new, changed, moved or gone. Then its core block is written anew, unless
        somebody has edited it, and documents older than what they describe become reviews.

        Args:
            name: Of the project.
            progress: Is told of each file.
            dry_run: Say what would be done, and write nothing.

        Raises:
            ConfigError: There is no such project, or its folder is not there; nothing is lost then.
        """
        project = self._known(name)
        if not Path(project.root).is_dir():
            raise ConfigError(
                f"The folder of the project {name!r} is not there: {project.root}. If it moved, pass the new "
                f"one: `langmemory projects update {shlex.quote(name)} --root FOLDER`."
            )
        documents, done = Documents(self._store), Synced()
        wanted = {(project.root, one) for one in project.patterns or ("",)}
        followed = documents.sources(project.namespace)
        before = [one for one in followed if not one.root.startswith(CLIENT)]
        unchanged = {
            (one.root, one.pattern) for one in before if one.ignore == project.ignore
        } & wanted
        for root, pattern in sorted(wanted - unchanged):
            done += documents.follow(
                root, pattern, project.namespace, ignore=project.ignore, progress=progress,
                dry_run=dry_run,
            )  # fmt: skip
        if unchanged:
            done += documents.refresh(project.namespace, progress=progress, dry_run=dry_run)
        for source in before:
            if (source.root, source.pattern) not in wanted:
                done += documents.unfollow(source, dry_run=dry_run)
        if not dry_run:
            self._write_block(project, documents)
            self._ask(project)
        return done

    arefresh = twin(refresh)

    def watch(self, name: str, *, stop: threading.Event | None = None) -> Iterator[Synced]:
        """Refresh a project, and again whenever a file of it changes, until stopped.

        Raises:
            ConfigError: There is no such project, or nothing to watch.
        """
        yield self.refresh(name)
        documents = Documents(self._store)
        for number, done in enumerate(documents.watch(self._known(name).namespace, stop=stop)):
            if number:
                self._write_block(self._known(name), documents)
                self._ask(self._known(name))
                yield done

    @operation(
        "write",
        "POST /projects/queue",
        whole="namespace",
        about="projects.get",
        missing=ConfigError,
    )
    def later(self, name: ProjectName) -> int:
        """Put a job into the queue that reads a project again, for `langmemory worker`; return its number.
        Of several that wait, one is left.

        Raises:
            ConfigError: There is no such project.
        """
        place = self._known(name).namespace
        job = NewJob(
            kind=JOB, lock=lock_of(JOB, place), thread=JOB, config={},
            payload={"namespace": [*place], "project": checked_name(name)},
        )  # fmt: skip
        written: Future[Enqueued] = self._store.jobs.enqueue(job, lambda _: None)
        return written.result().id

    alater = twin(later)

    def perform(self, job: Job) -> dict[str, int]:
        """Do a job that `later` put into the queue; return how many documents it changed."""
        done = self.refresh(str(job.payload["project"]))
        return {
            "added": len(done.added), "changed": len(done.changed), "moved": len(done.moved),
            "removed": len(done.removed), "failed": len(done.failed),
        }  # fmt: skip

    # What may be out of date.

    @operation(
        "read", "GET /projects/stale", whole="namespace", about="projects.get", missing=ConfigError
    )
    def stale(self, name: ProjectName) -> Sequence[Stale]:
        """Return the documents of a project that name files which were changed after them.

        Raises:
            ConfigError: There is no such project.
        """
        project = self._known(name)
        documents = Documents(self._store)
        here = [one for one in documents.list(project.namespace) if one.root == project.root]
        sources = {one.path: one for one in here if staleness.is_source(one.path)}
        texts = {
            one.path: (
                one,
                "\n".join(part.text for part in documents.chunks(one.key, one.namespace)),
            )
            for one in here
            if not staleness.is_source(one.path)
        }
        times = staleness.change_times(Path(project.root), [*sources, *texts])
        return [*staleness.stale_documents(texts, sources, times)]

    astale = twin(stale)

    # What is written.

    def _known(self, name: str) -> Project:
        found = self.get(name)
        if found is None:
            names = ", ".join(one.name for one in self.list()[:20])
            raise ConfigError(
                f"There is no project {name!r}. "
                + (f"There are: {names}." if names else "Add it: `langmemory projects add FOLDER`.")
            )
        return found

    def _write(self, project: Project, seen: datetime | None) -> None:
        put = PutOp(REGISTRY, project.name, project.value, index=False)
        self._store.put_all_if([put], expected={(REGISTRY, project.name): seen})

    def _write_block(self, project: Project, documents: Documents) -> None:
        """Write the core block, if it says what was written here before, or nothing."""
        place = (*project.namespace, "core")
        item = self._store.get(place, BLOCK)
        text = block_text(project, documents.list(project.namespace))
        if item is not None and (item.value.get("content") == text or not is_untouched(item.value)):
            return
        version = 1 if item is None else int(item.value.get("version", 0)) + 1
        put = PutOp(place, BLOCK, block_value(text, version), index=False)
        seen = None if item is None else item.updated_at
        try:
            self._store.put_all_if([put], expected={(place, BLOCK): seen})
        except ChangedMeanwhileError:  # somebody edits it: theirs stays
            return

    def _ask(self, project: Project) -> None:
        """Open reviews of what is stale, and withdraw those of what is not."""
        self._review(project, self.stale(project.name))

    def _review(self, project: Project, found: Sequence[Stale]) -> None:
        asked = self._store.changes.reviews(project.namespace, open_only=False)
        values = {
            one.document.key: item.value
            for one in found
            if (item := self._store.get(project.namespace, one.document.key)) is not None
        }
        planned: ChangeSet | None = staleness.plan(
            project.namespace, found, values, asked, datetime.now(UTC)
        )
        if planned is not None:
            self._store.changes.apply(planned)


def _folder(root: Folder) -> Path:
    folder = Path(root).expanduser()
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {str(folder)!r}; a project is a folder.")
    return folder.resolve()


def _patterns(what: str, given: Iterable[str]) -> tuple[str, ...]:
    found = (given,) if isinstance(given, str) else tuple(given)
    for one in found:
        if not isinstance(one, str) or not one.strip() or one.startswith(("/", "..")):
            raise ConfigError(
                f"{what} has {one!r:.80}; pass globs relative to the folder, such as 'docs/**/*.md'."
            )
    return found


def _description(text: str) -> str:
    line = " ".join(text.split())
    if len(line) > DESCRIPTION_CHARACTERS:
        raise ConfigError(
            f"The description has {len(line)} characters; it may have {DESCRIPTION_CHARACTERS}."
        )
    return line
