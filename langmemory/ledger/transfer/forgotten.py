"""Memories in the archive file that a forgetting concerns, and what the others there say in passing."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final

from langmemory.ledger.connection import Connection
from langmemory.ledger.forgetting.erase import Kept
from langmemory.ledger.forgetting.erasure_scope import ErasureScope, id_set
from langmemory.ledger.forgetting.residue import Archived, Residue
from langmemory.ledger.namespaces import below, find
from langmemory.types import Namespace

_OWNED: Final = (
    "SELECT id FROM item WHERE owner = ? UNION SELECT item FROM history "
    "WHERE ? IN (facets ->> '$.owner', before ->> '$.owner')"
)
_SPEAKING: Final = (
    "SELECT item FROM mention WHERE entity IN (SELECT value FROM carray(?1)) UNION "
    "SELECT fact FROM edge WHERE subject IN (SELECT value FROM carray(?1)) "
    "OR object IN (SELECT value FROM carray(?1))"
)
_TEXTS: Final = (
    "SELECT id, value, key, speaker FROM item UNION ALL "
    "SELECT item, before, key, facets -> '$.claims' FROM history"
)
_DERIVED: Final = "SELECT item FROM evidence WHERE source IN (SELECT value FROM carray(?))"
_HEIRS: Final = (
    "SELECT id, superseded_by FROM item WHERE superseded_by IS NOT NULL UNION ALL "
    "SELECT item, facets ->> '$.superseded_by' FROM history "
    "WHERE facets ->> '$.superseded_by' IS NOT NULL"
)
_STAYS: Final = "NOT IN (SELECT value FROM carray(?1))"
_SPOKEN_OF: Final = (
    f"SELECT entity FROM mention WHERE item {_STAYS} UNION SELECT subject FROM edge WHERE fact {_STAYS} "
    f"UNION SELECT object FROM edge WHERE object IS NOT NULL AND fact {_STAYS}"
)
_RUNS: Final = (
    f"SELECT run FROM history WHERE item {_STAYS} UNION SELECT run FROM evidence WHERE item {_STAYS} "
    f"UNION SELECT run FROM mention WHERE item {_STAYS} UNION SELECT run FROM edge WHERE fact {_STAYS}"
)


def items_to_bring_back(
    main: Connection,
    archive: Connection,
    scope: ErasureScope,
    prefix: Namespace,
    *,
    owner: str | None,
    keys: Collection[str],
    everything: bool,
) -> list[int]:
    """Return the ids of the moved items that are to come back before a forgetting: those it forgets, those
    derived from what it forgets, and those that had given way to it.

    Args:
        main: The memory file.
        archive: The archive file.
        scope: What is to be forgotten of the memory file.
        prefix: Below which it is forgotten.
        owner: Whose memories.
        keys: Of memories of exactly this namespace.
        everything: That is there.
    """
    where, bindings = below(prefix)
    under = id_set(main, f"SELECT item FROM archived_item WHERE namespace IN {where}", bindings)
    found = set(under) if everything else set[int]()
    if not everything and under:
        if owner is not None:
            found |= id_set(archive, _OWNED, (owner, owner))
        if keys:
            found |= _archived_under_keys(main, archive, prefix, keys)
        if scope.entities:
            found |= id_set(archive, _SPEAKING, (archive.array(scope.entities),))
        if scope.names:
            found |= {int(item) for item, *told in archive.execute(_TEXTS) if scope.named(told)}
        found &= under
    moved = id_set(main, "SELECT item FROM archived_item", ())
    reached = {*scope.every, *found}
    while reached:
        reached = (id_set(archive, _DERIVED, (archive.array(reached),)) & moved) - found
        found |= reached
    return sorted(found | (_heirs(main, archive, {*scope.every, *found}) & moved))


def _archived_under_keys(
    main: Connection, archive: Connection, namespace: Namespace, keys: Collection[str]
) -> set[int]:
    """Return the items that are, or once were, under some keys of one namespace."""
    known = find(main, namespace)
    there = "AND key IN (SELECT value FROM json_each(?))"
    bindings = (known, json.dumps(sorted(keys), ensure_ascii=False))
    return id_set(
        main, f"SELECT item FROM archived_item WHERE namespace = ? {there}", bindings
    ) | id_set(archive, f"SELECT item FROM history WHERE namespace = ? {there}", bindings)


def _heirs(main: Connection, archive: Connection, going: Collection[int]) -> set[int]:
    """Return the items that gave way to one that is going, now or once: they are not to name it."""
    rows = main.execute(
        "SELECT namespace, key FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
        "SELECT namespace, key FROM history WHERE key IS NOT NULL AND item IN "
        "(SELECT value FROM carray(?1)) UNION "
        "SELECT namespace, key FROM archived_item WHERE item IN (SELECT value FROM carray(?1))",
        (main.array(going),),
    )
    names = {(int(namespace), str(key)) for namespace, key in rows}
    gave_way = [(int(item), str(heir)) for item, heir in archive.execute(_HEIRS)]
    rows = main.execute(
        "SELECT item, namespace FROM archived_item WHERE item IN (SELECT value FROM carray(?))",
        (main.array(item for item, _ in gave_way),),
    )
    home = {int(item): int(namespace) for item, namespace in rows}
    return {item for item, heir in gave_way if (home.get(item, 0), heir) in names}


def open_archived(main: Connection, archive: Connection) -> Archived:
    """Return the archive file as a forgetting looks at it, after what it concerns came back."""
    moved = id_set(main, "SELECT item FROM archived_item", ())
    there = id_set(archive, "SELECT id FROM item UNION SELECT item FROM history", ())
    return Archived(archive, frozenset(there - moved))


def kept_by(archive: Archived) -> Kept:
    """Return what the memories in an archive file still need of the memory file."""
    connection = archive.connection
    copies = (connection.array(archive.copies),)
    return Kept(
        entities=id_set(connection, _SPOKEN_OF, copies),
        runs=frozenset(str(run) for (run,) in connection.execute(_RUNS, copies) if run is not None),
    )


def telling(
    archive: Archived, residue: Residue, runs: Collection[str], scope: ErasureScope
) -> list[int]:
    """Return the rows of the history of what stays, by seq, whose reasons tell of what is forgotten."""
    named = set(runs)
    rows = archive.connection.execute(
        "SELECT seq, item, run, reason FROM history WHERE reason IS NOT NULL"
    )
    return [
        int(seq)
        for seq, item, run, reason in rows
        if item not in archive.copies
        and (run in named or scope.named((reason,)) or residue.tells(reason))
    ]


def blank(archive: Connection, told: Collection[int]) -> None:
    """Blank the reasons of rows of the history of an archive file, in a write transaction of it."""
    archive.execute(
        "UPDATE history SET reason = NULL WHERE seq IN (SELECT value FROM carray(?))",
        (archive.array(told),),
    )
