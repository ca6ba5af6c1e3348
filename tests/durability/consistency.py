"""Do the parts of a file agree? Read with plain SQL, so that the store cannot judge itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import apsw
import numpy as np

SLOT_BITS = 16
"""vector.id = item.id << SLOT_BITS | n."""


def check_consistency(path: Path) -> int:
    """Raise AssertionError where items, vectors, sign bits, words, leaves or history disagree.

    Every item is expected to be indexed and to have the number "n" among its values, as the items
    of these tests do. Returns the number of items.
    """
    connection = apsw.Connection(str(path))
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.execute("INSERT INTO keyword(keyword) VALUES ('integrity-check')")
        items = _ids(connection, "SELECT id FROM item")
        _check_vectors(connection, items)
        assert _ids(connection, "SELECT rowid FROM keyword") == items, "words of other items"
        _check_words(connection)
        _check_leaves(connection, items)
        added = _ids(connection, "SELECT item FROM history WHERE action = 'add'")
        assert items <= added, "items without history"
        return len(items)
    finally:
        connection.close()


def _ids(connection: apsw.Connection, sql: str) -> set[int]:
    return {row[0] for row in connection.execute(sql)}


def _check_vectors(connection: apsw.Connection, items: set[int]) -> None:
    """One vector an item, and the log of sign bits says the same about each."""
    vectors = dict(connection.execute("SELECT id, e FROM vector").fetchall())
    assert {vector >> SLOT_BITS for vector in vectors} == items, "vectors of other items"
    assert len(vectors) == len(items), "more than one vector of an item"
    logged = _logged_bits(connection)
    assert logged.keys() == vectors.keys(), "sign bits of other vectors"
    for vector, blob in vectors.items():
        signs = np.packbits(np.frombuffer(blob, np.float32) > 0, bitorder="little")
        assert logged[vector] == signs.tobytes(), f"sign bits of vector {vector} are not its own"


def _logged_bits(connection: apsw.Connection) -> dict[int, bytes]:
    """Sign bits by vector id, after the whole log: packed segments first, then the tail."""
    logged: dict[int, bytes] = {}
    for count, ids, blob in connection.execute(
        "SELECT count, vectors, bits FROM code_segment ORDER BY last_seq"
    ):
        words = np.frombuffer(blob, np.uint64).reshape(-1, count)
        bits = np.ascontiguousarray(words.T)
        numbers = np.frombuffer(ids, np.int64).tolist()
        logged.update((number, bits[row].tobytes()) for row, number in enumerate(numbers))
    for vector, bits_blob in connection.execute("SELECT vector, bits FROM code ORDER BY seq"):
        if bits_blob is None:
            logged.pop(vector, None)
        else:
            logged[vector] = bits_blob
    return logged


def _check_words(connection: apsw.Connection) -> None:
    """Every item is found by the word only its present text has, and by no word of an old text."""
    sql = "SELECT id, value ->> '$.word' FROM item"
    words = dict(connection.execute(sql).fetchall())
    occurrences = Counter(words.values())
    for item, word in words.items():
        found = connection.execute(
            "SELECT rowid FROM keyword WHERE keyword MATCH ?", (f'body:"{word}"',)
        ).fetchall()
        assert (item,) in found, f"item {item} is not found by its word"
        assert len(found) == occurrences[word], f"{word} finds items that no longer say it"


def _check_leaves(connection: apsw.Connection, items: set[int]) -> None:
    """The filter leaf "n" of every item is its value, and no leaf belongs to nobody."""
    assert _ids(connection, "SELECT DISTINCT item FROM leaf") == items, "leaves of other items"
    stored = dict(connection.execute("SELECT id, value ->> '$.n' FROM item").fetchall())
    leaves = connection.execute(
        "SELECT item, value FROM leaf WHERE path = (SELECT id FROM path WHERE name = 'n')"
    ).fetchall()
    assert dict(leaves) == stored
    assert len(leaves) == len(stored)
