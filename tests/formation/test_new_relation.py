"""A relation is one table of data, and one line of each language that has words for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import langmemory

TABLE = """
[[relations]]
name = 'godparent_of'
roles = ['godparent', 'godchild']
family = true
timeless = true

[[relations]]
name = 'godchild_of'
inverse_of = 'godparent_of'
timeless = true
"""
SCRIPT = """
from langmemory.formation.entities.relationships import bond, fit
from langmemory.formation.relations.questions import relations_asked
from langmemory.formation.relations.vocabulary import canonical, relation_named
from langmemory.ports.facts import Claim

assert relation_named("is godmother of").name == "godparent_of"
assert relation_named("ist Patentante von").timeless
claim = canonical(Claim(subject="Mia", relation="goddaughter of", object="Ruth"))
assert claim == Claim(subject="Ruth", relation="godparent_of", object="Mia")
assert bond(claim, "Mia") == ("Ruth", "godparent") and bond(claim, "Ruth") == ("Mia", "godchild")
assert fit("godparent", "godchild") == fit("godparent", "sibling") == "never"
assert fit("godparent", "friend") == "doubtful"
print("read")
"""


def with_line(path: Path, table: str, line: str) -> None:
    """Write a line into a table of a file."""
    text = path.read_text(encoding="utf-8")
    assert f"\n[{table}]\n" in text
    path.write_text(text.replace(f"\n[{table}]\n", f"\n[{table}]\n{line}\n"), encoding="utf-8")


def test_a_relation_is_added_by_data_alone(tmp_path: Path) -> None:
    """A table and a line a language make a relation, its inverse, its roles, and who fits whom."""
    package = tmp_path / "langmemory"
    source = Path(langmemory.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__", "server", "cli"))
    with (package / "formation" / "relations" / "relations.toml").open("a") as file:
        file.write(TABLE)
    for code, phrases in (
        (
            "en",
            "godparent_of = ['godmother of', 'godfather of']\ngodchild_of = 'goddaughter_of godson_of'",
        ),
        ("de", "godparent_of = ['Patentante von', 'Patenonkel von']"),
    ):
        with_line(package / "languages" / code / "relations.toml", "phrases", phrases)
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert ran.stdout == "read\n", ran.stderr
