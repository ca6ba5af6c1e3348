"""Import, search, stats, export and reembed on a real file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from langmemory.context import Usage
from langmemory.stores import MemoryStore
from tests.cli.place import SAMPLE, Configure, Run

ANSI = re.compile(r"\x1b\[")


def test_import_says_what_it_did_and_repeats_without_effect(run: Run) -> None:
    """A second import of the same file adds nothing and says so."""
    first = run("import", SAMPLE)
    assert first.stdout == "Added 190 messages of 10 threads to memories/me\n"
    assert first.stderr == ""
    again = json.loads(run("import", SAMPLE, "--json").stdout)
    assert again == {
        "format": "messages",
        "read": 190,
        "added": 0,
        "known": 190,
        "skipped": 0,
        "threads": 10,
        "namespace": ["memories", "me"],
    }
    assert json.loads(run("stats", "--json").stdout)["items"] == 190


def test_only_what_was_said_is_remembered(run: Run, tmp_path: Path) -> None:
    """System prompts, tool results and empty messages are counted, not stored."""
    rows = [
        {"role": role, "content": content}
        for role, content in [
            ("system", "Be kind."),
            ("user", "What is the weather in Bergen?"),
            ("assistant", ""),
            ("tool", '{"rain": true}'),
            ("assistant", "Rain, of course."),
        ]
    ]
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(rows))
    said = run("import", file).stdout
    assert said == (
        "Added 2 messages of 1 threads to memories/me, 3 skipped (system, tool or empty)\n"
    )


def test_search_shows_what_when_who_and_why(filled: Run) -> None:
    """The table names the text, the day, the speaker, the score and the reasons."""
    shown = filled("search", "Which animal is Lola?", "--limit", "2").stdout
    for word in ("what", "when", "who", "score", "why", "podenco", "12 Jul 2026", "Lena", "ms"):
        assert word in shown
    assert "2 results" in shown


def test_search_fits_a_narrow_terminal(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 40 columns results stand under each other, with all of when, who and score."""
    monkeypatch.setenv("COLUMNS", "40")
    for options in ((), ("--explain",)):
        shown = filled("search", "Which animal is Lola?", "--limit", "2", *options).stdout
        assert re.search(r"\b0\.\d{3}\b", shown)
        assert "Lena" in shown
        assert max(map(len, shown.splitlines())) <= 40


