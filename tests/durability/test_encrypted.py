"""An encrypted memory file, as the how-to says: with SQLite3 Multiple Ciphers in the place of apsw."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest

from langmemory import MemoryStore
from langmemory.engines.sqlite.engine import check
from langmemory.errors import DatabaseError

pytestmark = [
    pytest.mark.sqlite("encrypts a file"),
    pytest.mark.skipif(not hasattr(apsw, "mc_version"), reason="apsw-sqlite3mc is not installed"),
]

PAGE = Path(__file__).parents[2] / "docs/how-to/tampering.md"
NS = ("a",)


def test_a_memory_file_is_encrypted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file says what a memory says, everything works, forgetting has its proof. Without the key, or
    with another one, the file does not open."""
    path = tmp_path / "memory.db"
    monkeypatch.setattr(apsw, "connection_hooks", [])
    monkeypatch.setenv("MEMORY_FILE_KEY", "correct horse")
    [code] = re.findall(r"```py\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    exec(code, {})
    with MemoryStore(path) as store:
        store.put(NS, "k", {"text": "Mia likes zanzibar tea"})
        assert not any(b"zanzibar" in file.read_bytes() for file in tmp_path.iterdir())
        store.put(NS, "l", {"text": "Mia likes coffee"})
        assert store.search(NS, query="zanzibar")[0].key == "k"
        assert store.forget(NS, keys=["k"]).words
    with MemoryStore(path) as store, store._core.engine.read() as snapshot:
        assert [item.key for item in store.search(NS)] == ["l"]
        assert check(snapshot.connection) == []
    monkeypatch.setenv("MEMORY_FILE_KEY", "battery staple")
    with pytest.raises(DatabaseError, match="encrypted"):
        MemoryStore(path)
    apsw.connection_hooks.clear()
    with pytest.raises(DatabaseError, match="encrypted"):
        MemoryStore(path)
