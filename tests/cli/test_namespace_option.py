"""Which namespace a command works on, and what it says of one that is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langmemory.stores import MemoryStore
from tests.cli.place import Run


def says(text: str) -> str:
    return json.dumps({"role": "user", "name": "Ida", "content": text})


@pytest.fixture
def two(run: Run) -> Run:
    """A file with the namespaces memories/ada and memories/ben."""
    for name in ("ada", "ben"):
        run("import", "-", "-n", f"memories/{name}", input=says(f"I am {name} and drink tea."))
    return run


@pytest.mark.parametrize(
    "command",
    [("export", "out.jsonl"), ("graph", "--png", "out.png"), ("graph", "--graphml", "out.xml")],
    ids=" ".join,
)
def test_a_namespace_that_is_not_there_is_named_and_nothing_is_written(
    two: Run, command: tuple[str, ...]
) -> None:
    """A misspelt namespace is an error that names others; no empty file looks like a backup."""
    refused = two(*command, "-n", "memories/add")
    assert refused.exit_code == 1
    assert refused.stdout == ""
    assert "has no namespace memories/add. It has, for example, memories/ada" in refused.stderr
    assert "Nothing was written." in refused.stderr
    assert [file.name for file in Path().iterdir() if file.name != "memory.db"] == []


def test_a_picture_of_nobody_is_not_drawn(two: Run) -> None:
    """Where nothing was reflected yet, a picture would be empty: the error names the next step."""
    refused = two("graph", "--png", "out.png", "-n", "memories/ada")
    assert refused.exit_code == 1
    assert (
        "No people or things are known in memories/ada yet: `langmemory reflect`" in refused.stderr
    )
    assert not Path("out.png").exists()


def test_what_was_deleted_is_still_exported(run: Run) -> None:
    """A namespace that holds nothing but the history of what was deleted is no unknown one."""
    with MemoryStore("memory.db") as store:
        store.put(("notes",), "n", {"text": "Zqx"})
        store.delete(("notes",), "n")
    exported = run("export", "-n", "notes")
    assert exported.exit_code == 0
    assert "Zqx" in exported.stdout


def test_the_environment_names_the_namespace(two: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """LANGMEMORY_NAMESPACE stands for --namespace in every command; the option wins over it."""
    monkeypatch.setenv("LANGMEMORY_NAMESPACE", "memories/ada")
    assert "to memories/ada" in two("import", "-", input=says("I have a cat.")).stdout
    found = json.loads(two("search", "tea", "--json").stdout)["results"]
    assert {tuple(one["memory"]["namespace"]) for one in found} == {("memories", "ada")}
    assert "No people or things are known in memories/ada" in two("graph").stdout
    two("core", "set", "human", "Ada takes the stairs.")
    assert "stairs" in two("core", "show", "human", "-n", "memories/ada").stdout
    assert "1 batch" in two("reflect").stdout
    other = json.loads(two("search", "tea", "--json", "-n", "memories/ben").stdout)["results"]
    assert {tuple(one["memory"]["namespace"]) for one in other} == {("memories", "ben")}
    items = [json.loads(row) for row in two("export").stdout.splitlines()[1:]]
    assert not [one for one in items if one.get("namespace") == ["memories", "ben"]]
    monkeypatch.setenv("LANGMEMORY_NAMESPACE", "a/b.c")
    assert "No people or things are known in a/" in (graph := two("graph")).stdout, graph
    monkeypatch.setenv("LANGMEMORY_NAMESPACE", "a//b")
    assert "LANGMEMORY_NAMESPACE a//b: label '' is empty" in two("graph").stderr
    monkeypatch.setenv("LANGMEMORY_NAMESPACE", "")
    assert "to memories/me" in two("import", "-", input=says("I have a dog.")).stdout


def test_an_export_goes_back_whatever_the_environment_names(
    two: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export is imported where it came from: the variable is a default, and no order."""
    two("export", "out.jsonl")
    monkeypatch.setenv("LANGMEMORY_NAMESPACE", "elsewhere")
    assert "Restored 2 memories" in two("import", "out.jsonl", "--db", "new.db").stdout


@pytest.mark.parametrize(
    "command",
    ["search tea", "reflect", "journal", "reviews", "runs", "usage", "graph", "forget --owner ada"],
)
def test_nothing_there_is_told_from_nowhere(two: Run, command: str) -> None:
    """A command that finds nothing because the namespace is misspelt says so beside its answer."""
    answer = two(*command.split(), "-n", "memories/add")
    assert answer.exit_code == 0
    assert answer.stdout
    assert "has no namespace memories/add. It has, for example, memories/ada" in answer.stderr
    assert two(*command.split(), "-n", "memories/ada", input="n\n").stderr == ""


def test_an_empty_file_and_an_empty_block_say_so(run: Run) -> None:
    """A list without messages is no import that worked, and an empty core block is told from a wrong one."""
    empty = run("import", "-", input="[]")
    assert (empty.exit_code, empty.stderr) == (1, "langmemory: stdin holds no messages.\n")
    block = run("core", "show", "human")
    assert (block.exit_code, block.stdout) == (0, "\n")
    assert 'Block human is empty; `langmemory core set human "…"` writes it' in block.stderr
