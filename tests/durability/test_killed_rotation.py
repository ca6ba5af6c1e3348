"""Killed while it gives the vault a new key: every secret still opens, and the next run finishes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.errors import VaultKeyError
from langmemory.vault import VaultKey
from tests.places import address

pytestmark = pytest.mark.thorough

KILLS = 10
LABELS, VERSIONS = 24, 5
AT_ONCE = 4
"""Versions in one transaction, so that a kill falls into the middle of many."""
HOME = ("memories", "home")
SEED = int(os.environ.get("LANGMEMORY_SEED", "7"))
ROTATION = f"""
import sys
from langmemory import MemoryStore
from langmemory.engines.sql.rooms import vault
from langmemory.vault import VaultKey
vault.AT_ONCE = {AT_ONCE}
keys = [VaultKey(bytes.fromhex(one)) for one in sys.argv[2:]]
store = MemoryStore(sys.argv[1], index=False, vault_key=keys)
store.vault.rotate(progress=lambda done, total: print(done, flush=True))
print("done", flush=True)
"""


def test_ten_killed_rotations_lose_no_version(tmp_path: Path) -> None:
    """Each at a random moment, one after another or by a second run that finishes; the old key opens nothing
    then, and no version is under two keys or none."""
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
    interrupted = 0
    for number in range(KILLS):
        if number % 3 == 0:
            keys = [VaultKey(chance.randbytes(32)), *keys[:1]]
        killed(address(path), keys, chance)
        with MemoryStore(path, index=False, vault_key=keys) as store:
            status = store.vault.status()
            interrupted += status.is_rotating
            assert sum(status.versions.values()) == len(texts)
            check(store, texts)
            if number % 3 == 2 or number == KILLS - 1:
                store.vault.rotate()
                assert store.vault.status().versions == {keys[0].id: len(texts)}
                check(store, texts)
        if number % 3 == 2:
            old = MemoryStore(path, index=False, vault_key=keys[1:])
            with old, pytest.raises(VaultKeyError):
                old.vault.get(HOME, "Etikett 0 标签")
    assert interrupted >= KILLS // 2


def killed(path: str, keys: list[VaultKey], chance: random.Random) -> None:
    """Rotate in another process, and kill it: after some of its transactions, or while it clears away."""
    command = [sys.executable, "-c", ROTATION, path, *(one.reveal().hex() for one in keys)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(chance.randrange(LABELS * VERSIONS // AT_ONCE)):
            if process.stdout.readline() in ("", "done\n"):
                break
        time.sleep(chance.random() * 0.005)
        process.kill()


def check(store: MemoryStore, texts: dict[tuple[str, int], str]) -> None:
    """Check that every version opens and says what was put."""
    for (label, version), text in texts.items():
        assert store.vault.get(HOME, label, version=version).reveal() == text
