"""ViewerStore: a memory file as one person may see it.

It holds no rule of its own: its viewer goes down to the same bodies that the application's store runs,
where it is a predicate of the SQL (`sqlite.scope.ownership`). What has no method here cannot be reached
on behalf of a viewer.
"""

from __future__ import annotations

from collections.abc import Iterable

from langgraph.store.base import Op, PutOp

from langmemory.errors import OwnershipError
from langmemory.namespaces import check_namespace
from langmemory.stores.face import StoreFace
from langmemory.stores.rooms import FORGET, Batch, Forgetting, forget_for_good, take_apart
from langmemory.twins import twin
from langmemory.types import Forgotten, Namespace, Privacy


class ViewerStore(StoreFace):
    """A `BaseStore` over the same file, bound to one viewer; made by `MemoryStore.for_viewer`.

    Another person's private memory does not exist in it: it is not found, not listed, not counted
    and not deleted. Only its key is taken. What is put or remembered becomes the viewer's.

    Raises:
        OwnershipError: A key is not free, or a memory would become private to somebody else.
    """

    __slots__ = ()
    _viewer: str

    def __repr__(self) -> str:
        return f"<ViewerStore of {self._viewer!r} on {self.path}>"

    @property
    def viewer(self) -> str:
        """Who is asking; ``""`` is somebody unknown, who owns nothing."""
        return self._viewer

    def for_viewer(self, viewer: str) -> ViewerStore:
        """Return this store, if it is this viewer's.

        Raises:
            OwnershipError: It is another's; only the application's store can be bound anew.
        """
        self._check(viewer)
        return self

    @FORGET
    def forget(self, namespace: Namespace, *, dry_run: bool = False) -> Forgotten:
        """Forget all the viewer owns here; see `MemoryStore.forget`."""
        forgetting = Forgetting.of(
            check_namespace(namespace, may_be_empty=True),
            owner=self._known(),
            entity=None,
            keys=None,
            everything=False,
        )
        return forget_for_good(self._core, forgetting, dry_run=dry_run, purge="now")

    aforget = twin(forget)

    # Who is asking.

    def _taken_apart(self, ops: Iterable[Op]) -> Batch:
        return take_apart((self._owned(op) for op in ops), self._viewer)

    def _owned(self, op: Op) -> Op:
        """Return an operation as the viewer does it. A put of something private says whose it is, for
        those who read values."""
        if not (isinstance(op, PutOp) and isinstance(op.value, dict) and self._viewer):
            return op
        if op.value.get("privacy") != "private" or op.value.get("owner"):
            return op
        return op._replace(value={**op.value, "owner": self._viewer})

    def _known(self) -> str:
        if not self._viewer:
            raise OwnershipError("Somebody unknown owns nothing; ask on behalf of a viewer.")
        return self._viewer

    def _owner(self, owner: str | None, privacy: Privacy) -> str | None:
        if owner is not None:
            self._check(owner)
        return self._known() if privacy == "private" else self._viewer or None

    def _check(self, viewer: str | None) -> None:
        if viewer != self._viewer:
            raise OwnershipError(
                f"This store is bound to the viewer {self._viewer!r}, not to {viewer!r}. Leave the "
                "argument out, or ask the application's store."
            )
