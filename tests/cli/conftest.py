"""The command line as tests call it: in this process, on a file in tmp_path, or the schema that stands for
it, away from Ollama."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import pytest
import typer.testing
from typer.main import get_command
from typer.testing import CliRunner, Result

from langmemory.cli.app import app
from langmemory.stores import copy
from tests.cli.place import CLOSED_PORT, ROOT, SAMPLE, Configure, Run
from tests.ollama_server import OllamaServer
from tests.postgres_server import place

typer.testing._get_command = cache(get_command)  # type: ignore[attr-defined]
"""Else typer's runner reads the signature of every command anew for each call, which takes as long as
most commands do."""


def invoked(file: Path, *arguments: str | Path, input: str | bytes | None = None) -> Result:
    """Run a command on a memory file."""
    words = ["--db", place(file), *map(str, arguments)]
    return CliRunner().invoke(app, words, input=input)


def copied(source: Path, target: Path) -> None:
    """Copy a memory file, or the schema that stands for it."""
    if place(source) == str(source):
        shutil.copy(source, target)
    else:
        copy(place(source), place(target))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration, no environment and no Ollama of the machine reach a test."""
    monkeypatch.chdir(tmp_path)
    away_from_the_machine(monkeypatch)
    if place("memory.db") != "memory.db":  # for the processes a test starts, which know no schemas
        monkeypatch.setenv("MEMORY_DB_PATH", place("memory.db"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for the processes a test starts


def away_from_the_machine(patch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DEBUG", "NAMESPACE"):
        patch.delenv(f"LANGMEMORY_{name}", raising=False)
    for name in ("MEMORY_DB_PATH", "MEMORY_ARCHIVE_DB_PATH", "MOCK_EMBEDDINGS"):
        patch.delenv(name, raising=False)
    patch.setenv("OLLAMA_URL", CLOSED_PORT)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command on `memory.db` in tmp_path."""

    return partial(invoked, tmp_path / "memory.db")


@pytest.fixture(scope="session")
def sample_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory file with the sample conversation imported, made once."""
    file = tmp_path_factory.mktemp("sample") / "memory.db"
    with pytest.MonkeyPatch.context() as patch:
        away_from_the_machine(patch)
        result = invoked(file, "import", SAMPLE)
    assert result.exit_code == 0, result.output
    return file


@pytest.fixture(scope="session")
def reflected_file(sample_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory file with the sample, reflected by rules, made once."""
    file = tmp_path_factory.mktemp("reflected") / "memory.db"
    copied(sample_file, file)
    with pytest.MonkeyPatch.context() as patch:
        away_from_the_machine(patch)
        patch.chdir(file.parent)
        result = invoked(file, "reflect")
    assert result.exit_code == 0, result.output
    return file


@pytest.fixture
def filled(run: Run, sample_file: Path, tmp_path: Path) -> Run:
    """The same, with the sample conversation imported."""
    copied(sample_file, tmp_path / "memory.db")
    return run


@pytest.fixture
def reflected(run: Run, reflected_file: Path, tmp_path: Path) -> Run:
    """The same, with the sample conversation imported and reflected by rules."""
    copied(reflected_file, tmp_path / "memory.db")
    return run


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    """Write config/memory.json with these models."""

    def write(**models: str) -> None:
        file = tmp_path / "config" / "memory.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"models": models}))

    return write


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    """An Ollama on loopback with one model, which echoes: "You said: …"."""
    with OllamaServer(models=("llama-test",)) as server:
        monkeypatch.setenv("OLLAMA_URL", server.url)
        yield server
