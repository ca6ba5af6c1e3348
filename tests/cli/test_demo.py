"""The demo and the sample it stands on."""

from __future__ import annotations

import json
import ntpath
import os
import re
import runpy
import subprocess
import sys
from collections import defaultdict
from datetime import datetime
from io import StringIO
from pathlib import Path

import pytest

from langmemory.cli.screen import Screen
from langmemory.parts.demo.command import NAMESPACE, TOP, answer, ask, program, questions
from langmemory.parts.demo.story import example_answer, show_picture
from langmemory.parts.importing.importing import import_conversations
from langmemory.stores import MemoryStore
from tests.cli.place import CLOSED_PORT, ROOT, SAMPLE
from tests.graph_world import NAMESPACE as WORLD
from tests.graph_world import furnish
from tests.ollama_server import OllamaServer


def test_the_sample_is_a_well_formed_conversation_over_months() -> None:
    """The sample has ten sessions in order of time, unique ids, two speakers who take turns."""
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len(rows) == 190
    times = [datetime.fromisoformat(row["at"]) for row in rows]
    assert times == sorted(times)
    assert all(time.tzinfo for time in times)
    assert (times[-1] - times[0]).days > 240
    threads: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        threads[row["thread"]].append(row["role"])
    assert len(threads) == 10
    for roles in threads.values():
        assert roles == (["user", "assistant"] * 10)[: len(roles)]


def test_recall_answers_the_questions_about_the_sample(tmp_path: Path) -> None:
    """For at least eleven of the twelve questions, an expected message is among the first three."""
    with MemoryStore(tmp_path / "memory.db") as store:
        with SAMPLE.open("rb") as stream:
            import_conversations(store, NAMESPACE, stream, "messages")
        missed = [q.question for q in questions() if answer(store, q).rank is None]
    assert len(questions()) == 12
    assert len(missed) <= 1, f"not among the first {TOP}: {missed}"


def demo(cwd: Path, **environment: str) -> str:
    pictures = cwd.with_name("pictures")
    pictures.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "langmemory", "demo"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, "TMPDIR": str(pictures), **environment},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.thorough
def test_the_demo_tells_its_story_without_a_model(tmp_path: Path) -> None:
    """Piped at 80 columns, without Ollama: import, answers, knowledge, second process, context, a year. It
    takes no settings but the chat model: a configured model reads nothing of the sample, a configured
    embedder embeds nothing of it, and a configured journal tells nothing of it."""
    journal, settings = tmp_path.with_name("journal"), tmp_path.with_name("settings.json")
    models = {"deep": "anthropic:x", "embedding": "mock"}
    settings.write_text(json.dumps({"models": models, "journal": {"path": str(journal)}}))
    own = {"LANGMEMORY_CONFIG": str(settings), "MOCK_EMBEDDINGS": "1"}
    shown = demo(tmp_path, COLUMNS="80", OLLAMA_URL=CLOSED_PORT, **own)
    assert not journal.exists()
    assert "\x1b" not in shown
    for line in shown.splitlines():
        assert len(line) <= 80 or line.startswith(("  langmemory ", "All of it as a picture: "))
    assert "190 messages of 10 conversations" in shown
    for question in questions():
        assert question.question.split()[0] in shown
    assert re.search(r"1[12] of 12 answers among the first 3", shown)
    block, label, answer = shown.partition(
        "An example of an answer (written by hand from the block"
    )
    assert label
    for word in ("July 2027", "1 February", "teacher", "Lagazuoi", "30"):
        assert word in answer
        assert word in " ".join(block.partition("from memory, ")[2].replace("│", " ").split())
    reflected = " ".join(shown.partition("Reflect")[2].partition("Reopen")[0].split())
    for words in (
        "190 messages read in", "– Lena lives in Hamburg.", "in March Lena lives in Hamburg.",
        "now Lena lives in Valencia.", "supersede: only one “lives in” holds at a time",
        "in the graph: Lena <-sibling_of- Katrin -parent_of-> Emil", "langmemory undo reflect/",
    ):  # fmt: skip
        assert words in reflected
    picture = tmp_path.with_name("pictures") / "langmemory-demo.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "the same 3 memories in the same order" in shown
    year = " ".join(shown.partition("6  Age")[2].split())
    for words in (
        "1.00 timeless Emil is allergic to hazelnuts.", "1.00 habitual Fritzi is Lena's friend.",
        "Should every prompt say: Emil is allergic",
        "put away 'Lena no longer works at Kontur Verlag.' (unused for", "Does it still matter?",
        "delete, extend, pin, leave", "The summary of 2026", "Lena lives in Valencia.",
        "memory is the same as before.",
    ):  # fmt: skip
        assert words in year
    kept = year.partition("What changed")[2].partition("The summary")[0]
    assert not re.search(r"Fritzi|Tomás|Aigua Clara|lives in", kept), "what matters does not fade"
    assert "Lena is vegetarian." not in year.partition("What changed")[0], "it no longer holds"
    assert shown.rstrip().endswith("in a browser, at http://127.0.0.1:8765/memory/")
    assert list(tmp_path.iterdir()) == []


