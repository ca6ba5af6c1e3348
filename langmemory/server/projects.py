"""Projects as far as a token reaches them."""

from __future__ import annotations

from langmemory.documents.project import REGISTRY, Project, checked_name, is_project, namespace_of
from langmemory.server.access import Access
from langmemory.server.problems import Problem


def reached(
    access: Access, name: str, *, lists: str = "/projects", error: str | None = None
) -> Project:
    """Return a project whose documents the token may read. Of one that it does not reach it is not told
    whether it is there; ``lists`` is what lists them."""
    access.within(namespace_of(checked_name(name)), f"project {name!r}")
    item = access.store.get(REGISTRY, checked_name(name), refresh_ttl=False)
    if item is None or not is_project(item.value):
        raise Problem(
            "not-found", f"There is no project {name!r}; {lists} lists them.", error=error
        )
    return Project.of(item)


def reached_projects(access: Access) -> list[Project]:
    """Return the projects by name, as far as the token reaches."""
    return [one for one in access.whole().projects.list() if access.reaches(one.namespace)]
