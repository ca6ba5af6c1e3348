"""Core blocks that are bound to files: what a person writes, what a model proposes, and conflicts."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from langmemory.core_files import CoreFileError
from langmemory.errors import ChangeError
from langmemory.nodes import RecallNode
from langmemory.nodes.core_memory import CoreBlock, CoreMemory, labels_in
from langmemory.stores import MemoryStore
from langmemory.tools import create_core_memory_tools
from langmemory.types import Review

PLACE = ("memories", "maria")
RULES = "# Rules\nRun the tests.\nBe kind."


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return MemoryStore(tmp_path / "memory.db", index=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "AGENTS.md"
    path.write_text(f"{RULES}\n", "utf-8")
    return path


def core(store: MemoryStore, editor: str = "person") -> CoreMemory:
    return CoreMemory(store, PLACE, labels=labels_in(store, PLACE), editor=editor)  # type: ignore[arg-type]


def block(store: MemoryStore, label: str = "agents") -> CoreBlock:
    return core(store).block(label)


def review(store: MemoryStore) -> Review:
    [found] = store.changes.reviews(PLACE)
    return found


def test_an_edit_of_the_file_is_a_correction_that_can_be_undone(
    store: MemoryStore, file: Path
) -> None:
    """The text of a file is the block's; an edit becomes its next version, by a person, and undoing that
    run brings back the block and the file."""
    store.core_files.bind(file, PLACE)
    assert block(store).content == RULES
    file.write_text(RULES.replace("kind", "brief"), "utf-8")
    [run] = store.core_files.refresh(PLACE).taken.values()
    assert block(store).content.endswith("Be brief.")
    assert core(store).versions("agents")[-1].editor == "person"
    store.changes.undo(run)
    assert block(store).content == RULES
    assert file.read_text("utf-8") == RULES
    assert not store.core_files.refresh(PLACE)


def test_a_model_proposes_and_a_person_approves(store: MemoryStore, file: Path) -> None:
    """The tools of a model change neither block nor file of a bound block: a review shows the difference,
    a second proposal includes the first, and approval writes the file. Undo takes it back."""
    store.core_files.bind(file, PLACE)
    append = create_core_memory_tools(PLACE, store=store, labels=labels_in(store, PLACE))[0]
    answer = append.invoke({"block": "agents", "content": "Ask before a push."})
    assert "a person decides" in answer
    append.invoke({"block": "agents", "content": "Never on Fridays."})
    assert block(store).content == RULES == file.read_text("utf-8").strip()
    asked = review(store)
    assert "+Ask before a push.\n+Never on Fridays." in asked.question
    done = store.changes.decide(asked.id, "approve", by="maria")
    assert file.read_text("utf-8") == f"{RULES}\nAsk before a push.\nNever on Fridays.\n"
    store.changes.undo(done.run_id)
    assert file.read_text("utf-8") == f"{RULES}\n"


def test_a_proposal_is_carried_over_an_edit_or_asked_with_both(
    store: MemoryStore, file: Path
) -> None:
    """A file that was edited after a proposal is read before the decision: where other lines changed the
    proposal is asked anew on top of the edit, where the same did, the question shows both changes."""
    store.core_files.bind(file, PLACE)
    core(store, "assistant").append("agents", "Ask first.")
    old = review(store)
    file.write_text(RULES.replace("# Rules", "# House rules"), "utf-8")
    with pytest.raises(ChangeError):
        store.changes.decide(old.id, "approve")
    assert file.read_text("utf-8").startswith("# House rules")
    carried = review(store)
    assert carried.id != old.id
    file.write_text(RULES.replace("Be kind.", "Be brief."), "utf-8")
    store.core_files.refresh(PLACE)
    both = review(store)
    assert "a person changed the same lines" in both.question
    assert "+Ask first." in both.question
    assert "+Be brief." in both.question
    store.changes.decide(both.id, "reject")
    assert file.read_text("utf-8") == RULES.replace("Be kind.", "Be brief.")


@pytest.mark.parametrize(
    ("option", "held"), [("file", "TESTS"), ("block", "brief"), ("both", "both")]
)
def test_where_both_changed_both_stay_until_it_is_decided(
    store: MemoryStore, file: Path, option: str, held: str
) -> None:
    """A conflict writes nothing; the review shows what each changed since both agreed, and its decision
    brings both to the same text. Undone, it is open again."""
    store.core_files.bind(file, PLACE)
    edited = RULES.replace("Run the tests.", "Run the TESTS.").replace("# Rules", "# Rules\n")
    file.write_text(edited, "utf-8")
    said = RULES.replace("Be kind.", "Be kind.\n\nBe brief.")
    item = store.get((*PLACE, "core"), "agents")
    assert item is not None
    store.put((*PLACE, "core"), "agents", {**item.value, "content": said, "editor": "person"})
    assert store.core_files.refresh(PLACE).asked
    assert not store.core_files.refresh(PLACE)  # once
    assert (file.read_text("utf-8"), block(store).content) == (edited, said)
    assert store.core_files.bound(PLACE)[0].state == "asked"
    asked = review(store)
    assert "+Run the TESTS." in asked.question
    assert "+Be brief." in asked.question
    done = store.changes.decide(asked.id, option)
    text = block(store).content
    assert file.read_text("utf-8").strip() == text
    assert text == {"file": edited, "block": said}.get(option, text)
    assert option != "both" or ("TESTS" in text and "brief" in text)
    store.changes.undo(done.run_id)
    assert review(store).id == asked.id


def test_a_model_that_writes_past_its_tools_is_asked_about(store: MemoryStore, file: Path) -> None:
    """A value that says an assistant wrote it, put into the store by other means, does not reach the file."""
    store.core_files.bind(file, PLACE)
    item = store.get((*PLACE, "core"), "agents")
    assert item is not None
    changed = {**item.value, "content": "Obey me.", "editor": "assistant", "version": 2}
    store.put((*PLACE, "core"), "agents", changed, index=False)
    store.core_files.refresh(PLACE)
    assert file.read_text("utf-8").strip() == RULES
    store.changes.decide(review(store).id, "file")
    assert block(store).content == RULES


def test_an_emptied_file_is_asked_about(store: MemoryStore, file: Path) -> None:
    """A file of no text, as while an editor saves it, does not empty the block."""
    store.core_files.bind(file, PLACE)
    file.write_text("", "utf-8")
    store.core_files.refresh(PLACE)
    assert block(store).content == RULES
    store.changes.decide(review(store).id, "block")
    assert file.read_text("utf-8") == f"{RULES}\n"


def test_too_long_is_told_and_nothing_is_cut(store: MemoryStore, file: Path) -> None:
    """A file beyond the block's limit is neither bound nor taken; the message names both sizes."""
    with pytest.raises(CoreFileError, match=r"31 characters.* holds 20\."):
        store.core_files.bind(file, PLACE, limit=20)
    store.core_files.bind(file, PLACE, limit=40)
    file.write_text(RULES + "x" * 100, "utf-8")
    assert "131 characters" in store.core_files.refresh(PLACE).problems[str(file)]
    assert block(store).content == RULES
    assert store.core_files.bound(PLACE)[0].state == "problem"


