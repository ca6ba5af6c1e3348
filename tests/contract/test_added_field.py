"""A field that is added to a memory: a column, a field of `Memory`, a field of `Facets`, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import langmemory
from tests import postgres_server

PACKAGE = Path(langmemory.__file__).parent
EDITS = {
    "ledger/tables/schema.py": (
        'flag("verified", default=0, part="facet"),',
        'text("mood", null=True, part="facet"),',
    ),
    "types.py": ("    verified: bool = False", "    mood: str | None = None"),
    "changes.py": ("    verified: bool | None = None", "    mood: str | None = None"),
}
"""What is added behind which line, by module."""
PROGRAM = """
import json, sys, time
from datetime import UTC, datetime
from langmemory import MemoryStore
from langmemory.changes import AddMemory, ChangeSet, Facets, UpdateMemory

NS = ("a",)

def moods(store):
    return {one.key: one.mood for one in store.admin.memories(NS)}

def change(store, run, one):
    store.changes.apply(
        ChangeSet(run_id=run, kind="reflection", namespace=NS, reason="a talk", changes=(one,))
    )

with MemoryStore(sys.argv[1], index=False) as store, MemoryStore(":memory:", index=False) as other:
    store.put(NS, "put", {"text": "I won", "mood": "glad"})
    change(store, "r1", AddMemory(key="f1", value={"text": "Maria left"}, facets=Facets(mood="sad")))
    before = datetime.now(UTC)
    time.sleep(0.001)
    change(store, "r2", UpdateMemory(key="f1", facets=Facets(mood="calm")))
    now, problems = moods(store), store.admin.check()
    past = store.recall("Maria left", NS, known_at=before, counted=False)
    other.admin.import_rows(store.admin.export())
    imported = moods(other)
    store.changes.undo("r2")
    print(json.dumps([
        now, [one.memory.mood for one in past.results], imported, moods(store), problems,
        [one.facets for one in other.changes.history(NS, "f1")],
    ]))
"""


def with_field(folder: Path) -> Path:
    """Return a folder with the package as it would be with one more field."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "langmemory", copy_function=os.symlink, ignore=ignored)
    for name, (line, added) in EDITS.items():
        source = (PACKAGE / name).read_text("utf-8")
        assert source.count(f"{line}\n") == 1, name
        (folder / "langmemory" / name).unlink()
        (folder / "langmemory" / name).write_text(source.replace(line, f"{line}\n{added}"), "utf-8")
    return folder


@pytest.mark.parametrize("engine", ["file", pytest.param("postgres", marks=pytest.mark.thorough)])
def test_a_field_is_added_in_three_files(tmp_path: Path, engine: str) -> None:
    """It is stored, read, changed, shown as it was, exported and imported, undone and checked."""
    place = str(tmp_path / "m.db") if engine == "file" else postgres_server.fresh()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, place], cwd=with_field(tmp_path), capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    if engine == "postgres":
        postgres_server.drop(place)
    assert not done.returncode, done.stderr
    now, past, imported, undone, problems, facets = json.loads(done.stdout)
    assert now == imported == {"put": "glad", "f1": "calm"}
    assert past == ["sad"]
    assert undone == {"put": "glad", "f1": "sad"}
    assert problems == []
    assert facets == [{}, {"mood": "sad"}]
