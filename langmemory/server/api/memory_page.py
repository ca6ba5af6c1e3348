"""`MEMORY.md` over REST: what memory holds as one page, and taking up what a person changed on it."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from langmemory.declaring.fields import Fields, Labels, Text
from langmemory.maintenance.edits import take_page
from langmemory.projections.journal.memory_page import MemoryPageError, edits_of
from langmemory.server.access import Access
from langmemory.server.api.requests import Place
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes
from langmemory.types import Applied, Namespace
from langmemory.wire import Deferred

routes = Routes("MEMORY.md")

Owner = Annotated[str, Field(max_length=400)]


class PageQuery(Place):
    """Which page."""

    owner: Owner | None = None
    """Whose private memories; without it, what everybody in the namespace may read."""


class MemoryPageView(Deferred):
    """One page as it would be written now."""

    namespace: list[str]
    owner: str | None
    text: str
    """Markdown. Its last line says what was written; edits are found by it, so it is to stay."""
    owners: list[str]
    """Who has a page of private memories here."""

    @property
    def etag(self) -> str:
        """The version of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


def _page(access: Access, place: Namespace, owner: str | None) -> MemoryPageView:
    store = access.whole()
    pages = store.journal.memory_pages(
        place,
        budget_tokens=store.config.lifecycle.memory_page_tokens,
        now=datetime.now(UTC),
    )
    if owner not in pages:
        raise Problem(404, "not-found", f"{owner!r} has no private memories here.")
    return MemoryPageView(
        namespace=list(place),
        owner=owner,
        text=pages[owner],
        owners=[one for one in pages if one is not None],
    )


@routes("GET", "/memory-page", scope="read", conditional=True)
def get_memory_page(access: Access, *, query: PageQuery) -> MemoryPageView:
    """Return `MEMORY.md` of a namespace: core blocks, and the most salient memories."""
    return _page(access, access.place(query.namespace, exact=True), query.owner)


class EditedPage(Fields):
    """A page that a person edited."""

    text: Text
    """The whole page, with the last line as it was."""
    namespace: Labels | None = None
    dry_run: bool = False
    """Say what would happen, and change nothing."""


class TakenPage(Deferred):
    """What was taken up of a page."""

    applied: list[Applied]
    """In memories, and in core blocks: at most two runs, which can be undone."""
    page: MemoryPageView
    """As it is afterwards."""

    @property
    def etag(self) -> str:
        """The version of the page."""
        return self.page.etag


@routes("POST", "/memory-page", scope="write", conditional=True)
def take_memory_page(access: Access, *, body: EditedPage) -> TakenPage:
    """Take up what was changed on a page. A changed line is another text of its memory, a line that is gone
    archives it, a new line is a new memory; where memory says something else by now, a review asks."""
    store, place = access.whole(), access.place(body.namespace, exact=True)
    try:
        edits = edits_of(body.text)
    except MemoryPageError:
        raise Problem(
            422,
            "invalid",
            "body/text: its last line, which says what was written, is gone or was changed. Read the page "
            "again, and edit that.",
        ) from None
    owner = edits.written.owner
    if edits.written.namespace != place:
        raise Problem(
            422,
            "invalid",
            f"body/text: this page is of {'/'.join(edits.written.namespace)}, not of {'/'.join(place)}.",
        )
    if access.is_conditional:
        access.check_version(f'"{_page(access, place, owner).etag}"')
    applied = take_page(store, edits, now=datetime.now(UTC), dry_run=body.dry_run)
    try:
        left = _page(access, place, owner)
    except Problem:  # its last private memory is gone
        left = _page(access, place, None)
    return TakenPage(applied=applied, page=left)
