"""The spellings of portable SQL and the bytes of leaves, as the PostgreSQL engine has them."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("psycopg", reason="the driver of PostgreSQL is not installed")

from langmemory.engines.postgres.connection import encoded
from langmemory.engines.postgres.translate import translated

LEAVES = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5),
    st.binary(max_size=5),
)


@given(LEAVES, LEAVES)
def test_bytes_of_leaves_sort_as_sqlite_sorts_values(
    first: int | float | str | bytes, second: int | float | str | bytes
) -> None:
    """Two values of any type are equal, or one is less, where SQLite says so."""
    connection = apsw.Connection(":memory:")
    less, equal = connection.execute("SELECT ?1 < ?2, ?1 = ?2", (first, second)).fetchone()
    assert (encoded(first) < encoded(second), encoded(first) == encoded(second)) == (less, equal)


@pytest.mark.parametrize(
    ("portable", "spelled"),
    [
        ("SELECT ?2, ?1, ?1", "SELECT %s, %s, %s"),
        ("SELECT '?%' WHERE a IS ?", "SELECT '?%%' WHERE a IS NOT DISTINCT FROM %s"),
        ("SELECT 1 WHERE a IS NOT NULL", "SELECT 1 WHERE a IS NOT NULL"),
        (
            "SELECT 1 FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
            "SELECT 1 FROM unnest(%s) WITH ORDINALITY AS c(value, nth) JOIN item i ON i.id = c.value "
            "ORDER BY c.nth",
        ),
        (
            "SELECT 1 FROM json_each(?) g CROSS JOIN json_each(g.value) k",
            "SELECT 1 FROM json_each(%s) g CROSS JOIN json_each(g.value) k",
        ),
        ("SELECT max(a, ?), max(b)", "SELECT greatest(a, %s), max(b)"),
        ("SELECT 1 WHERE key GLOB 'a_/*'", "SELECT 1 WHERE key LIKE 'a\\_/%%'"),
        (
            "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)",
            "INSERT INTO setting (name, value) VALUES (%s, %s) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        ),
        (
            "SELECT max(i.id) FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
            "SELECT max(i.id) FROM unnest(%s) AS c(value) JOIN item i ON i.id = c.value",
        ),
        (
            "INSERT OR IGNORE INTO path (name) VALUES (?)",
            "INSERT INTO path (name) VALUES (%s) ON CONFLICT DO NOTHING",
        ),
    ],
)
def test_spellings(portable: str, spelled: str) -> None:
    """Each spelling of decision 038 is PostgreSQL's."""
    assert translated(portable).sql == spelled


def test_values_go_where_they_are_asked_for() -> None:
    """Numbered and named values keep their places, and a leaf is known for one."""
    assert translated("SELECT ?2, ?1").order == (1, 0)
    assert translated("SELECT :name, :other").order == ("name", "other")
    leaf = translated("SELECT 1 FROM leaf l WHERE l.path = ? AND l.value = ?")
    assert leaf.leaves == {1}


def test_subqueries_have_names() -> None:
    """PostgreSQL 15 insists on a name for each subquery of a FROM; those that have one keep it."""
    unnamed = "SELECT a FROM (SELECT ')' AS a FROM (SELECT 2)) WHERE a > ?"
    assert translated(unnamed).sql == (
        "SELECT a FROM (SELECT ')' AS a FROM (SELECT 2) AS subquery_1) AS subquery_0 WHERE a > %s"
    )
    named = "SELECT a FROM (SELECT 1 AS a) d JOIN (SELECT 2 AS b) AS e ON b > a"
    assert translated(named).sql == named
