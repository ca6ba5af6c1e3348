"""Import, search, stats, export and reembed on a real file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from langmemory.context import Usage, disclose, usage
from langmemory.errors import DatabaseError
from langmemory.operations.admin import Admin
from langmemory.stores import MemoryStore
from tests.cli.place import SAMPLE, Configure, Run
from tests.postgres_server import place

ANSI = re.compile(r"\x1b\[")


def test_import_says_what_it_did_and_repeats_without_effect(run: Run) -> None:
    """A second import of the same file adds nothing and says so."""
    first = run("import", SAMPLE)
    assert first.stdout.startswith("Added 190 messages of 10 threads to memories/me\nNext: ")
    assert first.stderr == ""
    again = json.loads(run("import", SAMPLE, "--json").stdout)
    assert again == {
        "format": "messages",
        "read": 190,
        "added": 0,
        "known": 190,
        "unread": [],
        "skipped": 0,
        "redacted": {},
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
    assert said.startswith(
        "Added 2 messages of 1 thread to memories/me, 3 skipped (system, tool or empty)\n"
    )


def test_search_shows_what_when_who_and_why(filled: Run) -> None:
    """The table names the text, the day, the speaker, the score and the reasons."""
    shown = filled("search", "Which animal is Lola?", "--limit", "2").stdout
    for word in ("what", "when", "who", "score", "why", "podenco", "12 Jul 2026", "Lena", "ms"):
        assert word in shown
    assert "2 results" in shown


def test_scores_of_words_are_plain_numbers(run: Run) -> None:
    """A word that every memory has, or a query of hundreds, shows no power of ten."""
    text = " ".join(f"word{n}" for n in range(200))
    lines = [f"Ada said {text if n == 3 else n}" for n in range(40)]
    rows = [json.dumps({"role": "user", "content": line}) for line in lines]
    Path("talk.jsonl").write_text("\n".join(rows))
    run("import", "talk.jsonl")
    for query in ("Ada", text):
        assert not re.search(r"e[-+]\d", run("search", query).stdout)


def test_an_export_names_a_command_that_can_be_pasted(filled: Run) -> None:
    """A file name with spaces is quoted in what `export` says to run."""
    assert "`langmemory import 'my backup.jsonl'`" in filled("export", "my backup.jsonl").stdout


def test_search_fits_a_narrow_terminal(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 40 columns results stand under each other, with all of when, who and score."""
    monkeypatch.setenv("COLUMNS", "40")
    for options in ((), ("--explain",)):
        shown = filled("search", "Which animal is Lola?", "--limit", "2", *options).stdout
        assert re.search(r"\b0\.\d{3}\b", shown)
        assert "Lena" in shown
        assert max(map(len, shown.splitlines())) <= 40


