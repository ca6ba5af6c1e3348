"""Secrets as rows: ciphertexts by place and version, the ids of keys, and the log of who did what.

In these tables the owner ``''`` is the application.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from langmemory.ledger.connection import Connection
from langmemory.ledger.history import SEAL
from langmemory.ledger.history import seal_key as sealed_name
from langmemory.ledger.namespaces import below, find, from_path, intern, to_path
from langmemory.ledger.values import from_us, maybe_datetime, to_us
from langmemory.parts.vault.sealing import Place, Sealed
from langmemory.types import Namespace, SecretInfo, VaultEvent

Bindings = tuple[Any, ...]

_COLUMNS: Final = (
    "s.id, n.path, s.owner, s.label, s.version, s.key, s.nonce, s.sealed, s.stored_at, s.deleted_at"
)
_NEWEST: Final = (
    "s.version = (SELECT max(o.version) FROM secret o WHERE o.namespace = s.namespace "
    "AND o.owner = s.owner AND o.label = s.label)"
)


class Row(NamedTuple):
    """One version of a secret."""

    id: int
    place: Place
    sealed: Sealed
    stored_us: int
    deleted_us: int | None

    @property
    def name(self) -> str:
        """The label, by which people know it."""
        return self.place.label

    @property
    def info(self) -> SecretInfo:
        return SecretInfo(
            namespace=from_path(self.place.path), label=self.place.label, version=self.place.version,
            owner=self.place.owner or None, key=self.sealed.key, stored_at=from_us(self.stored_us),
            deleted_at=maybe_datetime(self.deleted_us),
        )  # fmt: skip


def _row(found: Sequence[Any]) -> Row:
    id, path, owner, label, version, key, nonce, sealed, stored, deleted = found
    return Row(
        id,
        Place(path=path, owner=owner, label=label, version=version),
        Sealed(key=key, nonce=bytes(nonce), data=bytes(sealed)),
        stored,
        deleted,
    )


def those(
    connection: Connection, where: str, bindings: Bindings, *, newest: bool = False, limit: int = -1
) -> list[Row]:
    """Return versions of secrets, by id; ``newest`` only the highest one of each secret."""
    if newest:
        where = f"{where} AND {_NEWEST}"
    bound = f" LIMIT {limit}" if limit >= 0 else ""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM secret s JOIN namespace n ON n.id = s.namespace WHERE {where} "
        f"ORDER BY s.id{bound}",
        bindings,
    )
    return [_row(found) for found in rows.fetchall()]


def of_label(connection: Connection, namespace: Namespace, owner: str, label: str) -> list[Row]:
    """Return all versions of a secret, the oldest first."""
    home = find(connection, namespace)
    where = "s.namespace = ? AND s.owner = ? AND s.label = ?"
    found = [] if home is None else those(connection, where, (home, owner, label))
    return sorted(found, key=lambda row: row.place.version)


def of_namespace(
    connection: Connection, prefix: Namespace, owner: str | None, *, newest: bool = True
) -> list[Row]:
    """Return the secrets of a namespace and below it; ``owner`` None is everybody's."""
    where, bindings = below(prefix)
    if owner is None:
        return those(connection, f"s.namespace IN {where}", bindings, newest=newest)
    return those(
        connection, f"s.namespace IN {where} AND s.owner = ?", (*bindings, owner), newest=newest
    )


def insert(
    connection: Connection, namespace: Namespace, place: Place, sealed: Sealed, stored_us: int,
    deleted_us: int | None = None,
) -> None:  # fmt: skip
    """Add a version."""
    connection.execute(
        "INSERT INTO secret (namespace, owner, label, version, key, nonce, sealed, stored_at, deleted_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            intern(connection, namespace), place.owner, place.label, place.version, sealed.key,
            sealed.nonce, sealed.data, stored_us, deleted_us,
        ),
    )  # fmt: skip


def mark_deleted(connection: Connection, ids: Iterable[int], at_us: int | None) -> None:
    """Say when versions were deleted; None: they are not."""
    connection.executemany(
        "UPDATE secret SET deleted_at = ? WHERE id = ?", [(at_us, one) for one in ids]
    )


