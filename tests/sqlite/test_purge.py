"""Why the words of deleted rows are merged out of the keyword index."""

from __future__ import annotations

import apsw


def test_secure_delete_of_fts5_leaves_the_words_of_an_index_without_content() -> None:
    """FTS5's option does nothing for a contentless index; once it does, `Engine.erase_keywords` can go."""
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE k USING fts5 (body, content = '', contentless_delete = 1);"
        "INSERT INTO k (k, rank) VALUES ('secure-delete', 1); PRAGMA secure_delete = 1"
    )
    rows = [(n, "qxzgeheim" if n == 7 else f"word{n}") for n in range(1, 50)]
    with connection:
        connection.executemany("INSERT INTO k (rowid, body) VALUES (?, ?)", rows)
    connection.execute("DELETE FROM k WHERE rowid = 7")
    assert b"qxzgeheim" in connection.serialize("main")
    connection.execute("INSERT INTO k (k) VALUES ('optimize')")
    assert b"qxzgeheim" not in connection.serialize("main")
