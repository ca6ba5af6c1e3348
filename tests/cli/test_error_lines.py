"""Error messages of the command line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from langmemory.cli.app import app
from langmemory.stores import MemoryStore
from tests.cli.place import SAMPLE, Configure, Run
from tests.seeds import seeds


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["search", "tea"], "does not exist: `langmemory import FILE` makes it"),
        (["stats"], "does not exist"),
        (["export"], "does not exist"),
        (["import", "missing.jsonl"], "missing.jsonl: No such file"),
        (["import", str(Path(__file__))], "line 1: found"),
        (["import", str(SAMPLE), "-n", "a//c"], "label '' is empty; write it as a/b"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_an_error_is_one_line_with_the_next_step(run: Run, arguments: list[str], says: str) -> None:
    """An error is one line on stderr, nothing on stdout, exit code 1, and leaves no file."""
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("langmemory: ")
    assert says in result.stderr
    assert not Path("memory.db").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["serch"], "No such command 'serch'."),
        (["search"], "Missing argument 'QUERY'. See `{} search --help`."),
        (["search", "tea", "-k", "0"], "'0' is no whole number from 1 on. See `{} search --help`."),
        (["search", "tea", "--bogus"], "--bogus"),
        (["runs", "-k", "many"], "'many' is no whole number"),
        (["jobs", "--drop", "x"], "'x' is no whole number"),
        (["journal", "--day", "2026-13-01"], "'2026-13-01' is no day; write it as 2026-05-02."),
        (["journal", "--path", "x"], "langmemory: --path goes with --rebuild or --take-edits. See"),
        (["reviews", "--decide", "x"], "'--decide' requires 2 arguments."),
        (["worker", "--grace", "-1"], "'-1' is no number of seconds."),
        (["worker", "--grace", "nan"], "'nan' is no number of seconds."),
        (["core", "set", "human"], "Missing argument 'TEXT'. See `{} core set --help`."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_misuse_is_one_line_that_names_the_value(
    run: Run, arguments: list[str], says: str
) -> None:
    """A misused command prints one line on stderr with the place of its help, and exits with code
    2."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("langmemory: ")
    assert says.format("langmemory") in result.stderr


@pytest.mark.parametrize("option", ["--as-of", "--known-at"])
@pytest.mark.parametrize("value", ["yesterday", "2026", "1767225600", "2026-02-30"])
def test_a_day_is_not_guessed(run: Run, option: str, value: str) -> None:
    """An error names an invalid day. The command line does not read a year as seconds since
    1970."""
    result = run("search", "tea", option, value)
    assert result.exit_code == 2
    assert f"{value!r} is no day; write it as 2026-05-02 or 2026-05-02T18:30." in result.stderr


def test_commands_by_themselves_show_their_help() -> None:
    """`langmemory` and `langmemory core` alone print what there is, and no error."""
    for words in ([], ["core"]):
        result = CliRunner().invoke(app, words)
        assert "Usage: langmemory" in result.stdout
        assert "langmemory: " not in result.stderr


@pytest.mark.parametrize("command", ["", "search", "core list"])
def test_switches_have_no_value_in_the_help(run: Run, command: str) -> None:
    """The help shows what follows an option in words of its own, and nothing after a switch."""
    shown = run(*command.split(), "--help").stdout
    assert "<" not in shown.replace("<str>", "")
    assert re.search(r"--help +Show this message", shown)


def test_help_that_nobody_reads_is_no_error(tmp_path: Path) -> None:
    """A reader of the help that is gone ends it with nothing on stderr and exit code 0."""
    program = f"({sys.executable} -m langmemory --help; echo $? >code) | true"
    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stderr, Path("code").read_text()) == ("", "0\n")


def test_debugging_shows_the_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With LANGMEMORY_DEBUG=1 the exception itself comes through."""
    monkeypatch.setenv("LANGMEMORY_DEBUG", "1")
    assert isinstance(run("import", "missing.jsonl").exception, FileNotFoundError)


def test_a_wrong_setting_is_named_by_every_command(run: Run, configure: Configure) -> None:
    """A mistake in config/memory.json ends a command with the key and what is allowed."""
    configure(fast="llama")
    result = run("stats")
    assert result.exit_code == 1
    assert "models.fast" in result.stderr


@pytest.mark.parametrize(
    "command", seeds(["search the", "export", "stats", "doctor", "runs"], first=1)
)
def test_a_pipe_that_nobody_reads_is_no_error(filled: Run, command: str) -> None:
    """Whatever prints, a reader that is gone ends it with nothing on stderr and exit code 0."""
    program = f"({sys.executable} -m langmemory {command}; echo $? >code) | true"
    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stderr, Path("code").read_text()) == ("", "0\n")


@pytest.mark.parametrize("command", [("graph",), ("graph", "Lena"), ("history", "bins")])
def test_who_looks_in_the_wrong_namespace_is_told_of_others(
    run: Run, command: tuple[str, ...]
) -> None:
    """The command line's own namespace does not hold what applications wrote; errors name
    theirs."""
    with MemoryStore("memory.db") as store:
        store.put(("memories", "anna"), "bins", {"text": "The bins go out on Monday."})
    run("core", "set", "human", "Reads in bed.")
    run("core", "set", "human", "Reads in bed.", "-n", "memories/anna")
    told = run(*command)
    assert "--namespace looks elsewhere, for example in memories/anna." in told.output
    assert "elsewhere" not in run(*command, "-n", "memories/bert").output


def test_help_starts_without_loading_the_store() -> None:
    """`langmemory --help` imports neither numpy nor LangGraph nor SQLite."""
    program = (
        "import sys; from langmemory.cli.app import app; "
        "print({'numpy', 'langgraph', 'langchain_core', 'apsw', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