def said(*turns: tuple[str, str]) -> Path:
    """A file to import: speakers, and what they say."""
    rows = [{"role": "user", "name": name, "content": text} for name, text in turns]
    file = Path("talk.jsonl")
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@pytest.mark.parametrize("columns", [60, 100])
def test_what_was_said_gives_the_terminal_no_orders(
    run: Run, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Names and texts may look like markup, emoji codes or escape sequences: they are shown as they
    are, without the control characters."""
    monkeypatch.setenv("COLUMNS", str(columns))
    talk = said(("[/]", "tea \x1b[2J :smile: [red]hot[/red]"), ("[bold]", "tea \x1b]0;title\x07"))
    run("import", talk)
    key = json.loads(run("search", "tea", "--json").stdout)["results"][-1]["memory"]["key"]
    run("core", "set", "human", "tea \x1b[31m :smile:")
    for command in (
        ("search", "tea"), ("search", "tea", "--explain"), ("history", key), ("core", "list"),
        ("core", "show", "human"), ("core", "history", "human"), ("forget", "--key", key),
    ):  # fmt: skip
        shown = run(*command).output
        assert "tea" in shown, command
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown), command
        assert "😄" not in shown
    for options in ((), ("--explain",)):
        shown = run("search", "tea", *options).stdout
        assert "[/]" in shown
        assert "[bold]" in shown
        assert "[red]hot[/red]" in " ".join(shown.split())


def test_a_text_without_spaces_is_not_cut(run: Run) -> None:
    """Chinese has no spaces to break a line at: it goes on in the next one, in tables, too."""
    text = "我们家的水管坏了,需要找一个好的水管工来修理,越快越好,最好是明天上午九点以前。"
    run("import", said(("张伟", text)))
    shown = run("search", "水管工").stdout
    assert all(letter in shown for letter in text)
    assert "…" not in shown


@pytest.mark.parametrize("columns", [60, 100])
def test_results_of_several_namespaces_say_where_they_are(
    run: Run, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """A search of the whole file tells whose memories it found; one of a namespace need not, and
    names it where it found nothing."""
    monkeypatch.setenv("COLUMNS", str(columns))
    for name in ("ada", "ben"):
        run("import", said((name, "I drink tea.")), "-n", f"memories/{name}")
    shown = run("search", "tea").stdout
    assert "memories/ada" in shown
    assert "memories/ben" in shown
    assert "memories/" not in run("search", "tea", "-n", "memories/ada").stdout
    assert run("search", "tea", "-n", "a/b").stdout == "Nothing found in a/b.\n"


@pytest.mark.parametrize("columns", [90, 100, 106, 140])
@pytest.mark.parametrize("several", [False, True])
def test_a_long_name_leaves_the_text_its_room(
    run: Run, monkeypatch: pytest.MonkeyPatch, columns: int, several: bool
) -> None:
    """Beside a long speaker and a long namespace, no text is squeezed into a few columns."""
    monkeypatch.setenv("COLUMNS", str(columns))
    speaker = "Anna Katharina von Hohenberg-Lichtenstein"
    for space in ("google-oauth2-103547991597142817347", "b")[: 1 + several]:
        run("import", said((speaker, "I drink green tea in the morning.")), "-n", space)
    assert "green tea in" in run("search", "tea").stdout


def test_search_for_scripts_is_json(filled: Run) -> None:
    """--json prints results with their parts, and the trace."""
    found = json.loads(filled("search", "hazelnuts", "--limit", "3", "--json").stdout)
    parts, first = found["results"][0]["parts"], found["results"][0]["memory"]
    assert "hazelnuts" in first["text"]
    assert first["speaker"] in ("Lena", "Juno")
    assert first["valid_at"].startswith("2026-02-03")
    assert first["key"].startswith("2026-02-03-oma-hilde/")
    assert first["namespace"] == ["memories", "me"]
    assert parts
    assert "milliseconds" in found["trace"]


@pytest.mark.parametrize("columns", [40, 60, 70])
def test_no_word_is_cut_in_a_narrow_terminal(
    filled: Run, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Where the columns of a table would be too narrow for its text, nothing of it is left out."""
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = " ".join(filled("search", "who sings at work?", "--limit", "1").stdout.split())
    assert "We're eight people in an old ceramics workshop near the Serranos towers." in shown


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [60, 100])
def test_piped_output_is_plain_and_fits(filled: Run, columns: int) -> None:
    """Output into a pipe has no ANSI codes, and no line is wider than COLUMNS."""
    command = f"{sys.executable} -m langmemory search 'the new flat'"
    found = shell(command, COLUMNS=str(columns))
    assert found.returncode == 0, found.stderr
    shown = found.stdout.decode()
    assert not ANSI.search(shown)
    assert max(map(len, shown.splitlines())) <= columns
    assert "Lena" in shown


def test_explain_prints_the_stages(filled: Run) -> None:
    """--explain shows the recall's own account of itself."""
    told = filled("search", "the new flat", "--explain").stdout
    for words in ("found by", "preset balanced", "understood: ", "candidates: ", "ms: intent "):
        assert words in told


def test_a_namespace_is_written_with_slashes_or_label_by_label(run: Run) -> None:
    """`-n a/b`, `-n a -n b` and options before the command mean the same place."""
    run("import", SAMPLE, "-n", "people/lena")
    assert "podenco" in run("search", "podenco", "-n", "people", "-n", "lena").stdout
    assert "podenco" in run("--namespace", "people/lena", "search", "podenco").stdout
    assert run("search", "podenco", "-n", "people/len").stdout == "Nothing found in people/len.\n"


