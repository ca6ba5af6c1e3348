"""Type checks of an application that uses langmemory."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

pytestmark = pytest.mark.thorough

USER = """
from typing_extensions import assert_type

from langmemory import Memory, MemoryStore, RecallResult, build_chat_graph

with MemoryStore.from_conn_string("memory.db") as store:
    assert_type(store, MemoryStore)
    for result in store.recall("Where does Tofu sleep?", ("memories",)):
        assert_type(result, RecallResult)
    store.recall("What was said?", ("memories",), kinds=("episodic",))
    store.recall("What was said?", ("memories",), kinds=["episodic"])

from langmemory import MemoryStor
"""


def test_public_names_have_their_types(tmp_path: Path) -> None:
    """Whoever imports from langmemory gets types, of each result of a recall too, may write options as
    they come, and hears of a misspelt name."""
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    said, failed, _ = api.run(["--strict", "--no-pretty", str(tmp_path / "user.py")])
    assert not failed
    assert [line.split("error: ")[1] for line in said.splitlines() if "error: " in line] == [
        'Module "langmemory" has no attribute "MemoryStor"; maybe "MemoryStore"?  [attr-defined]'
    ]
