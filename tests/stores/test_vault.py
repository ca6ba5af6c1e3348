"""The vault: what is stored, who gets it, what a key decides, and what happens when something is wrong."""

from __future__ import annotations

import copy
import json
import os
import pickle
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import langmemory
from langmemory import MemoryStore
from langmemory.errors import (
    DatabaseError,
    ImportFormatError,
    OwnershipError,
    SecretDamagedError,
    SecretNotFoundError,
    VaultError,
    VaultKeyError,
)
from langmemory.parts.vault import Passphrase, Secret, VaultKey, keys, sources
from langmemory.parts.vault.vault import KEPT_VERSIONS

HOME = ("memories", "home")
WORD = "correct-horse-battery-42"
KEY, OTHER = VaultKey(bytes(range(32))), VaultKey(bytes(range(1, 33)))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "m.db", index=False, vault_key=KEY) as found:
        yield found


def opened(path: Path, *given: VaultKey | Passphrase) -> MemoryStore:
    return MemoryStore(path / "m.db", index=False, vault_key=given)


PACKAGE = f"{Path(langmemory.__file__).parent}{os.sep}"


def shown_by(error: BaseException) -> str:
    """Return what a report of an error shows of our frames: messages, causes and variables."""
    told: Any = traceback.TracebackException.from_exception(error, capture_locals=True)
    shown = ""
    while told is not None:
        ours = [frame.locals for frame in told.stack if frame.filename.startswith(PACKAGE)]
        shown += f"{told} {ours}"
        told = told.__cause__ or told.__context__
    return shown


# Storing and getting.


def test_a_secret_comes_back_in_each_of_its_versions(store: MemoryStore) -> None:
    """The newest version counts, older ones can be asked for, and each entry of the log says who and why."""
    vault = store.vault
    assert vault.put(HOME, "wifi", "first").version == 1
    assert vault.put(HOME, "wifi", Secret("zweites Geheimnis 秘密")).version == 2
    assert vault.get(HOME, "wifi").reveal() == "zweites Geheimnis 秘密"
    assert vault.get(HOME, "wifi", version=1, reason="compare").reveal() == "first"
    assert [one.version for one in vault.versions(HOME, "wifi")] == [2, 1]
    told = [(one.action, one.version, one.reason) for one in vault.audit()]
    assert told == [("unlock", 1, "compare"), ("unlock", 2, ""), ("put", 2, ""), ("put", 1, "")]
    with pytest.raises(SecretNotFoundError, match="no version 7; there are 1, 2"):
        vault.get(HOME, "wifi", version=7)


async def test_async_methods_do_the_same(store: MemoryStore) -> None:
    """Each method has an async twin."""
    vault = store.vault
    await vault.aput(HOME, "wifi", WORD)
    assert (await vault.aget(HOME, "wifi")).reveal() == WORD
    await vault.adelete(HOME, "wifi")
    assert await vault.alist() == ()
    await vault.arestore(HOME, "wifi")
    assert len(await vault.alist()) == len(await vault.aversions(HOME, "wifi")) == 1
    assert (await vault.arotate()).versions == 0
    assert (await vault.astatus()).current == KEY.id
    assert await vault.aforget(HOME, "wifi") == 1
    assert (await vault.aaudit())[0].action == "forget"


def test_old_versions_stay_for_a_while(store: MemoryStore) -> None:
    """Ten versions are kept; the number of a version is never given twice."""
    for number in range(1, KEPT_VERSIONS + 4):
        assert store.vault.put(HOME, "wifi", f"secret {number}").version == number
    assert [one.version for one in store.vault.versions(HOME, "wifi")] == list(range(13, 3, -1))


