"""Projects of a remote store: folders of the server's machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from langmemory.documents import Synced
from langmemory.documents.discovery import DEPTH, Found
from langmemory.documents.project import Project
from langmemory.documents.staleness import Stale
from langmemory.remote.connection import part
from langmemory.remote.rooms import Room
from langmemory.twins import Steps, awaiting, blocking


class RemoteProjects(Room):
    """The projects of a server; see `MemoryStore.projects`. Their folders are on its machine."""

    __slots__ = ()

    def _add(
        self,
        root: str | os.PathLike[str],
        *,
        name: str | None = None,
        description: str | None = None,
        patterns: Iterable[str] = (),
        ignore: Iterable[str] = (),
        owner: str = "",
    ) -> Steps[Project]:
        """Register a folder of the server's machine; `refresh` reads it. The token needs the scope admin."""
        return self._post(
            "/projects", Project, root=os.fspath(root), name=name, description=description,
            patterns=list(patterns), ignore=list(ignore), owner=owner,
        )  # fmt: skip

    add, aadd = blocking(_add), awaiting(_add)

    def _one(self, name: str) -> Steps[Project | None]:
        """Return a project by its name; None where there is none."""
        return self._found(f"/projects/{part(name)}", Project)

    get, aget = blocking(_one), awaiting(_one)

    def _list(self) -> Steps[Sequence[Project]]:
        """Return all projects, by name."""
        return self._items("/projects", Project)

    list, alist = blocking(_list), awaiting(_list)

    def _update(
        self,
        name: str,
        *,
        root: str | os.PathLike[str] | None = None,
        description: str | None = None,
        patterns: Iterable[str] | None = None,
        ignore: Iterable[str] | None = None,
        owner: str | None = None,
    ) -> Steps[Project]:
        """Change what is said of a project; None leaves it as it is. The token needs the scope admin."""
        body = {
            "root": None if root is None else os.fspath(root), "description": description, "owner": owner,
            "patterns": None if patterns is None else [*patterns],
            "ignore": None if ignore is None else [*ignore],
        }  # fmt: skip
        return self._connection.ask(
            "PATCH", f"/projects/{part(name)}", Project, viewer=self._viewer, body=body, writes=True
        )

    update, aupdate = blocking(_update), awaiting(_update)

    def _remove(self, name: str, *, dry_run: bool = False) -> Steps[Synced]:
        """Take a project out, with its documents. The token needs the scope admin."""
        return self._connection.ask(
            "DELETE", f"/projects/{part(name)}", Synced, viewer=self._viewer, writes=True,
            query={"dry_run": dry_run},
        )  # fmt: skip

    remove, aremove = blocking(_remove), awaiting(_remove)

    def _discover(
        self, folder: str | os.PathLike[str] = ".", *, depth: int = DEPTH
    ) -> Steps[Sequence[Found]]:
        """Return the projects in a folder of the server's machine. The token needs the scope admin."""
        found: dict[str, Sequence[Found]] = yield from self._post(
            "/projects/discover",
            dict[str, tuple[Found, ...]],
            folder=os.fspath(folder),
            depth=depth,
        )
        return found["items"]

    discover, adiscover = blocking(_discover), awaiting(_discover)

    def _refresh(self, name: str, *, dry_run: bool = False) -> Steps[Synced]:
        """Read a project again."""
        return self._post("/projects/refresh", Synced, name=name, dry_run=dry_run)

    refresh, arefresh = blocking(_refresh), awaiting(_refresh)

    def _later(self, name: str) -> Steps[int]:
        """Put a job into the queue that reads a project again; return its number."""
        found: dict[str, int] = yield from self._post("/projects/queue", dict[str, int], name=name)
        return found["job"]

    later, alater = blocking(_later), awaiting(_later)

    def _stale(self, name: str) -> Steps[Sequence[Stale]]:
        """Return the documents of a project that name files which were changed after them."""
        return self._items("/projects/stale", Stale, name=name)

    stale, astale = blocking(_stale), awaiting(_stale)
