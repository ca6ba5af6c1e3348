"""`langmemory core`: the person reads and edits what is always in context."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langmemory.nodes.core_memory import CoreMemory
from langmemory.stores import MemoryStore
from tests.cli.place import Run


def test_a_person_writes_reads_and_undoes(run: Run) -> None:
    """set, append and undo each make a version; show prints it as it stands."""
    assert run("core", "set", "human", "Name: [Anna]").stdout == (
        "Block human: version 1, 12 of 2000 characters\n"
    )
    run("core", "append", "human", "Lives in Graz")
    assert run("core", "show", "human").stdout == "Name: [Anna]\nLives in Graz\n"
    assert "version 3" in run("core", "undo", "human").stdout
    assert run("core", "show", "human").stdout == "Name: [Anna]\n"
    shown = run("core", "list").stdout
    for word in ("persona", "human", "task", "Name: [Anna]"):
        assert word in shown
    assert "Lives in Graz" not in shown


def test_the_history_says_who_and_when(run: Run, tmp_path: Path) -> None:
    """The person and the model edit the same blocks, the application's own ones included, and the
    history tells them apart."""
    with MemoryStore(tmp_path / "memory.db") as store:
        garden = {"garden": "Plants."}
        core = CoreMemory(store, ("memories", "me"), labels=garden, editor="assistant")
        core.append("garden", "Two apricot trees")
    run("core", "append", "garden", "Roses")
    shown = run("core", "history", "garden").stdout
    for word in ("when", "assistant", "person", "Two apricot trees", "Roses"):
        assert word in shown
    rows = json.loads(run("core", "history", "garden", "--json").stdout)
    assert [(row["version"], row["editor"]) for row in rows] == [(1, "assistant"), (2, "person")]
    blocks = json.loads(run("core", "list", "--json").stdout)
    assert [block["label"] for block in blocks] == ["persona", "human", "task", "garden"]


def test_blocks_belong_to_a_namespace(run: Run) -> None:
    """Another namespace has blocks of its own."""
    run("core", "set", "human", "Anna", "-n", "memories/anna")
    assert run("-n", "memories/anna", "core", "show", "human").stdout == "Anna\n"
    assert run("core", "show", "human").stdout == "\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["set", "pets", "A cat"], "no block 'pets'. Blocks: human, persona, task."),
        (["set", "human", "x" * 2001], "holds 2000 characters; it would have 2001"),
        (["append", "human", " "], "nothing to append"),
        (["undo", "human"], "never edited"),
    ],
)
def test_a_refused_edit_is_one_line(run: Run, arguments: list[str], says: str) -> None:
    """An impossible edit of a core block prints one line and changes nothing."""
    run("core", "set", "task", "")
    result = run("core", *arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
    assert run("core", "show", "human").stdout == "\n"


def test_files_are_bound_and_their_edits_taken(run: Run, tmp_path: Path) -> None:
    """bind names each file of a folder, sync takes an edit and says how to take it back, list names the file,
    and a proposal is shown as a difference and approved."""
    for name, text in {"AGENTS.md": "Run the tests.\n", "SOUL.md": "Calm.\n"}.items():
        (tmp_path / "work" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "work" / name).write_text(text, "utf-8")
    bound = run("core", "bind", str(tmp_path / "work")).stdout
    assert [line.split(":")[0] for line in bound.splitlines()] == ["agents", "persona"]
    (tmp_path / "work" / "SOUL.md").write_text("Calm and brief.\n", "utf-8")
    taken = run("core", "sync").stdout
    assert "taken into memory" in taken
    run("undo", taken.split()[-1])
    assert (tmp_path / "work" / "SOUL.md").read_text("utf-8") == "Calm.\n"
    assert "AGENTS.md" in run("core", "list").stdout
    with MemoryStore(tmp_path / "memory.db") as store:
        core = CoreMemory(store, ("memories", "me"), labels={"agents": ""}, editor="assistant")
        review = core.append("agents", "Ask first.").proposed
    assert review is not None
    assert "    +Ask first.\n" in run("reviews").stdout
    run("reviews", "--decide", review, "approve")
    assert (tmp_path / "work" / "AGENTS.md").read_text("utf-8") == "Run the tests.\nAsk first.\n"
    assert "is bound to no file" in run("core", "unbind", "agents").stdout
    assert "1 file, nothing to do" in run("core", "sync").stdout
    assert "There is no file" in run("core", "bind", str(tmp_path / "no.md")).stderr