def test_deleting_is_taken_back_and_forgetting_is_not(store: MemoryStore) -> None:
    """A deleted secret is found by nobody until it is restored; a forgotten one is gone, with its name."""
    vault = store.vault
    vault.put(HOME, "wifi", "one")
    vault.put(HOME, "wifi", "two")
    vault.delete(HOME, "wifi")
    for attempt in (vault.get, vault.delete):
        with pytest.raises(SecretNotFoundError, match="was deleted"):
            attempt(HOME, "wifi")
    assert (vault.list(), len(vault.list(deleted=True))) == ((), 1)
    vault.restore(HOME, "wifi")
    assert vault.get(HOME, "wifi").reveal() == "two"
    with pytest.raises(VaultError, match="is not deleted"):
        vault.restore(HOME, "wifi")
    assert vault.restore(HOME, "wifi", version=1).version == 3
    assert vault.get(HOME, "wifi").reveal() == "one"
    assert vault.forget(HOME, "wifi") == 3
    assert vault.list(deleted=True) == ()
    assert "wifi" not in repr(vault.audit())
    for gone in (vault.get, vault.restore, vault.forget):
        with pytest.raises(SecretNotFoundError, match="no secret 'wifi'"):
            gone(HOME, "wifi")


def test_labels_are_found_by_a_part_and_by_namespace(store: MemoryStore) -> None:
    """`list` goes below a namespace, by a part of a label in any case, and by owner; it needs no key."""
    for place, label, owner in (
        (HOME, "Wifi Passwort", None), (("memories",), "GitHub", "mia"), (("work",), "wifi", "mia"),
    ):  # fmt: skip
        store.vault.put(place, label, WORD, owner=owner)
    store.vault._keys._given = ()
    listed = store.vault.list
    assert [one.label for one in listed()] == ["GitHub", "Wifi Passwort", "wifi"]
    assert [one.label for one in listed(("memories",))] == ["GitHub", "Wifi Passwort"]
    assert [one.namespace for one in listed(label="WIFI")] == [HOME, ("work",)]
    assert [one.label for one in listed(owner="mia")] == ["GitHub", "wifi"]


# Who gets it.


def test_a_viewer_has_their_own_secrets_alone(store: MemoryStore) -> None:
    """For a viewer secrets of others do not exist, not even their labels, and neither does the audit log."""
    mia, noor = store.for_viewer("mia"), store.for_viewer("noor")
    store.vault.put(HOME, "pin", "the application's")
    mia.vault.put(HOME, "pin", "Mia's")
    assert noor.vault.list() == noor.vault.audit() == ()
    with pytest.raises(SecretNotFoundError):
        noor.vault.get(HOME, "pin")
    assert mia.vault.get(HOME, "pin").reveal() == "Mia's"
    assert store.vault.get(HOME, "pin").reveal() == "the application's"
    assert store.vault.get(HOME, "pin", owner="mia").reveal() == "Mia's"
    for attempt in (noor.vault.get, noor.vault.delete, noor.vault.forget):
        with pytest.raises(OwnershipError, match="bound to the viewer 'noor'"):
            attempt(HOME, "pin", owner="mia")
    for method in (store.for_anyone().vault.list, store.for_anyone().vault.audit):
        with pytest.raises(OwnershipError, match="Somebody unknown"):
            method()
    assert not hasattr(mia.vault, "rotate")
    mia.admin.delete_namespace(HOME)
    store.for_anyone().admin.delete_namespace(HOME)
    assert [one.owner for one in store.vault.list(HOME)] == [None]
    store.admin.delete_namespace(HOME)
    assert store.vault.list(HOME) == ()


def test_no_way_to_memories_leads_to_a_secret(store: MemoryStore) -> None:
    """Search, recall, listing, history, usage and export in clear know nothing of it; the kind is refused."""
    store.put(HOME, "a", {"text": "The wifi is slow."})
    store.vault.put(HOME, "wifi", WORD)
    assert [item.key for item in store.search((), query="wifi")] == ["a"]
    assert [one.memory.key for one in store.recall("wifi", HOME)] == ["a"]
    assert (store.get(HOME, "wifi"), store.list_namespaces(), store.stats().items) == (
        None,
        [HOME],
        1,
    )
    assert [one.key for one in store.admin.memories(HOME)] == ["a"]
    assert WORD not in json.dumps(list(store.admin.export()))
    assert [row["type"] for row in store.for_viewer("mia").admin.export()] == [
        "meta",
        "item",
        "history",
    ]
    with pytest.raises(VaultError, match=r"store\.vault\.put"):
        store.put(HOME, "b", {"kind": "vault", "text": WORD})
    with pytest.raises(VaultError, match=r"store\.vault\.get"):
        store.recall("wifi", HOME, kinds=["vault"])  # type: ignore[list-item]
    assert store.get(HOME, "b") is None


