"""`list`, `get` and the limits of `search`: what is there, by kind and by day."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langmemory.changes import AddMemory, ChangeSet, Invalidate
from langmemory.citing import digest
from langmemory.stores import MemoryStore
from tests.cli.place import Run

ME = ("memories", "me")

TALK = [
    ("2026-05-01T09:00:00Z", "Ida", "The ferry to Gotland leaves at seven."),
    ("2026-05-02T23:30:00Z", "Ida", "Our cabin on Gotland has no oven."),
    ("2026-05-03T00:00:00Z", "Jon", "The Gotland ferry is late."),
]


@pytest.fixture
def told(run: Run) -> Run:
    """Three turns of three days, and a fact made from the first."""
    rows = [
        {"role": "user", "name": name, "content": text, "at": at, "id": f"m{n}", "thread": "trip"}
        for n, (at, name, text) in enumerate(TALK)
    ]
    run("import", "-", input="\n".join(map(json.dumps, rows)))
    value = {"text": "The Gotland ferry leaves at 07:00.", "owner": "ida"}
    with MemoryStore("memory.db") as store:
        add = AddMemory(key="fact/1", value=value, evidence=("trip/m0",))
        store.changes.apply(changed("reflect/1", add))
    return run


def changed(run_id: str, *changes: AddMemory | Invalidate) -> ChangeSet:
    return ChangeSet(namespace=ME, run_id=run_id, kind="reflection", reason="test", changes=changes)


def keys(run: Run, *words: str) -> list[str]:
    found = json.loads(run(*words, "--json").stdout)
    listed = found if isinstance(found, list) else [one["memory"] for one in found["results"]]
    return [one["key"] for one in listed]


def test_list_shows_the_latest_first_with_keys_to_copy(told: Run) -> None:
    """Each memory is its text, when, who and what kind, and its key; the sum says if there is more."""
    shown = told("list", "--limit", "2").stdout
    assert "The Gotland ferry leaves at 07:00." in shown
    assert "fact/1" in shown.splitlines()
    assert "3 May 2026 · Jon · episodic" in shown
    assert shown.endswith("2 memories; --limit shows more\n")
    assert told("list").stdout.endswith("4 memories\n")
    assert keys(told, "list") == ["fact/1", "trip/m2", "trip/m1", "trip/m0"]
    assert "has no namespace a/b" in told("list", "-n", "a/b").stdout


def test_a_timeless_fact_is_listed_under_the_day_it_was_told(run: Run) -> None:
    """A fact that is true since nobody knows when is dated, and placed, by when it was told; not by
    when it was imported."""
    turns = ["My sister Ann lives in Bonn.", "The ferry is late."]
    rows = [
        {"role": "user", "content": text, "at": f"2026-01-0{day}T09:00:00Z", "thread": "trip"}
        for day, text in enumerate(turns, 1)
    ]
    run("import", "-", input="\n".join(map(json.dumps, rows)))
    run("reflect")
    shown = run("list").stdout
    assert "Ann is the user's sister.\n1 Jan 2026 · user · semantic\n" in shown
    assert shown.index("The ferry is late.") < shown.index("Ann is the user's sister.")


def test_what_no_longer_holds_is_listed_where_it_is_asked_for(told: Run) -> None:
    """`--all` shows superseded memories, too, and says so."""
    over = Invalidate(key="fact/1", invalid_at=datetime(2026, 6, 1, tzinfo=UTC))
    with MemoryStore("memory.db") as store:
        store.changes.apply(changed("reflect/2", over))
    assert "fact/1" not in told("list").stdout
    assert re.search(r"semantic · superseded\nfact/1\n", told("list", "--all").stdout)


LIMITS = [
    (("--kind", "semantic"), {"fact/1"}),
    (("--kind", "semantic", "--kind", "episodic"), {"fact/1", "trip/m0", "trip/m1", "trip/m2"}),
    (("--kind", "episodic", "--since", "2026-05-02"), {"trip/m1", "trip/m2"}),
    (("--kind", "episodic", "--until", "2026-05-02"), {"trip/m0", "trip/m1"}),
    (("--kind", "episodic", "--until", "2026-05-02T23:30"), {"trip/m0"}),
    (("--kind", "episodic", "--since", "2026-05-03", "--until", "2026-05-03"), {"trip/m2"}),
]


@pytest.mark.parametrize(("options", "there"), LIMITS, ids=[" ".join(one) for one, _ in LIMITS])
def test_days_and_kinds_limit_what_is_shown(
    told: Run, options: tuple[str, ...], there: set[str]
) -> None:
    """`--since` begins with its day, `--until` ends with the end of its day, `--kind` may be repeated;
    `list` shows all of that, `search` what of it fits."""
    assert set(keys(told, "list", *options)) == there
    found = set(keys(told, "search", "When does the ferry to Gotland leave?", *options))
    assert found
    assert found <= there


@pytest.mark.parametrize("command", [("list",), ("search", "ferry")], ids=" ".join)
def test_limits_that_cannot_be_are_refused(told: Run, command: tuple[str, ...]) -> None:
    """A kind that there is not, and a span that ends before it begins, are named."""
    refused = told(*command, "--kind", "fact")
    assert refused.exit_code == 2
    assert "'fact' is no kind of memory; there are core, working, episodic" in refused.stderr
    refused = told(*command, "--since", "2026-05-03", "--until", "2026-05-02")
    assert refused.exit_code == 2
    assert "nothing can be between them" in refused.stderr


def test_search_takes_the_options_of_a_recall(told: Run) -> None:
    """The lowest score, a preset and a budget are as of `MemoryStore.recall`; `--help` has their words, and
    a value that cannot be is named."""
    asked = ("search", "When does the ferry to Gotland leave?", "--json")
    found = json.loads(told(*asked).stdout)["results"]
    best, worst = found[0]["score"], found[-1]["score"]
    some = json.loads(told(*asked, "--min-score", str((best + worst) / 2)).stdout)["results"]
    assert [one["score"] for one in some] == [one["score"] for one in found[: len(some)]]
    assert 0 < len(some) < len(found)
    assert (
        json.loads(told("search", "Thanks!", "--json", "--min-score", "auto").stdout)["results"]
        == []
    )
    fast = json.loads(told(*asked, "--preset", "fast", "--budget-tokens", "12").stdout)
    assert fast["trace"]["preset"] == "fast"
    assert len(fast["results"]) < len(found)
    assert "the probability that they are evidence" in " ".join(
        told("search", "--help").stdout.replace("│", "").split()
    )
    refused = told(*asked, "--min-score", "high")
    assert refused.exit_code == 2
    assert "'high' is no number from 0 to 1" in refused.stderr


def test_get_shows_one_memory_in_full(told: Run) -> None:
    """Its text, its facets and what it was made from; by its key or by the id that a prompt has."""
    shown = told("get", "fact/1").stdout
    assert shown.startswith("The Gotland ferry leaves at 07:00.\n")
    for words in ("semantic", "memories/me", "made from", "trip/m0", TALK[0][2]):
        assert words in shown
    turn = told("get", "trip/m1").stdout
    assert "said by      Ida" in turn
    assert "thread       trip, message 2" in turn
    id = digest(ME, "fact/1")[:8]
    for name in (id, f"R:{id}", f"[R:{id}]"):
        assert json.loads(told("get", name, "--json").stdout)["evidence"] == ["trip/m0"]


def test_get_of_what_is_not_there_names_the_next_step(told: Run) -> None:
    """A wrong key and a wrong namespace are errors with a command, and others' private memories are
    not there."""
    missing = told("get", "fact/2")
    assert missing.exit_code == 1
    assert "There is no memory 'fact/2' in memories/me. `langmemory list` shows" in missing.stderr
    assert told("get", "fact/1", "-n", "a/b").exit_code == 1
    with MemoryStore("memory.db") as store:
        store.put(ME, "secret", {"text": "x", "privacy": "private", "owner": "ida"})
    assert told("get", "secret", "--viewer", "ida").exit_code == 0
    assert told("get", "secret", "--viewer", "jon").exit_code == 1
    assert "secret" not in told("list", "--viewer", "jon").stdout


def test_an_import_names_the_next_step(run: Run) -> None:
    """Who imported something is told how to ask it and how to learn from it, on the same file and in
    the same namespace; who imported nothing new is not."""
    said = json.dumps({"role": "user", "content": "My cat is called Momo.", "id": "1"})
    first = run("import", "-", "-n", "my cats", input=said).stdout
    assert re.search(r"Next: `langmemory search \"…\" --db \S+ -n 'my cats'` finds it", first)
    assert re.search(r"`langmemory reflect --db \S+ -n 'my cats'` turns it into facts", first)
    assert "Next" not in run("import", "-", "-n", "my cats", input=said).stdout


def test_the_package_is_the_command(tmp_path: Path) -> None:
    """`python -m langmemory` is the command line, under its own name."""
    command = [sys.executable, "-m", "langmemory", "sarch"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "langmemory --help" in done.stderr