def test_search_for_scripts_is_json(filled: Run) -> None:
    """--json prints results with their parts, and the trace."""
    found = json.loads(filled("search", "hazelnuts", "--limit", "3", "--json").stdout)
    first = found["results"][0]
    assert "hazelnuts" in first["text"]
    assert first["speaker"] in ("Lena", "Juno")
    assert first["at"].startswith("2026-02-03")
    assert first["key"].startswith("2026-02-03-oma-hilde/")
    assert first["namespace"] == ["memories", "me"]
    assert first["parts"]
    assert "milliseconds" in found["trace"]


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_piped_output_is_plain_and_fits(filled: Run, tmp_path: Path, columns: int) -> None:
    """Without a terminal there is no ANSI, and no line is wider than COLUMNS."""
    done = subprocess.run(
        [sys.executable, "-m", "langmemory.cli", "--db", "memory.db", "search", "the new flat"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": str(columns)},
        check=True,
    )
    assert not ANSI.search(done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= columns
    assert "Lena" in done.stdout


def test_explain_prints_the_stages(filled: Run) -> None:
    """--explain shows the recall's own account of itself."""
    assert filled("search", "the new flat", "--explain").exit_code == 0


def test_a_namespace_is_written_with_slashes_or_label_by_label(run: Run) -> None:
    """`-n a/b`, `-n a -n b` and options before the command mean the same place."""
    run("import", SAMPLE, "-n", "people/lena")
    assert "podenco" in run("search", "podenco", "-n", "people", "-n", "lena").stdout
    assert "podenco" in run("--namespace", "people/lena", "search", "podenco").stdout
    assert run("search", "podenco", "-n", "people/len").stdout == "Nothing found.\n"


def test_stats_reads_well(filled: Run) -> None:
    """stats names the counts, the kinds and the embedding model."""
    shown = filled("stats").stdout
    for words in ("190 (episodic 190)", "vectors", "langmemory/static-minilm-256", "MB"):
        assert words in shown


def test_usage_shows_which_memories_helped(run: Run, tmp_path: Path) -> None:
    """usage lists memories by how often they helped, as a table or JSON; --viewer leaves out other
    people's private ones."""
    assert run("import", SAMPLE).exit_code == 0
    assert run("usage").stdout == "No memory was shown to a model yet.\n"
    place = ("memories", "me")
    with MemoryStore(tmp_path / "memory.db") as store:
        store.put(place, "dog", {"text": "The dog is\na podenco. " * 9})
        store.put(place, "cat", {"text": "x", "privacy": "private", "owner": "bert"})
        counts = {"loaded": 2, "succeeded": 0, "read_tokens": 1_500, "discovery_tokens": 9}
        for key, referenced in (("cat", 0), ("dog", 1)):
            one: Usage = {"namespace": [*place], "key": key, "referenced": referenced, **counts}  # type: ignore[typeddict-item]
            store.count_usage([one])
    table = run("usage").stdout.splitlines()
    assert len(table) == 3
    assert table[1].startswith("The dog is a podenco.")
    assert re.search(r"2 +1 +0 +1,500 +9", table[1])
    found = json.loads(run("usage", "-n", "memories", "--viewer", "anna", "--json").stdout)
    assert [one["key"] for one in found] == ["dog"]
    assert found[0]["read_tokens"] == 1500


def test_export_and_import_lose_nothing(run: Run, tmp_path: Path) -> None:
    """Facets, times, times to live, history and odd keys survive export, import and export."""
    run("import", SAMPLE)
    with MemoryStore(tmp_path / "memory.db") as store:
        store.put(("notes", "größe"), "ключ/1", {"text": "Füße\n", "n": 2**60, "list": [None, 1.5]})
        store.put(("notes", "größe"), "ключ/1", {"text": "changed"})
        store.put(("notes",), "gone", {"text": "soon deleted"})
        store.delete(("notes",), "gone")
        store.put(("notes",), "short", {"text": "for an hour"}, ttl=60)
        before = [store.history(("notes",), "gone"), store.history(("notes", "größe"), "ключ/1")]
    assert run("export", "one.jsonl").exit_code == 0
    (tmp_path / "memory.db").rename(tmp_path / "old.db")
    assert run("import", "one.jsonl").exit_code == 0
    assert run("export", "two.jsonl").exit_code == 0
    assert rows(tmp_path / "two.jsonl") == rows(tmp_path / "one.jsonl")
    with MemoryStore(tmp_path / "memory.db") as store:
        after = [store.history(("notes",), "gone"), store.history(("notes", "größe"), "ключ/1")]
        assert [[entry.after for entry in entries] for entries in after] == [
            [entry.after for entry in entries] for entries in before
        ]
        assert store.recall("podenco", ("memories",), limit=1).results


def rows(file: Path) -> list[str]:
    """What an export says, whatever the order, the day, and the ids of what is deleted."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        row.pop("exported_at", None)
        row.pop("life", None)
        found.append(json.dumps(row, sort_keys=True))
    return sorted(found)


def test_importing_an_export_twice_changes_nothing(filled: Run) -> None:
    """An export imported into the file it came from adds no memory and no history."""
    filled("export", "one.jsonl")
    filled("import", "one.jsonl")
    filled("export", "two.jsonl")
    assert rows(Path("two.jsonl")) == rows(Path("one.jsonl"))


def test_export_of_a_namespace_leaves_the_others_out(filled: Run) -> None:
    """--namespace limits what is exported."""
    filled("import", SAMPLE, "-n", "other/one")
    exported = filled("export", "-n", "other").stdout.splitlines()
    items = [row for row in map(json.loads, exported) if row["type"] == "item"]
    assert len(items) == 190
    assert {tuple(item["namespace"]) for item in items} == {("other", "one")}


def test_another_model_is_refused_until_reembed(filled: Run, configure: Configure) -> None:
    """With another embedding model every command names the way out, and reembed is it."""
    configure(embedding="mock")
    refused = filled("search", "podenco")
    assert refused.exit_code == 1
    assert "langmemory reembed" in refused.stderr
    assert filled("reembed").exit_code == 0
    assert "podenco" in filled("search", "podenco").stdout
    assert json.loads(filled("stats", "--json").stdout)["model"] == "langmemory/mock@1"
