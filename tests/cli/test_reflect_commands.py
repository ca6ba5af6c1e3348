"""`reflect`, `runs`, `undo`, `history`, `reviews`, `journal`: knowledge as a person handles it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.changes import AddMemory, Change, ChangeSet, Invalidate, OpenReview
from tests.cli.place import Configure, Run
from tests.ollama_server import OllamaServer


def moved(run: Run) -> str:
    """The run in which Lena moved."""
    rows = json.loads(run("runs", "--json").stdout)
    return str(next(row["id"] for row in rows if row["note"]["superseded"]))


def shown(text: str) -> str:
    return " ".join(text.split())


def test_reflect_reports_and_a_second_time_has_nothing_to_do(filled: Run) -> None:
    """Facts, what they replaced and the sum are shown; then everything has been read."""
    first = shown(filled("reflect").stdout)
    assert "+ Lena lives in Hamburg." in first
    assert "– Lena lives in Hamburg." in first
    assert "10 batches" in first
    assert "0 model calls" in first
    assert filled("reflect").stdout == "Everything has been read.\n"
    assert json.loads(filled("reflect", "--json").stdout) == {
        "runs": 0,
        "added": 0,
        "superseded": 0,
        "reviews": 0,
        "model_calls": 0,
    }


def test_a_dry_run_prints_the_plan_and_writes_nothing(filled: Run, tmp_path: Path) -> None:
    """The plan of each conversation is shown, and the file is as before."""
    with MemoryStore(tmp_path / "memory.db") as store:
        before = list(store.admin.export())[1:]
    plan = filled("reflect", "--dry-run").stdout
    assert "'Lena lives in Hamburg.'" in plan
    assert plan.endswith("Nothing was written.\n")
    assert len(json.loads(filled("reflect", "--dry-run", "--json").stdout)) == 10
    with MemoryStore(tmp_path / "memory.db") as store:
        assert list(store.admin.export())[1:] == before


def test_a_dry_run_counts_the_turns_that_were_read(filled: Run) -> None:
    """Of turns that taught nothing a plan says how many were read, and not a key of each."""
    plan = json.loads(
        filled("reflect", "--thread", "2026-04-19-an-offer", "--dry-run", "--json").stdout
    )
    assert plan == {"memories/me/2026-04-19-an-offer": ["reflected 19 turns"]}


def test_the_journal_for_scripts_is_json(reflected: Run, tmp_path: Path) -> None:
    """--json prints the pages with their sessions, or how many files were changed."""
    pages = json.loads(reflected("journal", "--day", "2026-01-11", "--json").stdout)
    assert [(page["namespace"], page["day"]) for page in pages] == [
        (["memories", "me"], "2026-01-11")
    ]
    assert pages[0]["sessions"][0]["learned"]
    assert json.loads(reflected("journal", "--day", "1999-01-01", "--json").stdout) == []
    built = reflected("journal", "--rebuild", "--path", tmp_path / "pages", "--json").stdout
    assert json.loads(built)["changed"] > 0


def test_what_failed_or_was_undone_is_read_again(reflected: Run) -> None:
    """--again alone means batches that failed; --run names any, also one that was undone."""
    assert reflected("reflect", "--again").stdout == (
        "0 batches to be read again\nEverything has been read.\n"
    )
    run = moved(reflected)
    assert reflected("undo", run).exit_code == 0
    assert "Everything has been read." in reflected("reflect", "--again").stdout
    assert "+ Lena" in shown(reflected("reflect", "--again", "--run", run).stdout)
    for wrong in (
        ["--run", run],
        ["--again", "--run", run, "--thread", "t"],
        ["--again", "--dry-run"],
    ):
        assert reflected("reflect", *wrong).exit_code == 2


def test_one_conversation_can_be_reflected(filled: Run) -> None:
    """--thread and --namespace choose what is read."""
    assert (
        json.loads(filled("reflect", "--thread", "2026-01-11-hello", "--json").stdout)["runs"] == 1
    )
    assert "has been read" in filled("reflect", "-n", "memories/nobody").stdout
    assert json.loads(filled("reflect", "--json").stdout)["runs"] == 9


def test_runs_are_listed_and_undone(reflected: Run) -> None:
    """A dry run of undo changes nothing; undoing brings the fact back, and reflect does not redo it."""
    assert "superseded" in reflected("runs").stdout
    run = moved(reflected)
    planned = " ".join(reflected("undo", run, "--dry-run").stdout.split())
    assert "Nothing was changed" in planned
    assert "“Lena works at" in planned
    assert "Undone" in reflected("undo", run).stdout
    assert "was undone before" in reflected("undo", run).stdout
    assert "Everything has been read" in reflected("reflect").stdout
    refused = reflected("undo", "reflect/none")
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1


def test_runs_fit_a_narrow_terminal(reflected: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a narrow terminal runs stand under each other, with their ids whole: `undo` takes nothing less."""
    monkeypatch.setenv("COLUMNS", "40")
    lines = reflected("runs").stdout.splitlines()
    assert all(run["id"] in lines for run in json.loads(reflected("runs", "--json").stdout))