def test_a_file_that_cannot_be_read_keeps_its_block(store: MemoryStore, file: Path) -> None:
    """Gone, no UTF-8, another file behind the link: each is told, the block stays, and the file's return is
    taken up. A file that is gone can be written again from the block."""
    store.core_files.bind(file, PLACE)
    file.write_bytes(b"caf\xe9")
    assert "not UTF-8 at byte 3" in store.core_files.refresh(PLACE).problems[str(file)]
    file.unlink()
    assert "is gone" in store.core_files.refresh(PLACE).problems[str(file)]
    secret = file.parent / "secret"
    secret.write_text("a key", "utf-8")
    file.symlink_to(secret)
    assert "leads to" in store.core_files.refresh(PLACE).problems[str(file)]
    file.unlink()
    assert block(store).content == RULES
    store.core_files.bind(file, PLACE, create=True)
    assert file.read_text("utf-8") == f"{RULES}\n"
    file.write_text("New.", "utf-8")
    assert store.core_files.refresh(PLACE).taken
    assert block(store).content == "New."


def test_a_file_has_one_block_and_a_deleted_block_stays_deleted(
    store: MemoryStore, file: Path
) -> None:
    """A second block cannot be bound to the same file, not through a link; a block that was deleted does not
    come back from its file until it is bound again."""
    store.core_files.bind(file, PLACE)
    link = file.parent / "CLAUDE.md"
    link.symlink_to(file)
    with pytest.raises(CoreFileError, match="is bound to the block 'agents'"):
        store.core_files.bind(link, PLACE)
    store.delete((*PLACE, "core"), "agents")
    assert "was deleted" in store.core_files.refresh(PLACE).problems[str(file)]
    assert store.get((*PLACE, "core"), "agents") is None
    store.core_files.bind(file, PLACE)
    assert block(store).content == RULES
    store.core_files.unbind("agents", PLACE)
    file.write_text("Elsewhere.", "utf-8")
    assert not store.core_files.refresh(PLACE)
    with pytest.raises(CoreFileError, match="bound to no file"):
        store.core_files.unbind("agents", PLACE)


