"""`langmemory copy`: a memory moves, and the command says what it proved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langmemory.operations import copying
from tests.cli.place import Run

pytestmark = pytest.mark.sqlite("copies files; tests/stores/test_copying.py copies servers, too")


def test_a_copy_is_told_and_used(filled: Run, tmp_path: Path) -> None:
    """The copy answers as the memory file does, and says how much of it was compared."""
    target = tmp_path / "copy.db"
    result = filled("copy", tmp_path / "memory.db", target)
    assert result.exit_code == 0, result.output
    first, second, third = result.output.splitlines()
    assert first.startswith("Copied 190 memories of ")
    assert second.endswith("rows and 190 vectors")
    assert third == "20 sample recalls found the same in both"
    asked = ("search", "Where does Lena live?", "--json")
    found = json.loads(filled(*asked).output)["results"]
    copied = json.loads(filled(*asked, "--db", target).output)["results"]
    assert copied == found
    refused = filled("copy", tmp_path / "memory.db", target)
    assert (refused.exit_code, refused.output.count("\n")) == (1, 1)
    assert "is not empty" in refused.output


def test_an_interrupted_copy_goes_on(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the command is repeated, the others refuse the target in one line that says what to do."""
    target = tmp_path / "copy.db"
    with monkeypatch.context() as patch:
        patch.setattr(copying.transfer, "write_rows", _interrupted)
        assert filled("copy", tmp_path / "memory.db", target).exit_code != 0
    refused = filled("search", "Lena", "--db", target)
    assert refused.exit_code == 1
    assert "unfinished copy" in refused.output
    assert f"langmemory copy {tmp_path / 'memory.db'} {target}" in refused.output
    done = filled("copy", tmp_path / "memory.db", target, "--json")
    assert json.loads(done.output)["memories"] == 190


def _interrupted(*args: object) -> None:
    raise KeyboardInterrupt
