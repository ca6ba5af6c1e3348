"""Secrets of the vault as rows of an export, and back: their ciphertexts, never their texts."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from langmemory.ledger.connection import Connection
from langmemory.ledger.namespaces import from_path, to_path
from langmemory.ledger.records import secrets
from langmemory.ledger.values import from_us, to_us
from langmemory.types import Namespace
from langmemory.vault.sealing import Place, Sealed


def export_rows(
    connection: Connection, prefix: Namespace, *, history: bool
) -> Iterator[dict[str, Any]]:
    """Yield the secrets of a namespace and below it; without ``history`` only what counts now."""
    kdfs = {key.id: key.kdf for key in secrets.keys(connection)}
    for row in secrets.of_namespace(connection, prefix, None, newest=not history):
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
    if secrets.is_there(connection, place) or secrets.is_forgotten(connection, place, stored):
        return
    known = {key.id: key for key in secrets.keys(connection)}
    if sealed.key not in known or known[sealed.key].state == "retired":
        state = "old" if known else "current"
        secrets.set_key(connection, sealed.key, row["kdf"], state, stored)
    secrets.insert(connection, namespace, place, sealed, stored, deleted)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value
