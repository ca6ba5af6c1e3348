"""The public face of a store: few methods, a viewer that is bound once, and async twins."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.sqlite import SqliteStore

from langmemory.operations.admin import Admin, ViewerAdmin
from langmemory.operations.changes import Changes, ViewerChanges
from langmemory.operations.graph import Graph
from langmemory.operations.jobs import Jobs
from langmemory.parts.vault.vault import Vault, ViewerVault
from langmemory.stores import MemoryStore
from langmemory.stores.face import ViewerStore

FACES = (MemoryStore, ViewerStore)
ROOMS = (Changes, ViewerChanges, Admin, ViewerAdmin, Jobs, Graph, Vault, ViewerVault)
MOST = 15
"""Public methods of a class, beside those of LangGraph's own stores. A method and its async twin are one."""


def public(cls: type) -> Iterator[str]:
    """Names of the methods that a class adds to LangGraph's stores."""
    theirs = {*dir(BaseStore), *dir(SqliteStore)}
    names = {name for name, _ in inspect.getmembers(cls, callable) if not name.startswith("_")}
    for name in names - theirs:
        if not (name.startswith("a") and name[1:] in names):
            yield name


@pytest.mark.parametrize("cls", [*FACES, *ROOMS])
def test_a_class_has_few_public_methods(cls: type) -> None:
    """Whoever looks at a store or at one of its rooms reads one page."""
    assert len(sorted(public(cls))) <= MOST


@pytest.mark.parametrize("cls", [*FACES, *ROOMS])
def test_no_method_takes_a_viewer(cls: type) -> None:
    """A viewer is bound by `for_viewer`, so nobody sees everything by leaving out an argument. To
    `enable_rls` an administrator says which person a role of the database is."""
    for name in set(public(cls)) - {"for_viewer", "enable_rls"}:
        assert "viewer" not in inspect.signature(getattr(cls, name)).parameters, name


@pytest.mark.parametrize("cls", [*FACES, Changes, ViewerChanges, Admin, ViewerAdmin, Vault])
def test_a_twin_takes_what_its_method_takes(cls: type) -> None:
    """An async twin differs from its method by one letter alone."""
    for name in public(cls):
        twin = getattr(cls, f"a{name}", None)
        if twin is not None:
            assert inspect.iscoroutinefunction(twin)
            assert inspect.signature(twin) == inspect.signature(getattr(cls, name))


def test_a_viewer_reaches_no_change_of_others() -> None:
    """The store of a viewer has no method that changes or shows what others own."""
    with MemoryStore(":memory:", index=False) as store:
        mia = store.for_viewer("mia")
        for room, names in (
            (mia.changes, ("apply", "undo", "runs", "decide", "read_again")),
            (mia.admin, ("import_rows", "check", "unread_threads")),
            (mia, ("jobs", "journal", "stats", "conn")),
        ):
            assert not [name for name in names if hasattr(room, name)]
