"""The vault over HTTP: labels for all who may look, a secret for a token that may unlock, with a reason."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from tests.server.client import API, problem, serving, token_of

from langmemory import MemoryStore, RemoteMemoryStore  # isort: skip
from langmemory.errors import AccessError, OwnershipError, SecretNotFoundError  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving as served  # isort: skip
from langmemory.parts.vault import VaultKey  # isort: skip

HOME = ("memories", "home")
WORD = "correct-horse-battery-42"


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    found = MemoryStore(tmp_path / "m.db", index=False, vault_key=VaultKey(bytes(32)))
    found.vault.put(HOME, "wifi", WORD)
    found.vault.put(HOME, "pin", "Mia's " + WORD, owner="mia")
    found.vault.put(("work",), "wifi", "another " + WORD)
    return found


def unlocking(store: MemoryStore, viewer: str | None = None, *places: tuple[str, ...]) -> str:
    return store.tokens.create(viewer=viewer, namespaces=places, unlocks=True)[1]


async def test_no_scope_unlocks_and_nobody_without_a_token(store: MemoryStore) -> None:
    """Whoever sits at the machine, and an administrator's token, see labels and no secret."""
    body = {"namespace": HOME, "label": "wifi", "reason": "deploy"}
    for token in (
        None,
        token_of(store, None, scope="admin"),
        token_of(store, "mia", scope="admin"),
    ):
        async with serving(store, token=token) as client:
            answer = await client.post(f"{API}/vault/unlock", json=body)
            assert (answer.status_code, problem(answer)) == (403, "locked")
            listed = (await client.get(f"{API}/vault")).json()["items"]
            labels = (
                ["pin"]
                if token and "mia" in str(listed) and len(listed) == 1
                else ["pin", "wifi", "wifi"]
            )
            assert [one["label"] for one in listed] == labels
            told = (await client.get(f"{API}/vault/audit")).text
            assert WORD not in told + json.dumps(listed)
            assert (await client.get(f"{API}/rights")).json()["unlocks"] is False
    assert [one.action for one in store.vault.audit()] == ["put", "put", "put"]


async def test_unlocking_needs_a_reason_and_leaves_an_entry(
    store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says which token, for whom and why; the answer is kept nowhere, and no log line has it."""
    caplog.set_level(logging.DEBUG)
    body = {"namespace": HOME, "label": "wifi"}
    async with serving(store, token=unlocking(store)) as client:
        for wrong in ({}, {"reason": ""}, {"reason": "x" * 501}):
            refused = await client.post(f"{API}/vault/unlock", json={**body, **wrong})
            assert problem(refused) == "invalid"
        body["reason"] = "deploy of 2 May"
        kept = {"Idempotency-Key": "k"}
        refused = await client.post(f"{API}/vault/unlock", json=body, headers=kept)
        assert problem(refused) == "invalid"
        answer = await client.post(f"{API}/vault/unlock", json=body)
        assert (answer.json(), answer.headers["cache-control"]) == ({"secret": WORD}, "no-store")
        gone = await client.post(f"{API}/vault/unlock", json={**body, "label": "none"})
        assert problem(gone) == "not-found"
    [entry] = [one for one in store.vault.audit() if one.action == "unlock"]
    assert (entry.reason, entry.label, entry.viewer) == ("deploy of 2 May", "wifi", None)
    assert entry.by.startswith("token ")
    assert WORD not in caplog.text


async def test_a_token_unlocks_what_it_reaches_alone(store: MemoryStore) -> None:
    """Bound to a viewer it has that person's secrets, bound to a namespace those in it."""
    async with serving(store, token=unlocking(store, "mia", HOME)) as client:
        body = {"label": "pin", "reason": "pay"}
        assert (await client.post(f"{API}/vault/unlock", json=body)).json()[
            "secret"
        ] == f"Mia's {WORD}"
        for wrong, word in (
            ({"label": "wifi"}, "not-found"), ({"namespace": ["work"]}, "namespace"),
            ({"owner": "noor"}, "ownership"),
        ):  # fmt: skip
            refused = await client.post(f"{API}/vault/unlock", json={**body, **wrong})
            assert problem(refused) == word
        assert [one["label"] for one in (await client.get(f"{API}/vault")).json()["items"]] == [
            "pin"
        ]
        told = (await client.get(f"{API}/vault/audit")).json()["items"]
        assert {(one["label"], one["owner"]) for one in told} == {("pin", "mia")}
    async with serving(store, token=unlocking(store)) as client:
        headers = {"Memory-Viewer": '"noor"'}
        asked = {"namespace": HOME, "label": "pin", "reason": "try"}
        refused = await client.post(f"{API}/vault/unlock", json=asked, headers=headers)
        assert problem(refused) == "not-found"


async def test_no_other_operation_has_a_secret(store: MemoryStore) -> None:
    """An item of the kind vault is refused, and an export over HTTP has the ciphertext alone."""
    async with serving(store) as client:
        put = {"op": "put", "namespace": HOME, "key": "a", "value": {"kind": "vault", "text": "x"}}
        refused = await client.post(f"{API}/store/batch", json={"ops": [put]})
        assert (problem(refused), "store.vault.put" in refused.text) == ("invalid", True)
        exported = (await client.get(f"{API}/export")).text
        assert '"type":"secret"' in exported.replace(" ", "")
        assert WORD not in exported
        recalled = await client.post(f"{API}/recall", json={"query": "wifi pin", "namespace": HOME})
        assert recalled.json()["results"] == []


async def test_a_remote_store_unlocks_with_its_token(store: MemoryStore) -> None:
    """`RemoteMemoryStore.vault` lists, unlocks and audits as the store itself does."""
    with served(create_app(store)) as address:
        remote = RemoteMemoryStore(address, token=unlocking(store))
        secret = await remote.vault.aget(HOME, "wifi", reason="deploy")
        assert (str(secret), secret.reveal()) == ("[secret]", WORD)
        assert await remote.vault.alist(HOME) == store.vault.list(HOME)
        assert await remote.vault.aaudit() == store.vault.audit()
        with pytest.raises(SecretNotFoundError):
            await remote.vault.aget(HOME, "none", reason="deploy")
        with pytest.raises(OwnershipError):
            await remote.for_viewer("noor").vault.aget(HOME, "pin", owner="mia", reason="try")
        await remote.aclose()
        locked = RemoteMemoryStore(address, token=token_of(store, None))
        with pytest.raises(AccessError, match="token create --vault"):
            await locked.vault.aget(HOME, "wifi", reason="deploy")
        await locked.aclose()