@pytest.mark.parametrize(
    "wrong", ["", "\ud800" + WORD, "x" * (256 * 1024 + 1), WORD.encode(), None, 7]
)
def test_what_is_no_secret_is_refused_without_quoting_it(store: MemoryStore, wrong: Any) -> None:
    """Neither the message nor the variables of any frame of ours, nor a cause, hold what was passed."""
    with pytest.raises(VaultError, match=r"secret") as raised:
        store.vault.put(HOME, "wifi", wrong)
    assert WORD not in shown_by(raised.value)
    assert raised.value.__context__ is None
    assert store.vault.list() == store.vault.audit() == ()


@pytest.mark.parametrize("label", ["", " a", "a\n", "x" * 201, 7])
def test_a_label_is_a_short_printable_text(store: MemoryStore, label: Any) -> None:
    """What cannot be told apart in a list is no label."""
    with pytest.raises(VaultError, match="label is"):
        store.vault.put(HOME, label, WORD)


async def test_labels_and_reasons_hold_no_credential(store: MemoryStore) -> None:
    """They are stored in clear: a label that holds the secret or any credential is refused unquoted, as where
    somebody mixed up the two, and of a reason it is taken out."""
    token = "ghp_" + "a1B2" * 9
    for label, secret in (
        (f"wifi {WORD}", WORD),
        (token, "GitHub token"),
        (f"{token}\n", "GitHub"),
    ):
        with pytest.raises(VaultError, match="label") as raised:
            store.vault.put(HOME, label, secret)
        with pytest.raises(VaultError, match="label") as awaited:
            await store.vault.aput(HOME, label, secret)
        shown = shown_by(raised.value) + shown_by(awaited.value)
        assert (WORD in shown, token in shown) == (False, False)
    store.vault.put(HOME, "PIN 12", "12")
    store.vault.put(HOME, "wifi", WORD)
    store.vault.get(HOME, "wifi", reason=f"to try {WORD} with {token}")
    assert store.vault.audit()[0].reason == "to try [secret] with [redacted: token]"


async def test_no_traceback_shows_a_secret(tmp_path: Path) -> None:
    """Where storing or unlocking fails in the middle, no frame, cause or message has the text."""
    store = opened(tmp_path, KEY)
    store.vault.put(HOME, "wifi", WORD)
    store._core.engine.write = _full  # type: ignore[method-assign, assignment]
    seen = []
    for attempt in (
        lambda: store.vault.put(HOME, "other", Secret(WORD)),
        lambda: store.vault.get(HOME, "wifi"),
    ):
        with pytest.raises(DatabaseError) as raised:
            attempt()
        seen.append(raised.value)
    for later in (store.vault.aput(HOME, "x", Secret(WORD)), store.vault.aget(HOME, "wifi")):
        with pytest.raises(DatabaseError) as raised:
            await later
        seen.append(raised.value)
    for error in seen:
        assert WORD not in shown_by(error)
    store.close()


def _full(*, retried: bool) -> Any:
    raise DatabaseError("The disk is full.")