def test_a_label_may_have_a_slash(run: Run) -> None:
    """A user id such as `google/17` is one label where labels are given one at a time."""
    with MemoryStore("memory.db") as store:
        store.put(("people", "google/17"), "dog", {"text": "Bello is a podenco."})
    assert "podenco" in run("search", "podenco", "-n", "people", "-n", "google/17").stdout
    nothing = run("search", "podenco", "-n", "people/google/17").stdout
    assert nothing == "Nothing found in people/google/17.\n"


def test_stats_reads_well(filled: Run) -> None:
    """stats names the counts, the kinds and the embedding model."""
    shown = filled("stats").stdout
    for words in ("190 (episodic 190)", "vectors", "langmemory/static-256", "MB"):
        assert words in shown


def test_usage_shows_which_memories_helped(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """usage lists memories by how often they helped, as a table, in a narrow terminal as a list, or
    as JSON; --viewer leaves out other people's private ones."""
    assert run("import", SAMPLE).exit_code == 0
    assert run("usage").stdout == "No memory was shown to a model yet.\n"
    place = ("memories", "me")
    with MemoryStore(tmp_path / "memory.db") as store:
        store.put(place, "dog", {"text": "The dog is\na podenco. " * 9})
        store.put(place, "cat", {"text": "x", "privacy": "private", "owner": "bert"})
        counts = {"loaded": 2, "succeeded": 0, "read_tokens": 1_500, "discovery_tokens": 9}
        for key, referenced in (("cat", 0), ("dog", 1)):
            one: Usage = {"namespace": [*place], "key": key, "referenced": referenced, **counts}  # type: ignore[typeddict-item]
            store.admin.count_usage([one])
    table = run("usage").stdout.splitlines()
    assert len(table) == 4
    assert table[1].startswith("The dog is a podenco.")
    assert re.search(r"2 +1 +0 +1,500 +9 +-1,482$", table[1].rstrip())
    assert table[-1].startswith("Saved by these: -2,964 tokens")
    monkeypatch.setenv("COLUMNS", "60")
    text, *figures = run("usage").stdout.splitlines()[:3]
    assert text.startswith("The dog is a podenco.")
    assert " ".join(" ".join(figures).split()) == (
        "shown 2 · cited 1 · right 0 · tokens read 1,500 · tokens to find 9 · tokens saved -1,482"
    )
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
        before = [
            store.changes.history(("notes",), "gone"),
            store.changes.history(("notes", "größe"), "ключ/1"),
        ]
    assert run("export", "one.jsonl").exit_code == 0
    new = ("--db", place(tmp_path / "new.db"))
    assert run("import", "one.jsonl", *new).exit_code == 0
    assert run("export", "two.jsonl", *new).exit_code == 0
    assert rows(tmp_path / "two.jsonl") == rows(tmp_path / "one.jsonl")
    with MemoryStore(tmp_path / "new.db") as store:
        after = [
            store.changes.history(("notes",), "gone"),
            store.changes.history(("notes", "größe"), "ключ/1"),
        ]
        assert [[entry.after for entry in entries] for entries in after] == [
            [entry.after for entry in entries] for entries in before
        ]
        assert store.recall("podenco", ("memories",), limit=1).results


def rows(file: Path) -> list[str]:
    """Return the rows of an export without order, day, and the ids of deleted memories."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        row.pop("exported_at", None)
        row.pop("life", None)
        found.append(json.dumps(row, sort_keys=True))
    return sorted(found)


def test_an_export_with_facts_and_runs_comes_back_whole(reflected: Run, tmp_path: Path) -> None:
    """Records of reflection, undo and usage move to another file together with the memories."""
    reflected("undo", json.loads(reflected("runs", "--limit", "1", "--json").stdout)[0]["id"])
    with MemoryStore(tmp_path / "memory.db") as store:
        [shown] = store.recall("hazelnuts", ("memories",), limit=1).results
        store.admin.count_usage(usage("", disclose([shown])))
    reflected("export", "one.jsonl")
    types = {json.loads(row)["type"] for row in rows(Path("one.jsonl"))}
    assert types >= {"item", "history", "run", "evidence", "entity", "edge", "reflected", "usage"}
    assert reflected("import", "one.jsonl", "--db", "new.db").exit_code == 0
    reflected("export", "two.jsonl", "--db", "new.db")
    assert rows(Path("two.jsonl")) == rows(Path("one.jsonl"))


def test_importing_an_export_twice_changes_nothing(filled: Run) -> None:
    """An export imported into the file it came from adds no memory and no history."""
    filled("export", "one.jsonl")
    filled("import", "one.jsonl")
    filled("export", "two.jsonl")
    assert rows(Path("two.jsonl")) == rows(Path("one.jsonl"))


def test_an_export_goes_where_it_came_from(filled: Run) -> None:
    """A namespace for the import of an export is refused, rather than left unheeded."""
    filled("export", "one.jsonl")
    refused = filled("import", "one.jsonl", "--db", "new.db", "-n", "another/place")
    assert refused.exit_code == 1
    assert "leave --namespace out" in refused.stderr
    assert not Path("new.db").exists()


@pytest.mark.sqlite("is about a file")
@pytest.mark.parametrize("command", [("export",), ("graph", "--graphml")])
def test_the_memory_file_is_never_written_over(filled: Run, command: tuple[str, ...]) -> None:
    """A slip of the tongue such as `export memory.db` is refused, and the file is as it was."""
    Path("link").symlink_to("memory.db")
    for file in ("memory.db", "link"):
        refused = filled(*command, file)
        assert refused.exit_code == 1
        assert "is the memory file" in refused.stderr
    assert json.loads(filled("stats", "--json").stdout)["items"] == 190


def test_a_backup_stays_until_the_next_one_is_whole(
    filled: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export that breaks off leaves the file of the export before, and nothing beside it."""
    backup = Path("backup.jsonl")
    assert filled("export", backup).exit_code == 0
    backup.chmod(0o600)
    before = backup.read_bytes(), backup.stat().st_mode
    with monkeypatch.context() as disk:
        disk.setattr(Admin, "export", breaks_off)
        assert filled("export", backup).exit_code == 1
    assert (backup.read_bytes(), backup.stat().st_mode) == before
    assert filled("export", backup).exit_code == 0
    assert backup.stat().st_mode == before[1]
    assert [one.name for one in Path().iterdir() if one.name != "memory.db"] == ["backup.jsonl"]


def breaks_off(store: MemoryStore, prefix: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """An export from a disk that fails after some rows."""
    yield {"type": "meta"}
    raise DatabaseError("The disk reported an error.")


@pytest.mark.thorough
def test_what_comes_through_a_pipe_is_imported(filled: Run) -> None:
    """`langmemory export | langmemory import /dev/stdin` copies a file; a bad line is named."""
    program = f"{sys.executable} -m langmemory"
    copied = shell(f"{program} export | {program} import /dev/stdin --db new.db")
    assert copied.stdout == b"Restored 190 memories of /dev/stdin\n"
    Path("bard.jsonl").write_text('{"role": "bard", "content": "a"}')
    bad = shell(f"cat bard.jsonl | {program} import /dev/stdin")
    assert bad.stderr.startswith(b"langmemory: /dev/stdin, line 1: role is 'bard'")


@pytest.mark.sqlite("names files")
def test_a_dash_is_a_pipe(filled: Run) -> None:
    """`export -` and `import -` are stdout and stdin, and no file of that name."""
    exported = filled("export", "-").stdout
    assert filled("import", "-", "--db", "new.db", input=exported).stdout == (
        "Restored 190 memories of stdin\n"
    )
    said = '{"role": "user", "content": "My cat is called Momo."}'
    added = filled("import", "-", input=said).stdout
    assert added.startswith("Added 1 message of 1 thread to memories/me\n")
    assert {file.name for file in Path().iterdir()} == {"memory.db", "new.db"}


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        env={**os.environ, **environment},
        timeout=60,
    )


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_that_lacks_letters_ends_no_command(filled: Run, encoding: str) -> None:
    """Where stdout is not UTF-8, tables show ? for what it lacks, and JSON loses nothing."""
    with MemoryStore("memory.db") as store:
        store.put(("notes",), "n", {"text": "Tomás kennt 小红."})
    program, lacking = f"{sys.executable} -m langmemory", {"PYTHONIOENCODING": encoding}
    found = shell(f"{program} search 小红 -n notes", **lacking)
    assert found.returncode == 0, found.stderr
    assert b"kennt ??." in found.stdout
    written = shell(f"{program} export -n notes", **lacking).stdout.decode(encoding)
    assert json.loads(written.splitlines()[1])["value"] == {"text": "Tomás kennt 小红."}


def test_export_of_a_namespace_leaves_the_others_out(filled: Run) -> None:
    """--namespace limits what is exported."""
    filled("import", SAMPLE, "-n", "other/one")
    exported = filled("export", "-n", "other").stdout.splitlines()
    items = [row for row in map(json.loads, exported) if row["type"] == "item"]
    assert len(items) == 190
    assert {tuple(item["namespace"]) for item in items} == {("other", "one")}


def test_what_needs_no_vectors_works_with_every_model(run: Run, tmp_path: Path) -> None:
    """A file of an application that passes its own embedder can be looked at, exported and copied, and
    its core memory edited."""

    def own(texts: list[str]) -> list[list[float]]:
        return [[1.0, float(len(text))] for text in texts]

    with MemoryStore("memory.db", index={"embed": own, "dims": 2}) as store:
        store.put(("memories", "me"), "k", {"text": "tea"})
    assert "langmemory reembed" in run("search", "tea").stderr
    for command in (
        "stats --json", "export", "history k --json", "runs --json", "jobs --json", "journal",
        "usage --json", "graph", "core set human x", "core show human", "core undo human",
    ):  # fmt: skip
        done = run(*command.split())
        assert (done.exit_code, done.stderr) == (0, ""), command
    assert json.loads(run("stats", "--json").stdout)["vectors"] == 1


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["export", "journal", "graph --json", "stats --json"])
def test_a_closed_stdout_ends_no_command(filled: Run, command: str) -> None:
    """Where a service has closed stdout, commands print to nowhere."""
    done = shell(f"exec {sys.executable} -m langmemory {command} >&-")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.thorough
