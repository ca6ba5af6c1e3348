"""Linking: ends of links by what people call them, links as change sets, and what a task depends on."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np

from langmemory.arguments import check_agent
from langmemory.changes import AddEdge, AddMemory, Facets
from langmemory.context.dependencies import Thing
from langmemory.errors import ConfigError, EntityNameError, InvalidValueError, OwnershipError
from langmemory.ledger import anchors, items, namespaces
from langmemory.ledger.connection import Connection
from langmemory.ledger.graph_view import GraphView
from langmemory.links import (
    KEYS,
    MEMORY,
    NAMED,
    RELATIONS,
    anchor_of,
    is_anchor,
    link_value,
    memory_of,
    record_of,
    title_of,
)
from langmemory.resources import KEYS as DOCUMENTS
from langmemory.trust import as_written
from langmemory.types import Edge, Memory, Namespace, Privacy

TITLED: Final = (("task", "title"), ("decision", "what"), ("document", "path"))
"""(record, field by which people name it)."""


FRONT_MATTER: Final = "front matter"
"""Origin of the links that a document names itself."""


@dataclass(frozen=True, slots=True)
class End:
    """An end of a link."""

    anchor: str
    memory: Memory | None
    """None of what is there by its name."""

    @property
    def owners(self) -> tuple[str | None, ...]:
        """Its owner, where it is private; else nobody."""
        one = self.memory
        return (one.owner,) if one is not None and one.privacy == "private" else ()


class Ends:
    """Ends of links in one namespace, as a viewer may know of them."""

    def __init__(self, connection: Connection, namespace: Namespace, viewer: str | None) -> None:
        self._connection, self._namespace, self._viewer = connection, namespace, viewer

    def end(self, name: str) -> End:
        """Return what is meant: ``agent:NAME``, ``swarm:NAME`` or ``artifact:NAME``; the key of a memory, the
        title of a task, what a decision says, or the path of a document.

        Raises:
            EntityNameError: Nothing is called so, or more than one thing.
            InvalidValueError: It is no name.
        """
        found = self.found(name)
        if found is None:
            kinds = ", ".join(f"{one}:NAME" for one in NAMED)
            raise EntityNameError(
                f"There is no memory, task, decision or document {name!r} in "
                f"{'/'.join(self._namespace)}. Pass the key of a memory there, a title or a path, or a name "
                f"with its kind: {kinds}."
            )
        return found

    def found(self, name: str) -> End | None:
        """As `end`; None where nothing is called so."""
        if not isinstance(name, str) or not name.strip():
            raise InvalidValueError(f"The end of a link is {name!r:.80}; pass a key or a name.")
        if is_anchor(name) and not name.startswith(MEMORY):
            kind, _, named = name.partition(":")
            try:
                return End(f"{kind}:{check_agent(f'The name of the {kind}', named)}", None)
            except ConfigError as error:
                raise InvalidValueError(str(error)) from None
        key = memory_of(name) or name
        found = self.memory(key)
        if found is not None:
            return End(anchor_of(key), found)
        called = self._titled(key)
        if len(called) == 1:
            return End(anchor_of(called[0].key), called[0])
        if called:
            keys = ", ".join(one.key for one in called[:5])
            raise EntityNameError(
                f"{len(called)} are called {name!r} in {'/'.join(self._namespace)}: {keys}. Name one by its "
                "key."
            )
        return None

    def memory(self, key: str) -> Memory | None:
        """Return a memory that the viewer may know of."""
        return None if key.startswith(KEYS) else self._stored(key, self._viewer)

    def _stored(self, key: str, viewer: str | None) -> Memory | None:
        item = items.find(self._connection, self._namespace, key, viewer=viewer)
        if item is None:
            return None
        return items.memories(self._connection, np.array([item]), viewer=viewer)[0]

    def first(self, names: Iterable[str]) -> End:
        """Return the first of some ends that is there.

        Raises:
            EntityNameError: None is, or several are called so.
        """
        last = ""
        for last in names:
            if (found := self.found(last)) is not None:
                return found
        return self.end(last)

    def origin_of(self, fact: str) -> str:
        """Return what a link comes from; empty where a person or a program made it."""
        one = self._stored(fact, None)
        return "" if one is None else str(one.value.get("origin", ""))

    def owner_of(self, fact: str) -> str | None:
        """Return whose a link is."""
        one = self._stored(fact, self._viewer)
        return None if one is None else one.owner

    def _titled(self, name: str) -> list[Memory]:
        place = namespaces.find(self._connection, self._namespace)
        # A path has its accents as the system that made the file writes them, composed or not.
        spelled = {name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))}
        found = [
            item
            for record, field in TITLED
            for one in sorted(spelled)
            for item in anchors.items_by_field(self._connection, place or 0, record, field, one)
        ]
        known = [
            one
            for one in items.memories(self._connection, np.array(found, np.int64))
            if self.memory(one.key) is not None
        ]
        live = [one for one in known if one.status == "active"]
        return live or known

    def thing(self, anchor: str) -> Thing | None:
        """Return what stands at an end of links; None where the viewer may not know of it."""
        key = memory_of(anchor)
        if key is None:
            kind, _, name = anchor.partition(":")
            return Thing(key=anchor, name=name, kind=kind)
        one = self.memory(key)
        if one is None:
            return None
        over = one.status in ("superseded", "archived")
        return Thing(
            key=anchor, name=title_of(one.key, one.value, one.text), kind=record_of(one.value),
            text=self._text(one), over=over, away=one.status == "archived" and not one.superseded_by,
            heir=anchor_of(one.superseded_by) if over and one.superseded_by else None,
        )  # fmt: skip

    def _text(self, one: Memory) -> str:
        """Return what a memory says; of a document its parts, in order."""
        if record_of(one.value) != "document":
            return one.text
        keys = [f"{DOCUMENTS}{one.value.get('document')}/{part}" for part in _parts(one.value)]
        read = []
        for key in keys[:PARTS]:
            part = self.memory(key)
            if part is not None:
                read.append(part.text)
        if len(keys) > PARTS:
            read.append(f"… {len(keys) - PARTS} more parts")
        return "\n".join(read)


PARTS: Final = 50
"""Parts of a document that are read for a context; more never fit."""


def _parts(value: dict[str, Any]) -> Sequence[str]:
    return str(value.get("chunks") or "").split()


class LinkedView:
    """The links of one namespace on one snapshot, see `langmemory.context.dependencies.Linked`."""

    def __init__(self, view: GraphView, ends: Ends) -> None:
        self._view, self._ends = view, ends

    def edges(self, anchor: str) -> Sequence[Edge]:
        """Return the links from and to an anchor that hold, the oldest first."""
        return self._view.edges_at(anchor)

    def thing(self, anchor: str) -> Thing | None:
        """Return what stands there."""
        return self._ends.thing(anchor)


def check_relation(relation: str) -> str:
    """Return the relation of a link.

    Raises:
        InvalidValueError: It is none.
    """
    if relation not in RELATIONS:
        raise InvalidValueError(
            f"The relation is {relation!r:.80}; pass one of these: {', '.join(RELATIONS)}."
        )
    return relation


def whose(ends: Iterable[End], viewer: str | None, privacy: Privacy) -> Facets:
    """Return the owner and privacy of a link: what ends at something private is as private.

    Raises:
        InvalidValueError: Its ends are private to several people.
        OwnershipError: Somebody unknown would own it.
    """
    owners = {owner for end in ends for owner in end.owners}
    if privacy == "private":
        if not viewer:
            raise OwnershipError(
                "A private link needs an owner: link on behalf of a viewer (`for_viewer`)."
            )
        owners.add(viewer)
    if len(owners) > 1:
        raise InvalidValueError(
            "The ends of the link are private to several people, and nobody could read it."
        )
    if owners:
        return Facets(kind="working", privacy="private", owner=owners.pop())
    return Facets(kind="working", privacy=privacy, owner=viewer or None)


def new_memory(key: str, value: dict[str, Any], facets: Facets, reason: str = "") -> AddMemory:
    """Return the change that adds a memory; its value tells an agent that asked for it, and of a private one
    whose it is."""
    value = as_written(value)
    if facets.privacy == "private":
        value = {**value, "privacy": "private", "owner": facets.owner}
    return AddMemory(key=key, value=value, facets=facets, reason=reason)


def link_changes(
    source: End,
    relation: str,
    target: End,
    facets: Facets,
    *,
    reason: str = "",
    valid_at: datetime | None = None,
    **more: Any,
) -> tuple[AddMemory, AddEdge]:
    """Return the changes that link two ends."""
    key = f"{KEYS}{secrets.token_hex(8)}"
    if valid_at is not None:
        facets = Facets(**{**facets.given(), "valid_at": valid_at})
    value = link_value(source.anchor, relation, target.anchor, **more)
    return (
        new_memory(key, value, facets, reason),
        AddEdge(
            fact=key, subject=source.anchor, relation=relation, object=target.anchor, reason=reason
        ),
    )