def test_a_read_only_file_is_not_replaced(store: MemoryStore, file: Path) -> None:
    """An approved change of a read-only file is told as not written, and written once it may be."""
    store.core_files.bind(file, PLACE)
    file.chmod(0o444)
    core(store).append("agents", "Ask first.")
    assert "read-only" in store.core_files.refresh(PLACE).problems[str(file)]
    assert file.read_text("utf-8") == f"{RULES}\n"
    file.chmod(0o640)
    assert store.core_files.refresh(PLACE).written == [str(file)]
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_two_stores_on_one_file_lose_nothing(tmp_path: Path, file: Path) -> None:
    """Each takes what the other wrote as an edit of the file."""
    one, other = (MemoryStore(tmp_path / name, index=False) for name in ("one.db", "other.db"))
    one.core_files.bind(file, PLACE)
    other.core_files.bind(file, PLACE)
    core(one).append("agents", "From one.")
    other.core_files.refresh(PLACE)
    core(other).append("agents", "From the other.")
    one.core_files.refresh(PLACE)
    assert block(one).content == block(other).content == f"{RULES}\nFrom one.\nFrom the other."
    assert file.read_text("utf-8").strip() == block(one).content


def test_a_run_sees_the_file_as_it_is(store: MemoryStore, file: Path) -> None:
    """The node that recalls shows bound blocks beside the usual ones, as their files say now."""
    store.core_files.bind(file, PLACE)
    file.write_text("Speak German: Grüße, 你好.", "utf-8")
    node = RecallNode(PLACE, store=store)
    shown = node.invoke({"messages": [HumanMessage("Hi")]})["core_memory"]
    assert "agents (" in shown
    assert "Speak German: Grüße, 你好." in shown


def test_an_unchanged_file_is_not_read(store: MemoryStore, file: Path) -> None:
    """Once a file is older than the clock's grain, its stamp alone answers that it is as it was."""
    os.utime(file, ns=(1_700_000_000_000_000_000,) * 2)
    store.core_files.bind(file, PLACE)
    os.chmod(file, 0)  # reading would fail, for all but root
    stamp = store.core_files.bindings(PLACE)[0].stamp
    assert stamp is not None
    assert store.core_files.refresh(PLACE).unchanged == 1


async def test_async_twins(store: MemoryStore, file: Path) -> None:
    """Binding, looking and refreshing do not block an event loop."""
    await store.core_files.abind(file, PLACE)
    file.write_text("Changed.", "utf-8")
    assert (await store.core_files.arefresh(PLACE)).taken
    assert [one.state for one in await store.core_files.abound(PLACE)] == ["agrees"]
    await store.core_files.aunbind("agents", PLACE)


def test_a_watched_file_behind_a_link_is_watched_where_it_is(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who keeps such files in one folder, and links them from others, edits them there."""
    real, link = tmp_path / "dotfiles" / "SOUL.md", tmp_path / "SOUL.md"
    real.parent.mkdir()
    real.write_text("Calm.\n", "utf-8")
    link.symlink_to(real)
    store.core_files.bind(link, PLACE)

    def edited(*folders: Path, **_: object) -> Iterator[set[tuple[int, str]]]:
        assert real.parent in folders
        real.write_text("Brief.\n", "utf-8")
        yield {(2, str(real))}

    monkeypatch.setattr("watchfiles.watch", edited)
    assert [list(done.taken) for done in store.core_files.watch(PLACE)] == [[], [str(link)]]
