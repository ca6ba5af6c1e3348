"""What a person writes and takes back in the inspector: core memory, MEMORY.md, nights, imports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.browsing import Tabs, fits
from tests.server.story import PLACE

from langmemory.changes import AddMemory, ChangeSet, Facets  # isort: skip
from langmemory.nodes.core_memory import CoreMemory, labels_in  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("browser")]


def core(store: MemoryStore) -> dict[str, Any]:
    """Return what the block ``human`` is stored as."""
    found = store.get((*PLACE, "core"), "human")
    assert found is not None
    return found.value


def test_a_core_block_is_written(tabs: Tabs, filled: MemoryStore) -> None:
    """A block is saved with its version; where somebody else wrote meanwhile, both texts are shown, and only
    what the person chooses is written."""
    page = tabs.open("#/core", width=1280)
    field = page.get_by_label("human", exact=True)
    block = page.locator("section", has=field)
    field.fill("Ana, a cook.")
    block.get_by_role("button", name="Save").click()
    page.get_by_text("Saved: human, version 1").wait_for()
    assert (core(filled)["content"], core(filled)["editor"]) == ("Ana, a cook.", "person")
    page.get_by_label("persona", exact=True).fill("A draft.")
    filled.put(
        (*PLACE, "core"), "human", {"kind": "core", "content": "Ana, a baker.", "version": 2}
    )
    field.fill("Ana, a cook of forty.")
    block.get_by_role("button", name="Save").click()
    page.get_by_text("Somebody changed it meanwhile").wait_for()
    assert block.locator("ins", has_text="baker").is_visible()
    assert core(filled)["content"] == "Ana, a baker."
    page.get_by_role("button", name="Write mine over it").click()
    page.get_by_text("Saved: human, version 3").wait_for()
    assert core(filled)["content"] == "Ana, a cook of forty."
    assert page.get_by_label("persona", exact=True).input_value() == "A draft."
    block.get_by_text("Versions").click()
    block.locator("del", has_text="baker").wait_for()
    tabs.said[:] = [one for one in tabs.said if "412" not in one]  # the browser logs the refusal


@pytest.mark.thorough
def test_a_proposal_for_a_file_is_approved(tabs: Tabs, filled: MemoryStore, tmp_path: Path) -> None:
    """The page of core memory names the file of a block; a review shows what a model would change in it, and
    approving writes it."""
    file = tmp_path / "AGENTS.md"
    file.write_text("# Rules\nBe kind.\n", "utf-8")
    filled.core_files.bind(file, PLACE)
    labels = labels_in(filled, PLACE)
    CoreMemory(filled, PLACE, labels=labels, editor="assistant").append("agents", "Ask first.")
    page = tabs.open("#/core", width=1280)
    page.get_by_label("Namespace").select_option(label="/".join(PLACE))
    page.get_by_text(str(file)).wait_for()
    page = tabs.open("#/reviews")
    card = page.locator(".review", has_text="proposes to change AGENTS.md")
    card.locator("ins", has_text="+Ask first.").wait_for()
    assert fits(page)
    card.get_by_role("button", name="approve").click()
    page.get_by_text("Decided: approve").wait_for()
    assert file.read_text("utf-8") == "# Rules\nBe kind.\nAsk first.\n"


@pytest.mark.thorough
def test_memory_md_is_edited(tabs: Tabs, filled: MemoryStore) -> None:
    """What was changed on the page is shown before it is taken up, and taken back at once."""
    page = tabs.open("#/core")
    field = page.get_by_label("MEMORY.md", exact=True)
    text = field.input_value()
    field.fill(text.replace("plays the cello", "plays the harp") + "\n- Ana collects stamps.")
    page.get_by_role("button", name="See what that would change").click()
    page.get_by_text("This would change").wait_for()
    assert filled.admin.memory(PLACE, "fact/cello").text == "Bea plays the cello."  # type: ignore[union-attr]
    assert fits(page)
    page.get_by_role("button", name="Take it up").click()
    page.get_by_text("2 changes taken up.").wait_for()
    assert filled.admin.memory(PLACE, "fact/cello").text == "Bea plays the harp."  # type: ignore[union-attr]
    page.get_by_role("button", name="Undo").click()
    page.locator("textarea.page", has_text="plays the cello").wait_for()
    assert filled.admin.memory(PLACE, "fact/cello").text == "Bea plays the cello."  # type: ignore[union-attr]


@pytest.mark.thorough
def test_a_night_is_taken_back(tabs: Tabs, filled: MemoryStore) -> None:
    """A night tells what it changed; a preview says what its undo would do, beside the result."""
    filled.changes.apply(
        ChangeSet(
            namespace=PLACE,
            run_id="night/2026-05-02-abc/summarise/1",
            kind="maintenance",
            reason="summaries: day",
            changes=(
                AddMemory(
                    key="summary/1", value={"text": "A day."}, facets=Facets(kind="archival")
                ),
            ),
            note={"night": "2026-05-02-abc", "task": "summarise", "keys": ["summary/1"]},
        )
    )
    page = tabs.open("#/nights")
    page.get_by_text("Show summaries").click()
    page.get_by_text("A day.").wait_for()
    page.get_by_role("button", name="Preview undo").click()
    page.get_by_role("heading", name="Taking it back would").wait_for()
    assert filled.admin.memory(PLACE, "summary/1") is not None
    page.get_by_role("button", name="Take this night back").click()
    page.get_by_role("heading", name="It did").wait_for()
    assert fits(page)
    assert filled.admin.memory(PLACE, "summary/1") is None
    page.get_by_role("button", name="Done").click()
    page.locator(".night p .tag", has_text="undone").wait_for()


@pytest.mark.thorough
def test_an_import_is_seen_first(tabs: Tabs, filled: MemoryStore, tmp_path: Path) -> None:
    """An export is downloaded; an import names the lines that are wrong, and leaves them out if told to."""
    page = tabs.open("#/import/export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    rows = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    fact = next(one for one in rows if json.loads(one).get("key") == "fact/cello")
    file = tmp_path / "more.jsonl"
    file.write_text("\n".join([*rows, "{oops", fact.replace("fact/cello", "fact/new")]))
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="See what it would change").click()
    page.get_by_role("heading", name="1 memory would be new or different").wait_for()
    assert page.get_by_role("cell", name=str(len(rows) + 1)).is_visible()
    assert fits(page)
    assert filled.admin.memory(PLACE, "fact/new") is None
    page.get_by_role("button", name="Import it without 1 line").click()
    page.get_by_text("imported", exact=True).wait_for()
    assert filled.admin.memory(PLACE, "fact/new") is not None


@pytest.mark.thorough
def test_what_an_agent_said_is_taken_back(tabs: Tabs, filled: MemoryStore) -> None:
    """A question on the bus opens to its answer, which is taken back with a reason; a new message appears."""
    cook, buyer = filled.bus(PLACE, agent="cook"), filled.bus(PLACE, agent="buyer")
    asked = cook.request("How many tomatoes are left?", to="buyer")
    buyer.inbox()
    buyer.reply(asked.id, "Two boxes.")
    page = tabs.open("#/bus")
    page.get_by_text("cook has not seen it yet").wait_for()
    page.get_by_text("buyer is done with it").wait_for()
    assert fits(page)
    page.locator("#live[data-state=live]").wait_for()
    cook.share("The oven is hot.")
    page.get_by_role("link", name="The oven is hot.").wait_for()
    page.get_by_role("link", name="How many tomatoes are left?").click()
    page.get_by_role("heading", name="What came of it").wait_for()
    page.get_by_role("link", name="Two boxes.").click()
    page.get_by_text("cook → buyer").wait_for(state="detached")  # of the page before
    page.get_by_role("button", name="Take back…").click()
    page.get_by_label("Why").fill("One box is spoilt.")
    page.get_by_role("button", name="Take back (reply)").click()
    page.get_by_text("taken back", exact=True).wait_for()
    assert [one.state for one in cook.messages(reply_to=asked.id).items] == ["invalidated"]


@pytest.mark.thorough
def test_a_secret_is_shown_for_a_reason_and_some_seconds(
    tabs: Tabs, filled: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels are locked; with a token that may, one is unlocked, and hiding it shows the entry of the log."""
    monkeypatch.setenv("LANGMEMORY_VAULT_KEY", "00" * 32)
    filled.vault.put(PLACE, "wifi", "hunter2")
    locked = tabs.open("#/vault")
    locked.get_by_text("Your token shows labels alone").wait_for()
    assert locked.get_by_role("button", name="Unlock…").count() == 0
    page = tabs.open("#/vault", token=filled.tokens.create(scope="admin", unlocks=True)[1])
    page.get_by_role("button", name="Unlock…").click()
    page.get_by_label("Why").fill("the printer")
    page.get_by_role("button", name="Unlock", exact=True).click()
    page.get_by_text("hunter2").wait_for()
    assert fits(page)
    page.get_by_role("button", name="Hide").click()
    page.get_by_text("wifi (version 1): the printer").wait_for()
    assert "hunter2" not in page.content()
