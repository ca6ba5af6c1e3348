"""`langmemory graph`: what is known of somebody, at the terminal and in files."""

from __future__ import annotations

import json
import re
import sys
from datetime import timedelta
from pathlib import Path

import networkx
import pytest

from langmemory.graphs import build_reflection_graph
from langmemory.stores import MemoryStore
from tests.cli.place import Run
from tests.graph_world import furnish, nicknamed


@pytest.fixture
def world(run: Run, tmp_path: Path) -> Run:
    """`run` on a file with the graph of the tests in it."""
    with MemoryStore(tmp_path / "memory.db") as store:
        furnish(store)
        nicknamed(store)
    return lambda *words: run("-n", "memories/lena", *words)


def test_an_entity_shows_relations_dates_and_sources(world: Run) -> None:
    """One row a relation, either direction, with its time and the memory that says so."""
    shown = world("graph", "mira").stdout
    assert shown.splitlines()[0] == "Mira (person, also called Mimi)"
    for part in (
        "sister of ←",
        "Lena",
        "works at →",
        "Initech",
        "2021-03-01 –",
        "Mira joined Initech.",
        "“cake”",
    ):
        assert part in shown
    lena = world("graph", "Lena").stdout
    assert "2020-01-01 – 2023-06-01" in lena
    assert lena.index("Globex") < lena.index("Hooli")


def test_what_is_over_is_struck_through_word_by_word(
    world: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a terminal no line runs through the empty space between the columns."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    struck = re.findall(r"\x1b\[2;9m(.*?)\x1b", world("graph", "Lena").stdout)
    assert "2020-01-01 – 2023-06-01" in struck
    assert all(text == text.strip() for text in struck)


def test_days_are_those_of_who_spoke(run: Run, tmp_path: Path) -> None:
    """A start is shown on the day it was for the speaker, an end on that of who said so; midnight
    there is another day in UTC."""
    with MemoryStore(tmp_path / "memory.db") as store:
        for at, said in (
            ("2026-06-28T00:30:00+02:00", "I live in Hamburg."),
            ("2026-07-12T23:30:00-05:00", "I live in Lima now."),
        ):
            message = {"role": "user", "name": "Lena", "content": said, "at": at}
            store.remember(("memories", "me"), [message], thread_id=at)
        build_reflection_graph(store).invoke({"namespace": ["memories", "me"]})
        ended = store.graph(("memories", "me")).edges("Hamburg", past=True)[0].invalid_at
    assert ended is not None
    assert ended.utcoffset() == timedelta(hours=-5)
    shown = run("graph", "Lena").stdout
    assert "2026-06-28 – 2026-07-12" in shown
    assert "2026-07-12 –" in shown


def test_everybody_is_listed(world: Run) -> None:
    """Without a name: all names with their other names, and how much is claimed of them."""
    shown = world("graph").stdout
    assert shown.index("Mira, Mimi") < shown.index("Zurich")
    assert "person/lena" in shown


def test_dates_and_viewers_change_the_answer(world: Run) -> None:
    """--as-of answers for that day, --viewer for that person."""
    then = world("graph", "Lena", "--as-of", "2022-01-01").stdout
    assert "Hooli" in then
    assert "Globex" not in then
    assert "Clinic" in world("graph", "Paul", "--viewer", "paul").stdout
    refused = world("graph", "Paul", "--viewer", "lena")
    assert refused.exit_code == 1
    assert "Clinic" not in refused.output
    assert world("graph", "Lena", "--as-of", "yesterday-ish").exit_code == 2


def test_the_way_from_one_to_another(world: Run) -> None:
    """--path-to prints ways as sentences, or says that there is none."""
    way = "Lena -sister_of-> Mira -works_at-> Initech -located_in-> Zurich"
    assert world("graph", "Lena", "--path-to", "Zurich").stdout == way + "\n"
    rows = json.loads(world("graph", "Lena", "--path-to", "Zurich", "--json").stdout)
    assert rows == [{"path": way, "length": 3, "facts": ["sister", "job", "office"]}]
    assert "Nothing connects" in world("graph", "Lena", "--path-to", "Paul").stdout
    assert world("graph", "--path-to", "Paul").exit_code == 2


def test_exports_and_picture(world: Run, tmp_path: Path) -> None:
    """--json is for scripts; --graphml, --mermaid and --png write files and say so; all may be asked at
    once."""
    data = json.loads(world("graph", "Lena", "--json", "--depth", "1").stdout)
    assert {node["name"] for node in data["nodes"]} == {
        "Lena",
        "Mira",
        "Globex",
        "Hooli",
        "teal",
        "cake",
    }
    written = world(
        *("graph", "Lena", "--png", tmp_path / "g.png", "--graphml", tmp_path / "g.graphml"),
        *("--mermaid", tmp_path / "g.mmd"),
    )
    assert written.stdout.count("Wrote 5 entities and 6 edges to ") == 3
    assert (tmp_path / "g.mmd").read_text().startswith("graph LR\n")
    assert "Lena" in world("graph", "Lena", "--mermaid", "-").stdout
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    assert len(networkx.read_graphml(tmp_path / "g.graphml")) == 7
    assert networkx.parse_graphml(world("graph", "--graphml", "-").stdout)
    failed = world("graph", "Lena", "--png", tmp_path / "missing" / "g.png")
    assert failed.exit_code == 1
    assert "missing" in failed.stderr


def test_a_missing_extra_is_one_line(world: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without matplotlib `--png` says what to install, and of no traceback to look for."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused = world("graph", "Lena", "--png", "g.png")
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1
    assert 'pip install ".[graph]"' in refused.stderr


@pytest.mark.parametrize("name", ["g", "g.txt", "memory.db"])
def test_a_picture_says_by_its_name_what_it_is(world: Run, name: str) -> None:
    """A name with another ending is refused: the picture would be in a file that nobody named."""
    failed = world("graph", "Lena", "--png", name)
    assert failed.exit_code == 2
    assert "must end in .png, .svg, .pdf" in " ".join(failed.output.replace("│", "").split())


def test_names_that_are_not_there(world: Run, run: Run) -> None:
    """An unknown name is one line with near names; an empty namespace says so."""
    failed = world("graph", "Initec")
    assert failed.exit_code == 1
    assert failed.stderr == (
        "langmemory: Nothing is called 'Initec' in memories/lena. Near it: Initech.\n"
    )
    assert run("graph").stdout == (
        "No people or things are known in memories/me yet. --namespace looks elsewhere, for example "
        "in memories/lena.\n"
    )
