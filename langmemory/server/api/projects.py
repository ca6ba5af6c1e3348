"""Projects over REST: folders of the server's machine that belong together, and their documents."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from langmemory.documents import Synced
from langmemory.documents.discovery import DEPTH, Found
from langmemory.documents.project import (
    DESCRIPTION_CHARACTERS,
    NAME_CHARACTERS,
    REGISTRY,
    Project,
    checked_name,
    is_project,
    namespace_of,
)
from langmemory.documents.staleness import Stale
from langmemory.errors import ConfigError
from langmemory.server.access import Access
from langmemory.server.api.requests import Fields
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes
from langmemory.wire import Deferred

routes = Routes("Projects")

ProjectName = Annotated[str, Field(min_length=1, max_length=NAME_CHARACTERS)]
Folder = Annotated[str, Field(min_length=1, max_length=1_000, pattern=r"^[^\x00]+$")]
Glob = Annotated[str, Field(min_length=1, max_length=400)]
Globs = Annotated[tuple[Glob, ...], Field(max_length=100)]
Description = Annotated[str, Field(max_length=DESCRIPTION_CHARACTERS)]
OwnerText = Annotated[str, Field(max_length=200)]


class ProjectPath(Fields):
    """Which project."""

    name: ProjectName


class NewProject(Fields):
    """A project to be registered."""

    root: Folder
    """Its folder, on the server's machine."""
    name: ProjectName | None = None
    """Null takes the name that its files give."""
    description: Description | None = None
    """Null takes what its files say."""
    patterns: Globs = ()
    """Of the files to be read; none is all that can be."""
    ignore: Globs = ()
    """As in `.gitignore`."""
    owner: OwnerText = ""


class ProjectChange(Fields):
    """What is to be said of a project; null leaves it as it is."""

    root: Folder | None = None
    description: Description | None = None
    patterns: Globs | None = None
    ignore: Globs | None = None
    owner: OwnerText | None = None


class Removal(Fields):
    """Whether at all."""

    dry_run: bool = False
    """Say what would be done, and write nothing."""


class ProjectRefresh(Fields):
    """What is to be read again."""

    name: ProjectName
    dry_run: bool = False
    """Say what would be done, and write nothing."""


class ProjectQueued(Deferred):
    """A job in the queue."""

    job: int


class Discovery(Fields):
    """Where to look for projects."""

    folder: Folder
    """On the server's machine."""
    depth: Annotated[int, Field(ge=0, le=10)] = DEPTH


class ProjectList(Deferred):
    """Projects, by name."""

    items: list[Project]


class FoundProjects(Deferred):
    """Folders that are projects and are not registered."""

    items: list[Found]


class StaleDocuments(Deferred):
    """Documents that name files which were changed after them."""

    items: list[Stale]


def reached(
    access: Access, name: str, *, lists: str = "/projects", error: str | None = None
) -> Project:
    """Return a project whose documents the token may read. Of one that it does not reach it is not told
    whether it is there; ``lists`` is what lists them."""
    access.within(namespace_of(checked_name(name)), f"project {name!r}")
    item = access.store.get(REGISTRY, checked_name(name), refresh_ttl=False)
    if item is None or not is_project(item.value):
        raise Problem(
            404, "not-found", f"There is no project {name!r}; {lists} lists them.", error=error
        )
    return Project.of(item)


def _within(access: Access, name: str, *, error: str | None = ConfigError.__name__) -> Project:
    access.whole()  # refuses a viewer: a project is everybody's
    return reached(access, name, error=error)


@routes("GET", "/projects", scope="read")
def list_projects(access: Access) -> ProjectList:
    """List the projects by name, as far as the token reaches."""
    allowed = access.grant.namespaces
    found = [
        one
        for one in access.whole().projects.list()
        if not allowed or any(one.namespace[: len(place)] == place for place in allowed)
    ]
    return ProjectList(items=found)


@routes("POST", "/projects", scope="admin")
def add_project(access: Access, *, body: NewProject) -> Project:
    """Register a folder of the server's machine as a project; `/projects/refresh` reads it."""
    return access.whole(anywhere=True).projects.add(
        body.root,
        name=body.name,
        description=body.description,
        patterns=body.patterns,
        ignore=body.ignore,
        owner=body.owner,
    )


@routes("POST", "/projects/discover", scope="admin")
def discover_projects(access: Access, *, body: Discovery) -> FoundProjects:
    """Find folders of the server's machine that are projects, by what is in them. Nothing is written."""
    found = access.whole(anywhere=True).projects.discover(body.folder, depth=body.depth)
    return FoundProjects(items=list(found))


@routes("POST", "/projects/refresh", scope="write")
def refresh_project(access: Access, *, body: ProjectRefresh) -> Synced:
    """Read a project again: what is new, changed, moved and gone, and what is out of date."""
    project = _within(access, body.name)
    return access.whole().projects.refresh(project.name, dry_run=body.dry_run)


@routes("POST", "/projects/queue", scope="write")
def queue_project(access: Access, *, body: ProjectPath) -> ProjectQueued:
    """Put a job into the queue that reads a project again, for `langmemory worker`."""
    return ProjectQueued(job=access.whole().projects.later(_within(access, body.name).name))


@routes("GET", "/projects/stale", scope="read")
def stale_documents(access: Access, *, query: ProjectPath) -> StaleDocuments:
    """List the documents of a project that name files which were changed after them."""
    project = _within(access, query.name)
    return StaleDocuments(items=list(access.whole().projects.stale(project.name)))


@routes("GET", "/projects/{name:path}", scope="read")
def get_project(access: Access, *, path: ProjectPath) -> Project:
    """Return one project."""
    return _within(access, path.name, error=None)


@routes("PATCH", "/projects/{name:path}", scope="admin")
def update_project(access: Access, *, path: ProjectPath, body: ProjectChange) -> Project:
    """Change what is said of a project; `/projects/refresh` reads what that changes."""
    project = _within(access, path.name)
    return access.whole(anywhere=True).projects.update(
        project.name,
        root=body.root,
        description=body.description,
        patterns=body.patterns,
        ignore=body.ignore,
        owner=body.owner,
    )


@routes("DELETE", "/projects/{name:path}", scope="admin")
def remove_project(access: Access, *, path: ProjectPath, query: Removal) -> Synced:
    """Take a project out, with its documents; its folder is not touched."""
    project = _within(access, path.name)
    return access.whole(anywhere=True).projects.remove(project.name, dry_run=query.dry_run)
