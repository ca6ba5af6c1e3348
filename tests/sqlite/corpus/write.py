"""Write a file of the current schema version for the corpus: ``python -m tests.sqlite.corpus.write NAME``.

It holds a bit of everything. ``NAME.db.gz`` is the file, ``NAME.jsonl.gz`` its export.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path

import pytest

from langmemory.parts.vault import VaultKey
from langmemory.stores import MemoryStore
from tests.stores.test_copying import NS, live

FOLDER = Path(__file__).parent


def write(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "m.db"
        with MemoryStore(path, vault_key=VaultKey(bytes(32))) as store:
            live(store, patch)
            store.vault.put(NS, "wifi", "a word")
            rows = [json.dumps(row, ensure_ascii=False) for row in store.admin.export()]
        for ending, data in (("db", path.read_bytes()), ("jsonl", "\n".join(rows).encode())):
            (FOLDER / f"{name}.{ending}.gz").write_bytes(gzip.compress(data, mtime=0))


if __name__ == "__main__":
    write(sys.argv[1])
