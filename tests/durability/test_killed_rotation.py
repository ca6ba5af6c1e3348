"""Killed while it gives the vault a new key: every secret still opens, and the next run finishes."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.errors import VaultKeyError
from langmemory.parts.vault import VaultKey, vault
from tests.children import process_context
from tests.places import address

pytestmark = pytest.mark.thorough

KILLS = 10
LABELS, VERSIONS = 24, 5
AT_ONCE = 4
"""Versions in one transaction, so that a kill falls into the middle of many."""
HOME = ("memories", "home")
SEED = int(os.environ.get("LANGMEMORY_SEED", "7"))


def rotate(path: str, share: float, wait: float, keys: list[bytes]) -> None:
    """Rotate, until an alarm that nothing handles: it ends as by a kill, at any instruction."""
    vault.AT_ONCE = AT_ONCE
    store = MemoryStore(path, index=False, vault_key=[VaultKey(one) for one in keys])

    def progress(done: int, total: int) -> None:
        if done >= share * total and signal.getitimer(signal.ITIMER_REAL) == (0, 0):
            signal.setitimer(signal.ITIMER_REAL, wait)

    store.vault.rotate(progress=progress)


def test_ten_killed_rotations_lose_no_version(tmp_path: Path) -> None:
    """At random moments, one after another or with a run that finishes between them; the old key opens
    nothing then, and no version is under two keys or none."""
    path, chance = tmp_path / "m.db", random.Random(SEED)
    keys = [VaultKey(chance.randbytes(32))]
    texts = {
        (f"Etikett {label} 标签", version): f"secret {label}/{version} {chance.random()}"
        for label in range(LABELS)
        for version in range(1, VERSIONS + 1)
    }
    with MemoryStore(path, index=False, vault_key=keys) as store:
        for (label, _), text in texts.items():
            store.vault.put(HOME, label, text)
    rotating, interrupted = False, 0
    for number in range(KILLS):
        if not rotating:
            keys = [VaultKey(chance.randbytes(32)), *keys[:1]]
        killed(address(path), keys, chance)
        with MemoryStore(path, index=False, vault_key=keys) as store:
            status = store.vault.status()
            rotating = status.is_rotating
            interrupted += rotating
            assert sum(status.versions.values()) == len(texts)
            check(store, texts)
            if rotating and (chance.random() < 0.5 or number == KILLS - 1):
                store.vault.rotate()
                rotating = False
                assert store.vault.status().versions == {keys[0].id: len(texts)}
                check(store, texts)
        if not rotating:
            old = MemoryStore(path, index=False, vault_key=keys[1:])
            with old, pytest.raises(VaultKeyError):
                old.vault.get(HOME, "Etikett 0 标签")
    assert interrupted >= KILLS // 2


def killed(path: str, keys: list[VaultKey], chance: random.Random) -> None:
    """Rotate in another process, which is killed after a share of its work, or while it clears away."""
    moment = (chance.random(), 1e-6 + chance.random() * 0.002)
    arguments = (path, *moment, [one.reveal() for one in keys])
    rotating = process_context().Process(target=rotate, args=arguments)
    rotating.start()
    rotating.join()
    assert rotating.exitcode in (-signal.SIGALRM, 0), "it ended by an error"


def check(store: MemoryStore, texts: dict[tuple[str, int], str]) -> None:
    """Check that every version opens and says what was put."""
    for (label, version), text in texts.items():
        assert store.vault.get(HOME, label, version=version).reveal() == text
