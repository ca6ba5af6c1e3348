"""A damaged keyword index is written anew, or vectors alone answer: no recall is empty in silence."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from langmemory.engines.sqlite.engine import check
from langmemory.errors import DatabaseError
from langmemory.stores import MemoryStore

HOME = ("home",)
DAMAGES = {
    "rows of data are gone": "DELETE FROM keyword_data",
    "the texts are gone": "DELETE FROM keyword_data WHERE id > 10",
    "the structure is gone": "DELETE FROM keyword_data WHERE id = 10",
    "the averages are gone": "DELETE FROM keyword_data WHERE id = 1",
    "the texts are zeros": "UPDATE keyword_data SET block = zeroblob(length(block)) WHERE id > 10",
    "the texts are cut": "UPDATE keyword_data SET block = substr(block, 1, 20) WHERE id > 10",
    "the structure is noise": "UPDATE keyword_data SET block = x'ff01ffee' WHERE id = 10",
    "the structure is empty": "UPDATE keyword_data SET block = zeroblob(12) WHERE id = 10",
    "the sizes are gone": "DELETE FROM keyword_docsize",
    "some sizes are gone": "DELETE FROM keyword_docsize WHERE id % 2",
    "the sizes are noise": "UPDATE keyword_docsize SET sz = x'00'",
    "the settings are gone": "DELETE FROM keyword_config",
    "a table is gone": "DROP TABLE keyword_data",
    "the index is empty": "INSERT INTO keyword (keyword) VALUES ('delete-all')",
    "rows are gone": "DELETE FROM keyword WHERE rowid <> 3",
}


def filled(path: Path, *, words_only: bool) -> MemoryStore:
    store = MemoryStore(path, index=False if words_only else None)
    for number in range(6):
        text = f"Zebra {number} walks home and eats an apple."
        store.remember(HOME, [{"role": "user", "content": text}], thread_id=f"t{number}")
    store.put(HOME, "boiler", {"text": "Joe Miller repairs the boiler."})
    return store


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("opened", [False, True], ids=["reopened", "open"])
def test_a_damaged_index_is_written_anew(tmp_path: Path, damage: str, opened: bool) -> None:
    """Whatever FTS5 lost, by another process while the store is open or before it is opened: by words alone
    the memory is found, a write works, and the check finds nothing."""
    path = tmp_path / "m.db"
    store = filled(path, words_only=True)
    if not opened:
        store.close()
    raw = apsw.Connection(str(path))
    raw.execute(damage)
    raw.close()
    if not opened:
        store = MemoryStore(path, index=False)
    found = store.recall("Who repairs the boiler?", HOME)
    assert found.results[0].memory.key == "boiler"
    assert [one.key for one in store.search(HOME, query="boiler")] == ["boiler"]
    store.put(HOME, "sofa", {"text": "The sofa is green."})
    assert store.search(HOME, query="sofa")[0].key == "sofa"
    with store._core.engine.read() as snapshot:
        assert check(snapshot.connection) == []
    store.close()


@pytest.mark.parametrize("damage", ["DELETE FROM keyword_data", "DELETE FROM keyword_config"])
def test_a_write_to_a_damaged_index_mends_it(tmp_path: Path, damage: str) -> None:
    """The first to meet the damage may be a put."""
    store = filled(tmp_path / "m.db", words_only=False)
    store.close()
    raw = apsw.Connection(str(tmp_path / "m.db"))
    raw.execute(damage)
    raw.close()
    with MemoryStore(tmp_path / "m.db") as store:
        store.put(HOME, "sofa", {"text": "The sofa is green."})
        with store._core.engine.read() as snapshot:
            assert check(snapshot.connection) == []


@pytest.mark.parametrize("words_only", [False, True])
async def test_vectors_answer_where_the_index_cannot_be_mended(
    tmp_path: Path, words_only: bool
) -> None:
    """A page of the index that cannot be read is a damage of the file: recall goes by meaning and says so,
    LangGraph's search goes by meaning; without vectors both are refused."""
    path = tmp_path / "m.db"
    filled(path, words_only=words_only).close()
    raw = apsw.Connection(str(path))
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    [(page,)] = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'keyword_data'")
    raw.close()
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(content)
    with MemoryStore(path, index=False if words_only else None) as store:
        if words_only:
            with pytest.raises(DatabaseError, match="doctor"):
                store.recall("Who repairs the boiler?", HOME)
            with pytest.raises(DatabaseError, match="doctor"):
                store.search(HOME, query="Who repairs the boiler?")
            return
        for items in (
            store.search(HOME, query="Who repairs the boiler?"),
            await store.asearch(HOME, query="Who repairs the boiler?"),
        ):
            assert items[0].key == "boiler"
        for found in (
            store.recall("Who repairs the boiler?", HOME),
            await store.arecall("Who repairs the boiler?", HOME),
        ):
            assert found.results[0].memory.key == "boiler"
            assert "by meaning alone" in found.trace.degraded[0]
