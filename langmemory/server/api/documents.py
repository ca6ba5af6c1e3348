"""Documents over REST: files and texts that are searched beside what was said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from langmemory.declaring.fields import Fields
from langmemory.documents import Chunk, Document, Source, Synced
from langmemory.documents.files import Content, Stamp
from langmemory.documents.writing import Writer
from langmemory.resources import CLIENT, KEYS, NAMESPACE
from langmemory.server.access import Access
from langmemory.server.api.requests import Listing, Place
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes, UploadedFile
from langmemory.types import Namespace, Page
from langmemory.wire import Deferred

routes = Routes("Documents")

PathText = Annotated[str, Field(min_length=1, max_length=1_000, pattern=r"^[^\x00]+$")]
DocumentId = Annotated[str, Field(pattern=r"^[0-9a-f]{1,64}$")]
RootText = Annotated[str, Field(max_length=1_000, pattern=r"^[^\x00]*$")]
ClientRoot = Annotated[str, Field(max_length=1_000, pattern=rf"^({CLIENT}[^\x00]+)?$")]
Whole = Annotated[int, Field(ge=0, le=2**63 - 1)]


class DocumentPath(Fields):
    """Which document."""

    id: DocumentId


class DocumentListing(Listing):
    """Which documents. Without a namespace those of `documents`, or of what the token is bound to."""

    prefix: RootText = ""
    """How their path begins."""


class Writing(Place):
    """Where, and whether to write at all."""

    dry_run: bool = False
    """Say what would be done, and write nothing."""


class DocumentSent(Writing):
    """What the body is."""

    path: PathText
    """The name by which it is known and cited. Its ending says the format, as with a file."""
    root: ClientRoot = ""
    """The folder of the client's machine that the path is relative to, behind `client:`. The server opens no
    such folder."""
    modified_ns: Whole = 0
    """When the file was last changed on that machine, in nanoseconds since 1970."""
    moved_from: DocumentId | None = None
    """The document that had this content at another path."""


class Refreshing(Writing):
    """What is to be read again."""

    root: RootText | None = None
    """Only this folder of the server's machine."""


class Sources(Deferred):
    """Folders of documents."""

    items: list[Source]


DEFAULT: Final[Namespace] = (NAMESPACE,)


def _place(access: Access, namespace: Namespace | None) -> Namespace:
    """Return where the documents are that a request means."""
    if namespace is None and len(access.grant.namespaces) != 1:
        namespace = DEFAULT
    return access.place(namespace, exact=True)


def _document(access: Access, place: Namespace, id: str) -> Document:
    found = access.store.documents.get(f"{KEYS}{id}", place)
    if found is None:
        raise Problem(
            "not-found", f"There is no document {id!r} in {'/'.join(place)}; /documents lists them."
        )
    return found


@routes("GET", "/documents", scope="read")
def list_documents(access: Access, *, query: DocumentListing) -> Page[Document]:
    """List the documents by their paths."""
    found = access.store.documents.list(_place(access, query.namespace), prefix=query.prefix)
    after = _cursor(query.cursor, 2)
    rest = [one for one in found if after is None or [one.path, one.root] > after]
    page = rest[: query.limit]
    more = len(rest) > len(page)
    return Page(
        items=tuple(page), next=json.dumps([page[-1].path, page[-1].root]) if more else None
    )


def _cursor(given: str | None, length: int) -> list[str] | None:
    """Return what a cursor says.

    Raises:
        Problem: It is none of this list.
    """
    if given is None:
        return None
    try:
        found = json.loads(given)
    except ValueError:
        found = None
    if (
        not isinstance(found, list)
        or len(found) != length
        or not all(isinstance(one, str) for one in found)
    ):
        raise Problem("invalid", "query/cursor is of another list; pass `next` of the page before.")
    return found


@routes("GET", "/documents/sources", scope="read")
def list_document_sources(access: Access, *, query: Place) -> Sources:
    """List the folders that were added, and what of them could not be read."""
    return Sources(items=list(access.store.documents.sources(_place(access, query.namespace))))


@routes("GET", "/documents/{id}", scope="read")
def get_document(access: Access, *, path: DocumentPath, query: Place) -> Document:
    """Return one document: what was read, and when."""
    return _document(access, _place(access, query.namespace), path.id)


@routes("GET", "/documents/{id}/chunks", scope="read")
def list_chunks(access: Access, *, path: DocumentPath, query: Listing) -> Page[Chunk]:
    """List the parts of a document in order, word for word."""
    place = _place(access, query.namespace)
    chunks = access.store.documents.chunks(_document(access, place, path.id).key, place)
    after = _cursor(query.cursor, 1)
    keys = [one.key for one in chunks]
    start = 0 if after is None else keys.index(after[0]) + 1 if after[0] in keys else len(keys)
    page = chunks[start : start + query.limit]
    more = start + len(page) < len(chunks)
    return Page(items=tuple(page), next=json.dumps([page[-1].key]) if more else None)


@routes("PUT", "/documents", scope="write")
def put_document(access: Access, *, query: DocumentSent, body: UploadedFile) -> Synced:
    """Read a file, which is the body: Markdown, text, HTML, PDF, DOCX, code or a notebook. It replaces what
    is known at the same path; only what changed is embedded."""
    assert isinstance(body, Path)
    place, documents = _place(access, query.namespace), access.store.documents
    data = body.read_bytes()
    content = Content.of(data, Stamp(len(data), query.modified_ns))
    writer = Writer(access.store, place, dry_run=query.dry_run)
    if query.moved_from is not None:
        before = _document(access, place, query.moved_from)
        old = documents.known(place, before.root, before.path)
        if old is not None and (before.root == query.root or before.root.startswith(CLIENT)):
            writer.move(old, query.root, query.path, content)
            return writer.done
    writer.take(query.root, query.path, content, documents.known(place, query.root, query.path))
    if writer.linked and not query.dry_run:  # what it names may come later: see link_documents
        found = documents.known(place, query.root, query.path)
        if found is not None and not found.links:
            writer.link(lambda: {(query.root, query.path): found})
    return writer.done


@routes("POST", "/documents/links", scope="write")
def link_documents(access: Access, *, query: Writing) -> Synced:
    """Make the links of documents those that their front matter names, once all of them were sent."""
    place = _place(access, query.namespace)
    return Synced() if query.dry_run else access.store.documents.link(place)


@routes("DELETE", "/documents/{id}", scope="write")
def delete_document(access: Access, *, path: DocumentPath, query: Writing) -> Synced:
    """Take a document out, with all of its parts."""
    place = _place(access, query.namespace)
    document = _document(access, place, path.id)
    known = access.store.documents.known(place, document.root, document.path)
    writer = Writer(access.store, place, dry_run=query.dry_run)
    if known is not None:
        writer.remove(known)
    if access.grant.viewer is None and not query.dry_run and not document.root.startswith(CLIENT):
        access.store.documents.leave_out(document.root, document.path, place)
    return writer.done


@routes("POST", "/documents/refresh", scope="admin")
def refresh_documents(access: Access, *, body: Refreshing) -> Synced:
    """Read again the folders of the server's machine that were added there: new, changed, moved and deleted
    files."""
    documents = access.whole().documents
    return documents.refresh(
        _place(access, body.namespace), root=body.root or None, dry_run=body.dry_run
    )
