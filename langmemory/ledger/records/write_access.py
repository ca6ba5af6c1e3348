"""Claiming: what a viewer may write, and whose it is then."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from langmemory.errors import OwnershipError
from langmemory.ledger.records.items import Write
from langmemory.ledger.scope.ownership import visible_to
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.namespaces import to_path
from langmemory.values import from_json


def claim(
    connection: Connection,
    writes: Iterable[Write],
    viewer: str | None,
    *,
    personal: Collection[str] = (),
) -> None:
    """Let a viewer write these items: what belongs to nobody becomes the viewer's.

    Args:
        personal: relations of what somebody alone says of themselves: how they want to be answered.

    Raises:
        OwnershipError: A place is taken by something the viewer may not know of, or a memory would
            become somebody else's, or private to them, or be taken from its owner, or say for them
            what is ``personal``.
    """
    if viewer is None:
        return
    visible = visible_to(viewer)
    for write in writes:
        row = connection.execute(
            f"SELECT {visible.sql}, i.privacy, i.owner, i.value ->> '$.relation' FROM namespace n "
            "JOIN item i ON i.namespace = n.id WHERE n.path = ? AND i.key = ?",
            (*visible.bindings, to_path(write.namespace), write.key),
        ).fetchone()
        seen, privacy, holder, relation = row or (True, "shared", None, None)
        if not seen:
            raise OwnershipError(
                f"The key {write.key!r} in {write.namespace} is not free. Choose another one."
            )
        owner = write.facets.get("owner") or holder or viewer or None
        if write.facets.get("privacy", privacy) == "private" and not (
            viewer and owner == viewer and holder in (None, viewer)
        ):
            raise OwnershipError(
                f"{write.key!r} in {write.namespace} cannot be made private: a viewer keeps "
                "private only what is the viewer's own. Leave out its privacy and owner."
            )
        if owner not in (None, viewer, holder):
            raise OwnershipError(
                f"{write.key!r} in {write.namespace} cannot be made {owner!r:.80}'s: a viewer "
                "writes for nobody else. Leave out its owner."
            )
        said = from_json(write.value).get("relation") if personal and owner != viewer else None
        if owner != viewer and {relation, said if isinstance(said, str) else None} & {*personal}:
            raise OwnershipError(
                f"{write.key!r} in {write.namespace} says how {owner!r:.80} wants to be answered, "
                "which no other viewer changes. Write another memory, or use the application's store."
            )
        write.facets = {**write.facets, "owner": owner}
