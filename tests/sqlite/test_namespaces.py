"""Namespaces: whole labels, case-sensitive, nothing in them is a wildcard."""

from __future__ import annotations

from pathlib import Path

import pytest
from langgraph.store.base import InvalidNamespaceError, PutOp

from langmemory.stores import MemoryStore

NEIGHBOURS = (
    ("acme",), ("acme", "x"), ("acme-corp",), ("acme/x",), ("Acme",), ("acm_",), ("acm%",),
    ("acm*",), ("acm?",), ("acme\u0301",), ("acmé",), ("ac", "me"), ("a", "acme"), ("acme ",),
    ("'; DROP TABLE item; --",), ("acme", "x", "y"), ("\U0001f600",), ("[a-z]cme",),
)  # fmt: skip


@pytest.mark.parametrize("prefix", [(), *NEIGHBOURS, ("acme", "x", "z"), ("nobody",)])
def test_prefixes_are_whole_labels(prefix: tuple[str, ...]) -> None:
    """A prefix reaches what lies in it and below it, and nothing that merely looks like it: by
    listing, by words, by meaning, by filter, in list_namespaces and in deletion."""
    store = MemoryStore(":memory:")
    for namespace in NEIGHBOURS:
        store.put(namespace, "k", {"text": "a note"})
    inside = {one for one in NEIGHBOURS if one[: len(prefix)] == prefix}

    def reached(**options: object) -> set[tuple[str, ...]]:
        return {item.namespace for item in store.search(prefix, limit=99, **options)}  # type: ignore[arg-type]

    assert reached() == inside
    assert reached(query="note") == inside
    assert reached(query="note", filter={"text": "a note"}) == inside
    assert reached(filter={"text": {"$ne": "x"}}) == inside
    assert set(store.list_namespaces(prefix=prefix)) == inside
    if prefix:
        assert store.admin.delete_namespace(prefix) == len(inside)
        assert set(store.list_namespaces()) == set(NEIGHBOURS) - inside


def test_a_thousand_namespaces(tmp_path: Path) -> None:
    """Each of a thousand namespaces finds its own items only, and their parent finds all."""
    with MemoryStore(tmp_path / "m.db") as store:
        store.batch(
            PutOp(("users", f"u{n}"), "k", {"text": f"the colour of user number {n}"})
            for n in range(1000)
        )
        for n in (0, 1, 10, 999):
            found = store.search(("users", f"u{n}"), query="colour of user")
            assert [item.namespace for item in found] == [("users", f"u{n}")]
        assert len(store.search(("users",), query="colour", limit=1000)) == 1000
        assert len(store.list_namespaces(limit=2000)) == 1000
        assert store.list_namespaces(max_depth=1) == [("users",)]
        assert store.list_namespaces(suffix=("u7",)) == [("users", "u7")]
        assert store.list_namespaces(prefix=("*", "u7")) == [("users", "u7")]
        assert store.admin.delete_namespace(("users",)) == 1000
        assert store.list_namespaces() == []


def test_labels_that_would_be_two(tmp_path: Path) -> None:
    """A label with a period, an empty one and a bare string are refused by every own method: they
    would address the namespace of somebody else."""
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        store.put(("a", "b"), "k", {"x": 1})
        for namespace in (("a.b",), ("a", ""), "ab", ("a", 1)):
            for call in (
                lambda: store.admin.delete_namespace(namespace),  # noqa: B023
                lambda: store.changes.history(namespace, "k"),  # noqa: B023
                lambda: store.recall("x", namespace),  # noqa: B023
                lambda: list(store.admin.export(namespace)),  # noqa: B023
                lambda: store.remember(namespace, [("user", "x")], thread_id="t"),  # noqa: B023
            ):
                with pytest.raises(InvalidNamespaceError):
                    call()
        assert store.get(("a", "b"), "k") is not None