def delete(connection: Connection, ids: Iterable[int]) -> None:
    """Take versions out of the table."""
    connection.executemany("DELETE FROM secret WHERE id = ?", [(one,) for one in ids])


def delete_namespace(
    connection: Connection, prefix: Namespace, viewer: str | None, now_us: int
) -> None:
    """Mark the secrets of a namespace and below it as deleted; of a viewer only their own."""
    if viewer == "":  # somebody unknown, who owns nothing
        return
    for row in of_namespace(connection, prefix, viewer):
        if row.deleted_us is None:
            mark_deleted(connection, [row.id], now_us)
            log(
                connection, now_us, "delete", from_path(row.place.path), owner=row.place.owner,
                label=row.place.label, version=row.place.version, viewer=viewer, by="delete_namespace",
            )  # fmt: skip


def reseal(connection: Connection, row: Row, sealed: Sealed) -> bool:
    """Replace a ciphertext; return whether it still was what the row says."""
    found = connection.execute(
        "UPDATE secret SET key = ?, nonce = ?, sealed = ? WHERE id = ? AND nonce = ? RETURNING id",
        (sealed.key, sealed.nonce, sealed.data, row.id, row.sealed.nonce),
    ).fetchone()
    return found is not None


# Keys.


class Key(NamedTuple):
    """A key of the vault, without the key itself."""

    id: str
    kdf: str | None
    state: str
    """``current``, ``old`` while something may be encrypted with it, or ``retired``."""


def keys(connection: Connection) -> list[Key]:
    """Return the keys, the current one first."""
    rows = connection.execute(
        "SELECT id, kdf, state FROM vault_key ORDER BY state <> 'current', created_at DESC, id"
    )
    return [Key(*found) for found in rows.fetchall()]


def set_key(connection: Connection, id: str, kdf: str | None, state: str, now_us: int) -> None:
    """Note a key, or its new state."""
    connection.execute(
        "INSERT INTO vault_key (id, kdf, state, created_at) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET state = excluded.state",
        (id, kdf, state, now_us),
    )


def counts(connection: Connection) -> dict[str, int]:
    """Return how many versions each key has."""
    return dict(connection.execute("SELECT key, count(*) FROM secret GROUP BY key").fetchall())


# The log.


def log(
    connection: Connection,
    now_us: int,
    action: str,
    namespace: Namespace | None,
    *,
    owner: str | None = None,
    label: str | None = None,
    version: int | None = None,
    viewer: str | None,
    by: str,
    reason: str = "",
) -> None:
    """Add an entry to the audit log."""
    connection.execute(
        "INSERT INTO vault_event (at, action, namespace, owner, label, version, viewer, by, reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            now_us, action, None if namespace is None else intern(connection, namespace), owner, label,
            version, viewer, by, reason,
        ),
    )  # fmt: skip


def logged(
    connection: Connection, prefix: Namespace, owner: str | None, limit: int, before: int | None
) -> list[VaultEvent]:
    """Return entries of the log, the newest first. ``owner`` None is everybody's; then entries about the
    whole vault, and about what was forgotten, are among them where the prefix is ``()``."""
    where, bindings = below(prefix)
    conditions = f"(e.namespace IN {where}" + (" OR e.namespace IS NULL)" if not prefix else ")")
    if owner is not None:
        conditions += " AND e.owner = ?"
        bindings = (*bindings, owner)
    if before is not None:
        conditions += " AND e.seq < ?"
        bindings = (*bindings, before)
    rows = connection.execute(
        "SELECT e.seq, e.at, e.action, n.path, e.owner, e.label, e.version, e.viewer, e.by, e.reason "
        f"FROM vault_event e LEFT JOIN namespace n ON n.id = e.namespace WHERE {conditions} "
        "ORDER BY e.seq DESC LIMIT ?",
        (*bindings, limit),
    )
    return [
        VaultEvent(
            seq=seq, at=from_us(at), action=action, owner=whose or None,
            label=None if (label or "").startswith(SEAL) else label, version=version,
            namespace=None if path is None else from_path(path), viewer=viewer, by=by, reason=reason,
        )
        for seq, at, action, path, whose, label, version, viewer, by, reason in rows.fetchall()
    ]  # fmt: skip


# Forgetting.


