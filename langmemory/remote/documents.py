"""Documents of a remote store: files of this machine are read here, and sent as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from langmemory.documents import Documents, Synced
from langmemory.documents.files import Content
from langmemory.documents.places import Roots
from langmemory.documents.records import StoredDocument
from langmemory.remote.connection import Connection, Request, place
from langmemory.steps import run_steps
from langmemory.types import Namespace
from langmemory.wire import adapter

if TYPE_CHECKING:
    from langmemory.remote.remote_store import RemoteMemoryStore


class RemoteDocuments(Documents):
    """Files and texts on a server. What changed is sent; the server reads it, cuts it and embeds it."""

    __slots__ = ()

    def __init__(
        self, store: RemoteMemoryStore, connection: Connection, viewer: str | None
    ) -> None:
        """``viewer`` None is whom the token is bound to, if to anyone."""
        self._begin(store, partial(Sender, connection, viewer), Roots(sends=True))


class Sender:
    """Takes documents to a server, and keeps account of what was done with them."""

    def __init__(
        self, connection: Connection, viewer: str | None, namespace: Namespace, *, dry_run: bool
    ) -> None:
        self._connection, self._viewer = connection, viewer
        self._where: dict[str, Any] = {"namespace": place(namespace), "dry_run": dry_run}
        self.dry_run = dry_run
        self.done = Synced()

    def take(self, root: str, path: str, content: Content, known: StoredDocument | None) -> None:
        """Send a document that is new, or may be otherwise than before.

        Raises:
            ImportFormatError: The server cannot read it; nothing was written.
        """
        if (
            known is not None
            and known.document.sha256 == content.sha256
            and known.stamp == content.stamp
        ):
            self.done.unchanged += 1
            return
        self._put(root, path, content, {})

    def together(self, failed: dict[str, str]) -> AbstractContextManager[None]:
        """Send documents one by one all the same: each is answered for itself."""
        return nullcontext()

    def move(self, known: StoredDocument, root: str, path: str, content: Content) -> None:
        """Send a document that is elsewhere: what is known of its parts stays."""
        self._put(root, path, content, {"moved_from": known.document.id})

    def remove(self, known: StoredDocument) -> None:
        """Take a document out."""
        self._ask("DELETE", f"/documents/{known.document.id}", {}, None)

    def link(
        self,
        documents: Callable[[], Mapping[tuple[str, str], StoredDocument]],
        *,
        every: bool = False,
    ) -> None:
        """Have the server make the links that front matter names, after documents were sent."""
        done = self.done
        if every or done.added or done.changed or done.moved or done.removed:
            self._ask("POST", "/documents/links", {}, None)

    def _put(self, root: str, path: str, content: Content, more: Mapping[str, Any]) -> None:
        query = {"root": root, "path": path, "modified_ns": content.stamp.modified_ns, **more}
        self._ask("PUT", "/documents", query, content.data)

    def _ask(self, method: str, path: str, query: Mapping[str, Any], data: bytes | None) -> None:
        request = Request.of(
            method,
            path,
            viewer=self._viewer,
            query={**self._where, **query},
            writes=True,
            data=data,
        )
        self.done += adapter(Synced).validate_json(run_steps(self._connection.request(request)))