def test_a_secret_is_not_shown_by_accident() -> None:
    """Printing, formatting, pickling, JSON and the serializer of checkpoints do not show a secret."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    secret = Secret(WORD)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret:>40}", "%s" % secret, repr([secret])]  # noqa: UP031
    assert not any(WORD in one for one in shown)
    for dump in (pickle.dumps, json.dumps, JsonPlusSerializer(pickle_fallback=True).dumps_typed):
        with pytest.raises(TypeError) as raised:
            dump({"a": secret})  # type: ignore[operator]
        assert WORD not in str(raised.value)
    assert copy.deepcopy(secret) == secret != Secret("other")
    for key in (KEY, Passphrase("a long passphrase")):
        assert not any(text in repr(key) for text in ("a long", "lmk_"))
        with pytest.raises(TypeError):
            pickle.dumps(key)


# Keys.


def test_a_wrong_key_is_told_and_changes_nothing(tmp_path: Path) -> None:
    """With another key nothing is unlocked, stored or rotated; with the right one all is as it was."""
    with opened(tmp_path, KEY) as store:
        store.vault.put(HOME, "wifi", WORD)
    with opened(tmp_path, OTHER) as store:
        for attempt in (
            lambda: store.vault.get(HOME, "wifi"),
            lambda: store.vault.put(HOME, "new", WORD),
            lambda: store.vault.restore(HOME, "wifi", version=1),
            store.vault.rotate,
        ):
            with pytest.raises(VaultKeyError, match=f"the key of the id {KEY.id}.*has {OTHER.id}"):
                attempt()
        assert store.vault.status().given == ()
        assert store.vault.audit()[0].action == "refuse"
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        with pytest.raises(VaultKeyError, match=r"has no key\. Set LANGMEMORY_VAULT_KEY"):
            store.vault.get(HOME, "wifi")
        assert len(store.vault.list()) == 1
    with opened(tmp_path, KEY) as store:
        assert store.vault.get(HOME, "wifi").reveal() == WORD
        assert (store.vault.status().current, store.vault.status().versions) == (
            KEY.id,
            {KEY.id: 1},
        )


def test_rotation_moves_every_version_and_old_keys_work_until_it_is_complete(
    tmp_path: Path,
) -> None:
    """Two processes with one key each work on while a rotation runs; afterwards the old key opens nothing."""
    with opened(tmp_path, KEY) as old:
        for number in range(7):
            old.vault.put(HOME, f"label {number % 5}", f"secret {number}")
        old.vault.delete(HOME, "label 4")
        with pytest.raises(VaultKeyError), opened(tmp_path, OTHER) as only_new:
            only_new.vault.rotate()
        with opened(tmp_path, OTHER, KEY) as both:
            calls: list[tuple[int, int]] = []

            def meanwhile(done: int, total: int) -> None:
                calls.append((done, total))
                if len(calls) == 1:
                    assert both.vault.status().is_rotating
                    old.vault.put(HOME, "late", "with the old key")
                    assert both.vault.get(HOME, "late").reveal() == "with the old key"

            done = both.vault.rotate(progress=meanwhile)
            assert (done.key, done.versions, done.retired) == (OTHER.id, 8, (KEY.id,))
            assert both.vault.rotate().versions == 0
        with pytest.raises(VaultKeyError, match=f"the id {OTHER.id}"):
            old.vault.get(HOME, "label 0")
        with pytest.raises(VaultKeyError):
            old.vault.put(HOME, "label 0", WORD)
    with opened(tmp_path, OTHER) as new:
        assert new.vault.get(HOME, "label 1", version=1).reveal() == "secret 1"
        assert new.vault.get(HOME, "late").reveal() == "with the old key"
        new.vault.restore(HOME, "label 4")
        assert new.vault.get(HOME, "label 4").reveal() == "secret 4"


def test_a_rotation_that_broke_off_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it ends, both keys together open everything, and the next run does the rest."""
    monkeypatch.setattr("langmemory.parts.vault.vault.AT_ONCE", 2)
    with opened(tmp_path, KEY) as store:
        for number in range(9):
            store.vault.put(HOME, f"{number}", f"secret {number}")

    class Killed(BaseException):
        pass

    def stop(done: int, total: int) -> None:
        raise Killed

    def stop_purging(engine: object) -> None:
        raise Killed

    with opened(tmp_path, OTHER, KEY) as store:
        for left in (7, 5):
            with pytest.raises(Killed):
                store.vault.rotate(progress=stop)
            status = store.vault.status()
            assert status.is_rotating
            assert status.versions == {KEY.id: left, OTHER.id: 9 - left}
        assert [store.vault.get(HOME, f"{n}").reveal() for n in range(9)] == [
            f"secret {n}" for n in range(9)
        ]

        with monkeypatch.context() as patch:
            patch.setattr(type(store._core.engine), "purge_if_sound", stop_purging)
            with pytest.raises(Killed):
                store.vault.rotate()
        status = store.vault.status()
        assert status.is_rotating
        assert status.versions == {KEY.id: 0, OTHER.id: 9}
        assert store.vault.rotate().retired == (KEY.id,)
        assert not store.vault.status().is_rotating


