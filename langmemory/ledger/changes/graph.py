"""Changes of the graph as rows: entities, their names and links, edges."""

from __future__ import annotations

from langmemory.changes import AddEdge, AddEntity, LinkEntities, UnlinkEntities
from langmemory.errors import ChangeError
from langmemory.languages.spelling import name_key
from langmemory.ledger.changes.run import ChangeRun, Unchanged
from langmemory.ledger.graph import anchors, graph_rows
from langmemory.links import is_anchor, memory_of


def add_entity(run: ChangeRun, change: AddEntity) -> None:
    if is_anchor(change.key):
        raise ChangeError(
            f"Run {run.id!r} adds the entity {change.key!r}, which is an anchor: an edge may name it as it "
            "is. Leave the entity out, or give it another key."
        )
    entity = graph_rows.find_entity(run.connection, run.namespace, change.key)
    known = entity is not None
    if entity is None:
        entity = graph_rows.add_entity(
            run.connection, run.namespace, change.key, change.name, change.kind, run.id
        )
    names = [(norm, name) for name in (change.name, *change.aliases) if (norm := name_key(name))]
    new = graph_rows.add_aliases(run.connection, run.namespace, entity, names, run.id)
    if known and not new:
        raise Unchanged("is known already")


def link(run: ChangeRun, change: LinkEntities) -> None:
    entity, same_as = run.entity(change.key), run.entity(change.same_as)
    if graph_rows.leads_to(run.connection, same_as, entity):
        raise ChangeError(
            f"Run {run.id!r} links {change.key!r} to {change.same_as!r}, which is itself, or linked "
            "to it. Unlink that one first; nothing was written."
        )
    _set_link(run, entity, change.key, same_as, change.same_as)


def unlink(run: ChangeRun, change: UnlinkEntities) -> None:
    _set_link(run, run.entity(change.key), change.key, None, None)


def _set_link(
    run: ChangeRun, entity: int, key: str, same_as: int | None, same_as_key: str | None
) -> None:
    before = graph_rows.link_of(run.connection, entity)
    if before[0] == same_as_key:
        raise Unchanged("is so already")
    run.links.setdefault(key, before)
    graph_rows.link(run.connection, entity, same_as, run.id)


def add_edge(run: ChangeRun, change: AddEdge) -> None:
    """An edge's memory mentions what it is about, so that who may read it may know of both ends. Anchors
    are there by what they stand for, and are not mentioned."""
    if (change.object is None) == (change.literal is None):
        raise ChangeError(
            f"Run {run.id!r}: the edge {change.relation!r} of {change.fact!r} needs an object or a "
            "literal, and not both."
        )
    fact, subject = run.item(change.fact), _end(run, change.subject)
    object = None if change.object is None else _end(run, change.object)
    new = graph_rows.add_edge(
        run.connection, fact, subject, change.relation, object, change.literal, run.id
    )
    if not new:
        raise Unchanged("is known already")
    ends = [(change.subject, subject), (change.object or "", object)]
    spoken = [one for key, one in ends if one is not None and not is_anchor(key)]
    graph_rows.mention(run.connection, fact, spoken, run.id)
    run.revise(change.fact, fact, change, "update", touched=True)


def _end(run: ChangeRun, key: str) -> int:
    """Return the entity at an end of an edge. An anchor is there as soon as it is asked for."""
    if not is_anchor(key):
        return run.entity(key)
    if (memory := memory_of(key)) is not None:
        run.item(memory)
    return anchors.anchor(run.connection, run.namespace, key)
