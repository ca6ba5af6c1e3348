"""`MEMORY.md` and `DREAMS.md`: written from memory, edited by people, never telling what is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from langmemory.config import Config, JournalConfig
from langmemory.maintenance.edits import take_edits
from langmemory.ports.journal import RememberedRow
from langmemory.projections.journal import memory_page
from langmemory.projections.journal.memory_page import MemoryPage, MemoryPageError, edits_of
from langmemory.stores import MemoryStore
from tests.lifecycle.answers import ILKA, TOLD
from tests.lifecycle.test_consolidation import (
    HABIT,
    NOW,
    answering,
    items,
    learn,
    learn_ilka,
    night,
)
from tests.places import address
from tests.scripted import ScriptedModel
from tests.tables import tables

TEXTS = {one["id"]: one["text"] for one in TOLD["memories"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def store(tmp_path: Path, folder: Path) -> Iterator[MemoryStore]:
    config = Config(journal=JournalConfig(path=str(folder)))
    with MemoryStore(tmp_path / "memory.db", config=config) as opened:
        yield opened


def page(folder: Path, owner: str | None = None, name: str = "MEMORY.md") -> Path:
    return folder.joinpath(*memory_page.path_of(ILKA, owner, name))


def edit(file: Path, *changes: tuple[str, str]) -> None:
    """Replace passages of a page."""
    text = file.read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text, "utf-8")


def line_of(file: Path, text: str) -> str:
    """The whole line of a memory, with its end."""
    [found] = [one for one in file.read_text("utf-8").splitlines(keepends=True) if text in one]
    return found


def take(store: MemoryStore, folder: Path) -> list[str]:
    return take_edits(store, folder, now=NOW).lines


def test_a_night_writes_what_memory_holds(store: MemoryStore, folder: Path) -> None:
    """The page has core blocks and facts with ids, in groups; `DREAMS.md` says what changed and why."""
    learn_ilka(store)
    night(store, ScriptedModel(otherwise=answering(HABIT)), tasks=["consolidate", "graduate"])
    text = page(folder).read_text("utf-8")
    assert text.startswith(f"# Memory\n{memory_page.MARK}\n")
    assert "## Core: persona\n\n> Answer in English" in text
    assert "## Habits and insights\n\n- Ilka goes to choir practice on Tuesdays. ^" in text
    assert "## Preferences" in text
    assert not edits_of(text)
    dreams = page(folder, name="DREAMS.md").read_text("utf-8")
    assert "- New: Ilka goes to choir practice on Tuesdays. (three Tuesdays)" in dreams


def test_dreams_tell_what_a_summary_covers(store: MemoryStore, folder: Path) -> None:
    """`DREAMS.md` names the day, month or year of each summary."""
    learn_ilka(store)
    night(store, tasks=["summarise"])
    dreams = page(folder, name="DREAMS.md").read_text("utf-8")
    assert "- Summary of year 20" in dreams
    assert "- New:" not in dreams


def test_private_memories_stand_on_a_page_of_their_owner(store: MemoryStore, folder: Path) -> None:
    """What is private stands on no page that others read, in neither of the two files."""
    learn_ilka(store)
    night(store)
    for name in ("MEMORY.md", "DREAMS.md"):
        if page(folder, name=name).exists():
            assert "sertraline" not in page(folder, name=name).read_text("utf-8")
    private = page(folder, "ilka").read_text("utf-8")
    assert "sertraline" in private
    assert "choir" not in private


def test_the_page_keeps_its_budget(tmp_path: Path, folder: Path) -> None:
    """However much memory holds, the memories on the page have as many tokens as configured."""
    config = Config.model_validate(
        {"journal": {"path": str(folder)}, "lifecycle": {"memory_page_tokens": 100}}
    )
    with MemoryStore(tmp_path / "memory.db", config=config) as store:
        for day in range(1, 29):
            learn(
                store,
                f"Ilka saw film number {day} of the year.",
                datetime(2026, 1, day, tzinfo=UTC),
            )
        night(store)
    lines = [one for one in page(folder).read_text("utf-8").splitlines() if one.startswith("- ")]
    assert 3 < len(lines) < 12
    assert sum(map(len, lines)) <= 400


def test_a_changed_line_corrects_its_memory(store: MemoryStore, folder: Path) -> None:
    """The new words are the memory's, confirmed by a person; the next night leaves nothing to take up."""
    learn_ilka(store)
    night(store)
    edit(page(folder), ("lens grinder", "lens designer"))
    assert len(take(store, folder)) == 1
    [row] = items(store, "fact/m2")
    assert row["value"]["text"] == "Ilka works at Corvane Instruments as a lens designer."
    assert row["verified"] == 1
    assert take(store, folder) == []
    assert not edits_of(page(folder).read_text("utf-8"))


