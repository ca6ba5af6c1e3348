"""`store.vault`: secrets that applications and their tools use, and that no model sees."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Final, NamedTuple

from pydantic import Field

from langmemory.arguments import whole_number
from langmemory.declaring import operation, room
from langmemory.declaring.fields import Most, Positive
from langmemory.errors import (
    OwnershipError,
    SecretDamagedError,
    SecretNotFoundError,
    VaultError,
    VaultKeyError,
)
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import run_in_write
from langmemory.ledger.forgetting import erase
from langmemory.ledger.namespaces import from_path, to_path
from langmemory.namespaces import check_namespace
from langmemory.operations.core import Core
from langmemory.parts.vault import secrets
from langmemory.parts.vault.keys import Passphrase, VaultKey, ids_of, new_kdf
from langmemory.parts.vault.sealing import Place, Sealed, seal, unseal
from langmemory.parts.vault.secret import MASK, Secret, wrapped
from langmemory.parts.vault.secrets import Key, Row
from langmemory.parts.vault.sources import VaultKeys
from langmemory.pluralize import count_noun
from langmemory.redaction import redact_and_log
from langmemory.steps import twin
from langmemory.types import Namespace, SecretInfo, VaultEvent, VaultRotation, VaultStatus

KEPT_VERSIONS: Final = 10
"""Versions of a secret that stay, encrypted; older ones are erased by the next `put`."""
LONGEST_LABEL: Final = 200
LONGEST_REASON: Final = 500
SecretLabel = Annotated[str, Field(min_length=1, max_length=200)]
Owner = Annotated[str, Field(min_length=1, max_length=400)]
SHORTEST_HELD: Final = 4
"""Characters of a secret that is looked for in labels and reasons: a shorter one is in many words."""
AT_ONCE: Final = 200
"""Versions that one transaction of a rotation encrypts anew."""
ATTEMPTS: Final = 5
"""Times a write is tried while others rotate the keys."""


@room("vault", tag="Vault")
class ViewerVault:
    """The vault as one person may use it: their own secrets. Labels of others do not exist in it."""

    __slots__ = ("_core", "_viewer")

    def __new__(cls, core: Core, viewer: str | None) -> ViewerVault:
        """Return the vault of the application where there is no viewer."""
        return super().__new__(Vault if viewer is None else cls)

    def __init__(self, core: Core, viewer: str | None) -> None:
        self._core, self._viewer = core, viewer

    @property
    def _keys(self) -> VaultKeys:
        keys: VaultKeys = self._core.option("vault_key")
        return keys

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._core.path}>"

    def put(
        self,
        namespace: Namespace,
        label: str,
        secret: str | Secret,
        *,
        owner: str | None = None,
        by: str = "library",
    ) -> SecretInfo:
        """Encrypt a secret and store it, as a new version where there is one of this label.

        The last `KEPT_VERSIONS` versions stay, encrypted; `restore` brings one back.

        Args:
            namespace: Exactly this one.
            label: By which it is found. It is stored in clear, and people may see it; one that holds a
                credential is refused.
            secret: A text of up to 256 KiB.
            owner: Whose it is; None is the viewer, and for the application's store the application.
            by: Through what, such as ``cli``; for the audit log.

        Raises:
            VaultError: The label or the secret is not valid; the message does not quote the secret.
            VaultKeyError: The key is missing, or is not that of this vault; nothing was stored.
        """
        given, label = self._taken(secret, label)
        del secret  # from here on no frame has the text
        return self._put_wrapped(namespace, label, given, owner, by)

    async def aput(
        self,
        namespace: Namespace,
        label: str,
        secret: str | Secret,
        *,
        owner: str | None = None,
        by: str = "library",
    ) -> SecretInfo:
        """`put` without blocking the event loop."""
        given, label = self._taken(secret, label)
        del secret
        return await asyncio.to_thread(self._put_wrapped, namespace, label, given, owner, by)

    def get(
        self,
        namespace: Namespace,
        label: str,
        *,
        owner: str | None = None,
        version: int | None = None,
        reason: str = "",
        by: str = "library",
    ) -> Secret:
        """Unlock a secret. The audit log has an entry before this returns.

        Args:
            namespace: Exactly this one.
            label: As `put` took it.
            owner: As `put` took it.
            version: An older one; None is the newest.
            reason: What it is needed for, for the audit log.
            by: Through what, such as ``cli``; for the audit log.

        Returns:
            A `Secret`, which prints as ``[secret]``; its `reveal` returns the text.

        Raises:
            SecretNotFoundError: There is none, or it was deleted.
            VaultKeyError: The key is missing, or is not that of this vault.
            SecretDamagedError: Its row was changed, or moved to another place.
        """
        return self._unlocked(self._place(namespace, label, owner), version, reason, by)

    aget = twin(get)

    @operation("read", "GET /vault")
    def list(
        self,
        namespace: Namespace = (),
        *,
        label: SecretLabel | None = None,
        owner: Owner | None = None,
        deleted: bool = False,
    ) -> tuple[SecretInfo, ...]:
        """Return the secrets of a namespace and below it, without their texts. It needs no key.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            label: Only those whose label contains this, in any case.
            owner: Only this person's.
            deleted: Deleted ones as well.
        """
        prefix = check_namespace(namespace, may_be_empty=True)
        whose = self._owner(owner) if owner is not None or self._viewer is not None else None
        with self._reading() as connection:
            rows = secrets.of_namespace(connection, prefix, whose)
        part = (label or "").casefold()
        found = [row.info for row in rows if part in row.place.label.casefold()]
        found = [one for one in found if deleted or one.deleted_at is None]
        return tuple(sorted(found, key=lambda one: (one.namespace, one.label, one.owner or "")))

    alist = twin(list)

    @operation("read", "GET /vault/versions")
    def versions(
        self, namespace: Namespace, label: SecretLabel, *, owner: Owner | None = None
    ) -> tuple[SecretInfo, ...]:
        """Return the versions of a secret that are there, the newest first."""
        place = self._place(namespace, label, owner)
        with self._reading() as connection:
            return tuple(row.info for row in reversed(self._rows(place, connection)))

    aversions = twin(versions)

    def delete(
        self, namespace: Namespace, label: str, *, owner: str | None = None, by: str = "library"
    ) -> None:
        """Take a secret out of use. Its ciphertexts stay until `forget`; `restore` undoes it.

        Raises:
            SecretNotFoundError: There is none.
        """
        place, now = self._place(namespace, label, owner), self._core.now_us()

        def deleted(connection: Connection) -> None:
            row = self._newest(self._rows(place, connection), place)
            secrets.mark_deleted(connection, [row.id], now)
            self._log(connection, "delete", row.place, by)

        run_in_write(self._core.engine, deleted)

    adelete = twin(delete)

    def restore(
        self,
        namespace: Namespace,
        label: str,
        *,
        owner: str | None = None,
        version: int | None = None,
        by: str = "library",
    ) -> SecretInfo:
        """Undo the deletion of a secret, or make an older version the newest one again.

        Args:
            namespace: Exactly this one.
            label: As `put` took it.
            owner: As `put` took it.
            version: A copy of it becomes the newest version; None only undoes the deletion.
            by: Through what, such as ``cli``; for the audit log.

        Raises:
            SecretNotFoundError: There is none, or not this version of it.
            VaultError: It is not deleted, and no version is named.
        """
        place = self._place(namespace, label, owner)
        if version is not None:
            secret = self._unlocked(place, version, "", by, restores=True)
            return self._put(place, secret, by, "restore")

        def restored(connection: Connection) -> SecretInfo:
            rows = self._rows(place, connection)
            if not rows:
                raise _missing(place)
            row = rows[-1]
            if row.deleted_us is None:
                raise VaultError(
                    f"The secret {label!r} is not deleted. To go back to an older version, name it."
                )
            secrets.mark_deleted(connection, [row.id], None)
            self._log(connection, "restore", row.place, by)
            return row._replace(deleted_us=None).info

        return run_in_write(self._core.engine, restored)

    arestore = twin(restore)

    def forget(self, namespace: Namespace, label: str, *, owner: str | None = None) -> int:
        """Erase all versions of a secret, its name in the audit log, and that of its namespace where nothing
        else is in it; return how many versions.

        It cannot be undone, and an import of an older export does not bring it back. The file is written
        anew, as by `MemoryStore.forget`, so that no old ciphertext stays in free space.

        Raises:
            SecretNotFoundError: There is none.
        """
        place, engine = self._place(namespace, label, owner), self._core.engine
        with engine.write() as connection, engine.erasing(connection):
            rows = self._rows(place, connection)
            if not rows:
                raise _missing(place)
            homes = secrets.forget(connection, rows, self._core.now_us())
            erase.forget_namespaces(connection, homes)
        engine.purge_if_sound()
        return len(rows)

    aforget = twin(forget)

    @operation("read", "GET /vault/audit")
    def audit(
        self, namespace: Namespace = (), *, limit: Most = 100, before: Positive | None = None
    ) -> tuple[VaultEvent, ...]:
        """Return who did what with secrets, the newest first.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole vault.
            limit: At most so many.
            before: Only entries with a lower `VaultEvent.seq`: the next page.
        """
        prefix = check_namespace(namespace, may_be_empty=True)
        whose = None if self._viewer is None else self._owner(None)
        limit = whole_number("limit", limit, least=1)
        with self._reading() as connection:
            return tuple(secrets.logged(connection, prefix, whose, limit, before))

    aaudit = twin(audit)

    # Reading.

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        if self._core.engine.reads_only:
            raise VaultError(
                f"The role with which {self._core.path} is open may only read, and the vault is closed to it."
                " Open the store as the owner of the tables."
            )
        with self._core.engine.read() as snapshot:
            yield snapshot.connection

    def _rows(self, place: _Wanted, connection: Connection) -> builtins.list[Row]:
        return secrets.of_label(connection, place.namespace, place.owner, place.label)

    def _newest(self, rows: builtins.list[Row], place: _Wanted) -> Row:
        if not rows:
            raise _missing(place)
        if rows[-1].deleted_us is not None:
            raise SecretNotFoundError(
                f"The secret {place.label!r} in {place.namespace!r} was deleted. `restore` undoes that."
            )
        return rows[-1]

    def _unlocked(
        self, place: _Wanted, version: int | None, reason: str, by: str, *, restores: bool = False
    ) -> Secret:
        """Return a secret. A version that is restored may be of a deleted secret, and has an entry of its
        own."""
        if not isinstance(reason, str) or len(reason) > LONGEST_REASON:
            raise VaultError(f"reason has to be a text of at most {LONGEST_REASON} characters.")
        with self._reading() as connection:
            rows, keys = self._rows(place, connection), secrets.keys(connection)
        if not (restores and rows):
            self._newest(rows, place)
        if version is not None and version not in (row.place.version for row in rows):
            raise SecretNotFoundError(
                f"The secret {place.label!r} has no version {version!r:.20}; there are "
                f"{', '.join(str(row.place.version) for row in rows)}."
            )
        row = next(one for one in reversed(rows) if version in (None, one.place.version))
        try:
            found = self._opened(row, keys)
        except VaultError as error:
            self._note(row, "refuse", by, type(error).__name__)
            raise
        if not restores:
            self._note(row, "unlock", by, self._clean(reason, found))
        return found

    def _clean(self, reason: str, secret: Secret) -> str:
        """Return a reason without credentials: the log is stored in clear."""
        text = secret.reveal()
        if len(text) >= SHORTEST_HELD:
            reason = reason.replace(text, MASK)
        return redact_and_log(reason, self._core.redactor)

    def _note(self, row: Row, action: str, by: str, reason: str) -> None:
        run_in_write(
            self._core.engine,
            lambda connection: self._log(connection, action, row.place, by, reason),
        )

    def _opened(self, row: Row, keys: builtins.list[Key]) -> Secret:
        return unseal(self._key(row.sealed.key, keys), row.sealed, row.place)

    def _key(self, id: str, keys: builtins.list[Key]) -> VaultKey:
        """Return the key of this id.

        Raises:
            VaultKeyError: This process does not have it.
        """
        kdf = next((key.kdf for key in keys if key.id == id), None)
        found = self._keys.find(id, kdf)
        if found is None:
            raise self._wrong_key(id, kdf)
        return found

    def _wrong_key(self, id: str, kdf: str | None) -> VaultKeyError:
        given = self._keys
        needed = "a passphrase" if kdf else "the key"
        return VaultKeyError(
            f"The vault of {self._core.path} is encrypted with {needed} of the id {id}; {given.source} has "
            f"{ids_of(given.given())}. Nothing was changed. Give the right key; put several "
            "on separate lines."
        )

    # Writing.

    def _taken(self, secret: str | Secret, label: str) -> tuple[Secret | VaultError, str]:
        """Return a secret wrapped, with its label; where the label cannot be one the error, and no label:
        whoever mixes up the two has the secret there."""
        given = wrapped(secret)
        fault = _label_fault(label)
        if fault is None and isinstance(given, Secret):
            held = len(given.reveal()) >= SHORTEST_HELD and given.reveal() in label
            if held or redact_and_log(label, self._core.redactor) != label:
                fault = "The label holds a credential, and labels are stored in clear. Nothing was stored."
        if fault is not None:
            return VaultError(fault), MASK
        return given, label

    def _put_wrapped(
        self,
        namespace: Namespace,
        label: str,
        given: Secret | VaultError,
        owner: str | None,
        by: str,
    ) -> SecretInfo:
        if isinstance(given, VaultError):
            raise given
        return self._put(self._place(namespace, label, owner, written=True), given, by, "put")

    def _put(self, place: _Wanted, secret: Secret, by: str, action: str) -> SecretInfo:
        for _ in range(ATTEMPTS):
            with self._reading() as connection:
                key, kdf = self._writing_key(secrets.keys(connection))
            store = partial(self._stored, place, secret, key, kdf, by, action)
            stored = run_in_write(self._core.engine, store)
            if stored is not None:
                return stored
        raise VaultError(
            "The keys of the vault keep changing. Nothing was stored; try again later."
        )

    def _stored(
        self,
        place: _Wanted,
        secret: Secret,
        key: VaultKey,
        kdf: str | None,
        by: str,
        action: str,
        connection: Connection,
    ) -> SecretInfo | None:
        """Store a secret as the newest version; None where the key may not encrypt any more."""
        now = self._core.now_us()
        if not _may_write(connection, key, kdf, now):
            return None
        rows = self._rows(place, connection)
        where = place.version(rows[-1].place.version + 1 if rows else 1)
        sealed = seal(key, secret, where)
        secrets.insert(connection, place.namespace, where, sealed, now)
        old = rows[: max(len(rows) + 1 - KEPT_VERSIONS, 0)]
        secrets.delete(connection, (row.id for row in old))
        self._log(connection, action, where, by)
        return Row(0, where, sealed, now, None).info

    def _writing_key(self, keys: builtins.list[Key]) -> tuple[VaultKey, str | None]:
        """Return the key to encrypt with, and how it is derived: the current one, or while a rotation runs
        an old one; a new one where there is none yet."""
        for key in keys:
            if key.state != "retired":
                found = self._keys.find(key.id, key.kdf)
                if found is not None:
                    return found, key.kdf
        if keys:
            raise self._wrong_key(keys[0].id, keys[0].kdf)
        return self._newest_key(keys)

    def _newest_key(self, keys: Iterable[Key]) -> tuple[VaultKey, str | None]:
        """Return the newest key that was given, and how it is derived: as for one of the vault's keys, if it
        is one of them."""
        key = self._keys.given(anew=True)[0]
        if not isinstance(key, Passphrase):
            return key, None
        for one in keys:
            if one.kdf is not None and key.derive(one.kdf).id == one.id:
                return key.derive(one.kdf), one.kdf
        kdf = new_kdf()
        return key.derive(kdf), kdf

    def _log(
        self, connection: Connection, action: str, place: Place, by: str, reason: str = ""
    ) -> None:
        secrets.log(
            connection, self._core.now_us(), action, from_path(place.path), owner=place.owner,
            label=place.label, version=place.version, viewer=self._viewer, by=by, reason=reason,
        )  # fmt: skip

    # Who is asking.

    def _place(
        self, namespace: Namespace, label: str, owner: str | None, *, written: bool = False
    ) -> _Wanted:
        if (fault := _label_fault(label)) is not None:
            raise VaultError(fault)
        return _Wanted(check_namespace(namespace, written=written), self._owner(owner), label)

    def _owner(self, owner: str | None) -> str:
        """Return the owner as the tables have it."""
        if owner is not None and (not isinstance(owner, str) or not owner):
            raise VaultError(f"owner is {owner!r:.80}; pass the id of a person, or leave it out.")
        if self._viewer is None:
            return owner or ""
        if not self._viewer:
            raise OwnershipError("Somebody unknown has no secrets; ask on behalf of a viewer.")
        if owner not in (None, self._viewer):
            raise OwnershipError(
                f"This store is bound to the viewer {self._viewer!r}, not to {owner!r}. Leave the argument "
                "out, or ask the application's store."
            )
        return self._viewer


class Vault(ViewerVault):
    """The vault as the application has it: everybody's secrets, and the keys."""

    __slots__ = ()

    def status(self) -> VaultStatus:
        """Return which keys the vault has, and which of them this process has."""
        with self._reading() as connection:
            keys, counts = secrets.keys(connection), secrets.counts(connection)
        versions = {key.id: 0 for key in keys if key.state == "old"} | counts
        given, ids, source = self._keys, tuple[str, ...](), ""
        problem: str | None = None
        try:
            given.given()
            ids = tuple(key.id for key in keys if given.find(key.id, key.kdf) is not None)
            source = given.source
        except VaultKeyError as error:
            problem = str(error)
        current = next((key.id for key in keys if key.state == "current"), None)
        return VaultStatus(
            current=current, versions=versions, given=ids, source=source, problem=problem
        )

    astatus = twin(status)

    def rotate(
        self, *, by: str = "library", progress: Callable[[int, int], None] | None = None
    ) -> VaultRotation:
        """Encrypt everything with the newest of the given keys, all versions included.

        The older keys have to be given too until this has returned. It goes on where it was interrupted, and
        others read and write meanwhile. Then the file is written anew, so that no ciphertext of an old key
        stays in free space, and the old keys are retired.

        Args:
            by: Through what, such as ``cli``; for the audit log.
            progress: Called with (done, all).

        Raises:
            VaultKeyError: A key is missing; nothing was changed.
            SecretDamagedError: Some versions do not open, and stay under their old key; all others are done.
        """
        key, total = self._begin_rotation()
        if not total:
            return VaultRotation(key=key.id, versions=0, retired=())
        engine, done = self._core.engine, 0
        damaged: dict[int, Place] = {}
        retired: tuple[str, ...] | None = None
        while retired is None:
            while rows := self._under_other_keys(key.id, damaged):
                anew = self._sealed_anew(rows, key, damaged)
                with engine.write() as connection, engine.erasing(connection):
                    done += sum(secrets.reseal(connection, row, sealed) for row, sealed in anew)
                if progress is not None:
                    progress(done, max(total, done))
            engine.purge_if_sound()  # before a key is retired: an interrupted rotation does it again
            retired = self._retire_others(key.id, damaged, by)
        if damaged:
            names = [f"{one.label!r} (version {one.version})" for one in damaged.values()]
            raise SecretDamagedError(
                f"{count_noun(len(damaged), 'version')} of secrets do not open and stay under their old key: "
                f"{', '.join(names[:5])}. All others are encrypted with the new one. Bring these rows back "
                "from a backup, or forget the secrets; then rotate again."
            )
        return VaultRotation(key=key.id, versions=done, retired=retired)

    arotate = twin(rotate)

    def _begin_rotation(self) -> tuple[VaultKey, int]:
        """Make the newest given key the current one; return it, and how much there is to do: 0 where the last
        rotation is complete and was to this key.

        Raises:
            VaultKeyError: A key is missing that something is encrypted with.
        """
        with self._reading() as connection:
            keys, versions = secrets.keys(connection), secrets.counts(connection)
        key, kdf = self._newest_key(keys)
        others = set(versions) - {key.id}
        for other in others:
            self._key(other, keys)
        if not others and {one.id for one in keys if one.state != "retired"} == {key.id}:
            return key, 0

        def begun(connection: Connection) -> None:
            now = self._core.now_us()
            for one in secrets.keys(connection):
                if one.id != key.id and one.state == "current":
                    secrets.set_key(connection, one.id, one.kdf, "old", now)
            secrets.set_key(connection, key.id, kdf, "current", now)

        run_in_write(self._core.engine, begun)
        return key, sum(versions[other] for other in others) or 1

    def _under_other_keys(self, key: str, damaged: Mapping[int, Place]) -> builtins.list[Row]:
        with self._reading() as connection:
            rows = secrets.those(connection, "s.key <> ?", (key,), limit=AT_ONCE + len(damaged))
        return [row for row in rows if row.id not in damaged]

    def _sealed_anew(
        self, rows: Iterable[Row], key: VaultKey, damaged: dict[int, Place]
    ) -> builtins.list[tuple[Row, Sealed]]:
        """Return ciphertexts by the new key; what does not open is added to ``damaged``."""
        with self._reading() as connection:
            keys = secrets.keys(connection)
        anew: builtins.list[tuple[Row, Sealed]] = []
        for row in rows:
            try:
                anew.append((row, seal(key, self._opened(row, keys), row.place)))
            except SecretDamagedError:
                damaged[row.id] = row.place
        return anew

    def _retire_others(
        self, key: str, damaged: Mapping[int, Place], by: str
    ) -> tuple[str, ...] | None:
        """Retire the keys that nothing is encrypted with; None where somebody wrote with an old one
        meanwhile."""

        def retired(connection: Connection) -> tuple[str, ...] | None:
            now = self._core.now_us()
            left = secrets.those(connection, "s.key <> ?", (key,), limit=len(damaged) + 1)
            if any(row.id not in damaged for row in left):
                return None
            needed = {key, *(row.sealed.key for row in left)}
            gone = [
                one
                for one in secrets.keys(connection)
                if one.state != "retired" and one.id not in needed
            ]
            for one in gone:
                secrets.set_key(connection, one.id, one.kdf, "retired", now)
            secrets.log(
                connection, now, "rotate", None, viewer=None, by=by, reason=f"to the key {key}"
            )
            return tuple(one.id for one in gone)

        return run_in_write(self._core.engine, retired)