def test_the_demo_begins_with_a_hit_and_counts_what_it_shows(tmp_path: Path) -> None:
    """The first question shown is answered first, each has a mark for either store, and the sums under
    them are those of the marks."""
    screen = Screen(file=StringIO(), record=True, width=80)
    with MemoryStore(tmp_path / "memory.db") as store:
        with SAMPLE.open("rb") as stream:
            import_conversations(store, NAMESPACE, stream, "messages")
        ask(store, screen)
    shown = screen.export_text()
    rows = re.findall(r"(✓|2nd|3rd|–) +(✓|2nd|3rd|–) *$", shown, re.MULTILINE)
    assert len(rows) == len(questions())
    ours, theirs = zip(*rows, strict=True)
    assert ours[0] == "✓"
    assert list(ours) == sorted(ours, key=["✓", "2nd", "3rd", "–"].index)
    found = len(rows) - ours.count("–")
    told = " ".join(shown.split())
    assert f"langmemory: {found} of 12 answers among the first 3 of 190 memories" in told
    assert f"190 memories, {ours.count('✓')} of them first." in told
    same, first = len(rows) - theirs.count("–"), theirs.count("✓")
    assert f"same embedding model: {same} of 12 among them, {first} of them first." in told
    assert len(re.findall("found instead: |Nothing was found", shown)) == ours.count("–")
    assert max(map(len, shown.splitlines())) <= 80


def test_the_example_of_an_answer_rests_on_the_sample() -> None:
    """The example answer without a model repeats Lena's words and adds nothing."""
    said = SAMPLE.read_text(encoding="utf-8")
    for word in ("July 2027", "1 February", "Fritzi", "teacher", "Lagazuoi", "80 euros"):
        assert word in example_answer()
        assert word in said


def test_the_demo_says_which_extra_draws_the_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where matplotlib is not installed, the command that installs it is shown whole: `".[graph]"` in
    square brackets is no markup."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    screen = Screen(file=StringIO(), record=True, width=200)
    with MemoryStore(tmp_path / "memory.db") as store:
        furnish(store)
        show_picture(store, WORLD, screen)
    assert 'pip install ".[graph]"' in screen.export_text()


@pytest.mark.parametrize("on_path", [True, False])
def test_the_demo_ends_with_commands_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_path: bool
) -> None:
    """After `make demo` nothing is activated, so the command is named by its path then."""
    command = tmp_path / "bin" / "langmemory"
    command.parent.mkdir()
    command.touch(0o755)
    monkeypatch.setattr("sys.argv", [str(command), "demo"])
    monkeypatch.setenv("PATH", str(command.parent) if on_path else str(tmp_path))
    assert program() == ("langmemory" if on_path else "bin/langmemory")


def test_commands_on_another_drive_are_named_by_their_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows has no relative path from one drive to another, and Python raises."""
    command = tmp_path / "langmemory"
    command.touch(0o755)
    monkeypatch.setattr("sys.argv", [str(command), "demo"])
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("os.path.relpath", lambda path: ntpath.relpath("C:\\bin", "D:\\work"))
    assert program() == str(command)


@pytest.mark.thorough
def test_the_demo_lets_an_ollama_model_answer(tmp_path: Path, ollama: OllamaServer) -> None:
    """With Ollama reachable, its model gets the context and its answer is shown. In 60 columns no answer
    is cut: they stand under each other. A picture that cannot be written, as over another user's, does not
    end it."""
    temporary = tmp_path / "tmp"
    (temporary / "langmemory-demo.png").mkdir(parents=True)
    shown = demo(tmp_path, COLUMNS="60", TMPDIR=str(temporary))
    assert "You said: " in shown
    assert "written by hand" not in shown
    assert "July 2027" in ollama.chats()[0]["messages"][0]["content"]
    assert "No picture: " in shown
    told = shown.partition("Recall")[2].partition("Reflect")[0]
    assert max(map(len, told.splitlines())) <= 60
    assert "a greyhound. We got him from a shelter near Seville" in " ".join(told.split())


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("swap_the_store.py", ["You told me: The spare key", "You told me: Aunt Ottilie"]),
        ("async_app.py", ["ada: I get seasick", "bruno: My passport", "chidi: Window seats"]),
        (
            "namespaces_per_user.py",
            ["mia: I play the oboe", "noor: I build kites", "forget noor: 2 memories gone"],
        ),
        ("reflection.py", ["Anna lives in Porto."]),
        (
            "swarm.py",
            [
                "[blocked] Publish the prices page (writer, waits for a word from legal)",
                "decided: Prices are in euros only, because nine of ten",
                "session of researcher: Find out the currency: euros.",
                "session of writer: nothing finished. Next: Publish the prices page",
            ],
        ),
    ],
)
def test_every_example_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str, says: list[str]
) -> None:
    """Each script in examples/ runs from anywhere, prints what it shows, and leaves nothing."""
    runpy.run_path(str(ROOT / "examples" / script), run_name="__main__")
    shown = capsys.readouterr().out
    for words in says:
        assert words in shown
    assert list(tmp_path.iterdir()) == []