def test_a_passphrase_is_stretched_with_a_salt_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same words open it again, other words do not, and a rotation goes to a passphrase and from it."""
    monkeypatch.setattr(keys, "SCRYPT", {"n": 2**4, "r": 8, "p": 1})
    monkeypatch.setattr(keys.new_kdf, "__defaults__", ({"n": 2**4, "r": 8, "p": 1},))
    words = "five random words are good"
    with opened(tmp_path, Passphrase(words)) as store:
        store.vault.put(HOME, "wifi", WORD)
        first = store.vault.status().current
    with opened(tmp_path, Passphrase(words)) as store:
        assert store.vault.get(HOME, "wifi").reveal() == WORD
    other = opened(tmp_path, Passphrase("five other random words"))
    with (
        other as store,
        pytest.raises(VaultKeyError, match=r"a passphrase of the id .* has a passphr"),
    ):
        store.vault.get(HOME, "wifi")
    with opened(tmp_path, KEY, Passphrase(words)) as store:
        assert store.vault.rotate().retired == (first,)
    with opened(tmp_path, Passphrase("five other random words"), KEY) as store:
        assert store.vault.rotate().retired == (KEY.id,)
        assert store.vault.rotate().versions == 0
    with opened(tmp_path, Passphrase("five other random words")) as store:
        assert store.vault.get(HOME, "wifi").reveal() == WORD
    with pytest.raises(VaultKeyError, match="has 5 characters"):
        Passphrase("short")


@pytest.mark.parametrize(
    "kdf",
    [
        "",
        "5",
        "{}",
        '{"salt": "AAAA", "n": 3, "r": 8, "p": 1}',
        '{"salt": "AAAA", "n": -4, "r": -8, "p": 1}',
        '{"salt": "AAAA", "n": 1073741824, "r": 8, "p": 1}',
    ],
)
def test_a_damaged_way_to_derive_a_key_is_told(kdf: str) -> None:
    """A row that says how a passphrase becomes a key, and was changed, is an error of the vault's keys."""
    with pytest.raises(VaultKeyError, match="to derive a key"):
        Passphrase(WORD).derive(kdf)


def test_keys_come_from_the_environment_a_file_or_the_keyring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this order; a file that others may read is refused, and no error quotes a key."""
    monkeypatch.delenv("LANGMEMORY_VAULT_KEY", raising=False)
    entries = {("langmemory", "work"): OTHER.text()}
    ring = SimpleNamespace(
        get_keyring=lambda: SimpleNamespace(priority=1),
        errors=SimpleNamespace(KeyringError=KeyError),
        get_password=lambda *name: entries.get(name),
        set_password=lambda service, name, text: entries.__setitem__((service, name), text),
    )
    monkeypatch.setitem(sys.modules, "keyring", ring)
    file = tmp_path / "vault.key"
    in_ring = sources.VaultKeys()
    monkeypatch.setenv("LANGMEMORY_VAULT_KEYRING", "work")
    assert in_ring.given()[0].id == OTHER.id  # type: ignore[union-attr]
    sources.write_keyring("work", KEY.text())
    assert [key.id for key in in_ring.given(anew=True)] == [KEY.id, OTHER.id]  # type: ignore[union-attr]
    sources.write_key_file(file, OTHER.text())
    assert oct(file.stat().st_mode)[-3:] == "600"
    sources.write_key_file(file, KEY.text())
    in_file = sources.VaultKeys()
    monkeypatch.setenv("LANGMEMORY_VAULT_KEY_FILE", str(file))
    assert [key.id for key in in_file.given()] == [KEY.id, OTHER.id]  # type: ignore[union-attr]
    for text in (KEY.reveal().hex(), "# mine\n\n" + KEY.text().replace("lmk_", "") + "="):
        monkeypatch.setenv("LANGMEMORY_VAULT_KEY", text.replace("-", "+").replace("_", "/"))
        assert in_file.given(anew=True)[0].id == KEY.id  # type: ignore[union-attr]
    monkeypatch.setenv("LANGMEMORY_VAULT_KEY", "hunter2")
    with pytest.raises(VaultKeyError, match="Line 1 of the environment variable") as raised:
        in_file.given(anew=True)
    assert "hunter2" not in shown_by(raised.value)
    monkeypatch.delenv("LANGMEMORY_VAULT_KEY")
    if os.name == "posix":
        file.chmod(0o640)
        with pytest.raises(VaultKeyError, match=r"mode 640.*chmod 600"):
            in_file.given(anew=True)
    monkeypatch.setenv("LANGMEMORY_VAULT_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(VaultKeyError, match=r"cannot be read from .*: No such file"):
        in_file.given(anew=True)
    monkeypatch.delenv("LANGMEMORY_VAULT_KEY_FILE")
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(VaultKeyError, match='extra "vault"'):
        in_ring.given(anew=True)


def test_a_new_key_in_the_file_needs_no_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that runs finds the key that a rotation elsewhere went to."""
    file = tmp_path / "vault.key"
    sources.write_key_file(file, KEY.text())
    monkeypatch.setenv("LANGMEMORY_VAULT_KEY_FILE", str(file))
    with MemoryStore(tmp_path / "m.db", index=False) as running:
        running.vault.put(HOME, "wifi", WORD)
        sources.write_key_file(file, OTHER.text())
        with MemoryStore(tmp_path / "m.db", index=False) as other:
            assert other.vault.rotate().key == OTHER.id
        assert running.vault.get(HOME, "wifi").reveal() == WORD