def sealed_label(place: Place) -> str:
    """Return by what a forgotten secret is known again, and not read."""
    return sealed_name(place.path, f"{place.owner}\0{place.label}")


def forget(connection: Connection, rows: Sequence[Row], now_us: int) -> set[int]:
    """Take secrets out of the table and their names out of the log; return the namespaces they were in.

    What is left is that something was forgotten, under a sealed name, by which an import of an older export
    knows it.
    """
    delete(connection, (row.id for row in rows))
    homes: set[int] = set()
    for place in {
        (row.place.path, row.place.owner, row.place.label): row.place for row in rows
    }.values():
        home, sealed = find(connection, from_path(place.path)), sealed_label(place)
        connection.execute(
            "UPDATE vault_event SET namespace = NULL, owner = NULL, label = ?, viewer = NULL, reason = '', "
            "by = '' WHERE namespace = ? AND owner = ? AND label = ?",
            (sealed, home, place.owner, place.label),
        )
        log(connection, now_us, "forget", None, label=sealed, viewer=None, by="")
        if home is not None:
            homes.add(home)
    return homes


def forget_person(connection: Connection, prefix: Namespace, person: str) -> None:
    """Take a person's name out of the log of other people's secrets."""
    where, bindings = below(prefix)
    connection.execute(
        f"UPDATE vault_event SET viewer = NULL, reason = '' WHERE viewer = ? AND namespace IN {where}",
        (person, *bindings),
    )


# Export and import.


def is_forgotten(connection: Connection, place: Place, stored_us: int) -> bool:
    """Return whether a version was forgotten here after it was stored."""
    row = connection.execute(
        "SELECT max(at) FROM vault_event WHERE action = 'forget' AND label = ?",
        (sealed_label(place),),
    ).fetchone()
    return row[0] is not None and int(row[0]) >= stored_us


def is_there(connection: Connection, place: Place) -> bool:
    """Return whether there is this version."""
    rows = of_label(connection, from_path(place.path), place.owner, place.label)
    return any(row.place.version == place.version for row in rows)


def export_rows(
    connection: Connection, prefix: Namespace, *, history: bool
) -> Iterator[dict[str, Any]]:
    """Yield the secrets of a namespace and below it; without ``history`` only what counts now."""
    kdfs = {key.id: key.kdf for key in keys(connection)}
    for row in of_namespace(connection, prefix, None, newest=not history):
        if row.deleted_us is not None and not history:
            continue
        found: dict[str, Any] = {
            "type": "secret", "namespace": list(from_path(row.place.path)), "label": row.place.label,
            "owner": row.place.owner, "version": row.place.version, "key": row.sealed.key,
            "kdf": kdfs.get(row.sealed.key), "nonce": base64.b64encode(row.sealed.nonce).decode(),
            "sealed": base64.b64encode(row.sealed.data).decode(),
            "stored_at": from_us(row.stored_us).isoformat(),
        }  # fmt: skip
        if row.deleted_us is not None:
            found["deleted_at"] = from_us(row.deleted_us).isoformat()
        yield found


def import_row(connection: Connection, namespace: Namespace, row: Mapping[str, Any]) -> None:
    """Take a row of `export_rows` back. A version that is here already stays as it is, and one that was
    forgotten here stays away. It needs no key.

    Raises:
        KeyError, TypeError, ValueError: It is no such row.
    """
    place = Place(
        path=to_path(namespace), owner=_text(row["owner"]), label=_text(row["label"]),
        version=int(row["version"]),
    )  # fmt: skip
    stored = to_us(datetime.fromisoformat(row["stored_at"]))
    gone = row.get("deleted_at")
    deleted = None if gone is None else to_us(datetime.fromisoformat(gone))
    sealed = Sealed(
        key=_text(row["key"]),
        nonce=base64.b64decode(row["nonce"], validate=True),
        data=base64.b64decode(row["sealed"], validate=True),
    )
    if is_there(connection, place) or is_forgotten(connection, place, stored):
        return
    known = {key.id: key for key in keys(connection)}
    if sealed.key not in known or known[sealed.key].state == "retired":
        state = "old" if known else "current"
        set_key(connection, sealed.key, row["kdf"], state, stored)
    insert(connection, namespace, place, sealed, stored, deleted)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value
