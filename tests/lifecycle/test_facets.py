"""Retention and salience as facets: beside the score, and at the command line."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from langmemory.cli.app import app
from langmemory.stores import MemoryStore
from langmemory.wire import plain
from tests.lifecycle.test_nights import ADA, NOW, cite, learn
from tests.places import address


def test_explained_results_tell_how_far_they_have_faded(store: MemoryStore) -> None:
    """An explained fact has class, retention, half-life and use at the moment asked for; a turn has none,
    and the order and scores are those without."""
    [old] = learn(store, 1, days=60)
    [used] = learn(store, 1, days=2)
    cite(store, used, 2)
    store.admin.usage()  # writes what was counted
    found = store.recall("What does Ada like? number", ADA, explain=True, now=NOW)
    by_key = {one.memory.key: one for one in found.results}
    faded = by_key[old].explanation.ageing  # type: ignore[union-attr]
    assert faded is not None
    assert (faded.temporal_class, faded.retention, faded.uses) == ("habitual", 0.5, 0)
    again = by_key[used].explanation.ageing  # type: ignore[union-attr]
    assert again is not None
    assert (again.retention, again.uses, again.used_at) == (1.0, 2, NOW)
    assert again.half_life_days == pytest.approx(78)
    turns = store.recall("I say much", ADA, kinds=["episodic"], explain=True, now=NOW)
    assert [one.explanation and one.explanation.ageing for one in turns.results] == [None]
    unexplained = store.recall("What does Ada like? number", ADA, now=NOW)
    assert [(one.memory.key, one.score) for one in unexplained.results] == [
        (one.memory.key, one.score) for one in found.results
    ]
    assert plain(found)["results"][0]["explanation"]["ageing"] is not None


def test_a_few_are_read_as_all_are(store: MemoryStore) -> None:
    """The facets of some memories are those that a reading of the whole namespace gives."""
    learn(store, 5, days=90)
    [used] = learn(store, 1, days=2)
    cite(store, used, 2)
    store.admin.usage()
    whole = store.lifecycle.retention(ADA, now=NOW)
    places = [(one.memory.namespace, one.memory.key) for one in whole]
    some = store.lifecycle.ageing([*places, (ADA, "nothing")], now=NOW)
    assert some[-1] is None
    assert [one and (one.salience, one.parts, one.age_days) for one in some[:-1]] == [
        (one.salience, one.parts, one.age_days) for one in whole
    ]
    assert store.lifecycle.ageing([]) == []


def test_the_command_line_shows_the_facets(store: MemoryStore, tmp_path: Path) -> None:
    """`get`, `list --retention`, `history` and `search --explain` show retention and class."""
    [key] = learn(store, 1)
    store.close()
    where = ["--db", address(tmp_path / "memory.db"), "--namespace", "memories/ada"]

    def shown(*words: str) -> str:
        result = CliRunner().invoke(app, [*where, *words], env={"COLUMNS": "120"})
        assert result.exit_code == 0, result.output
        return " ".join(result.stdout.split())

    for words in (("get", key), ("list", "--retention"), ("history", key)):
        assert "habitual · half-life 60 days" in shown(*words), words
    assert "salience" in shown("search", "likes number", "--explain")
    assert "retention" not in shown("list")
    found = json.loads(shown("get", key, "--json"))
    assert found["ageing"]["half_life_days"] == 60
    listed = json.loads(shown("list", "--retention", "--json"))
    assert {one["kind"]: one["ageing"] is None for one in listed} == {
        "semantic": False,
        "episodic": True,
    }


def test_timeless_facts_have_no_half_life(store: MemoryStore, tmp_path: Path) -> None:
    """What does not fade says so, in JSON as null."""
    [key] = learn(store, 1, pinned=True)
    [one] = store.lifecycle.ageing([(ADA, key)], now=NOW + timedelta(days=900))
    assert one is not None
    assert (one.retention, one.half_life_days) == (1.0, float("inf"))
    where = ["--db", address(tmp_path / "memory.db"), "--namespace", "memories/ada"]
    found = json.loads(CliRunner().invoke(app, [*where, "get", key, "--json"]).stdout)
    assert found["ageing"]["half_life_days"] is None