def test_an_edit_that_was_undone_can_be_made_again(store: MemoryStore, folder: Path) -> None:
    """The same words on the same page are taken up anew once their run was taken back."""
    learn_ilka(store)
    night(store)
    for _ in range(2):
        edit(page(folder), ("lens grinder", "lens designer"))
        assert len(take(store, folder)) == 1
        [row] = items(store, "fact/m2")
        assert "lens designer" in row["value"]["text"]
        [run] = [
            one
            for one in store.changes.runs(ILKA)
            if one.kind == "correction" and not one.undone_by
        ]
        store.changes.undo(run.id)
        night(store, tasks=["graduate"])


def test_a_deleted_line_archives_and_a_new_one_is_remembered(
    store: MemoryStore, folder: Path
) -> None:
    """Deleting a line archives its memory, a new line is a confirmed memory; undo takes both back."""
    learn_ilka(store)
    night(store)
    line = line_of(page(folder), TEXTS["m4"])
    edit(page(folder), (line, "- Ilka plays the viola.\n"))
    take(store, folder)
    assert "viola. ^" in line_of(page(folder), "viola"), "the page was written anew"
    [gone] = [one for one in items(store, "fact/") if one["key"] == "fact/m4"]
    [new] = items(store, "note/")
    assert gone["status"] == "archived"
    assert (new["value"]["text"], new["verified"], new["privacy"]) == (
        "Ilka plays the viola.",
        1,
        "shared",
    )
    [run] = [one for one in store.changes.runs(ILKA) if one.id.startswith("edits/")]
    store.changes.undo(run.id)
    assert items(store, "note/") == []


def test_a_new_line_on_a_private_page_is_private(store: MemoryStore, folder: Path) -> None:
    """What an owner writes on their page is theirs alone."""
    learn_ilka(store)
    night(store)
    edit(page(folder, "ilka"), ("## Facts\n", "## Facts\n\n- Ilka dreams of Ostend.\n"))
    take(store, folder)
    [new] = items(store, "note/")
    assert (new["privacy"], new["owner"]) == ("private", "ilka")


def test_a_conflict_is_a_question(store: MemoryStore, folder: Path) -> None:
    """Where memory says something else by now nothing is overwritten: a review asks which one holds."""
    learn_ilka(store)
    night(store)
    edit(page(folder), ("lens grinder", "lens designer"))
    value = {**items(store, "fact/m2")[0]["value"], "text": "Ilka is retired."}
    store.put(ILKA, "fact/m2", value)
    take(store, folder)
    [review] = [one for one in store.changes.reviews(ILKA) if one.about == "edit"]
    item = store.get(ILKA, "fact/m2")
    assert item is not None
    assert item.value["text"] == "Ilka is retired."
    store.changes.decide(review.id, "edit")
    item = store.get(ILKA, "fact/m2")
    assert item is not None
    assert "lens designer" in item.value["text"]


def test_an_emptied_page_archives_nothing_by_itself(store: MemoryStore, folder: Path) -> None:
    """When most lines are gone, as after a sync gone wrong, one question asks; nothing is archived."""
    learn_ilka(store)
    night(store)
    text = page(folder).read_text("utf-8").splitlines(keepends=True)
    page(folder).write_text("".join(one for one in text if not one.startswith("- ")), "utf-8")
    take(store, folder)
    [review] = [one for one in store.changes.reviews(ILKA) if one.about == "edit"]
    assert review.options == ("archive", "keep")
    assert not any(one["status"] == "archived" for one in items(store, "fact/m2"))