def test_a_fact_and_a_person_fit_a_narrow_terminal(
    reflected: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In 60 columns nothing of them is cut or broken within a word, and run ids can be copied."""
    monkeypatch.setenv("COLUMNS", "60")
    lines = reflected("graph", "Lena").stdout.splitlines()
    assert "works at → Kontur Verlag  2026-01-11 – 2026-06-19" in lines
    assert "  Lena works at Kontur Verlag as a cartographer." in lines
    fact = json.loads(reflected("search", "Kontur Verlag cartographer", "--json").stdout)
    key = next(key for one in fact["results"] if (key := one["memory"]["key"]).startswith("fact/"))
    rows = json.loads(reflected("history", key, "--json").stdout)
    shown = reflected("history", key).stdout
    assert all(row["run_id"] in shown for row in rows)
    assert max(map(len, shown.splitlines())) <= 60


def test_the_history_of_a_fact(reflected: Run, tmp_path: Path) -> None:
    """Every change of a memory with its reason; a key that never was is an error on one line."""
    with MemoryStore(tmp_path / "memory.db") as store:
        found = store.search(("memories", "me"), filter={"object": "Hamburg"})
    [key] = [item.key for item in found if item.value["relation"] == "lives_in"]
    assert [row["action"] for row in json.loads(reflected("history", key, "--json").stdout)] == [
        "add",
        "supersede",
    ]
    assert "only one “lives in” holds at a time" in shown(reflected("history", key).stdout)
    assert reflected("history", "fact/none").exit_code == 1


@pytest.fixture
def asked(run: Run, tmp_path: Path) -> Run:
    """A question about two facts."""
    changes: list[Change] = [
        AddMemory(key=f"fact/{day}", value={"text": f"Ida was born on {day} May."}) for day in "35"
    ]
    options: dict[str, tuple[Change, ...]] = {
        "both": (),
        "new": (Invalidate(key="fact/3", invalid_at=datetime(2026, 1, 1, tzinfo=UTC)),),
    }
    review = OpenReview(
        id="review/1", about="contradiction", question="Which of these holds?",
        memories=("fact/5", "fact/3"), options=options,
    )  # fmt: skip
    with MemoryStore(tmp_path / "memory.db") as store:
        store.changes.apply(
            ChangeSet(
                namespace=("memories", "me"),
                run_id="reflect/1",
                kind="reflection",
                reason="test",
                changes=(*changes, review),
            )
        )
    return run


def test_reviews_are_shown_and_decided(asked: Run) -> None:
    """A question is shown with its memories and the command that answers it; decided, it is gone,
    and the decision can be taken back."""
    text = shown(asked("reviews").stdout)
    assert (
        "Which of these holds? contradiction · Ida was born on 5 May. · Ida was born on 3" in text
    )
    assert "langmemory reviews --decide review/1 both|new" in text
    assert asked("reviews", "--decide", "review/1", "perhaps").exit_code == 1
    decided = asked("reviews", "--decide", "review/1", "new", "--by", "Ida")
    assert decided.exit_code == 0, decided.output
    assert asked("reviews").stdout == "Nothing is to be decided.\n"
    assert "decided: new" in asked("reviews", "--all").stdout
    assert "Undone" in asked("undo", decided.stdout.split()[-1]).stdout
    once_more = json.loads(asked("reviews", "--decide", "review/1", "new", "--json").stdout)
    assert "Undone" in asked("undo", once_more["run_id"]).stdout
    assert [row["id"] for row in json.loads(asked("reviews", "--json").stdout)] == ["review/1"]


def test_an_undo_and_a_decision_for_scripts_are_json(asked: Run) -> None:
    """--json prints what a decision did, and in the same words what an undo of it did or would do."""
    decided = json.loads(asked("reviews", "--decide", "review/1", "new", "--json").stdout)
    run_id = decided["run_id"]
    plan = json.loads(asked("undo", run_id, "--dry-run", "--json").stdout)
    assert plan["dry_run"]
    assert asked("reviews").stdout == "Nothing is to be decided.\n"
    done = json.loads(asked("undo", run_id, "--json").stdout)
    assert (done["run_id"], done["dry_run"]) == (f"undo/{run_id}", False)
    assert done["changed"] == plan["changed"] == decided["changed"] == ["fact/3"]
    assert done.keys() == plan.keys() == decided.keys()


def test_a_decision_is_listed_once(asked: Run) -> None:
    """The line of a run shows its decision in one place."""
    asked("reviews", "--decide", "review/1", "new")
    assert asked("runs", "-k", "1").stdout.count("new") == 1


def test_the_journal_is_shown_and_written(reflected: Run, tmp_path: Path) -> None:
    """The last day or a given one; --rebuild writes the files, once, and needs to know where."""
    assert reflected("journal").stdout.startswith("# Sunday, 8 November 2026")
    assert "Katrin lives in Bremen." in reflected("journal", "--day", "2026-01-11").stdout
    assert "Nothing was learned" in reflected("journal", "--day", "2020-01-01").stdout
    assert "journal.path" in reflected("journal", "--rebuild").stderr
    assert "goes with --rebuild" in reflected("journal", "--path", tmp_path / "pages").stderr
    folder = tmp_path / "pages"
    assert "files of" in reflected("journal", "--rebuild", "--path", folder).stdout
    assert len(list(folder.rglob("*.md"))) > 3
    assert reflected("journal", "--rebuild", "--path", folder).stdout.startswith("Changed 0 files")


def test_rebuilding_the_journal_distils_months(run: Run, tmp_path: Path) -> None:
    """--rebuild writes a page for each month that is over, with its days in the archive, and says the same
    the second time."""
    talk, folder = tmp_path / "talk.jsonl", tmp_path / "pages"
    said = {"role": "user", "name": "Ada", "content": "I live in Oslo.", "at": "2024-05-02"}
    talk.write_text(json.dumps(said))
    run("import", talk, "-n", "memories/ada")
    run("reflect")
    run("journal", "--rebuild", "--path", folder)
    here = folder / "memories" / "ada"
    assert "Ada lives in Oslo. ([2 May])" in (here / "2024-05.md").read_text(encoding="utf-8")
    assert (here / "archive" / "2024-05" / "2024-05-02.md").is_file()
    again = run("journal", "--rebuild", "--path", folder).stdout
    assert again.startswith("Changed 0 files")


def test_a_journal_of_several_people_says_whose_it_is(run: Run, tmp_path: Path) -> None:
    """Each page of a file of several namespaces stands under its own."""
    talk = tmp_path / "talk.jsonl"
    for name in ("Ada", "Ben"):
        said = {"role": "user", "name": name, "content": "I live in Oslo.", "at": "2026-01-02"}
        talk.write_text(json.dumps(said))
        run("import", talk, "-n", f"memories/{name.lower()}")
    run("reflect")
    lines = run("journal").stdout.splitlines()
    assert [line for line in lines if line.startswith("memories/")] == [
        "memories/ada",
        "memories/ben",
    ]
    assert run("journal", "-n", "memories/ada").stdout.startswith("# Friday, 2 January 2026")


def test_undo_and_reviews_keep_the_configured_journal(filled: Run, tmp_path: Path) -> None:
    """With journal.path configured, reflect writes the files and undo corrects them."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "memory.json").write_text('{"journal": {"path": "journal"}}')
    filled("reflect")
    page = next((tmp_path / "journal").rglob("2026-07-12.md"))
    assert "Lena lives in Valencia." in page.read_text()
    filled("undo", moved(filled))
    assert not page.exists()


def test_a_run_that_is_read_again_brings_nothing_else_along(reflected: Run, tmp_path: Path) -> None:
    """`--again --run X` reads what X read: neither other conversations that wait, nor later turns of
    its own."""
    run = moved(reflected)
    thread = next(
        row["note"]["thread_id"]
        for row in json.loads(reflected("runs", "--json").stdout)
        if row["id"] == run
    )
    with MemoryStore(tmp_path / "memory.db") as store:
        for where in (thread, "another"):
            said = {"role": "user", "name": "Lena", "content": "I have a cat called Zorro."}
            store.remember(("memories", "me"), [said], thread_id=where)
    reflected("undo", run)
    again = shown(reflected("reflect", "--again", "--run", run).stdout)
    assert "1 batch to be read again" in again
    assert "1 batch, " in again
    assert "+ Lena lives in Valencia." in again
    assert "Zorro" not in again
    assert "0 batches to be read again Everything has been read." in shown(
        reflected("reflect", "--again", "--run", run).stdout
    )
    assert "Zorro" in reflected("reflect").stdout


def test_an_extraction_that_failed_is_an_error_with_its_reason(
    filled: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """Where a model's answers cannot be used, the exit code is 1 and stderr says why and what to do;
    the run keeps the reason, and a dry run tells it as well."""
    configure(deep="ollama:llama-test")
    ollama.always("I would rather not.")
    for options in (("--dry-run",), (), ("--again", "--json")):
        failed = filled("reflect", "--thread", "2026-01-11-hello", *options)
        assert failed.exit_code == 1, options
        assert "1 of 1 batch could not be extracted: ExtractionError: llama-test" in failed.stderr
        assert "`langmemory reflect --again` reads it once more" in failed.stderr
    notes = [row["note"] for row in json.loads(filled("runs", "--json").stdout)]
    assert (
        "llama-test answered twice" in next(note for note in notes if "problem" in note)["problem"]
    )
