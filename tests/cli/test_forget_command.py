"""`langmemory forget`: shown, asked, done, proved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langmemory.stores import MemoryStore
from tests.cli.place import Run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with MemoryStore(path) as store:
        for number in range(7):
            value = {"text": f"Alice and topic {number}", "owner": "alice"}
            store.put(("home",), f"a{number}", value)
        store.put(("home",), "b", {"text": "Bob saw Zqxlena", "owner": "bob"})
        store.put(("memories", "me"), "k", {"text": "a note of mine"})
    return path


def keys(path: Path) -> set[str]:
    with MemoryStore(path) as store:
        return {item.key for item in store.search((), limit=100)}


def test_it_shows_and_asks(run: Run, home: Path) -> None:
    """Before anything goes, it says how much and shows how it begins; anything but yes keeps it."""
    result = run("forget", "--owner", "alice", input="n\n")
    assert result.exit_code == 0, result.output
    assert "7 memories (7 semantic)" in result.output
    assert "Alice and topic 0" in result.output
    assert "… and 2 more" in result.output
    assert "Nothing was changed" in result.output
    assert len(keys(home)) == 9
    result = run("forget", "--owner", "alice", input="y\n")
    assert "0 were found" in result.output
    assert keys(home) == {"b", "k"}


def left(home: Path, *words: str) -> list[str]:
    """Where one of the words still stands."""
    with MemoryStore(home) as store:
        found: list[str] = store._core.engine.leftovers(list(words))[1]
        return found


def test_by_entity_and_by_key(run: Run, home: Path) -> None:
    """`--entity` takes what names it, `--key` one memory of the default namespace; `--yes` does not
    ask and `--json` is for scripts."""
    done = json.loads(run("forget", "--entity", "Zqxlena", "--yes", "--json").output)
    assert (done["memories"], done["dry_run"]) == (1, False)
    assert run("forget", "--key", "k", "--yes").exit_code == 0
    assert keys(home) == {f"a{number}" for number in range(7)}
    assert left(home, "Zqxlena") == []


def test_everything_of_a_namespace(run: Run, home: Path) -> None:
    """`--everything` takes a namespace whole, whoever owns what; which one has to be said."""
    result = run("forget", "--everything", "--yes")
    assert result.exit_code == 1
    assert "needs a namespace" in result.output
    assert run("forget", "--everything", "--namespace", "home", "--yes").exit_code == 0
    assert keys(home) == {"k"}


def test_nothing_to_forget_leaves_no_run(filled: Run) -> None:
    """--json says that nothing went, and the list of runs stays as it was."""
    before = filled("runs", "--json").stdout
    done = json.loads(filled("forget", "--owner", "nobody", "--json", "--yes").stdout)
    assert (done["memories"], done["dry_run"]) == (0, True)
    assert filled("runs", "--json").stdout == before


def test_nothing_to_forget(run: Run, home: Path) -> None:
    """Nobody named is an error with the next step; somebody unknown changes nothing."""
    result = run("forget")
    assert result.exit_code == 1
    assert "owner" in result.output
    for options in ((), ("--yes",)):
        assert "Nothing was changed" in run("forget", "--owner", "nobody", *options).output
    assert run("runs").stdout.startswith("Nothing has changed")
    assert run("forget", "--owner", "alice", "--json").exit_code == 1
    assert len(keys(home)) == 9


def test_several_entities_at_once(run: Run, home: Path) -> None:
    """`--entity A --entity B` forgets both, and what is told before names both."""
    with MemoryStore(home) as store:
        store.put(("home",), "c", {"text": "Carla likes Qwervin."})
        store.put(("home",), "d", {"text": "The bins go out on Monday."})
    words = ("forget", "--entity", "Zqxlena", "--entity", "Qwervin")
    shown = run(*words, input="n\n").output
    assert "Bob saw Zqxlena" in shown
    assert "Carla likes Qwervin." in shown
    done = json.loads(run(*words, "--yes", "--json").output)
    assert done["memories"] == 2
    assert keys(home) == {"d", "k", *(f"a{number}" for number in range(7))}
    assert left(home, "Zqxlena", "Qwervin") == []


@pytest.mark.parametrize(
    "words",
    [
        ("forget", "--owner", "alice", "--owner", "bob", "--yes"),
        ("reflect", "--thread", "a", "--thread", "b"),
        ("search", "tea", "--limit", "3", "-k", "4"),
    ],
    ids=lambda words: words[0],
)
def test_no_value_is_left_unheeded(run: Run, home: Path, words: tuple[str, ...]) -> None:
    """An option that takes one value and is given two is named, and nothing is done."""
    refused = run(*words)
    assert refused.exit_code == 2
    assert "is given twice; it takes one value." in refused.stderr
    assert len(keys(home)) == 9
