"""Transcripts of coding agents become turns of their project and branch, once, without what programs say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from langmemory.parts.importing import ImportedMessage, detect, read_messages
from langmemory.parts.importing.importing import import_conversations
from langmemory.parts.importing.seeding import plan_seed, seed
from langmemory.parts.importing.sessions import STORES
from langmemory.stores import MemoryStore

DATA = Path(__file__).parent / "data"
PLACE = ("memories", "me")


def read(name: str) -> list[ImportedMessage]:
    """Return what a recorded transcript says, whose format is found."""
    with (DATA / f"{name}.jsonl").open("rb") as file:
        assert detect(file) == name
        return list(read_messages(file, name))  # type: ignore[arg-type]


SAID = {
    "claude-code": (
        "shop@main/claude-code/5f0c2b1e-3d8f-4d0e-9b57-0c7e2f6c1a11",
        [
            ("user", "We deploy on Fridays only after the smoke test."),
            ("assistant", "I will run the smoke test first."),
            ("tool", "Bash failed: pytest -q tests/smoke | Exit code 1 ModuleNotFoundError: No module named "
                     "'redis'"),
            ("tool", "Bash succeeded after it had failed: pytest -q tests/smoke --key sk-ant-api03-"
                     + "A" * 56),
            ("assistant", "The smoke test passes now."),
        ],
    ),
    "codex": (
        "shop@queue/codex/0199c1d2-7a52-7b01-9d14-0f3a3f1c0001",
        [
            ("user", "We use Redis for the queue, because Postgres was too slow."),
            ("tool", 'shell failed: make queue | {"output":"make: *** No rule to make target '
                     "'queue'.\\n\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}"),
            ("assistant", "There is no target called queue; I will add one."),
            ("user", "Call it redis-queue."),
            ("tool", "exec_command failed: make redis-queue | Chunk ID: a9c8c3 Wall time: 0.0813 seconds "
                     "Process exited with code 2 Output: make: *** missing separator."),
            ("assistant", "The recipe lacks a tab."),
        ],
    ),
    "openclaw": (
        "workspace@/openclaw/b7300bff-a214-4c11-97ae-eab26883c67a",
        [
            ("user", "My dentist is Dr. Okafor."),
            ("assistant", "I will look for the appointment."),
            ("tool", "calendar failed: dentist | calendar is not connected"),
        ],
    ),
    "cursor": (
        "unknown@/cursor/cursor",
        [("user", "The buttons are green, not blue."), ("assistant", "I make them green.")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_what_was_said_and_what_failed(name: str) -> None:
    """People and models speak, a call that failed is one line, and the call that mended it is another."""
    thread, expected = SAID[name]
    found = read(name)
    assert [(one.role, one.content) for one in found] == expected
    assert {one.thread for one in found} == {thread}
    assert all(one.spoken for one in found)


@pytest.mark.parametrize("name", SAID)
def test_a_session_is_imported_once_as_it_grows(name: str, tmp_path: Path) -> None:
    """All but half of the last line, then all of it, twice: each turn is there once, without its key."""
    whole = (DATA / f"{name}.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    path = tmp_path / f"{name}.jsonl"
    added = 0
    with MemoryStore(str(tmp_path / "memory.db")) as store:
        for text in (b"".join(lines[:-1]) + lines[-1][:30], whole, whole):
            path.write_bytes(text)
            with path.open("rb") as file:
                added += import_conversations(store, PLACE, file, name).added  # type: ignore[arg-type]
        found = store.search(PLACE, limit=50)
    assert added == len(found) == len(SAID[name][1])
    assert not [one for one in found if "sk-ant" in one.value["content"]]


def test_half_a_line_hides_no_other(tmp_path: Path) -> None:
    """A line that a killed program left is named, and what stands behind it is read."""
    first, second, *rest = (DATA / "claude-code.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "claude-code.jsonl"
    path.write_bytes(first + second[:90] + b"\n" + second + b"".join(rest))
    with MemoryStore(str(tmp_path / "memory.db")) as store, path.open("rb") as file:
        report = import_conversations(store, PLACE, file, "claude-code")
    assert (report.added, report.unread) == (5, ["line 2: not a JSON object"])


def test_seed_finds_sessions_of_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions that programs keep at home are found for the folder they ran in, and not for another."""
    shop, home = tmp_path / "work" / "shop", tmp_path / "home"
    shop.mkdir(parents=True)
    for store in STORES.values():
        monkeypatch.delenv(store.variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    named = "-".join(str(shop).replace("_", "-").split("/"))[1:]
    places = {
        "claude-code": f".claude/projects/-{named}/5f0c2b1e.jsonl",
        "codex": ".codex/sessions/2026/03/03/rollout-2026-03-03T10-00-00-0199c1d2.jsonl",
        "openclaw": ".openclaw/agents/main/sessions/b7300bff.jsonl",
        "cursor": f".cursor/projects/{named}/agent-transcripts/c1.jsonl",
    }
    for name, place in places.items():
        (home / place).parent.mkdir(parents=True)
        text = (DATA / f"{name}.jsonl").read_text("utf-8").replace("/home/ana/shop", str(shop))
        (home / place).write_text(text, "utf-8")
    plan = plan_seed(shop)
    assert {one.format: one.count for one in plan.sources} == {
        "claude-code": 5,
        "codex": 6,
        "cursor": 2,
    }
    with MemoryStore(str(tmp_path / "memory.db")) as store:
        report = seed(store, plan, PLACE)
        assert (report.messages, report.failed) == (13, {})
        threads = {
            one.value["thread_id"] for one in store.search(PLACE, filter={"role": "user"}, limit=50)
        }
        assert threads == {SAID["claude-code"][0], SAID["codex"][0], "shop@/cursor/c1"}
        assert seed(store, plan_seed(shop), PLACE).added == 0
    shutil.rmtree(home)
    assert not plan_seed(shop).sources