def test_a_closed_stdin_is_an_empty_one(filled: Run) -> None:
    """Where a service has closed stdin, who asks gets no answer, and no error of Python's."""
    program = f"exec {sys.executable} -m langmemory"
    nothing = shell(f"{program} import - <&-")
    assert nothing.stderr.startswith(b"langmemory: stdin is empty; expected JSONL")
    asked = shell(f"{program} forget --entity Lena <&-")
    assert (asked.returncode, asked.stderr) == (1, b"\nlangmemory: stopped\n")


def test_another_model_is_refused_until_reembed(filled: Run, configure: Configure) -> None:
    """With another embedding model what needs vectors names the way out, and reembed is it."""
    configure(embedding="mock")
    refused = filled("search", "podenco")
    assert refused.exit_code == 1
    assert "langmemory reembed" in refused.stderr
    assert filled("reembed").exit_code == 0
    assert "podenco" in filled("search", "podenco").stdout
    assert json.loads(filled("stats", "--json").stdout)["model"] == "langmemory/mock@1"


def test_a_file_without_vectors_has_none_to_move(run: Run, configure: Configure) -> None:
    """reembed on an empty file names no model."""
    run("core", "set", "human", "Ida takes the stairs.")
    configure(embedding="mock")
    assert run("reembed").stdout == "There are no vectors to move: no memory has one\n"


def test_init_names_commands_that_can_be_pasted(run: Run) -> None:
    """A folder with a space in its name is quoted."""
    assert "Go on:  cd 'my bot' && pip install" in run("init", "my bot").stdout


def test_init_here_names_no_folder(run: Run) -> None:
    """Who is in the folder already need not go there."""
    assert "Go on:  pip install" in run("init", ".").stdout
