"""Hooks of coding agents: settings come back byte for byte, and sessions get and give what they should."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from langmemory.changes import AddMemory, ChangeSet, Facets
from langmemory.cli.app import app
from langmemory.parts.coding import client
from langmemory.parts.coding.answering import SessionMemory
from langmemory.parts.coding.events import WAITS, Event, apply
from langmemory.parts.coding.openclaw import OpenClaw
from langmemory.parts.coding.programs import PROGRAMS
from langmemory.parts.coding.settings_file import commands
from langmemory.stores import MemoryStore
from tests.waiting import until

DATA = Path(__file__).parent / "data"
PAYLOADS = tomllib.loads((DATA / "payloads.toml").read_text("utf-8"))["payloads"]
PLACE = ("memories", "me")
OPTIONS = ["-n", "memories/me"]
WITH_FILE = [name for name in PROGRAMS if name != "openclaw"]

SETTINGS = {
    "nothing": None,
    "empty": "{}",
    "empty over two lines": "{\n}\n",
    "others": '{\n  "model": "opus",\n  "env": {"A": "b"}\n}\n',
    "no end": '{"hooks": {}}',
    "tabs, CRLF": '{\r\n\t"theme": "dark",\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}\r\n',
    "comments": '// mine\n{\n   /* odd */ "hooks": { // here\n "Stop" : [ {"hooks": '
    '[{"command": "say x"}]},\n ],},\n}',
    "nested alike": '{"other": {"hooks": {}}, "a": [ ] , "b": "{[,\\"//"}',
    "its own events": '{"hooks": {"SessionStart": [{"hooks": [{"command": "a"}]}], '
    '"stop": [{"command": "b"}],'
    ' "sessionStart":[], "BeforeAgent": [{"hooks": [{"command": "c"}]}]}}',
    "other letters": '\ufeff{"name": "Søren"}',
}  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a home directory of its own."""
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "OPENCLAW_STATE_DIR",
        "CURSOR_HOME",
        "GEMINI_CLI_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SessionMemory]:
    """A memory that sessions share."""
    with MemoryStore(str(tmp_path / "memory.db")) as store:
        found = SessionMemory(store=store, namespace=PLACE)
        yield found
        found.close()