# What is wrong in the file.


def test_a_ciphertext_opens_in_its_own_row_alone(store: MemoryStore) -> None:
    """Swapped, moved, given to another owner, or changed by a bit, it does not open, and the log says so."""
    vault = store.vault
    vault.put(HOME, "a", "secret a")
    vault.put(HOME, "b", "secret b")
    columns = "namespace", "owner", "label", "version"
    with store._core.engine.write() as connection:
        kept = connection.execute("SELECT * FROM secret ORDER BY id").fetchall()
    for change, label in (
        ("nonce = (SELECT nonce FROM secret o WHERE o.label <> secret.label), "
         "sealed = (SELECT sealed FROM secret o WHERE o.label <> secret.label)", "a"),
        ("label = 'c' || label", "ca"),
        ("version = version + 1", "a"),
        ("owner = 'mia'", "a"),
        ("namespace = (SELECT max(id) FROM namespace)", "a"),
    ):  # fmt: skip
        store.put(("elsewhere",), "x", {"text": "a namespace"})
        with store._core.engine.write() as connection:
            connection.execute(f"UPDATE secret SET {change}")
        where = ("elsewhere",) if "max(id)" in change else HOME
        with pytest.raises(SecretDamagedError, match="was changed"):
            vault.get(where, label, owner="mia" if "mia" in change else None)
        assert vault.audit(limit=1)[0].action == "refuse"
        with store._core.engine.write() as connection:
            for row in kept:
                told = [f"{name} = ?" for name in (*columns, "nonce", "sealed")]
                connection.execute(
                    f"UPDATE secret SET {', '.join(told)} WHERE id = ?",
                    (*row[1:5], row[6], row[7], row[0]),
                )
    assert vault.get(HOME, "a").reveal() == "secret a"


def test_a_damaged_secret_does_not_stop_a_rotation(tmp_path: Path) -> None:
    """All others get the new key; the damaged one is named, and its old key is not retired."""
    with opened(tmp_path, OTHER, KEY) as store:
        store.vault._keys._given = (KEY,)
        for label in "abc":
            store.vault.put(HOME, label, label * 3)
        with store._core.engine.write() as connection:
            connection.execute("UPDATE secret SET label = 'z' WHERE label = 'b'")
        store.vault._keys._given = (OTHER, KEY)
        for _ in range(2):
            with pytest.raises(
                SecretDamagedError, match=r"1 version of secrets.*'z' \(version 1\)"
            ):
                store.vault.rotate()
        assert store.vault.status().versions == {OTHER.id: 2, KEY.id: 1}
        assert store.vault.get(HOME, "c").reveal() == "ccc"
        store.vault.forget(HOME, "z")
        assert store.vault.rotate().retired == (KEY.id,)


