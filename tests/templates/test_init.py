"""`langmemory init` writes an application that works, and never overwrites anything."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from langgraph_sdk import get_sync_client

from langmemory.templates import ProjectExistsError, init_project
from tests.integration.langgraph_server import langgraph_dev

REPOSITORY = Path(__file__).parents[2]


def test_it_writes_a_readable_project(tmp_path: Path) -> None:
    """The files a newcomer needs are there, and the README has the project's name."""
    written = init_project(tmp_path / "my-bot")
    names = sorted(str(file.relative_to(tmp_path / "my-bot")) for file in written)
    assert names == [
        ".gitignore",
        "README.md",
        "config/memory.json",
        "graph.py",
        "langgraph.json",
        "maintenance.py",
        "reflection.py",
        "requirements.txt",
        "store.py",
    ]
    assert (tmp_path / "my-bot" / "README.md").read_text().startswith("# my-bot\n")


def test_it_never_overwrites(tmp_path: Path) -> None:
    """A folder that has one of the files is left exactly as it was, and the error names the file."""
    (tmp_path / "graph.py").write_text("mine")
    with pytest.raises(ProjectExistsError, match=r"graph\.py already there"):
        init_project(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["graph.py"]
    assert (tmp_path / "graph.py").read_text() == "mine"


@pytest.mark.parametrize("way", ["a file called config", "a link to nowhere"])
def test_it_writes_all_or_nothing(tmp_path: Path, way: str) -> None:
    """Where one file cannot be written, none is, so that it can be tried again."""
    if way == "a link to nowhere":
        (tmp_path / "store.py").symlink_to(tmp_path / "nowhere" / "store.py")
    else:
        (tmp_path / "config").write_text("mine")
    with pytest.raises(FileExistsError):
        init_project(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("folder", "title"),
    [
        (b"it's *#1* {name}", "it's *#1* {name}"),
        (b"two\nlines", "two lines"),
        pytest.param(
            b"b\xff",
            "b\ufffd",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="needs such a file system"),
        ),
    ],
)
def test_the_folder_may_have_any_name(tmp_path: Path, folder: bytes, title: str) -> None:
    """The README's title is the folder's name on one line, also where that is no valid UTF-8."""
    written = init_project(os.fsdecode(os.fsencode(tmp_path) + b"/" + folder))
    readme = next(file for file in written if file.name == "README.md")
    assert readme.read_text(encoding="utf-8").splitlines()[0] == f"# {title}"


@pytest.mark.thorough
@pytest.mark.integration
def test_it_runs_under_langgraph_dev(tmp_path: Path) -> None:
    """The written project starts as it is and remembers across threads and a restart."""
    init_project(tmp_path)
    environ = {"PYTHONPATH": str(REPOSITORY), "MEMORY_DB_PATH": "", "LANGMEMORY_CONFIG": ""}
    for text in ("My dog is called Bello.", "What is my dog called?"):
        with langgraph_dev(tmp_path, environ) as url, get_sync_client(url=url) as client:
            thread = client.threads.create()["thread_id"]
            message = {"messages": [{"role": "user", "content": text}]}
            state = client.runs.wait(thread, "chat", input=message)
            reflected = client.runs.wait(None, "reflection", input={})
    assert isinstance(state, dict)
    assert "Bello" in state["messages"][-1]["content"]
    assert isinstance(reflected, dict)
    assert not reflected["failures"]
    assert (tmp_path / "memory.db").exists()


def test_it_says_how_to_install_what_no_index_has(tmp_path: Path) -> None:
    """Its README and requirements say where langgraph-langmemory comes from; pip reads the latter."""
    init_project(tmp_path)
    for name in ("README.md", "requirements.txt"):
        text = (tmp_path / name).read_text()
        assert "not on the package index yet" in text.lower()
        assert "`pip install .` in a checkout" in text
    lines = (tmp_path / "requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if not line.startswith("#")]
    assert wanted == ["langgraph-langmemory", "langgraph-cli[inmem]"]
