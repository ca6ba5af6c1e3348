"""A night told to people: sentences, and what `maintain` and `health` show of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from typer.testing import CliRunner

from langmemory.changes import (
    AddMemory,
    Facets,
    Merge,
    OpenReview,
    RemoveMemory,
    SetStatus,
    Supersede,
    UpdateMemory,
)
from langmemory.cli.app import app
from langmemory.cli.maintain import sparkline
from langmemory.maintenance.report import sentences
from langmemory.stores import MemoryStore
from tests.lifecycle.test_nights import NOW, cite, learn, lines, night
from tests.places import address

TEXTS = {"a": "Vera is allergic to walnuts.", "b": "Ada likes tea."}


def test_changes_are_told_as_sentences() -> None:
    """Each change of a memory is one sentence with its text and reason; what is only bookkeeping is none."""
    told = sentences(
        [
            UpdateMemory(key="a", facets=Facets(priority="guardrail"), reason="cited 12 times"),
            UpdateMemory(key="b", facets=Facets(priority="archive")),
            UpdateMemory(key="b", value={"text": "Ada loves tea."}),
            SetStatus(key="b", status="archived", reason="evicted"),
            AddMemory(key="new", value={"text": "Ada drinks\n tea daily."}),
            Supersede(key="b", by="new", invalid_at=datetime(2026, 1, 1, tzinfo=UTC)),
            Merge(key="a", others=("b", "gone")),
            RemoveMemory(key="a"),
            OpenReview(id="r", about="decay", question="May it go?", memories=("a",), options={}),
        ],
        TEXTS,
    )
    assert told == [
        "promoted to guardrail: 'Vera is allergic to walnuts.' (cited 12 times)",
        "put away: 'Ada likes tea.'",
        "changed: 'Ada likes tea.'",
        "archived: 'Ada likes tea.' (evicted)",
        "learned: 'Ada drinks tea daily.'",
        "superseded: 'Ada likes tea.' by 'Ada drinks tea daily.'",
        "merged: 'Ada likes tea.', 'gone' into 'Vera is allergic to walnuts.'",
        "deleted: 'Vera is allergic to walnuts.'",
        "asked: May it go?",
    ]
    [long] = sentences([RemoveMemory(key="a")], {"a": "word " * 60})
    assert long.endswith("word …'")


def test_maintain_shows_sentences_and_verbose_the_changes(
    store: MemoryStore, tmp_path: Path
) -> None:
    """`langmemory maintain` speaks of texts, ``--verbose`` also of keys; `health` then shows the night."""
    [used] = learn(store, 1, days=2)
    cite(store, used, 12)
    store.admin.usage()
    store.close()

    def shown(*words: str) -> str:
        command = ["--db", address(tmp_path / "memory.db"), *words]
        result = CliRunner().invoke(app, command, env={"COLUMNS": "120"})
        assert result.exit_code == 0, result.output
        return " ".join(result.stdout.split())

    assert "no night has changed it yet" in shown("health")
    plain = shown("maintain", "--dry-run", "--task", "promote")
    assert f"promoted to guardrail 'Ada likes number {used}' (cited 12 times" in plain
    assert "priority=guardrail" not in plain
    assert "1 change planned; nothing was changed." in plain
    assert f"update {used} priority=guardrail" in shown(
        "maintain", "--verbose", "--task", "promote"
    )
    assert "changed by night █ 1 in the last" in shown("health")


def test_a_night_counts_its_changes(store: MemoryStore) -> None:
    """A night in the list knows how many memories it changed, and an undone one says so."""
    learn(store, 1)
    [used] = learn(store, 1, days=2)
    cite(store, used, 12)
    found = night(store, tasks=["promote", "demote"])
    [told] = store.lifecycle.nights()
    assert told.changes == len(lines(found, "promote")) + len(lines(found, "demote")) == 2
    assert told.at.year >= NOW.year


def test_a_sparkline_has_a_bar_for_each_count() -> None:
    """The highest count has the highest bar, and nothing the lowest."""
    assert sparkline([0, 7, 14]) == "▁▅█"
    assert sparkline([]) == ""
