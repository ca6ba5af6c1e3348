"""The tables of the vault."""

from __future__ import annotations

from langmemory.ledger import part_rows
from langmemory.ledger.tables import schema
from langmemory.ledger.tables.table import (
    PERSON,
    Index,
    Table,
    blob,
    counter,
    integer,
    json,
    nobody,
    text,
    time,
)
from langmemory.parts.vault import secrets

SECRET = Table(
    name="secret",
    doc="A version of a secret of the vault, encrypted (AES-256-GCM); the highest one counts.",
    columns=(
        counter("id"),
        integer("namespace", of="namespace"),
        text("owner", "'' = the application", of=PERSON, says="name"),
        text("label", says="name"),
        integer("version", "from 1"),
        text("key", "vault_key.id"),
        blob("nonce", "12 bytes, new with each encryption"),
        blob("sealed", "ciphertext and tag; bound to the columns above but for id"),
        time("stored_at"),
        time("deleted_at", null=True),
    ),
    unique=("namespace", "owner", "label", "version"),
    indexes=(Index("secret_key", "key"),),
    readers=nobody("the vault; even a ciphertext is for the application alone"),
)
VAULT_KEY = Table(
    name="vault_key",
    doc="A key of the vault by its fingerprint. The key itself is nowhere.",
    columns=(
        text("id"),
        json("kdf", "salt and costs, where it is derived from a passphrase", null=True),
        text("state", one_of=("current", "old", "retired")),
        time("created_at"),
    ),
    key=("id",),
    copied=True,
    readers=nobody("the vault; even a ciphertext is for the application alone"),
)
VAULT_EVENT = Table(
    name="vault_event",
    doc="Who did what with a secret. Its text is nowhere.",
    columns=(
        counter("seq"),
        time("at"),
        text("action"),
        integer("namespace", "NULL = of the whole vault, or forgotten", null=True, of="namespace"),
        text("owner", null=True, of=PERSON, says="name"),
        text("label", "sealed, once it is forgotten", null=True, says="name"),
        integer("version", null=True),
        text("viewer", "on whose behalf; NULL = the application", null=True, of=PERSON, says="name"),
        text("by", "by which way: library, cli, a token, a tool", says="name"),
        text("reason", says="name"),
    ),
    indexes=(Index("vault_event_place", "namespace, owner, label"),),
    exported=False,
    copied=True,
    readers=nobody("who used which secret, whoever's it is"),
)  # fmt: skip

schema.register(SECRET, VAULT_KEY, VAULT_EVENT)
part_rows.register("secret", secrets)