@pytest.mark.parametrize("before", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("name", WITH_FILE)
def test_settings_come_back(name: str, before: str | None) -> None:
    """Installing, also twice, adds a command for each event to those that are there; uninstalling leaves the
    bytes that were there, or no file."""
    one = PROGRAMS[name]
    file = one.settings()
    if before is not None:
        file.parent.mkdir(parents=True)
        file.write_bytes(before.encode())
    theirs = list(commands(before, "")) if before else []
    for _ in range(2):
        for change in one.install(OPTIONS):
            apply(change)
        found = list(commands(file.read_bytes().decode(), ""))
        assert one.installed().keys() == one.events.keys()
        assert len(found) == len(theirs) + len(one.events)
        assert set(theirs) <= set(found)
    for change in one.uninstall():
        apply(change)
    assert (file.read_bytes() if file.exists() else None) == (before.encode() if before else None)
    assert not one.receipt().exists()


@pytest.mark.parametrize("name", WITH_FILE)
def test_settings_that_changed_since(name: str) -> None:
    """What a program or a person wrote after the installation stays, and no hook of memory does."""
    one = PROGRAMS[name]
    before = '{"a": 1, "hooks": {"Stop": [{"hooks": [{"command": "say"}]}]}}'
    one.settings().parent.mkdir(parents=True)
    one.settings().write_text(before)
    for change in one.install(OPTIONS):
        apply(change)
    text = one.settings().read_text()
    one.settings().write_text(text.replace('"a": 1', '"a": 2'))
    (settings, _) = one.uninstall()
    assert settings.after == before.replace('"a": 1', '"a": 2')
    one.settings().write_text(json.dumps(json.loads(text), indent=4))  # as programs do
    (settings, _) = one.uninstall()
    assert json.loads(settings.after or "") == json.loads(before)


@pytest.mark.parametrize("row", PAYLOADS, ids=lambda row: f"{row['program']}-{row['event']}")
def test_recorded_payloads(row: dict[str, Any], memory: SessionMemory) -> None:
    """What a program says of an event is read, and what it takes as context is written, as documented."""
    one = PROGRAMS[row["program"]]
    event = one.read(row["event"], json.loads(row["payload"]))
    assert event is not None
    assert {name: getattr(event, name) for name in row["read"]} == row["read"]
    assert one.say(row["event"], "") == ""
    if event.kind in WAITS:
        assert one.say(row["event"], "block") == row["says"]
    if said := row.get("said"):
        for _ in range(2):  # a hook that runs twice adds nothing
            memory.remember(one, event)
        found = memory.store.search(PLACE, limit=50)
        assert sorted(f"{each.value['role']}: {each.value['content']}" for each in found) == sorted(
            said
        )


def session(memory: SessionMemory, tmp_path: Path) -> str:
    """Store the recorded session of Claude Code; return its transcript."""
    path = tmp_path / "5f0c2b1e.jsonl"
    shutil.copy(DATA / "claude-code.jsonl", path)
    event = Event(kind="turn", session="5f0c2b1e", folder="/home/ana/shop", transcript=str(path))
    memory.remember(PROGRAMS["claude-code"], event)
    return str(path)


def test_a_session_gets_what_matters(memory: SessionMemory, tmp_path: Path) -> None:
    """The beginning has mandates and what the last session in this folder was about; in another folder it
    has only mandates. A prompt gets what answers it, and an idle one nothing."""
    session(memory, tmp_path)
    rule = AddMemory(
        key="rule",
        value={"text": "Never push to main."},
        facets=Facets(kind="semantic", priority="mandate"),
        reason="said",
    )
    memory.store.changes.apply(
        ChangeSet(namespace=PLACE, run_id="r", kind="correction", reason="r", changes=(rule,))
    )
    start = memory.block(Event(kind="start", session="n", folder=""), "t", "/home/ana/shop")
    assert "Never push to main." in start
    assert "only after the smoke test" in start
    other = memory.block(Event(kind="start", session="n", folder=""), "t", "/home/ana/garden")
    assert "Never push to main." in other
    assert "smoke" not in other
    asked = Event(kind="prompt", session="n", folder="", prompt="when do we deploy?")
    assert "Fridays" in memory.block(asked, "t", "/home/ana/garden")
    idle = Event(kind="prompt", session="n", folder="", prompt="Thanks!")
    assert "smoke" not in memory.block(idle, "t", "/home/ana/shop")


def test_a_short_prompt_goes_on_from_the_one_before(memory: SessionMemory, tmp_path: Path) -> None:
    """A bare question word is asked with the prompt before it in the same session, and in no other one."""
    session(memory, tmp_path)
    for prompt in ("who deploys the shop?", "and when"):
        asked = Event(kind="prompt", session="n", folder="", prompt=prompt)
        block = memory.block(asked, "t", "/home/ana/garden")
    assert "Fridays" in block
    assert "Fridays" not in memory.block(asked, "another", "/home/ana/garden")


def test_a_context_that_is_shortened(memory: SessionMemory, tmp_path: Path) -> None:
    """A session does not get its own words, until its context is shortened: then it gets them again."""
    path, one = session(memory, tmp_path), PROGRAMS["claude-code"]
    asked = Event(
        kind="prompt", session="5f0c2b1e", folder="", prompt="when do we deploy?", transcript=path
    )
    thread = memory.thread(one, asked, "")
    assert "Fridays" not in memory.block(asked, thread, "/home/ana/shop")
    again = Event(kind="start", session="5f0c2b1e", folder="", transcript=path, shortened=True)
    assert "Fridays" in memory.block(again, thread, "/home/ana/shop")
    assert "Fridays" in memory.block(asked, thread, "/home/ana/shop")


def test_the_commands(home: Path, tmp_path: Path) -> None:
    """A dry run writes nothing; an unknown program is answered with those that are known; `context` prints
    the block for any other one, and nothing where nothing answers."""

    def run(*words: str) -> str:
        return CliRunner().invoke(app, ["--db", str(tmp_path / "m.db"), *words]).output

    assert "langmemory.parts.coding.client" in run("hooks", "install", "gemini", "--dry-run")
    assert not PROGRAMS["gemini"].settings().exists()
    assert "There are no hooks of memory in gemini." in run("hooks", "uninstall", "gemini")
    assert "claude-code, codex, cursor, gemini, openclaw" in run(
        "hooks", "install", "emacs"
    ).replace("\n", " ")
    with MemoryStore(str(tmp_path / "m.db")) as store:
        said = {"role": "user", "content": "We deploy on Fridays.", "id": "1"}
        store.remember(PLACE, [said], thread_id="t")
    assert "We deploy on Fridays." in run("context", "when do we deploy?")
    assert run("context", "Thanks!") == ""


@pytest.mark.parametrize("payload", [b"", b"[]", b"{", b'{"prompt": 3, "cwd": null}'])
def test_a_hook_never_fails_a_session(payload: bytes, home: Path) -> None:
    """Whatever a program sends, and wherever memory cannot be opened, a hook ends with 0 and says nothing on
    stdout."""
    (home / ".langmemory").write_text("no folder")
    for words in (["claude-code", "UserPromptSubmit"], ["nobody", "x"], []):
        done = run([client.WAIT, *words], payload)
        assert (done.returncode, done.stdout) == (0, b"")
        assert b"The session goes on without memory." in done.stderr


def run(words: list[str], payload: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command of a hook."""
    command = [sys.executable, "-P", "-m", client.__name__, *words]
    return subprocess.run(command, input=payload, capture_output=True, check=False)


@pytest.mark.integration
def test_from_prompt_to_prompt(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first hook starts the resident process; what one session says, the next one is told, by hooks that
    take less than 150 ms of processor time each. Their folder may be deeper than the path of a socket."""
    home = home / ("deep" * 30)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    options = ["--db", str(home / "memory.db"), *OPTIONS]
    transcript = home / "5f0c2b1e.jsonl"
    shutil.copy(DATA / "claude-code.jsonl", transcript)
    said = {"session_id": "5f0c2b1e", "cwd": "/home/ana/shop", "transcript_path": str(transcript)}
    run(["claude-code", "Stop", *options], json.dumps(said).encode())
    asked = {"session_id": "next", "cwd": "/home/ana/shop", "prompt": "when do we deploy?"}
    answers: list[str] = []

    def answered() -> bool:
        words = [client.WAIT, "claude-code", "UserPromptSubmit", *options]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run(words, json.dumps(asked).encode())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        answers.append(done.stdout.decode())
        return b"Fridays" in done.stdout

    spent: list[float] = []
    try:
        until(answered)
        assert min(spent) < 0.15
        context = json.loads(answers[-1])["hookSpecificOutput"]
        assert context["hookEventName"] == "UserPromptSubmit"
    finally:
        place = Path(client.socket_path(options))
        until(lambda: Path(f"{place}.lock").is_file(), "no resident process was started")
        os.kill(int(Path(f"{place}.lock").read_text()), signal.SIGTERM)
        until(lambda: not place.exists(), "the resident process did not end")


@pytest.mark.skipif(shutil.which("node") is None, reason="OpenClaw's handler runs in node")
def test_the_handler_of_openclaw(tmp_path: Path) -> None:
    """It remembers what was asked, and puts memory's answer among the files that an agent begins with."""
    one = OpenClaw()
    for change in one.install([]):
        apply(change)
    assert one.installed().keys() == one.events.keys()
    text = one.settings().read_text("utf-8")
    echo = 'const COMMANDS = {"agent:bootstrap": ["cat"], "message:preprocessed": []};\n'
    begins = text.index("const COMMANDS")
    handler = text[:begins] + echo + text[text.index("const sessions") :]
    (tmp_path / "handler.mjs").write_text(handler, "utf-8")
    (tmp_path / "run.mjs").write_text(
        'import handler from "./handler.mjs";\n'
        'const key = { sessionKey: "agent:main:main" };\n'
        'const said = { bodyForAgent: "Hi" };\n'
        'await handler({ ...key, type: "message", action: "preprocessed", context: said });\n'
        "const context = { bootstrapFiles: [], sessionId: 's1', agentId: 'main', workspaceDir: '/w' };\n"
        'await handler({ ...key, type: "agent", action: "bootstrap", context });\n'
        "console.log(JSON.stringify(context.bootstrapFiles));\n"
    )
    done = subprocess.run(["node", "run.mjs"], cwd=tmp_path, capture_output=True, check=True)
    [file] = json.loads(done.stdout)
    assert json.loads(file["content"]) == {
        "session": "s1", "agent": "main", "folder": "/w", "prompt": "Hi",
    }  # fmt: skip
    for change in one.uninstall():
        apply(change)
    assert not one.settings().parent.exists()