def test_a_page_without_its_last_line_is_left_alone(store: MemoryStore, folder: Path) -> None:
    """A page that was cut off is neither taken up nor overwritten, and the report says so."""
    learn_ilka(store)
    night(store)
    text = page(folder).read_text("utf-8")
    page(folder).write_text(text[: len(text) // 2], "utf-8")
    with pytest.raises(MemoryPageError):
        edits_of(page(folder).read_text("utf-8"))
    taken = take_edits(store, folder, now=NOW)
    assert taken.lines == []
    assert "last line" in taken.refused[0]
    night(store)
    assert page(folder).read_text("utf-8") == text[: len(text) // 2]


def test_what_is_written_below_the_last_line_is_taken_up(store: MemoryStore, folder: Path) -> None:
    """Whoever adds a line at the end of the file adds it to the page, and loses nothing."""
    learn_ilka(store)
    night(store)
    with page(folder).open("a", encoding="utf-8") as file:
        file.write("- Ilka bought a canoe.\n\nAnd she can swim.\n")
    take(store, folder)
    texts = {one.text for one in store.admin.memories(ILKA)}
    assert {"Ilka bought a canoe.", "And she can swim."} <= texts
    assert not edits_of(page(folder).read_text("utf-8"))


def test_a_night_takes_edits_up_before_it_writes(store: MemoryStore, folder: Path) -> None:
    """An edit is memory's after the next night; the page shows it, and the night is none of its runs."""
    learn_ilka(store)
    night(store)
    edit(page(folder), ("lens grinder", "lens designer"), ("flattery", "jargon"))
    report = night(store)
    assert report["figures"]["edited_pages"] == 1
    assert "lens designer" in page(folder).read_text("utf-8")
    persona = store.get((*ILKA, "core"), "persona")
    assert persona is not None
    assert "without jargon" in persona.value["content"]
    assert persona.value["version"] == 2


def test_a_core_block_loses_no_edit_to_a_newer_text(store: MemoryStore, folder: Path) -> None:
    """A block that was written anew meanwhile keeps its text."""
    learn_ilka(store)
    night(store)
    edit(page(folder), ("flattery", "jargon"))
    place = (*ILKA, "core")
    store.put(place, "persona", {"kind": "core", "content": "Be brief.", "version": 2}, index=False)
    take(store, folder)
    persona = store.get(place, "persona")
    assert persona is not None
    assert persona.value["content"] == "Be brief."


def test_what_is_forgotten_leaves_edited_pages_too(store: MemoryStore, folder: Path) -> None:
    """Forgetting takes the lines out at once, of `MEMORY.md`, edited or not, and of `DREAMS.md`."""
    learn_ilka(store)
    night(store, ScriptedModel(otherwise=answering(HABIT)), tasks=["consolidate", "graduate"])
    edit(page(folder), ("Corvane Instruments as", "Corvane as"))
    store.forget(ILKA, owner="ilka")
    assert "Answer in English" in page(folder).read_text("utf-8"), "a block is nobody's"
    store.forget(ILKA, everything=True)
    assert list(folder.rglob("*")) == []


def test_undo_leaves_the_pages(store: MemoryStore, folder: Path) -> None:
    """A conclusion that was taken back stands on neither page after the next night."""
    learn_ilka(store)
    report = night(
        store, ScriptedModel(otherwise=answering(HABIT)), tasks=["consolidate", "graduate"]
    )
    store.lifecycle.undo(report["night"])
    night(store, tasks=["graduate"])
    assert HABIT["text"] not in page(folder).read_text("utf-8")  # type: ignore[operator]
    assert not page(folder, name="DREAMS.md").exists()


def test_somebody_elses_file_is_never_touched(store: MemoryStore, folder: Path) -> None:
    """A `MEMORY.md` that langmemory did not write is neither read nor overwritten."""
    learn_ilka(store)
    page(folder).parent.mkdir(parents=True)
    page(folder).write_text("# My notes\n\n- Buy milk\n", "utf-8")
    night(store)
    assert take(store, folder) == []
    assert page(folder).read_text("utf-8") == "# My notes\n\n- Buy milk\n"


def test_markup_in_a_memory_survives_reading_back(store: MemoryStore, folder: Path) -> None:
    """Texts with Markdown, HTML and comment marks are no edit and open nothing when they are read back."""
    texts = (
        "Ilka says: [look](https://x.example) <!-- written {} -->", "1. Ilka counts from one.",
        "- Ilka writes lists ^0123456789", r"Ilka's path is C:\(x)", "# Ilka shouts",
    )  # fmt: skip
    for day, text in enumerate(texts, 1):
        learn(store, text, datetime(2026, 1, day, tzinfo=UTC), key=f"fact/-->{day}")
    night(store)
    found = edits_of(page(folder).read_text("utf-8"))
    assert not found
    assert len(found.written.lines) == len(texts)


def test_the_command_takes_edits_up(store: MemoryStore, folder: Path, tmp_path: Path) -> None:
    """`langmemory journal --take-edits` prints what it changed; `--rebuild` leaves edited pages alone."""
    from typer.testing import CliRunner

    from langmemory.cli.app import app

    learn_ilka(store)
    night(store)
    edit(page(folder), ("lens grinder", "lens designer"))
    command = ["--db", address(tmp_path / "memory.db"), "journal", "--path", str(folder)]
    kept = CliRunner().invoke(app, [*command, "--rebuild"])
    assert kept.exit_code == 0, kept.output
    assert "lens designer" in page(folder).read_text("utf-8")
    found = CliRunner().invoke(app, [*command, "--take-edits", "--json"])
    assert found.exit_code == 0, found.output
    assert len(json.loads(found.stdout)["lines"]) == 1


WRITTEN = MemoryPage(
    namespace=ILKA,
    owner=None,
    core={"human": "Wants short answers:\n  no greeting, no summary"},
    rows=[
        RememberedRow(key=key, text=text, statement="fact", owner=None, privacy="shared")
        for key, text in (
            ("A", "Ilka works at Corvane Instruments as a lens grinder."),
            ("B", "Ilka takes the train to Ghent at 8:10."),
        )
    ],
)


@pytest.mark.parametrize("case", tables(__file__)["edits"], ids=lambda case: case["name"])
def test_nothing_that_a_person_wrote_is_lost(case: dict[str, Any]) -> None:
    """Lines are known however they are wrapped, listed or marked; new text is taken up, and what is no line
    is told with its text."""
    text = memory_page.render(WRITTEN, 2_000)
    ids = {key: name for name, (key, _) in memory_page.written_of(text).lines.items()}
    head, facts = text.split("\n", 2)[:2], text.index("<!-- written")
    edited = case["page"].lstrip("\n").replace("^A", f"^{ids['A']}").replace("^B", f"^{ids['B']}")
    has_head = "{mark}" in edited
    edited = edited.replace("{mark}", head[1]) if has_head else "\n".join([*head, edited])
    found = edits_of(f"{edited}\n{text[facts:]}")
    assert (found.changed, sorted(found.removed), found.added, found.unread) == (
        case.get("changed", {}), list(case.get("removed", ())), list(case.get("added", ())),
        list(case.get("unread", ())),
    )  # fmt: skip
    assert found.core == ({"human": case["core"]} if "core" in case else {})


def test_what_is_not_understood_is_asked_with_its_text(store: MemoryStore, folder: Path) -> None:
    """A table on a page becomes a review of its own, and leaves the page when memory holds it; forgetting
    takes a wrapped line out whole."""
    learn_ilka(store)
    night(store)
    table = "| Key | Place |\n| --- | --- |\n| cellar | at Bo's |"
    edit(page(folder), ("## Facts", f"{table}\n\n## Facts"))
    take(store, folder)
    assert "at Bo's" not in page(folder).read_text("utf-8")
    [review] = [one for one in store.changes.reviews(ILKA) if one.about == "edit"]
    assert "at Bo's" in review.question
    store.changes.decide(review.id, "remember")
    memory = store.admin.memory(ILKA, review.memories[0])
    assert memory is not None
    assert (memory.status, memory.value["text"]) == ("active", table)
    night(store)
    [text] = [one for one in TEXTS.values() if "lens grinder" in one]
    edit(page(folder), (text, text.replace(" as ", "\n  as ")))
    store.forget(ILKA, everything=True)
    assert list(folder.rglob("*")) == []