def test_the_same_secret_never_looks_the_same(store: MemoryStore) -> None:
    """Each encryption has a nonce of its own, and ciphertexts do not tell how long a short secret is."""
    for number, text in enumerate(["1234"] * 50 + ["a much longer password, of some words"]):
        store.vault.put(HOME, f"{number}", text)
    with store._core.engine.read() as snapshot:
        rows = snapshot.connection.execute("SELECT nonce, sealed FROM secret").fetchall()
    assert len({bytes(row[0]) for row in rows}) == len({bytes(row[1]) for row in rows}) == 51
    assert {len(row[1]) for row in rows} == {64 + 16}


# Beside the vault.


def test_an_export_carries_ciphertexts_and_an_import_takes_them_back(tmp_path: Path) -> None:
    """They open in another file with the same key, deleted ones stay deleted, and twice is once."""
    with opened(tmp_path, KEY) as store:
        store.vault.put(HOME, "wifi", "one")
        store.vault.put(HOME, "wifi", WORD)
        store.vault.put(HOME, "old", "x", owner="mia")
        store.vault.delete(HOME, "old", owner="mia")
        rows = [json.loads(json.dumps(row)) for row in store.admin.export()]
        assert [row["type"] for row in store.admin.export(history=False)] == ["meta", "secret"]
    (tmp_path / "b").mkdir()
    with opened(tmp_path / "b", OTHER, KEY) as other:
        other.vault.put(HOME, "own", "mine")
        for _ in range(2):
            other.admin.import_rows(rows)
            assert other.vault.get(HOME, "wifi").reveal() == WORD
            assert other.vault.get(HOME, "wifi", version=1).reveal() == "one"
            assert [one.label for one in other.vault.list()] == ["own", "wifi"]
        assert other.vault.rotate().versions == 3
        other.admin.import_rows(rows)
        assert other.vault.status().versions == {OTHER.id: 4}
        other.vault.forget(HOME, "wifi")
        other.admin.import_rows(rows)
        assert [one.label for one in other.vault.list()] == ["own"]
        broken = [{**row, "nonce": "?"} if row["type"] == "secret" else row for row in rows]
        with pytest.raises(ImportFormatError, match="type 'secret'"):
            other.admin.import_rows(broken)


def test_forgetting_somebody_takes_their_secrets(store: MemoryStore) -> None:
    """`forget` by owner, by a name in a label, and of a namespace erases secrets, and names in the log."""
    for owner, label in (("mia", "bank"), ("noor", "Mia's bicycle lock"), (None, "wifi")):
        store.vault.put(HOME, label, WORD, owner=owner)
        store.vault.get(HOME, label, owner=owner)
    assert store.forget(HOME, owner="mia", dry_run=True).secrets == 1
    assert len(store.vault.list()) == 3
    assert store.forget(HOME, owner="mia").secrets == 1
    assert [one.label for one in store.vault.list()] == ["Mia's bicycle lock", "wifi"]
    assert store.forget(HOME, entity="Mia").secrets == 1
    assert not any(name in repr(store.vault.audit()) for name in ("mia", "Mia", "bank"))
    assert store.forget(HOME, everything=True).secrets == 1
    assert store.vault.list(deleted=True) == ()
    assert "home" not in repr(store.vault.audit())


def test_a_namespace_of_forgotten_secrets_alone_leaves_no_name(store: MemoryStore) -> None:
    """Names of namespaces are often those of people: one that held nothing but what was forgotten is gone."""
    for owner, name in ((None, "mia-1990"), ("noor", "noor-1985")):
        store.vault.put(("memories", name), "bank", WORD, owner=owner)
    store.vault.put(HOME, "wifi", WORD)
    assert store.vault.forget(("memories", "mia-1990"), "bank") == 1
    assert store.forget((), owner="noor").secrets == 1
    with store._core.engine.read() as snapshot:
        names = repr(snapshot.connection.execute("SELECT path FROM namespace").fetchall())
    assert "home" in names
    assert not any(gone in names for gone in ("mia", "noor"))