class _Wanted(NamedTuple):
    """The place of a secret, of whatever version."""

    namespace: Namespace
    owner: str
    label: str

    def version(self, number: int) -> Place:
        return Place(
            path=to_path(self.namespace), owner=self.owner, label=self.label, version=number
        )


def _label_fault(label: object) -> str | None:
    """Return why this can be no label; None where it can. It does not quote it: it may be the secret."""
    if not isinstance(label, str):
        return f"The label is of the type {type(label).__name__}; pass a text."
    if 0 < len(label) <= LONGEST_LABEL and label.isprintable() and label == label.strip():
        return None
    return (
        f"The label has {len(label):,} characters; a label is 1 to {LONGEST_LABEL} printable ones, without "
        "blanks around them."
    )


def _missing(wanted: _Wanted) -> SecretNotFoundError:
    return SecretNotFoundError(
        f"The vault has no secret {wanted.label!r} in {wanted.namespace!r}"
        + (f" of {wanted.owner!r}" if wanted.owner else "")
        + ". `list` shows which there are."
    )


def _may_write(connection: Connection, key: VaultKey, kdf: str | None, now_us: int) -> bool:
    """Return whether a key may encrypt, within the transaction that does; the first one becomes the
    current one."""
    keys = secrets.keys(connection)
    if not keys:
        secrets.set_key(connection, key.id, kdf, "current", now_us)
        return True
    return any(one.id == key.id and one.state != "retired" for one in keys)
